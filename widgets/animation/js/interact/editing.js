/**
 * Editing by hand: what a person may do to the plan and the mask. A gesture becomes one message; the engine rebuilds the
 * text and the record comes back. Which gestures there are is said by the record (`edits`), never by the objective's name.
 */

import editingStyle from "./editing.css" with { type: "text" };
import { node } from "../dom.js";
import { streamSpots } from "../paint/chips.js";
import { LONG } from "../paint/long_text.js";
import { chipBox, clamp, isOpen, laneOf, matrixOf, range, shownFrom } from "../record.js";
import { button, draggable, iconButton, isForeign, isText, labelButton } from "./controls.js";

/** Where each plan key shows: the name of the first frame that draws it. */
const SHOWS = { chosen: "choose", spans: "choose", order: "choose", cut: "choose", split: "choose", actions: "corrupt", replace: "corrupt", pair: "arrange", paint: "visibility", scored: "ask" };
const RECORDED = "Static replay (no kernel). To edit it, open it in the app (playground app).";
const FORK_ELSEWHERE = "F forks a training run at the step that is shown. Nothing trains in this page: in the app, open the run on the Train page and press F there.";
const CHOSEN_ELSEWHERE = "The digits choose one of the first ten objectives, C puts another alongside this one, / searches. This page shows a single objective: open it in the app (playground app), or call stage() in a notebook.";
const SEARCH_ELSEWHERE = "/ searches all objectives in the app (playground app). Here the digits choose one of the first ten, and C compares it with another.";
const ACTION_NAMES = { mask: "hidden", random: "random word", keep: "unchanged" };

const chooses = (event) => /^[\dc/]$/i.test(event.key);

/** What a key would do that is heard only in the app; nothing for any other. */
export const elsewhere = (event) => (event.key.toLowerCase() === "f" ? FORK_ELSEWHERE : chooses(event) && CHOSEN_ELSEWHERE);

export function handsOn(kit) {
  const { parts, root, canvas, now } = kit;
  parts.style.append(editingStyle);
  const lane = node("div", { class: "stage-lane", onpointerover: (event) => lit(Number(event.target.dataset?.word || 0)), onpointerleave: () => lit(0) });
  const hint = node("p", { class: "stage-hint", "aria-live": "polite" });
  const order = node("div", { class: "stage-order", role: "group", "aria-label": "Order" });
  const buttons = {
    roll: labelButton("roll", "Resample", "Choose again at random: another seed (N)", () => kit.send({ do: "roll" }, "choose")),
    undo: iconButton("undo", "Undo (Ctrl+Z)", () => kit.send({ do: "undo" })),
    redo: iconButton("redo", "Redo (Ctrl+Shift+Z)", () => kit.send({ do: "redo" })),
    paint: labelButton("paint", "Paint mask", "Open and close cells of the attention mask by hand (M)", () => setPainting(!kit.painting)),
    repair: button("Reset mask", "Close what was opened in the attention mask, open what was closed", () => kit.send({ do: "unpaint" })),
  };
  const group = node("span", { class: "stage-group" }, ...Object.values(buttons));
  let held = 0; // the word (from 1) that the card speaks of
  let dealt = null; // the unit or the cut of the order strip that is being moved
  let cursor = null;

  const record = kit.record;
  const plan = () => record().plan || {};
  const can = (key) => kit.live && (record().edits || []).includes(key);
  const spans = () => (plan().spans || []).map((text) => ({ text, start: Number(text.split(":")[0]), length: Number(text.split(":")[1]) }));
  const spanOf = (word) => spans().find((span) => word >= span.start && word < span.start + span.length);
  const chosen = () => (plan().chosen ? plan().chosen.slice() : spans().flatMap((span) => range(span.length).map((i) => span.start + i))).sort((a, b) => a - b);
  const actionOf = (word) => (plan().actions || [])[chosen().indexOf(word)];
  const send = (edit, key) => kit.send(edit, SHOWS[key]);
  const focusOn = (part, selector) => part.querySelector(selector)?.focus({ preventScroll: true });
  const focused = () => root.getRootNode().activeElement?.dataset || {};
  const setPlace = (part, place) => Object.assign(part.style, Object.fromEntries(Object.entries(place).map(([side, px]) => [side, `${px}px`])));

  // -- the words of the original lane, as buttons over the picture

  function place() {
    const words = record().word || [];
    const shown = Boolean(kit.live && kit.plan().lanes.original && (can("chosen") || can("spans") || can("split")));
    lane.hidden = !shown && !kit.painting;
    const { word, answer } = focused();
    lane.replaceChildren(...(kit.painting ? answers() : []));
    if (answer) focusOn(lane, `[data-answer="${answer}"]`);
    if (!shown) return;
    lane.append(...words.map((each, token) => wordButton(each, token, words)));
    for (const span of can("spans") ? spans() : []) {
      const end = span.start + span.length - 1;
      const label = `End of the span ${span.text}`;
      if (span.length) lane.append(grip(words.lastIndexOf(end), label, span.start, record().words.length, end, (to) => send({ do: "span", from: span.start, to, old: span.text }, "spans"), span));
    }
    if (can("split")) {
      const label = "Split: words in the first part";
      lane.append(grip(words.lastIndexOf(plan().split), label, 1, record().words.length - 1, plan().split, (to) => send({ do: "split", to }, "split")));
    }
    if (word) focusOn(lane, `[data-word="${word}"]`);
  }

  function wordButton(word, token, words) {
    const { x, y, w, h } = chipBox(kit.plan(), "original", token);
    const on = chosen().includes(word);
    const state = on ? ACTION_NAMES[actionOf(word)] || "chosen" : "not chosen";
    const made = node("button", { type: "button", "data-word": String(word), "aria-label": `${record().words[word - 1]}: ${state}`, "aria-pressed": String(on) });
    setPlace(made, { left: x, top: y - 5, width: w, height: h + 5 });
    made.tabIndex = words.indexOf(word) === token && word === (words.includes(held) ? held : words[0]) ? 0 : -1;
    if (word === held) made.classList.add("held");
    return made;
  }

  /** While the mask is painted: the places of what must be predicted, as buttons that say whether an answer counts. */
  function answers() {
    const { cells = [], begins: from = 0 } = laneOf(record().frames.at(-1), "targets") || {};
    return cells.map((cell, i) => {
      const { x, y, w, h } = chipBox(kit.plan(), "targets", i);
      const label = `Answer ${from + i + 1}${cell.text ? `, ${cell.text}` : ""}: ${cell.scored ? "scored" : "not scored"}`;
      const made = button("", label, () => send({ do: "paint", matrix: "scored", cells: [[0, from + i, !cell.scored]] }, "scored"), { "data-answer": String(from + i), "aria-label": label, "aria-pressed": String(Boolean(cell.scored)) });
      setPlace(made, { left: x, top: y, width: w, height: h });
      return made;
    });
  }

  /** A grip behind a token: the end of a span, or the split; nothing where that token is not in sight. */
  function grip(token, label, low, high, value, act, span = null) {
    if (token < 0) return "";
    const { x, y, w, h } = chipBox(kit.plan(), "original", token);
    const made = slider("stage-end", label, low, high, value, act);
    if (span) made.dataset.span = span.text;
    else made.dataset.split = "1";
    setPlace(made, span ? { left: x + w - 4, top: y - 5, height: h + 5 } : { left: x + w - 6 + kit.plan().chips.gap / 2, top: y - 8, height: h + 16 });
    return made;
  }

  /** A grip that can be dragged, and moved with the arrow keys. */
  function slider(name, label, low, high, value, act) {
    const made = node("div", { class: name, role: "slider", tabindex: "0", title: label, "aria-label": label, "aria-valuemin": String(low), "aria-valuemax": String(high), "aria-valuenow": String(value) });
    made.step = (by) => act(clamp(value + by, low, high));
    made.to = (to) => clamp(to, low, high) !== value && act(clamp(to, low, high));
    return made;
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

  const sweep = (low, high) => lane.querySelectorAll("[data-word]").forEach((each) => each.classList.toggle("swept", Number(each.dataset.word) >= low && Number(each.dataset.word) <= high));

  const dragWords = {
    start(event) {
      const handle = event.target.closest("[role=slider]");
      const word = Number(event.target.closest("[data-word]")?.dataset.word || 0);
      return (handle || word) && { handle, word, to: word, from: event.clientX };
    },
    move(drag, event) {
      drag.moved = drag.moved || Math.abs(event.clientX - drag.from) > 6;
      drag.to = wordAt(event);
      if (!drag.moved || (!drag.handle && !can("spans"))) return;
      const start = drag.handle ? Number((drag.handle.dataset.span || "1").split(":")[0]) : drag.word;
      sweep(Math.min(start, drag.to), Math.max(start, drag.to));
    },
    end({ handle, word, to, moved }, _, cancelled) {
      sweep(1, 0);
      if (cancelled) return;
      if (handle) moved ? handle.to(to) : handle.focus();
      else if (moved && can("spans")) send({ do: "span", from: word, to }, "spans");
      else if (!moved || to === word) touch(word);
    },
  };

  /** A click: choose; on a chosen word the next action; without actions let it go. Spans open and close whole. */
  function touch(word) {
    held = word;
    hint.replaceChildren(...card());
    const inside = can("chosen") ? chosen().includes(word) : spanOf(word);
    if (can("actions") && inside) send({ do: "act", word }, "actions");
    else if (can("chosen")) send({ do: "choose", word }, "chosen");
    else if (can("spans")) send(inside ? { do: "unspan", old: inside.text } : { do: "span", from: word, to: word }, "spans");
    else if (can("split")) send({ do: "split", to: clamp(word, 1, record().words.length - 1) }, "split");
  }

  const letGo = (word) => send(plan().chosen ? { do: "choose", word } : { do: "unspan", old: spanOf(word).text }, "chosen");

  // -- the card: what the held word may become

  function card() {
    if (record().said) return [record().said];
    if (kit.painting) return ["Click or drag over the matrix to open and close cells; the leak indicator updates at once. Click what must be predicted to have it count or not. ", moveHint()];
    const words = record().words || [];
    if (held > words.length) held = 0;
    if (can("pair") && !held) return ["The second text:", ...(record().outcomes || []).map((outcome) => choice(outcome, outcome === plan().pair, () => send({ do: "pair", to: outcome }, "pair")))];
    if (!held || !chosen().includes(held)) {
      const said = [can("chosen") && "Click a word of the text to choose it.", can("spans") && "Drag across words to make a span; drag its end to resize it.", can("split") && "Drag the split."].filter(Boolean);
      if (!said.length && can("order")) return []; // the strip of the order says it
      return [said.join(" ") || (kit.live ? "Nothing in this plan can be edited." : RECORDED)];
    }
    const actions = can("actions") ? Object.entries(ACTION_NAMES) : [];
    return [
      node("b", {}, words[held - 1]),
      ...actions.map(([action, text]) => choice(text, actionOf(held) === action, () => send({ do: "act", word: held, to: action }, "actions"))),
      ...(can("replace") && (!can("actions") || actionOf(held) === "random") ? [replacement()] : []),
      button("not chosen", "Deselect", () => letGo(held)),
    ];
  }

  const choice = (text, on, act) => button(text, text, act, { "aria-pressed": String(on) });

  function replacement() {
    const replace = () => field.value.trim() && send({ do: "replace", word: held, with: field.value.trim(), acts: can("actions") }, "replace");
    const field = node("input", { type: "text", "aria-label": "word instead", placeholder: "word instead", maxlength: "40", onchange: replace });
    const carriers = chosen().filter((word) => !can("actions") || actionOf(word) === "random");
    field.value = (plan().replace || [])[carriers.indexOf(held)] || "";
    return field;
  }

  const moveHint = () => (Object.keys(record().painted || {}).some((name) => name !== "scored") ? "Painted cells have a folded corner." : "");

  // -- the order strip

  const units = () => [...order.querySelectorAll("[data-unit]")];

  function strip() {
    if (dealt) return; // what is in the hand stays there; it is laid down in the strip that follows
    order.hidden = !can("order");
    if (order.hidden) return;
    const [sequence, cut] = [plan().order || [], plan().cut];
    const { unit } = focused();
    order.style.touchAction = sequence.length > LONG ? "pan-y" : ""; // a long strip is scrolled by a finger
    const predicted = (i) => cut !== undefined && i >= cut;
    const made = sequence.map((each, i) => {
      const name = record().units[each - 1];
      const label = `${name}, step ${i + 1} of ${sequence.length}${predicted(i) ? ", predicted" : ""}`;
      return node("button", { type: "button", "data-unit": String(each), "data-at": String(i), "aria-label": label, title: "Drag, or Shift+Left and Shift+Right", class: predicted(i) ? "late" : "", tabindex: i ? "-1" : "0" }, node("small", {}, String(i + 1)), name ?? String(each));
    });
    order.replaceChildren(node("span", {}, cut === undefined ? "new order" : "prediction order"), ...made);
    if (made[cut]) {
      const handle = slider("stage-cut", "Context length: words that are given before the first prediction", 0, sequence.length - 1, cut, (to) => send({ do: "cut", to }, "cut"));
      handle.dataset.cut = "1";
      made[cut].before(handle);
    }
    if (unit) focusOn(order, `[data-unit="${unit}"]`);
  }

  function moveUnit(unit, to) {
    const sequence = plan().order.filter((each) => each !== unit);
    sequence.splice(clamp(to, 0, sequence.length), 0, unit);
    if (String(sequence) === String(plan().order)) return strip();
    send({ do: "order", to: sequence }, "order"); // the strip stays as laid until the answer comes
  }

  /** The place in the strip that is nearest to the pointer. */
  function placeAt(event) {
    const boxes = units().map((each) => each.getBoundingClientRect());
    const far = (box) => Math.hypot(event.clientX - box.left - box.width / 2, 2 * (event.clientY - box.top - box.height / 2));
    const at = boxes.reduce((best, box, i) => (far(box) < far(boxes[best]) ? i : best), 0);
    return { at, after: event.clientX > boxes[at].left + boxes[at].width / 2 };
  }

  const dragUnits = {
    start(event) {
      const [handle, unit] = ["[data-cut]", "[data-unit]"].map((what) => event.target.closest(what));
      dealt = (handle || unit) && { handle, unit, from: event.clientX, high: event.clientY };
      return dealt;
    },
    move(drag, event) {
      drag.moved = drag.moved || Math.hypot(event.clientX - drag.from, event.clientY - drag.high) > 5;
      if (!drag.moved) return;
      const { at, after } = placeAt(event);
      const [others, to] = [units(), at + Number(after)];
      if (drag.handle) {
        others.forEach((unit, i) => unit.classList.toggle("late", i >= to));
        others[to]?.before(drag.handle);
        return;
      }
      drag.unit.classList.add("dragged");
      if (others[at] && others[at] !== drag.unit) others[at][after ? "after" : "before"](drag.unit); // the strip shows where it will land
    },
    end({ handle, unit, moved }, event, cancelled) {
      dealt = null;
      if (!moved) (handle || unit).focus();
      if (!moved || cancelled) return strip();
      if (!handle) return moveUnit(Number(unit.dataset.unit), units().indexOf(unit));
      const { at, after } = placeAt(event);
      if (handle.to(at + Number(after)) === false) strip();
    },
  };

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

  const sketch = (matrix, at) => ({ matrix: matrix.name, open: !isOpen(matrix, at), cells: new Map([[at, !isOpen(matrix, at)]]), m: matrix.m });

  const dragCells = {
    start(event) {
      const cell = kit.painting && cellAt(event);
      if (!cell || cell.matrix.every) return null; // what holds above the first layer follows from it
      kit.sketch = sketch(cell.matrix, cell.at);
      kit.wake();
      return kit.sketch;
    },
    move(drawn, event) {
      const cell = cellAt(event);
      if (cell && cell.matrix.name === drawn.matrix) drawn.cells.set(cell.at, drawn.open);
      kit.wake();
    },
    end(drawn, _, cancelled) {
      if (!cancelled) return wipe(drawn);
      kit.sketch = null;
      kit.wake();
    },
  };

  function wipe({ matrix, cells, m }) {
    const { top = 0, left = 0 } = matrixOf(kit.frame(), matrix);
    send({ do: "paint", matrix, cells: [...cells].map(([at, open]) => [Math.floor(at / m) + top, (at % m) + left, open]) }, "paint");
  }

  /** The mask without a pointer: the arrows walk over cells, Enter or X turns one over. */
  function paintKey(key) {
    const matrix = (cursor && matrixOf(kit.frame(), cursor.matrix)) || kit.frame().matrices[0];
    if (!matrix) return false;
    cursor = cursor || { matrix: matrix.name, row: 0, column: 0 };
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[key];
    if (step) cursor = { matrix: matrix.name, row: clamp(cursor.row + step[0], 0, matrix.n - 1), column: clamp(cursor.column + step[1], 0, matrix.m - 1) };
    else if (key === "Enter" || key === "x") {
      kit.sketch = sketch(matrix, cursor.row * matrix.m + cursor.column);
      wipe(kit.sketch);
    } else return false;
    Object.assign(now, { hover: null, lock: { ...cursor } });
    hint.replaceChildren(`${matrix.rows[cursor.row]} reads ${matrix.columns[cursor.column]}: ${isOpen(matrix, cursor.row * matrix.m + cursor.column) ? "open" : "closed"}. Enter switches it.`);
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
    if (isForeign(event)) return false;
    const handled = kit.live ? letter === "/" && SEARCH_ELSEWHERE : elsewhere(event);
    if (handled && kit.alone()) hint.replaceChildren(handled);
    if (!kit.live || (handled && kit.alone())) return Boolean(handled);
    const side = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const { word, unit, answer, at } = event.target.dataset || {};
    if (answer && (event.key === "Enter" || event.key === " ")) return event.target.click(), true;
    if (event.target.step && side) return event.target.step(side), true;
    if (word && wordKey(event, Number(word), side)) return true;
    if (unit && side) {
      if (event.shiftKey) moveUnit(Number(unit), Number(at) + side);
      else order.querySelector(`[data-at="${Number(at) + side}"]`)?.focus();
      return true;
    }
    if (kit.painting && paintKey(event.key)) return true;
    const acts = { f: () => kit.send({ do: "fork" }), m: () => setPainting(!kit.painting && !buttons.paint.hidden), n: () => buttons.roll.click(), r: () => kit.send({ do: "reset" }) };
    if (kit.alone() && chooses(event)) acts[letter] = () => kit.send(letter === "c" ? { do: "compare" } : { do: "objective", to: Number(letter) || 10 });
    if (kit.painting) acts.escape = () => setPainting(false);
    acts[letter]?.();
    return letter in acts;
  }

  function wordKey(event, word, side) {
    const { length } = record().words;
    if (side && event.shiftKey && can("spans")) {
      const span = spanOf(word);
      const [from, to] = span ? [span.start, span.start + span.length - 1 + side] : [word, clamp(word + side, 1, length)];
      if (to >= from || !span) send({ do: "span", from, to: Math.min(to, length), old: span && span.text }, "spans");
    } else if (side) {
      const next = () => lane.querySelector(`[data-word="${word + side}"]`);
      if (!next() && record().stretch) kit.stretch(record().stretch.from + 8 * side);
      next()?.focus({ preventScroll: true });
    } else if (event.key === "Enter" || event.key === " ") touch(word);
    else if (event.key !== "Delete" && event.key !== "Backspace") return false;
    else if (chosen().includes(word)) letGo(word);
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

  /** A word button covers its chip, so it passes the pointer on: the reader lights up as if the canvas were bare. */
  function lit(word) {
    const matrix = ["content", "encoder"].map((name) => matrixOf(kit.frame(), name)).find(Boolean);
    const cell = word && matrix ? laneOf(kit.frame(), "original").cells[(record().word || []).indexOf(word)] : null;
    const row = cell ? streamSpots(kit.frame(), "inputs").findIndex((spot) => spot.cell.key === cell.key) : -1;
    now.hover = row >= 0 && row < matrix.n ? { matrix: matrix.name, row, column: -1 } : null;
    kit.wake();
  }

  parts.bench.prepend(group);
  parts.tools.append(hint, order);
  parts.picture.append(lane);
  for (const [part, drag] of [[lane, dragWords], [order, dragUnits], [canvas, dragCells]]) draggable(part, drag);
  return { adopt, place, key };
}
