/** The reader: the row of a matrix that a person points at, has clicked, or walks to by key, and what it reads. */

import { speakGuess } from "../paint/answers.js";
import { streamSpots } from "../paint/chips.js";
import { entire } from "../paint/long_text.js";
import { answering } from "../paint/paint.js";
import {
  READER_LANE, clamp, isAnswers, laneOf, leakSteps, matrixOf, runsThrough, speak, speakIds, speakWeights,
} from "../record.js";

/** Matrices whose rows a chip of a lane may stand for; of those that are drawn the first. */
const ROWS_OF = { original: ["content", "encoder"], inputs: ["content", "encoder"], decoder: ["decoder", "cross"] };

/** `drawn()` are the chips of the picture. What is found is kept in `kit.now` as `hover` and `lock`. */
export function readerOf(kit, drawn) {
  const { now, canvas } = kit;
  const reader = () => now.hover || now.lock;

  function hold(lock) {
    Object.assign(now, { hover: null, lock });
    kit.wake();
  }

  /** What is at a place, as a reader: a matrix row (with its column) or a chip that stands for a row. */
  function readerAt(x, y) {
    const frame = kit.record().frames[Math.floor(now.at)];
    for (const matrix of frame.matrices) {
      const box = kit.plan().boxes[matrix.name];
      const slot = Math.floor((y - box.y) / box.cell);
      const column = Math.floor((x - box.x) / box.cell);
      if (slot < 0 || slot >= matrix.n || x < box.left || column >= matrix.m) continue;
      const unsort = (place, length) => (now.sorted && matrix.order && matrix.order.length === length ? matrix.order[place] : place);
      return { matrix: matrix.name, row: unsort(slot, matrix.n), column: column >= 0 ? unsort(column, matrix.m) : -1 };
    }
    const chip = drawn().find(({ box }) => x >= box.x && x <= box.x + box.w && y >= box.y && y <= box.y + box.h);
    return chip ? readerOfChip(frame, chip.to || chip.from) : null;
  }

  function readerOfChip(frame, spot) {
    const names = ROWS_OF[spot.lane] || (laneOf(frame, "decoder") ? ROWS_OF.decoder : ["query", ...ROWS_OF.inputs]);
    const matrix = names.map((name) => matrixOf(frame, name)).find(Boolean);
    if (!matrix) return null;
    const spots = isAnswers(spot.lane) ? null : streamSpots(frame, READER_LANE[matrix.name]);
    const row = spots ? spots.findIndex((other) => other.cell.key === spot.cell.key) : spot.i;
    return row >= 0 && row < matrix.n ? { matrix: matrix.name, row, column: -1 } : null;
  }

  function pointAt(event) {
    const frame = canvas.getBoundingClientRect();
    const scale = kit.plan().width / frame.width;
    return readerAt((event.clientX - frame.left) * scale, (event.clientY - frame.top) * scale);
  }

  function hover(event) {
    const found = event.type === "pointerleave" ? null : pointAt(event);
    if (JSON.stringify(found) === JSON.stringify(now.hover)) return;
    for (const plug of kit.plugs) plug.hover?.(found);
    now.hover = found;
    canvas.style.cursor = found ? "pointer" : "default";
    kit.wake();
  }

  function lock(event) {
    if (kit.painting) return;
    const found = pointAt(event);
    const again = found && now.lock && found.matrix === now.lock.matrix && found.row === now.lock.row;
    if (again) now.hover = null;
    now.lock = again ? null : found;
    kit.wake();
  }

  /** Holds the reader at the end of a leak, so that the way of its answer stands out; again lets it go. */
  function leak() {
    const record = kit.record;
    if (!leakSteps(record()).length) return;
    if (!kit.frame().matrices.length) kit.jump(kit.last());
    const { reader: far } = leakSteps(kit.whole()).at(-1);
    const { stretch } = record();
    const full = stretch && kit.frame().matrices.map(entire).find((each) => runsThrough(leakSteps(kit.whole()).at(-1), each));
    if (full && full.n > stretch.size) kit.stretch(Math.round((far.position / full.n) * stretch.length - stretch.size / 2));
    const end = leakSteps(record()).at(-1);
    const matrix = kit.frame().matrices.find((each) => runsThrough(end, each));
    const held = now.lock && matrix && now.lock.matrix === matrix.name && now.lock.row === end.reader.position;
    hold(held || !matrix ? null : { matrix: matrix.name, row: end.reader.position, column: end.read.position });
  }

  /** Up and down walk through the rows as they are drawn, so also in sorted order. */
  function walk(step) {
    const held = reader();
    const matrix = (held && matrixOf(kit.frame(), held.matrix)) || answering(kit.frame());
    if (!matrix) return;
    const ordered = now.sorted && matrix.slots && matrix.slots.length === matrix.n;
    const slot = held ? (ordered ? matrix.slots[held.row] : held.row) + step : step > 0 ? 0 : matrix.n - 1;
    if (matrix.whole && !ordered && (slot < 0 || slot >= matrix.n)) {
      const { from } = now;
      kit.stretch(from + step); // the row after the last one in sight
      if (now.from !== from && now.lock) return walk(step);
    }
    const place = clamp(slot, 0, matrix.n - 1);
    hold({ matrix: matrix.name, row: ordered ? matrix.order[place] : place, column: -1 });
  }

  /** What a reader attends to, and guesses, in words. */
  function describe(frame, who) {
    const own = who && matrixOf(frame, who.matrix);
    if (!own || who.row >= own.n) return "";
    const together = READER_LANE[own.name] === "decoder" ? frame.matrices.filter((matrix) => READER_LANE[matrix.name] === "decoder") : [own];
    const clauses = together.filter((matrix) => who.row < matrix.n).map((matrix) => (together.length > 1 ? `${matrix.title}: ` : "") + speak(matrix, who.row) + speakWeights(matrix, who.row, now));
    return `${clauses.join("; ")}.${speakIds(laneOf(frame, READER_LANE[own.name]), who.row)}${speakGuess(frame, who)}`;
  }

  return { reader, hold, pointAt, hover, lock, leak, walk, describe };
}
