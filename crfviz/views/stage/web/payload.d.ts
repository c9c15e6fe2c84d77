// Written by `make types` from crfviz/views/stage/payload_types.py: do not edit.

export type Floats = string;
export type Integers = string;
export type Indices = string;
export type Cell = [number, number];
export type Side = "matrix" | "cell" | "bars" | "terms" | "entity" | "gradient";

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

// A row under the words: a tag or a text for each of them.
export interface RowData {
  id: string;
  label: string;
  tags: number[] | null; // -1 for no tag; None draws dashes
  value: string;
  texts?: string[];
  shares?: number[]; // bars, from -1 to 1
  titles?: string[];
  columns?: string[]; // in place of the label
  faults?: number[]; // positions whose tag may not follow
  trained?: number[]; // tag ids before the edits
  against?: string; // id of the row to compare with
  about?: string; // what the row is, in a sentence
  key?: string; // the letter that switches it on and off
}

// Numbers in a column per word and a row per tag.
export interface TableData {
  name: string;
  label: string;
  values: Floats | null; // (T, K); null: the chain's own emissions
  scale: number;
  digits: number;
  kind: string; // "score", "probability", "exponent", "change", "signed" or "written"
  editable: boolean;
  outlined: number[] | null; // T tag ids
  frames?: string; // id of the row whose tags are framed
  trained?: Floats;
  writes?: Floats[]; // of each step of the walk: rows of position, tag id, value
  wrong?: Cell; // marked once it is written
}

// The gap between two paths, word by word, in nats.
export interface TermsData {
  title: string;
  emissions: number[]; // T
  transitions: number[]; // T + 1: start first, end last
  foot: string;
  trained: [number[], number[]] | null; // emissions and transitions before the edits
}

// An interval of one weight with the same best path.
export interface RulerPiece {
  low: number | null; // null: -inf
  high: number | null; // null: inf
  label: string;
}

// The values of one weight, in pieces with the same best path.
export interface RulerData {
  weight: [string, string];
  trained: number | null; // null: -inf, or different at each step
  varies: boolean;
  pieces: RulerPiece[];
}

// An entity on the best path.
export interface ChipData {
  label: string;
  first: number;
  last: number;
  probability: number;
}

// Candidates for the words of the chosen entity.
export interface HypothesisData {
  text: string;
  relation: string;
  probability: number;
  trained: number | null;
  span: [string, number, number] | null;
}

// A number that is often shown instead of the exact probability.
export interface ShortcutData {
  name: string;
  value: number;
  error: number;
}

// One entity, its exact probability, its rivals and shortcuts.
export interface EntityData {
  types: string[];
  on_path: ChipData[];
  label: string;
  first: number;
  last: number;
  title: string;
  probability: number;
  trained: number | null;
  hypotheses: HypothesisData[];
  total: number;
  shortcuts: ShortcutData[];
  note: string;
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

// Steps of one kind; see `picture.Phase`.
export interface PhaseData {
  text: string;
  parts: string[];
  sweep: number; // 1, -1, or 0 for a single step
  nodes: string[];
  first: string;
  last: string;
}

// The steps of a picture; see `picture.Walk`.
export interface WalkData {
  phases: PhaseData[];
  start: string;
  never: string[];
  opens: number; // the step at which the page opens
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
  tables: TableData[];
  display: string; // of the matrix: "score" or "probability"
  probabilistic: boolean;
  margin: number | null; // nats between the two best paths
  pins: [number, string][];
  terms: TermsData | null;
  ruler: RulerData | null;
  marks: [number, string][]; // strengths at which the best path flips
  messages: boolean; // whether α is what a word passes on
  entity: EntityData | null;
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
