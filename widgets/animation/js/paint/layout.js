/** Where everything stands: lanes, matrices, legend and what the model answers, for one width. */

import tokens from "../../../design_tokens.json" with { type: "json" };
import {
  CELL, LABEL, LANES, STRIP, clamp, font, inFull, isAnswers, laneOf, leakSteps, matrixShapes, range, rises, sum,
} from "../record.js";
import { costs, planAnswers, planAnswersBeside, roomForAnswers, shareShown } from "./answers.js";
import { planMap } from "./long_text.js";

const LEGEND = 24; // px of a line of the legend
const EASY = 20; // px: cells of this side are read with ease

/** Where everything stands at a given width. Lanes and matrices keep their places over all frames, so the page never
 * jumps: what a later frame will fill is shown as an empty track or lattice. Chips and cells get smaller, down to what
 * can still be read, until all of it is in sight within `height`.
 * @param {StageRecord} record @param {number} width @param {Measure} measure */
export function makePlan(record, width, measure, height = Infinity) {
  if (height === Infinity) return planWith(record, width, measure);
  const ease = (/** @type {Plan} */ plan) => Math.min(EASY, sideOf(plan)) * (1 + shareShown(record, plan));
  const worth = (/** @type {Plan} */ plan) => (plan.height <= height ? ease(plan) : -plan.height);
  const ways = roomForAnswers(record, 1) ? [1, 2, 3, 0] : [0];
  const tries = [15, 13, 11].flatMap((largest) => ways.map((columns) => () => {
    const plan = planWith(record, width, measure, height, largest, columns);
    return plan.height > height ? planWith(record, width, measure, 2 * height - plan.height, largest, columns) : plan;
  }));
  let best = tries[0]();
  for (let i = 1; i < tries.length && worth(best) !== 2 * EASY; i++) {
    const plan = tries[i]();
    if (worth(plan) > worth(best)) best = plan;
  }
  return best;
}

/** The side of a cell; where there is no matrix, large enough. @param {Plan} plan */
const sideOf = (plan) => Object.values(plan.boxes)[0]?.cell ?? Infinity;

/** Where everything stands with chips of at most `largest` px, and guesses in `columns` beside the matrices, or above.
 * @param {StageRecord} record @param {number} width @param {Measure} measure */
function planWith(record, width, measure, height = Infinity, largest = 15, columns = 1) {
  const pad = width < 560 ? 10 : 20;
  const wide = width >= 560;
  const gutter = wide ? (width < 760 ? 96 : 112) : 0;
  const inset = wide ? 9 : 6; // from the edge of a track to its first chip
  const left = pad + (wide ? gutter : inset);
  const chips = fitChips(record, width - pad - inset - left, wide, measure, largest);
  /** @type {Plan} */
  const plan = {
    width, pad, gutter, inset, left, wide, chips, room: height, lanes: {}, boxes: {}, legend: [], height: 0, band: 0,
  };
  const band = planLanes(record, plan, planMap(record, plan, 6));
  const beside = () => planMatrices(record, plan, band, measure, roomForAnswers(record, columns));
  const y = (columns && planAnswersBeside(record, plan, beside()))
    || planMatrices(record, plan, planAnswers(record, plan, band), measure);
  const whole = inFull(record);
  const matrices = whole.frames.flatMap((frame) => frame.matrices);
  const marks = legendOf(cellsOf(whole.frames), matrices, leakSteps(whole).length > 0);
  return { ...plan, band, height: Math.ceil(planLegend(marks, plan, y, measure)) };
}

/** @param {Frame[]} frames */
const cellsOf = (frames) => frames.flatMap((frame) => frame.lanes.flatMap((lane) => lane.cells));

/** One chip size for all lanes, the largest at which the longest lane takes no more lines than it must.
 * @param {StageRecord} record @param {number} room @param {boolean} wide @param {Measure} measure
 * @param {number} largest */
function fitChips(record, room, wide, measure, largest) {
  const words = new Set(cellsOf(inFull(record).frames).map((cell) => cell.text));
  const count = Math.max(1, ...record.frames.flatMap((frame) => frame.lanes.map((lane) => lane.cells.length)));
  const widest = Math.max(18, ...Array.from(words, (word) => measure(word, font(10, 500))));
  const most = wide ? (count <= 14 ? 14 : 17) : Math.max(4, Math.floor(room / 62));
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
  const smallest = fits[fits.length - 1];
  const fewest = Math.max(Math.ceil(count / most), smallest.lines);
  return fits.find((fit) => fit.lines <= fewest) ?? smallest;
}

/** @param {StageRecord} record @param {Plan} plan @param {number} top */
function planLanes(record, plan, top) {
  const looked = record.frames.some((frame) => frame.matrices.length);
  let y = top;
  for (const name of LANES) {
    const lanes = record.frames.flatMap((frame) => laneOf(frame, name) ?? []);
    if (!lanes.length) continue;
    const slot = slotOf(record, plan, name, lanes, y);
    slot.room = looked && ["inputs", "teacher", "decoder"].includes(name) ? (slot.lines === 1 ? 8 : 2) : 0;
    plan.lanes[name] = slot;
    y += slot.height + slot.room + (plan.wide ? (plan.chips.size > 11 ? 12 : 6) : 16);
  }
  return y;
}

/** A lane that begins at y, with room for what hangs on its chips in any frame.
 * @param {StageRecord} record @param {Plan} plan @param {string} name @param {Lane[]} lanes @param {number} y
 * @returns {Slot} */
function slotOf(record, plan, name, lanes, y) {
  const { chips } = plan;
  const cells = inFull(record).frames.flatMap((frame) => laneOf(frame, name)?.cells ?? []);
  const lines = Math.max(1, Math.ceil(Math.max(...lanes.map((lane) => lane.cells.length)) / chips.columns));
  const numbered = name === "original" && chips.size >= 12;
  const raised = rises(name) && cells.some((cell) => cell.chosen) ? 6 : 0;
  const above = numbered ? 19 : cells.some((cell) => cell.badge) ? 9 : raised;
  const replaced = lines <= 4 && cells.some((cell) => cell.was) ? Math.round(chips.size * 0.95) : 0;
  const was = isAnswers(name) && costs(record) ? 17 : replaced;
  const below = was + STRIP * Math.max(...lanes.map((lane) => lane.ids.length));
  const gap = lines > 1 ? chips.gap : 0;
  const pitch = above + chips.h + below + gap;
  const heading = plan.wide ? 0 : 19;
  const height = heading + pitch * lines - gap;
  const title = lanes[0].title || name;
  return { title, y, top: y + heading, above, was, below, pitch, lines, height, numbered, room: 0 };
}

/** Matrices with one cell size: side by side, four also in pairs, or one below the other. Within a height it is the way
 * with the largest cells, else the first with cells that are large enough.
 * @param {StageRecord} record @param {Plan} plan @param {number} y @param {Measure} measure */
function planMatrices(record, plan, y, measure, reserved = 0) {
  const bare = matrixShapes(record);
  if (!bare.length) return y;
  const room = plan.width - 2 * plan.pad;
  const longest = (/** @type {string[]} */ words) =>
    Math.min(LABEL, Math.max(8, ...words.map((word) => measure(word, font(12.5, 600)) + 1)));
  const labels = matrixShapes(inFull(record)).map(({ rows, columns }) => [longest(rows), longest(columns)]);
  const most = Math.max(...bare.map((shape) => Math.max(shape.n, shape.m)));
  const deepest = Math.max(...bare.map((shape) => shape.n));
  const leaning = 37 + 0.6 * Math.max(...labels.map(([, column]) => column)); // a title and words that lean
  const capOf = (/** @type {number} */ rows) => Math.min(
    30, (most > 26 ? 500 : 420) / most, Math.max(10, (plan.room - y + 10 - rows * (leaning + 22)) / (rows * deepest))
  );
  const cap = capOf(1);
  const shrunk = clamp(cap * 0.82, 8.5, 12.5) / 12.5;
  const shapes = bare.map((shape, i) => ({
    ...shape, labelRow: labels[i][0] * shrunk, labelColumn: labels[i][1] * shrunk,
  }));
  const gap = plan.wide ? 30 : 18;
  const rowsOf = (/** @type {number} */ across) =>
    range(Math.ceil(shapes.length / across)).map((k) => shapes.slice(k * across, (k + 1) * across));
  const fit = (/** @type {boolean} */ labelled, /** @type {number} */ room) => {
    const ways = [shapes.length, ...(shapes.length > 3 ? [2] : []), 1].map((across) => {
      const margins = shapes.map(
        (shape, i) => Math.max(i % across ? 0 : plan.gutter, labelled ? shape.labelRow + 26 : 34)
      );
      const cells = rowsOf(across).map((row, k) => {
        const taken = row.map((shape, i) => margins[k * across + i] + (labelled ? shape.labelColumn * 0.5 : 0));
        return (room - sum(taken) - gap * (row.length - 1)) / sum(row.map((shape) => shape.m));
      });
      return { across, margins, cell: Math.min(capOf(cells.length), ...cells) };
    });
    if (plan.room < Infinity) return ways.reduce((best, way) => (way.cell > best.cell ? way : best));
    return ways.find(({ cell }) => cell >= Math.min(13, cap)) || ways[ways.length - 1];
  };
  const labelled = fit(true, room).cell >= 9.5;
  const narrowed = reserved ? fit(labelled, room - reserved) : null;
  const enough = Math.min(plan.room < Infinity ? 9.5 : 13, cap);
  const { across, margins, cell: fitted } = narrowed && narrowed.across === shapes.length && narrowed.cell >= enough
    ? narrowed : fit(labelled, room);
  const cell = fitted >= 6 ? Math.floor(fitted * 2) / 2 : fitted;
  const size = clamp(cell * 0.82, 8.5, 12.5);
  const slanted = (/** @type {number} */ label) => (cell >= 14 ? label * 0.71 + 13 : label + 6);
  let bottom = y;
  rowsOf(across).forEach((row, k) => {
    const top = k ? bottom + 22 : y;
    const level = !labelled || row.every((shape) => shape.labelColumn <= cell - 5);
    const angle = level ? 0 : cell >= 14 ? -Math.PI / 4 : -Math.PI / 2;
    const head = 24 + Math.max(...row.map(({ labelColumn }) => (level ? 14 : slanted(labelColumn))));
    let left = plan.pad;
    row.forEach((shape, i) => {
      const margin = margins[k * across + i];
      const [x, y] = [Math.round(left + margin), Math.round(top + head)];
      const right = x + shape.m * cell;
      plan.boxes[shape.name] = { ...shape, x, y, cell, top, left, right, margin, labelled, angle, size };
      bottom = Math.max(bottom, y + shape.n * cell);
      left = right + gap + (labelled && angle > -1 ? shape.labelColumn * 0.5 : 0);
    });
    plan.beside = across < shapes.length ? null : { x: left + 6, y: top + head };
  });
  return bottom + 12;
}

/** @type {{ [state: string]: (cell: Cell) => boolean }} */
const ASKS = { chosen: (cell) => cell.chosen, scored: (cell) => cell.scored };

/** What occurs and is explained: states of tokens, states of cells, and the area of a weight.
 * @param {Cell[]} cells @param {Matrix[]} matrices */
export function legendOf(cells, matrices, leaks = false) {
  const answers = matrices.some((matrix) => matrix.scored.some(Boolean));
  const isState = (/** @type {string} */ state) => ASKS[state] || ((cell) => cell.state === state);
  const occurs = (/** @type {string} */ state) => cells.some(isState(state)) || (state === "scored" && answers);
  const states = Object.entries(tokens.tokens).filter(([state]) => occurs(state));
  const hidden = states.some(([state]) => state === "padding"); // which the tokens explain
  const codes = [CELL.visible, CELL.self, CELL.blocked, CELL.padding, CELL.leaked]
    .filter((code) => matrices.some((matrix) => matrix.cells.includes(code)) || (code === CELL.leaked && leaks))
    .filter((code) => code !== CELL.padding || !hidden);
  /** @type {LegendMark[]} */
  const marks = states.map(([state, text]) => ({ kind: "token", state, text }));
  for (const code of codes) marks.push({ kind: "cell", code, text: tokens.cells[code] });
  const weighed = matrices.some((matrix) => matrix.heads);
  if (weighed) marks.push({ kind: "weight", code: CELL.visible, text: "attention weight, by area" });
  return marks;
}

/** Puts the legend into a plan: beside a lone matrix as a list, else as a row below everything; answers where it ends.
 * @param {LegendMark[]} marks @param {Pick<Plan, "legend" | "pad" | "width" | "beside" | "answers">} plan
 * @param {number} y @param {Measure} measure */
export function planLegend(marks, plan, y, measure) {
  const { beside, answers, pad, width } = plan;
  const column = beside && !(answers && answers.x > beside.x) && width - pad - beside.x >= 210 ? beside : null;
  let { x, y: at } = column ? { x: column.x, y: column.y + 4 } : { x: pad, y };
  for (const mark of marks) {
    const room = 30 + measure(mark.text, font(12)) + 20;
    if (!column && x > pad && x + room - 20 > width - pad) {
      x = pad;
      at += LEGEND;
    }
    plan.legend.push({ ...mark, x, y: at });
    if (column) at += 26;
    else x += room;
  }
  return Math.max(y, marks.length ? at + (column ? 0 : 22) : y);
}
