/** Where everything stands: lanes, matrices, legend and what the model answers, for one width. */

import tokens from "../../../design_tokens.json" with { type: "json" };
import {
  CELL, LABEL, LANES, STRIP, clamp, font, inFull, isAnswers, laneOf, leakSteps, matrixShapes, range, rises, sum,
} from "../record.js";
import { costs, planAnswers, planAnswersBeside, roomForAnswers, shareShown } from "./answers.js";
import { planMap } from "./long_text.js";

const LEGEND = 24; // px of a line of the legend
const EASY = 20; // px: cells of this side are read with ease

/**
 * Where everything stands at a given width. Lanes and matrices keep their places over all frames, so the page never
 * jumps: what a later frame will fill is shown as an empty track or lattice. Chips and cells get smaller, down to what
 * can still be read, until all of it is in sight within `height`.
 */
export function makePlan(record, width, measure, height = Infinity) {
  if (height === Infinity) return planWith(record, width, measure, height, 15, 1);
  const ease = (plan) => Math.min(EASY, sideOf(plan)) * (1 + shareShown(record, plan));
  const worth = (plan) => (plan.height <= height ? ease(plan) : -plan.height);
  const ways = roomForAnswers(record, 1) ? [1, 2, 3, 0] : [0];
  /** @type {any} */
  let best = null;
  for (const largest of [15, 13, 11]) {
    for (const columns of ways) {
      let plan = planWith(record, width, measure, height, largest, columns);
      if (plan.height > height) plan = planWith(record, width, measure, 2 * height - plan.height, largest, columns);
      if (!best || worth(plan) > worth(best)) best = plan;
      if (worth(best) === 2 * EASY) return best;
    }
  }
  return best;
}

/** The side of a cell; where there is no matrix, large enough. */
const sideOf = (plan) => Object.values(plan.boxes)[0]?.cell ?? Infinity;

/**
 * Where everything stands with chips of at most `largest` px, and guesses in `columns` beside the matrices, or above
 * them.
 */
function planWith(record, width, measure, height, largest, columns) {
  const pad = width < 560 ? 10 : 20;
  const wide = width >= 560;
  const gutter = wide ? (width < 760 ? 96 : 112) : 0;
  const inset = wide ? 9 : 6; // from the edge of a track to its first chip
  const left = pad + (wide ? gutter : inset);
  const chips = fitChips(record, width - pad - inset - left, wide, measure, largest);
  const plan = {
    width, pad, gutter, inset, left, wide, chips, room: height, lanes: {}, boxes: {}, legend: [], height: 0, band: 0,
  };
  const lanes = planLanes(record, plan, planMap(record, plan, 6));
  plan.band = lanes;
  let y = columns && planAnswersBeside(
    record, plan, planMatrices(record, plan, lanes, measure, roomForAnswers(record, columns))
  );
  if (!y) y = planMatrices(record, plan, planAnswers(record, plan, lanes), measure);
  plan.height = Math.ceil(planLegend(record, plan, y, measure));
  return plan;
}

/** One chip size for all lanes, the largest at which the longest lane takes no more lines than it must. */
function fitChips(record, room, wide, measure, largest) {
  const words = new Set(
    inFull(record).frames.flatMap((frame) => frame.lanes.flatMap((lane) => lane.cells.map((cell) => cell.text)))
  );
  const count = Math.max(1, ...record.frames.flatMap((frame) => frame.lanes.map((lane) => lane.cells.length)));
  const widest = Math.max(18, ...Array.from(words, (word) => measure(word, font(10, 500))));
  const lines = wide ? Math.ceil(count / (count <= 14 ? 14 : 17)) : Math.ceil(count / Math.max(
    4, Math.floor(room / 62)
  ));
  const fits = range(largest - 9).map((less) => {
    const size = largest - less;
    const gap = size > 11 ? Math.round(size * 0.5) : 3;
    const text = Math.min(widest * (size / 10), size * (size > 11 ? 8.5 : 6));
    const natural = text + size * (size > 12 ? 1.6 : size > 10 ? 1.1 : 0.8);
    const across = Math.max(1, Math.floor((room + gap) / (natural + gap)));
    const columns = Math.ceil(count / Math.ceil(count / across));
    const w = Math.min((room - gap * (columns - 1)) / columns, Math.max(natural, size * 8));
    return {
      size, gap, columns, lines: Math.ceil(count / across), w: Math.floor(w), h: Math.round(size * 2.1),
      mark: clamp(size / 14, 0.72, 1),
    };
  });
  const fewest = Math.max(lines, fits[fits.length - 1].lines);
  return /** @type {Chips} */ (fits.find((fit) => fit.lines <= fewest));
}

function planLanes(record, plan, top) {
  const looked = record.frames.some((frame) => frame.matrices.length);
  let y = top;
  for (const name of LANES) {
    const lanes = record.frames.map((frame) => laneOf(frame, name)).filter(Boolean);
    if (!lanes.length) continue;
    const slot = slotOf(record, plan, name, lanes, y);
    slot.room = looked && ["inputs", "teacher", "decoder"].includes(name) ? (slot.lines === 1 ? 8 : 2) : 0;
    plan.lanes[name] = slot;
    y += slot.height + slot.room + (plan.wide ? (plan.chips.size > 11 ? 12 : 6) : 16);
  }
  return y;
}

/**
 * A lane that begins at y, with room for what hangs on its chips in any frame.
 * @returns {Slot}
 */
function slotOf(record, plan, name, lanes, y) {
  const { chips } = plan;
  const has = (test) => inFull(record).frames.some((frame) => (laneOf(frame, name)?.cells || []).some(test));
  const lines = Math.max(1, Math.ceil(Math.max(...lanes.map((lane) => lane.cells.length)) / chips.columns));
  const numbered = name === "original" && chips.size >= 12;
  const raised = rises(name) && has((cell) => cell.chosen) ? 6 : 0;
  const above = numbered ? 19 : has((cell) => cell.badge) ? 9 : raised;
  const replaced = lines <= 4 && has((cell) => cell.was) ? Math.round(chips.size * 0.95) : 0;
  const was = isAnswers(name) && costs(record) ? 17 : replaced;
  const below = was + STRIP * Math.max(...lanes.map((lane) => lane.ids.length));
  const gap = lines > 1 ? chips.gap : 0;
  const pitch = above + chips.h + below + gap;
  const heading = plan.wide ? 0 : 19;
  const height = heading + pitch * lines - gap;
  const title = lanes[0].title || name;
  return { title, y, top: y + heading, above, was, below, pitch, lines, height, numbered, room: 0 };
}

/**
 * Matrices with one cell size: side by side, four also in pairs, or one below the other. Within a height it is the way
 * with the largest cells, else the first with cells that are large enough.
 */
function planMatrices(record, plan, y, measure, reserved = 0) {
  const shapes = matrixShapes(record);
  if (!shapes.length) return y;
  const room = plan.width - 2 * plan.pad;
  const longest = (words) => Math.min(LABEL, Math.max(8, ...words.map((word) => measure(word, font(12.5, 600)) + 1)));
  const full = new Map(matrixShapes(inFull(record)).map((shape) => [shape.name, shape]));
  const most = Math.max(...shapes.map((shape) => Math.max(shape.n, shape.m)));
  const deepest = Math.max(...shapes.map((shape) => shape.n));
  const named = ({ name }, side) => longest(full.get(name)[side]);
  const leaning = 37 + 0.6 * Math.max(...shapes.map((shape) => named(shape, "columns"))); // a title and words that lean
  const inSight = (rows) => Math.max(10, (plan.room - y + 10 - rows * (leaning + 22)) / (rows * deepest));
  const capOf = (rows) => Math.min(30, (most > 26 ? 500 : 420) / most, inSight(rows));
  const cap = capOf(1);
  const shrunk = clamp(cap * 0.82, 8.5, 12.5) / 12.5;
  for (const shape of shapes) Object.assign(
    shape, { labelRow: named(shape, "rows") * shrunk, labelColumn: named(shape, "columns") * shrunk }
  );
  const gap = plan.wide ? 30 : 18;
  const rowsOf = (across) => range(Math.ceil(shapes.length / across)).map(
    (k) => shapes.slice(k * across, (k + 1) * across)
  );
  const fit = (labelled, room) => {
    const margin = (shape, first) => Math.max(first ? plan.gutter : 0, labelled ? shape.labelRow + 26 : 34);
    const spare = (shape) => (labelled ? shape.labelColumn * 0.5 : 0);
    const ways = [shapes.length, ...(shapes.length > 3 ? [2] : []), 1].map((across) => {
      const margins = shapes.map((shape, i) => margin(shape, i % across === 0));
      const widths = (row, k) => row.map((shape, i) => margins[k * across + i] + spare(shape));
      const taken = (row, k) => sum(widths(row, k)) + gap * (row.length - 1);
      const cell = Math.min(
        ...rowsOf(across).map((row, k) => (room - taken(row, k)) / sum(row.map((shape) => shape.m)))
      );
      return { across, margins, cell: Math.min(capOf(rowsOf(across).length), cell) };
    });
    if (plan.room < Infinity) return ways.reduce((best, way) => (way.cell > best.cell ? way : best));
    return ways.find(({ cell }) => cell >= Math.min(13, cap)) || ways[ways.length - 1];
  };
  const labelled = fit(true, room).cell >= 9.5;
  const narrowed = reserved && fit(labelled, room - reserved);
  const enough = Math.min(plan.room < Infinity ? 9.5 : 13, cap);
  const narrow = narrowed && narrowed.across === shapes.length && narrowed.cell >= enough;
  const fitted = narrow ? narrowed : fit(labelled, room);
  const cell = fitted.cell >= 6 ? Math.floor(fitted.cell * 2) / 2 : fitted.cell;
  const size = clamp(cell * 0.82, 8.5, 12.5);
  const mates = (shape) => rowsOf(fitted.across).find((row) => row.includes(shape)) || [];
  const level = (shape) => !labelled || mates(shape).every((each) => each.labelColumn <= cell - 5);
  const angle = (shape) => (level(shape) ? 0 : cell >= 14 ? -Math.PI / 4 : -Math.PI / 2);
  const slanted = (shape) => (cell >= 14 ? shape.labelColumn * 0.71 + 13 : shape.labelColumn + 6);
  const lean = (shape) => (level(shape) ? 14 : slanted(shape));
  const head = (shape) => 24 + Math.max(...mates(shape).map(lean));
  let x = plan.pad;
  let bottom = y;
  shapes.forEach((shape, i) => {
    if (i && i % fitted.across === 0) {
      x = plan.pad;
      y = bottom + 22;
    }
    const margin = fitted.margins[i];
    const box = {
      ...shape, x: Math.round(x + margin), y: Math.round(y + head(shape)), cell, top: y, left: x, margin, labelled,
      angle: angle(shape), size,
    };
    box.right = box.x + shape.m * cell;
    plan.boxes[shape.name] = box;
    bottom = Math.max(bottom, box.y + shape.n * cell);
    x = box.right + gap + (labelled && box.angle > -1 ? shape.labelColumn * 0.5 : 0);
  });
  plan.beside = fitted.across < shapes.length ? null : { x: x + 6, y: y + head(shapes[0]) };
  return bottom + 12;
}

/** @type {{ [state: string]: (cell: Cell) => boolean }} */
const ASKS = { chosen: (cell) => cell.chosen, scored: (cell) => cell.scored };

/** What occurs in a record and is explained: states of tokens, states of cells, and the area of a weight. */
function legendOf(record) {
  const cells = record.frames.flatMap((frame) => frame.lanes.flatMap((lane) => lane.cells));
  const matrices = record.frames.flatMap((frame) => frame.matrices);
  const answers = matrices.some((matrix) => matrix.scored.some(Boolean));
  const isState = (state) => ASKS[state] || ((cell) => cell.state === state);
  const occurs = (state) => cells.some(isState(state)) || (state === "scored" && answers);
  const states = Object.entries(tokens.tokens).filter(([state]) => occurs(state));
  const leaks = leakSteps(record).length > 0;
  const hidden = states.some(([state]) => state === "padding"); // which the tokens explain
  const codes = [CELL.visible, CELL.self, CELL.blocked, CELL.padding, CELL.leaked]
    .filter((code) => matrices.some((matrix) => matrix.cells.includes(code)) || (code === CELL.leaked && leaks))
    .filter((code) => code !== CELL.padding || !hidden);
  const weighed = matrices.some((matrix) => matrix.heads);
  return [
    ...states.map(([state, text]) => ({ kind: "token", state, text })),
    ...codes.map((code) => ({ kind: "cell", code, text: tokens.cells[code] })),
    ...(weighed ? [{ kind: "weight", text: "attention weight, by area" }] : []),
  ];
}

/** Only what occurs in the record is explained; beside a lone matrix as a list, else as a row below everything. */
export function planLegend(drawn, plan, y, measure) {
  const items = legendOf(inFull(drawn));
  const { beside, answers, left, pad, width } = plan;
  const column = beside && !(answers && answers.x > left) && width - pad - beside.x >= 210;
  let x = column ? beside.x : pad;
  let at = column ? beside.y + 4 : y;
  for (const item of items) {
    const room = 30 + measure(item.text, font(12)) + 20;
    if (!column && x > pad && x + room - 20 > width - pad) {
      x = pad;
      at += LEGEND;
    }
    plan.legend.push({ ...item, x, y: at });
    if (column) at += 26;
    else x += room;
  }
  return Math.max(y, items.length ? at + (column ? 0 : 22) : y);
}
