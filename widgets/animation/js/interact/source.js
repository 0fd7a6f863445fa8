/** What else the explanation says of a frame: its lines of code, and the switch of an objective. */

import sourceStyle from "./source.css" with { type: "text" };
import { node } from "../dom.js";
import { explained } from "../glossary.js";
import { button, setLamp } from "./controls.js";
import { BESIDE } from "./panels.js";

/** Runs of Python as text and coloured spans. */
const coloured = (/** @type {Runs} */ runs) =>
  runs.map(([kind, text]) => (kind ? node("span", { class: kind }, text) : text));

/** Text of a call that may be broken after its signs, so that no word is cut in two. */
const breakable = (/** @type {string | HTMLElement} */ part) =>
  typeof part === "string"
    ? part.split(/(?<=[(,=])/).flatMap((piece, i) => (i ? [node("wbr"), piece] : [piece]))
    : [part];

export class Source {
  /** @type {Code | null | undefined} */
  shown = null;
  /** @type {boolean | null} */
  wish = null; // whether a person has opened or closed the code, which is in the way below a picture

  constructor(/** @type {Kit} */ kit) {
    this.kit = kit;
    this.root = node("section", { class: "stage-code" });
    kit.parts.style.prepend(sourceStyle);
  }

  adopt() {
    const { explain } = this.kit.parts;
    const { switch: choices } = this.kit.record;
    if (choices) explain.firstChild?.after(this.switchOf(choices)); // after the idea, where it is in sight
    explain.append(this.root);
    this.shown = null;
    this.follow();
  }

  follow() {
    const { code } = this.kit.frame();
    if (code === this.shown) return;
    this.shown = code;
    this.root.hidden = !code;
    if (!code) return;
    const says = code.says ? [node("p", { class: "quiet" }, code.says)] : [];
    this.root.replaceChildren(node("h3", {}, "The code of this frame"), ...says, this.detailsOf(code));
  }

  detailsOf(/** @type {Code} */ code) {
    const blocks = code.parts.flatMap(({ file, line, spans }) => {
      const region = { tabindex: "0", role: "region", "aria-label": `Code in ${file} from line ${line}` };
      const name = node("p", { class: "quiet file" }, `${file}, line ${line}`);
      return [name, node("pre", region, node("code", {}, ...coloured(spans)))];
    });
    const call = node("code", {}, ...coloured(code.call).flatMap(breakable));
    const head = node("summary", { onclick: () => (this.wish = !details.open) }, call);
    const details = node("details", {}, head, ...blocks);
    details.open = this.wish ?? this.kit.root.clientWidth > BESIDE;
    return details;
  }

  switchOf(/** @type {Switch} */ { question, choices, knob, now }) {
    const { kit } = this;
    const made = choices.map(({ value, level, sentence, hears }) => {
      const box = node("p");
      setLamp(box, { level, leak: level === "red", sentence }, kit.theme);
      const lamp = node("span", { "aria-hidden": "true" }, box.firstChild || "");
      const inside = [lamp, node("b", {}, value), node("small", {}, `${sentence} ${hears}`)];
      const chosen = String(value === now);
      if (!kit.live) return node("div", { "data-now": chosen }, ...inside);
      const act = () => kit.send({ do: "set", knob, to: value }, "visibility");
      const face = button("", "", act, { "aria-pressed": chosen, "data-choice": value });
      face.replaceChildren(...inside);
      return face;
    });
    return node("section", { class: "stage-switch" }, node("h3", { title: explained(question) }, question), ...made);
  }
}
