/** The survey's table as a picture: where every row stands at a width, and the rows in the stage's chips and cells. */

import { plain } from "../dom.js";
import { FUSED, clamp, ease, font, range, readCell, readMatrix } from "../record.js";
import { paintChip, paintHangers } from "./chips.js";
import { legendOf, planLegend } from "./layout.js";
import { axes, cutGaps, paintCells } from "./matrices.js";
import { paintLegend } from "./paint.js";
import { paintLines, paintText } from "./pen.js";

const WALL_HEADS = ["Objective", "The model is given", "It must predict", "Attention mask"];

/** The rows as the stage reads cells and matrices; a decoder that writes nothing has no matrix to draw.
 * @param {any} raw @returns {SurveyData} */
export function readTable(raw) {
  const data = { title: "", subtitle: "", rows: [], ...plain(raw || {}) };
  const rows = data.rows.map((/** @type {any} */ { inputs = [], targets = [], matrices = [], ...row }) => ({
    ...row, inputs: inputs.map(readCell), targets: targets.map(readCell),
    matrices: Array.from(matrices, (each) => readMatrix(each)).filter(({ n, m }) => n && m),
  }));
  return { ...data, rows };
}

/** A text on at most `most` lines; what does not fit ends with an ellipsis.
 * @param {string} text @param {string} spec @param {number} width @param {number} most @param {Measure} measure */
function linesOf(text, spec, width, most, measure) {
  const lines = [];
  let last = "";
  for (const word of text.split(" ")) {
    const longer = last ? `${last} ${word}` : word;
    if (measure(longer, spec) <= width) last = longer;
    else if (lines.length + 1 < most) {
      lines.push(last);
      last = word;
    } else {
      while (last.includes(" ") && measure(`${last} …`, spec) > width) last = last.replace(/ \S+$/, "");
      return [...lines, `${last} …`];
    }
  }
  return [...lines, last];
}

/** Chips beside each other, on as many lines as they need.
 * @param {Cell[]} cells @param {Chips} chips @param {number} x @param {number} y @param {number} width
 * @param {Measure} measure */
function flow(cells, chips, x, y, width, measure) {
  const boxes = [];
  let [left, top] = [x, y];
  for (const cell of cells) {
    const natural = measure(cell.text || "·", font(chips.size, 600)) + chips.size * (cell.scored ? 1.85 : 1.15);
    const w = Math.min(width, Math.max(natural, chips.size * 2.6));
    if (left > x && left + w > x + width) [left, top] = [x, top + chips.h + chips.gap * 1.3];
    boxes.push({ cell, box: { x: left, y: top, w, h: chips.h } });
    left += w + chips.gap;
  }
  return { boxes, bottom: cells.length ? top + chips.h : y };
}

/** The columns of the table at a width, and the size of what is in them. @param {number} width */
function columnsAt(width) {
  const wide = width >= 720;
  const size = wide ? clamp(width / 92, 12.5, 34) : clamp(width / 30, 12, 14);
  const pad = wide ? size : 8;
  const [mark, h] = [clamp(size / 14, 0.72, 2), Math.round(size * 2.05)];
  const chips = { size, mark, gap: size * 0.42, h, columns: 1, w: 0 };
  const [name, side] = wide ? [size * 11.4, size * 11.6] : [width - 2 * pad, 0];
  const arrow = wide ? size * 2.6 : 0;
  const room = wide ? width - 2 * pad - name - side - arrow - size * 2 : width - 2 * pad;
  const inputs = pad + name + size;
  const columns = wide
    ? { name: pad, inputs, targets: inputs + room * 0.6 + arrow, side: width - pad - side }
    : { name: pad, inputs: pad, targets: pad, side: pad };
  const widths = { name, inputs: wide ? room * 0.6 : room, targets: wide ? room * 0.4 : room, side };
  return { width, wide, size, pad, chips, columns, widths };
}

/** @typedef {ReturnType<typeof columnsAt>} Columns @typedef {ReturnType<typeof placeWide>} RowPlan
 * @typedef {ReturnType<typeof planTable>} TablePlan */

/** Where every row and everything in it stands at a width.
 * @param {SurveyData} data @param {number} width @param {Measure} measure */
export function planTable(data, width, measure) {
  const at = columnsAt(width);
  const rows = [];
  let y = at.wide ? at.size * 2.4 : 4;
  for (const row of data.rows) {
    const place = (at.wide ? placeWide : placeNarrow)(row, at, y, measure);
    rows.push(place);
    y = place.bottom;
  }
  const cells = data.rows.flatMap((row) => [...row.inputs, ...row.targets].map((cell) => ({ ...cell, chosen: false })));
  const marks = legendOf(cells, data.rows.flatMap((row) => row.matrices));
  const plan = { ...at, rows, legend: /** @type {LegendItem[]} */ ([]), lanes: { inputs: {}, targets: {} } };
  return { ...plan, height: Math.ceil(planLegend(marks, plan, y + at.size, measure) + 4) };
}

/** @param {SurveyRow} row @param {Columns} at @param {number} top @param {Measure} measure */
function placeWide(row, { size, chips, columns, widths }, top, measure) {
  const y = top + size * 0.8;
  const idea = linesOf(row.idea, font(size * 0.78), widths.name, 4, measure);
  const inputs = flow(row.inputs, chips, columns.inputs, y, widths.inputs, measure);
  const targets = flow(row.targets, chips, columns.targets, y, widths.targets, measure);
  const squares = thumbnails(row, columns.side, y, size * 3.1, widths.side);
  const bottom = Math.max(
    y + size * 1.3 + idea.length * size * 1.05, inputs.bottom, targets.bottom,
    row.reason ? y + size * 3.4 : squares.bottom + size * 1.5
  ) + size * 0.8;
  const share = { x: columns.side, y: squares.bottom + size * 0.85 };
  const arrow = { x: columns.targets - size * 2, y: y + chips.h / 2 };
  return { row, top, bottom, y, idea, inputs, targets, squares, share, arrow };
}

/** @param {SurveyRow} row @param {Columns} at @param {number} top @param {Measure} measure */
function placeNarrow(row, { size, chips, columns, widths }, top, measure) {
  const y = top + size * 0.9;
  const squares = thumbnails(row, columns.side, y, size * 3, widths.name * 0.45);
  const shift = widths.name - (squares.right - columns.side);
  for (const each of squares.boxes) each.x += shift;
  const idea = linesOf(row.idea, font(size * 0.92), shift - size, 4, measure);
  const start = Math.max(
    y + size * 1.5 + idea.length * size * 1.25 + size * 0.3, row.matrices.length ? squares.bottom + size * 0.8 : 0
  );
  const inputs = flow(row.inputs, chips, columns.inputs, start, widths.inputs, measure);
  const [left, below] = [columns.targets + size * 1.9, inputs.bottom + size * 0.8];
  const targets = flow(row.targets, chips, left, below, widths.targets - size * 1.9, measure);
  const share = { x: columns.name, y: (row.reason ? start + size * 2.2 : targets.bottom) + size * 1.1 };
  const bottom = share.y + size * 1.1;
  const arrow = { x: columns.targets + size * 0.2, y: below + chips.h / 2 };
  return { row, top, bottom, y, idea, inputs, targets, squares, share, arrow };
}

/** The matrices of a row as small pictures side by side.
 * @param {SurveyRow} row @param {number} x @param {number} y @param {number} side @param {number} room */
function thumbnails({ matrices }, x, y, side, room) {
  const gap = side * 0.2;
  const most = Math.min(side, (room - gap * (matrices.length - 1)) / Math.max(1, matrices.length));
  const whole = (/** @type {number} */ cell) => (cell >= 4 ? Math.floor(cell) : cell); // so that all gaps look the same
  const boxes = matrices.map(({ name, n, m }, i) => ({
    name, x: Math.round(x + i * (most + gap)), y: Math.round(y), cell: whole(most / Math.max(n, m)),
  }));
  const bottom = y + Math.max(0, ...matrices.map(({ n }, i) => n * boxes[i].cell));
  return { boxes, bottom, right: Math.max(x, ...matrices.map(({ m }, i) => boxes[i].x + m * boxes[i].cell)) };
}

/** The whole table at `u` of its entrance, 1 when all rows stand; one row is `played` up to a share of its story.
 * @param {Pen} ctx @param {Art<TablePlan>} art */
export function paintTable(ctx, art, u = 1, played = { row: -1, at: 1 }) {
  const { theme, plan } = art;
  const { size, columns, rows } = plan;
  const head = { spec: font(size * 0.78, 600), fill: theme.muted };
  if (plan.wide) Object.values(columns).forEach((x, i) => paintText(ctx, WALL_HEADS[i], x, size * 1.2, head));
  rows.forEach((place, i) => {
    const e = ease(clamp(u * (1 + 0.09 * rows.length) - 0.09 * i));
    if (e > 0) paintTableRow(ctx, art, place, e, i === played.row ? played.at : 1);
  });
  paintLegend(ctx, art);
}

/** How much is there of the k-th of n that come one after the other between two shares of a story.
 * @param {number} at @param {number} k @param {number} n @param {number} from @param {number} to */
const come = (at, k, n, from, to) => clamp((n * (at - from)) / (to - from) - k);

/** @param {Pen} ctx @param {Art<TablePlan>} art @param {RowPlan} place @param {number} e @param {number} at */
function paintTableRow(ctx, art, place, e, at) {
  const { patterns, theme, plan } = art;
  const { size, columns, wide } = plan;
  const { row, top, y } = place;
  ctx.save();
  ctx.globalAlpha = e;
  ctx.fillStyle = theme.line;
  ctx.fillRect(plan.pad * 0.5, top, plan.width - plan.pad, 1);
  const name = { spec: font(size * 1.12, 650), fill: row.reason ? theme.muted : theme.ink };
  paintText(ctx, row.name, columns.name, y + size * 0.65, name);
  const idea = { spec: font(size * (wide ? 0.78 : 0.92)), fill: theme.muted };
  const [first, pitch] = wide ? [1.95, 1.05] : [2.1, 1.25];
  place.idea.forEach((line, i) => paintText(ctx, line, columns.name, y + size * (first + pitch * i), idea));
  if (row.reason) paintReason(ctx, art, place);
  else {
    paintArrow(ctx, theme, place.arrow, size);
    place.inputs.boxes.forEach((chip, k, all) => paintToken(ctx, art, chip, "inputs", come(at, k, all.length, 0, 0.4)));
    place.targets.boxes.forEach((chip, k, all) => {
      paintToken(ctx, art, chip, "targets", Math.min(clamp(2 * e - 1), come(at, k, all.length, 0.4, 0.7)));
    });
    place.squares.boxes.forEach((box, i) => {
      const matrix = row.matrices[i];
      const rows = range(Math.round(matrix.n * come(at, 0, 1, 0.5, 1)));
      paintCells({ ctx, theme, patterns, box, matrix, axis: axes(matrix, 0) }, rows, () => true);
      if (box.cell < FUSED) cutGaps(ctx, box, matrix);
    });
    paintShare(ctx, theme, size, place);
  }
  ctx.restore();
}

/** A chip of the table. @param {Pen} ctx @param {ChipArt} art @param {{ box: Box, cell: Cell }} chip
 * @param {string} lane @param {number} alpha */
function paintToken(ctx, art, { box, cell }, lane, alpha) {
  paintChip(ctx, art, box, { ...cell, chosen: false }, lane, alpha);
  paintHangers(ctx, art, box, { ...cell, was: "" }, lane, alpha);
}

/** @param {Pen} ctx @param {Art<TablePlan>} art @param {RowPlan} place */
function paintReason(ctx, { theme, plan }, place) {
  const { size, columns, widths, wide } = plan;
  const y = wide ? place.y : place.inputs.bottom;
  ctx.font = font(size * 0.9);
  const room = wide ? plan.width - columns.inputs - plan.pad : widths.name;
  const lines = linesOf(reasonOf(place.row), ctx.font, room, 3, (text) => ctx.measureText(text).width);
  lines.forEach((line, i) => paintText(ctx, line, columns.inputs, y + size * (0.7 + 1.25 * i), { fill: theme.muted }));
}

/** @param {Pen} ctx @param {Theme} theme @param {{ x: number, y: number }} place @param {number} size */
function paintArrow(ctx, theme, { x, y }, size) {
  ctx.strokeStyle = theme.muted;
  ctx.lineWidth = Math.max(1.4, size * 0.11);
  /** @type {Point} */
  const tip = [x + size * 1.1, y];
  paintLines(ctx, [[x, y], tip], [[x + size * 0.72, y - size * 0.34], tip, [x + size * 0.72, y + size * 0.34]]);
}

/** How much of the text teaches: a bar and the numbers.
 * @param {Pen} ctx @param {Theme} theme @param {number} size @param {RowPlan} place */
function paintShare(ctx, theme, size, { share: { x, y }, row }) {
  const wide = size * 2.6;
  ctx.fillStyle = theme.line;
  ctx.fillRect(x, y - size * 0.2, wide, size * 0.4);
  ctx.fillStyle = theme.strong("orange");
  ctx.fillRect(x, y - size * 0.2, wide * clamp(row.signal.scored / Math.max(1, row.signal.tokens)), size * 0.4);
  paintText(ctx, teaches(row), x + wide + size * 0.6, y, { spec: font(size * 0.78), fill: theme.muted });
}

/** @param {SurveyRow} row */
const reasonOf = (row) => `${row.reason} Open it with a sample.`;
/** @param {SurveyRow} row */
const teaches = ({ signal }) => `${signal.scored} answer${signal.scored === 1 ? "" : "s"} / ${signal.tokens} tokens`;
/** @param {Cell[]} cells */
export const wordsOf = (cells) => cells.map((cell) => cell.text).join(" ");
/** @param {SurveyRow} row */
export const spokenRow = (row) => `${row.name}: ${row.reason ? reasonOf(row) : spokenParts(row)}`;
/** @param {SurveyRow} row */
const spokenParts = (row) =>
  `given ${wordsOf(row.inputs)}; predicts ${wordsOf(row.targets)}; ${teaches(row)}. Open the stage.`;
