/**
 * Editing by hand: what a person may do to the plan and the mask. A gesture becomes one message; the engine rebuilds
 * the text and the record comes back. Which gestures there are is said by the record (`edits`), never by the
 * objective's name.
 */

import editingStyle from "./editing.css" with { type: "text" };
import { node } from "../dom.js";
import { button, iconButton, isForeign, isText, labelButton } from "./controls.js";
import { MaskBrush } from "./mask.js";
import { OrderStrip } from "./order.js";
import { EditablePlan } from "./plan.js";
import { ACTION_NAMES, WordLane } from "./words.js";

const RECORDED = "Static replay (no kernel). To edit it, open it in the app (playground app).";
const FORK_ELSEWHERE =
  "F forks a training run at the step that is shown. Nothing trains in this page: in the app, open the run on the " +
  "Train page and press F there.";
const CHOSEN_ELSEWHERE =
  "The digits choose one of the first ten objectives, C puts another alongside this one, / searches. This page shows " +
  "a single objective: open it in the app (playground app), or call stage() in a notebook.";
const SEARCH_ELSEWHERE =
  "/ searches all objectives in the app (playground app). Here the digits choose one of the first ten, and C " +
  "compares it with another.";
const PAINTING =
  "Click or drag over the matrix to open and close cells; the leak indicator updates at once. Click what must be " +
  "predicted to have it count or not. ";

const chooses = (/** @type {KeyboardEvent} */ event) => /^[\dc/]$/i.test(event.key);

/** What a key would do that is heard only in the app; nothing for any other. */
export const elsewhere = (/** @type {KeyboardEvent} */ event) =>
  event.key.toLowerCase() === "f" ? FORK_ELSEWHERE : chooses(event) && CHOSEN_ELSEWHERE;

export class Hands {
  constructor(/** @type {Kit} */ kit) {
    const { parts } = kit;
    this.kit = kit;
    this.plan = new EditablePlan(kit);
    this.hint = node("p", { class: "stage-hint", "aria-live": "polite" });
    this.words = new WordLane(kit, this.plan, () => this.hint.replaceChildren(...this.card()));
    this.order = new OrderStrip(kit, this.plan);
    this.brush = new MaskBrush(kit, this.plan, () => this.adopt(), (words) => this.hint.replaceChildren(words));
    this.buttons = this.makeButtons();
    this.group = node("span", { class: "stage-group" }, ...Object.values(this.buttons));
    parts.style.append(editingStyle);
    parts.bench.prepend(this.group);
    parts.tools.append(this.hint, this.order.root);
    parts.picture.append(this.words.root);
  }

  makeButtons() {
    const { kit } = this;
    const roll = () => kit.send({ do: "roll" }, "choose");
    const paint = () => this.brush.turn(!kit.painting);
    const painting = "Open and close cells of the attention mask by hand (M)";
    const repairing = "Close what was opened in the attention mask, open what was closed";
    return {
      roll: labelButton("roll", "Resample", "Choose again at random: another seed (N)", roll),
      undo: iconButton("undo", "Undo (Ctrl+Z)", () => kit.send({ do: "undo" })),
      redo: iconButton("redo", "Redo (Ctrl+Shift+Z)", () => kit.send({ do: "redo" })),
      paint: labelButton("paint", "Paint mask", painting, paint),
      repair: button("Reset mask", repairing, () => kit.send({ do: "unpaint" })),
    };
  }

  // -- the card: what the held word may become

  card() {
    const { plan, words } = this;
    const { record } = plan;
    if (record.said) return [record.said];
    if (this.kit.painting) return [PAINTING, this.cornerHint()];
    if (words.held > words.words.length) words.held = 0;
    if (plan.can("pair") && !words.held) return ["The second text:", ...this.pairs()];
    return words.held && plan.chosen.includes(words.held) ? this.cardOf(words.held) : this.gestures();
  }

  cornerHint() {
    const painted = Object.keys(this.plan.record.painted || {}).some((name) => name !== "scored");
    return painted ? "Painted cells have a folded corner." : "";
  }

  pairs() {
    const { plan } = this;
    return (plan.record.outcomes || []).map((outcome) =>
      choice(outcome, outcome === plan.values.pair, () => plan.send({ do: "pair", to: outcome }, "pair")));
  }

  /** What a person may do, while no chosen word is held. */
  gestures() {
    const said = Object.entries({
      chosen: "Click a word of the text to choose it.",
      spans: "Drag across words to make a span; drag its end to resize it.",
      split: "Drag the split.",
    }).filter(([key]) => this.plan.can(key)).map(([, text]) => text);
    if (!said.length && this.plan.can("order")) return []; // the strip of the order says it
    return [said.join(" ") || (this.kit.live ? "Nothing in this plan can be edited." : RECORDED)];
  }

  cardOf(/** @type {number} */ word) {
    const { plan } = this;
    const action = plan.actionOf(word);
    const actions = plan.can("actions") ? Object.entries(ACTION_NAMES) : [];
    const replaces = plan.can("replace") && (!plan.can("actions") || action === "random");
    return [
      node("b", {}, this.words.words[word - 1]),
      ...actions.map(([to, text]) => choice(text, action === to, () => plan.send({ do: "act", word, to }, "actions"))),
      ...(replaces ? [this.replacement(word)] : []),
      button("not chosen", "Deselect", () => plan.letGo(word)),
    ];
  }

  replacement(/** @type {number} */ word) {
    const { plan } = this;
    const replace = () => {
      const other = field.value.trim();
      if (other) plan.send({ do: "replace", word, with: other, acts: plan.can("actions") }, "replace");
    };
    const name = "word instead";
    const field = node(
      "input", { type: "text", "aria-label": name, placeholder: name, maxlength: "40", onchange: replace }
    );
    field.value = plan.replacementOf(word);
    return field;
  }

  // -- keys

  key(/** @type {On<KeyboardEvent, HTMLElement | Grip>} */ event) {
    const letter = event.key.toLowerCase();
    if (isHistory(event)) return this.goBack(letter === "y" || event.shiftKey);
    if (isForeign(event)) return false;
    const { kit } = this;
    const handled = kit.live ? letter === "/" && SEARCH_ELSEWHERE : elsewhere(event);
    const says = Boolean(handled) && kit.alone();
    if (says) this.hint.replaceChildren(handled);
    if (!kit.live || says) return Boolean(handled);
    if (this.keyOnPart(event)) return true;
    if (kit.painting && this.brush.key(event.key)) return true;
    const act = this.acts(event, letter)[letter];
    act?.();
    return Boolean(act);
  }

  /** Undo, or with `on` redo. */
  goBack(/** @type {boolean} */ on) {
    const { undo, redo } = this.buttons;
    const way = on ? redo : undo;
    if (this.kit.live && !way.disabled) way.click();
    return this.kit.live;
  }

  /** A key on an answer, a grip, a word or a unit of the order. */
  keyOnPart(/** @type {On<KeyboardEvent, HTMLElement | Grip>} */ event) {
    const side = /** @type {Steps} */ ({ ArrowLeft: -1, ArrowRight: 1 })[event.key];
    const { target } = event;
    const { word, unit, answer, at } = target.dataset || {};
    if (answer && (event.key === "Enter" || event.key === " ")) target.click();
    else if ("step" in target && typeof target.step === "function" && side) target.step(side); // a slider's is a string
    else if (word && this.words.key(event, Number(word), side)) return true;
    else return Boolean(unit && side) && this.order.key(event, { unit, at }, side);
    return true;
  }

  /** What each letter does. */
  acts(/** @type {KeyboardEvent} */ event, /** @type {string} */ letter) {
    const { kit, brush, buttons } = this;
    /** @type {Record<string, () => void>} */
    const acts = {
      f: () => kit.send({ do: "fork" }),
      m: () => brush.turn(!kit.painting && !buttons.paint.hidden),
      n: () => buttons.roll.click(),
      r: () => kit.send({ do: "reset" }),
    };
    if (kit.alone() && chooses(event)) {
      acts[letter] = () => kit.send(letter === "c" ? { do: "compare" } : { do: "objective", to: Number(letter) || 10 });
    }
    if (kit.painting) acts.escape = () => brush.turn(false);
    return acts;
  }

  // -- together

  place() {
    this.words.place();
  }

  adopt() {
    const { buttons, kit } = this;
    const { record } = this.plan;
    const { can: back = {}, painted = {} } = record;
    kit.parts.tools.hidden = false;
    this.hint.replaceChildren(...this.card());
    buttons.undo.disabled = !back.undo;
    buttons.redo.disabled = !back.redo;
    this.group.hidden = !kit.live;
    buttons.roll.hidden = !(record.edits || []).length;
    buttons.paint.hidden = !record.can || !record.frames.some((frame) => frame.matrices.length);
    buttons.paint.setAttribute("aria-pressed", String(kit.painting));
    buttons.repair.hidden = !Object.values(painted).some((cells) => cells.length);
    this.order.adopt();
    if (kit.plan) this.place();
  }
}

/** Is it a key of undo and redo? */
const isHistory = (/** @type {KeyboardEvent} */ event) =>
  (event.ctrlKey || event.metaKey) && "zy".includes(event.key.toLowerCase()) && !isText(event.target);

const choice = (/** @type {string} */ text, /** @type {boolean} */ on, /** @type {() => void} */ act) =>
  button(text, text, act, { "aria-pressed": String(on) });
