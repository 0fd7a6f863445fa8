/** Long texts: a stretch of the tokens is drawn, and above it every matrix as a whole, framed around that stretch. */

import {
  CELL, LANES, READER_LANE, bytes, font, homeOf, inFull, inverse, isOpen, matrixOf, matrixShapes, movesOf, range,
} from "../record.js";
import { streamSpots } from "./chips.js";
import { boxPath, paintText } from "./pen.js";

export const LONG = 64; // tokens: a longer text is drawn in stretches

/** How many tokens stand in the longest lane of the last frame. @param {StageRecord} record */
export const lengthOf = ({ frames }) => Math.max(
  0, ...frames.slice(-1).flatMap((frame) => frame.lanes.map((lane) => streamSpots(frame, lane.name).length))
);

/** The tokens of a stretch where nobody has chosen: as many as can be read at a width. @param {number} width */
export const fitting = (width) => (width < 480 ? 20 : width < 720 ? 40 : LONG);

/** The part of a record that is drawn of a long text: `size` tokens from `from` on. Streams of other lengths begin and
 * end with it. The whole stays at hand as `whole`, for what is counted and said is true of all of it.
 * @param {StageRecord} whole @param {number} from @param {number} size @returns {StageRecord} */
export function stretched(whole, from, size) {
  const length = lengthOf(whole);
  if (length <= Math.max(LONG, size)) return whole;
  /** @type {PartOf} */
  const part = (total) => {
    const first = total <= size ? 0 : Math.round((from / (length - size)) * (total - size));
    return [first, Math.min(total, first + size)];
  };
  const last = whole.frames[whole.frames.length - 1];
  const begins = Object.fromEntries(LANES.map((name) => [name, part(streamSpots(last, name).length)[0]]));
  const ask = (/** @type {Guess[] | undefined} */ guesses) => guesses?.map((guess) => ({
    ...guess, position: guess.position - begins[homeOf(guess.reader)], number: guess.position + 1,
  })).filter(({ position }) => position >= 0 && position < size);
  const told = whole.numbers;
  const numbers = told && { ...told, guesses: ask(told.guesses), after: ask(told.after) };
  const frames = whole.frames.map((frame) => ({
    ...frame,
    lanes: frame.lanes.map((lane) => laneOfStretch(lane, part)),
    matrices: frame.matrices.map((matrix) => matrixOfStretch(matrix, part)),
    ...(frame.numbers ? { numbers } : {}),
  }));
  const path = whole.leak?.path?.map((node) => ({ ...node, position: node.position - begins[homeOf(node.stream)] }));
  return {
    ...whole, whole, frames, begins, numbers,
    stretch: { from, size, length },
    moves: movesOf(frames),
    word: whole.word && whole.word.slice(...part(whole.word.length)),
    leak: whole.leak && { ...whole.leak, path: path ?? [] },
    film: whole.film && filmOfStretch(whole.film, part),
  };
}

/** Deleted chips have no position in their stream; they stay with the chip before them.
 * @param {Lane} lane @param {PartOf} part @returns {Lane} */
function laneOfStretch(lane, part) {
  const spots = lane.cells.map((cell, i) => ({ cell, i })).filter(({ cell }) => cell.state !== "deleted");
  const [first, after] = part(spots.length);
  const at = (/** @type {number} */ position) => spots[position]?.i ?? lane.cells.length;
  const ids = lane.ids.map((each) => ({ ...each, values: each.values.slice(first, after) }));
  return { ...lane, ids, begins: first, cells: lane.cells.slice(first ? at(first) : 0, at(after)) };
}

/** @param {Matrix} whole @param {PartOf} part @returns {Matrix} */
function matrixOfStretch(whole, part) {
  const [[top, bottom], [left, right]] = [part(whole.n), part(whole.m)];
  const [n, m] = [bottom - top, right - left];
  if (n === whole.n && m === whole.m) return whole;
  const cells = new Uint8Array(n * m);
  const begin = (/** @type {number} */ i) => (top + i) * whole.m + left;
  for (let i = 0; i < n; i++) cells.set(whole.cells.subarray(begin(i), begin(i) + m), i * m);
  const moved = (/** @type {number} */ at) => {
    const [i, j] = [Math.floor(at / whole.m) - top, (at % whole.m) - left];
    return j < 0 || j >= m || i < 0 || i >= n ? [] : [i * m + j];
  };
  const order = whole.order && whole.order.map((position) => position - top).filter((i) => i >= 0 && i < n);
  return {
    ...whole, whole, n, m, cells, order, top, left,
    rows: whole.rows.slice(top, bottom),
    columns: whole.columns.slice(left, right),
    scored: whole.scored.slice(top, bottom),
    painted: new Set([...whole.painted].flatMap(moved)),
    slots: order && inverse(order),
  };
}

/** @param {MaskHistory} film @param {PartOf} part @returns {MaskHistory} */
function filmOfStretch(film, part) {
  const total = film.words.length;
  const [first, after] = part(total);
  const within = (/** @type {unknown} */ _, /** @type {number} */ at) => at % total >= first && at % total < after;
  const strips = film.strips.map(({ title, states }) => ({ title, states: bytes(states).filter(within) }));
  return { words: film.words.slice(first, after), strips };
}

/** A matrix in full, also where only a stretch of it is drawn. @param {Matrix} matrix */
export const entire = (matrix) => matrix.whole || matrix;

const MAP = { side: 104, narrow: 74, block: 2, gap: 16 };

/** Room above the lanes for every matrix as a whole; answers where the lanes begin.
 * @param {StageRecord} record @param {Plan} plan @param {number} top */
export function planMap(record, plan, top) {
  if (!record.stretch) {
    const all = lengthOf(record) > LONG;
    if (all) plan.choice = { x: plan.left, y: top };
    return all ? top + 44 : top;
  }
  const shapes = matrixShapes(inFull(record));
  const most = Math.max(1, ...shapes.map((shape) => Math.max(shape.n, shape.m)));
  const room = plan.width - plan.left - plan.pad - (shapes.length - 1) * MAP.gap;
  const side = Math.min(plan.wide ? MAP.side : MAP.narrow, room / Math.max(1, shapes.length));
  const y = top + (plan.wide ? 2 : 18);
  let x = plan.left;
  const boxes = shapes.map(({ name, n, m }) => {
    const box = { name, n, m, x, y, w: Math.max(6, (side * m) / most), h: Math.max(6, (side * n) / most) };
    x += box.w + MAP.gap;
    return box;
  });
  const beside = plan.width - plan.pad - x >= 230;
  const words = beside ? { x: x + 4, y: y + 10 } : { x: plan.left, y: y + side + 16 };
  plan.map = { boxes, top, y, side, right: x - MAP.gap, words };
  return y + side + (beside ? 26 : 84);
}

/** How many of the cells of every block may be looked at, in fifths, and whether one of them leaks (9).
 * @param {Matrix} matrix @param {number} across @param {number} down */
function coarse(matrix, across, down) {
  matrix.blocks ??= new Map();
  const key = `${across} ${down}`;
  const known = matrix.blocks.get(key);
  if (known) return known;
  const [open, all, leaks] = range(3).map(() => new Uint32Array(across * down));
  for (let i = 0; i < matrix.n; i++) {
    const row = Math.floor((i * down) / matrix.n) * across;
    for (let j = 0; j < matrix.m; j++) {
      const [cell, at] = [i * matrix.m + j, row + Math.floor((j * across) / matrix.m)];
      all[at] += 1;
      open[at] += Number(isOpen(matrix, cell));
      leaks[at] |= Number(matrix.cells[cell] === CELL.leaked);
    }
  }
  const levels = Uint8Array.from(open, (count, at) => (leaks[at] ? 9 : Math.ceil((5 * count) / Math.max(1, all[at]))));
  matrix.blocks.set(key, levels);
  return levels;
}

/** All matrices as a whole, a frame around what is drawn below, and the row of the reader from end to end.
 * @param {Pen} ctx @param {Art} art @param {StageRecord} record @param {number} k @param {number} u
 * @param {Reader | null} reader */
export function paintMap(ctx, art, record, k, u, reader) {
  const { theme, plan } = art;
  const { map } = plan;
  if (!map) return;
  ctx.save();
  const { x, y } = map.words;
  const look = { spec: font(plan.wide ? 12.5 : 12, 600), fill: theme.muted };
  paintText(ctx, "Overview", plan.pad, plan.wide ? map.y + 10 : map.top + 4, look);
  paintText(ctx, `Tokens ${saysStretch(record)}`, x, y, { spec: font(13, 600), fill: theme.ink });
  paintText(ctx, "The box marks the window shown below.", x, y + 19, { spec: font(12), fill: theme.muted });
  const next = Math.min(k + 1, record.frames.length - 1);
  for (const box of map.boxes) {
    const [before, after] = [matrixOf(record.frames[k], box.name), matrixOf(record.frames[next], box.name)];
    const matrix = u > 0.5 ? after || before : before || (u > 0 ? after : null);
    paintBlocks(ctx, theme, box, matrix && entire(matrix));
    paintFrame(ctx, theme, box, matrix, record, reader);
  }
  ctx.restore();
}

/** @param {Pen} ctx @param {Theme} theme @param {MapBox} box @param {Matrix | null | undefined} matrix */
function paintBlocks(ctx, theme, box, matrix) {
  ctx.fillStyle = matrix ? theme.blocked : theme.lattice;
  ctx.fillRect(box.x, box.y, box.w, box.h);
  if (!matrix) return;
  const blocks = (/** @type {number} */ side) => Math.max(1, Math.floor(side / MAP.block));
  const [across, down] = [Math.min(matrix.m, blocks(box.w)), Math.min(matrix.n, blocks(box.h))];
  const levels = coarse(matrix, across, down);
  const [w, h] = [box.w / across, box.h / down];
  const base = ctx.globalAlpha;
  for (const level of [1, 2, 3, 4, 5, 9]) {
    ctx.globalAlpha = base * (level === 9 ? 1 : level / 5);
    ctx.fillStyle = level === 9 ? theme.leak : theme.visible;
    ctx.beginPath();
    for (let i = 0; i < down; i++) {
      for (let j = 0; j < across; j++) {
        if (levels[i * across + j] !== level || (j && levels[i * across + j - 1] === level)) continue;
        let run = 1;
        while (j + run < across && levels[i * across + j + run] === level) run += 1;
        boxPath(ctx, box.x + j * w, box.y + i * h, run * w, h, 0);
      }
    }
    ctx.fill();
  }
  ctx.globalAlpha = base;
}

/** Where the stretch stands in a matrix, as a share of its rows and columns.
 * @param {MapBox} box @param {StageRecord} record */
export function frameOf(box, record) {
  const { from, size, length } = /** @type {Stretch} */ (record.stretch);
  const side = (/** @type {number} */ total) => (total <= size ? [0, 1] : [
    Math.round((from / (length - size)) * (total - size)) / total, size / total,
  ]);
  const [[top, tall], [left, wide]] = [side(box.n), side(box.m)];
  return { x: box.x + left * box.w, y: box.y + top * box.h, w: wide * box.w, h: tall * box.h };
}

/** @param {Pen} ctx @param {Theme} theme @param {MapBox} box @param {Matrix | null | undefined} matrix
 * @param {StageRecord} record @param {Reader | null} reader */
function paintFrame(ctx, theme, box, matrix, record, reader) {
  if (reader && matrix && READER_LANE[reader.matrix] === READER_LANE[box.name]) {
    ctx.fillStyle = theme.strong("orange");
    ctx.fillRect(box.x, box.y + (((matrix.top || 0) + reader.row + 0.5) / box.n) * box.h - 0.75, box.w, 1.5);
  }
  const { x, y, w, h } = frameOf(box, record);
  for (const look of [{ lineWidth: 4, strokeStyle: theme.paper }, { lineWidth: 2, strokeStyle: theme.ink }]) {
    Object.assign(ctx, look).strokeRect(x, y, w, h);
  }
}

/** Which tokens are drawn, as in "65 to 128 of 310". */
export function saysStretch(/** @type {StageRecord} */ { stretch }) {
  const { from, size, length } = /** @type {Stretch} */ (stretch);
  return `${from + 1} to ${from + size} of ${length}`;
}

/** The same in a link; a size that nobody chose depends on the screen and is left out.
 * @param {Stretch} stretch @param {number | null} chosen */
export const linkOfStretch = ({ from, size }, chosen) => (chosen ? `${from + 1}-${from + size}` : String(from + 1));
