/**
 * The survey's table as a picture: where every row stands at a width, and the rows in the stage's own chips and cells.
 */

import { plain } from "../dom.js";
import { FUSED, clamp, ease, font, range, readCell, readMatrix } from "../record.js";
import { paintChip, paintHangers } from "./chips.js";
import { planLegend } from "./layout.js";
import { axes, cutGaps, paintCells } from "./matrices.js";
import { paintLegend } from "./paint.js";
import { paintLines, paintText } from "./pen.js";

const WALL_HEADS = ["Objective", "The model is given", "It must predict", "Attention mask"];

/**
 * The rows with cells and matrices read as the stage reads them; a decoder that writes nothing has no matrix to draw.
 */
export function readTable(raw) {
  const data = { title: "", subtitle: "", rows: [], ...plain(raw || {}) };
  const cells = (list) => (list || []).map(readCell);
  const matrices = (list) => (list || []).map((m) => readMatrix(m)).filter((m) => m.n && m.m);
  return {
    ...data,
    rows: data.rows.map((row) => ({
      ...row, inputs: cells(row.inputs), targets: cells(row.targets), matrices: matrices(row.matrices),
    })),
  };
}

/** A text on at most `most` lines; what does not fit ends with an ellipsis. */
function linesOf(text, spec, width, most, measure) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
    if (measure(longer, spec) <= width) lines[lines.length - 1] = longer;
    else if (lines.length < most) lines.push(word);
    else {
      let last = lines[lines.length - 1];
      while (last.includes(" ") && measure(`${last} …`, spec) > width) last = last.replace(/ \S+$/, "");
      lines[lines.length - 1] = `${last} …`;
      break;
    }
  }
  return lines;
}

/** Chips beside each other, on as many lines as they need. */
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

/** Where every row and everything in it stands at a width. */
export function planTable(data, width, measure) {
  const wide = width >= 720;
  const size = wide ? clamp(width / 92, 12.5, 34) : clamp(width / 30, 12, 14);
  const pad = wide ? size : 8;
  const chips = {
    size, mark: clamp(size / 14, 0.72, 2), gap: size * 0.42, h: Math.round(size * 2.05), columns: 1, w: 0,
  };
  const [name, side] = wide ? [size * 11.4, size * 11.6] : [width - 2 * pad, 0];
  const arrow = wide ? size * 2.6 : 0;
  const room = wide ? width - 2 * pad - name - side - arrow - size * 2 : width - 2 * pad;
  const columns = wide
    ? {
      name: pad, inputs: pad + name + size, targets: pad + name + size + room * 0.6 + arrow, side: width - pad - side,
    }
    : { name: pad, inputs: pad, targets: pad, side: pad };
  const widths = { name, inputs: wide ? room * 0.6 : room, targets: wide ? room * 0.4 : room, side };
  const plan = {
    width, wide, size, pad, chips, columns, widths, rows: [], legend: [],
    lanes: { inputs: { below: 0 }, targets: { below: 0 } }, height: 0,
  };
  let y = wide ? size * 2.4 : 4;
  for (const row of data.rows) y = (wide ? planWide : planNarrow)(row, plan, y, measure);
  const shown = {
    frames: [
      {
        lanes: [
          {
            cells: data.rows.flatMap((row) => [
              ...row.inputs, ...row.targets,
            ]).map((cell) => ({ ...cell, chosen: false })),
          },
        ], matrices: data.rows.flatMap((row) => row.matrices),
      },
    ],
  };
  plan.height = Math.ceil(planLegend(shown, plan, y + size, measure) + 4);
  return plan;
}

function planWide(row, plan, top, measure) {
  const { size, chips, columns, widths } = plan;
  const y = top + size * 0.8;
  const idea = linesOf(row.idea, font(size * 0.78), widths.name, 4, measure);
  const inputs = flow(row.inputs, chips, columns.inputs, y, widths.inputs, measure);
  const targets = flow(row.targets, chips, columns.targets, y, widths.targets, measure);
  const squares = thumbnails(row, columns.side, y, size * 3.1, widths.side);
  const bottom = Math.max(
    y + size * 1.3 + idea.length * size * 1.05, inputs.bottom, targets.bottom,
    row.reason ? y + size * 3.4 : squares.bottom + size * 1.5
  ) + size * 0.8;
  plan.rows.push({
    row, top, bottom, y, idea, inputs, targets, squares, share: { x: columns.side, y: squares.bottom + size * 0.85 },
    arrow: { x: columns.targets - size * 2, y: y + chips.h / 2 },
  });
  return bottom;
}

function planNarrow(row, plan, top, measure) {
  const { size, chips, columns, widths } = plan;
  const y = top + size * 0.9;
  const squares = thumbnails(row, columns.side, y, size * 3, widths.name * 0.45);
  const shift = widths.name - (squares.right - columns.side);
  for (const each of squares.boxes) each.x += shift;
  const idea = linesOf(row.idea, font(size * 0.92), shift - size, 4, measure);
  const start = Math.max(
    y + size * 1.5 + idea.length * size * 1.25 + size * 0.3, row.matrices.length ? squares.bottom + size * 0.8 : 0
  );
  const inputs = flow(row.inputs, chips, columns.inputs, start, widths.inputs, measure);
  const targets = flow(
    row.targets, chips, columns.targets + size * 1.9, inputs.bottom + size * 0.8, widths.targets - size * 1.9, measure
  );
  const share = { x: columns.name, y: (row.reason ? start + size * 2.2 : targets.bottom) + size * 1.1 };
  const bottom = share.y + size * 1.1;
  plan.rows.push({ row, top, bottom, y, idea, inputs, targets, squares, share, arrow: {
    x: columns.targets + size * 0.2, y: inputs.bottom + size * 0.8 + chips.h / 2,
  } });
  return bottom;
}

/** The matrices of a row as small pictures side by side. */
function thumbnails(row, x, y, side, room) {
  const many = row.matrices.length;
  const gap = side * 0.2;
  const most = Math.min(side, (room - gap * (many - 1)) / Math.max(1, many));
  const whole = (cell) => (cell >= 4 ? Math.floor(cell) : cell); // so that all gaps look the same
  const boxes = row.matrices.map((matrix, i) => ({
    name: matrix.name, x: Math.round(x + i * (most + gap)), y: Math.round(y),
    cell: whole(most / Math.max(matrix.n, matrix.m)),
  }));
  return {
    boxes, bottom: many ? y + Math.max(...boxes.map((box, i) => row.matrices[i].n * box.cell)) : y,
    right: many ? boxes.at(-1).x + row.matrices.at(-1).m * boxes.at(-1).cell : x,
  };
}

/** The whole table at `u` of its entrance, 1 when all rows stand; one row is `played` up to a share of its story. */
export function paintTable(ctx, art, u = 1, played = { row: -1, at: 1 }) {
  const { theme, plan } = art;
  const { size, columns, rows } = plan;
  if (plan.wide) Object.values(columns).forEach((x, i) => paintText(
    ctx, WALL_HEADS[i], x, size * 1.2, { spec: font(size * 0.78, 600), fill: theme.muted }
  ));
  rows.forEach((place, i) => {
    const e = ease(clamp(u * (1 + 0.09 * rows.length) - 0.09 * i));
    if (e > 0) paintTableRow(ctx, art, place, e, i === played.row ? played.at : 1);
  });
  paintLegend(ctx, art);
}

/** How much is there of the k-th of n that come one after the other between two shares of a story. */
const come = (at, k, n, [from, to]) => clamp((n * (at - from)) / (to - from) - k);

function paintTableRow(ctx, art, place, e, at) {
  const { theme, plan } = art;
  const { size, columns, wide } = plan;
  const { row, top, y } = place;
  ctx.save();
  ctx.globalAlpha = e;
  ctx.fillStyle = theme.line;
  ctx.fillRect(plan.pad * 0.5, top, plan.width - plan.pad, 1);
  paintText(
    ctx, row.name, columns.name, y + size * 0.65,
    { spec: font(size * 1.12, 650), fill: row.reason ? theme.muted : theme.ink }
  );
  place.idea.forEach((line, i) => paintText(
    ctx, line, columns.name, y + size * (wide ? 1.95 + 1.05 * i : 2.1 + 1.25 * i),
    { spec: font(size * (wide ? 0.78 : 0.92)), fill: theme.muted }
  ));
  if (row.reason) paintReason(ctx, art, place);
  else {
    paintArrow(ctx, theme, place.arrow, size);
    place.inputs.boxes.forEach(({ cell, box }, k, all) => chipAt(
      ctx, art, box, cell, "inputs", come(at, k, all.length, [0, 0.4])
    ));
    place.targets.boxes.forEach(({ cell, box }, k, all) => chipAt(
      ctx, art, box, cell, "targets", Math.min(clamp(2 * e - 1), come(at, k, all.length, [0.4, 0.7]))
    ));
    place.squares.boxes.forEach((box, i) => {
      const matrix = row.matrices[i];
      paintCells(
        ctx, art, box, matrix, axes(matrix, 0), range(Math.round(matrix.n * come(at, 0, 1, [0.5, 1]))), () => true
      );
      if (box.cell < FUSED) cutGaps(ctx, box, matrix.n, matrix.m);
    });
    paintShare(ctx, art, place, row);
  }
  ctx.restore();
}

function chipAt(ctx, art, box, cell, lane, alpha = 1) {
  paintChip(ctx, art, box, { ...cell, chosen: false }, lane, alpha);
  paintHangers(ctx, art, box, { ...cell, was: "" }, lane, alpha);
}

function paintReason(ctx, { theme, plan }, place) {
  const { size, columns, widths, wide } = plan;
  const y = wide ? place.y : place.inputs.bottom;
  ctx.font = font(size * 0.9);
  const lines = linesOf(
    reasonOf(place.row), ctx.font, wide ? plan.width - columns.inputs - plan.pad : widths.name, 3,
    (text) => ctx.measureText(text).width
  );
  lines.forEach((line, i) => paintText(ctx, line, columns.inputs, y + size * (0.7 + 1.25 * i), { fill: theme.muted }));
}

function paintArrow(ctx, theme, { x, y }, size) {
  ctx.strokeStyle = theme.muted;
  ctx.lineWidth = Math.max(1.4, size * 0.11);
  /** @type {Point} */
  const tip = [x + size * 1.1, y];
  paintLines(ctx, [[x, y], tip], [[x + size * 0.72, y - size * 0.34], tip, [x + size * 0.72, y + size * 0.34]]);
}

/** How much of the text teaches: a bar and the numbers. */
function paintShare(ctx, { theme, plan: { size } }, { share }, row) {
  const wide = size * 2.6;
  for (const [fill, part] of [
    [theme.line, 1], [theme.strong("orange"), clamp(row.signal.scored / Math.max(1, row.signal.tokens))],
  ]) {
    ctx.fillStyle = fill;
    ctx.fillRect(share.x, share.y - size * 0.2, wide * part, size * 0.4);
  }
  paintText(ctx, teaches(row), share.x + wide + size * 0.6, share.y, { spec: font(size * 0.78), fill: theme.muted });
}

const reasonOf = (row) => `${row.reason} Open it with a sample.`;
const teaches = ({ signal }) => `${signal.scored} answer${signal.scored === 1 ? "" : "s"} / ${signal.tokens} tokens`;
export const wordsOf = (cells) => cells.map((cell) => cell.text).join(" ");
export const spokenRow = (row) =>
  `${row.name}: ${row.reason ? reasonOf(row) : spokenParts(row)}`;
const spokenParts = (row) =>
  `given ${wordsOf(row.inputs)}; predicts ${wordsOf(row.targets)}; ${teaches(row)}. Open the stage.`;
