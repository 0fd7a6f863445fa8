/** The plan of a record as a person edits it: what may be edited, what is chosen, and the messages that change it. */

import { range } from "../record.js";

/** Where each plan key shows: the name of the first frame that draws it. */
export const SHOWS = {
  chosen: "choose", spans: "choose", order: "choose", cut: "choose", split: "choose", actions: "corrupt",
  replace: "corrupt", pair: "arrange", paint: "visibility", scored: "ask",
};

export class EditablePlan {
  constructor(/** @type {Kit} */ kit) {
    this.kit = kit;
  }

  get record() {
    return this.kit.record;
  }

  get values() {
    return this.record.plan || {};
  }

  /** May this key be edited? Which keys there are is said by the record, never by the objective's name. */
  can(/** @type {string} */ key) {
    return this.kit.live && (this.record.edits || []).includes(key);
  }

  /** @returns {Span[]} */
  get spans() {
    return (this.values.spans || []).map((text) => {
      const [start, length] = text.split(":").map(Number);
      return { text, start, length };
    });
  }

  spanOf(/** @type {number} */ word) {
    return this.spans.find((span) => word >= span.start && word < span.start + span.length);
  }

  /** The words that are chosen, counted from 1 and in order, by themselves or inside of spans. */
  get chosen() {
    const words = this.values.chosen || this.spans.flatMap((span) => range(span.length).map((i) => span.start + i));
    return [...words].sort((a, b) => a - b);
  }

  actionOf(/** @type {number} */ word) {
    return (this.values.actions || [])[this.chosen.indexOf(word)];
  }

  /** The word that was typed in for a chosen one. */
  replacementOf(/** @type {number} */ word) {
    const carriers = this.chosen.filter((each) => !this.can("actions") || this.actionOf(each) === "random");
    return (this.values.replace || [])[carriers.indexOf(word)] || "";
  }

  /** Sends an edit; the frame that shows its key is opened when the answer comes. */
  send(/** @type {Edit} */ edit, /** @type {keyof typeof SHOWS} */ key) {
    this.kit.send(edit, SHOWS[key]);
  }

  letGo(/** @type {number} */ word) {
    const span = this.spanOf(word);
    this.send(this.values.chosen || !span ? { do: "choose", word } : { do: "unspan", old: span.text }, "chosen");
  }
}
