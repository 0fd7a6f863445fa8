/** Matrices: cells by their state, attention over them, words along the axes, show the path of a leak. */

import {
  CELL, FUSED, LABEL, READER_LANE, clamp, ease, font, isOpen, leakSteps, lerp, range, runsThrough, sameStates, weightAt,
} from "../record.js";
import { paintRing } from "./chips.js";
import { boxPath, canvasOf, cut, paintBox, paintDot, paintLines, paintText, trace } from "./pen.js";

/** Textures in device pixels, so that hatching stays crisp on any screen.
 * @param {CanvasRenderingContext2D} ctx @param {Theme} theme @param {number} ratio */
export function patterns(ctx, theme, ratio) {
  const tile = (/** @type {number} */ size) => {
    const side = Math.round(size * ratio);
    const { canvas, pen } = canvasOf(side, side, 1);
    pen.strokeStyle = theme.hatch;
    pen.lineWidth = 1.1 * ratio;
    for (const shift of [-side, 0, side]) paintLines(pen, [[shift - 2, side + 2], [shift + side + 2, -2]]);
    const pattern = /** @type {CanvasPattern} */ (ctx.createPattern(canvas, "repeat")); // null only for images
    pattern.setTransform?.(new DOMMatrix([1 / ratio, 0, 0, 1 / ratio, 0, 0]));
    return pattern;
  };
  return { hatch: tile(6), fine: tile(4) };
}

/** Row and column slots of a matrix while its axes glide to the order of prediction.
 * @param {Matrix} matrix @param {number} sort @returns {Axes} */
export function axes(matrix, sort) {
  const { slots, n, m } = matrix;
  const slot = (/** @type {number} */ i, /** @type {number} */ length) =>
    (slots?.length === length ? lerp(i, slots[i], sort) : i);
  return { row: (i) => slot(i, n), column: (j) => slot(j, m), still: sort === 0 || !slots };
}

/** The gap between cells; without gaps nothing would be left of very small ones. @param {CellBox} box */
const gapOf = ({ cell }) => (cell >= 9 ? 1.5 : cell >= 5 ? 0.6 : 0);

/** Small cells are painted as whole runs, and this cuts the gaps: thousands of single boxes would be slow.
 * @param {Pen} ctx @param {CellBox} box @param {Pick<Shape, "n" | "m">} shape */
export function cutGaps(ctx, box, { n, m }) {
  const gap = gapOf(box);
  if (!gap) return;
  for (let j = 1; j <= m; j++) ctx.clearRect(box.x + j * box.cell - gap, box.y, gap, n * box.cell);
  for (let i = 1; i <= n; i++) ctx.clearRect(box.x, box.y + i * box.cell - gap, m * box.cell, gap);
}

/** @param {Pen} ctx @param {Theme} theme @param {CellBox} box @param {Pick<Shape, "n" | "m">} shape */
function paintLattice(ctx, theme, box, { n, m }) {
  ctx.fillStyle = theme.lattice;
  ctx.beginPath();
  const gap = gapOf(box);
  if (box.cell < FUSED) boxPath(ctx, box.x, box.y, m * box.cell, n * box.cell, 0);
  else for (let i = 0; i < n; i++) for (let j = 0; j < m; j++) boxPath(
    ctx, box.x + j * box.cell, box.y + i * box.cell, box.cell - gap, box.cell - gap, 3.5
  );
  ctx.fill();
}

/** Cells of some rows, one path for each state: a matrix of 64 x 64 costs five fills, not four thousand.
 * @param {Grid} grid @param {number[]} rows @param {Shown} shown */
export function paintCells({ ctx, theme, patterns, box, matrix, axis }, rows, shown) {
  const { cell } = box;
  const side = cell - gapOf(box);
  const radius = cell >= 13 ? Math.min(4, cell * 0.14) : 0;
  const paths = [0, 1, 2, 3, 4].map(() => (ctx.newPath ? ctx.newPath() : new Path2D()));
  const marks = [];
  for (const i of rows) {
    for (const { j, state, run } of runsOf(matrix, i, shown, cell < FUSED && axis.still)) {
      const [x, y] = [box.x + axis.column(j) * cell, box.y + axis.row(i) * cell];
      boxPath(paths[state] || paths[0], x, y, side + (run - 1) * cell, side, radius);
      for (let k = j; k < j + run; k++) {
        if (state > 1) marks.push({ state, x: box.x + axis.column(k) * cell, y });
        if (matrix.painted.has(i * matrix.m + k)) marks.push({ state: "painted", x: box.x + axis.column(k) * cell, y });
      }
    }
  }
  const fills = [theme.blocked, theme.visible, theme.self, theme.blocked, theme.tint("vermilion", 0.4)];
  fills.forEach((fill, state) => {
    ctx.fillStyle = fill;
    ctx.fill(paths[state]);
  });
  ctx.fillStyle = cell >= 13 ? patterns.hatch : patterns.fine;
  ctx.fill(paths[CELL.blocked]);
  for (const mark of marks) paintCellMark(ctx, theme, mark, side);
}

/** The cells of a row that are shown: those of one state that touch as one run if they are `fused`, else one by one.
 * @param {Matrix} matrix @param {number} i @param {Shown} shown @param {boolean} fused */
function runsOf(matrix, i, shown, fused) {
  /** @type {{ j: number, state: number, run: number }[]} */
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

/** What is painted over a cell: the sign of its state, or that a hand has painted it.
 * @param {Pen} ctx @param {Theme} theme @param {{ state: number | string, x: number, y: number }} mark
 * @param {number} side */
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

/** Leaked: a double border, readable without colour.
 * @param {Pen} ctx @param {Theme} theme @param {number} x @param {number} y @param {number} side */
function paintLeakBorder(ctx, theme, x, y, side) {
  ctx.strokeStyle = theme.leak;
  ctx.lineWidth = clamp(side * 0.07, 1, 2);
  for (const inset of side >= 10 ? [0, clamp(side * 0.16, 2.5, 4.5)] : [0]) {
    ctx.strokeRect(x + inset + 0.5, y + inset + 0.5, side - 2 * inset - 1, side - 2 * inset - 1);
  }
}

/** Real attention over the mask: an inner square whose area is the weight, so mask and weight are never confused. Only
 * cells that may be looked at can hold one: a forbidden cell stays as it is.
 * @param {Grid} grid @param {number[]} rows @param {Shown} shown @param {Eye} eye */
export function paintWeights({ ctx, theme, box, matrix, axis }, rows, shown, eye, strength = 1) {
  if (!matrix.heads || eye.head === null || strength <= 0) return;
  const side = box.cell - gapOf(box);
  ctx.save();
  const base = ctx.globalAlpha;
  ctx.fillStyle = theme.weight;
  for (const i of rows) {
    for (let j = 0; j < matrix.m; j++) {
      const open = isOpen(matrix, i * matrix.m + j) && shown(i, j);
      const weight = open ? (weightAt(matrix, i, j, eye) || 0) * strength : 0;
      if (weight < 0.004) continue;
      const inner = Math.sqrt(weight) * side * 0.82;
      const [x, y] = [box.x + axis.column(j) * box.cell, box.y + axis.row(i) * box.cell];
      ctx.globalAlpha = base * (0.45 + 0.5 * weight);
      ctx.fillRect(x + (side - inner) / 2, y + (side - inner) / 2, inner, inner);
    }
  }
  ctx.restore();
}

/** The words along both axes; when cells are too small for words, every fifth number.
 * @param {Grid<MatrixBox>} grid @param {Reader | null} reader @param {number} column */
function paintLabels({ ctx, theme, box, matrix, axis }, reader, column) {
  const every = box.labelled ? 1 : 5;
  const [top, left] = [matrix.top || 0, matrix.left || 0];
  for (let i = 0; i < matrix.n; i++) {
    const y = box.y + (axis.row(i) + 0.5) * box.cell;
    if (matrix.scored[i]) paintRing(ctx, theme, box.x - 9, y - 0.5, clamp(box.cell * 0.22, 1.6, 4));
    const shown = reader?.row === i || (top + i + 1) % every === 0;
    if (shown) paintRowLabel(ctx, theme, box, labelAt(box, matrix.rows, i, top), y, reader && reader.row === i);
  }
  for (let j = 0; j < matrix.m; j++) {
    if (j !== column && (left + j + 1) % every) continue;
    const seen = reader ? isOpen(matrix, reader.row * matrix.m + j) : null;
    const x = box.x + (axis.column(j) + 0.5) * box.cell - 0.5;
    paintColumnLabel(ctx, theme, box, labelAt(box, matrix.columns, j, left), x, j === column, seen);
  }
}

/** @param {MatrixBox} box @param {string[]} words @param {number} i @param {number} begins */
const labelAt = ({ labelled }, words, i, begins) => (labelled ? words[i] ?? "" : String(begins + i + 1));

/** A word left of a row; `mine` is null while nobody reads, else whether it is the row of the reader.
 * @param {Pen} ctx @param {Theme} theme @param {MatrixBox} box @param {string} text @param {number} y
 * @param {boolean | null} mine */
function paintRowLabel(ctx, theme, box, text, y, mine) {
  ctx.font = font(box.labelled ? box.size : 9, mine ? 600 : 400);
  const word = cut(ctx, text, box.labelled ? box.margin - 24 : LABEL);
  const fill = mine ? theme.ink : mine === null ? theme.muted : theme.faint;
  paintText(ctx, word, box.x - 18, y, { fill, align: "right" });
}

/** A word above a column, which may be under the pointer; `seen` is null while nobody reads.
 * @param {Pen} ctx @param {Theme} theme @param {MatrixBox} box @param {string} text @param {number} x
 * @param {boolean} pointed @param {boolean | null} seen */
function paintColumnLabel(ctx, theme, box, text, x, pointed, seen) {
  ctx.save();
  ctx.translate(x, box.y - (box.angle === 0 ? 9 : 7));
  ctx.rotate(box.angle);
  ctx.font = font(box.labelled ? box.size : 9, pointed || seen ? 600 : 400);
  const quiet = seen === null ? theme.muted : theme.faint;
  const fill = pointed ? theme.ink : seen ? theme.strong("blue") : quiet;
  paintText(ctx, cut(ctx, text, LABEL), 0, 0, { fill, align: box.angle === 0 ? "center" : "left" });
  ctx.restore();
}

/** The title of a matrix; where the whole does not fit, what is before the colon.
 * @param {Pen} ctx @param {Art} art @param {MatrixBox} box @param {boolean} known */
function paintTitle(ctx, { plan, theme }, box, known) {
  const [globalAlpha, fillStyle] = known ? [1, theme.ink] : [0.55, theme.faint];
  ctx.save();
  Object.assign(ctx, { globalAlpha, fillStyle, font: font(13, 600), textAlign: "left", textBaseline: "alphabetic" });
  const room = Math.max(120, box.right - box.left + (plan.wide ? 20 : 6));
  const title = ctx.measureText(box.title).width > room ? box.title.split(":")[0] : box.title;
  ctx.fillText(cut(ctx, title, room), box.left, box.top + 12);
  ctx.restore();
}

/** How a matrix is changing at u: there is none, it leaves, it grows over the one before it, or it stays.
 * @param {MatrixPair} pair @param {number} u */
function changeOf([before, after], u) {
  if (u === 0) return { matrix: before || null, leaving: false, growing: false };
  const growing = Boolean(after && (!before || !sameStates(before, after)));
  return { matrix: after || before || null, leaving: Boolean(before && !after), growing };
}

/** One matrix at (k, u): it grows row by row when it first appears, fades where its cells change, and glides when its
 * axes are sorted. `reader` is the current row, `column` the one under the pointer.
 * @param {Pen} ctx @param {Art} art @param {MatrixBox} box @param {MatrixPair} pair @param {number} u
 * @param {View} view @param {Reader | null} reader */
export function paintMatrix(ctx, art, box, pair, u, view, reader) {
  const { matrix, leaving, growing } = changeOf(pair, u);
  paintTitle(ctx, art, box, Boolean(matrix));
  const shape = matrix || box;
  if (!matrix || growing || leaving) paintLattice(ctx, art.theme, box, shape);
  if (matrix) {
    ctx.save();
    ctx.globalAlpha = leaving ? 1 - ease(u) : 1;
    const { theme, patterns } = art;
    paintKnown({ ctx, theme, patterns, box, matrix, axis: axes(matrix, view.sort) }, pair, u, view, reader, growing);
    ctx.restore();
  } else if (box.cell < FUSED) cutGaps(ctx, box, shape);
}

/** The cells, the words and the reader of a matrix, over the one that it replaces.
 * @param {Grid<MatrixBox>} grid @param {MatrixPair} pair @param {number} u @param {View} view
 * @param {Reader | null} reader @param {boolean} growing */
function paintKnown(grid, [before, after], u, view, reader, growing) {
  const { ctx, box, matrix } = grid;
  const base = ctx.globalAlpha;
  const rows = range(matrix.n);
  const mine = readerIn(reader, grid);
  const grown = growing ? u * matrix.n : matrix.n;
  const strength = after && u > 0 && !before?.heads ? ease(u) : 1;
  const covers = growing && before?.n === matrix.n && before.m === matrix.m;
  if (covers) paintRows({ ...grid, matrix: before }, rows, view, { grown, rest: true });
  for (const [list, alpha] of litRows(rows, mine)) {
    ctx.globalAlpha = base * alpha;
    paintRows(grid, list, view, { grown, strength });
  }
  if (box.cell < FUSED && grid.axis.still) cutGaps(ctx, box, matrix);
  ctx.globalAlpha = base;
  paintLabels(grid, mine, columnOf(mine, box));
  if (mine) paintReaderRow(grid, mine);
}

/** The reader where it has a row in this matrix. @param {Reader | null} reader @param {Grid} grid */
const readerIn = (reader, { box, matrix }) =>
  (reader && READER_LANE[reader.matrix] === READER_LANE[box.name] && reader.row < matrix.n ? reader : null);

/** The column under the pointer; -1 where it is over no cell of this matrix.
 * @param {Reader | null} reader @param {MatrixBox} box */
const columnOf = (reader, box) => (reader?.matrix === box.name ? reader.column : undefined) ?? -1;

/** Rows and how bright they are: all but that of the reader are dimmed.
 * @param {number[]} rows @param {Reader | null} reader @returns {[number[], number][]} */
const litRows = (rows, reader) =>
  reader ? [[rows.filter((i) => i !== reader.row), 0.34], [[reader.row], 1]] : [[rows, 1]];

/** @param {Grid<MatrixBox>} grid @param {Reader} mine */
function paintReaderRow({ ctx, theme, box, matrix, axis }, mine) {
  const y = box.y + axis.row(mine.row) * box.cell;
  ctx.lineWidth = 2;
  const around = { x: box.x - 2.5, y: y - 2.5, w: matrix.m * box.cell + 3.5, h: box.cell + 3.5 };
  paintBox(ctx, around, 6, null, theme.ink);
  const column = columnOf(mine, box);
  if (column < 0 || column >= matrix.m) return;
  ctx.strokeRect(box.x + axis.column(column) * box.cell - 0.5, y - 0.5, box.cell - 0.5, box.cell - 0.5);
}

/** Some rows of a matrix: as much of them as has grown, or with `rest` the others; `grown` counts rows, as in 3.5.
 * @param {Grid} grid @param {number[]} rows @param {View} view
 * @param {{ grown: number, rest?: boolean, strength?: number }} growth */
function paintRows(grid, rows, view, { grown, rest = false, strength }) {
  const { axis, matrix } = grid;
  /** @type {Shown} */
  const shown = (i, j) => Math.round(axis.row(i)) + (axis.column(j) + 0.5) / matrix.m < grown !== rest;
  paintCells(grid, rows, shown);
  if (!rest) paintWeights(grid, rows, shown, view, strength);
}

/** The way of a leaked answer through the matrices: its cells doubly bordered, joined in the order of the layers.
 * @param {Pen} ctx @param {Art} art @param {StageRecord} record @param {Frame} frame @param {View} view */
export function paintLeak(ctx, art, record, frame, view) {
  const { theme, plan } = art;
  for (const matrix of frame.matrices) {
    const box = plan.boxes[matrix.name];
    const axis = axes(matrix, view.sort);
    const steps = leakSteps(record).filter((step) => {
      const [i, j] = [step.reader.position, step.read.position];
      return runsThrough(step, matrix) && i >= 0 && i < matrix.n && j >= 0 && j < matrix.m;
    });
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
