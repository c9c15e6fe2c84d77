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
  span: [string, number, number] | null; // None where there is no single entity to ask for
}

// A number that is often shown instead of the probability.
export interface ShortcutData {
  name: string;
  value: number;
  error: number; // value - probability
}

// All that the stage shows of one entity.
export interface EntityPanelData {
  types: string[];
  on_path: ChipData[];
  label: string;
  first: number;
  last: number;
  title: string;
  probability: number;
  trained: number | null;
  hypotheses: HypothesisData[]; // likeliest first, the tail folded; sum to 1
  total: number; // what they sum to
  shortcuts: ShortcutData[];
  note: string;
}

// One strip: a tag for every word.
export interface RowData {
  id: string; // "greedy", "left_to_right", "viterbi", "max_marginal", "gold" or any other name
  label: string;
  tags: number[] | null; // T tag ids, -1 for no tag; None draws dashes (no allowed path)
  value: string; // beside the label, for example a probability
  texts?: string[]; // T texts to show instead of tags
  faults?: number[]; // positions whose tag may not follow the one before
  trained?: number[]; // T ids before edits, if not the decoder's own
  against?: string; // id of the row to compare with; null: the stage's reference
  shares?: number[]; // T bars behind the texts, from -1 to 1
  titles?: string[]; // T tooltips of the cells
  columns?: string[]; // in place of the label, under the stage's heading
  about?: string; // what the row is, in a sentence
  key?: string; // the letter that switches it on and off
}

// Numbers in a column per word and a row per tag.
export interface GridData {
  name: string;
  label: string;
  values?: Floats; // (T, K); not sent if they are the chain's emissions
  scale: number; // the size at which the colour is full
  digits: number;
  kind: string; // or "probability", "exponent", "change", "signed", "written"
  editable: boolean; // only the emissions themselves
  outlined: number[] | null; // T tag ids to frame
  frames?: string; // id of the row whose tags are framed; they are seen with it
  trained?: Floats; // (T, K) the same before the edits, where there are some
  writes?: Floats[];
  wrong?: [number, number]; // the cell to mark once it is written
}

// Steps of one kind: one for each word, or a single one.
export interface PhaseData {
  text: string; // what a step says
  parts: string[]; // what it uncovers, up to its word
  sweep: number; // 1: a step for each word from the first on, -1: from the last, 0: a single one
  nodes: string[]; // what the lattice's nodes say, as the reader chooses; as before: ()
  first: string; // in place of `text` at the first step
  last: string; // and at the last
}

// Phases one after the other. The last step uncovers everything but `never`.
export interface WalkData {
  phases: PhaseData[];
  start: string; // what is said before the first step
  opens_done: boolean; // where the page opens: at the end, else at the start
  never: string[]; // parts that this picture does without
}

// An interval of one weight with the same best path.
export interface PieceData {
  low: number | null; // nats; null: -inf
  high: number | null; // null: inf
  label: string;
}

// The values of one weight, in pieces with the same best path.
export interface RulerData {
  weight: [string, string]; // from and to, by tag name
  trained: number | null; // nats; null: -inf, or different at each step
  varies: boolean; // whether it differs from step to step
  pieces: PieceData[];
}

// The gap between two paths, taken apart.
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
  compact: boolean; // rows as low as can be read
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

// Changes by the reader.
export interface EditList {
  transitions: ([string, string, number | null])[];
  emissions: ([number, string, number | null])[]; // position, tag by name, score
  strength: number;
}

// Tags that a rule's automaton has split, one for each state: a chain times an automaton.
export interface CopiesData {
  of: string[]; // K names of the tags that they are copies of
  allowed: Integers; // (K + 1, K + 1) 1 or 0: START on top, END at the right
}

// Best path and marginals of a whole sentence, of which a window is drawn.
export interface OverviewData {
  path: number[] | null; // tag ids of the best path
  marginals: Floats; // of `total` words
}

// The chain as it is now.
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

// The chain as trained, while edits are active.
export interface TrainedResults {
  path: number[] | null;
  probability: number;
  log_partition: number | null;
  marginals?: Floats; // absent where the browser computes the tables
  alpha?: Floats;
  beta?: Floats;
  best?: Floats;
}

// Counts of each tag and each move in the samples.
export interface PileData {
  drawn: number;
  newest: number[] | null;
  uses: Integers; // (T, K)
  moves: Integers; // rows of step, from, to, count; only those with a count
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

// The stage in an app of somebody else, which has no buttons of its own for edits.
export interface GuestData {
  undo: boolean; // whether there is something to undo
  redo: boolean;
  reset: boolean;
  fixed: boolean; // whether nothing can be edited
}

// What a host of the stage adds to a picture.
export interface HostData {
  sentence?: string; // of which the positions of events count
  letters?: boolean; // whether keys of one letter act
  guest?: GuestData; // in an app of somebody else
}

// One picture on the stage.
export interface Payload {
  ack: number; // the highest event number that has been applied
  words: string[]; // those that are drawn: T
  offset: number; // position of the first of them in the sentence
  total: number; // words of the sentence: `trained` has the scores of all, `edits` and `pins` may be
  tags: string[];
  colours: string[]; // of the tags
  panels: Panels;
  trained: Scores | null; // null: nothing here changes a score
  edits: EditList;
  copies: CopiesData | null; // null: each tag is itself
  kept: CopiesData | null; // of the rule whose best path is the row "rule"
  overview: OverviewData | null; // where a window's sentence cannot be computed from `trained`
  results: Results;
  ghost: TrainedResults | null; // null: nothing is edited
  rows: RowData[];
  tables: GridData[];
  display: string; // of the matrix: "score" or "probability"
  probabilistic: boolean;
  margin: number | null; // nats between the two best paths
  pins: [number, string][];
  terms: GapData | null;
  ruler: RulerData | null;
  marks: [number, string][]; // strengths at which the best path flips
  messages: boolean; // whether α is what a word passes on
  entity: EntityPanelData | null;
  heading: string[];
  pile: PileData | null;
  gradient: GradientData | null;
  asked: Cell | null;
  constrained: boolean | null; // null: the tagger has no hard constraints to switch
  walk: WalkData;
  step: number;
  nodes: string;
  covered: string[];
  withheld: [string, number, number][]; // part, from a word up to before another
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
  asks: string; // option that a chosen cell goes to; "right" marks a right tag
  sentence?: string;
  letters?: boolean; // whether keys of one letter act
  guest?: GuestData; // in an app of somebody else
  whole?: string; // name of this complete picture
  since?: string; // name of the complete picture that these are changes of
}

// Something a key of the labeller can mean.
export interface ChoiceData {
  name: string;
  key: string;
  colour: string;
}

// Words about which versions of a sentence disagree.
export interface DisputeData {
  first: number; // word
  last: number;
  readings: string[]; // of each version
  split: boolean; // whether versions split the words differently
  why: string | null; // address of the page that explains the model's tags
}

// The versions of a sentence that are to be settled.
export interface VersionsData {
  names: string[];
  lanes: string[][]; // of each version: what it says of each word; empty without a dispute
  disputes: DisputeData[];
  left: number; // disputes that nobody has settled yet
}

// One sentence in front of an annotator.
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
  ranked: [number, number][][]; // by word: number of the choice, probability
  changed: Record<string, string>;
  gold: string[] | null;
  ack: number;
  note: string;
  problem: string;
  held: boolean; // whether it waits in the browser, to be sent again
  reason: string;
  place: string;
  probabilistic: boolean;
  letters: boolean;
  blank: boolean; // whether there is no model
  advances: boolean; // whether the cursor goes on to the next word after a tag
  rtl: boolean; // whether the sentence runs from right to left
  versions: VersionsData | null;
  guest?: boolean; // whether it is in an app of somebody else
}
