// Written by `python -m widgets.animation.schema` from schema.py.

/** A token of a lane; what is left out is as in `record.DEFAULTS`. */
export interface Cell {
  text: string;
  key: string;
  state?: string;
  chosen?: boolean;
  graded?: boolean;
  badge?: string;
  was?: string;
  language?: number;
}

/** A row of tokens: the text, the input, the decoder's input or the targets. */
export interface Lane {
  name: string;
  title: string;
  cells: Cell[];
}

/** Attention weights as base64 of bytes, `[heads, rows, columns]` for each layer that is sent. */
export interface Weights {
  heads: number;
  layers: number;
  data: { [name: string]: string };
}

/** An attention mask: `states` is base64 of a byte per cell, rows are queries and columns keys. */
export interface Matrix {
  name: string;
  title: string;
  rows: string[];
  columns: string[];
  shape: number[];
  states: string;
  graded_rows: number[];
  order: number[] | null;
  every?: number;
}

/** Lines of the engine, in runs of one colour: `[kind, text]`. */
export interface CodePart {
  file: string;
  line: number;
  spans: string[][];
}

/** The source of a stage, and how it is called. */
export interface Code {
  call: string[][];
  parts: CodePart[];
  says?: string;
}

/** The example after one stage; `numbers` marks a frame that shows those of a model. */
export interface Frame {
  name: string;
  title: string;
  caption: string;
  lanes: Lane[];
  matrices: Matrix[];
  code?: Code;
  numbers?: boolean;
}

/** A position of a stream in a layer, on the path of a leak. */
export interface Place {
  stream: string;
  position: number;
  layer: number;
}

/** Whether an answer can reach its own prediction, and on which path. */
export interface Leak {
  leak: boolean;
  level: string;
  by_design: number[];
  sentence: string;
  path: Place[];
}

/** A term of the loss as LaTeX and as a tree of MathML, with what its symbols mean. */
export interface Term {
  question: string;
  latex: string;
  mathml: any[];
  weight: number;
  symbols: { [name: string]: string };
  signs: { [name: string]: any[] };
  network: string;
  reader: string;
  positions: number[];
}

/** A model's answer at one scored position. */
export interface Guess {
  place: number;
  question: string;
  reader: string;
  truth: string;
  probability: number;
  loss: number;
  top: any[][];
}

/** What a model says of the example; `groups` and `after` only where one update is looked into. */
export interface Numbers {
  model: string;
  attention: { [name: string]: Weights };
  guesses: Guess[];
  losses: { [name: string]: number };
  captions: { [name: string]: string };
  groups?: { [name: string]: any }[];
  after?: Guess[];
}

/** All frames of one objective on one text. What is not required is left out where there is nothing to say. */
export interface StageRecord {
  version: number;
  title: string;
  subtitle: string;
  formula: string;
  source: string;
  loss: string;
  terms: Term[];
  misprint: { [name: string]: any } | null;
  signal: { [name: string]: number };
  meters: { [name: string]: any }[];
  left_out: { [name: string]: any }[];
  film: { [name: string]: any } | null;
  switch: { [name: string]: any } | null;
  plan: { [name: string]: any };
  edits: string[];
  outcomes: string[];
  words: string[];
  word: number[];
  units: string[];
  text: string[];
  leak: Leak;
  frames: Frame[];
  numbers?: Numbers;
  painted?: { [name: string]: number[][] };
}

/** What a person did by hand: `do` says what, the rest is what that needs (see `edits.DO`). */
export interface Edit {
  do: string;
  number?: number;
  word?: number;
  to?: any;
  from?: number;
  old?: string;
  with?: string;
  acts?: boolean;
  matrix?: string;
  cells?: any[][];
  knob?: string;
  layer?: number;
}
