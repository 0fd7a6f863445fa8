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
import { makePlayer } from "../interact/player.js";
import { patterns } from "../paint/matrices.js";
import { canvasOf, measuring, screenRatio } from "../paint/pen.js";
import { paintTable, planTable, readTable, spokenRow, wordsOf } from "../paint/table.js";
import { dressed } from "../paint/theme.js";
import { clamp } from "../record.js";
import { mountOne } from "./stage.js";

export function mountTable(el, raw, options = {}) {
  const now = {}; // the entrance, from 0 to 1
  const player = makePlayer(now, { last: () => 1, pace: () => 1100, draw });
  const calm = player.calm;
  const hovered = { row: -1, at: 1 }; // the row under the pointer, which plays its story
  const story = makePlayer(hovered, { last: () => 1, pace: () => 1500, draw });
  const region = (name, label, more = {}) => node("div", { class: name, role: "region", "aria-label": label, ...more });
  const [title, about, tools] = [node("h2"), node("p"), node("span")];
  const canvas = node("canvas", { role: "img" });
  const picture = node("div", { class: "wall-picture" }, canvas);
  const opened = region("wall-open", "Stage of the chosen row", { hidden: "" });
  const words = region("wall-words", "The table in words", { tabindex: "0" });
  const details = node("details", {}, node("summary", {}, "The same in words"), words);
  const root = node("section", { class: "wall", "aria-label": "The survey's table" }, node("style", {}, hostStyle, surveyTableStyle), node("div", { class: "wall-head" }, title, about, tools), picture, opened, details);
  el.replaceChildren(root);
  const ctx = canvas.getContext("2d");
  const measure = measuring(ctx);
  let [data, plan, theme, art, stage] = [readTable(raw), null, null, null, null];
  const rows = () => [...picture.querySelectorAll("button")];
  const roomy = () => Math.max(300, Math.min(3840, picture.clientWidth || plan?.width || el.clientWidth || 900));

  function relayout() {
    const width = roomy();
    const ratio = screenRatio(width > 2000 ? 1.5 : 3);
    plan = planTable(data, width, measure);
    canvasOf(width, plan.height, ratio, canvas);
    canvas.style.height = `${plan.height}px`;
    art = { plan, theme, ratio, patterns: patterns(ctx, theme, ratio) };
    place();
  }

  function draw() {
    ctx.setTransform(art.ratio, 0, 0, art.ratio, 0, 0);
    ctx.clearRect(0, 0, plan.width, plan.height);
    paintTable(ctx, art, now.at, hovered);
  }

  /** One button over each row, so that rows are reached and pressed like any other. */
  function place() {
    const known = rows();
    plan.rows.forEach(({ row, top, bottom }, i) => {
      const over = known[i] || picture.appendChild(node("button", { type: "button" }));
      over.setAttribute("aria-label", spokenRow(row));
      over.dataset.name = row.name;
      Object.assign(over.style, { top: `${top + 1}px`, height: `${bottom - top - 1}px` });
      over.onclick = () => open(row.name);
      over.onpointerenter = () => play(i);
    });
    for (const spare of known.slice(plan.rows.length)) spare.remove();
  }

  /** Plays a row as its stage will: what is given, what is to be predicted, and the mask row by row. */
  function play(row) {
    if (calm.matches || now.at < 1) return;
    hovered.row = row;
    story.jump(0);
    story.go(1);
  }

  function adopt() {
    title.textContent = data.title;
    about.textContent = data.subtitle;
    canvas.setAttribute("aria-label", `${data.title}: ${data.rows.length} objectives on '${data.text || ""}'`);
    const cells = (row) => [wordsOf(row.inputs), wordsOf(row.targets), `${row.signal.scored} for ${row.signal.tokens}`].map((text) => node("td", {}, text));
    const head = node("tr", {}, ...["Objective", "Given", "To predict", "Answers for tokens"].map((text) => node("th", { scope: "col" }, text)));
    const body = data.rows.map((row) => node("tr", {}, node("th", { scope: "row" }, row.name), ...(row.reason ? [node("td", { colspan: "3" }, row.reason)] : cells(row))));
    words.replaceChildren(node("table", {}, node("thead", {}, head), node("tbody", {}, ...body)));
  }

  function open(name) {
    if (options.onOpen) return options.onOpen(name);
    clear();
    const record = (data.stages || {})[name];
    if (!record) return mark("");
    opened.append(button("Close", "Close the stage (Escape)", leave, { "aria-label": "Close the stage (Escape)" }));
    stage = mountOne(opened.appendChild(node("div")), record, { playing: !calm.matches });
    opened.hidden = false;
    opened.querySelector("section.stage").focus({ preventScroll: true });
    opened.scrollIntoView({ block: "nearest", behavior: calm.matches ? "auto" : "smooth" });
    mark(name);
  }

  function clear() {
    stage?.destroy();
    stage = null;
    opened.replaceChildren();
    opened.hidden = true;
  }

  function close() {
    clear();
    mark("");
  }

  /** Back from the stage to the row that it belongs to. */
  function leave() {
    const row = picture.querySelector("[aria-expanded='true']");
    close();
    row?.focus();
  }

  /** Notes which row is unfolded, by its name. */
  function mark(name) {
    options.onUnfold?.(name);
    for (const each of data.stages ? rows() : []) each.setAttribute("aria-expanded", String(each.dataset.name === name));
  }

  function key(event) {
    const at = rows().indexOf(event.target);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows().length - 1 }[event.key];
    if (event.key === "Escape" && stage && !stage.state().reader) leave();
    else if (at >= 0 && next !== undefined) rows()[clamp(next, 0, rows().length - 1)].focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  const named = (ending) => `survey-table-${fileName(data.text || "").slice(0, 50)}.${ending}`;
  const paintWith = (pen, extra) => paintTable(pen, { ...art, ...extra });
  const svgText = () => svgOf(plan, theme, measure, `${data.title}: ${data.text || ""}`, paintWith);
  const png = () => savePng(root, plan, theme, Math.max(2, art.ratio), named("png"), paintWith);

  function csv() {
    const cells = data.rows.filter((row) => !row.reason).map((row) => [row.name, wordsOf(row.inputs), wordsOf(row.targets), row.signal.scored, row.signal.tokens]);
    return csvText([["objective", "inputs", "targets", "answers", "tokens"], ...cells]);
  }

  const tool = (text, label, act) => button(text, label, act, { "aria-label": label });
  tools.append(
    tool("PNG", "Save the table as a picture (PNG)", png), " ",
    tool("SVG", "Save the table as SVG (selectable text)", () => download(root, svgText(), named("svg"), "image/svg+xml")), " ",
    tool("CSV", "Save the table as values (CSV)", () => download(root, csv(), named("csv"), "text/csv")),
  );

  function renew(fresh = true) {
    const old = theme?.key;
    theme = dressed(root);
    if (!fresh && theme.key === old && roomy() === plan.width) return;
    relayout();
    player.redraw();
  }

  const look = () => renew(false);
  const resized = new ResizeObserver(look);
  resized.observe(picture);
  const end = endOf(player.destroy, story.destroy, watchTheme(look), listen([[root, "keydown", key]], { capture: true })); // before the stage, which keeps its keys to itself
  adopt();
  renew();
  player.begin({ frame: Number(calm.matches) });
  player.go(1);
  const handle = {
    update(fresh) {
      data = readTable(fresh);
      close();
      adopt();
      renew();
    },
    svg: svgText,
    csv,
    open,
    state: () => ({ rows: data.rows.map((row) => ({ name: row.name, inputs: wordsOf(row.inputs), targets: wordsOf(row.targets), reason: row.reason || "" })), width: plan.width, height: plan.height, dark: theme.dark, opened: stage ? stage.state() : null }),
    destroy() {
      stage?.destroy();
      resized.disconnect();
      end();
      root.remove();
      delete el.__table;
    },
  };
  el.__table = handle;
  return handle;
}

/** Once the host has put the stage in the place of the table, the keyboard goes on there; it may not be seen at once. */
function focusStage(el, patience = 500) {
  const stage = el.isConnected && el.getClientRects().length === 0 && [...everywhere(document)].find((element) => element.matches("section.stage"));
  if (stage) stage.focus({ preventScroll: true });
  if (!(stage && stage.matches(":focus")) && patience) setTimeout(() => focusStage(el, patience - 1), 60);
}

export function renderTable({ model, el }) {
  let count = 0;
  const onOpen = (name) => {
    tell(model, "opened", { name, number: (count += 1) });
    focusStage(el);
  };
  const unfolds = model.get("table").stages; // in a notebook, where `value` is the name of the unfolded row
  let unfolded = "";
  const onUnfold = (name) => (unfolded = name) === model.get("value") || tell(model, "value", name);
  const handle = mountTable(el, model.get("table"), unfolds ? { onUnfold } : { onOpen });
  const unfold = () => model.get("value") === unfolded || handle.open(model.get("value"));
  const ends = [follow(model, ["table"], () => handle.update(model.get("table"))), follow(model, unfolds ? ["value"] : [], unfold)];
  return endOf(...ends, handle.destroy);
}
