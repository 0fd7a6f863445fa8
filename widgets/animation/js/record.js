/** The record: what the stage draws, read once, and which token goes where between two frames. */

import tokens from "../../design_tokens.json" with { type: "json" };
import { plain } from "./dom.js";

/**
 * The weight of a cell in 0..1 in the layer and head that the eye is on (head -1: the mean of all). Null where there
 * are no weights, where nobody wants to see them (head null), and where that layer has not arrived yet.
 * @param {Matrix} matrix @param {number} i @param {number} j @param {Eye} eye
 */
export function weightAt(matrix, i, j, eye) {
  if (matrix.whole) return weightAt(matrix.whole, i + (matrix.top || 0), j + (matrix.left || 0), eye);
  const layer = layerOf(matrix, eye);
  const data = matrix.heads && holdsIn(matrix, layer) ? matrix.data[layer] : null;
  if (!data || eye.head === null) return null;
  if (eye.head >= 0 && eye.head < matrix.heads) return data[(eye.head * matrix.n + i) * matrix.m + j] / 255;
  matrix.means ??= new Map();
  const mean = matrix.means.get(data) || meanOf(matrix, data);
  matrix.means.set(data, mean);
  return mean[i * matrix.m + j];
}

/** The mean of all heads of a layer, found once for each: it is asked for in every picture. */
function meanOf(/** @type {Matrix} */ { heads, n, m }, /** @type {Uint8Array} */ data) {
  const mean = new Float32Array(n * m);
  for (let at = 0; at < heads * n * m; at++) mean[at % (n * m)] += data[at] / 255 / heads;
  return mean;
}

/** The layer that the eye is on; without a wish the topmost one. @param {Matrix} matrix @param {Eye} eye */
export const layerOf = (matrix, eye) => Math.min(eye.layer ?? matrix.layers - 1, matrix.layers - 1);

/** May the query of a cell attend to its key? @param {any} it @param {number} at */
export const isOpen = ({ cells }, at) => cells[at] === CELL.visible || cells[at] === CELL.leaked;

/** @param {Matrix} a @param {Matrix} b */
export const sameStates = (a, b) => a.n === b.n && a.m === b.m && a.cells.every((state, i) => state === b.cells[i]);

export const MOVE = 450; // ms of one move
export const REST = 700; // ms of rest between two moves while playing
export const BACK = 260; // ms of a step back: nobody wants to wait for a rewind
export const ROW = 75; // ms for a row of the matrix to appear
export const ANSWER = 180; // ms for one answer of the forward sweep
export const SWEEP = 1200; // no sweep lasts longer than this
export const SPEEDS = [0.25, 0.5, 1, 2, 4];
export const FAMILY =
  'ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "Noto Sans", sans-serif';

export const LANES = ["original", "inputs", "teacher", "decoder", "targets", "targets 2", "targets 3", "targets 4"];
export const MATRICES = [
  "encoder", "content", "query", "encoder above", "content above", "query above", "decoder", "decoder above", "cross",
];
export const WIDEST = 1600; // px: where there is more room, everything is drawn larger instead
export const FUSED = 13; // px: cells below this are painted in runs
export const STRIP = 16; // px for the ids of a kind below a lane
export const LABEL = 86; // px at most for a word beside a matrix
export const CELL = { blocked: 0, visible: 1, self: 2, padding: 3, leaked: 4 };

/** Where the reader of a matrix stands and where the places that it reads stand. */
export const READER_LANE = Object.fromEntries(MATRICES.map((name) => [
  name, ["decoder", "cross"].includes(name.replace(" above", "")) ? "decoder" : "inputs",
]));
/** @type {{ [matrix: string]: string }} */
export const READ_LANE = { ...READER_LANE, cross: "inputs" };

/** Okabe-Ito: distinguished by people with any kind of colour vision. A hue has one meaning throughout the picture:
 * blue may be attended to, sky was added by the objective, green moved, orange is chosen and scored, vermilion is made
 * wrong on purpose or leaks, purple comes from another model. */
export const HUE = Object.fromEntries(Object.entries(tokens.palette).map(([name, hex]) => [
  name, [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)),
]));

export const clamp = (/** @type {number} */ x, low = 0, high = 1) => Math.min(high, Math.max(low, x));
export const lerp = (/** @type {number} */ a, /** @type {number} */ b, /** @type {number} */ t) => a + (b - a) * t;
export const ease = (/** @type {number} */ t) => (t < 0.5 ? 4 * t * t * t : 1 - Math.pow(2 - 2 * t, 3) / 2);
export const font = (/** @type {number} */ size, weight = 400) => `${weight} ${size}px ${FAMILY}`;
export const sum = (/** @type {number[]} */ list) => list.reduce((a, b) => a + b, 0);
/** @param {number} share */
export const percent = (share) => (share > 0 && share < 0.01 ? "<1 %" : `${Math.round(100 * share)} %`);
/**
 * @template T, U
 * @param {{ [name: string]: T }} object @param {(value: T) => U} act
 * @returns {{ [name: string]: U }}
 */
export const mapped = (object, act) => Object.fromEntries(
  Object.entries(object).map(([name, value]) => [name, act(value)])
);
export const range = (/** @type {number} */ n) => Array.from({ length: n }, (_, i) => i);

/** Base64 as bytes; what is bytes already stays so. @param {any} data */
export function bytes(data) {
  return typeof data === "string" ? Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0)) : data;
}

/**
 * The record (`StageRecord` of `schema.py`) with defaults filled in, matrices unpacked, and the moves between
 * neighbouring frames found once.
 * @param {any} raw
 * @returns {StageRecord}
 */
export function readRecord(raw) {
  /** @type {any} */
  const record = { title: "", subtitle: "", source: "", text: [], leak: null, frames: [], ...plain(raw || {}) };
  if (!record.frames.length) record.frames = [
    { name: "empty", title: "Nothing to show", caption: "There is no text yet." },
  ];
  record.frames = record.frames.map((/** @type {any} */ frame) => ({
    ...frame,
    title: frame.title || frame.name,
    lanes: (frame.lanes || []).map(readLane),
    matrices: (frame.matrices || []).map((/** @type {any} */ each) => readMatrix(each, record.painted?.[each.name])),
  }));
  record.moves = movesOf(record.frames);
  return record.numbers ? withNumbers(record, record.numbers) : record;
}

/** @param {any} lane @returns {Lane} */
const readLane = (lane) => ({ ids: [], ...lane, cells: (lane.cells || []).map(readCell) });

/** The moves from each frame to the next. @param {Frame[]} frames */
export const movesOf = (frames) => frames.slice(1).map((frame, k) => movesBetween(frames[k], frame));

/**
 * The same frames with a model's numbers: those frames that show them get its attention, its guesses, its captions.
 * Attention is bytes by layer, `[h, n, m]` each; a live host sends only the layer that is asked for.
 */
export function withNumbers(/** @type {StageRecord} */ record, /** @type {Numbers} */ numbers) {
  /** @type {{ [name: string]: any }} */
  const attention = numbers.attention || {};
  const weights = mapped(attention, (each) => ({ ...each, data: mapped(each.data, bytes) }));
  const weigh = (/** @type {Matrix} */ matrix) => ({ ...matrix, ...weights[matrix.name.replace(" above", "")] });
  const tell = (/** @type {Frame} */ frame) => ({
    ...frame, numbers, caption: (numbers.captions || {})[frame.name] ?? frame.caption,
    matrices: frame.matrices.map(weigh),
  });
  return { ...record, numbers, frames: record.frames.map((frame) => (frame.numbers ? tell(frame) : frame)) };
}

/** @param {Partial<Cell>} cell @returns {Cell} */
export function readCell(cell) {
  return { key: "", text: "", state: "kept", chosen: false, scored: false, badge: "", was: "", ...cell };
}

/** @param {any} matrix @param {[number, number][]} painted @returns {Matrix} */
export function readMatrix(matrix, painted = []) {
  const [n, m] = matrix.shape || [matrix.rows.length, matrix.columns.length];
  const ordered = matrix.order && (matrix.order.length === n || matrix.order.length === m);
  return {
    ...matrix,
    n, m,
    cells: bytes(matrix.states),
    scored: Array.from(matrix.scored_rows || []),
    heads: 0, layers: 0, data: {},
    painted: new Set(painted.map(([i, j]) => i * m + j)),
    order: ordered ? matrix.order : null,
    slots: ordered ? inverse(matrix.order) : null,
  };
}

/** `order[slot] = position` turned round: the slot of every position. @param {number[]} order */
export function inverse(order) {
  const slots = new Array(order.length);
  order.forEach((position, slot) => (slots[position] = slot));
  return slots;
}

/** The lane of a reader: of the decoder, or of the inputs. @param {string} reader */
export const homeOf = (reader) => (reader === "decoder" ? "decoder" : "inputs");
/** @param {string} lane */
export const isAnswers = (lane) => lane.startsWith("targets"); // of the next word, or of a further one
/** @param {Frame} frame @param {string} name */
export const laneOf = (frame, name) => frame.lanes.find((lane) => lane.name === name);
/** @param {Frame} frame @param {string} name */
export const matrixOf = (frame, name) => frame.matrices.find((matrix) => matrix.name === name);

/** A record with all of its text: whatever part of it is drawn, everything keeps its size and place. */
export const inFull = (/** @type {StageRecord} */ record) => record.whole || record;

/** Chosen tokens rise in the lanes of the text; what must be predicted stays on its line. @param {string} lane */
export const rises = (lane) => lane === "original" || lane === "inputs";

/** The box of the i-th chip of a lane. @param {Plan} plan @param {string} lane @param {number} i */
export function chipBox(plan, lane, i, chosen = false) {
  const { chips } = plan;
  const slot = plan.lanes[lane];
  const x = plan.left + (i % chips.columns) * (chips.w + chips.gap);
  const y = slot.top + slot.above + Math.floor(i / chips.columns) * slot.pitch;
  return { x, y: y - (chosen && rises(lane) ? 5 : 0), w: chips.w, h: chips.h };
}

/** The largest shape that each matrix takes in the record; it decides the room that is kept for it. @returns {any[]} */
export function matrixShapes(/** @type {StageRecord} */ record) {
  const all = record.frames.flatMap((frame) => frame.matrices);
  return MATRICES.map(
    (name) => all.filter((matrix) => matrix.name === name)
  ).filter((some) => some.length).map((some) => {
    const { name } = some[0];
    const rows = [...new Set(some.flatMap((matrix) => matrix.rows))];
    const columns = [...new Set(some.flatMap((matrix) => matrix.columns))];
    const [n, m] = [Math.max(...some.map((matrix) => matrix.n)), Math.max(...some.map((matrix) => matrix.m))];
    return { name, title: some[some.length - 1].title || name, n, m, rows, columns };
  });
}

/** Every cell of a frame with an identity that is unique in its lane even if a key is given twice. */
export function placed(/** @type {Frame} */ frame) {
  return frame.lanes.flatMap((lane) => {
    /** @type {{ [key: string]: number }} */
    const seen = {};
    return lane.cells.map((cell, i) => {
      seen[cell.key] = (seen[cell.key] || 0) + 1;
      return { lane: lane.name, i, cell, id: `${lane.name}/${cell.key}/${seen[cell.key]}` };
    });
  });
}

/**
 * Which token goes where between two frames. The same key in the same lane is the same chip. A chip that is new in
 * its lane is taken out of the lane it vanishes from if there is one (folded spans fly to the targets), else copied
 * from a lane above. What vanishes for good squeezes into what was inserted in its place, or falls.
 */
export function movesBetween(/** @type {Frame} */ before, /** @type {Frame} */ after) {
  const [olds, news] = [placed(before), placed(after)];
  const [oldById, newIds] = [new Map(olds.map((spot) => [spot.id, spot])), new Set(news.map((spot) => spot.id))];
  const vanishing = olds.filter((spot) => !newIds.has(spot.id));
  const taken = new Set();
  const moves = news.map((to) => {
    const stay = oldById.get(to.id);
    if (stay) return { from: stay, to };
    const flown = vanishing.find((spot) => spot.cell.key === to.cell.key && !taken.has(spot));
    if (flown) taken.add(flown);
    const twins = olds.filter((spot) => spot.cell.key === to.cell.key);
    const source = flown || (to.lane === "decoder" && twins.find((spot) => spot.lane === "targets")) || twins[0];
    return { from: source || null, to };
  });
  const gone = vanishing.filter((spot) => !taken.has(spot)).map((from) => ({
    from, to: null, into: heir(from, before, after),
  }));
  return [...gone, ...moves];
}

/** The inserted chip that took the place of a vanished one: the first new key after its surviving left neighbour. */
function heir(/** @type {Spot} */ spot, /** @type {Frame} */ before, /** @type {Frame} */ after) {
  const old = laneOf(before, spot.lane)?.cells || [];
  const now = laneOf(after, spot.lane);
  if (!now || spot.cell.state === "deleted") return null;
  const known = new Set(old.map((cell) => cell.key));
  const kept = new Set(now.cells.map((cell) => cell.key));
  const left = old.slice(0, spot.i).reverse().find((cell) => kept.has(cell.key));
  const at = left ? now.cells.findIndex((cell) => cell.key === left.key) + 1 : 0;
  return now.cells[at] && !known.has(now.cells[at].key) ? { lane: spot.lane, i: at, cell: now.cells[at] } : null;
}

/** The two or three places that a reader looks at most, as one spoken clause; nothing where there are no weights. */
export function speakWeights(/** @type {Matrix} */ matrix, /** @type {number} */ row, /** @type {Eye} */ eye) {
  if (matrix.whole) return speakWeights(matrix.whole, row + (matrix.top || 0), eye);
  const shares = range(matrix.m).map(
    (j) => [j, weightAt(matrix, row, j, eye) || 0]
  ).filter(([, share]) => share >= 0.05);
  const most = shares.sort((a, b) => b[1] - a[1]).slice(0, 3).map(
    ([j, share]) => `'${matrix.columns[j] ?? j + 1}' ${percent(share)}`
  );
  return most.length ? `, and attends most to ${most.join(", ")}` : "";
}

/** What a reader may do, as one spoken clause. @param {Matrix} matrix @param {number} row */
export function speak(matrix, row) {
  if (matrix.whole) return speak(matrix.whole, row + (matrix.top || 0));
  const cells = range(matrix.m).map((j) => row * matrix.m + j);
  const seen = cells.filter((at) => isOpen(matrix, at)).length;
  const places = cells.filter((at) => matrix.cells[at] !== CELL.padding).length;
  const square = matrix.n === matrix.m && matrix.name !== "cross";
  const self = square && !isOpen(matrix, cells[row]) ? ", not itself" : "";
  return `'${matrix.rows[row] ?? row + 1}' sees ${seen} of ${places} positions${self}`;
}

/** The word of a position's id, empty where it is not known. @param {Ids} ids @param {number} i */
export const wordOf = ({ values, words }, i) => (words.length ? words[values[i]] : String(values[i]));

/** What a model reads with the token of a position, as a spoken sentence. */
export function speakIds(/** @type {Lane | undefined} */ lane, /** @type {number} */ i) {
  const known = (lane?.ids || []).filter((ids) => wordOf(ids, i));
  const read = known.map((ids) => `${ids.title} ${wordOf(ids, i)} (${ids.name.replace(/s$/, "")} ${ids.values[i]})`);
  return read.length ? ` It is read with ${read.join(" and ")}.` : "";
}

/** The steps of a leak as cells of matrices: information flows up the layers, so the later node is the reader. */
export function leakSteps(/** @type {StageRecord} */ record) {
  const path = (record.leak?.leak && record.leak.path) || [];
  return path.slice(1).map((b, i) => {
    const [read, reader] = (b.layer ?? 0) >= (path[i].layer ?? 0) ? [path[i], b] : [b, path[i]];
    return { reader, read };
  }).filter(({ reader, read }) => reader.stream !== read.stream || reader.position !== read.position);
}

/**
 * Does a matrix hold in this layer, counted from 0? Where not all layers see alike, each matrix says which are its.
 * @param {Matrix} matrix @param {number} layer
 */
const holdsIn = (matrix, layer) => (matrix.every ?? layer % 2) === layer % 2;

/** Does a step of a leak run through this matrix? A stream is called by the name of its stack or of its lane. */
export function runsThrough(/** @type {LeakStep} */ { reader, read }, /** @type {Matrix} */ matrix) {
  if (!holdsIn(matrix, (reader.layer ?? 1) - 1)) return false;
  const name = matrix.name.replace(" above", "");
  if (reader.stream === "decoder") return name === (read.stream === "decoder" ? "decoder" : "cross");
  if (reader.stream === "query") return name === "query";
  return name === "encoder" || name === "content";
}

/** The frame from which an edit can be seen, by the name of the stage that it bends. */
export const shownFrom = (/** @type {StageRecord} */ record, /** @type {string} */ name) => Math.max(
  0, record.frames.findIndex((frame) => frame.name.split(" ")[0] === name)
);
