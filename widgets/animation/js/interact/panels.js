/** What lies next to and below the picture: the explanation, the quiz, the sheets, and what to take home. */

import panelsStyle from "./panels.css" with { type: "text" };
import { node } from "../dom.js";
import { Explanation } from "./explanation.js";
import { Quiz } from "./quiz.js";
import { Share } from "./share.js";
import { Sheets } from "./sheets.js";

/** Pixels above which the explanation stands beside the picture; else it stands below. */
export const BESIDE = 860;

/** @param {Kit} kit @returns {Plug[]} */
export function panelsOf(kit) {
  const [explanation, quiz, share, sheets] = [new Explanation(kit), new Quiz(kit), new Share(kit), new Sheets(kit)];
  const { story, table, keys } = sheets.buttons;
  kit.parts.style.append(panelsStyle);
  kit.parts.bench.append(node("span", { class: "stage-group" }, quiz.button, story, table, share.root, keys));
  return [explanation, quiz, share, sheets];
}
