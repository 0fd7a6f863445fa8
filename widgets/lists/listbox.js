/** What the lists of objectives and strategies share: a field that searches the beginnings of words, and walking by key. */

import { node, tell } from "../animation/js/dom.js";

const folded = (text) => text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "").replace(/[^\p{L}\p{N}]+/gu, " ");

/** Does every word of the search start a word of the text? */
export function matches(text, search) {
  const words = folded(text).split(" ");
  return folded(search).split(" ").filter(Boolean).every((sought) => words.some((word) => word.startsWith(sought)));
}

export const searchField = (what, more = {}) => node("input", { type: "search", placeholder: what, "aria-label": what, autocomplete: "off", spellcheck: "false", ...more });

/** The member of a list that is `step` away from another, or the end of the list. */
export const neighbour = (list, from, step) => list[Math.min(list.length - 1, Math.max(0, list.indexOf(from) + step))];

/** What a list says where it does not find what is sought: what is nearest by meaning, else the three nearest names. */
export function missing(model, sought, otherwise) {
  if (model.get("missed") !== sought) tell(model, "missed", sought);
  const [asked, sentence, names] = model.get("nearest");
  return asked === sought ? sentence || `${otherwise}; the nearest: ${names}.` : `${otherwise}.`;
}
