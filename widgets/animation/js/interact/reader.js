/** The reader: the row of a matrix that a person points at, has clicked, or walks to by key, and what it reads. */

import { speakGuess } from "../paint/answers.js";
import { streamSpots } from "../paint/chips.js";
import { entire } from "../paint/long_text.js";
import { answering } from "../paint/paint.js";
import {
  READER_LANE, clamp, isAnswers, laneOf, leakSteps, matrixOf, runsThrough, speak, speakIds, speakWeights,
} from "../record.js";

/** Matrices whose rows a chip of a lane may stand for; of those that are drawn the first. */
/** @type {{ [lane: string]: string[] }} */
const ROWS_OF = { original: ["content", "encoder"], inputs: ["content", "encoder"], decoder: ["decoder", "cross"] };

const sameRow = (/** @type {Reader | null} */ a, /** @type {Reader | null} */ b) =>
  Boolean(a && b && a.matrix === b.matrix && a.row === b.row);

/** What is found is kept in `kit.now` as `hover` and `lock`. */
export class Pointer {
  /** @param {Kit} kit @param {() => Flight[]} drawn the chips of the picture */
  constructor(kit, drawn) {
    this.kit = kit;
    this.drawn = drawn;
  }

  get reader() {
    return this.kit.now.hover || this.kit.now.lock;
  }

  hold(/** @type {Reader | null} */ lock) {
    Object.assign(this.kit.now, { hover: null, lock });
    this.kit.wake();
  }

  /** What is at a point of the picture, as a reader: a matrix row (with its column) or a chip that stands for a row. */
  readerAt(/** @type {number} */ x, /** @type {number} */ y) {
    const { kit } = this;
    const frame = kit.record.frames[Math.floor(kit.now.at)];
    for (const matrix of frame.matrices) {
      const found = this.rowAt(matrix, kit.plan.boxes[matrix.name], x, y);
      if (found) return found;
    }
    const chip = this.drawn().find(({ box }) => x >= box.x && x <= box.x + box.w && y >= box.y && y <= box.y + box.h);
    const spot = chip && (chip.to || chip.from);
    return spot ? readerOfChip(frame, spot) : null;
  }

  /** The row of a matrix at a point, or null; in the words left of the cells the column is -1. */
  rowAt(/** @type {Matrix} */ matrix, /** @type {MatrixBox} */ box, /** @type {number} */ x, /** @type {number} */ y) {
    const { sorted } = this.kit.now;
    const [slot, column] = [Math.floor((y - box.y) / box.cell), Math.floor((x - box.x) / box.cell)];
    if (slot < 0 || slot >= matrix.n || x < box.left || column >= matrix.m) return null;
    const unsort = (/** @type {number} */ place, /** @type {number} */ length) =>
      sorted && matrix.order && matrix.order.length === length ? matrix.order[place] : place;
    const read = column >= 0 ? unsort(column, matrix.m) : -1;
    return { matrix: matrix.name, row: unsort(slot, matrix.n), column: read };
  }

  pointAt(/** @type {MouseEvent} */ event) {
    const frame = this.kit.canvas.getBoundingClientRect();
    const scale = this.kit.plan.width / frame.width;
    return this.readerAt((event.clientX - frame.left) * scale, (event.clientY - frame.top) * scale);
  }

  hover(/** @type {MouseEvent} */ event) {
    const { kit } = this;
    const found = event.type === "pointerleave" ? null : this.pointAt(event);
    if (JSON.stringify(found) === JSON.stringify(kit.now.hover)) return;
    for (const plug of kit.plugs) plug.hover?.(found);
    kit.now.hover = found;
    kit.canvas.style.cursor = found ? "pointer" : "default";
    kit.wake();
  }

  /** A click holds a row; a second one lets it go. */
  lock(/** @type {MouseEvent} */ event) {
    const { kit } = this;
    if (kit.painting) return;
    const found = this.pointAt(event);
    const again = sameRow(found, kit.now.lock);
    if (again) kit.now.hover = null;
    kit.now.lock = again ? null : found;
    kit.wake();
  }

  /** Holds the reader at the end of a leak, so that the way of its answer stands out; again lets it go. */
  leak() {
    const { kit } = this;
    if (!leakSteps(kit.record).length) return;
    if (!kit.frame().matrices.length) kit.jump(kit.last());
    const whole = /** @type {LeakStep} */ (leakSteps(kit.whole).at(-1));
    const { stretch } = kit.record;
    const full = stretch && kit.frame().matrices.map(entire).find((each) => runsThrough(whole, each));
    if (full && full.n > stretch.size) {
      kit.stretch(Math.round((whole.reader.position / full.n) * stretch.length - stretch.size / 2));
    }
    const { reader, read } = /** @type {LeakStep} */ (leakSteps(kit.record).at(-1));
    const matrix = kit.frame().matrices.find((each) => runsThrough({ reader, read }, each));
    const end = matrix ? { matrix: matrix.name, row: reader.position, column: read.position } : null;
    this.hold(sameRow(kit.now.lock, end) ? null : end);
  }

  /** Up and down walk through the rows as they are drawn, so also in sorted order. */
  walk(/** @type {number} */ step) {
    const { kit, reader } = this;
    const { now } = kit;
    const matrix = (reader && matrixOf(kit.frame(), reader.matrix)) || answering(kit.frame());
    if (!matrix) return;
    const slots = now.sorted && matrix.slots?.length === matrix.n ? matrix.slots : null;
    const slot = slotOfReader(reader, slots) ?? (step > 0 ? -1 : matrix.n);
    this.walkTo(slot + step, step, matrix, slots);
  }

  /**
   * @param {number} slot @param {number} step @param {Matrix} matrix
   * @param {number[] | null} slots where the axes are sorted
   */
  walkTo(slot, step, matrix, slots) {
    const { kit, kit: { now } } = this;
    if (matrix.whole && !slots && (slot < 0 || slot >= matrix.n)) {
      const { from } = now;
      kit.stretch(from + step); // the row after the last one in sight
      if (now.from !== from && now.lock) return this.walk(step);
    }
    const place = clamp(slot, 0, matrix.n - 1);
    this.hold({ matrix: matrix.name, row: (slots && matrix.order?.[place]) ?? place, column: -1 });
  }

  /** What a reader attends to, and guesses, in words. */
  describe(/** @type {Frame} */ frame, /** @type {Reader | null} */ who) {
    const own = who && matrixOf(frame, who.matrix);
    if (!own || who.row >= own.n) return "";
    const decoder = frame.matrices.filter((matrix) => READER_LANE[matrix.name] === "decoder");
    const together = READER_LANE[own.name] === "decoder" ? decoder : [own];
    const clauses = together.filter((matrix) => who.row < matrix.n).map((matrix) => {
      const title = together.length > 1 ? `${matrix.title}: ` : "";
      return title + speak(matrix, who.row) + speakWeights(matrix, who.row, this.kit.now);
    });
    const ids = speakIds(laneOf(frame, READER_LANE[own.name]), who.row);
    return `${clauses.join("; ")}.${ids}${speakGuess(frame, who)}`;
  }
}

/** The slot in which the row of a reader is drawn. */
const slotOfReader = (/** @type {Reader | null} */ reader, /** @type {number[] | null} */ slots) =>
  reader ? slots?.[reader.row] ?? reader.row : undefined;

function readerOfChip(/** @type {Frame} */ frame, /** @type {Spot} */ spot) {
  const names = ROWS_OF[spot.lane] || (laneOf(frame, "decoder") ? ROWS_OF.decoder : ["query", ...ROWS_OF.inputs]);
  const matrix = names.map((name) => matrixOf(frame, name)).find(Boolean);
  if (!matrix) return null;
  const spots = isAnswers(spot.lane) ? null : streamSpots(frame, READER_LANE[matrix.name]);
  const row = spots ? spots.findIndex((other) => other.cell.key === spot.cell.key) : spot.i;
  return row >= 0 && row < matrix.n ? { matrix: matrix.name, row, column: -1 } : null;
}
