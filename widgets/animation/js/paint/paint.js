/** One picture: a frame, or a moment between two, drawn from a record, a plan and a view. */

import { ANSWER, CELL, MOVE, ROW, SWEEP, clamp, font, matrixOf, range, readCell } from "../record.js";
import { paintAnswers } from "./answers.js";
import { focusOf, paintArcs, paintChip, paintLanes, paintRing, paintTracks, streamSpots } from "./chips.js";
import { paintMap } from "./long_text.js";
import { axes, paintCells, paintLeak, paintMatrix, paintWeights } from "./matrices.js";
import { paintText } from "./pen.js";

export function paintLegend(ctx, art) {
  const { theme, plan } = art;
  const small = { ...art, plan: { ...plan, chips: { ...plan.chips, mark: 0.72, size: 9 } } };
  for (const item of plan.legend) {
    const box = { x: item.x, y: item.y - 7, w: 22, h: 14 };
    const cell = readCell({ state: item.state, chosen: item.state === "chosen" });
    if (item.kind === "token" && item.state === "scored") paintRing(ctx, theme, item.x + 11, item.y, 4);
    else if (item.kind === "token") paintChip(ctx, small, box, cell, "inputs");
    else {
      const square = { name: "encoder", x: item.x + 4, y: item.y - 7, cell: 15.5 };
      const one = {
        n: 1, m: 1, cells: [item.kind === "weight" ? CELL.visible : item.code], heads: 1, layers: 1, data: { 0: [110] },
      };
      paintCells(ctx, art, square, one, axes(one, 0), [0], () => true);
      if (item.kind === "weight") paintWeights(ctx, art, square, one, axes(one, 0), [0], () => true, { head: 0 }, 1);
    }
    paintText(ctx, item.text, item.x + 30, item.y + 0.5, { spec: font(12), fill: theme.muted });
  }
}

/** Is the step from k to k+1 the one that builds the matrices? Then it takes a beat for each row. */
const builds = (record, k) => !record.frames[k].matrices.length && record.frames[k + 1].matrices.length > 0;

/** The matrix whose rows give the answers: where a story or the arrow keys begin to read. */
export const answering = (frame) =>
  ["query", "decoder", "content", "encoder"].map((name) => matrixOf(frame, name))
    .find((found) => found && found.scored.some(Boolean)) || frame.matrices[0];

/** The rows that answer one after the other on the way into "forward", in the order of prediction if there is one. */
function sweepRows(record, k) {
  const frame = record.frames[k + 1];
  const sweeps = frame.name === "forward" || (frame.name === "predict" && record.frames[k].name !== "forward");
  if (!sweeps || builds(record, k)) return null;
  const matrix = answering(frame);
  if (!matrix || !matrix.scored.some(Boolean)) return null;
  const rows = (matrix.order && matrix.order.length === matrix.n ? matrix.order : range(matrix.n)).filter(
    (i) => matrix.scored[i]
  );
  return { matrix: matrix.name, rows };
}

/** How long the step from k to k+1 takes at normal speed. */
export function duration(record, k) {
  const beats = (count, each) => clamp(count * each, MOVE, SWEEP);
  if (builds(record, k)) return beats(Math.max(...record.frames[k + 1].matrices.map((matrix) => matrix.n)), ROW);
  const sweep = sweepRows(record, k);
  return sweep ? beats(sweep.rows.length, ANSWER) : MOVE;
}

/** The reader that the story itself points at while it moves: the row being built, or the row that answers. */
export function storyReader(record, k, u, sort) {
  if (u <= 0 || u >= 1 || k + 1 >= record.frames.length) return null;
  const sweep = sweepRows(record, k);
  if (sweep) return {
    matrix: sweep.matrix, row: sweep.rows[Math.min(sweep.rows.length - 1, Math.floor(u * sweep.rows.length))],
  };
  if (!builds(record, k)) return null;
  const matrix = record.frames[k + 1].matrices[0];
  const slot = Math.min(matrix.n - 1, Math.floor(u * matrix.n));
  return {
    matrix: matrix.name,
    row: sort > 0.5 && matrix.order && matrix.order.length === matrix.n ? matrix.order[slot] : slot,
  };
}

/** The chips that feed a term of the loss, lit up: positions (from 1) by lane. */
function litFocus(frame, lit) {
  if (!lit) return null;
  const bright = new Set();
  for (const [lane, positions] of Object.entries(lit)) {
    const spots = streamSpots(frame, lane);
    for (const position of positions) if (spots[position - 1]) bright.add(`${lane}/${spots[position - 1].i}`);
  }
  const has = (spot) => bright.has(`${spot.lane}/${spot.i}`);
  return {
    me: null, seen: [], dims: (spot) => spot.lane in lit && !has(spot), halo: (spot) => (has(spot) ? "reader" : null),
  };
}

/** A matrix with the cells that a hand is painting right now, before the engine has answered. */
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

/**
 * The whole picture as a function of (record, k, u) and the view (reader, sort, layer, head); says where the chips are.
 */
export function paint(ctx, art, record, k, u, view) {
  const { plan } = art;
  const next = Math.min(k + 1, record.frames.length - 1);
  const pair = (name) => [
    matrixOf(record.frames[k], name), matrixOf(record.frames[next], name),
  ].map((matrix) => sketched(matrix, view.sketch));
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
