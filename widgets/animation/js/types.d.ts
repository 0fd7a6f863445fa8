// The record as `readRecord` of `record.js` fills it in (`StageRecord` of `schema.py` is what travels), what is laid out
// and drawn from it, what a person does on it, and what a host hands over.

// -- the record

interface Cell {
  key: string;
  text: string;
  state: string;
  chosen: boolean;
  scored: boolean;
  badge: string;
  was: string;
}

interface Ids {
  name: string;
  title: string;
  values: number[];
  words: string[];
}

interface Lane {
  name: string;
  title: string;
  cells: Cell[];
  ids: Ids[];
  target?: string;
  begins?: number;
}

/** A cell and where it is in a frame. */
interface Spot {
  lane: string;
  i: number;
  cell: Cell;
}

/** A chip that goes from one frame to the next; without `to` it vanishes, into another one or for good. */
type Move =
  | { from: Spot | null; to: Spot; into?: undefined }
  | { from: Spot; to: null; into: Spot | null };

/** `cells` are states, `data` bytes `[head, n, m]` by layer; of a long text `whole` is the matrix in full. */
interface Matrix {
  name: string;
  title: string;
  rows: string[];
  columns: string[];
  n: number;
  m: number;
  cells: Uint8Array;
  scored: boolean[];
  heads: number;
  layers: number;
  data: { [layer: number]: Uint8Array };
  painted: Set<number>;
  order: number[] | null;
  slots: number[] | null;
  every?: number;
  whole?: Matrix;
  top?: number;
  left?: number;
  means?: Map<Uint8Array, Float32Array>;
  blocks?: Map<string, Uint8Array>;
}

interface Guess {
  target: string;
  reader: string;
  position: number;
  number?: number;
  truth: string;
  probability: number;
  loss: number;
  top: [string, number][];
  measure?: string;
  unit?: string;
}

interface LayerGroup {
  name: string;
  gradient: number;
  change: number;
  size: number;
}

interface Numbers {
  guesses?: Guess[];
  after?: Guess[];
  groups?: LayerGroup[];
  step?: number;
  attention?: { [matrix: string]: { heads: number; layers: number; data: { [layer: string]: string | Uint8Array } } };
  captions?: { [frame: string]: string };
}

/** Runs of source text, `[kind, text]`. */
type Runs = [string, string][];

interface Code {
  call: Runs;
  parts: { file: string; line: number; spans: Runs }[];
  says?: string;
}

interface Frame {
  name: string;
  title: string;
  caption?: string;
  lanes: Lane[];
  matrices: Matrix[];
  numbers?: Numbers;
  code?: Code;
}

interface PathNode {
  stream: string;
  position: number;
  layer?: number;
}

/** One step on the path of a leak: a reader, and what it reads. */
interface LeakStep {
  reader: PathNode;
  read: PathNode;
}

interface Leak {
  leak?: boolean;
  level?: string;
  sentence?: string;
  path?: PathNode[];
}

/** `[tag, attributes, ...children]` of MathML. */
type MathTree = [string, { [name: string]: string }, ...(string | Node | MathTree)[]];

interface Term {
  target: string;
  latex: string;
  weight: number;
  symbols?: { [name: string]: string };
  signs?: { [name: string]: MathTree };
  network?: string;
  reader: string;
  positions: number[];
  mathml: MathTree;
}

interface Signal {
  scored: number;
  tokens: number;
  share: number;
}

interface Meter extends Signal {
  target: string;
  network?: string;
}

interface MaskHistory {
  words: string[];
  strips: { title: string; states: string | Uint8Array }[];
}

interface Switch {
  knob: string;
  now: unknown;
  question: string;
  choices: { value: string; level: string; sentence: string; hears: string }[];
}

/** The values of a plan by its keys. */
interface PlanValues {
  chosen?: number[];
  spans?: string[];
  actions?: string[];
  replace?: string[];
  order?: number[];
  cut?: number;
  split?: number;
  pair?: string;
}

/** The window over a long text: `size` of its `length` tokens. */
interface Stretch {
  from: number;
  size: number;
  length: number;
}

/** Where what is drawn of a stream of a length begins and ends. */
type PartOf = (length: number) => [number, number];

interface StageRecord {
  title: string;
  subtitle: string;
  source: string;
  text: string[];
  leak: Leak | null;
  frames: Frame[];
  moves: Move[][];
  numbers?: Numbers;
  painted?: { [matrix: string]: [number, number][] };
  plan?: PlanValues;
  edits?: string[];
  words?: string[];
  word?: number[];
  units?: string[];
  outcomes?: string[];
  said?: string;
  can?: { undo?: boolean; redo?: boolean };
  alone?: boolean;
  begin?: string | number;
  link?: string;
  changing?: boolean;
  left_out?: { said: string }[];
  loss?: string;
  terms?: Term[];
  misprint?: { where: string; wrong: string; latex: string; mathml: MathTree } | null;
  signal?: Signal;
  meters?: Meter[];
  film?: MaskHistory | null;
  switch?: Switch | null;
  whole?: StageRecord;
  begins?: { [lane: string]: number };
  stretch?: Stretch;
}

// -- layout and drawing

interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}

type Point = [number, number];
type RGB = number[];
type Measure = (text: string, spec: string) => number;

/** The size of the chips of all lanes. */
interface Chips {
  size: number;
  mark: number;
  gap: number;
  columns: number;
  w: number;
  h: number;
  lines?: number;
}

interface Slot {
  title: string;
  y: number;
  top: number;
  above: number;
  was: number;
  below: number;
  pitch: number;
  lines: number;
  height: number;
  numbered: boolean;
  room: number;
}

/** What is known of a matrix before there is one. */
interface Shape {
  name: string;
  title: string;
  n: number;
  m: number;
  rows: string[];
  columns: string[];
}

/** Where a matrix is drawn; (x, y) is the corner of its cells, (left, top) that of its labels. */
interface MatrixBox extends Shape {
  x: number;
  y: number;
  cell: number;
  top: number;
  left: number;
  right: number;
  margin: number;
  labelled: boolean;
  angle: number;
  size: number;
  labelRow: number;
  labelColumn: number;
}

/** A square of cells without labels. */
type CellBox = Pick<MatrixBox, "name" | "x" | "y" | "cell">;

/** What a model's answers are shown as: cards, bars of the layers, or cards before and after an update. */
type AnswerKind = "guesses" | "gradient" | "change" | "after";

interface AnswerBand {
  x: number;
  y: number;
  top: number;
  room: number;
  titled: string;
  columns: number;
  shown: number;
  card: { w: number; h: number };
  bars: { columns: number; lines: number };
  height: number;
}

interface MapBox extends Box {
  name: string;
  n: number;
  m: number;
}

interface MapPlan {
  boxes: MapBox[];
  top: number;
  y: number;
  side: number;
  right: number;
  words: { x: number; y: number };
}

/** What the legend explains: a state of tokens, or a code of cells. */
type LegendMark = { text: string } & ({ kind: "token"; state: string } | { kind: "cell" | "weight"; code: number });
type LegendItem = LegendMark & { x: number; y: number };

/** Where everything is at one width. */
interface Plan {
  width: number;
  pad: number;
  gutter: number;
  inset: number;
  left: number;
  wide: boolean;
  chips: Chips;
  room: number;
  lanes: { [name: string]: Slot };
  boxes: { [name: string]: MatrixBox };
  legend: LegendItem[];
  height: number;
  band: number;
  beside?: { x: number; y: number } | null;
  answers?: AnswerBand;
  map?: MapPlan;
  choice?: { x: number; y: number };
}

/** What painting a chip needs of a plan. */
type ChipPlan = { chips: Chips; lanes: { [name: string]: { was?: number } } };

interface SurveyRow {
  name: string;
  idea: string;
  reason?: string;
  inputs: Cell[];
  targets: Cell[];
  matrices: Matrix[];
  signal: Signal;
}

interface SurveyData {
  title: string;
  subtitle: string;
  text?: string;
  rows: SurveyRow[];
  stages?: { [row: string]: StageRecord };
}

/** Losses over steps, `[step, loss]`, and the losses of what guesses without training. */
interface Curve {
  training: Point[];
  held_out: Point[];
  levels: { [name: string]: number };
  unit: string;
  target?: string;
}

/** How a chip looks, as `design_tokens.json` says it; colours by their names, or mixed. */
interface Look {
  fill: string | null;
  edge: string;
  text: string;
  mark?: string;
  dash?: number[] | null;
  thick?: number;
  weight?: number;
  pill?: boolean;
  flat?: boolean;
}

type Shade = "ink" | "paper" | keyof (typeof import("../../design_tokens.json"))["shades"];

interface Theme extends Record<Shade, string> {
  dark: boolean;
  key: string;
  shadow: string;
  ledge: string;
  visible: string;
  weight: string;
  leak: string;
  tint(hue: string, t?: number): string;
  strong(hue: string): string;
}

interface PenPath extends Pick<CanvasPath, "moveTo" | "lineTo" | "bezierCurveTo" | "arc" | "rect"> {
  roundRect(x: number, y: number, w: number, h: number, r: number): void;
}

type Texture = CanvasPattern | { id: string };
type Fill = string | CanvasGradient | Texture;
type Patterns = { hatch: Texture; fine: Texture };

type PenWords =
  | ("save" | "restore" | "translate" | "rotate" | "beginPath" | "clip" | "stroke" | "fillRect" | "strokeRect")
  | ("clearRect" | "fillText" | "globalAlpha" | "strokeStyle" | "lineWidth" | "lineCap" | "font")
  | ("textAlign" | "textBaseline");

/** The words of a canvas context that `paint` uses; a pen that writes SVG knows neither shadows nor compositing. */
interface Pen extends PenPath, Pick<CanvasRenderingContext2D, PenWords> {
  fillStyle: Fill;
  shadowColor?: string;
  globalCompositeOperation?: GlobalCompositeOperation;
  setLineDash(dash: number[]): void;
  fill(path?: PenPath): void;
  measureText(text: string): { width: number };
  newPath?(): PenPath;
}

interface SvgPath extends PenPath {
  d(): string;
  clear(): void;
}

/** The pen that writes SVG: `matrix` is its transform, `cut` the name of its clip path. */
interface SvgPen extends Pen {
  fillStyle: string | { id: string };
  strokeStyle: string;
  dash: number[];
  matrix: number[];
  cut: string;
  newPath(): SvgPath;
  fill(path?: SvgPath): void;
  hatch(side: number): { id: string };
  text(title: string): string;
}

interface Art<P = Plan> {
  plan: P;
  theme: Theme;
  ratio?: number;
  patterns: Patterns;
}

type BandArt = Art & { band: AnswerBand };
type ChipArt = { theme: Theme; plan: ChipPlan };

/** The layer and head whose weights are drawn: -1 is the mean of all heads, null no weights or the topmost layer. */
interface Eye {
  layer?: number | null;
  head: number | null;
}

/** The row of a matrix that somebody points at, and the column, or -1. */
interface Reader {
  matrix: string;
  row: number;
  column?: number;
}

/** Cells that a hand is painting before the engine has answered. */
interface Sketch {
  matrix: string;
  open: boolean;
  cells: Map<number, boolean>;
  m: number;
}

interface View extends Eye {
  reader: Reader | null;
  sort: number;
  lit?: { [lane: string]: number[] } | null;
  sketch?: Sketch | null;
}

/** Which chips a reader sees, which of them are dimmed, and which have a ring. */
interface Focus {
  me: Spot | null;
  seen: (Spot & { leaked: boolean; weight: number | null })[];
  dims(spot: Spot): boolean;
  halo(spot: Spot): string | null | undefined;
}

/** A chip on its way at one moment; `spot` is where it goes, or where it was. */
interface Flight {
  from: Spot | null;
  to: Spot | null;
  spot: Spot;
  e: number;
  alpha: number;
  lift: number;
  box: Box;
  turn?: number;
}

/** Row and column slots of a matrix whose axes may be sorted. */
interface Axes {
  row(i: number): number;
  column(j: number): number;
  still: boolean;
}

/** A matrix, where it is drawn, and what it is drawn with. */
interface Grid<B = CellBox> {
  ctx: Pen;
  theme: Theme;
  patterns: Patterns;
  box: B;
  matrix: Matrix;
  axis: Axes;
}

/** A matrix in a frame and in the next one. */
type MatrixPair = (Matrix | undefined)[];

/** Is the cell of a row and a column drawn? */
type Shown = (i: number, j: number) => boolean;

// -- what a person does

interface Clock {
  at: number;
  goal: number | null;
  playing: boolean;
  rest: number;
  looping: boolean;
  speed: number;
}

interface PlayerOptions {
  last(): number;
  pace(k: number): number;
  draw(): void;
  back?: number;
  rest?: number;
  also?(ms: number): boolean;
  seen?(): boolean;
  onFrame?(frame: number): void;
  onPlaying?(playing: boolean): void;
}

/** What changes over time on a stage. */
interface Now extends Clock {
  sort: number;
  sorted: boolean;
  hover: Reader | null;
  lock: Reader | null;
  layer: number | null;
  head: number | null;
  from: number;
  size: number | null;
}

/** What the stage sends to Python: the variants of `act` in `widgets/state/stage/edits.py`, which receives them. */
type Edit =
  | { do: "roll" | "undo" | "redo" | "unpaint" | "reset" | "fork" | "compare" }
  | { do: "choose"; word: number }
  | { do: "act"; word: number; to?: string }
  | { do: "replace"; word: number; with: string; acts: boolean }
  | { do: "span"; from: number; to: number; old?: string }
  | { do: "unspan"; old: string }
  | { do: "order"; to: number[] }
  | { do: "cut" | "split" | "objective"; to: number }
  | { do: "pair"; to: string }
  | { do: "paint"; matrix: string; cells: [number, number, boolean][] }
  | { do: "set"; knob: string; to: unknown }
  | { do: "look"; layer: number | null };

/** Words of a text that form a span; `text` is what the plan calls it, as "3:2". */
interface Span {
  text: string;
  start: number;
  length: number;
}

/** A question of the quiz: words to mark, those that are right, and the frame that shows them. */
interface Question {
  words: string[];
  truth: Set<number>;
  marks: Set<number>;
  begins: number;
  shownAt: number;
  matrix: string;
  row: number;
  text: string;
}

/** What follows a pointer that drags; `start` returns what is dragged, or nothing. */
interface Drag<T> {
  start(event: On<PointerEvent>): T | null | false | undefined;
  move?(held: T, event: PointerEvent): void;
  end?(held: T, event: PointerEvent, cancelled: boolean): void;
}

type Grip = HTMLElement & { step(by: number): void; to(value: number): boolean };

/** A part of the stage that may follow a record, a layout, a picture, keys and the pointer. */
interface Plug {
  adopt?(): void;
  place?(): void;
  follow?(): void;
  renew?(): void;
  hover?(found: Reader | null): void;
  key?(event: KeyboardEvent): boolean | void;
  destroy?(): void;
  svg?(): string;
  link?(): string;
}

/** The stage as its plugs see it. */
interface Kit {
  root: HTMLElement;
  canvas: HTMLCanvasElement;
  parts: any;
  now: Now;
  live: boolean;
  plugs: Plug[];
  painting: boolean;
  lit: { [lane: string]: number[] } | null;
  sketch: Sketch | null;
  after: string | null | undefined;
  sheet: string | null;
  measure: Measure;
  wake(): void;
  jump(at: number): void;
  pause(): void;
  last(): number;
  nearest(): number;
  alone(): boolean;
  stretch(from: number): void;
  pointAt(event: MouseEvent): Reader | null;
  record: StageRecord;
  whole: StageRecord;
  plan: Plan;
  theme: Theme;
  frame(): Frame;
  turn(name: string): void;
  drawWith(pen: Pen, extra: Partial<Art>, k: number, u: number, view?: View): void;
  send(edit: Edit, frame?: string): void;
}

// -- hosts

/** What anywidget and Panel hand over. */
interface HostModel {
  get(name: string): any;
  set(name: string, value: unknown): void;
  on(name: string, act: () => void): void;
  off?(name: string, act: () => void): void;
  save_changes(): void;
  send?(message: unknown): void;
}

interface Host {
  model: HostModel;
  el: HTMLElement;
}

interface StageOptions {
  frame?: number;
  playing?: boolean;
  bare?: boolean;
  bench?: HTMLElement;
  onFrame?(frame: number): void;
  onPlaying?(playing: boolean): void;
  onEdit?(edit: Edit): void;
  onStretch?(share: number): void;
  onLook?(layer: number | null, head: number | null): void;
}

// -- what is dragged

/** A grip or a word, where it was taken in pixels, and the word that the pointer has come to. */
interface WordDrag { handle: Grip | null; word: number; to: number; from: number; moved?: boolean; }

/** A unit of the order or the grip of its cut, and where it was taken in pixels, across and down. */
interface OrderDrag { part: Element; handle: Grip | null; from: number; high: number; moved?: boolean; }

// -- what is saved, shown in tables and played

/** Paints with any pen; `art` is what differs from the art on screen. */
type Paint = (pen: Pen, art: Partial<Art>) => void;
type Extent = { width: number; height: number };

/** The numbers of a run at a step that was recorded. */
interface Moment extends Numbers { step: number; model: string; }

interface Story { record: StageRecord; moments: Moment[]; curve: Curve; }

/** A story as `replay.py` packs it: the attention of all moments is bytes `[moment, layer, head, n, m]`. */
interface PackedStory { story: string; attention: { [matrix: string]: { shape: number[]; data: string } }; }

/** How a table tells its host which row was opened, or unfolded below it ("" when none is). */
interface TableOptions { onOpen?(name: string): void; onUnfold?(name: string): void; }
