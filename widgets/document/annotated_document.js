/**
 * One document of a corpus: words in lines, bars and brackets below them, arcs above, links between two languages.
 *
 * One SVG, laid out again when the window changes its width. Text from the record only ever reaches `textContent`:
 * data can never become markup. `on` holds the names of the layers that are shown; a click on a chip changes it.
 */

import { plain } from "../animation/js/dom.js";

const NS = "http://www.w3.org/2000/svg";
const WORD = 15; // px
const NOTE = 10; // px
const GAP = 7; // px between two words
const LANE = 16; // px of a bar or a bracket with its note
const LEVEL = 13; // px from one level of arcs to the next
const STYLE = `
:host, .document { color: var(--panel-on-background-color, CanvasText); }
.chips { display: flex; flex-wrap: wrap; gap: 5px; margin: 0 0 10px; }
.chips button { font: inherit; font-size: 12px; color: inherit; background: none; border: 1px solid #8886; border-radius: 12px;
  padding: 2px 10px; cursor: pointer; min-height: 25px; }
.chips button[aria-pressed="true"] { background: #3390d633; border-color: #3390d6; }
.chips button:focus-visible { outline: 2px solid #3390d6; outline-offset: 1px; }
.chips button.silent { opacity: .78; border-style: dashed; }
.legend { font: inherit; font-size: 12px; display: flex; flex-wrap: wrap; gap: 3px 16px; margin-top: 6px; }
.legend div { flex: 1 0 100%; display: flex; flex-wrap: wrap; gap: 1px 14px; align-items: center; }
.legend b { font-weight: 500; opacity: .62; min-width: 76px; }
.legend span { display: inline-flex; align-items: center; gap: 5px; }
svg { display: block; overflow: visible; }
.word { font-size: ${WORD}px; fill: currentColor; }
.note { font-size: ${NOTE}px; fill: currentColor; fill-opacity: .78; }
.edge { stroke: currentColor; stroke-opacity: .5; fill: none; }
.border { stroke: currentColor; stroke-opacity: .28; }
`;

const SHAPES = new Set(["svg", "g", "text", "line", "path", "title"]);
const pen = document.createElement("canvas").getContext("2d");

let family = "sans-serif"; // that of the page, once it is known

/** The width of a text in a size, in px. */
function wide(text, size) {
  pen.font = `${size}px ${family}`;
  return pen.measureText(text).width;
}

/** An element with attributes; `text` becomes its text and nothing else. */
function make(name, attributes = {}, text = "") {
  const node = SHAPES.has(name) ? document.createElementNS(NS, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text) node.textContent = text;
  return node;
}

// ------------------------------------------------------------------------------------------------------- layout

/** Words put into lines of at most `width`: each has its line, its left edge and its width. */
function setWords(record, width, shown) {
  const fresh = new Set(record.language ? [record.language] : []);
  const arcs = shown.some((layer) => layer.style === "arc");
  const borders = new Set(record.sentences);
  const least = shown.some((layer) => layer.style === "bar") ? 9 : 0;
  const placed = [];
  let line = 0;
  let x = 0;
  const measure = (word) => Math.min(Math.max(wide(word, WORD), least), width);
  /** A sentence with arcs stays on one line where it can. */
  const whole = (first) => {
    const last = record.sentences.find((place) => place > first) ?? record.words.length;
    return record.words.slice(first, last).reduce((sum, word) => sum + measure(word) + GAP, 0);
  };
  record.words.forEach((word, k) => {
    const w = measure(word);
    if (arcs && borders.has(k) && x + 3 * GAP + whole(k) > width) fresh.add(k);
    const gap = borders.has(k) ? 3 * GAP : record.tight[k] ? 1 : GAP;
    const left = x ? x + gap : 0;
    if (x && (fresh.has(k) || left + w > width)) {
      line += 1;
      placed.push({ line, x: 0, w });
      x = w;
    } else {
      placed.push({ line, x: left, w });
      x = left + w;
    }
  });
  return placed;
}

/** A run cut where its words change the line. */
function cut(run, placed) {
  const parts = [];
  for (let k = run.first; k <= run.last; k += 1) {
    const part = parts.at(-1);
    if (part && placed[k].line === placed[part.last].line) part.last = k;
    else parts.push({ ...run, first: k, last: k });
  }
  return parts;
}

/** How high each arc of one line must go so that it clears those inside it. */
function levels(arcs) {
  const inside = (a, b) => Math.min(a[0], a[1]) >= Math.min(b[0], b[1]) && Math.max(a[0], a[1]) <= Math.max(b[0], b[1]);
  const order = arcs.map((arc, k) => k).sort((a, b) => Math.abs(arcs[a][0] - arcs[a][1]) - Math.abs(arcs[b][0] - arcs[b][1]));
  const level = [];
  for (const k of order) {
    const under = order.slice(0, order.indexOf(k)).filter((j) => inside(arcs[j], arcs[k]));
    level[k] = 1 + Math.max(0, ...under.map((j) => level[j]));
  }
  return level;
}

// ------------------------------------------------------------------------------------------------------- drawing

/** The whole picture for one width. */
function draw(record, width, on) {
  const shown = record.layers.filter((layer) => on.includes(layer.name));
  const placed = setWords(record, width, shown);
  const lines = 1 + Math.max(0, ...placed.map((p) => p.line));
  const lanes = shown.filter((layer) => layer.style === "bar" || layer.style === "bracket");
  const arcs = shown.filter((layer) => layer.style === "arc").flatMap((layer) => layer.links);
  const links = shown.filter((layer) => layer.style === "link").flatMap((layer) => layer.links);
  const svg = make("svg", { width, role: "img" });
  svg.setAttribute("aria-label", `A document of ${record.words.length} words`);
  const base = [];
  let y = 0;
  for (let line = 0; line < lines; line += 1) {
    const here = arcs.filter(([a, b]) => placed[a].line === line && placed[b].line === line);
    const level = levels(here);
    const stubs = arcs.some(([a, b]) => placed[b].line === line && placed[a].line !== line);
    y += Math.max(level.length ? 8 + LEVEL * (1 + Math.max(...level)) : 0, stubs ? 22 : 0) + 18;
    base[line] = y;
    here.forEach((arc, k) => svg.append(arch(arc, placed, y, level[k])));
    arcs.filter(([a, b]) => placed[b].line === line && placed[a].line !== line)
      .forEach((arc) => svg.append(stub(arc, placed, y, record.words)));
    y += 5;
    for (const layer of lanes) {
      const parts = layer.runs.flatMap((run) => cut(run, placed)).filter((part) => placed[part.first].line === line);
      parts.forEach((part) => svg.append(layer.style === "bar" ? bar(part, placed, y) : bracket(part, placed, y)));
      y += parts.length ? LANE : 0;
    }
    y += links.length ? 26 : lanes.length ? 9 : 5;
  }
  const facts = tell(record);
  record.words.forEach((word, k) => svg.append(letters(word, placed[k], base[placed[k].line], facts[k])));
  record.sentences.filter((k) => placed[k].x > 0).forEach((k) => {
    const { x, line } = placed[k];
    svg.append(make("line", { class: "border", x1: x - 1.5 * GAP, x2: x - 1.5 * GAP, y1: base[line] - 14, y2: base[line] + 5 }));
  });
  const below = lanes.length * LANE + 6;
  links.forEach(([a, b]) => svg.prepend(link(placed[a], placed[b], base, below)));
  svg.setAttribute("height", Math.max(20, y));
  return svg;
}

/** A word, with all that is known about it when the mouse rests on it. */
function letters(word, place, y, fact) {
  const squeezed = wide(word, WORD) > place.w + 0.5 ? { textLength: place.w, lengthAdjust: "spacingAndGlyphs" } : {};
  const node = make("text", { class: "word", x: place.x, y, ...squeezed }, word);
  node.append(make("title", {}, fact));
  return node;
}

/** One line for every word: the word, and what each layer says of it. */
function tell(record) {
  const said = record.words.map((word) => [word]);
  for (const layer of record.layers) {
    for (const run of layer.runs) {
      for (let k = run.first; k <= run.last; k += 1) said[k].push(run.said ? `${layer.name}: ${run.said}` : layer.name);
    }
    for (const [a, b, relation] of layer.links) {
      if (layer.style === "arc") said[b].push(`${relation || "depends"} on ${record.words[a]}`);
      else said[a].push(`stands for ${record.words[b]}`), said[b].push(`stands for ${record.words[a]}`);
    }
  }
  return said.map((parts) => parts.join(" · "));
}

/** What fits under a run: the whole value, its code, or nothing. */
function note(part, left, room, y) {
  const text = [part.said, part.code].find((t) => t && wide(t, NOTE) <= room + 2) || "";
  return make("text", { class: "note", x: left + room / 2, y, "text-anchor": "middle" }, text);
}

function bar(part, placed, y) {
  const left = placed[part.first].x;
  const right = placed[part.last].x + placed[part.last].w;
  const node = make("g");
  const line = { x1: left + 0.5, x2: right - 0.5, y1: y + 2, y2: y + 2, stroke: part.hue, "stroke-width": 3 };
  node.append(make("line", part.dash ? { ...line, "stroke-dasharray": part.dash } : line));
  node.append(note(part, left, right - left, y + 12.5));
  return node;
}

function bracket(part, placed, y) {
  const left = placed[part.first].x + 0.5;
  const right = placed[part.last].x + placed[part.last].w - 0.5;
  const node = make("g");
  node.append(make("path", { class: "edge", d: `M${left} ${y - 1}v4H${right}v-4` }));
  node.append(note(part, left, right - left, y + 12.5));
  return node;
}

/** An arc from a head to the word that depends on it, with an arrow at that word. */
function arch([head, word, relation], placed, base, level) {
  const middle = (k) => placed[k].x + placed[k].w / 2;
  const from = middle(head) + (head < word ? 3 : -3);
  const to = middle(word);
  const top = base - 17 - LEVEL * level;
  const bend = Math.min(8, Math.abs(to - from) / 2) * Math.sign(to - from);
  const node = make("g");
  const foot = base - 16;
  node.append(make("path", { class: "edge", d:
    `M${from} ${foot}V${top + 6}Q${from} ${top} ${from + bend} ${top}H${to - bend}Q${to} ${top} ${to} ${top + 6}V${foot}` }));
  node.append(make("path", { d: `M${to - 3} ${foot - 5}L${to} ${foot}L${to + 3} ${foot - 5}z`, fill: "currentColor" }));
  if (wide(relation, NOTE) < Math.abs(to - from) - 4) {
    node.append(make("text", { class: "note", x: (from + to) / 2, y: top - 2, "text-anchor": "middle" }, relation));
  }
  return node;
}

/** The end of an arc whose head stands on another line: an arrow and the head's word. */
function stub([head, word, relation], placed, base, words) {
  const x = placed[word].x + placed[word].w / 2;
  const foot = base - 16;
  const node = make("g");
  node.append(make("path", { class: "edge", "stroke-dasharray": "2 2", d: `M${x} ${foot}V${foot - 13}` }));
  node.append(make("path", { d: `M${x - 3} ${foot - 5}L${x} ${foot}L${x + 3} ${foot - 5}z`, fill: "currentColor" }));
  node.append(make("text", { class: "note", x: x + 4, y: foot - 7 }, words[head]));
  node.lastChild.append(make("title", {}, relation));
  return node;
}

/** A line from a word to its twin, from below all that stands under the first to above the second. */
function link(one, two, base, below) {
  const middle = (place) => place.x + place.w / 2;
  const [y1, y2] = [base[one.line] + below, base[two.line] - 15];
  const d = `M${middle(one)} ${y1}C${middle(one)} ${y1 + 14} ${middle(two)} ${y2 - 14} ${middle(two)} ${y2}`;
  return make("path", { d, fill: "none", stroke: "#3390d6", "stroke-opacity": 0.75, "stroke-width": 1.5 });
}

/** The values of the layers that are shown, each with its bar and its code. */
function legend(record, on) {
  const node = make("div", { class: "legend" });
  for (const layer of record.layers.filter((l) => l.style === "bar" && on.includes(l.name))) {
    const row = make("div");
    row.append(make("b", {}, layer.name));
    const seen = new Map(layer.runs.map((run) => [run.said, run]));
    for (const run of [...seen.values()].sort((a, b) => (a.code < b.code ? -1 : 1))) {
      const entry = make("span");
      const swatch = make("svg", { width: 16, height: 6, "aria-hidden": "true" });
      const line = { x1: 0, x2: 16, y1: 3, y2: 3, stroke: run.hue, "stroke-width": 3 };
      swatch.append(make("line", run.dash ? { ...line, "stroke-dasharray": run.dash } : line));
      entry.append(swatch, make("span", {}, run.code === run.said ? run.said : `${run.code} ${run.said}`));
      row.append(entry);
    }
    node.append(row);
  }
  return node;
}

// ------------------------------------------------------------------------------------------------------- host

export default {
  render({ model, el }) {
    const root = make("div", { class: "document" });
    const [chips, picture, foot] = [make("div", { class: "chips", role: "group", "aria-label": "layers" }), make("div"), make("div")];
    root.append(make("style", {}, STYLE), chips, picture, foot);
    el.append(root);
    let width = 0;

    const renew = () => {
      family = getComputedStyle(root).fontFamily;
      const record = plain(model.get("record"));
      if (!record.words || !width) return;
      const on = plain(model.get("on"));
      picture.replaceChildren(draw(record, width, on));
      foot.replaceChildren(legend(record, on));
      const here = new Set(record.layers.filter((l) => l.runs.length + l.links.length).map((layer) => layer.name));
      const focus = root.getRootNode().activeElement?.textContent;
      chips.replaceChildren(...plain(model.get("layers")).map((name) => chip(name, here.has(name), on)));
      if (focus) [...chips.children].find((button) => button.textContent === focus)?.focus();
    };

    const chip = (name, there, on) => {
      const button = make("button", { type: "button", "aria-pressed": String(on.includes(name)) }, name);
      if (!there) button.className = "silent";
      if (!there) button.title = "has no labels in this document";
      button.addEventListener("click", () => {
        const now = plain(model.get("on"));
        model.set("on", now.includes(name) ? now.filter((n) => n !== name) : [...now, name]);
        model.save_changes();
        renew();
      });
      return button;
    };

    const watcher = new ResizeObserver(() => {
      const fresh = Math.floor(root.clientWidth) - 4;
      if (fresh > 0 && fresh !== width) {
        width = fresh;
        renew();
      }
    });
    watcher.observe(root);
    document.fonts?.ready.then(renew); // the page's font may come after the first picture
    for (const name of ["record", "on", "layers"]) model.on(`change:${name}`, renew);
    return () => watcher.disconnect();
  },
};
