/**
 * What the lists of objectives and strategies share: a field that searches the beginnings of words, and walking by key.
 */

import { node, tell } from "../animation/js/dom.js";

const folded = (/** @type {string} */ text) => text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "").replace(
  /\+\s*$/, " plus"
).replace(/[^\p{L}\p{N}]+/gu, " ");

const STEM = 5; // letters of a word from which on it also answers its longer forms, as "model" answers "modelling"

/** Does every word of the search start a word of the text, or the other way round? */
export function matches(/** @type {string} */ text, /** @type {string} */ search) {
  const words = folded(text).split(" ");
  const answers = (/** @type {string} */ word, /** @type {string} */ sought) =>
    word.startsWith(sought) || (word.length >= STEM && sought.startsWith(word));
  return folded(search).split(" ").filter(Boolean).every((sought) => words.some((word) => answers(word, sought)));
}

const tight = (/** @type {string} */ text) => folded(text).replaceAll(" ", "");

/** Where a card answers a search, the best first: its name, another name, a model that trains with it, its idea. */
function tier(/** @type {Card} */ { names, models = [], idea, group }, /** @type {string} */ search) {
  const sought = tight(search);
  const [name, row, ...others] = names.map(tight);
  const tiers = [
    sought === name || sought === row,
    others.includes(sought),
    models.some((model) => tight(model) === sought),
    names.some((each) => tight(each).startsWith(sought)),
    names.some((each) => matches(each, search)),
    models.some((each) => matches(each, search) || tight(each).startsWith(sought)),
    matches([...names, ...models, idea, group].join(" "), search),
  ];
  return tiers.indexOf(true);
}

/** The cards that answer a search, the best first and those as good in their own order; all without a search. */
export function ranked(/** @type {Card[]} */ cards, /** @type {string} */ search) {
  if (!tight(search)) return cards;
  const found = cards.map((card) => ({ card, tier: tier(card, search) })).filter((each) => each.tier >= 0);
  return found.sort((a, b) => a.tier - b.tier).map((each) => each.card);
}

/**
 * What a list shows for a search: a sentence where the name is not here, and cards, those that are nearest first.
 * @param {HostModel} model @param {Card[]} cards @param {string} search @param {string} what
 */
export function searched(model, cards, search, what) {
  const found = ranked(cards, search);
  if (!search.trim()) return { note: "", shown: found };
  if (model.get("sought") !== search) tell(model, "sought", search);
  /** @type {[string, string, string[]]} */
  const [asked, sentence, names] = model.get("nearest");
  const near = asked === search ? names.flatMap((name) => cards.filter((card) => card.name === name)) : [];
  if (sentence && asked === search) return {
    note: sentence, shown: [...near, ...found.filter((card) => !near.includes(card))],
  };
  return found.length ? { note: "", shown: found } : {
    note: `No ${what} has '${search}' in its name or idea${near.length ? "; the nearest:" : "."}`, shown: near,
  };
}

export const searchField = (/** @type {string} */ what, more = {}) => node(
  "input", { type: "search", placeholder: what, "aria-label": what, autocomplete: "off", spellcheck: "false", ...more }
);

/**
 * The member of a list that is `step` away from another, or the end of the list.
 * @template T @param {T[]} list @param {T} from @param {number} step
 */
export const neighbour = (list, from, step) => list[Math.min(list.length - 1, Math.max(0, list.indexOf(from) + step))];
