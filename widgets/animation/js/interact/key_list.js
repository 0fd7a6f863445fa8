/** The keys of a stage and what they do. */

import { node } from "../dom.js";

export const KEY_LIST = [
  ["Space", "play, pause"],
  ["P", "pause"],
  ["Left, Right", "step back, step on"],
  ["Shift+Space, S", "step back, step on"],
  ["Home, End", "first frame, last frame"],
  ["Up, Down", "next / previous row"],
  ["Escape", "clear the selection"],
  ["O", "sort the axes by order"],
  ["H", "the next attention head"],
  [", and .", "the layer below, the layer above"],
  ["+ and -", "faster, slower"],
  ["Tab, Enter", "a word of the text: choose it, then its next action"],
  ["Shift+Left, Shift+Right", "on a word: make or resize a span; in the order: move the word"],
  ["Delete", "on a word: deselect it"],
  ["J, K", "on a long text: next window, previous window"],
  ["N", "resample: another seed"],
  ["R", "reset the edits (same seed)"],
  ["F", "fork the training run at the step that is shown"],
  ["L", "show the path of a leak"],
  ["M", "paint the mask; arrows and Enter inside"],
  ["Ctrl+Z, Ctrl+Shift+Z", "undo, redo"],
  ["G", "quiz: predict before it is shown"],
  ["B", "storyboard"],
  ["V", "the mask over ten epochs"],
  ["T", "the matrix as a table"],
  ["1 to 9, 0", "one of the first ten objectives"],
  ["C", "compare with LM (LM with MLM); again to stop"],
  ["/", "search the objectives"],
  ["?", "this list"],
];

/** Keys and what they do, as elements. @param {string[][]} keys */
export const keyList = (keys) => keys.map(([name, text]) => node("div", {}, node("kbd", {}, name), ` ${text}`));
