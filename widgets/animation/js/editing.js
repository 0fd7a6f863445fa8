// ---------------------------------------------------------------------------------------------------- by hand

import { streamSpots } from "./chips.js";
import { ICONS, icon, isText } from "./controls.js";
import { node } from "./dom.js";
import { chipBox } from "./layout.js";
import { LONG } from "./long_text.js";
import { CELL, clamp, laneOf, matrixOf, range, shownFrom } from "./record.js";

/**
 * What a person may do to the plan and the mask. A gesture becomes one message; the engine rebuilds the text and the
 * record comes back. Which gestures there are is said by the record (`edits`), never by the objective's name.
 */
export const HANDS_STYLE = `
.stage .stage-tools { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 8px; padding: 0 var(--pad); margin: 0 0 6px; font-size: 13px; min-height: 36px; }
.stage .stage-hint { flex: 1 1 100%; order: 2; margin: 0; color: var(--muted); display: flex; flex-wrap: wrap; align-items: center; gap: 4px 6px; min-height: 34px; }
.stage .stage-hint:empty { display: none; }
.stage .stage-hint b { color: var(--ink); font-weight: 650; }
.stage .stage-tools .stage-group { flex-wrap: wrap; } .stage .stage-tools .stage-group:last-child { gap: 4px 2px; }
.stage .stage-tools > .stage-group + .stage-group { margin-left: auto; }
.stage .stage-tools button { white-space: nowrap; border-color: var(--line); height: 32px; }
.stage .stage-tools button.on, .stage .stage-tools button[aria-pressed="true"], .stage .stage-tools button[aria-checked="true"] { background: var(--accent); color: var(--paper); border-color: var(--accent); }
.stage input[type=text] { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: 8px; height: 32px; padding: 0 8px; width: 9.5em; }
.stage .stage-order { flex: 1 1 100%; order: 3; max-height: 190px; overflow-y: auto; display: flex; flex-wrap: wrap; align-items: center; gap: 5px 5px; padding: 5px 8px; background: var(--track); border-radius: 10px; touch-action: none; }
.stage .stage-order > span { color: var(--muted); margin-right: 4px; }
.stage .stage-order button { background: var(--paper); cursor: grab; padding: 0 9px; height: 30px; font-weight: 500; gap: 5px; max-width: 16em; overflow: hidden; white-space: nowrap; }
.stage .stage-order button small { color: var(--muted); font-size: 10.5px; font-variant-numeric: tabular-nums; }
.stage .stage-order button.late { border-color: var(--orange); box-shadow: inset 0 -2px 0 var(--orange); }
.stage .stage-order button.dragged { opacity: .55; cursor: grabbing; border-style: dashed; }
.stage .stage-cut { width: 12px; height: 32px; border-radius: 4px; background: linear-gradient(90deg, transparent 4px, var(--orange) 4px 8px, transparent 8px); cursor: ew-resize; touch-action: none; }
.stage .stage-lane { position: absolute; inset: 0; pointer-events: none; }
.stage .stage-lane > * { position: absolute; pointer-events: auto; touch-action: none; }
.stage .stage-lane button { background: transparent; border: 0; padding: 0; min-width: 0; height: auto; border-radius: 9px; cursor: pointer; }
.stage .stage-lane button:hover { background: transparent; box-shadow: 0 0 0 2px var(--accent); }
.stage .stage-lane button.held { box-shadow: 0 0 0 2px var(--accent); }
.stage .stage-lane button.swept { box-shadow: 0 0 0 2px var(--orange); background: color-mix(in srgb, var(--orange) 25%, transparent); }
.stage .stage-lane .stage-end { width: 12px; cursor: ew-resize; border-radius: 4px; background: linear-gradient(90deg, transparent 4px, var(--orange) 4px 8px, transparent 8px); }
.stage.paints canvas { cursor: crosshair; touch-action: none; }
`;

/** Where each plan key shows: the name of the first frame that draws it. */
const SHOWS = { chosen: "choose", spans: "choose", order: "choose", cut: "choose", split: "choose", actions: "corrupt", replace: "corrupt", pair: "arrange", paint: "visibility", graded: "ask" };
const RECORDED = "Recorded: it plays and is scrubbed without a kernel. To bend it by hand, open it in the app (playground app).";
export const FORK_ELSEWHERE = "F forks a training run at the step that is shown. Nothing trains in this page: in the app, open the run on the Train page and press F there.";
export const CHOSEN_ELSEWHERE = "The digits choose one of the first ten objectives, C puts another beside this one, / searches. This page holds one story: open it in the app (playground app), or call stage() in a notebook.";
const SEARCH_ELSEWHERE = "/ searches all objectives in the app (playground app). Here the digits choose one of the first ten, and C puts another beside this one.";
const ACTION_NAMES = { mask: "hidden", random: "random word", keep: "left as it is" };

export function handsOn(kit) {
  const { parts, root, canvas, now } = kit;
  const lane = node("div", { class: "stage-lane" });
  const hint = node("p", { class: "stage-hint", "aria-live": "polite" });
  const order = node("div", { class: "stage-order", role: "group", "aria-label": "Order" });
  const tool = (text, label, act) => {
    const made = node("button", { type: "button", title: label }, text);
    made.addEventListener("click", act);
    return made;
  };
  const sign = (name, title, act) => {
    const made = tool("", title, act);
    made.setAttribute("aria-label", title.split(" (")[0]);
    made.append(icon(ICONS[name]));
    return made;
  };
  const buttons = {
    roll: tool("Resample", "Resample: another seed (N)", () => kit.send({ do: "roll" }, "choose")),
    undo: sign("undo", "Undo (Ctrl+Z)", () => kit.send({ do: "undo" })),
    redo: sign("redo", "Redo (Ctrl+Shift+Z)", () => kit.send({ do: "redo" })),
    paint: tool("Paint mask", "Open and close cells by hand (M)", () => setPainting(!kit.painting)),
    repair: tool("Reset mask", "Close what was opened, open what was closed", () => kit.send({ do: "unpaint" })),
  };
  const group = node("span", { class: "stage-group" }, ...Object.values(buttons));
  let held = 0; // the word (from 1) that the card speaks of
  let drag = null;
  let dealt = null; // the unit or the cut of the order strip that is being moved
  let cursor = null;

  const record = () => kit.record();
  const plan = () => record().plan || {};
  const can = (key) => kit.live && (record().edits || []).includes(key);
  const spans = () => (plan().spans || []).map((text) => ({ text, start: Number(text.split(":")[0]), length: Number(text.split(":")[1]) }));
  const spanOf = (word) => spans().find((span) => word >= span.start && word < span.start + span.length);
  const chosen = () => (plan().chosen ? plan().chosen.slice() : spans().flatMap((span) => range(span.length).map((i) => span.start + i))).sort((a, b) => a - b);
  const actionOf = (word) => (plan().actions || [])[chosen().indexOf(word)];
  const send = (edit, key) => kit.send(edit, SHOWS[key]);

  // -- the words of the original lane, as buttons over the picture

  function place() {
    const slot = kit.plan().lanes.original;
    const words = record().word || [];
    const wanted = Boolean(kit.live && slot && (can("chosen") || can("spans") || can("split")));
    lane.hidden = !wanted && !kit.painting;
    const { word: focused, answer } = root.getRootNode().activeElement?.dataset || {};
    lane.replaceChildren(...(kit.painting ? answers() : []));
    if (answer) lane.querySelector(`[data-answer="${answer}"]`)?.focus({ preventScroll: true });
    if (!wanted) return;
    const box = (token) => chipBox(kit.plan(), "original", token);
    words.forEach((word, token) => {
      const { x, y, w, h } = box(token);
      const state = chosen().includes(word) ? ACTION_NAMES[actionOf(word)] || "chosen" : "not chosen";
      const first = words.indexOf(word) === token;
      const made = node("button", { type: "button", "data-word": String(word), "aria-label": `${record().words[word - 1]}: ${state}`, "aria-pressed": String(chosen().includes(word)) });
      Object.assign(made.style, { left: `${x}px`, top: `${y - 5}px`, width: `${w}px`, height: `${h + 5}px` });
      made.tabIndex = first && word === (words.includes(held) ? held : words[0]) ? 0 : -1;
      if (word === held) made.classList.add("held");
      lane.append(made);
    });
    for (const span of can("spans") ? spans() : []) lane.append(...endsOf(span, words, box));
    if (can("split")) lane.append(splitHandle(words, box));
    if (focused) lane.querySelector(`[data-word="${focused}"]`)?.focus({ preventScroll: true });
  }

  /** While the mask is painted: the places of what must be predicted, as buttons that say whether an answer counts. */
  function answers() {
    const { cells = [], begins: from = 0 } = laneOf(record().frames.at(-1), "targets") || {};
    return cells.map((cell, i) => {
      const { x, y, w, h } = chipBox(kit.plan(), "targets", i);
      const label = `Answer ${from + i + 1}${cell.text ? `, ${cell.text}` : ""}: ${cell.graded ? "scored" : "not scored"}`;
      const made = node("button", { type: "button", "data-answer": String(from + i), "aria-label": label, title: label, "aria-pressed": String(Boolean(cell.graded)) });
      Object.assign(made.style, { left: `${x}px`, top: `${y}px`, width: `${w}px`, height: `${h}px` });
      made.addEventListener("click", () => send({ do: "paint", matrix: "graded", cells: [[0, from + i, !cell.graded]] }, "graded"));
      return made;
    });
  }

  /** A grip at the end of a span. */
  function endsOf(span, words, box) {
    const token = words.lastIndexOf(span.start + span.length - 1);
    if (token < 0 || !span.length) return [];
    const { x, y, w, h } = box(token);
    const grip = slider("stage-end", `End of the span ${span.text}`, span.start, record().words.length, span.start + span.length - 1, (to) =>
      send({ do: "span", from: span.start, to, old: span.text }, "spans"));
    grip.dataset.span = span.text;
    Object.assign(grip.style, { left: `${x + w - 4}px`, top: `${y - 5}px`, height: `${h + 5}px` });
    return [grip];
  }

  function splitHandle(words, box) {
    const token = words.lastIndexOf(plan().split);
    if (token < 0) return ""; // it stands in another stretch of the text
    const { x, y, w, h } = box(token);
    const grip = slider("stage-end", "Split: words in the first part", 1, record().words.length - 1, plan().split, (to) => send({ do: "split", to }, "split"));
    grip.dataset.split = "1";
    Object.assign(grip.style, { left: `${x + w - 6 + kit.plan().chips.gap / 2}px`, top: `${y - 8}px`, height: `${h + 16}px` });
    return grip;
  }

  /** A grip that can be dragged, and moved with the arrow keys. */
  function slider(name, label, low, high, value, act) {
    const grip = node("div", { class: name, role: "slider", tabindex: "0", "aria-label": label, "aria-valuemin": String(low), "aria-valuemax": String(high), "aria-valuenow": String(value) });
    grip.title = label;
    grip.step = (by) => act(clamp(value + by, low, high));
    grip.to = (to) => clamp(to, low, high) !== value && act(clamp(to, low, high));
    return grip;
  }

  /** The word under the pointer, or the nearest one of the original lane. */
  function wordAt(event) {
    const frame = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - frame.left, event.clientY - frame.top];
    const near = (record().word || []).map((word, token) => {
      const box = chipBox(kit.plan(), "original", token);
      return { word, far: Math.hypot(x - box.x - box.w / 2, 3 * (y - box.y - box.h / 2)) };
    });
    return near.length ? near.reduce((a, b) => (b.far < a.far ? b : a)).word : 0;
  }

  function grab(event) {
    const grip = event.target.closest("[role=slider]");
    const word = Number(event.target.closest("[data-word]")?.dataset.word || 0);
    if (!grip && !word) return;
    if (event.button) return;
    drag = { grip, word, to: word, from: event.clientX };
    lane.setPointerCapture(event.pointerId);
  }

  function pull(event) {
    if (!drag) return;
    drag.moved = drag.moved || Math.abs(event.clientX - drag.from) > 6;
    drag.to = wordAt(event);
    if (!drag.moved || (!drag.grip && !can("spans"))) return;
    const start = drag.grip ? Number((drag.grip.dataset.span || "1").split(":")[0]) : drag.word;
    const [low, high] = [Math.min(start, drag.to), Math.max(start, drag.to)];
    for (const each of lane.querySelectorAll("[data-word]")) each.classList.toggle("swept", Number(each.dataset.word) >= low && Number(each.dataset.word) <= high);
  }

  function drop(event) {
    if (!drag) return;
    const { grip, word, to, moved } = drag;
    drag = null;
    for (const each of lane.querySelectorAll(".swept")) each.classList.remove("swept");
    if (event.type === "pointercancel") return;
    if (grip) return moved ? grip.to(to) : grip.focus();
    if (moved && can("spans")) return send({ do: "span", from: word, to }, "spans");
    if (!moved || to === word) touch(word);
  }

  /** A click: choose; on a chosen word the next action; without actions let it go. Spans open and close whole. */
  function touch(word) {
    held = word;
    hint.replaceChildren(...card());
    if (can("chosen")) return send(can("actions") && chosen().includes(word) ? { do: "act", word } : { do: "choose", word }, can("actions") && chosen().includes(word) ? "actions" : "chosen");
    if (can("spans")) {
      const inside = spanOf(word);
      if (inside && can("actions")) return send({ do: "act", word }, "actions");
      return send(inside ? { do: "unspan", old: inside.text } : { do: "span", from: word, to: word }, "spans");
    }
    if (can("split")) send({ do: "split", to: clamp(word, 1, record().words.length - 1) }, "split");
  }

  // -- the card: what the held word may become

  function card() {
    if (record().said) return [record().said];
    if (kit.painting) return ["Click or drag over the matrix to open and close cells; the leak indicator updates at once. Click what must be predicted to have it count or not. ", moveHint()];
    const words = record().words || [];
    if (held > words.length) held = 0;
    if (can("pair") && !held) return outcomeCard();
    if (!held || !chosen().includes(held)) {
      const said = [can("chosen") && "Click a word of the text to choose it.", can("spans") && "Drag across words to make a span; drag its end to resize it.", can("order") && "Drag the order below.", can("split") && "Drag the split.", can("cut") && "Drag the cut."].filter(Boolean);
      return [said.join(" ") || (kit.live ? "Nothing in this plan can be edited." : RECORDED)];
    }
    const made = [node("b", {}, words[held - 1])];
    if (can("actions")) {
      for (const [action, text] of Object.entries(ACTION_NAMES)) made.push(choice(text, actionOf(held) === action, () => send({ do: "act", word: held, to: action }, "actions")));
    }
    if (can("replace") && (!can("actions") || actionOf(held) === "random")) made.push(replacement());
    const inside = spanOf(held);
    made.push(tool("not chosen", "Deselect", () => send(plan().chosen ? { do: "choose", word: held } : { do: "unspan", old: inside.text }, "chosen")));
    return made;
  }

  const choice = (text, on, act) => {
    const made = tool(text, text, act);
    made.setAttribute("aria-pressed", String(on));
    return made;
  };

  function outcomeCard() {
    const now = plan().pair;
    return ["The second text:", ...(record().outcomes || []).map((outcome) => choice(outcome, outcome === now, () => send({ do: "pair", to: outcome }, "pair")))];
  }

  function replacement() {
    const field = node("input", { type: "text", "aria-label": "word instead", placeholder: "word instead", maxlength: "40" });
    const carriers = chosen().filter((word) => !can("actions") || actionOf(word) === "random");
    field.value = (plan().replace || [])[carriers.indexOf(held)] || "";
    field.addEventListener("change", () => field.value.trim() && send({ do: "replace", word: held, with: field.value.trim(), acts: can("actions") }, "replace"));
    return field;
  }

  const moveHint = () => (Object.keys(record().painted || {}).some((name) => name !== "graded") ? "Painted cells have a folded corner." : "");

  // -- the order strip

  function strip() {
    if (dealt) return; // what is in the hand stays there; it is laid down in the strip that follows
    order.hidden = !can("order");
    if (order.hidden) return;
    const [sequence, cut] = [plan().order || [], plan().cut];
    const focused = root.getRootNode().activeElement?.dataset?.unit;
    order.style.touchAction = sequence.length > LONG ? "pan-y" : ""; // a long strip is scrolled by a finger
    order.replaceChildren(node("span", {}, cut === undefined ? "new order" : "order of prediction"));
    sequence.forEach((unit, i) => {
      if (i === cut) order.append(cutHandle(sequence, cut));
      const made = node("button", { type: "button", "data-unit": String(unit), "data-at": String(i), "aria-label": `${record().units[unit - 1]}, step ${i + 1} of ${sequence.length}${cut !== undefined && i >= cut ? ", predicted" : ""}`, title: "Drag, or Shift+Left and Shift+Right" }, node("small", {}, String(i + 1)), record().units[unit - 1] ?? String(unit));
      made.classList.toggle("late", cut !== undefined && i >= cut);
      made.tabIndex = i === 0 ? 0 : -1;
      order.append(made);
    });
    if (focused) order.querySelector(`[data-unit="${focused}"]`)?.focus({ preventScroll: true });
  }

  function cutHandle(sequence, cut) {
    const made = slider("stage-cut", "Context length: words that are given before the first prediction", 0, sequence.length - 1, cut, (to) => send({ do: "cut", to }, "cut"));
    made.dataset.cut = "1";
    return made;
  }

  function moveUnit(unit, to) {
    const sequence = plan().order.filter((each) => each !== unit);
    sequence.splice(clamp(to, 0, sequence.length), 0, unit);
    if (String(sequence) === String(plan().order)) return strip();
    send({ do: "order", to: sequence }, "order"); // the strip stays as laid until the answer comes
  }

  /** The place in the strip that is nearest to the pointer. */
  function placeAt(event) {
    const boxes = [...order.querySelectorAll("[data-unit]")].map((each) => each.getBoundingClientRect());
    const far = (box) => Math.hypot(event.clientX - box.left - box.width / 2, 2 * (event.clientY - box.top - box.height / 2));
    const at = boxes.reduce((best, box, i) => (far(box) < far(boxes[best]) ? i : best), 0);
    return { at, after: event.clientX > boxes[at].left + boxes[at].width / 2 };
  }

  function lift(event) {
    const grip = event.target.closest("[data-cut]");
    const unit = event.target.closest("[data-unit]");
    if (event.button || (!grip && !unit)) return;
    dealt = { grip, unit, from: event.clientX, high: event.clientY };
    order.setPointerCapture(event.pointerId);
  }

  function carry(event) {
    if (!dealt) return;
    dealt.moved = dealt.moved || Math.hypot(event.clientX - dealt.from, event.clientY - dealt.high) > 5;
    if (!dealt.moved) return;
    const { at, after } = placeAt(event);
    const units = [...order.querySelectorAll("[data-unit]")];
    if (dealt.grip) {
      const to = at + (after ? 1 : 0);
      units.forEach((unit, i) => unit.classList.toggle("late", i >= to));
      if (units[to]) units[to].before(dealt.grip);
      return;
    }
    dealt.unit.classList.add("dragged");
    const other = units[at];
    if (other && other !== dealt.unit) (after ? other.after(dealt.unit) : other.before(dealt.unit)); // the strip shows where it will land
  }

  function lay(event) {
    if (!dealt) return;
    const { grip, unit, moved } = dealt;
    dealt = null;
    if (!moved) (grip || unit).focus();
    if (!moved || event.type === "pointercancel") return strip();
    if (!grip) return moveUnit(Number(unit.dataset.unit), [...order.querySelectorAll("[data-unit]")].indexOf(unit));
    const { at, after } = placeAt(event);
    const cut = Number(grip.getAttribute("aria-valuenow"));
    grip.to(at + (after ? 1 : 0));
    if (at + (after ? 1 : 0) === cut) strip();
  }

  // -- the mask

  function setPainting(on) {
    kit.painting = on && kit.live;
    root.classList.toggle("paints", kit.painting);
    cursor = null;
    if (kit.painting && !kit.frame().matrices.length) kit.jump(shownFrom(record(), SHOWS.paint));
    adopt();
    kit.wake();
  }

  function cellAt(event) {
    const found = kit.pointAt(event);
    const matrix = found && matrixOf(kit.frame(), found.matrix);
    return matrix && found.column >= 0 && found.column < matrix.m ? { matrix, at: found.row * matrix.m + found.column } : null;
  }

  function press(event) {
    if (!kit.painting || event.button) return;
    const cell = cellAt(event);
    if (!cell || cell.matrix.every) return; // what holds above the first layer follows from it
    const open = !isOpen(cell.matrix, cell.at);
    kit.sketch = { matrix: cell.matrix.name, open, cells: new Map([[cell.at, open]]), m: cell.matrix.m };
    canvas.setPointerCapture(event.pointerId);
    kit.wake();
  }

  const isOpen = (matrix, at) => matrix.cells[at] === CELL.visible || matrix.cells[at] === CELL.leaked;

  function brush(event) {
    if (!kit.sketch || kit.sketch.sent) return;
    const cell = cellAt(event);
    if (cell && cell.matrix.name === kit.sketch.matrix) kit.sketch.cells.set(cell.at, kit.sketch.open);
    kit.wake();
  }

  function wipe() {
    if (!kit.sketch || kit.sketch.sent) return;
    const { matrix, cells, m } = kit.sketch;
    const { top = 0, left = 0 } = matrixOf(kit.frame(), matrix);
    kit.sketch.sent = true;
    send({ do: "paint", matrix, cells: [...cells].map(([at, open]) => [Math.floor(at / m) + top, (at % m) + left, open]) }, "paint");
  }

  /** The mask without a pointer: the arrows walk over cells, Enter or X turns one over. */
  function paintKey(key) {
    const frame = kit.frame();
    const matrix = (cursor && matrixOf(frame, cursor.matrix)) || frame.matrices[0];
    if (!matrix) return false;
    cursor = cursor || { matrix: matrix.name, row: 0, column: 0 };
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (steps[key]) {
      cursor = { matrix: matrix.name, row: clamp(cursor.row + steps[key][0], 0, matrix.n - 1), column: clamp(cursor.column + steps[key][1], 0, matrix.m - 1) };
    } else if (key === "Enter" || key === "x") {
      const at = cursor.row * matrix.m + cursor.column;
      kit.sketch = { matrix: matrix.name, cells: new Map([[at, !isOpen(matrix, at)]]), m: matrix.m };
      wipe();
    } else return false;
    Object.assign(now, { hover: null, lock: { ...cursor } });
    hint.replaceChildren(`${matrix.rows[cursor.row]} reads ${matrix.columns[cursor.column]}: ${isOpen(matrix, cursor.row * matrix.m + cursor.column) ? "open" : "closed"}. Enter turns it over.`);
    kit.wake();
    return true;
  }

  // -- keys

  function key(event) {
    const letter = event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && (letter === "z" || letter === "y") && !isText(event.target)) {
      const way = letter === "y" || event.shiftKey ? "redo" : "undo";
      if (kit.live && !buttons[way].disabled) buttons[way].click();
      return kit.live;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isText(event.target)) return false;
    const chooses = /^[\dc/]$/.test(letter);
    const elsewhere = { f: !kit.live && FORK_ELSEWHERE, "/": kit.live && SEARCH_ELSEWHERE }[letter] || (!kit.live && chooses && CHOSEN_ELSEWHERE);
    if (elsewhere && kit.alone()) hint.replaceChildren(elsewhere);
    if (!kit.live || (elsewhere && kit.alone())) return Boolean(elsewhere);
    const side = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const { word, unit, answer } = event.target.dataset || {};
    if (answer && (event.key === "Enter" || event.key === " ")) return event.target.click(), true;
    if (event.target.step && side) {
      event.target.step(side);
      return true;
    }
    if (word && wordKey(event, Number(word), side)) return true;
    if (unit && side) {
      const at = Number(event.target.dataset.at) + side;
      if (event.shiftKey) moveUnit(Number(unit), at);
      else order.querySelector(`[data-at="${at}"]`)?.focus();
      return true;
    }
    if (kit.painting && paintKey(event.key)) return true;
    const acts = { f: () => kit.send({ do: "fork" }), m: () => setPainting(!kit.painting && !buttons.paint.hidden), n: () => buttons.roll.click(), r: () => kit.send({ do: "reset" }) };
    if (kit.alone() && chooses) acts[letter] = () => kit.send(letter === "c" ? { do: "compare" } : { do: "objective", to: Number(letter) || 10 });
    if (kit.painting && event.key === "Escape") acts.escape = () => setPainting(false);
    if (!acts[letter]) return false;
    acts[letter]();
    return true;
  }

  function wordKey(event, word, side) {
    if (side && event.shiftKey && can("spans")) {
      const span = spanOf(word);
      const [from, to] = span ? [span.start, span.start + span.length - 1 + side] : [word, clamp(word + side, 1, record().words.length)];
      if (to >= from || !span) send({ do: "span", from, to: Math.min(to, record().words.length), old: span && span.text }, "spans");
    } else if (side) {
      const next = () => lane.querySelector(`[data-word="${word + side}"]`);
      if (!next() && kit.record().stretch) kit.stretch(kit.record().stretch.from + 8 * side);
      next()?.focus({ preventScroll: true });
    }
    else if (event.key === "Enter" || event.key === " ") touch(word);
    else if (event.key === "Delete" || event.key === "Backspace") chosen().includes(word) && send(plan().chosen ? { do: "choose", word } : { do: "unspan", old: spanOf(word).text }, "chosen");
    else return false;
    return true;
  }

  // -- together

  function adopt() {
    const { can: back = {}, painted = {} } = record();
    parts.tools.hidden = false;
    hint.replaceChildren(...card());
    buttons.undo.disabled = !back.undo;
    buttons.redo.disabled = !back.redo;
    group.hidden = !kit.live;
    buttons.roll.hidden = !(record().edits || []).length;
    buttons.paint.hidden = !record().can || !record().frames.some((frame) => frame.matrices.length);
    buttons.paint.setAttribute("aria-pressed", String(kit.painting));
    buttons.repair.hidden = !Object.values(painted).some((cells) => cells.length);
    strip();
    if (kit.plan()) place();
  }

  parts.tools.append(hint, group, order);
  parts.picture.append(lane);
  const listen = [
    [lane, "pointerdown", grab], [lane, "pointermove", pull], [lane, "pointerup", drop], [lane, "pointercancel", drop],
    [order, "pointerdown", lift], [order, "pointermove", carry], [order, "pointerup", lay], [order, "pointercancel", lay],
    [canvas, "pointerdown", press], [canvas, "pointermove", brush], [canvas, "pointerup", wipe],
    [lane, "pointerover", (event) => lit(Number(event.target.dataset?.word || 0))],
    [lane, "pointerleave", () => lit(0)],
  ];
  for (const [target, type, act] of listen) target.addEventListener(type, act);

  /** A word button covers its chip, so it passes the pointer on: the reader lights up as if the canvas were bare. */
  function lit(word) {
    const matrix = ["content", "encoder"].map((name) => matrixOf(kit.frame(), name)).find(Boolean);
    const cell = word && matrix ? laneOf(kit.frame(), "original").cells[(record().word || []).indexOf(word)] : null;
    const row = cell ? streamSpots(kit.frame(), "inputs").findIndex((spot) => spot.cell.key === cell.key) : -1;
    now.hover = row >= 0 && row < matrix.n ? { matrix: matrix.name, row, column: -1 } : null;
    kit.wake();
  }

  return { adopt, place, key };
}
