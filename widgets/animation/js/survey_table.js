/**
 * The whole input/target table of the survey for one sentence, drawn with the stage's own chips and cells. A row
 * opens its stage: in the app the host hears of it, in a notebook or a saved page the stage unfolds below.
 */

import { paintChip, paintHangers } from "./chips.js";
import { button, watchTheme } from "./controls.js";
import { endOf, everywhere, follow, listen, node, plain, tell } from "./dom.js";
import { savePng, svgOf } from "./export.js";
import { csvText, download, fileName } from "./files.js";
import { axes, cutGaps, paintCells, patterns } from "./matrices.js";
import { paintLegend } from "./paint.js";
import { canvasOf, measuring, paintLines, paintText, screenRatio } from "./pen.js";
import { planLegend } from "./layout.js";
import { makePlayer } from "./player.js";
import { FAMILY, FUSED, clamp, ease, font, range, readCell, readMatrix } from "./record.js";
import { mountOne } from "./stage.js";
import { HOST_COLOURS, dressed } from "./theme.js";

const TABLE_STYLE = `
.wall { container-type: inline-size; position: relative; ${HOST_COLOURS} font: 400 14px/1.45 ${FAMILY}; text-align: left; outline: none; }
.wall * { box-sizing: border-box; }
.wall .wall-head { display: flex; flex-wrap: wrap; gap: 4px 16px; align-items: baseline; padding: 2px 4px 6px; }
.wall .wall-head, .wall details { font-size: clamp(14px, 6px + .62cqw, 29px); }
.wall h2 { margin: 0; font-size: clamp(19px, 9px + .8cqw, 40px); font-weight: 650; letter-spacing: -.012em; } .wall .wall-head p { margin: 0; flex: 1 1 260px; color: var(--muted); }
.wall button { font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: 8px; min-height: 32px; padding: 2px 11px; cursor: pointer; }
.wall button:hover { background: var(--hover); } .wall :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.wall .wall-picture { position: relative; } .wall canvas { display: block; width: 100%; }
.wall .wall-picture > button { position: absolute; left: 0; right: 0; width: 100%; border: 0; border-radius: 12px; padding: 0; }
.wall .wall-picture > button:hover { background: color-mix(in srgb, var(--accent) 9%, transparent); } .wall .wall-picture > button:focus-visible { outline-offset: -2px; }
.wall .wall-picture > button[aria-expanded="true"] { background: color-mix(in srgb, var(--accent) 9%, transparent); }
.wall .wall-open > button { float: right; margin: 0 6px; } .wall .wall-open { margin: 10px 0; padding: 8px 4px; border: 1px solid var(--line); border-radius: 12px; }
.wall details { margin: 8px 4px 2px; color: var(--muted); } .wall summary { cursor: pointer; }
.wall .wall-words { overflow-x: auto; } .wall table { border-collapse: collapse; margin: 6px 0; }
.wall table { font-size: .93em; } .wall th, .wall td { text-align: left; vertical-align: top; padding: 3px 14px 3px 0; border-top: 1px solid var(--line); color: var(--ink); font-weight: 400; }
.wall thead th { font-weight: 600; border-top: 0; } .wall tbody th { font-weight: 600; white-space: nowrap; }
`;

const WALL_HEADS = ["Objective", "The model is given", "It must predict", "Attention mask"];

/** The rows with cells and matrices read as the stage reads them; a decoder that writes nothing has no matrix to draw. */
function readTable(raw) {
  const data = { title: "", subtitle: "", rows: [], ...plain(raw || {}) };
  const cells = (list) => (list || []).map(readCell);
  const matrices = (list) => (list || []).map((m) => readMatrix(m)).filter((m) => m.n && m.m);
  return { ...data, rows: data.rows.map((row) => ({ ...row, inputs: cells(row.inputs), targets: cells(row.targets), matrices: matrices(row.matrices) })) };
}

/** A text on at most `most` lines; what does not fit ends with an ellipsis. */
function linesOf(text, spec, width, most, measure) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
    if (measure(longer, spec) <= width) lines[lines.length - 1] = longer;
    else if (lines.length < most) lines.push(word);
    else {
      while (lines.at(-1).includes(" ") && measure(`${lines.at(-1)} …`, spec) > width) lines[lines.length - 1] = lines.at(-1).replace(/ \S+$/, "");
      lines[lines.length - 1] += " …";
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
function planTable(data, width, measure) {
  const wide = width >= 720;
  const size = wide ? clamp(width / 92, 12.5, 34) : clamp(width / 30, 12, 14);
  const pad = wide ? size : 8;
  const chips = { size, mark: clamp(size / 14, 0.72, 2), gap: size * 0.42, h: Math.round(size * 2.05), columns: 1, w: 0 };
  const [name, side] = wide ? [size * 11.4, size * 11.6] : [width - 2 * pad, 0];
  const arrow = wide ? size * 2.6 : 0;
  const room = wide ? width - 2 * pad - name - side - arrow - size * 2 : width - 2 * pad;
  const columns = wide
    ? { name: pad, inputs: pad + name + size, targets: pad + name + size + room * 0.6 + arrow, side: width - pad - side }
    : { name: pad, inputs: pad, targets: pad, side: pad };
  const widths = { name, inputs: wide ? room * 0.6 : room, targets: wide ? room * 0.4 : room, side };
  const plan = { width, wide, size, pad, chips, columns, widths, rows: [], legend: [], lanes: { inputs: { below: 0 }, targets: { below: 0 } }, height: 0 };
  let y = wide ? size * 2.4 : 4;
  for (const row of data.rows) y = (wide ? planWide : planNarrow)(row, plan, y, measure);
  const shown = { frames: [{ lanes: [{ cells: data.rows.flatMap((row) => [...row.inputs, ...row.targets]).map((cell) => ({ ...cell, chosen: false })) }], matrices: data.rows.flatMap((row) => row.matrices) }] };
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
  const bottom = Math.max(y + size * 1.3 + idea.length * size * 1.05, inputs.bottom, targets.bottom, row.reason ? y + size * 3.4 : squares.bottom + size * 1.5) + size * 0.8;
  plan.rows.push({ row, top, bottom, y, idea, inputs, targets, squares, share: { x: columns.side, y: squares.bottom + size * 0.85 }, arrow: { x: columns.targets - size * 2, y: y + chips.h / 2 } });
  return bottom;
}

function planNarrow(row, plan, top, measure) {
  const { size, chips, columns, widths } = plan;
  const y = top + size * 0.9;
  const squares = thumbnails(row, columns.side, y, size * 3, widths.name * 0.45);
  const shift = widths.name - (squares.right - columns.side);
  for (const each of squares.boxes) each.x += shift;
  const idea = linesOf(row.idea, font(size * 0.92), shift - size, 4, measure);
  const start = Math.max(y + size * 1.5 + idea.length * size * 1.25 + size * 0.3, row.matrices.length ? squares.bottom + size * 0.8 : 0);
  const inputs = flow(row.inputs, chips, columns.inputs, start, widths.inputs, measure);
  const targets = flow(row.targets, chips, columns.targets + size * 1.9, inputs.bottom + size * 0.8, widths.targets - size * 1.9, measure);
  const share = { x: columns.name, y: (row.reason ? start + size * 2.2 : targets.bottom) + size * 1.1 };
  const bottom = share.y + size * 1.1;
  plan.rows.push({ row, top, bottom, y, idea, inputs, targets, squares, share, arrow: { x: columns.targets + size * 0.2, y: inputs.bottom + size * 0.8 + chips.h / 2 } });
  return bottom;
}

/** The matrices of a row as small pictures side by side. */
function thumbnails(row, x, y, side, room) {
  const many = row.matrices.length;
  const gap = side * 0.2;
  const most = Math.min(side, (room - gap * (many - 1)) / Math.max(1, many));
  const whole = (cell) => (cell >= 4 ? Math.floor(cell) : cell); // so that all gaps look the same
  const boxes = row.matrices.map((matrix, i) => ({ name: matrix.name, x: Math.round(x + i * (most + gap)), y: Math.round(y), cell: whole(most / Math.max(matrix.n, matrix.m)) }));
  return { boxes, bottom: many ? y + Math.max(...boxes.map((box, i) => row.matrices[i].n * box.cell)) : y, right: many ? boxes.at(-1).x + row.matrices.at(-1).m * boxes.at(-1).cell : x };
}

/** The whole table at `u` of its entrance, 1 when all rows stand; one row is `played` up to a share of its story. */
function paintTable(ctx, art, u = 1, played = { row: -1, at: 1 }) {
  const { theme, plan } = art;
  const { size, columns, rows } = plan;
  if (plan.wide) Object.values(columns).forEach((x, i) => paintText(ctx, WALL_HEADS[i], x, size * 1.2, { spec: font(size * 0.78, 600), fill: theme.muted }));
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
  paintText(ctx, row.name, columns.name, y + size * 0.65, { spec: font(size * 1.12, 650), fill: row.reason ? theme.muted : theme.ink });
  place.idea.forEach((line, i) => paintText(ctx, line, columns.name, y + size * (wide ? 1.95 + 1.05 * i : 2.1 + 1.25 * i), { spec: font(size * (wide ? 0.78 : 0.92)), fill: theme.muted }));
  if (row.reason) paintReason(ctx, art, place);
  else {
    paintArrow(ctx, theme, place.arrow, size);
    place.inputs.boxes.forEach(({ cell, box }, k, all) => chipAt(ctx, art, box, cell, "inputs", come(at, k, all.length, [0, 0.4])));
    place.targets.boxes.forEach(({ cell, box }, k, all) => chipAt(ctx, art, box, cell, "targets", Math.min(clamp(2 * e - 1), come(at, k, all.length, [0.4, 0.7]))));
    place.squares.boxes.forEach((box, i) => {
      const matrix = row.matrices[i];
      paintCells(ctx, art, box, matrix, axes(matrix, 0), range(Math.round(matrix.n * come(at, 0, 1, [0.5, 1]))), () => true);
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
  const lines = linesOf(reasonOf(place.row), ctx.font, wide ? plan.width - columns.inputs - plan.pad : widths.name, 3, (text) => ctx.measureText(text).width);
  lines.forEach((line, i) => paintText(ctx, line, columns.inputs, y + size * (0.7 + 1.25 * i), { fill: theme.muted }));
}

function paintArrow(ctx, theme, { x, y }, size) {
  ctx.strokeStyle = theme.muted;
  ctx.lineWidth = Math.max(1.4, size * 0.11);
  const tip = [x + size * 1.1, y];
  paintLines(ctx, [[x, y], tip], [[x + size * 0.72, y - size * 0.34], tip, [x + size * 0.72, y + size * 0.34]]);
}

/** How much of the text teaches: a bar and the numbers. */
function paintShare(ctx, { theme, plan: { size } }, { share }, row) {
  const wide = size * 2.6;
  for (const [fill, part] of [[theme.line, 1], [theme.strong("orange"), clamp(row.signal.scored / Math.max(1, row.signal.tokens))]]) {
    ctx.fillStyle = fill;
    ctx.fillRect(share.x, share.y - size * 0.2, wide * part, size * 0.4);
  }
  paintText(ctx, teaches(row), share.x + wide + size * 0.6, share.y, { spec: font(size * 0.78), fill: theme.muted });
}

const reasonOf = (row) => `${row.reason} Open it with a sample.`;
const teaches = ({ signal }) => `${signal.scored} answer${signal.scored === 1 ? "" : "s"} / ${signal.tokens} tokens`;
const wordsOf = (cells) => cells.map((cell) => cell.text).join(" ");
const spokenRow = (row) => `${row.name}: ${row.reason ? reasonOf(row) : `given ${wordsOf(row.inputs)}; predicts ${wordsOf(row.targets)}; ${teaches(row)}. Open the stage.`}`;

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
  const root = node("section", { class: "wall", "aria-label": "The survey's table" }, node("style", {}, TABLE_STYLE), node("div", { class: "wall-head" }, title, about, tools), picture, opened, details);
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
