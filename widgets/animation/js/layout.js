/** The boxes of chips and matrices at a given width. */

import { MATRICES } from "./record.js";

/** A record with all of its text: whatever part of it is drawn, everything keeps its size and place. */
export const inFull = (record) => record.whole || record;

/** Chosen tokens rise in the lanes of the text; what must be predicted stays on its line. */
export const rises = (lane) => lane === "original" || lane === "inputs";

/** The box of the i-th chip of a lane. */
export function chipBox(plan, lane, i, chosen = false) {
  const { chips } = plan;
  const slot = plan.lanes[lane];
  const x = plan.left + (i % chips.columns) * (chips.w + chips.gap);
  const y = slot.top + slot.above + Math.floor(i / chips.columns) * slot.pitch;
  return { x, y: y - (chosen && rises(lane) ? 5 : 0), w: chips.w, h: chips.h };
}

/** The largest shape that each matrix takes in the record; it decides the room that is kept for it. */
export function matrixShapes(record) {
  const shapes = new Map();
  for (const matrix of record.frames.flatMap((frame) => frame.matrices)) {
    const known = shapes.get(matrix.name) || { n: 0, m: 0, rows: [], columns: [], heads: 0 };
    shapes.set(matrix.name, {
      name: matrix.name,
      title: matrix.title || matrix.name,
      n: Math.max(known.n, matrix.n),
      m: Math.max(known.m, matrix.m),
      rows: [...new Set([...known.rows, ...matrix.rows])],
      columns: [...new Set([...known.columns, ...matrix.columns])],
    });
  }
  return MATRICES.filter((name) => shapes.has(name)).map((name) => shapes.get(name));
}
