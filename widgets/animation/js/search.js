/** Cards of a list that a person searches by the beginnings of words. */

const folded = (text) => text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "").replace(/[^\p{L}\p{N}]+/gu, " ");

/** Does every word of the search start a word of the text? */
export function matches(text, search) {
  const words = folded(text).split(" ");
  return folded(search).split(" ").filter(Boolean).every((sought) => words.some((word) => word.startsWith(sought)));
}
