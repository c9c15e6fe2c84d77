// The types that the stage's modules share, for `tsc --checkJs`. Those of what Python sends are in payload.d.ts.
// Letters: T words, K tags. Tables are flat: table[t * K + k].

import type { Labelling } from "./labelling/labelling.js";
import type {
  Cell,
  EntityPanelData,
  GridData,
  LabellerPayload,
  Payload,
  RowData,
  RulerData,
  TrainedResults,
  WalkData,
} from "./payload.js";
import type { Stage } from "./stage/lifecycle.js";

export * from "./payload.js";
export type { Labelling, Stage };

// The numbers of a chain.

export type Path = number[] | null; // T tag ids; null where no path is allowed
export type Numbers = ArrayLike<number> & Iterable<number>;

export interface Weights {
  K: number;
  transitions: Float64Array; // one matrix (K, K), or one for each step (T - 1, K, K)
  start: Float64Array;
  end: Float64Array;
}

export interface Counts {
  K: number;
  transitions: Float64Array | Int16Array;
  start: Float64Array | Int16Array;
  end: Float64Array | Int16Array;
}

export interface Chain extends Weights {
  T: number;
  emissions: Float64Array;
}

export interface Tables {
  marginals: Float64Array;
  alpha: Float64Array; // where a panel needs it, as the next two
  beta: Float64Array;
  best: Float64Array;
}

export interface Solution extends Tables {
  logPartition: number;
  score: number;
  backpointers: Int16Array; // -1 where no prefix leads
  rows: Record<string, Path>; // by decoder
}

export interface ChainResults extends Tables {
  logPartition: number;
  score: number;
  backpointers: Int16Array;
  path: Path;
}

export interface Edits {
  transitions: Map<string, number>; // by "from,to": tag ids, -1 for START and K for END
  emissions: Map<string, number>; // by "t,k"
  strength: number;
}

export type Split = Pick<Payload, "tags" | "copies">; // whose tags may be copies

// A payload, decoded.

export interface Table extends Omit<GridData, "values" | "trained"> {
  values: Float64Array; // absent where the cells are the chain's own emissions
  trained?: Float64Array;
  written?: Map<number, boolean>; // by cell whether the newest step wrote it
}

export interface Trained extends Partial<Omit<TrainedResults, keyof Tables | "path">>, Partial<Tables> {
  path: Path;
  marginals: Float64Array;
}

export interface Ruler extends Omit<RulerData, "pieces" | "trained"> {
  cell: [from: number, to: number];
  trained: number;
  pieces: Piece[];
}

export interface Piece {
  low: number;
  high: number;
  label: string;
}

export interface Pile {
  drawn: number;
  newest: Path;
  uses: Int16Array;
  moves: Int16Array;
}

type Encoded =
  | "trained" | "edits" | "overview" | "results" | "ghost" | "rows" | "tables" | "ruler" | "pile" | "gradient" | "walk" | "entity";

export interface Row extends Omit<RowData, "trained"> {
  trained?: number[] | null; // null: the row has none
}

export interface Decoded extends Omit<Payload, Encoded> {
  T: number;
  K: number;
  base: Chain; // of all words, before the edits
  trained: Chain; // of the words in sight; absent where nothing can be changed, as the panels that read it
  solved: Solution | null; // of all words, where those in sight are a window
  overview: { path: Path; marginals: Float64Array } | null; // likewise, of a chain that is not sent
  edits: Edits;
  edited: Chain; // of all words, with these edits; absent as `base`
  results: ChainResults;
  ghost: Trained | null;
  rows: Row[];
  tables: Table[];
  ruler: Ruler | null;
  pile: Pile | null;
  entity: EntityPanelData; // absent where no part shows one
  gradient: { observed: Counts; difference: Counts } | null;
  walk: WalkData | null; // null where the host has no steps
  perStep: boolean; // whether each step has its own matrix
  disagrees?: boolean; // whether this browser computes other numbers than Python
  alone?: boolean; // whether no server answers
}

export type Place = { offset: number; T: number }; // which words are in sight

export type Changes = Partial<Payload> & { ack: number };

// What the reader chose, and the model that is drawn.

export interface Reading {
  kind: string; // how the side panel reads the cell
  temperature: number; // 0 for the maximum, 1 for the sum
}

export interface Chosen {
  unfolded: boolean | null; // whether every tag has a row of its own; null: as the page decides
  direction: string; // of the columns: ltr, rtl, or as the sentence runs
  cell: Cell | null; // that the side panels speak of
  survivor: Cell | null; // whose best prefix is drawn
  into: number; // the word into which the matrix shows the step, where each step has its own
  reading: Reading;
  step: number; // of the walk
  nodes: string; // what the nodes of the lattice say, where the walk leaves a choice
  covered: string[]; // parts that are switched off
  preview: StageEvent | null; // the event under the hand right now, not sent yet
  message: string | null; // what is wrong with a score just typed
}

export interface Steps {
  at: number; // steps done
  of: number; // steps possible
  choice: string[]; // what the nodes may say
  column: number | null; // the word of the last step
  parts: string[]; // what it uncovered
  text: string;
}

export interface Sight {
  steps: Steps | null; // null without a walk
  nodes: string;
  sees: (part: string, t?: number) => boolean; // whether a part may be drawn at word t, or at any word
  open: (part: string, t?: number) => boolean; // the same without the steps: whether no question keeps it back
}

export interface Lit {
  t: number;
  table: string;
  shares: Map<number, number>; // by tag
}

export interface Selection extends Sight {
  walking: boolean; // whether steps are left
  cell: Cell;
  survivor: number[] | null; // the tags of the best prefix that is drawn
  reading: Reading;
  ties: [number, number, number][]; // word, from, to
  lit: Lit | null; // what goes into the cell
  tables: Table[]; // at this step
}

export interface Composed extends Omit<Decoded, "covered" | "message"> {
  live: boolean; // whether the numbers are this browser's own
  waiting: boolean; // whether Python has still to answer
  message: string | null;
  into: number;
  chain: Chain; // of the words in sight; absent as `trained`
  covered: Set<string>;
  unfolded: boolean;
  shown: Set<number>; // tags with a row of their own
  order: number[]; // the same, from the top down
  payloadRows: Row[]; // with those that are switched off
}

export interface Model extends Composed, Selection {
  sizes: Sizes;
  inSight: { from: number; to: number }; // words that are not scrolled away
  sparse: boolean; // whether the lattice lacks the others: it would have thousands of nodes
}

// Sizes and parts of the picture.

export type Sizes = ReturnType<typeof import("./stage/layout.js").layout>;
export type Frame = ReturnType<typeof import("./stage/frame.js").buildFrame>;

export interface Part {
  element: HTMLElement;
  focus?: (t: number, k: number) => void;
  scroll?: (model: Model, before: Set<number>) => void;
  update: (model: Model) => void;
}

export interface Input {
  tag: number | null; // null: START or END
  name?: string;
  parts: [before: number | null, transition: number | null, emission: number | null];
  sum: number;
}

export type Span = [label: string, first: number, last: number];
export type Content = Node | string | number | false | Attributes | Content[];
export type Attributes = { [name: string]: unknown };
type TagOf<K extends string> = K extends `${infer Tag}.${string}` ? Tag : K;
export type HtmlOf<K extends string> =
  TagOf<K> extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[TagOf<K>] : HTMLElement;
export type SvgOf<K extends string> =
  TagOf<K> extends keyof SVGElementTagNameMap ? SVGElementTagNameMap[TagOf<K>] : SVGElement;

// Events and keys.

type Numbered = { seq?: number; sentence?: string; offset?: number; has?: string };
export type StageEvent = Numbered &
  (
    | { kind: "transition"; from: string; to: string; score: number | null }
    | { kind: "emission"; position: number; tag: string; score: number | null }
    | { kind: "restore"; from: string; to: string }
    | { kind: "restore"; position: number; tag: string }
    | { kind: "right"; position: number; tag: string }
    | { kind: "strength"; value: number }
    | { kind: "reset" | "undo" | "redo" | "whole" }
    | { kind: "constrained"; value: boolean }
    | { kind: "step"; value: number | "start" }
    | { kind: "view"; name: string; value: string }
    | { kind: "cover"; parts: string[] }
    | { kind: "page"; value: Way }
  );
export type Way = "next" | "previous";
export type Sent = { seq: number; kind: string };

export type Act = (() => unknown) | null | undefined | false | ""; // what to do for a key
export interface Hands {
  editing: boolean;
  pointed: boolean; // whether the focus came by the pointer
}

export type Typed = { value?: number; restore?: boolean; error?: string };

export interface CellHooks {
  value: (cell: HTMLElement) => number;
  text: (cell: HTMLElement) => string; // what typing begins with
  read: (cell: HTMLElement, typed: string) => Typed;
  preview: (cell: HTMLElement, value?: number) => void; // undefined ends it
  commit: (cell: HTMLElement, value: number | null) => void; // null: the trained value
  complain: (text: string) => void;
}

export interface StageOptions {
  keys?: HTMLElement | Document; // whose keys the stage answers
  beyond?: (way: Way) => boolean; // asked before a page is turned: whether it did something else
  walked?: (step: number | "start" | null) => void; // gets each step at once; null when none is under way
  frugal?: boolean; // whether each event is dear to the host: only clicks and edits send some, each once
}

export interface Timer {
  timer: ReturnType<typeof setTimeout>;
  act: () => void;
}

export interface View<Data> {
  receive: (data: Data) => void;
  deliver: () => void;
  close: () => void;
  leave?: () => boolean;
}

// What Streamlit's component is for a view: each payload, and the way back to Python.
export interface Mounted<Data> {
  receive: (data: Data, trigger: Trigger) => void;
  close: () => void;
}

export type Trigger = (name: string, value: unknown) => void;
export type Send = (events: object[]) => void;
export type Posted = StageEvent & Sent;
export type StageOutbox = import("./outbox.js").Outbox<Posted>;

export interface Host<Data> {
  data: Data;
  parentElement: HTMLElement;
  setTriggerValue: Trigger;
  setStateValue: Trigger;
}

export interface Point {
  left: number;
  top: number;
}
