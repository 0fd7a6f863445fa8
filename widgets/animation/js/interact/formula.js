/** Formulas of the loss as MathML, which break over lines and shrink where a piece of them is too wide. */

import { node } from "../dom.js";

const MATH_TAGS = new Set(
  ("math mrow mi mo mn mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mstyle mpadded " +
    "mtable mtr mtd menclose mphantom").split(" ")
);
const MATH_MARKS = new Set([
  "display", "stretchy", "fence", "form", "mathvariant", "accent", "width", "lspace", "rspace", "movablelimits",
  "symmetric", "separator", "linethickness",
]);

/** An element of MathML from its tree, `[tag, attributes, ...children]`; no other tags and attributes come through. */
function mathOf(/** @type {any} */ tree) {
  const [tag, attributes, ...children] = tree;
  const made = document.createElementNS("http://www.w3.org/1998/Math/MathML", MATH_TAGS.has(tag) ? tag : "mrow");
  for (const [name, value] of Object.entries(attributes)) if (MATH_MARKS.has(name)) made.setAttribute(name, value);
  made.append(...children.map((/** @type {any} */ child) => (Array.isArray(child) ? mathOf(child) : child)));
  return made;
}

/** Does a piece of a formula begin with this sign, `depth` brackets deep and after `before`? */
function breaksAt(/** @type {string} */ sign, /** @type {string} */ before, /** @type {number} */ depth) {
  if (sign === "\u2223") return depth <= 1;
  const infix = sign !== "" && "+\u2212".includes(sign) && before !== "" && !"([{,".includes(before);
  return depth === 0 && (infix || sign === "[");
}

/** @type {{ [sign: string]: number }} */
const DEEPER = { "(": 1, ")": -1 };

/**
 * A formula in pieces that may stand on lines of their own, since a browser does not break one that is too long: before
 * a plus, a minus and an opening bracket, and before what is given; never inside of other parentheses.
 */
function brokenMath(/** @type {Element} */ math) {
  const [first] = math.children;
  const row = math.childElementCount === 1 && first.localName === "mrow" ? first : math;
  /** @type {Element[][]} */
  const pieces = [[]];
  let [depth, before] = [0, ""];
  for (const part of [...row.children]) {
    const sign = part.localName === "mo" ? part.textContent || "" : "";
    if (breaksAt(sign, before, depth)) {
      pieces.push([]);
      if (sign !== "[") part.setAttribute("form", "infix"); // it keeps its room where it begins a piece
    }
    depth += DEEPER[sign] ?? 0;
    before = sign || "x";
    pieces[pieces.length - 1].push(part);
  }
  return pieces.map((parts) => mathOf(["math", {}, mathOf(["mrow", {}, ...parts])]));
}

/**
 * A formula as it stands in its column: over as many lines as it takes; smaller only where a piece of it is too wide.
 */
export function formula(/** @type {MathTree | undefined} */ mathml, /** @type {string} */ latex) {
  return node(
    "span", { class: "stage-formula" },
    ...(mathml ? brokenMath(mathOf(mathml)).flatMap((piece) => [piece, node("wbr")]) : [latex])
  );
}

/** Make formulas smaller that are wider than their column; what is not on screen has no width and stays as it is. */
export function fitFormulas(/** @type {NodeListOf<any>} */ formulas) {
  for (const each of formulas) {
    each.style.fontSize = "";
    const room =
      each.parentElement.clientWidth - 32; // what a button leaves between its padding, on a line that is set in
    const widest = Math.max(
      0, ...[...each.querySelectorAll("math > mrow")].map((piece) => piece.getBoundingClientRect().width)
    );
    if (widest > room && room > 0) each.style.fontSize = `${Math.max(0.6, room / widest).toFixed(3)}em`;
  }
}
