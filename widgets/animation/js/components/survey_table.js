/**
 * The whole input/target table of the survey for one sentence, drawn with the stage's own chips and cells. A row
 * opens its stage: in the app the host hears of it, in a notebook or a saved page the stage unfolds below.
 */

import hostStyle from "../paint/host.css" with { type: "text" };
import surveyTableStyle from "./survey_table.css" with { type: "text" };
import { endOf, everywhere, follow, listen, node, tell } from "../dom.js";
import { csvText } from "../export/csv.js";
import { download, fileName } from "../export/files.js";
import { savePng, svgOf } from "../export/pictures.js";
import { button, watchTheme } from "../interact/controls.js";
import { setPlace } from "../interact/grip.js";
import { Player, clockAtRest } from "../interact/player.js";
import { patterns } from "../paint/matrices.js";
import { canvasOf, measuring, screenRatio } from "../paint/pen.js";
import { paintTable, planTable, readTable, spokenRow, wordsOf } from "../paint/table.js";
import { dressed } from "../paint/theme.js";
import { clamp } from "../record.js";
import { Stage } from "./stage.js";

const region = (/** @type {string} */ name, /** @type {string} */ label, more = {}) =>
  node("div", { class: name, role: "region", "aria-label": label, ...more });
const tool = (/** @type {string} */ text, /** @type {string} */ label, /** @type {() => void} */ act) =>
  button(text, label, act, { "aria-label": label });
const answersFor = (/** @type {Signal} */ { scored, tokens }) => `${scored} for ${tokens}`;

/** A table in `el`, which is also `el.__table`. A host hears of rows with onOpen(name) or onUnfold(name). */
class SurveyTable {
  now = clockAtRest(); // the entrance, from 0 to 1
  hovered = { ...clockAtRest(), row: -1, at: 1 }; // the row under the pointer, which plays its story
  /** @type {Stage | null} */
  stage = null; // of the row that is unfolded
  /** @type {any} */
  theme = null;
  /** @type {any} */
  plan = null;
  /** @type {any} */
  art = null;
  end = () => {};

  /** @param {Element} el @param {any} raw @param {TableOptions} options */
  constructor(el, raw, options = {}) {
    const draw = () => this.draw();
    this.el = el;
    this.options = options;
    /** @type {SurveyData} */
    this.data = readTable(raw);
    this.player = new Player(this.now, { last: () => 1, pace: () => 1100, draw });
    this.story = new Player(this.hovered, { last: () => 1, pace: () => 1500, draw });
    this.calm = this.player.calm;
    this.build();
    el.replaceChildren(this.root);
    this.pen = this.canvas.getContext("2d");
    this.measure = measuring(this.pen);
    this.adopt();
    this.renew();
    this.end = this.watch();
    this.player.begin({ frame: Number(this.calm.matches) });
    this.player.go(1);
    el.__table = this;
  }

  build() {
    this.title = node("h2");
    this.about = node("p");
    this.tools = node("span");
    this.canvas = node("canvas", { role: "img" });
    this.picture = node("div", { class: "wall-picture" }, this.canvas);
    this.opened = region("wall-open", "Stage of the chosen row", { hidden: "" });
    this.words = region("wall-words", "The table in words", { tabindex: "0" });
    const head = node("div", { class: "wall-head" }, this.title, this.about, this.tools);
    const details = node("details", {}, node("summary", {}, "The same in words"), this.words);
    const style = node("style", {}, hostStyle, surveyTableStyle);
    const label = "The survey's table";
    this.root = node(
      "section", { class: "wall", "aria-label": label }, style, head, this.picture, this.opened, details
    );
    const save = (/** @type {string} */ text, /** @type {string} */ ending, /** @type {string} */ type) =>
      download(this.root, text, this.fileName(ending), type);
    this.tools.append(
      tool("PNG", "Save the table as a picture (PNG)", () => this.savePng()), " ",
      tool("SVG", "Save the table as SVG (selectable text)", () => save(this.svg(), "svg", "image/svg+xml")), " ",
      tool("CSV", "Save the table as values (CSV)", () => save(this.csv(), "csv", "text/csv")),
    );
  }

  watch() {
    const look = () => this.renew(false);
    const resized = new ResizeObserver(look);
    resized.observe(this.picture);
    // before the stage, which keeps its keys to itself
    const heard = listen([[this.root, { keydown: (event) => this.key(event) }]], true);
    const players = [this.player, this.story].map((player) => () => player.destroy());
    return endOf(...players, watchTheme(look), heard, () => resized.disconnect());
  }

  // -- drawing

  /** @returns {HTMLButtonElement[]} */
  get rows() {
    return [...this.picture.querySelectorAll("button")];
  }

  get width() {
    return Math.max(300, Math.min(3840, this.picture.clientWidth || this.plan?.width || this.el.clientWidth || 900));
  }

  /** With `always`, also where neither the colours nor the width have changed. */
  renew(always = true) {
    const old = this.theme?.key;
    this.theme = dressed(this.root);
    if (!always && this.theme.key === old && this.width === this.plan.width) return;
    this.relayout();
    this.player.redraw();
  }

  relayout() {
    const { canvas, pen, theme, width } = this;
    const ratio = screenRatio(width > 2000 ? 1.5 : 3);
    const plan = planTable(this.data, width, this.measure);
    canvasOf(width, plan.height, ratio, canvas);
    canvas.style.height = `${plan.height}px`;
    this.plan = plan;
    this.art = { plan, theme, ratio, patterns: patterns(pen, theme, ratio) };
    this.place();
  }

  draw() {
    const { art, pen, plan } = this;
    pen.setTransform(art.ratio, 0, 0, art.ratio, 0, 0);
    pen.clearRect(0, 0, plan.width, plan.height);
    paintTable(pen, art, this.now.at, this.hovered);
  }

  /** One button over each row, so that rows are reached and pressed like any other. */
  place() {
    const known = this.rows;
    /** @type {{ row: SurveyRow, top: number, bottom: number }[]} */
    const drawn = this.plan.rows;
    drawn.forEach(({ row, top, bottom }, i) => {
      const over = known[i] || this.picture.appendChild(node("button", { type: "button" }));
      over.setAttribute("aria-label", spokenRow(row));
      over.dataset.name = row.name;
      setPlace(over, { top: top + 1, height: bottom - top - 1 });
      over.onclick = () => this.open(row.name);
      over.onpointerenter = () => this.play(i);
    });
    for (const spare of known.slice(drawn.length)) spare.remove();
  }

  /** Plays a row as its stage will: what is given, what is to be predicted, and the mask row by row. */
  play(/** @type {number} */ row) {
    if (this.calm.matches || this.now.at < 1) return;
    this.hovered.row = row;
    this.story.jump(0);
    this.story.go(1);
  }

  // -- the data

  adopt() {
    const { data } = this;
    this.title.textContent = data.title;
    this.about.textContent = data.subtitle;
    const label = `${data.title}: ${data.rows.length} objectives on '${data.text || ""}'`;
    this.canvas.setAttribute("aria-label", label);
    const heads = ["Objective", "Given", "To predict", "Answers for tokens"];
    const head = node("tr", {}, ...heads.map((text) => node("th", { scope: "col" }, text)));
    const cells = (/** @type {SurveyRow} */ { inputs, targets, signal }) =>
      [wordsOf(inputs), wordsOf(targets), answersFor(signal)];
    const body = data.rows.map((row) => {
      const reason = row.reason && [node("td", { colspan: "3" }, row.reason)];
      const inside = reason || cells(row).map((text) => node("td", {}, text));
      return node("tr", {}, node("th", { scope: "row" }, row.name), ...inside);
    });
    this.words.replaceChildren(node("table", {}, node("thead", {}, head), node("tbody", {}, ...body)));
  }

  update(/** @type {any} */ fresh) {
    this.data = readTable(fresh);
    this.clear();
    this.mark("");
    this.adopt();
    this.renew();
  }

  // -- the stage of a row

  open(/** @type {string} */ name) {
    const { calm, opened, options } = this;
    if (options.onOpen) return options.onOpen(name);
    this.clear();
    const record = (this.data.stages || {})[name];
    if (!record) return this.mark("");
    opened.append(tool("Close", "Close the stage (Escape)", () => this.leave()));
    this.stage = new Stage(opened.appendChild(node("div")), record, { playing: !calm.matches });
    opened.hidden = false;
    opened.querySelector("section.stage").focus({ preventScroll: true });
    opened.scrollIntoView({ block: "nearest", behavior: calm.matches ? "auto" : "smooth" });
    this.mark(name);
  }

  clear() {
    this.stage?.destroy();
    this.stage = null;
    this.opened.replaceChildren();
    this.opened.hidden = true;
  }

  /** Back from the stage to the row that it belongs to. */
  leave() {
    const row = this.picture.querySelector("[aria-expanded='true']");
    this.clear();
    this.mark("");
    row?.focus();
  }

  /** Notes which row is unfolded, by its name. */
  mark(/** @type {string} */ name) {
    this.options.onUnfold?.(name);
    const marked = this.data.stages ? this.rows : [];
    for (const each of marked) each.setAttribute("aria-expanded", String(each.dataset.name === name));
  }

  key(/** @type {On<KeyboardEvent>} */ event) {
    const { rows, stage } = this;
    const at = rows.findIndex((row) => row === event.target);
    const goals = new Map([["ArrowDown", at + 1], ["ArrowUp", at - 1], ["Home", 0], ["End", rows.length - 1]]);
    const next = goals.get(event.key);
    if (event.key === "Escape" && stage && !stage.state().reader) this.leave();
    else if (at >= 0 && next !== undefined) rows[clamp(next, 0, rows.length - 1)].focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // -- to take home

  fileName(/** @type {string} */ ending) {
    return `survey-table-${fileName(this.data.text || "").slice(0, 50)}.${ending}`;
  }

  /** @type {Paint} */
  paintWith = (pen, extra) => paintTable(pen, { ...this.art, ...extra });

  svg() {
    const title = `${this.data.title}: ${this.data.text || ""}`;
    return svgOf(this.plan, this.theme, this.measure, title, this.paintWith);
  }

  savePng() {
    const [ratio, name] = [Math.max(2, this.art.ratio), this.fileName("png")];
    savePng(this.root, this.plan, this.theme, ratio, name, this.paintWith);
  }

  csv() {
    const cells = this.data.rows.filter((row) => !row.reason).map(({ name, inputs, targets, signal }) =>
      [name, wordsOf(inputs), wordsOf(targets), signal.scored, signal.tokens]);
    return csvText([["objective", "inputs", "targets", "answers", "tokens"], ...cells]);
  }

  // -- for a host

  state() {
    const { data, plan, stage, theme } = this;
    const rows = data.rows.map(({ name, inputs, targets, reason }) =>
      ({ name, inputs: wordsOf(inputs), targets: wordsOf(targets), reason: reason || "" }));
    const { width, height } = plan;
    return { rows, width, height, dark: theme.dark, opened: stage ? stage.state() : null };
  }

  destroy() {
    this.stage?.destroy();
    this.end();
    this.root.remove();
    delete this.el.__table;
  }
}

/** @param {Element} el @param {any} raw @param {TableOptions} options */
export const mountTable = (el, raw, options = {}) => new SurveyTable(el, raw, options);

/**
 * Once the host has put the stage in the place of the table, the keyboard goes on there; it may not be seen at once.
 */
function focusStage(/** @type {Element} */ el, patience = 500) {
  const gone = el.isConnected && el.getClientRects().length === 0;
  const stage = gone && [...everywhere(document)].find((element) => element.matches("section.stage"));
  if (stage) stage.focus({ preventScroll: true });
  if (!(stage && stage.matches(":focus")) && patience) setTimeout(() => focusStage(el, patience - 1), 60);
}

export function renderTable(/** @type {Host} */ { model, el }) {
  let count = 0;
  const onOpen = (/** @type {string} */ name) => {
    tell(model, "opened", { name, number: (count += 1) });
    focusStage(el);
  };
  const unfolds = model.get("table").stages; // in a notebook, where `value` is the name of the unfolded row
  let unfolded = "";
  const onUnfold = (/** @type {string} */ name) =>
    (unfolded = name) === model.get("value") || tell(model, "value", name);
  const table = mountTable(el, model.get("table"), unfolds ? { onUnfold } : { onOpen });
  const unfold = () => model.get("value") === unfolded || table.open(model.get("value"));
  const renew = follow(model, ["table"], () => table.update(model.get("table")));
  return endOf(renew, follow(model, unfolds ? ["value"] : [], unfold), () => table.destroy());
}
