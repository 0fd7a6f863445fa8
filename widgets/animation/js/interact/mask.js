/** The attention mask under a person's hands: cells are painted with the pointer or, by the arrow keys, one by one. */

import { CELL_STEPS } from "../dom.js";
import { clamp, isOpen, matrixOf, shownFrom } from "../record.js";
import { draggable } from "./controls.js";
import { SHOWS } from "./plan.js";

/** @returns {Sketch} */
const sketchOf = (/** @type {Matrix} */ matrix, /** @type {number} */ at) => {
  const open = !isOpen(matrix, at);
  return { matrix: matrix.name, open, cells: new Map([[at, open]]), m: matrix.m };
};

export class MaskBrush {
  /** @type {{ matrix: string, row: number, column: number } | null} */
  cursor = null;

  /**
   * @param {Kit} kit @param {import("./plan.js").EditablePlan} plan
   * @param {() => void} onTurn is called once painting has begun or ended
   * @param {(words: string) => void} say
   */
  constructor(kit, plan, onTurn, say) {
    this.kit = kit;
    this.plan = plan;
    this.onTurn = onTurn;
    this.say = say;
    draggable(kit.canvas, {
      start: (event) => this.start(event),
      move: (sketch, event) => this.drag(sketch, event),
      end: (sketch, _, cancelled) => this.drop(sketch, cancelled),
    });
  }

  turn(/** @type {boolean} */ on) {
    const { kit } = this;
    kit.painting = on && kit.live;
    kit.root.classList.toggle("paints", kit.painting);
    this.cursor = null;
    if (kit.painting && !kit.frame().matrices.length) kit.jump(shownFrom(this.plan.record, SHOWS.paint));
    this.onTurn();
    kit.wake();
  }

  cellAt(/** @type {MouseEvent} */ event) {
    const found = this.kit.pointAt(event);
    const matrix = found && matrixOf(this.kit.frame(), found.matrix);
    const { row = 0, column = -1 } = found || {};
    return matrix && column >= 0 && column < matrix.m ? { matrix, at: row * matrix.m + column } : null;
  }

  start(/** @type {MouseEvent} */ event) {
    const cell = this.kit.painting && this.cellAt(event);
    if (!cell || cell.matrix.every) return null; // what holds above the first layer follows from it
    this.kit.sketch = sketchOf(cell.matrix, cell.at);
    this.kit.wake();
    return this.kit.sketch;
  }

  drag(/** @type {Sketch} */ sketch, /** @type {MouseEvent} */ event) {
    const cell = this.cellAt(event);
    if (cell && cell.matrix.name === sketch.matrix) sketch.cells.set(cell.at, sketch.open);
    this.kit.wake();
  }

  drop(/** @type {Sketch} */ sketch, /** @type {boolean} */ cancelled) {
    if (!cancelled) return this.send(sketch);
    this.kit.sketch = null;
    this.kit.wake();
  }

  /** Sends the cells of a sketch, whose numbers are those of the window over a long text. */
  send(/** @type {Sketch} */ { matrix, cells, m }) {
    const { top = 0, left = 0 } = matrixOf(this.kit.frame(), matrix) || {};
    /** @type {[number, number, boolean][]} */
    const painted = [...cells].map(([at, open]) => [Math.floor(at / m) + top, (at % m) + left, open]);
    this.plan.send({ do: "paint", matrix, cells: painted }, "paint");
  }

  /** Without a pointer: the arrows walk over cells, Enter or X turns one over. Says whether the key was heard. */
  key(/** @type {string} */ key) {
    const { kit } = this;
    const matrix = (this.cursor && matrixOf(kit.frame(), this.cursor.matrix)) || kit.frame().matrices[0];
    if (!matrix) return false;
    const cursor = { ...(this.cursor || { matrix: matrix.name, row: 0, column: 0 }) };
    const { row, column } = cursor;
    const step = CELL_STEPS[key];
    if (step) {
      cursor.row = clamp(row + step[0], 0, matrix.n - 1);
      cursor.column = clamp(column + step[1], 0, matrix.m - 1);
    } else if (key === "Enter" || key === "x") {
      kit.sketch = sketchOf(matrix, row * matrix.m + column);
      this.send(kit.sketch);
    } else return false;
    this.cursor = cursor;
    Object.assign(kit.now, { hover: null, lock: { ...cursor } });
    const state = isOpen(matrix, cursor.row * matrix.m + cursor.column) ? "open" : "closed";
    this.say(`${matrix.rows[cursor.row]} reads ${matrix.columns[cursor.column]}: ${state}. Enter switches it.`);
    kit.wake();
    return true;
  }
}
