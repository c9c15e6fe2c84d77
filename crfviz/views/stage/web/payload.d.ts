// Written by `make types` from crfviz/views/stage/payload_types.py: do not edit.

export type Floats = string;
export type Integers = string;
export type Indices = string;
export type Cell = [number, number];
export type Side = "matrix" | "cell" | "bars" | "terms" | "entity" | "gradient";

// An entity on the best path.
export interface ChipData {
  label: string; // its type
  first: number; // position of its first word
  last: number; // position of its last word, included
  probability: number;
}

// A candidate for the words of the entity: itself, a rival, or none.
export interface HypothesisData {
  text: string;
  relation: string; // "this entity", "other type", "other boundaries", "none" or "all others"
  probability: number;
  trained: number | null; // the same in the chain as trained; None where nothing is edited
  span: [string, number, number] | null; // None if the row is not a single entity
}

// A number that is often shown instead of the probability.
export interface ShortcutData {
  name: string;
  value: number;
  error: number; // value - probability
}

// The data of the entity panel on the stage.
export interface EntityPanelData {
  types: string[];
  on_path: ChipData[];
  label: string;
  first: number;
  last: number;
  title: string;
  probability: number;
  trained: number | null;
  hypotheses: HypothesisData[]; // likeliest first, the last row is all others; sum to 1
  total: number; // what they sum to
  shortcuts: ShortcutData[];
  note: string;
}

// A row of the picture with a tag for every word.
export interface RowData {
  id: string; // "greedy", "left_to_right", "viterbi", "max_marginal", "gold" or any other name
  label: string;
  tags: number[] | null; // T tag ids, -1 for no tag; None draws dashes (no allowed path)
  value: string; // text beside the label, for example a probability
  texts?: string[]; // T texts to show instead of tags
  faults?: number[]; // positions whose tag may not follow the one before
  trained?: number[]; // T ids before edits, if not the decoder's own
  against?: string; // id of the row to compare with; null: the stage's reference
  shares?: number[]; // T bars behind the texts, from -1 to 1
  titles?: string[]; // T tooltips of the cells
  columns?: string[]; // replace the label, under the stage's heading
  about?: string; // description of the row, one sentence
  key?: string; // letter that shows or hides the row
}

// A table of numbers with a column per word and a row per tag.
export interface GridData {
  name: string;
  label: string;
  values?: Floats; // (T, K); not sent if they are the chain's emissions
  scale: number; // absolute value at full colour
  digits: number;
  kind: string; // or "probability", "exponent", "change", "signed", "written"
  editable: boolean; // True only for emissions
  outlined: number[] | null; // T tag ids to frame
  frames?: string; // id of the row whose tags are framed while it is visible
  trained?: Floats; // (T, K) values before the edits, if any
  writes?: Floats[];
  wrong?: [number, number]; // the cell to mark once it is written
}

// Steps of one kind: one for each word, or a single one.
export interface PhaseData {
  text: string; // text of a step
  parts: string[]; // parts that a step reveals, up to its word
  sweep: number; // 1: a step per word, first to last; -1: last to first; 0: a single step
  nodes: string[]; // numbers on nodes, for the reader to choose; (): unchanged
  first: string; // replaces `text` at the first step
  last: string; // replaces `text` at the last step
}

// A sequence of phases. The last step reveals everything except `never`.
export interface WalkData {
  phases: PhaseData[];
  start: string; // text before the first step
  opens_done: boolean; // whether the page opens at the last step
  never: string[]; // parts that are not in this picture
  nodes: string[]; // numbers on nodes where no phase names any; (): marginals
}

// An interval of one weight with the same best path.
export interface PieceData {
  low: number | null; // nats; null: -inf
  high: number | null; // null: inf
  label: string;
}

// The values of one weight, in intervals with the same best path.
export interface RulerData {
  weight: [string, string]; // from and to, by tag name
  trained: number | null; // nats; null: -inf, or different at each step
  varies: boolean; // whether it differs from step to step
  pieces: PieceData[];
}

// Side panel with the terms of the gap between two paths.
export interface GapData {
  title: string;
  emissions: number[]; // T nats
  transitions: number[]; // T + 1 nats: start first, end last
  foot: string;
  trained: [number[], number[]] | null; // both before the edits
}

// The parts of the picture.
export interface Panels {
  main: string[]; // "strips", "lattice", "spans", a graph, or a table by its name
  side: Side | null; // the panel beside the words
  compact: boolean; // whether rows have the minimum height
}

// The cells in which the matrix of a step differs from the common one.
export interface StepMatrices {
  cells: Indices; // into (T - 1, K, K)
  values: Floats;
}

// The potentials before the edits.
export interface Scores {
  emissions: Floats; // (T, K)
  transitions: Floats; // (K, K), [from, to]
  steps: StepMatrices | null; // null: all steps share one matrix
  start: Floats; // (K,)
  end: Floats; // (K,)
}

// The reader's edits.
export interface EditList {
  transitions: ([string, string, number | null])[];
  emissions: ([number, string, number | null])[]; // position, tag by name, score
  strength: number;
}

// Tags split into one copy per state of a rule's automaton (the product chain).
export interface CopiesData {
  of: string[]; // K names: the original tag of each copy
  allowed: Integers; // (K + 1, K + 1) 1 or 0: START on top, END at the right
}

// Best path and marginals of a whole sentence; only a window of it is drawn.
export interface OverviewData {
  path: number[] | null; // tag ids of the best path
  marginals: Floats; // of `total` words
}

// Results for the current chain.
export interface Results {
  log_partition: number | null; // null: -inf
  score: number | null; // of the best path; null: no path is allowed
  path: number[] | null;
  backpointers?: Integers;
  marginals?: Floats;
  alpha?: Floats;
  beta?: Floats;
  best?: Floats;
}

// Results for the trained chain, while edits are active.
export interface TrainedResults {
  path: number[] | null;
  probability: number;
  log_partition: number | null;
  marginals?: Floats; // absent where the browser computes the tables
  alpha?: Floats;
  beta?: Floats;
  best?: Floats;
}

// The part of the lattice that a set of paths uses.
export interface UsedData {
  tags: number[][]; // ids, of each word
  steps: [number, number][][]; // ids, from and to, of each step
}

// Counts of each tag and each move in the samples.
export interface PileData {
  drawn: number;
  newest: number[] | null;
  uses: Integers; // (T, K)
  moves: Integers; // rows of step, from, to, count; only counts above 0
}

// A real number for each weight of the CRF layer.
export interface FloatCounts {
  transitions: Floats;
  start: Floats;
  end: Floats;
}

// Counts of each weight on the right path, and their difference from the expectation.
export interface GradientData {
  observed: FloatCounts;
  difference: FloatCounts;
}

// Settings of a stage in another Streamlit app, which has no edit buttons of its own.
export interface GuestData {
  undo: boolean; // whether there is something to undo
  redo: boolean;
  reset: boolean;
  fixed: boolean; // whether nothing can be edited
}

// Fields that a host of the stage adds to a picture.
export interface HostData {
  sentence?: string; // identifies the sentence that positions in events refer to
  letters?: boolean; // whether single-letter keys are enabled
  guest?: GuestData; // in another Streamlit app
}

// One picture on the stage.
export interface Payload {
  ack: number; // the highest event number that has been applied
  words: string[]; // the T drawn words
  offset: number; // position of the first drawn word in the sentence
  total: number; // words of the sentence: `trained` has the scores of all, `edits` and `pins` may be
  tags: string[];
  colours: string[]; // of the tags
  panels: Panels;
  trained: Scores | null; // null: no scores can be changed on this page
  edits: EditList;
  copies: CopiesData | null; // null: tags are not split
  kept: CopiesData | null; // copies of the rule behind the row "rule"
  overview: OverviewData | null; // for a window whose sentence the browser cannot compute
  results: Results;
  ghost: TrainedResults | null; // None without edits
  rows: RowData[];
  tables: GridData[];
  display: string; // of the matrix: "score" or "probability"
  probabilistic: boolean;
  margin: number | null; // nats between the two best paths
  pins: [number, string][];
  terms: GapData | null;
  ruler: RulerData | null;
  marks: [number, string][]; // strengths at which the best path flips
  messages: boolean; // whether α is the message to the next word
  entity: EntityPanelData | null;
  heading: string[];
  pile: PileData | null;
  used: UsedData | null;
  gradient: GradientData | null;
  asked: Cell | null;
  constrained: boolean | null; // null: the tagger has no hard constraints
  walk: WalkData;
  step: number;
  nodes: string;
  covered: string[];
  withheld: [string, number, number][]; // part, first word, last word + 1
  chosen: Cell | null;
  panel: string;
  folding: string; // "yes", "no", or "" as the page decides
  rtl: boolean; // whether the sentence runs from right to left
  direction: string; // "ltr" or "rtl" where the reader chose
  title: string | null;
  reference: string;
  contrast: string;
  note: string;
  legend: string;
  hint: string;
  asks: string; // page option that a chosen cell sets; "right" marks a gold tag
  sentence?: string;
  letters?: boolean; // whether single-letter keys are enabled
  guest?: GuestData; // in another Streamlit app
  whole?: string; // name of this complete picture
  since?: string; // name of the complete picture to which the changes apply
}

// A choice that a key of the labeller selects.
export interface ChoiceData {
  name: string;
  key: string;
  colour: string;
}

// Words on which the versions of a sentence disagree.
export interface DisputeData {
  first: number; // word
  last: number;
  readings: string[]; // each version as one line
  split: boolean; // whether versions split the words differently
  why: string | null; // address of the page that explains the model's tags
}

// The versions of a sentence with disputes to settle.
export interface VersionsData {
  names: string[];
  lanes: string[][]; // by version: the tag of each word; empty without a dispute
  disputes: DisputeData[];
  left: number; // number of open disputes
}

// A place where the words of a marked name stand again.
export interface OccurrenceData {
  sentence: number; // number, from 1
  before: string;
  words: string;
  after: string;
  tag: string; // present or proposed
  p: number | null; // of a proposed tag
  answer: string; // yes, no or empty
}

// The name that the last step marked, elsewhere in the document.
export interface EverywhereData {
  left: number; // undecided places
  text: string;
  rows: OccurrenceData[] | null; // the open list
}

// Why a word has its tag.
export interface WhyData {
  word: number;
  lines: string[];
}

// One sentence on an annotator's screen.
export interface LabellerPayload {
  item: number;
  revision: number;
  state: string;
  bio: boolean;
  choices: ChoiceData[];
  words: string[];
  gaps: string[];
  tags: string[];
  sure: number[];
  pinned: number[];
  doubtful: number[];
  ranked: [number, number][][]; // by word: index of the choice, probability
  changed: Record<string, string>;
  seen: Record<string, string>; // by word: why another source than the model proposes its tag
  ack: number;
  note: string;
  problem: string;
  held: boolean; // whether the browser keeps the last event and sends it again
  reason: string;
  place: string;
  probabilistic: boolean;
  letters: boolean;
  blank: boolean; // whether there is no model
  advances: boolean; // whether the cursor moves to the next word after a tag
  rtl: boolean; // whether the sentence runs from right to left
  versions: VersionsData | null;
  everywhere: EverywhereData | null;
  why: WhyData | null;
  guest?: boolean; // whether the labeller is in another Streamlit app
}
