/** One picture: a frame, or a moment between two, drawn from a record, a plan and a view. */

import { ANSWER, CELL, MOVE, ROW, SWEEP, clamp, font, matrixOf, range, readCell, readMatrix } from "../record.js";
import { paintAnswers } from "./answers.js";
import { focusOf, paintArcs, paintChip, paintLanes, paintRing, paintTracks, streamSpots } from "./chips.js";
import { paintMap } from "./long_text.js";
import { axes, paintCells, paintLeak, paintMatrix, paintWeights } from "./matrices.js";
import { paintText } from "./pen.js";

/** @param {Pen} ctx @param {Art<ChipPlan & { legend: LegendItem[] }>} art */
export function paintLegend(ctx, art) {
  const { patterns, theme, plan } = art;
  const small = { ...art, plan: { ...plan, chips: { ...plan.chips, mark: 0.72, size: 9 } } };
  for (const item of plan.legend) {
    const box = { x: item.x, y: item.y - 7, w: 22, h: 14 };
    if (item.kind !== "token") {
      const square = { name: "encoder", x: item.x + 4, y: item.y - 7, cell: 15.5 };
      const known = readMatrix({ shape: [1, 1], states: Uint8Array.of(item.code) });
      const matrix = { ...known, heads: 1, layers: 1, data: { 0: Uint8Array.of(110) } };
      const grid = { ctx, theme, patterns, box: square, matrix, axis: axes(matrix, 0) };
      paintCells(grid, [0], () => true);
      if (item.kind === "weight") paintWeights(grid, [0], () => true, { head: 0 });
    } else if (item.state === "scored") paintRing(ctx, theme, item.x + 11, item.y, 4);
    else paintChip(ctx, small, box, readCell({ state: item.state, chosen: item.state === "chosen" }), "inputs");
    paintText(ctx, item.text, item.x + 30, item.y + 0.5, { spec: font(12), fill: theme.muted });
  }
}

/** Is the step from k to k+1 the one that builds the matrices? Then it takes a beat for each row.
 * @param {StageRecord} record @param {number} k */
const builds = (record, k) => !record.frames[k].matrices.length && record.frames[k + 1].matrices.length > 0;

/** The matrix whose rows give the answers: where a story or the arrow keys begin to read. @param {Frame} frame */
export const answering = (frame) =>
  ["query", "decoder", "content", "encoder"].map((name) => matrixOf(frame, name))
    .find((found) => found && found.scored.some(Boolean)) || frame.matrices[0];

/** The rows that answer one after the other on the way into "forward", in the order of prediction if there is one.
 * @param {StageRecord} record @param {number} k */
function sweepRows(record, k) {
  const frame = record.frames[k + 1];
  const sweeps = frame.name === "forward" || (frame.name === "predict" && record.frames[k].name !== "forward");
  if (!sweeps || builds(record, k)) return null;
  const matrix = answering(frame);
  if (!matrix || !matrix.scored.some(Boolean)) return null;
  return { matrix: matrix.name, rows: inOrder(matrix).filter((i) => matrix.scored[i]) };
}

/** The rows of a matrix in the order of prediction where they have one. @param {Matrix} matrix */
const inOrder = ({ n, order }) => (order?.length === n ? order : range(n));

/** How long the step from k to k+1 takes at normal speed, in ms. @param {StageRecord} record @param {number} k */
export function duration(record, k) {
  const beats = (/** @type {number} */ count, /** @type {number} */ each) => clamp(count * each, MOVE, SWEEP);
  if (builds(record, k)) return beats(Math.max(...record.frames[k + 1].matrices.map((matrix) => matrix.n)), ROW);
  const sweep = sweepRows(record, k);
  return sweep ? beats(sweep.rows.length, ANSWER) : MOVE;
}

/** The reader that the story itself points at while it moves: the row being built, or the row that answers.
 * @param {StageRecord} record @param {number} k @param {number} u @param {number} sort */
export function storyReader(record, k, u, sort) {
  if (u <= 0 || u >= 1 || k + 1 >= record.frames.length) return null;
  const sweep = sweepRows(record, k);
  const nth = (/** @type {number} */ count) => Math.min(count - 1, Math.floor(u * count));
  if (sweep) return { matrix: sweep.matrix, row: sweep.rows[nth(sweep.rows.length)] };
  if (!builds(record, k)) return null;
  const matrix = record.frames[k + 1].matrices[0];
  const slot = nth(matrix.n);
  return { matrix: matrix.name, row: sort > 0.5 ? inOrder(matrix)[slot] : slot };
}

/** The chips that feed a term of the loss, lit up: positions (from 1) by lane.
 * @param {Frame} frame @param {View["lit"]} lit @returns {Focus | null} */
function litFocus(frame, lit) {
  if (!lit) return null;
  const bright = new Set();
  for (const [lane, positions] of Object.entries(lit)) {
    const spots = streamSpots(frame, lane);
    for (const position of positions) if (spots[position - 1]) bright.add(`${lane}/${spots[position - 1].i}`);
  }
  const has = (/** @type {Spot} */ spot) => bright.has(`${spot.lane}/${spot.i}`);
  const dims = (/** @type {Spot} */ spot) => spot.lane in lit && !has(spot);
  return { me: null, seen: [], dims, halo: (spot) => (has(spot) ? "reader" : null) };
}

/** A matrix with the cells that a hand is painting right now, before the engine has answered.
 * @param {Matrix | undefined} matrix @param {View["sketch"]} sketch */
function sketched(matrix, sketch) {
  if (!matrix || !sketch || sketch.matrix !== matrix.name) return matrix;
  const cells = matrix.cells.slice();
  const painted = new Set(matrix.painted);
  for (const [at, open] of sketch.cells) {
    cells[at] = open ? CELL.visible : CELL.blocked;
    painted.add(at);
  }
  return { ...matrix, cells, painted };
}

/** The whole picture as a function of (record, k, u) and the view; says where the chips are.
 * @param {Pen} ctx @param {Art} art @param {StageRecord} record @param {number} k @param {number} u @param {View} view
 */
export function paint(ctx, art, record, k, u, view) {
  const { plan } = art;
  const next = Math.min(k + 1, record.frames.length - 1);
  const pair = (/** @type {string} */ name) =>
    [k, next].map((at) => sketched(matrixOf(record.frames[at], name), view.sketch));
  const story = storyReader(record, k, u, view.sort);
  const reader = view.reader || story;
  const coming = story || (u > 0 && !record.frames[k].matrices.length); // the frame that the reader is in
  const focus = reader ? focusOf(record, coming ? next : k, reader, view) : null;
  paintTracks(ctx, art, record, k, u);
  const drawn = paintLanes(ctx, art, record, k, u, litFocus(record.frames[k], view.lit) || focus);
  if (u === 0 || story) paintArcs(ctx, art, focus);
  paintAnswers(ctx, art, record, k, u, view.reader);
  paintMap(ctx, art, record, k, u, reader);
  for (const [name, box] of Object.entries(plan.boxes)) paintMatrix(ctx, art, box, pair(name), u, view, reader);
  if (record.frames[k].matrices.length && !view.sketch) paintLeak(ctx, art, record, record.frames[k], view);
  paintLegend(ctx, art);
  return drawn;
}
