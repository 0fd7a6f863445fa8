/** Long texts: a stretch of the tokens is drawn, and above it every matrix as a whole with a frame around that stretch. */

import { streamSpots } from "./chips.js";
import { draggable, iconButton, isForeign } from "./controls.js";
import { node, optionsOf } from "./dom.js";
import { boxPath, paintText } from "./pen.js";
import { CELL, LANES, READER_LANE, bytes, font, homeOf, inverse, isOpen, matrixOf, matrixShapes, movesBetween, range } from "./record.js";

export const LONG = 64; // tokens: a longer text is drawn in stretches
const STRETCHES = [20, 40, 64, 128]; // tokens of a stretch that one may choose

/** How many tokens stand in the longest lane of the last frame. */
export const lengthOf = (record) => Math.max(0, ...record.frames.at(-1).lanes.map((lane) => lane.cells.filter((cell) => cell.state !== "deleted").length));

/** The tokens of a stretch where nobody has chosen: as many as can be read at a width. */
export const fitting = (width) => (width < 480 ? 20 : width < 720 ? 40 : LONG);

/**
 * The part of a record that is drawn of a long text: `size` tokens from `from` on. Streams of other lengths begin and
 * end with it. The whole stays at hand as `whole`, for what is counted and said is true of all of it.
 */
export function stretched(whole, from, size) {
  const length = lengthOf(whole);
  if (length <= Math.max(LONG, size)) return whole;
  const share = from / (length - size);
  const part = (total) => (total <= size ? [0, total] : [Math.round(share * (total - size)), Math.round(share * (total - size)) + size]);
  const begins = Object.fromEntries(LANES.map((name) => [name, part(streamSpots(whole.frames.at(-1), name).length)[0]]));
  const ask = (guesses) => guesses && guesses.map((guess) => ({ ...guess, position: guess.position - begins[homeOf(guess.reader)], number: guess.position + 1 }));
  const inside = (guess) => guess.position >= 0 && guess.position < size;
  const tell = (numbers) => numbers && { ...numbers, guesses: ask(numbers.guesses)?.filter(inside), after: ask(numbers.after)?.filter(inside) };
  const step = (node) => ({ ...node, position: node.position - begins[homeOf(node.stream)] });
  const numbers = tell(whole.numbers);
  const frames = whole.frames.map((frame) => ({
    ...frame,
    lanes: frame.lanes.map((lane) => laneOfStretch(lane, part)),
    matrices: frame.matrices.map((matrix) => matrixOfStretch(matrix, part)),
    ...(frame.numbers ? { numbers } : {}),
  }));
  return {
    ...whole, whole, frames, begins, numbers,
    stretch: { from, size, length },
    moves: frames.slice(1).map((frame, k) => movesBetween(frames[k], frame)),
    word: whole.word && whole.word.slice(...part(whole.word.length)),
    leak: whole.leak && { ...whole.leak, path: (whole.leak.path || []).map(step) },
    film: whole.film && filmOfStretch(whole.film, part),
  };
}

/** Deleted chips have no position in their stream; they stay with the chip before them. */
function laneOfStretch(lane, part) {
  const spots = lane.cells.map((cell, i) => ({ cell, i })).filter(({ cell }) => cell.state !== "deleted");
  const [first, after] = part(spots.length);
  const at = (position) => (position >= spots.length ? lane.cells.length : spots[position].i);
  const ids = lane.ids.map((each) => ({ ...each, values: each.values.slice(first, after) }));
  return { ...lane, ids, begins: first, cells: lane.cells.slice(first ? at(first) : 0, at(after)) };
}

function matrixOfStretch(whole, part) {
  const [[top, bottom], [left, right]] = [part(whole.n), part(whole.m)];
  const [n, m] = [bottom - top, right - left];
  if (n === whole.n && m === whole.m) return whole;
  const cells = new Uint8Array(n * m);
  for (let i = 0; i < n; i++) cells.set(whole.cells.subarray((top + i) * whole.m + left, (top + i) * whole.m + right), i * m);
  const moved = (at) => {
    const [i, j] = [Math.floor(at / whole.m) - top, (at % whole.m) - left];
    return j < 0 || j >= m || i < 0 || i >= n ? [] : [i * m + j];
  };
  const order = whole.order && whole.order.filter((position) => position >= top && position < bottom).map((position) => position - top);
  return {
    ...whole, whole, n, m, cells, order, top, left,
    rows: whole.rows.slice(top, bottom),
    columns: whole.columns.slice(left, right),
    scored: whole.scored.slice(top, bottom),
    painted: new Set([...whole.painted].flatMap(moved)),
    slots: order && inverse(order),
  };
}

function filmOfStretch(film, part) {
  const total = film.words.length;
  const [first, after] = part(total);
  const cut = (states) => bytes(states).filter((_, at) => at % total >= first && at % total < after);
  return { words: film.words.slice(first, after), strips: film.strips.map((strip) => ({ ...strip, states: cut(strip.states) })) };
}

/** A matrix in full, also where only a stretch of it is drawn. */
export const entire = (matrix) => matrix.whole || matrix;

const MAP = { side: 104, narrow: 74, block: 2, gap: 16 };

/** Room above the lanes for every matrix as a whole; answers where the lanes begin. */
export function planMap(record, plan, top) {
  if (!record.stretch) {
    const all = lengthOf(record) > LONG;
    if (all) plan.choice = { x: plan.left, y: top };
    return all ? top + 44 : top;
  }
  const shapes = matrixShapes(record.whole);
  const most = Math.max(1, ...shapes.map((shape) => Math.max(shape.n, shape.m)));
  const room = plan.width - plan.left - plan.pad - (shapes.length - 1) * MAP.gap;
  const side = Math.min(plan.wide ? MAP.side : MAP.narrow, room / Math.max(1, shapes.length));
  const y = top + (plan.wide ? 2 : 18);
  let x = plan.left;
  const boxes = shapes.map(({ name, n, m }) => {
    const box = { name, n, m, x, y, w: Math.max(6, (side * m) / most), h: Math.max(6, (side * n) / most) };
    x += box.w + MAP.gap;
    return box;
  });
  const beside = plan.width - plan.pad - x >= 230;
  plan.map = { boxes, top, y, side, right: x - MAP.gap, words: beside ? { x: x + 4, y: y + 10 } : { x: plan.left, y: y + side + 16 } };
  return y + side + (beside ? 26 : 84);
}

/** How many of the cells of every block may be looked at, in fifths, and whether one of them leaks (9). */
function coarse(matrix, across, down) {
  matrix.blocks ??= new Map();
  const key = `${across} ${down}`;
  if (matrix.blocks.has(key)) return matrix.blocks.get(key);
  const [open, all, leaks] = range(3).map(() => new Uint32Array(across * down));
  for (let i = 0; i < matrix.n; i++) {
    const row = Math.floor((i * down) / matrix.n) * across;
    for (let j = 0; j < matrix.m; j++) {
      const [cell, at] = [i * matrix.m + j, row + Math.floor((j * across) / matrix.m)];
      all[at] += 1;
      open[at] += Number(isOpen(matrix, cell));
      leaks[at] |= Number(matrix.cells[cell] === CELL.leaked);
    }
  }
  const levels = Uint8Array.from(open, (count, at) => (leaks[at] ? 9 : Math.ceil((5 * count) / Math.max(1, all[at]))));
  matrix.blocks.set(key, levels);
  return levels;
}

/** All matrices as a whole, a frame around what is drawn below, and the row of the reader from end to end. */
export function paintMap(ctx, art, record, k, u, reader) {
  const { theme, plan } = art;
  const { map } = plan;
  if (!map) return;
  ctx.save();
  paintText(ctx, "Overview", plan.pad, plan.wide ? map.y + 10 : map.top + 4, { spec: font(plan.wide ? 12.5 : 12, 600), fill: theme.muted });
  paintText(ctx, `Tokens ${saysStretch(record)}`, map.words.x, map.words.y, { spec: font(13, 600), fill: theme.ink });
  paintText(ctx, "The box marks the window shown below.", map.words.x, map.words.y + 19, { spec: font(12), fill: theme.muted });
  const next = Math.min(k + 1, record.frames.length - 1);
  for (const box of map.boxes) {
    const [before, after] = [matrixOf(record.frames[k], box.name), matrixOf(record.frames[next], box.name)];
    const matrix = u > 0.5 ? after || before : before || (u > 0 ? after : null);
    paintBlocks(ctx, art, box, matrix && entire(matrix));
    paintFrame(ctx, art, box, matrix, record, reader);
  }
  ctx.restore();
}

function paintBlocks(ctx, { theme }, box, matrix) {
  ctx.fillStyle = matrix ? theme.blocked : theme.lattice;
  ctx.fillRect(box.x, box.y, box.w, box.h);
  if (!matrix) return;
  const [across, down] = [[matrix.m, box.w], [matrix.n, box.h]].map(([cells, side]) => Math.min(cells, Math.max(1, Math.floor(side / MAP.block))));
  const levels = coarse(matrix, across, down);
  const [w, h] = [box.w / across, box.h / down];
  const base = ctx.globalAlpha;
  for (const level of [1, 2, 3, 4, 5, 9]) {
    ctx.globalAlpha = base * (level === 9 ? 1 : level / 5);
    ctx.fillStyle = level === 9 ? theme.leak : theme.visible;
    ctx.beginPath();
    for (let i = 0; i < down; i++) {
      for (let j = 0; j < across; j++) {
        if (levels[i * across + j] !== level || (j && levels[i * across + j - 1] === level)) continue;
        let run = 1;
        while (j + run < across && levels[i * across + j + run] === level) run += 1;
        boxPath(ctx, box.x + j * w, box.y + i * h, run * w, h, 0);
      }
    }
    ctx.fill();
  }
  ctx.globalAlpha = base;
}

/** Where the stretch stands in a matrix, as a share of its rows and columns. */
function frameOf(box, record) {
  const { from, size, length } = record.stretch;
  const side = (total) => (total <= size ? [0, 1] : [Math.round((from / (length - size)) * (total - size)) / total, size / total]);
  const [[top, tall], [left, wide]] = [side(box.n), side(box.m)];
  return { x: box.x + left * box.w, y: box.y + top * box.h, w: wide * box.w, h: tall * box.h };
}

function paintFrame(ctx, { theme }, box, matrix, record, reader) {
  if (reader && matrix && READER_LANE[reader.matrix] === READER_LANE[box.name]) {
    ctx.fillStyle = theme.strong("orange");
    ctx.fillRect(box.x, box.y + (((matrix.top || 0) + reader.row + 0.5) / box.n) * box.h - 0.75, box.w, 1.5);
  }
  const { x, y, w, h } = frameOf(box, record);
  for (const [lineWidth, strokeStyle] of [[4, theme.paper], [2, theme.ink]]) {
    Object.assign(ctx, { lineWidth, strokeStyle });
    ctx.strokeRect(x, y, w, h);
  }
}

/** Which tokens are drawn, as in "65 to 128 of 310". */
export const saysStretch = ({ stretch: { from, size, length } }) => `${from + 1} to ${from + size} of ${length}`;

/** The same in a link; a size that nobody chose depends on the screen and is left out. */
export const linkOfStretch = ({ from, size }, chosen) => (chosen ? `${from + 1}-${from + size}` : String(from + 1));

const STRETCH_STYLE = `
.stage .stage-map { position: absolute; border-radius: 3px; cursor: grab; touch-action: none; } .stage .stage-map:active { cursor: grabbing; }
.stage .stage-map:focus-visible { outline-offset: 4px; }
.stage .stage-moves { position: absolute; display: flex; gap: 4px; font-size: 12.5px; } .stage .stage-moves button { min-width: 32px; height: 30px; border-color: var(--line); }
.stage .stage-moves select { height: 30px; }
`;

/** The overview in a person's hands: the frame is dragged, moved by keys and by buttons, and made larger or smaller. */
export function stretchOf(kit) {
  const { parts, now } = kit;
  parts.style.prepend(STRETCH_STYLE);
  const map = node("div", { class: "stage-map", role: "slider", tabindex: "0", "aria-label": "Stretch of the text that is drawn", title: "Drag the frame; arrows, Page Up and Page Down move it (J, K)", "aria-valuemin": "1" });
  const size = node("select", { "aria-label": "Tokens that are drawn", title: "Tokens that are drawn at once", onchange: resize });
  const [before, after] = [iconButton("back", "Previous window (K)", () => leap(-1)), iconButton("step", "Next window (J)", () => leap(1))];
  const moves = node("div", { class: "stage-moves", role: "group", "aria-label": "Stretch" }, before, after, size);
  let shown = -1;

  const here = () => kit.record().stretch;
  const last = () => here().length - here().size;
  const leap = (by) => kit.stretch(here().from + by * here().size);

  /** Puts the slider over the pictures and the buttons below the words. */
  function place() {
    const [planned, part] = [kit.plan().map, here()];
    map.hidden = !planned;
    moves.hidden = lengthOf(kit.whole()) <= LONG;
    if (moves.hidden) return;
    offer();
    const at = planned ? { x: planned.words.x, y: planned.words.y + 32 } : kit.plan().choice;
    Object.assign(moves.style, { left: `${at.x}px`, top: `${at.y}px` });
    before.hidden = after.hidden = !planned;
    if (!planned) return;
    const [left, top, bottom] = [planned.boxes[0].x - 3, planned.y - 3, Math.max(...planned.boxes.map((box) => box.y + box.h)) + 3];
    Object.assign(map.style, { left: `${left}px`, top: `${top}px`, width: `${planned.right - left + 3}px`, height: `${bottom - top}px` });
    before.disabled = part.from <= 0;
    after.disabled = part.from >= last();
    for (const [name, value] of [["max", last() + 1], ["now", part.from + 1], ["text", spoken()]]) map.setAttribute(`aria-value${name}`, String(value));
  }

  /** The lengths to choose from; the whole text is one of them. */
  function offer() {
    const length = lengthOf(kit.whole());
    const lengths = [...STRETCHES.filter((each) => each < length), length];
    const known = [...size.options].map((option) => option.value).join();
    if (lengths.join() !== known) size.replaceChildren(...optionsOf(lengths.map((each) => [each, `${each === length ? "all " : ""}${each} tokens`])));
    size.value = String(here() ? here().size : length);
  }

  /** Where the frame stands, and how many cells are open in it and in all. */
  function spoken() {
    const matrix = kit.frame().matrices[0];
    const open = (each) => each.cells.reduce((sum, _, at) => sum + Number(isOpen(each, at)), 0);
    const counts = matrix && matrix.whole ? `; ${open(matrix)} of ${matrix.cells.length} entries allowed here, ${open(matrix.whole)} of ${matrix.whole.cells.length} in all` : "";
    return `tokens ${saysStretch(kit.record())}${counts}`;
  }

  /** The share of the way along the text at which a pointer stands: in a square, the nearest place of its diagonal. */
  function shareAt(event, held = null) {
    const rect = map.getBoundingClientRect();
    const scale = (map.offsetWidth || rect.width) / rect.width; // a stage that is drawn larger
    const { boxes } = kit.plan().map;
    const left = (event.clientX - rect.left) * scale - 3 + boxes[0].x;
    const far = (each) => Math.abs(left - each.x - each.w / 2);
    const box = held || boxes.reduce((near, each) => (far(each) < far(near) ? each : near));
    return { box, x: (left - box.x) / box.w, y: ((event.clientY - rect.top) * scale - 3) / box.h };
  }

  draggable(map, {
    start(event) {
      const { box, x, y } = shareAt(event);
      const { from, size: many, length } = here();
      const [frame, across, down] = [frameOf(box, kit.record()), box.x + x * box.w, box.y + y * box.h];
      const held = across >= frame.x && across <= frame.x + frame.w && down >= frame.y && down <= frame.y + frame.h;
      if (!held) kit.stretch(Math.round(((x + y) / 2) * length - many / 2));
      return { box, x, y, from: held ? from : here().from };
    },
    /** The frame follows the larger of the two ways of the pointer. */
    move(drag, event) {
      const { x, y } = shareAt(event, drag.box);
      const [across, down] = [x - drag.x, y - drag.y];
      kit.stretch(Math.round(drag.from + (Math.abs(across) > Math.abs(down) ? across : down) * here().length));
    },
  });

  function key(event) {
    if (!here() || isForeign(event) || event.target.tagName === "SELECT") return false;
    const [steps, pages] = [{ ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }, { PageUp: -1, PageDown: 1, k: -1, j: 1 }];
    const mine = event.target === map;
    if (mine && steps[event.key]) kit.stretch(here().from + steps[event.key] * (event.shiftKey ? 8 : 1));
    else if (mine && event.key === "Home") kit.stretch(0);
    else if (mine && event.key === "End") kit.stretch(last());
    else if (pages[event.key] && (mine || event.key.length === 1)) leap(pages[event.key]);
    else return false;
    return true;
  }

  function resize() {
    now.size = Number(size.value);
    kit.stretch(here() ? here().from : 0);
  }

  parts.picture.append(map, moves);
  return {
    place, key,
    follow() {
      if (here() && shown !== kit.nearest()) map.setAttribute("aria-valuetext", spoken());
      shown = kit.nearest();
    },
  };
}
