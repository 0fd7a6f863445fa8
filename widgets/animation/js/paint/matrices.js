/** Matrices: cells by their state, attention over them, words along the axes, show the path of a leak. */

import {
  CELL, FUSED, LABEL, READER_LANE, clamp, ease, font, isOpen, leakSteps, lerp, range, runsThrough, sameStates, weightAt,
} from "../record.js";
import { paintRing } from "./chips.js";
import { boxPath, canvasOf, cut, paintBox, paintDot, paintLines, paintText, trace } from "./pen.js";

/** Textures in device pixels, so that hatching stays crisp on any screen. */
export function patterns(ctx, theme, ratio) {
  const tile = (size, draw) => {
    const side = Math.round(size * ratio);
    const { canvas, pen } = canvasOf(side, side, 1);
    pen.strokeStyle = theme.hatch;
    draw(pen, side);
    const pattern = ctx.createPattern(canvas, "repeat");
    if (pattern.setTransform) pattern.setTransform(new DOMMatrix([1 / ratio, 0, 0, 1 / ratio, 0, 0]));
    return pattern;
  };
  const hatch = (pen, side) => {
    pen.lineWidth = 1.1 * ratio;
    for (const shift of [-side, 0, side]) paintLines(pen, [[shift - 2, side + 2], [shift + side + 2, -2]]);
  };
  return { hatch: tile(6, hatch), fine: tile(4, hatch) };
}

/** Row and column slots of a matrix while its axes glide to the order of prediction. */
export function axes(matrix, sort) {
  const slot = (length) => (i) => (matrix.slots && matrix.slots.length === length ? lerp(i, matrix.slots[i], sort) : i);
  return { row: slot(matrix.n), column: slot(matrix.m), still: sort === 0 || !matrix.slots };
}

/** The gap between cells; without gaps nothing would be left of very small ones. */
const gapOf = ({ cell }) => (cell >= 9 ? 1.5 : cell >= 5 ? 0.6 : 0);

/** Small cells are painted as whole runs, and this cuts the gaps: thousands of single boxes would be slow. */
export function cutGaps(ctx, box, n, m) {
  const gap = gapOf(box);
  if (!gap) return;
  for (let j = 1; j <= m; j++) ctx.clearRect(box.x + j * box.cell - gap, box.y, gap, n * box.cell);
  for (let i = 1; i <= n; i++) ctx.clearRect(box.x, box.y + i * box.cell - gap, m * box.cell, gap);
}

function paintLattice(ctx, art, box, n, m, alpha) {
  ctx.save();
  ctx.globalAlpha = alpha;
  ctx.fillStyle = art.theme.lattice;
  ctx.beginPath();
  const gap = gapOf(box);
  if (box.cell < FUSED) boxPath(ctx, box.x, box.y, m * box.cell, n * box.cell, 0);
  else for (let i = 0; i < n; i++) for (let j = 0; j < m; j++) boxPath(
    ctx, box.x + j * box.cell, box.y + i * box.cell, box.cell - gap, box.cell - gap, 3.5
  );
  ctx.fill();
  ctx.restore();
}

/** Cells of some rows, one path for each state: a matrix of 64 x 64 costs five fills, not four thousand. */
export function paintCells(ctx, art, box, matrix, axis, rows, shown) {
  const { theme } = art;
  const { cell } = box;
  const side = cell - gapOf(box);
  const radius = cell >= 13 ? Math.min(4, cell * 0.14) : 0;
  const paths = [0, 1, 2, 3, 4].map(() => (ctx.newPath ? ctx.newPath() : new Path2D()));
  const marks = [];
  for (const i of rows) {
    for (const { j, state, run } of runsOf(matrix, i, shown, cell < FUSED && axis.still)) {
      const [x, y] = [box.x + axis.column(j) * cell, box.y + axis.row(i) * cell];
      boxPath(paths[state] || paths[0], x, y, side + (run - 1) * cell, side, radius);
      for (let k = j; k < j + run; k++) marks.push(...marksAt(
        matrix, i * matrix.m + k, box.x + axis.column(k) * cell, y
      ));
    }
  }
  const fills = [theme.blocked, theme.visible, theme.self, theme.blocked, theme.tint("vermilion", 0.4)];
  fills.forEach((fill, state) => {
    ctx.fillStyle = fill;
    ctx.fill(paths[state]);
  });
  ctx.fillStyle = cell >= 13 ? art.patterns.hatch : art.patterns.fine;
  ctx.fill(paths[CELL.blocked]);
  for (const mark of marks) paintCellMark(ctx, theme, mark, side);
}

/** The cells of a row that are shown: those of one state that touch as one run if they are `fused`, else one by one. */
function runsOf(matrix, i, shown, fused) {
  const runs = [];
  for (let j = 0; j < matrix.m; j++) {
    if (!shown(i, j)) continue;
    const state = matrix.cells[i * matrix.m + j];
    const last = runs.at(-1);
    if (fused && last && last.state === state && last.j + last.run === j) last.run += 1;
    else runs.push({ j, state, run: 1 });
  }
  return runs;
}

/** What is painted over a cell: the sign of its state, and whether a hand has painted it. */
const marksAt = (matrix, at, x, y) => [
  ...(matrix.cells[at] > 1 ? [{ state: matrix.cells[at], x, y }] : []),
  ...(matrix.painted?.has(at) ? [{ state: "painted", x, y }] : []),
];

function paintCellMark(ctx, theme, { state, x, y }, side) {
  /** @type {(across: number, down: number) => Point} */
  const at = (across, down) => [x + side * across, y + side * down];
  ctx.lineWidth = clamp(side * 0.08, 1, 2);
  if (state === CELL.self) {
    ctx.strokeStyle = theme.selfMark;
    paintLines(ctx, [at(0.28, 0.28), at(0.72, 0.72)], [at(0.72, 0.28), at(0.28, 0.72)]);
  } else if (state === CELL.padding) {
    ctx.fillStyle = theme.faint;
    const dots = side >= 12 ? [[0.3, 0.3], [0.7, 0.3], [0.3, 0.7], [0.7, 0.7]] : [[0.5, 0.5]];
    for (const [across, down] of dots) paintDot(ctx, ...at(across, down), clamp(side * 0.06, 0.7, 1.6));
  } else if (state === "painted") {
    ctx.fillStyle = theme.ink; // a folded corner: this cell is as a hand left it
    const fold = clamp(side * 0.34, 3, 9);
    trace(ctx, [[x + side - fold, y], [x + side, y], [x + side, y + fold]]);
    ctx.fill();
  } else if (state === CELL.leaked) paintLeakBorder(ctx, theme, x, y, side);
}

/** Leaked: a double border, readable without colour. */
function paintLeakBorder(ctx, theme, x, y, side) {
  ctx.strokeStyle = theme.leak;
  ctx.lineWidth = clamp(side * 0.07, 1, 2);
  for (const inset of side >= 10 ? [0, clamp(side * 0.16, 2.5, 4.5)] : [0]) {
    ctx.strokeRect(x + inset + 0.5, y + inset + 0.5, side - 2 * inset - 1, side - 2 * inset - 1);
  }
}

/**
 * Real attention over the mask: an inner square whose area is the weight, so mask and weight are never confused. Only
 * cells that may be looked at can hold one: a forbidden cell stays as it is.
 */
export function paintWeights(ctx, art, box, matrix, axis, rows, shown, eye, strength) {
  if (!matrix.heads || eye.head === null || strength <= 0) return;
  const side = box.cell - gapOf(box);
  ctx.save();
  const base = ctx.globalAlpha;
  ctx.fillStyle = art.theme.weight;
  for (const i of rows) {
    for (let j = 0; j < matrix.m; j++) {
      const weight = isOpen(matrix, i * matrix.m + j) && shown(
        i, j
      ) ? (weightAt(matrix, i, j, eye) || 0) * strength : 0;
      if (weight < 0.004) continue;
      const inner = Math.sqrt(weight) * side * 0.82;
      const [x, y] = [
        box.x + axis.column(j) * box.cell + (side - inner) / 2, box.y + axis.row(i) * box.cell + (side - inner) / 2,
      ];
      ctx.globalAlpha = base * (0.45 + 0.5 * weight);
      ctx.fillRect(x, y, inner, inner);
    }
  }
  ctx.restore();
}

/** The words along both axes; when cells are too small for words, every fifth number. */
function paintLabels(ctx, art, box, matrix, axis, reader, column) {
  const every = box.labelled ? 1 : 5;
  const [top, left] = [matrix.top || 0, matrix.left || 0];
  const name = (labels, i, begins) => (box.labelled ? labels[i] ?? "" : String(begins + i + 1));
  for (let i = 0; i < matrix.n; i++) {
    const y = box.y + (axis.row(i) + 0.5) * box.cell;
    if (matrix.scored[i]) paintRing(ctx, art.theme, box.x - 9, y - 0.5, clamp(box.cell * 0.22, 1.6, 4));
    const shown = reader?.row === i || (top + i + 1) % every === 0;
    if (shown) paintRowLabel(ctx, art.theme, box, name(matrix.rows, i, top), y, reader && reader.row === i);
  }
  for (let j = 0; j < matrix.m; j++) {
    if (j !== column && (left + j + 1) % every) continue;
    const seen = reader ? isOpen(matrix, reader.row * matrix.m + j) : null;
    const x = box.x + (axis.column(j) + 0.5) * box.cell - 0.5;
    paintColumnLabel(ctx, art.theme, box, name(matrix.columns, j, left), x, j === column, seen);
  }
}

const labelSize = (box) => (box.labelled ? box.size : 9);

/** A word left of a row; `mine` is null while nobody reads, else whether it is the row of the reader. */
function paintRowLabel(ctx, theme, box, text, y, mine) {
  ctx.font = font(labelSize(box), mine ? 600 : 400);
  const word = cut(ctx, text, box.labelled ? box.margin - 24 : LABEL);
  const fill = mine ? theme.ink : mine === null ? theme.muted : theme.faint;
  paintText(ctx, word, box.x - 18, y, { fill, align: "right" });
}

/** A word above a column, which may be under the pointer; `seen` is null while nobody reads. */
function paintColumnLabel(ctx, theme, box, text, x, pointed, seen) {
  ctx.save();
  ctx.translate(x, box.y - (box.angle === 0 ? 9 : 7));
  ctx.rotate(box.angle);
  ctx.font = font(labelSize(box), pointed || seen ? 600 : 400);
  const quiet = seen === null ? theme.muted : theme.faint;
  const fill = pointed ? theme.ink : seen ? theme.strong("blue") : quiet;
  paintText(ctx, cut(ctx, text, LABEL), 0, 0, { fill, align: box.angle === 0 ? "center" : "left" });
  ctx.restore();
}

/** The title of a matrix; where the whole does not fit, what is before the colon. */
function paintTitle(ctx, { plan, theme }, box, known) {
  const fillStyle = known ? theme.ink : theme.faint;
  const text = { font: font(13, 600), textAlign: "left", textBaseline: "alphabetic" };
  ctx.save();
  Object.assign(ctx, { globalAlpha: known ? 1 : 0.55, fillStyle, ...text });
  const room = Math.max(120, box.right - box.left + (plan.wide ? 20 : 6));
  const title = ctx.measureText(box.title).width > room ? box.title.split(":")[0] : box.title;
  ctx.fillText(cut(ctx, title, room), box.left, box.top + 12);
  ctx.restore();
}

/** How a matrix is changing at u: there is none, it leaves, it grows over the one before it, or it stays. */
function changeOf([before, after], u) {
  if (u === 0) return { matrix: before || null, leaving: false, growing: false };
  const growing = Boolean(after && (!before || !sameStates(before, after)));
  return { matrix: after || before || null, leaving: Boolean(before && !after), growing };
}

/**
 * One matrix at (k, u): it grows row by row when it first appears, fades where its cells change, and glides when its
 * axes are sorted. `reader` is the current row, `column` the one under the pointer.
 */
export function paintMatrix(ctx, art, box, pair, u, view, reader) {
  const { matrix, leaving, growing } = changeOf(pair, u);
  paintTitle(ctx, art, box, Boolean(matrix));
  const shape = matrix || box;
  if (!matrix || growing || leaving) paintLattice(ctx, art, box, shape.n, shape.m, 1);
  if (matrix) {
    ctx.save();
    ctx.globalAlpha = leaving ? 1 - ease(u) : 1;
    paintKnown(ctx, art, box, matrix, pair, u, view, reader, growing);
    ctx.restore();
  } else if (box.cell < FUSED) cutGaps(ctx, box, shape.n, shape.m);
}

/** The cells, the words and the reader of a matrix, over the one that it replaces. */
function paintKnown(ctx, art, box, matrix, [before, after], u, view, reader, growing) {
  const axis = axes(matrix, view.sort);
  const base = ctx.globalAlpha;
  const rows = range(matrix.n);
  const mine = readsHere(reader, box, matrix) ? reader : null;
  const grown = growing ? u * matrix.n : matrix.n;
  const strength = after && u > 0 && !before?.heads ? ease(u) : 1;
  if (growing && sameSize(before, matrix)) paintRows(ctx, art, box, before, axis, rows, view, { grown, rest: true });
  for (const [list, alpha] of litRows(rows, mine)) {
    ctx.globalAlpha = base * alpha;
    paintRows(ctx, art, box, matrix, axis, list, view, { grown, strength });
  }
  if (box.cell < FUSED && axis.still) cutGaps(ctx, box, matrix.n, matrix.m);
  ctx.globalAlpha = base;
  paintLabels(ctx, art, box, matrix, axis, mine, columnOf(mine, box));
  if (mine) paintReaderRow(ctx, art, box, matrix, axis, mine);
}

/** The column under the pointer; -1 where it is over no cell of this matrix. */
const columnOf = (reader, box) => (reader?.matrix === box.name ? reader.column : undefined) ?? -1;

const sameSize = (a, b) => a?.n === b.n && a.m === b.m;
const readsHere = (reader, box, matrix) =>
  reader && READER_LANE[reader.matrix] === READER_LANE[box.name] && reader.row < matrix.n;

/**
 * Rows and how bright they are: all but that of the reader are dimmed.
 * @returns {[number[], number][]}
 */
const litRows = (rows, reader) =>
  reader ? [[rows.filter((i) => i !== reader.row), 0.34], [[reader.row], 1]] : [[rows, 1]];

function paintReaderRow(ctx, art, box, matrix, axis, mine) {
  const y = box.y + axis.row(mine.row) * box.cell;
  ctx.lineWidth = 2;
  paintBox(
    ctx, { x: box.x - 2.5, y: y - 2.5, w: matrix.m * box.cell + 3.5, h: box.cell + 3.5 }, 6, null, art.theme.ink
  );
  if (mine.matrix !== box.name || !(mine.column >= 0) || mine.column >= matrix.m) return;
  ctx.strokeRect(box.x + axis.column(mine.column) * box.cell - 0.5, y - 0.5, box.cell - 0.5, box.cell - 0.5);
}

/** Some rows of a matrix: as much of them as has grown, or with `rest` the others; `grown` counts rows, as in 3.5. */
function paintRows(ctx, art, box, matrix, axis, rows, view, { grown, rest = false, strength = 1 }) {
  const shown = (i, j) => Math.round(axis.row(i)) + (axis.column(j) + 0.5) / matrix.m < grown !== rest;
  paintCells(ctx, art, box, matrix, axis, rows, shown);
  if (!rest) paintWeights(ctx, art, box, matrix, axis, rows, shown, view, strength);
}

/** The way of a leaked answer through the matrices: its cells doubly bordered, joined in the order of the layers. */
export function paintLeak(ctx, art, record, frame, view) {
  const { theme, plan } = art;
  for (const matrix of frame.matrices) {
    const box = plan.boxes[matrix.name];
    const axis = axes(matrix, view.sort);
    const within = (place, total) => place >= 0 && place < total;
    const steps = leakSteps(record).filter(
      (step) => runsThrough(step, matrix) && within(step.reader.position, matrix.n) && within(
        step.read.position, matrix.m
      )
    );
    /** @type {(step: LeakStep) => Point} */
    const centre = ({ reader, read }) => [
      box.x + (axis.column(read.position) + 0.5) * box.cell, box.y + (axis.row(reader.position) + 0.5) * box.cell,
    ];
    for (const step of steps) {
      const [x, y] = centre(step);
      paintLeakBorder(ctx, theme, x - box.cell / 2, y - box.cell / 2, box.cell - 1);
    }
    if (steps.length < 2) continue;
    ctx.save();
    ctx.strokeStyle = theme.leak;
    ctx.lineWidth = 2;
    ctx.setLineDash([5, 4]);
    paintLines(ctx, steps.map(centre));
    ctx.restore();
  }
}
