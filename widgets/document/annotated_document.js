/**
 * One document of a corpus: words in lines, bars and brackets below them, arcs above, links between two languages. Text
 * from the record only ever becomes text nodes. `on` holds the names of the layers that are shown; a chip changes it.
 */

import annotatedDocumentStyle from "./annotated_document.css" with { type: "text" };
import { endOf, focusOn, focused, follow, node, plain, svgNode, tell } from "../animation/js/dom.js";

const WORD = 15; // px
const NOTE = 10; // px
const GAP = 7; // px between two words
const LANE = 16; // px of a bar or a bracket with its note
const LEVEL = 13; // px from one level of arcs to the next
const pen = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
let family = "sans-serif"; // that of the page, once it is known

/** The width of a text in a size, in px. */
function wide(/** @type {string} */ text, /** @type {number} */ size) {
  pen.font = `${size}px ${family}`;
  return pen.measureText(text).width;
}

/** Words put into lines of at most `width`. */
function setWords(/** @type {AnnotatedDocument} */ record, /** @type {number} */ width, /** @type {Layer[]} */ shown) {
  const fresh = new Set(record.language ? [record.language] : []);
  const arcs = shown.some((layer) => layer.style === "arc");
  const borders = new Set(record.sentences);
  const least = shown.some((layer) => layer.style === "bar") ? 9 : 0;
  /** @type {WordBox[]} */
  const placed = [];
  let [line, x] = [0, 0];
  const measure = (/** @type {string} */ word) => Math.min(Math.max(wide(word, WORD), least), width);
  /** A sentence with arcs stays on one line where it can. */
  const whole = (/** @type {number} */ first) => {
    const last = record.sentences.find((place) => place > first) ?? record.words.length;
    return record.words.slice(first, last).reduce((sum, word) => sum + measure(word) + GAP, 0);
  };
  record.words.forEach((word, k) => {
    const w = measure(word);
    if (arcs && borders.has(k) && x + 3 * GAP + whole(k) > width) fresh.add(k);
    const gap = borders.has(k) ? 3 * GAP : record.tight[k] ? 1 : GAP;
    const breaks = x && (fresh.has(k) || x + gap + w > width);
    line += Number(Boolean(breaks));
    const left = x && !breaks ? x + gap : 0;
    placed.push({ line, x: left, w });
    x = left + w;
  });
  return placed;
}

/** A run cut where its words change the line. */
function cut(/** @type {Run} */ run, /** @type {WordBox[]} */ placed) {
  /** @type {Run[]} */
  const parts = [];
  for (let k = run.first; k <= run.last; k += 1) {
    const part = parts.at(-1);
    if (part && placed[k].line === placed[part.last].line) part.last = k;
    else parts.push({ ...run, first: k, last: k });
  }
  return parts;
}

/** How high each arc of one line must go so that it clears those inside it. */
function levels(/** @type {Link[]} */ arcs) {
  const spans = arcs.map(([a, b], k) => ({
    k, low: Math.min(a, b), high: Math.max(a, b),
  })).sort((a, b) => a.high - a.low - b.high + b.low);
  /** @type {number[]} */
  const level = [];
  spans.forEach(({ k, low, high }, i) => {
    const under = spans.slice(0, i).filter((each) => each.low >= low && each.high <= high);
    level[k] = 1 + Math.max(0, ...under.map((each) => level[each.k]));
  });
  return level;
}

/** The whole picture for one width. */
function draw(/** @type {AnnotatedDocument} */ record, /** @type {number} */ width, /** @type {string[]} */ on) {
  const shown = record.layers.filter((layer) => on.includes(layer.name));
  const placed = setWords(record, width, shown);
  const lines = 1 + Math.max(0, ...placed.map((p) => p.line));
  const lanes = shown.filter((layer) => layer.style === "bar" || layer.style === "bracket");
  const [arcs, links] = ["arc", "link"].map(
    (style) => shown.filter((layer) => layer.style === style).flatMap((layer) => layer.links)
  );
  const svg = svgNode("svg", { width, role: "img", "aria-label": `A document of ${record.words.length} words` });
  /** @type {number[]} */
  const base = [];
  let y = 0;
  for (let line = 0; line < lines; line += 1) {
    const ending = arcs.filter(([, b]) => placed[b].line === line);
    const [here, stubs] = [true, false].map((whole) => ending.filter(([a]) => (placed[a].line === line) === whole));
    const level = levels(here);
    y += Math.max(level.length ? 8 + LEVEL * (1 + Math.max(...level)) : 0, stubs.length ? 22 : 0) + 18;
    base[line] = y;
    svg.append(
      ...here.map((arc, k) => arch(arc, placed, y, level[k])), ...stubs.map((arc) => stub(arc, placed, y, record.words))
    );
    y += 5;
    for (const layer of lanes) {
      const parts = layer.runs.flatMap((run) => cut(run, placed)).filter((part) => placed[part.first].line === line);
      svg.append(...parts.map((part) => mark(part, placed, y, layer.style)));
      y += parts.length ? LANE : 0;
    }
    y += links.length ? 26 : lanes.length ? 9 : 5;
  }
  const facts = factsOf(record);
  record.words.forEach((word, k) => svg.append(letters(word, placed[k], base[placed[k].line], facts[k])));
  record.sentences.filter((k) => placed[k].x > 0).forEach((k) => {
    const { x, line } = placed[k];
    svg.append(svgNode(
      "line", { class: "border", x1: x - 1.5 * GAP, x2: x - 1.5 * GAP, y1: base[line] - 14, y2: base[line] + 5 }
    ));
  });
  const below = lanes.length * LANE + 6;
  links.forEach(([a, b]) => svg.prepend(link(placed[a], placed[b], base, below)));
  svg.setAttribute("height", Math.max(20, y));
  return svg;
}

/**
 * A word, with all that is known about it when the mouse rests on it.
 * @param {string} word @param {WordBox} place @param {number} y @param {string} fact
 */
function letters(word, place, y, fact) {
  const squeezed = wide(word, WORD) > place.w + 0.5 ? { textLength: place.w, lengthAdjust: "spacingAndGlyphs" } : {};
  return svgNode("text", { class: "word", x: place.x, y, ...squeezed }, word, svgNode("title", {}, fact));
}

/** One line for every word: the word, and what each layer says of it. */
function factsOf(/** @type {AnnotatedDocument} */ record) {
  const said = record.words.map((word) => [word]);
  for (const layer of record.layers) {
    for (const run of layer.runs) {
      for (let k = run.first; k <= run.last; k += 1) said[k].push(run.said ? `${layer.name}: ${run.said}` : layer.name);
    }
    for (const [a, b, relation] of layer.links) {
      if (layer.style === "arc") said[b].push(`${relation || "depends"} on ${record.words[a]}`);
      else for (const [one, other] of [[a, b], [b, a]]) said[one].push(`stands for ${record.words[other]}`);
    }
  }
  return said.map((parts) => parts.join(" · "));
}

/** What fits into a room: the whole value, its code, or nothing. */
function note(/** @type {Run} */ part, /** @type {number} */ x, /** @type {number} */ room, /** @type {number} */ y) {
  const text = [part.said, part.code].find((t) => t && wide(t, NOTE) <= room + 2) || "";
  return svgNode("text", { class: "note", x: x + room / 2, y, "text-anchor": "middle" }, text);
}

/** @param {Run} run @param {number} x1 @param {number} x2 @param {number} y */
const hued = (run, x1, x2, y) => svgNode(
  "line",
  { x1, x2, y1: y, y2: y, stroke: run.hue, "stroke-width": 3, ...(run.dash ? { "stroke-dasharray": run.dash } : {}) }
);

/**
 * A run below its words: a bar in the hue of its value, or a bracket, and what it is.
 * @param {Run} part @param {WordBox[]} placed @param {number} y @param {string} style
 */
function mark(part, placed, y, style) {
  const [left, right] = [placed[part.first].x, placed[part.last].x + placed[part.last].w];
  if (style === "bar") return svgNode(
    "g", {}, hued(part, left + 0.5, right - 0.5, y + 2), note(part, left, right - left, y + 12.5)
  );
  const edge = svgNode("path", { class: "edge", d: `M${left + 0.5} ${y - 1}v4H${right - 0.5}v-4` });
  return svgNode("g", {}, edge, note(part, left + 0.5, right - left - 1, y + 12.5));
}

const tip = (/** @type {number} */ x, /** @type {number} */ foot) => svgNode(
  "path", { d: `M${x - 3} ${foot - 5}L${x} ${foot}L${x + 3} ${foot - 5}z`, fill: "currentColor" }
);
const middle = (/** @type {WordBox} */ place) => place.x + place.w / 2;

/**
 * An arc from a head to the word that depends on it, with an arrow at that word.
 * @param {Link} link @param {WordBox[]} placed @param {number} base @param {number} level
 */
function arch([head, word, relation], placed, base, level) {
  const [from, to] = [middle(placed[head]) + (head < word ? 3 : -3), middle(placed[word])];
  const [top, foot] = [base - 17 - LEVEL * level, base - 16];
  const bend = Math.min(8, Math.abs(to - from) / 2) * Math.sign(to - from);
  const [up, down] = [`V${top + 6}Q${from} ${top} ${from + bend} ${top}`, `Q${to} ${top} ${to} ${top + 6}V${foot}`];
  const edge = svgNode("path", { class: "edge", d: `M${from} ${foot}${up}H${to - bend}${down}` });
  const place = { class: "note", x: (from + to) / 2, y: top - 2, "text-anchor": "middle" };
  const fits = wide(relation, NOTE) < Math.abs(to - from) - 4;
  return svgNode("g", {}, edge, tip(to, foot), ...(fits ? [svgNode("text", place, relation)] : []));
}

/**
 * The end of an arc whose head stands on another line: an arrow and the head's word.
 * @param {Link} link @param {WordBox[]} placed @param {number} base @param {string[]} words
 */
function stub([head, word, relation], placed, base, words) {
  const [x, foot] = [middle(placed[word]), base - 16];
  const edge = svgNode("path", { class: "edge", "stroke-dasharray": "2 2", d: `M${x} ${foot}V${foot - 13}` });
  return svgNode(
    "g", {}, edge, tip(x, foot),
    svgNode("text", { class: "note", x: x + 4, y: foot - 7 }, words[head], svgNode("title", {}, relation))
  );
}

/**
 * A line from a word to its twin, from below all that stands under the first to above the second.
 * @param {WordBox} one @param {WordBox} two @param {number[]} base @param {number} below
 */
function link(one, two, base, below) {
  const [x1, x2, y1, y2] = [middle(one), middle(two), base[one.line] + below, base[two.line] - 15];
  return svgNode("path", {
    d: `M${x1} ${y1}C${x1} ${y1 + 14} ${x2} ${y2 - 14} ${x2} ${y2}`, fill: "none", stroke: "#3390d6",
    "stroke-opacity": 0.75, "stroke-width": 1.5,
  });
}

/** The sign of a value as it stands below a word: its bar, and its code where that is not the value itself. */
function sign(/** @type {Run} */ run) {
  const coded = run.code !== run.said;
  const [wide, high] = coded ? [22, 18] : [16, 6];
  const letter = coded ? [svgNode(
    "text", { class: "note", x: wide / 2, y: 14, "text-anchor": "middle" }, run.code
  )] : [];
  return svgNode(
    "svg", { width: wide, height: high, class: coded ? "sign" : "", "aria-hidden": "true" },
    hued(run, coded ? 3 : 0, coded ? wide - 3 : wide, 3), ...letter
  );
}

/** The values of the layers that are shown, each with its sign. */
function legend(/** @type {AnnotatedDocument} */ record, /** @type {string[]} */ on) {
  const rows = record.layers.filter((layer) => layer.style === "bar" && on.includes(layer.name)).map((layer) => {
    const values = [
      ...new Map(layer.runs.map((run) => [run.said, run])).values(),
    ].sort((a, b) => (a.code < b.code ? -1 : 1));
    return node("div", {}, node("b", {}, layer.name), ...values.map((run) => node("span", {}, sign(run), run.said)));
  });
  return node("div", { class: "legend" }, ...rows);
}

export default {
  render(/** @type {Host} */ { model, el }) {
    const [chips, picture, foot] = [
      node("div", { class: "chips", role: "group", "aria-label": "layers" }), node("div"), node("div"),
    ];
    const root = node(
      "div", { class: "document", style: `--word: ${WORD}px; --note: ${NOTE}px` },
      node("style", {}, annotatedDocumentStyle), chips, picture, foot
    );
    el.append(root);
    let width = 0;

    function renew() {
      family = getComputedStyle(root).fontFamily;
      /** @type {AnnotatedDocument} */
      const record = plain(model.get("record"));
      if (!record.words || !width) return;
      const on = plain(model.get("on"));
      picture.replaceChildren(draw(record, width, on));
      foot.replaceChildren(legend(record, on));
      const here = new Set(record.layers.filter((l) => l.runs.length + l.links.length).map((layer) => layer.name));
      const { layer } = focused(root);
      /** @type {string[]} */
      const names = plain(model.get("layers"));
      chips.replaceChildren(...names.map((name) => chip(name, here.has(name), on)));
      if (layer) focusOn(chips, `[data-layer="${CSS.escape(layer)}"]`);
    }

    function chip(/** @type {string} */ name, /** @type {boolean} */ there, /** @type {string[]} */ on) {
      const silent = there ? {} : { class: "silent", title: "has no labels in this document" };
      const onclick = () => {
        /** @type {string[]} */
        const now = plain(model.get("on"));
        tell(model, "on", now.includes(name) ? now.filter((n) => n !== name) : [...now, name]);
        renew();
      };
      return node(
        "button", { type: "button", "data-layer": name, "aria-pressed": String(on.includes(name)), onclick, ...silent },
        name
      );
    }

    const watcher = new ResizeObserver(() => {
      const fresh = Math.floor(root.clientWidth) - 4;
      if (fresh <= 0 || fresh === width) return;
      width = fresh;
      renew();
    });
    watcher.observe(root);
    document.fonts?.ready.then(renew); // the page's font may come after the first picture
    return endOf(follow(model, ["record", "on", "layers"], renew), () => watcher.disconnect());
  },
};
