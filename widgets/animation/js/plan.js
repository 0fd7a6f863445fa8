/** Where everything stands: lanes, matrices, legend and what the model answers, for one width. */

import tokens from "../../tokens.json" with { type: "json" };
import { costs, planAnswers, planAnswersBeside } from "./answers.js";
import { planMap } from "./long_text.js";
import { CELL, LABEL, LANES, clamp, font, inFull, laneOf, leakSteps, matrixShapes, range, rises, sum } from "./record.js";

/**
 * Where everything stands at a given width. Lanes and matrices keep their places over all frames, so the page never
 * jumps: what a later frame will fill is shown as an empty track or lattice.
 */
export function makePlan(record, width, measure) {
  const pad = width < 560 ? 10 : 20;
  const wide = width >= 620;
  const gutter = wide ? (width < 760 ? 96 : 112) : 0;
  const inset = wide ? 9 : 6; // from the edge of a track to its first chip
  const left = pad + (wide ? gutter : inset);
  const chips = fitChips(record, width - pad - inset - left, wide, measure);
  const plan = { width, pad, gutter, inset, left, wide, chips, lanes: {}, boxes: {}, legend: [], height: 0 };
  const lanes = planLanes(record, plan, planMap(record, plan, 6));
  let y = planAnswersBeside(record, plan, planMatrices(record, plan, lanes, measure));
  if (!y) y = planMatrices(record, plan, planAnswers(record, plan, lanes), measure);
  plan.height = Math.ceil(planLegend(record, plan, y, measure));
  return plan;
}

/** One chip size for all lanes, the largest at which the longest lane takes no more lines than is comfortable. */
function fitChips(record, room, wide, measure) {
  const words = new Set(inFull(record).frames.flatMap((frame) => frame.lanes.flatMap((lane) => lane.cells.map((cell) => cell.text))));
  const count = Math.max(1, ...record.frames.flatMap((frame) => frame.lanes.map((lane) => lane.cells.length)));
  const widest = Math.max(18, ...Array.from(words, (word) => measure(word, font(10, 500))));
  const lines = wide ? Math.ceil(count / (count <= 14 ? 14 : 17)) : Math.ceil(count / Math.max(4, Math.floor(room / 62)));
  let fitted = null;
  for (const size of [15, 14, 13, 12, 11, 10]) {
    const gap = Math.max(3, Math.round(size * 0.5));
    const text = Math.min(widest * (size / 10), size * (size > 11 ? 8.5 : 6));
    const natural = text + size * (size > 12 ? 1.6 : 1.1);
    const across = Math.max(1, Math.floor((room + gap) / (natural + gap)));
    const columns = Math.ceil(count / Math.ceil(count / across));
    const w = Math.min((room - gap * (columns - 1)) / columns, Math.max(natural, size * 8));
    fitted = { size, gap, columns, w: Math.floor(w), h: Math.round(size * 2.1), mark: clamp(size / 14, 0.72, 1) };
    if (Math.ceil(count / across) <= lines) break;
  }
  return fitted;
}

function planLanes(record, plan, top) {
  const { chips } = plan;
  const looked = record.frames.some((frame) => frame.matrices.length);
  const has = (name, test) => inFull(record).frames.some((frame) => (laneOf(frame, name) || { cells: [] }).cells.some(test));
  let y = top;
  for (const name of LANES) {
    const lanes = record.frames.map((frame) => laneOf(frame, name)).filter(Boolean);
    if (!lanes.length) continue;
    const lines = Math.max(1, Math.ceil(Math.max(...lanes.map((lane) => lane.cells.length)) / chips.columns));
    const numbered = name === "original" && chips.size >= 12;
    const above = numbered ? 19 : has(name, (cell) => cell.badge) ? 9 : rises(name) && has(name, (cell) => cell.chosen) ? 6 : 0;
    const below = name === "targets" && costs(record) ? 17 : lines <= 4 && has(name, (cell) => cell.was) ? Math.round(chips.size * 0.95) : 0;
    const pitch = above + chips.h + below + (lines > 1 ? chips.gap : 0);
    const heading = plan.wide ? 0 : 19;
    const height = heading + pitch * lines - (lines > 1 ? chips.gap : 0);
    const room = looked && (name === "inputs" || name === "decoder") ? (lines === 1 ? 8 : 2) : 0;
    plan.lanes[name] = { title: lanes[0].title || name, y, top: y + heading, above, below, pitch, lines, height, numbered, room };
    y += height + room + (plan.wide ? 12 : 16);
  }
  return y;
}

/** Matrices side by side with one cell size if that leaves cells large enough, else four in pairs, else one below the other. */
function planMatrices(record, plan, y, measure) {
  const shapes = matrixShapes(record);
  if (!shapes.length) return y;
  const room = plan.width - 2 * plan.pad;
  const longest = (words) => Math.min(LABEL, Math.max(8, ...words.map((word) => measure(word, font(12.5, 600)) + 1)));
  const full = new Map(matrixShapes(inFull(record)).map((shape) => [shape.name, shape]));
  for (const shape of shapes) Object.assign(shape, { labelRow: longest(full.get(shape.name).rows), labelColumn: longest(full.get(shape.name).columns) });
  const most = Math.max(...shapes.map((shape) => Math.max(shape.n, shape.m)));
  const cap = Math.min(30, (most > 26 ? 500 : 420) / most);
  const gap = plan.wide ? 30 : 18;
  const rowsOf = (across) => range(Math.ceil(shapes.length / across)).map((k) => shapes.slice(k * across, (k + 1) * across));
  const fit = (labelled) => {
    const margin = (shape, first) => Math.max(first ? plan.gutter : 0, labelled ? shape.labelRow + 26 : 34);
    const spare = (shape) => (labelled ? shape.labelColumn * 0.5 : 0);
    const ways = [shapes.length, ...(shapes.length > 3 ? [2] : []), 1].map((across) => {
      const margins = shapes.map((shape, i) => margin(shape, i % across === 0));
      const taken = (row, k) => sum(row.map((shape, i) => margins[k * across + i] + spare(shape))) + gap * (row.length - 1);
      const cell = Math.min(...rowsOf(across).map((row, k) => (room - taken(row, k)) / sum(row.map((shape) => shape.m))));
      return { across, margins, cell: Math.min(cap, cell) };
    });
    return ways.find(({ cell }) => cell >= Math.min(13, cap)) || ways.at(-1);
  };
  const labelled = fit(true).cell >= 9.5;
  const fitted = fit(labelled);
  const cell = fitted.cell >= 6 ? Math.floor(fitted.cell * 2) / 2 : fitted.cell;
  const size = clamp(cell * 0.82, 8.5, 12.5);
  const mates = (shape) => rowsOf(fitted.across).find((row) => row.includes(shape));
  const level = (shape) => !labelled || mates(shape).every((each) => each.labelColumn <= cell - 5);
  const angle = (shape) => (level(shape) ? 0 : cell >= 17 ? -Math.PI / 4 : -Math.PI / 2);
  const lean = (shape) => (angle(shape) === 0 ? 14 : angle(shape) === -Math.PI / 2 ? shape.labelColumn + 6 : shape.labelColumn * 0.71 + 13);
  const head = (shape) => 24 + Math.max(...mates(shape).map(lean));
  let x = plan.pad;
  let bottom = y;
  shapes.forEach((shape, i) => {
    if (i && i % fitted.across === 0) {
      x = plan.pad;
      y = bottom + 22;
    }
    const margin = fitted.margins[i];
    const box = { ...shape, x: Math.round(x + margin), y: Math.round(y + head(shape)), cell, top: y, left: x, margin, labelled, angle: angle(shape), size };
    box.right = box.x + shape.m * cell;
    plan.boxes[shape.name] = box;
    bottom = Math.max(bottom, box.y + shape.n * cell);
    x = box.right + gap + (labelled && box.angle > -1 ? shape.labelColumn * 0.5 : 0);
  });
  plan.beside = fitted.across < shapes.length ? null : { x: x + 6, y: y + head(shapes[0]) };
  return bottom + 26;
}

/** Only what occurs in the record is explained; beside a lone matrix as a list, else as a row below everything. */
export function planLegend(drawn, plan, y, measure) {
  const record = inFull(drawn);
  const cells = record.frames.flatMap((frame) => frame.lanes.flatMap((lane) => lane.cells));
  const matrices = record.frames.flatMap((frame) => frame.matrices);
  const asks = { chosen: (cell) => cell.chosen, first: (cell) => cell.language === 1, second: (cell) => cell.language === 2, graded: (cell) => cell.graded };
  const answers = matrices.some((matrix) => matrix.graded.some(Boolean));
  /** @type {{ kind: string, text: string, state?: string, code?: number }[]} */
  const items = Object.entries(tokens.tokens)
    .filter(([state]) => cells.some(asks[state] || ((cell) => cell.state === state)) || (state === "graded" && answers))
    .map(([state, text]) => ({ kind: "token", state, text }));
  const codes = [1, 2, 0, 3, 4].filter((code) => matrices.some((matrix) => matrix.cells.includes(code)) || (code === 4 && leakSteps(record).length));
  const hidden = items.some((item) => item.state === "padding");
  for (const code of codes) if (code !== CELL.padding || !hidden) items.push({ kind: "cell", code, text: tokens.cells[code] });
  if (matrices.some((matrix) => matrix.heads)) items.push({ kind: "weight", text: "attention weight, by area" });
  const column = plan.beside && !(plan.answers && plan.answers.x > plan.left) && plan.width - plan.pad - plan.beside.x >= 210;
  let x = column ? plan.beside.x : plan.pad;
  let at = column ? plan.beside.y + 4 : y;
  for (const item of items) {
    const width = 30 + measure(item.text, font(12)) + 20;
    if (!column && x > plan.pad && x + width - 20 > plan.width - plan.pad) {
      x = plan.pad;
      at += 24;
    }
    plan.legend.push({ ...item, x, y: at });
    if (column) at += 26;
    else x += width;
  }
  return Math.max(y, items.length ? at + (column ? 0 : 22) : y);
}
