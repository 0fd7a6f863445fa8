/** What lies beside and below the picture: the explanation, the quiz, the table, the storyboard, and what to take home. */

import panelsStyle from "./panels.css" with { type: "text" };
import { listen, node, optionsOf } from "../dom.js";
import { csvOf } from "../export/csv.js";
import { download } from "../export/files.js";
import { takeHome } from "../export/pictures.js";
import { explained } from "../glossary.js";
import { streamSpots } from "../paint/chips.js";
import { makePlan } from "../paint/layout.js";
import { entire, linkOfStretch } from "../paint/long_text.js";
import { patterns } from "../paint/matrices.js";
import { answering } from "../paint/paint.js";
import { canvasOf } from "../paint/pen.js";
import { clamp, homeOf, isOpen, laneOf, percent, range, shownFrom, speak, sum, weightAt } from "../record.js";
import { button, isForeign, labelButton } from "./controls.js";

/** Pixels above which the explanation stands beside the picture; else it stands below. */
export const BESIDE = 860;

const MATH_TAGS = new Set("math mrow mi mo mn mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mstyle mpadded mtable mtr mtd menclose mphantom".split(" "));
const MATH_MARKS = new Set(["display", "stretchy", "fence", "form", "mathvariant", "accent", "width", "lspace", "rspace", "movablelimits", "symmetric", "separator", "linethickness"]);

/**
 * An element of MathML from its tree, `[tag, attributes, ...children]`; no other tags and attributes come through.
 * @param {any} tree
 */
function mathOf(tree) {
  const [tag, attributes, ...children] = tree;
  const made = document.createElementNS("http://www.w3.org/1998/Math/MathML", MATH_TAGS.has(tag) ? tag : "mrow");
  for (const [name, value] of Object.entries(attributes)) if (MATH_MARKS.has(name)) made.setAttribute(name, value);
  made.append(...children.map((child) => (Array.isArray(child) ? mathOf(child) : child)));
  return made;
}

/**
 * A formula in pieces that may stand on lines of their own, since a browser does not break one that is too long: before
 * a plus, a minus and an opening bracket, and before what is given; never inside of other parentheses.
 */
function brokenMath(math) {
  const row = math.childElementCount === 1 && math.firstElementChild.localName === "mrow" ? math.firstElementChild : math;
  const pieces = [[]];
  let depth = 0;
  let before = "";
  for (const part of [...row.children]) {
    const said = part.localName === "mo" ? part.textContent : "";
    const sign = "+\u2212".includes(said || "x") && !"([{,".includes(before || "(");
    if ((depth === 0 && (sign || said === "[")) || (depth <= 1 && said === "\u2223")) {
      pieces.push([]);
      if (said !== "[") part.setAttribute("form", "infix"); // it keeps its room where it begins a piece
    }
    depth += said === "(" ? 1 : said === ")" ? -1 : 0;
    before = said || "x";
    pieces.at(-1).push(part);
  }
  return pieces.map((parts) => mathOf(["math", {}, mathOf(["mrow", {}, ...parts])]));
}

/** A formula as it stands in its column: over as many lines as it takes; smaller only where a piece of it is too wide. */
function formula(mathml, latex) {
  return node("span", { class: "stage-formula" }, ...(mathml ? brokenMath(mathOf(mathml)).flatMap((piece) => [piece, node("wbr")]) : [latex]));
}

/** Make formulas smaller that are wider than their column; what is not on screen has no width and stays as it is. */
function fitFormulas(formulas) {
  for (const each of formulas) {
    each.style.fontSize = "";
    const room = each.parentElement.clientWidth - 32; // what a button leaves between its padding, on a line that is set in
    const widest = Math.max(0, ...[...each.querySelectorAll("math > mrow")].map((piece) => piece.getBoundingClientRect().width));
    if (widest > room && room > 0) each.style.fontSize = `${Math.max(0.6, room / widest).toFixed(3)}em`;
  }
}

/** Which lanes a term of the loss is computed from, and where: positions from 1. */
function feeds(record, term) {
  const home = homeOf(term.reader);
  const isMain = (each) => !each.network || each.network === "main";
  const drawn = term.positions.map((position) => position - (record.begins ? record.begins[home] : 0));
  const answers = (record.terms || []).find(isMain);
  const spoken = isMain(term) && answers && (answers.reader === "decoder") === (term.reader === "decoder");
  return { [home]: drawn, ...(spoken ? { targets: drawn } : {}) };
}

/** The choice of the first and the last frame of an animation. */
function filmRow({ frames, film }) {
  const pick = (label, value) => {
    const made = node("select", { "aria-label": label }, ...optionsOf(frames.map((frame, k) => [k, `${k + 1}. ${frame.title}`])));
    made.value = String(value);
    return made;
  };
  const [from, to] = [pick("First frame of the animation", 0), pick("Last frame of the animation", frames.length - 1)];
  const tell = (share) => (act.textContent = `Animation (APNG)${share}`);
  const act = button("Animation (APNG)", "The frames from the first to the last as an animated PNG", async () => {
    const [first, last] = [Number(from.value), Number(to.value)].sort((a, b) => a - b);
    await film(first, last, tell);
    tell("");
  });
  return node("div", { class: "stage-range" }, act, from, " to ", to);
}


export const KEY_LIST = [
  ["Space", "play, pause"], ["P", "pause"], ["Left, Right", "step back, step on"], ["Shift+Space, S", "step back, step on"], ["Home, End", "first frame, last frame"], ["Up, Down", "next / previous row"], ["Escape", "clear the selection"],
  ["O", "sort the axes by order"], ["H", "the next attention head"], [", and .", "the layer below, the layer above"], ["+ and -", "faster, slower"], ["Tab, Enter", "a word of the text: choose it, then its next action"], ["Shift+Left, Shift+Right", "on a word: make or resize a span; in the order: move the word"],
  ["Delete", "on a word: deselect it"], ["J, K", "on a long text: next window, previous window"], ["N", "resample: another seed"], ["R", "reset the edits (same seed)"], ["F", "fork the training run at the step that is shown"], ["L", "show the path of a leak"], ["M", "paint the mask; arrows and Enter inside"], ["Ctrl+Z, Ctrl+Shift+Z", "undo, redo"], ["G", "quiz: predict before it is shown"], ["B", "storyboard"], ["V", "the mask over ten epochs"], ["T", "the matrix as a table"], ["1 to 9, 0", "one of the first ten objectives"], ["C", "compare with LM (LM with MLM); again to stop"], ["/", "search the objectives"], ["?", "this list"],
];

/** Keys and what they do, as elements. */
export const keyList = (keys) => keys.map(([name, text]) => node("div", {}, node("kbd", {}, name), ` ${text}`));

export function sheetsOf(kit) {
  const { parts, root, record } = kit;
  parts.style.append(panelsStyle);
  const story = node("div", { class: "stage-story", role: "group", "aria-label": "Storyboard" });
  const table = node("div", { class: "stage-table", tabindex: "0", role: "region", "aria-label": "Matrix as a table" });
  const keys = node("div", { class: "stage-keys" }, ...keyList(KEY_LIST));
  const quiz = node("div", { class: "stage-quiz", role: "group", "aria-label": "Quiz", hidden: "" });
  const menu = node("div", { hidden: "" });
  const buttons = {
    guess: button("Quiz", "Guess before it is shown (G)", ask),
    story: labelButton("story", "Storyboard", "All frames as a sheet (B)", () => kit.turn("story")),
    table: labelButton("table", "Table", "The matrix as a table (T)", () => kit.turn("table")),
    save: labelButton("share", "Share", "Link, picture, data", () => openMenu(menu.hidden), { "aria-haspopup": "true", "aria-expanded": "false" }),
    keys: button("?", "Keys (?)", () => kit.turn("keys"), { "data-control": "keys", "aria-label": "Keys" }),
  };
  let [guess, terms, room, shown] = [null, [], 0, ""];

  // -- the explanation

  const fit = () => fitFormulas(parts.explain.querySelectorAll(".stage-terms .stage-formula"));
  new ResizeObserver(([{ contentRect }]) => {
    if (contentRect.width !== room) fit(); // smaller formulas make it less high, which is no reason to look again
    room = contentRect.width;
  }).observe(parts.explain);

  const quiet = (...inner) => node("p", { class: "quiet" }, ...inner);
  const section = (title, ...inner) => node("section", {}, node("h3", { title: explained(title) }, title), ...inner);

  function explain() {
    const { loss, terms: listed = [], misprint, signal, meters = [], source } = record();
    terms = listed.map((term) => ({ term, made: termButton(term) }));
    const symbols = listed.flatMap((term) => Object.entries(term.symbols || {}).map(([name, text]) => quiet(formula((term.signs || {})[name], name), `: ${text}`)));
    const share = signal && signal.tokens ? signal.scored / signal.tokens : 0;
    const sections = [
      parts.subtitle.textContent && section("The idea", parts.subtitle),
      listed.length && section("The loss", quiet(loss || ""), node("div", { class: "stage-terms" }, ...terms.map(({ made }) => made)), ...symbols),
      misprint && section("As printed in the survey (erratum)", quiet(`${misprint.where} prints:`), node("div", { class: "stage-terms" }, formula(misprint.mathml, misprint.latex)), quiet(misprint.wrong)),
      signal && section("Signal", ...(meters.length > 1 ? meters.flatMap(metered) : [meter(share), taught({ ...signal, share })])),
      source && section("Source", quiet(source)),
    ].filter(Boolean);
    parts.explain.replaceChildren(...sections);
    fit();
    parts.explain.hidden = !listed.length && !signal;
    parts.source.hidden = !parts.explain.hidden;
  }

  /** A term of the loss, which lights the positions that it is computed from. */
  function termButton(term) {
    const fed = term.positions.length;
    const weight = term.weight !== 1 ? ` · weight ${Number(term.weight.toFixed(4))}` : "";
    const network = term.network && term.network !== "main" ? ` of the ${term.network} network` : "";
    const [on, off] = [() => light(term, made), () => light(null, made)];
    const made = button(formula(term.mathml, term.latex), `Positions that feed this term: ${term.positions.join(", ") || "none"}`, () => light(term, made, true), { "aria-pressed": "false", onpointerenter: on, onfocus: on, onpointerleave: off, onblur: off });
    made.append(node("small", {}, `${term.target}: from ${fed} position${fed === 1 ? "" : "s"}${network}${weight}`));
    return made;
  }

  const taught = ({ scored, tokens, share }) => {
    const said = `${scored} scored answer${scored === 1 ? "" : "s"} for ${tokens} tokens of text: ${Math.round(100 * share)} %`;
    return node("p", { title: explained(said) }, said);
  };

  /** One bar for each question where a step asks several, each with its own share. */
  const metered = (/** @type {any} */ { target, network, ...signal }) => [
    node("p", { class: "stage-asked" }, target, ...(network && network !== "main" ? [node("small", {}, ` ${network} network`)] : [])),
    meter(signal.share, `: ${target}`), taught(signal),
  ];

  function meter(share, of = "") {
    const part = 100 * clamp(share);
    const bar = node("i", { style: `width: ${part}%` });
    return node("div", { class: "stage-meter", role: "meter", "aria-label": `Share of positions that teach${of}`, "aria-valuemin": "0", "aria-valuemax": "100", "aria-valuenow": String(Math.round(part)) }, bar);
  }

  /** A term lights the positions that feed it; on a frame before they are asked, the last frame is opened. */
  function light(term, made, hold = false) {
    if (hold && !laneOf(kit.frame(), "targets")) kit.jump(kit.last());
    kit.lit = term ? feeds(record(), term) : null;
    for (const each of terms) each.made.classList.toggle("lit", Boolean(term) && each.made === made);
    kit.wake();
  }

  /** The other way round: a position under the pointer marks the terms that it feeds. */
  function hover(found) {
    const reader = found && (["content", "encoder", "query"].includes(found.matrix) ? "inputs" : "decoder");
    for (const { term, made } of terms) {
      const home = homeOf(term.reader);
      made.classList.toggle("lit", reader === home && feeds(record(), term)[home].includes(found.row + 1));
    }
  }

  // -- the quiz

  /** Two questions, the one that comes next in the story: what may a word attend to, and which answers count? */
  function ask() {
    if (guess) return finish();
    const looks = record().frames.findIndex((frame) => frame.matrices.length);
    const end = record().frames.findIndex((frame) => laneOf(frame, "targets"));
    const questions = [{ at: looks, about: aboutLooks }, { at: end, about: aboutScored }].filter(({ at }) => at > 0);
    const open = questions.filter(({ at }) => at > kit.nearest()).sort((a, b) => a.at - b.at)[0] || questions[0];
    if (!open) return;
    kit.pause(); // a story that plays on would tell the answer
    guess = { shownAt: open.at, ...open.about(open.at), marks: new Set() };
    kit.jump(open.at - 1);
    paintQuiz();
    quiz.querySelector("button")?.focus({ preventScroll: true });
  }

  function aboutLooks(at) {
    const matrix = answering(record().frames.at(-1)) || record().frames[at].matrices[0];
    const rows = range(matrix.n).filter((i) => !matrix.scored.some(Boolean) || matrix.scored[i]);
    const row = rows[Math.floor(rows.length / 2)] ?? 0;
    const truth = new Set(range(matrix.m).filter((j) => isOpen(matrix, row * matrix.m + j)));
    const shownAt = Math.max(at, shownFrom(record(), "visibility"));
    return { shownAt, words: matrix.columns, truth, matrix: matrix.name, row, begins: matrix.left || 0, question: `${matrix.title}. Which positions may '${matrix.rows[row]}' (position ${(matrix.top || 0) + row + 1}) attend to?` };
  }

  function aboutScored() {
    const end = record().frames.at(-1);
    const { cells, begins = 0 } = laneOf(end, "targets");
    const home = laneOf(end, "decoder")?.cells || streamSpots(end, "inputs").map(({ cell }) => cell);
    const truth = new Set(range(cells.length).filter((i) => cells[i].scored));
    return { words: cells.map((cell, i) => (home[i] || cell).text || "·"), truth, begins, question: "At which of these positions does an answer count in the loss?" };
  }

  function paintQuiz(scored = false) {
    const isRight = (i) => guess.marks.has(i) === guess.truth.has(i);
    const chips = guess.words.map((word, i) => {
      const made = button(word, `position ${guess.begins + i + 1}`, () => {
        if (scored) return;
        guess.marks[guess.marks.has(i) ? "delete" : "add"](i);
        made.setAttribute("aria-pressed", String(guess.marks.has(i)));
      }, { "aria-pressed": String(guess.marks.has(i)), ...(scored ? { class: isRight(i) ? "right" : "wrong" } : {}) });
      return made;
    });
    const right = range(guess.words.length).filter(isRight).length;
    const said = scored ? `${right} of ${guess.words.length} right. ${guess.question}` : guess.question;
    const act = scored ? button("Done", "Close the question", finish) : button("Reveal", "Check the answer", reveal, { class: "stage-play" });
    quiz.replaceChildren(node("span", { role: "status" }, said), ...chips, act);
    quiz.hidden = false;
    buttons.guess.setAttribute("aria-pressed", "true");
  }

  function reveal() {
    kit.jump(guess.shownAt);
    if (guess.matrix) kit.now.lock = { matrix: guess.matrix, row: guess.row, column: -1 };
    kit.wake();
    paintQuiz(true);
  }

  function finish() {
    guess = null;
    if (quiz.contains(root.getRootNode().activeElement)) root.focus({ preventScroll: true }); // keys go on to the stage
    quiz.hidden = true;
    buttons.guess.setAttribute("aria-pressed", "false");
  }

  // -- the storyboard and the table

  function board() {
    const [width, scale] = [640, (2 * 220) / 640];
    const plan = makePlan(record(), width, kit.measure);
    const view = { reader: null, sort: kit.now.sorted ? 1 : 0, layer: kit.now.layer, head: kit.now.head };
    story.replaceChildren(...record().frames.map((frame, k) => {
      const { canvas, pen } = canvasOf(width, plan.height, scale, node("canvas", { "aria-hidden": "true" }));
      kit.drawWith(pen, { plan, theme: kit.theme(), ratio: scale, patterns: patterns(pen, kit.theme(), scale) }, k, 0, view);
      const made = button(canvas, frame.caption || frame.title, () => kit.jump(k), { "data-frame": String(k), "aria-label": `${k + 1}. ${frame.title}: ${frame.caption || ""}` });
      made.append(node("span", {}, `${k + 1}. ${frame.title}`));
      return made;
    }));
  }

  function tables() {
    const made = kit.frame().matrices.map(tableOf);
    table.replaceChildren(...(made.length ? made : ["This frame has no matrix yet; step to 'Attention mask'."]));
  }

  function tableOf(matrix) {
    const { n, m, title, rows, columns, whole, top, left } = matrix;
    const { numbers } = kit.frame();
    const open = (i, j) => isOpen(matrix, i * m + j);
    const share = (i, j) => {
      const weight = numbers ? weightAt(matrix, i, j, kit.now) : null;
      return weight === null ? "yes" : percent(weight);
    };
    const count = sum(range(n * m).map((at) => Number(isOpen(matrix, at))));
    const part = whole ? `queries ${top + 1} to ${top + n} of ${whole.n}, keys ${left + 1} to ${left + m} of ${whole.m}; ` : "";
    const ends = [0, n - 1].map((i) => (n ? speak(matrix, i) : "")).join("; ");
    const caption = `${title}: ${part}${n} query positions, ${m} key positions, ${count} of ${n * m} entries allowed${numbers && matrix.heads ? "; how much of its attention each query position gives" : ""}. ${ends}.`;
    const head = node("tr", {}, ...["reader", ...columns].map((word) => node("th", { scope: "col" }, word)));
    const body = range(n).map((i) => node("tr", {}, node("th", { scope: "row", title: speak(matrix, i) }, rows[i] ?? String(i + 1)), ...range(m).map((j) => node("td", { class: open(i, j) ? "open" : "" }, open(i, j) ? share(i, j) : "no"))));
    return node("table", {}, node("caption", {}, caption), node("thead", {}, head), node("tbody", {}, ...body));
  }

  // -- to take home

  function openMenu(open) {
    menu.hidden = !open;
    buttons.save.setAttribute("aria-expanded", String(open));
    if (!open) return;
    const save = (act) => () => {
      act();
      openMenu(false);
    };
    const home = takeHome(kit);
    const { picture, drawing, name, sheetPng, sheetSvg } = home;
    const csv = (matrix) => download(root, csvOf(entire(matrix), kit.frame().numbers ? kit.now : null), name("csv", matrix.name), "text/csv");
    const items = [
      record().link !== undefined && !kit.alone() && button("Copy link to this state", "Link", copyLink),
      button("Picture (PNG)", "PNG", save(picture)),
      button("Drawing (SVG)", "SVG", save(drawing)),
      ...kit.frame().matrices.map((matrix) => button(`Table: ${matrix.title.split(":")[0]} (CSV)`, "CSV", save(() => csv(matrix)))),
      button("All steps (PNG)", "All frames as one PNG", sheetPng),
      button("All steps (SVG)", "All frames as one SVG whose text is text", sheetSvg),
      filmRow(home),
    ].filter(Boolean);
    menu.replaceChildren(...items);
    items[0].focus({ preventScroll: true });
  }

  function linkHere() {
    const address = new URL(location.href);
    address.search = record().link || "";
    address.searchParams.set("frame", kit.frame().name);
    if (record().stretch) address.searchParams.set("tokens", linkOfStretch(record().stretch, kit.now.size));
    return address.href;
  }

  /** Where the clipboard is out of reach, the link is shown to be copied by hand. */
  async function copyLink() {
    const text = linkHere();
    const field = node("input", { type: "text", readonly: "", "aria-label": "Link", value: text, style: "width: 260px" });
    const said = await navigator.clipboard?.writeText(text).then(() => "Copied:", () => null);
    menu.replaceChildren(node("p", { role: "status" }, said || "Copy this link:"), field);
    field.select();
  }

  // -- together

  function renew() {
    for (const [name, sheet] of Object.entries({ story, table, keys })) {
      sheet.hidden = kit.sheet !== name;
      buttons[name].setAttribute("aria-pressed", String(kit.sheet === name));
    }
    if (kit.sheet === "table") tables();
    if (kit.sheet === "story") board();
    follow();
  }

  function follow() {
    if (kit.sheet === "story") for (const each of story.children) each.setAttribute("aria-current", String(Number(each.dataset.frame) === kit.nearest()));
    const current = [kit.nearest(), kit.now.layer, kit.now.head, (kit.frame().numbers || {}).step].join();
    if (kit.sheet === "table" && shown !== current) tables();
    shown = current;
  }

  function adopt() {
    explain();
    if (guess) finish();
    renew();
  }

  function key(event) {
    if (event.key === "Escape" && !menu.hidden) {
      openMenu(false);
      buttons.save.focus();
      return true;
    }
    if (event.key === "Escape" && kit.sheet) return kit.turn(kit.sheet), true;
    const act = !isForeign(event) && { g: ask, b: () => kit.turn("story"), t: () => kit.turn("table"), "?": () => kit.turn("keys") }[event.key.toLowerCase()];
    if (act) act();
    return Boolean(act);
  }

  const outside = (event) => menu.hidden || event.composedPath().includes(menu.parentNode) || openMenu(false);
  const destroy = listen([[document, "pointerdown", outside]]);
  parts.bench.append(node("span", { class: "stage-group" }, buttons.guess, buttons.story, buttons.table, node("span", { class: "stage-menu" }, buttons.save, menu), buttons.keys));
  parts.tools.append(quiz);
  parts.below.append(keys, story, table);
  return { adopt, hover, key, follow, renew, destroy, svg: () => takeHome(kit).svgText(), link: linkHere };
}
