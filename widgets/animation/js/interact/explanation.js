/** The explanation of an objective: its idea, the terms of its loss, and how many positions teach. */

import { node } from "../dom.js";
import { explained } from "../glossary.js";
import { clamp, homeOf, laneOf } from "../record.js";
import { button } from "./controls.js";
import { fitFormulas, formula } from "./formula.js";

/** Which lanes a term of the loss is computed from, and where: positions from 1. @returns {Record<string, number[]>} */
function feeds(/** @type {StageRecord} */ record, /** @type {Term} */ term) {
  const home = homeOf(term.reader);
  const isMain = (/** @type {Term} */ each) => !each.network || each.network === "main";
  const drawn = term.positions.map((position) => position - (record.begins ? record.begins[home] : 0));
  const answers = (record.terms || []).find(isMain);
  const spoken = isMain(term) && answers && (answers.reader === "decoder") === (term.reader === "decoder");
  return { [home]: drawn, ...(spoken ? { targets: drawn } : {}) };
}

const ofNetwork = (/** @type {string | undefined} */ network, before = "") =>
  network && network !== "main" ? `${before} ${network} network` : "";

const quiet = (/** @type {(string | Node)[]} */ ...inner) => node("p", { class: "quiet" }, ...inner);
const section = (/** @type {string} */ title, /** @type {(string | Node)[]} */ ...inner) =>
  node("section", {}, node("h3", { title: explained(title) }, title), ...inner);

function taught(/** @type {Signal} */ { scored, tokens, share }) {
  const said =
    `${scored} scored answer${scored === 1 ? "" : "s"} for ${tokens} tokens of text: ${Math.round(100 * share)} %`;
  return node("p", { title: explained(said) }, said);
}

function meter(/** @type {number} */ share, of = "") {
  const part = 100 * clamp(share);
  return node("div", {
    class: "stage-meter", role: "meter", "aria-label": `Share of positions that teach${of}`, "aria-valuemin": "0",
    "aria-valuemax": "100", "aria-valuenow": String(Math.round(part)),
  }, node("i", { style: `width: ${part}%` }));
}

/** One bar for each question where a step asks several, each with its own share. */
const metered = (/** @type {Meter} */ { target, network, ...signal }) => [
  node("p", { class: "stage-asked" }, target, ...(ofNetwork(network) ? [node("small", {}, ofNetwork(network))] : [])),
  meter(signal.share, `: ${target}`), taught(signal),
];

export class Explanation {
  /** @type {{ term: Term, made: HTMLElement }[]} */
  terms = [];
  width = 0;

  constructor(/** @type {Kit} */ kit) {
    this.kit = kit;
    this.root = kit.parts.explain;
    new ResizeObserver(([{ contentRect }]) => {
      if (contentRect.width !== this.width) this.fit(); // smaller formulas make it less high, which is no new width
      this.width = contentRect.width;
    }).observe(this.root);
  }

  fit() {
    fitFormulas(this.root.querySelectorAll(".stage-terms .stage-formula"));
  }

  adopt() {
    const { parts, record } = this.kit;
    const { terms = [], signal, source } = record;
    const { subtitle } = parts;
    this.terms = terms.map((term) => ({ term, made: this.termButton(term) }));
    const sections = [
      subtitle.textContent && section("The idea", subtitle),
      terms.length && this.loss(),
      this.misprint(),
      signal && this.signal(signal),
      source && section("Source", quiet(source)),
    ];
    this.root.replaceChildren(...sections.filter(Boolean));
    this.fit();
    this.root.hidden = !terms.length && !signal;
    parts.source.hidden = !this.root.hidden;
  }

  loss() {
    const symbols = this.terms.flatMap(({ term }) => Object.entries(term.symbols || {}).map(([name, text]) =>
      quiet(formula((term.signs || {})[name], name), `: ${text}`)));
    const made = node("div", { class: "stage-terms" }, ...this.terms.map((each) => each.made));
    return section("The loss", quiet(this.kit.record.loss || ""), made, ...symbols);
  }

  misprint() {
    const { misprint } = this.kit.record;
    if (!misprint) return null;
    const printed = node("div", { class: "stage-terms" }, formula(misprint.mathml, misprint.latex));
    const title = "As printed in the survey (erratum)";
    return section(title, quiet(`${misprint.where} prints:`), printed, quiet(misprint.wrong));
  }

  signal(/** @type {Signal} */ signal) {
    const { meters = [] } = this.kit.record;
    const share = signal.tokens ? signal.scored / signal.tokens : 0;
    const bars = meters.length > 1 ? meters.flatMap(metered) : [meter(share), taught({ ...signal, share })];
    return section("Signal", ...bars);
  }

  /** A term of the loss, which lights the positions that it is computed from. */
  termButton(/** @type {Term} */ term) {
    const fed = term.positions.length;
    const weight = term.weight !== 1 ? ` · weight ${Number(term.weight.toFixed(4))}` : "";
    const title = `Positions that feed this term: ${term.positions.join(", ") || "none"}`;
    const [on, off] = [() => this.light(term, made), () => this.light(null, made)];
    const hear = { onpointerenter: on, onfocus: on, onpointerleave: off, onblur: off };
    const face = formula(term.mathml, term.latex);
    const made = button(face, title, () => this.hold(term, made), { "aria-pressed": "false", ...hear });
    const from = `${term.target}: from ${fed} position${fed === 1 ? "" : "s"}`;
    made.append(node("small", {}, `${from}${ofNetwork(term.network, " of the")}${weight}`));
    return made;
  }

  /** Lights a term; on a frame before its positions are asked, the last frame is opened. */
  hold(/** @type {Term} */ term, /** @type {HTMLElement} */ made) {
    if (!laneOf(this.kit.frame(), "targets")) this.kit.jump(this.kit.last());
    this.light(term, made);
  }

  /** A term lights the positions that feed it. */
  light(/** @type {Term | null} */ term, /** @type {HTMLElement} */ made) {
    const { kit } = this;
    kit.lit = term ? feeds(kit.record, term) : null;
    for (const each of this.terms) each.made.classList.toggle("lit", Boolean(term) && each.made === made);
    kit.wake();
  }

  /** The other way round: a position under the pointer marks the terms that it feeds. */
  hover(/** @type {Reader | null} */ found) {
    const reader = found && (["content", "encoder", "query"].includes(found.matrix) ? "inputs" : "decoder");
    for (const { term, made } of this.terms) {
      const home = homeOf(term.reader);
      const feeding = found && reader === home && feeds(this.kit.record, term)[home].includes(found.row + 1);
      made.classList.toggle("lit", Boolean(feeding));
    }
  }
}
