/** Sheets over the lower half of the picture: all frames as a storyboard, the matrices as tables, the keys. */

import { node } from "../dom.js";
import { makePlan } from "../paint/layout.js";
import { patterns } from "../paint/matrices.js";
import { canvasOf } from "../paint/pen.js";
import { isOpen, percent, range, speak, weightAt } from "../record.js";
import { button, isForeign, labelButton } from "./controls.js";
import { KEY_LIST, keyList } from "./key_list.js";

const WIDTH = 640; // px of a frame before it is made small
const SCALE = (2 * 220) / WIDTH;

export class Sheets {
  shown = ""; // what the table shows

  constructor(/** @type {Kit} */ kit) {
    this.kit = kit;
    const region = { tabindex: "0", role: "region", "aria-label": "Matrix as a table" };
    this.sheets = {
      keys: node("div", { class: "stage-keys" }, ...keyList(KEY_LIST)),
      story: node("div", { class: "stage-story", role: "group", "aria-label": "Storyboard" }),
      table: node("div", { class: "stage-table", ...region }),
    };
    const turn = (/** @type {string} */ name) => () => kit.turn(name);
    const marks = { "data-control": "keys", "aria-label": "Keys" };
    this.buttons = {
      story: labelButton("story", "Storyboard", "All frames as a sheet (B)", turn("story")),
      table: labelButton("table", "Table", "The matrix as a table (T)", turn("table")),
      keys: button("?", "Keys (?)", turn("keys"), marks),
    };
    kit.parts.below.append(...Object.values(this.sheets));
  }

  adopt() {
    this.renew();
  }

  renew() {
    const { sheet } = this.kit;
    for (const [name, made] of Object.entries(this.sheets)) {
      made.hidden = sheet !== name;
      this.buttons[/** @type {keyof Sheets["buttons"]} */ (name)].setAttribute("aria-pressed", String(sheet === name));
    }
    if (sheet === "table") this.fillTable();
    if (sheet === "story") this.fillStory();
    this.follow();
  }

  follow() {
    const { kit } = this;
    const { now, sheet } = kit;
    for (const each of sheet === "story" ? this.sheets.story.children : []) {
      each.setAttribute("aria-current", String(Number(each.dataset.frame) === kit.nearest()));
    }
    const current = [kit.nearest(), now.layer, now.head, kit.frame().numbers?.step].join();
    if (sheet === "table" && this.shown !== current) this.fillTable();
    this.shown = current;
  }

  key(/** @type {KeyboardEvent} */ event) {
    const { kit } = this;
    const foreign = isForeign(event);
    const name = event.key === "Escape" ? kit.sheet : !foreign && SHEET_KEYS[event.key.toLowerCase()];
    if (name) kit.turn(name);
    return Boolean(name);
  }

  fillStory() {
    const { kit } = this;
    const plan = makePlan(kit.record, WIDTH, kit.measure);
    const view = { reader: null, sort: kit.now.sorted ? 1 : 0, layer: kit.now.layer, head: kit.now.head };
    this.sheets.story.replaceChildren(...kit.record.frames.map((frame, k) => {
      const { canvas, pen } = canvasOf(WIDTH, plan.height, SCALE, node("canvas", { "aria-hidden": "true" }));
      kit.drawWith(
        pen, { plan, theme: kit.theme, ratio: SCALE, patterns: patterns(pen, kit.theme, SCALE) }, k, 0, view
      );
      const label = `${k + 1}. ${frame.title}: ${frame.caption || ""}`;
      const marks = { "data-frame": String(k), "aria-label": label };
      const made = button(canvas, frame.caption || frame.title, () => kit.jump(k), marks);
      made.append(node("span", {}, `${k + 1}. ${frame.title}`));
      return made;
    }));
  }

  fillTable() {
    const frame = this.kit.frame();
    const made = frame.matrices.map((matrix) => tableOf(matrix, frame.numbers ? this.kit.now : null));
    this.sheets.table.replaceChildren(
      ...(made.length ? made : ["This frame has no matrix yet; step to 'Attention mask'."])
    );
  }
}

/** @type {{ [key: string]: string }} */
const SHEET_KEYS = { b: "story", t: "table", "?": "keys" };

/**
 * A matrix as a table: where a query may attend to a key, and with an eye on weights how much of its attention it
 * gives.
 */
function tableOf(/** @type {Matrix} */ matrix, /** @type {Eye | null} */ eye) {
  const { n, m, rows, columns } = matrix;
  const cellOf = (/** @type {number} */ i, /** @type {number} */ j) => {
    if (!isOpen(matrix, i * m + j)) return node("td", { class: "" }, "no");
    const weight = eye ? weightAt(matrix, i, j, eye) : null;
    return node("td", { class: "open" }, weight === null ? "yes" : percent(weight));
  };
  const head = node("tr", {}, ...["reader", ...columns].map((word) => node("th", { scope: "col" }, word)));
  const body = range(n).map((i) => {
    const name = node("th", { scope: "row", title: speak(matrix, i) }, rows[i] ?? String(i + 1));
    return node("tr", {}, name, ...range(m).map((j) => cellOf(i, j)));
  });
  const caption = node("caption", {}, captionOf(matrix, Boolean(eye && matrix.heads)));
  return node("table", {}, caption, node("thead", {}, head), node("tbody", {}, ...body));
}

function captionOf(/** @type {Matrix} */ matrix, /** @type {boolean} */ weighed) {
  const { n, m, title, whole, top = 0, left = 0 } = matrix;
  const count = range(n * m).filter((at) => isOpen(matrix, at)).length;
  const queries = whole ? `queries ${top + 1} to ${top + n} of ${whole.n}, ` : "";
  const keys = whole ? `keys ${left + 1} to ${left + m} of ${whole.m}; ` : "";
  const ends = [0, n - 1].map((i) => (n ? speak(matrix, i) : "")).join("; ");
  const what = weighed ? "; how much of its attention each query position gives" : "";
  const allowed = `${n} query positions, ${m} key positions, ${count} of ${n * m} entries allowed${what}`;
  return `${title}: ${queries}${keys}${allowed}. ${ends}.`;
}
