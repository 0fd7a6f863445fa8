/** Tokens as chips: one chip, the lanes with everything on its way, the arcs of whom a reader sees. */

import { node } from "./dom.js";
import { chipBox, rises } from "./layout.js";
import { CELL, READER_LANE, READ_LANE, clamp, ease, font, laneOf, lerp, matrixOf, placed, weightAt } from "./record.js";

// ---------------------------------------------------------------------------------------------------- painting: chips

/** Text cut to a width with an ellipsis; measured once for each text, font and width. */
export function cut(ctx, text, width, memory) {
  const key = `${ctx.font}|${width | 0}|${text}`;
  if (!memory.has(key)) {
    let kept = text;
    while (kept.length > 1 && ctx.measureText(kept === text ? text : kept + "…").width > width) kept = kept.slice(0, -1);
    memory.set(key, kept === text ? text : kept + "…");
  }
  return memory.get(key);
}

/** The font in which a text fits into a width, down to four fifths of its size: rather a little smaller than cut off. */
function fitted(ctx, text, width, size, weight, memory) {
  const key = `fitted|${size}|${weight}|${width | 0}|${text}`;
  if (!memory.has(key)) {
    ctx.font = font(size, weight);
    const share = width / Math.max(1, ctx.measureText(text).width);
    memory.set(key, font(size * clamp(share, Math.min(1, Math.max(0.8, 9 / size)), 1), weight));
  }
  return memory.get(key);
}

export function boxPath(ctx, x, y, w, h, r) {
  if (r > 0 && ctx.roundRect) ctx.roundRect(x, y, w, h, Math.min(r, w / 2, h / 2));
  else ctx.rect(x, y, w, h);
}

/** How a chip looks: the state decides fill, edge and mark together, never colour alone. */
function lookOf(theme, cell, lane) {
  const plainChip = { fill: theme.chip, edge: theme.line, text: theme.ink };
  if (lane === "targets" && !cell.graded && cell.state !== "padding") return { fill: null, edge: theme.line, text: theme.faint, flat: true };
  const looks = {
    masked: { fill: theme.cover, edge: theme.cover, text: theme.coverText, weight: 600 },
    randomised: { fill: theme.tint("vermilion"), edge: theme.strong("vermilion"), text: theme.ink, mark: "dice" },
    graded_as_is: { ...plainChip, edge: theme.strong("orange"), dash: [1.5, 3.5], thick: 2 },
    deleted: { fill: null, edge: theme.faint, text: theme.faint, dash: [4, 4], mark: "strike", flat: true },
    moved: { ...plainChip, mark: "ribbon" },
    replaced: { fill: theme.tint("purple"), edge: theme.strong("purple"), text: theme.ink, mark: "notch" },
    same_by_luck: { ...plainChip, edge: theme.strong("purple"), mark: "lucky" },
    inserted: { fill: theme.tint("sky"), edge: theme.strong("sky"), text: theme.ink, mark: "plus", weight: 600 },
    special: { fill: theme.track, edge: theme.faint, text: theme.muted, pill: true, flat: true },
    padding: { fill: null, edge: theme.line, text: "transparent", mark: "dots", flat: true },
  };
  const look = looks[cell.state] || plainChip;
  if (lane === "targets" && cell.graded) return { ...look, fill: theme.tint("orange"), edge: theme.strong("orange"), text: theme.ink, thick: 1.5, dash: null };
  return look;
}

/** A chip; one that rests is drawn once as a stamp, and the stamp again in the frames that follow. */
export function paintChip(ctx, art, box, cell, lane, alpha = 1, lift = 0) {
  if (alpha <= 0.004) return;
  const stamp = lift < 0.02 && stampOf(art, box, cell, lane);
  if (!stamp) return drawChip(ctx, art, box, cell, lane, alpha, lift);
  const before = ctx.globalAlpha;
  ctx.globalAlpha = before * alpha;
  ctx.drawImage(stamp, box.x - STAMP, box.y - STAMP, stamp.width / art.ratio, stamp.height / art.ratio);
  ctx.globalAlpha = before;
}

const STAMP = 14; // px around a chip for its shadow and marks
const MOST_STAMPS = 1500;

/** The stamp of a chip, for a picture that keeps stamps, at a place where no pixel of it would be smeared. */
function stampOf(art, { x, y, w, h }, cell, lane) {
  const { stamps, ratio, plan } = art;
  if (!stamps || w !== plan.chips.w || h !== plan.chips.h || (x * ratio) % 1 || (y * ratio) % 1 || (STAMP * ratio) % 1) return null;
  const key = [cell.text, cell.state, cell.chosen, cell.graded, cell.language, lane].join("\n");
  if (stamps.has(key)) return stamps.get(key);
  if (stamps.size > MOST_STAMPS) stamps.clear();
  const [width, height] = [w, h].map((side) => Math.ceil((side + 2 * STAMP) * ratio));
  const stamp = node("canvas", { width: String(width), height: String(height) });
  const pen = stamp.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawChip(pen, art, { x: STAMP, y: STAMP, w, h }, cell, lane, 1, 0);
  stamps.set(key, stamp);
  return stamp;
}

function drawChip(ctx, art, box, cell, lane, alpha, lift) {
  const { theme, plan } = art;
  const look = lookOf(theme, cell, lane);
  const { x, y, w, h } = box;
  const radius = look.pill ? h / 2 : Math.min(9, h * 0.28);
  const raised = cell.chosen && rises(lane);
  ctx.save();
  ctx.globalAlpha *= alpha;
  if (look.fill) {
    if (!look.flat && (raised || lift > 0.02)) {
      Object.assign(ctx, { shadowColor: theme.shadow, shadowBlur: (raised ? 9 : 3) + 12 * lift, shadowOffsetY: (raised ? 3 : 1) + 6 * lift });
    } else if (!look.flat) {
      ctx.fillStyle = theme.ledge; // blurred shadows are slow; a chip at rest needs only an edge to stand on
      ctx.beginPath();
      boxPath(ctx, x, y + 1.5, w, h, radius);
      ctx.fill();
    }
    ctx.fillStyle = look.fill;
    ctx.beginPath();
    boxPath(ctx, x, y, w, h, radius);
    ctx.fill();
    ctx.shadowColor = "transparent";
  }
  ctx.lineWidth = raised ? 2 : look.thick || 1;
  ctx.strokeStyle = raised && !look.dash ? theme.strong("orange") : look.edge;
  ctx.setLineDash(look.dash || []);
  ctx.beginPath();
  boxPath(ctx, x + 0.5, y + 0.5, w - 1, h - 1, radius);
  ctx.stroke();
  ctx.setLineDash([]);
  paintChipMarks(ctx, theme, box, look, cell, plan.chips.mark, radius);
  const size = Math.min(plan.chips.size, h * 0.62);
  ctx.fillStyle = look.text;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  const shown = cell.text === "" && lane === "targets" ? "·" : cell.text;
  ctx.font = fitted(ctx, shown, w - size * 0.7, size, look.weight || 500, art.memory);
  if (w > 14) ctx.fillText(cut(ctx, shown, w - size * 0.7, art.memory), x + w / 2, y + h / 2 + size * 0.06);
  ctx.restore();
}

/** The language of a token as a bar at its left: whole for the first, in pieces for the second. */
export function paintSpoken(ctx, theme, x, y, height, width, language) {
  ctx.fillStyle = theme.strong(language === 1 ? "blue" : "green");
  const pieces = language === 1 ? [[0, 1]] : [[0, 0.26], [0.37, 0.26], [0.74, 0.26]];
  for (const [from, share] of pieces) ctx.fillRect(x, y + height * from, width, height * share);
}

/** The mark that says the state without colour. */
function paintChipMarks(ctx, theme, { x, y, w, h }, look, cell, s, radius) {
  ctx.strokeStyle = ctx.fillStyle = look.edge;
  ctx.lineWidth = 1.6 * s;
  ctx.beginPath();
  if (look.mark === "dice") {
    const side = 10 * s;
    const [left, top] = [x + w - side * 0.62, y - side * 0.38]; // over the corner, clear of the word
    boxPath(ctx, left, top, side, side, 2.5 * s);
    ctx.fill();
    ctx.fillStyle = theme.paper;
    for (const [dx, dy] of [[0.27, 0.27], [0.5, 0.5], [0.73, 0.73]]) {
      ctx.beginPath();
      ctx.arc(left + side * dx, top + side * dy, 1.15 * s, 0, 7);
      ctx.fill();
    }
  } else if (look.mark === "strike") {
    ctx.moveTo(x + w * 0.18, y + h / 2 + 1);
    ctx.lineTo(x + w * 0.82, y + h / 2 + 1);
    ctx.stroke();
  } else if (look.mark === "plus") {
    const [cx, cy] = [x + w - 8 * s, y + 8 * s];
    ctx.moveTo(cx - 3 * s, cy);
    ctx.lineTo(cx + 3 * s, cy);
    ctx.moveTo(cx, cy - 3 * s);
    ctx.lineTo(cx, cy + 3 * s);
    ctx.stroke();
  } else if (look.mark === "ribbon") {
    ctx.strokeStyle = theme.strong("green");
    ctx.lineWidth = 2.4 * s;
    ctx.lineCap = "round";
    const [base, wave] = [y + h - 5 * s, 2.2 * s];
    ctx.moveTo(x + w * 0.25, base);
    ctx.bezierCurveTo(x + w * 0.42, base - 2.4 * wave, x + w * 0.58, base + 2.4 * wave, x + w * 0.75, base);
    ctx.stroke();
  } else if (look.mark === "notch" || look.mark === "lucky") {
    const side = (look.mark === "lucky" ? 16 : 13) * s;
    ctx.save();
    boxPath(ctx, x, y, w, h, radius);
    ctx.clip();
    ctx.beginPath();
    ctx.moveTo(x + w - side, y);
    ctx.lineTo(x + w, y);
    ctx.lineTo(x + w, y + side);
    ctx.fill();
    ctx.restore();
    if (look.mark === "lucky") {
      ctx.strokeStyle = theme.paper;
      ctx.beginPath();
      ctx.moveTo(x + w - 8 * s, y + 4.6 * s);
      ctx.lineTo(x + w - 6 * s, y + 6.6 * s);
      ctx.lineTo(x + w - 2.8 * s, y + 2.6 * s);
      ctx.stroke();
    }
  } else if (look.mark === "dots") {
    ctx.fillStyle = theme.faint;
    for (const dx of [-6, 0, 6]) {
      ctx.beginPath();
      ctx.arc(x + w / 2 + dx * s, y + h / 2, 1.4 * s, 0, 7);
      ctx.fill();
    }
  }
  if (cell.language) paintSpoken(ctx, theme, x - 1, y + h * 0.2, h * 0.6, 3.5 * s, cell.language);
  if (cell.graded) paintRing(ctx, theme, x + 8.5 * s, y + 8.5 * s, 3 * s);
}

/** The sign for "graded", the same on chips, beside matrix rows and in the legend. */
export function paintRing(ctx, theme, x, y, radius) {
  ctx.strokeStyle = theme.strong("orange");
  ctx.lineWidth = Math.max(1.4, radius * 0.5);
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, 7);
  ctx.stroke();
}

/** What hangs on a chip from outside: the order of prediction above, the hidden original below. */
export function paintHangers(ctx, art, box, cell, lane, alpha) {
  const { theme, plan } = art;
  if (alpha <= 0.004 || (!cell.badge && !cell.was)) return;
  ctx.save();
  ctx.globalAlpha *= alpha;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  if (cell.badge) {
    const size = Math.round(plan.chips.size * 0.72);
    ctx.font = font(size, 700);
    const width = Math.max(size * 1.55, ctx.measureText(cell.badge).width + size * 0.8);
    const [x, y] = [box.x + box.w - width + 5, box.y - size * 0.78];
    ctx.fillStyle = theme.strong("purple");
    ctx.beginPath();
    boxPath(ctx, x, y, width, size * 1.55, size);
    ctx.fill();
    ctx.fillStyle = theme.dark ? theme.paper : "#fff";
    ctx.fillText(cell.badge, x + width / 2, y + size * 0.83);
  }
  if (cell.was && plan.lanes[lane].below) {
    const size = Math.max(9, plan.chips.size * 0.76);
    ctx.font = font(size);
    ctx.fillStyle = theme.muted;
    const x = box.x + box.w / 2;
    const y = box.y + (cell.chosen && rises(lane) ? 5 : 0) + box.h + plan.lanes[lane].below * 0.62;
    const text = cut(ctx, cell.was, box.w, art.memory);
    ctx.fillText(text, x, y);
    const half = ctx.measureText(text).width / 2 + 1;
    ctx.fillRect(x - half, y, 2 * half, 1);
  }
  ctx.restore();
}

// ---------------------------------------------------------------------------------------------------- painting: lanes

const sameLook = (a, b) => ["text", "state", "chosen", "graded"].every((field) => a[field] === b[field]);

/** The lane frames: a name, a quiet track, and a hint of lanes that later frames will fill. */
export function paintTracks(ctx, art, record, k, u) {
  const { theme, plan } = art;
  const frames = [record.frames[k], record.frames[Math.min(k + 1, record.frames.length - 1)]];
  for (const [name, slot] of Object.entries(plan.lanes)) {
    const [a, b] = frames.map((frame) => (laneOf(frame, name) ? 1 : 0));
    const presence = lerp(a, b, ease(u));
    const lane = laneOf(frames[b ? 1 : 0], name);
    ctx.save();
    ctx.globalAlpha = lerp(0.5, 1, presence);
    ctx.fillStyle = theme.track;
    ctx.beginPath();
    const bottom = slot.y + slot.height;
    const right = plan.left + plan.chips.columns * (plan.chips.w + plan.chips.gap) - plan.chips.gap;
    boxPath(ctx, plan.left - plan.inset, slot.top - 7, right - plan.left + 2 * plan.inset, bottom - slot.top + 14, 13);
    ctx.fill();
    ctx.font = font(plan.wide ? 12.5 : 12, 600);
    ctx.fillStyle = presence > 0.5 ? theme.muted : theme.faint;
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    const y = plan.wide ? slot.top + slot.above + plan.chips.h / 2 : slot.y + 3;
    paintWrapped(ctx, art, (lane && lane.title) || slot.title, plan.pad, y, plan.wide ? plan.gutter - 18 : plan.width - 2 * plan.pad, 15);
    if (slot.numbered && presence > 0.5) paintNumbers(ctx, art, name, laneOf(frames[0], name) || lane);
    ctx.restore();
  }
}

/** A title on one or two lines, centred on y. */
export function paintWrapped(ctx, art, text, x, y, width, pitch) {
  const words = text.split(" ");
  let first = words.length;
  while (first > 1 && ctx.measureText(words.slice(0, first).join(" ")).width > width) first -= 1;
  const lines = [words.slice(0, first).join(" "), words.slice(first).join(" ")].filter(Boolean);
  lines.forEach((line, i) => ctx.fillText(cut(ctx, line, width, art.memory), x, y + (i - (lines.length - 1) / 2) * pitch));
}

/** Position numbers over the original: positions stay when tokens change, which is worth seeing. */
function paintNumbers(ctx, art, name, lane) {
  ctx.font = font(10);
  ctx.textAlign = "center";
  ctx.fillStyle = art.theme.faint;
  lane.cells.forEach((cell, i) => {
    const box = chipBox(art.plan, name, i);
    ctx.fillText(String((lane.begins || 0) + i + 1), box.x + box.w / 2, box.y - 12);
  });
}

/** All chips at (k, u). Moving chips come last so that they pass over those that rest. */
export function paintLanes(ctx, art, record, k, u, focus) {
  const moves = u > 0 ? record.moves[k] : placed(record.frames[k]).map((spot) => ({ from: spot, to: spot }));
  const count = Math.max(...moves.map((move) => (move.to || move.from).i), 0) + 1;
  const drawn = moves.map((move) => flight(art.plan, move, u, count));
  const still = (item) => item.lift < 0.02;
  for (const item of [...drawn.filter(still), ...drawn.filter((item) => !still(item))]) paintFlight(ctx, art, item, focus);
  return drawn;
}

/** Where one chip is at fraction u; chips start one after the other, a little, so that the eye can follow. */
function flight(plan, { from, to, into }, u, count) {
  const spot = to || from;
  const spread = Math.min(0.45, 0.05 * count);
  const e = ease(clamp(u * (1 + spread) - spread * (spot.i / count)));
  if (from && to) {
    const a = chipBox(plan, from.lane, from.i, from.cell.chosen);
    const b = chipBox(plan, to.lane, to.i, to.cell.chosen);
    const far = clamp((Math.hypot(b.x - a.x, b.y - a.y) - 8) / 60);
    return { from, to, e, box: between(a, b, e), alpha: 1, lift: far * Math.sin(Math.PI * e) };
  }
  if (to) return { from: null, to, e, box: swell(chipBox(plan, to.lane, to.i, to.cell.chosen), lerp(0.72, 1, e)), alpha: e, lift: 0 };
  const a = chipBox(plan, from.lane, from.i, from.cell.chosen);
  if (into) {
    const b = chipBox(plan, into.lane, into.i, into.cell.chosen);
    const narrow = { x: b.x + b.w / 2 - 4, y: b.y, w: 8, h: b.h };
    return { from, to: null, e, box: between(a, narrow, e), alpha: 1 - e * e, lift: 0 };
  }
  return { from, to: null, e, box: { ...a, y: a.y + 30 * e * e }, alpha: Math.pow(1 - e, 1.5), lift: 0, turn: 0.16 * e };
}

const between = (a, b, t) => ({ x: lerp(a.x, b.x, t), y: lerp(a.y, b.y, t), w: lerp(a.w, b.w, t), h: lerp(a.h, b.h, t) });
const swell = (box, s) => ({ x: box.x + (box.w * (1 - s)) / 2, y: box.y + (box.h * (1 - s)) / 2, w: box.w * s, h: box.h * s });

function paintFlight(ctx, art, item, focus) {
  const { from, to, e, box, lift } = item;
  const spot = to || from;
  const alpha = item.alpha * (focus && focus.dims(spot) ? 0.3 : 1);
  ctx.save();
  if (item.turn) {
    ctx.translate(box.x + box.w / 2, box.y + box.h / 2);
    ctx.rotate(item.turn);
    ctx.translate(-box.x - box.w / 2, -box.y - box.h / 2);
  }
  if (!from || !to || from === to || (sameLook(from.cell, to.cell) && from.lane === to.lane)) {
    paintChip(ctx, art, box, spot.cell, spot.lane, alpha, lift);
  } else paintChange(ctx, art, item, alpha);
  ctx.restore();
  if (focus) paintHalo(ctx, art, box, focus.halo(spot));
  const changed = from && to && (from.cell.badge !== to.cell.badge || from.cell.was !== to.cell.was || from.lane !== to.lane);
  if (changed) {
    paintHangers(ctx, art, box, from.cell, from.lane, alpha * (1 - e));
    paintHangers(ctx, art, box, to.cell, to.lane, alpha * e);
  } else paintHangers(ctx, art, box, spot.cell, spot.lane, alpha);
}

/** The ring around the reader and around each chip that it reads; under the hangers, which must stay readable. */
function paintHalo(ctx, { theme, plan }, { x, y, w, h }, role) {
  if (!role) return;
  ctx.strokeStyle = role === "reader" ? theme.ink : role === "leaked" ? theme.leak : theme.visible;
  ctx.lineWidth = 2;
  ctx.beginPath();
  boxPath(ctx, x - 1.5, y - 1.5, w + 3, h + 3, Math.min(10.5, plan.chips.h * 0.28 + 1.5));
  ctx.stroke();
}

/** One chip turning into another: a mask slides down as a cover, a swapped word rolls like a counter, the rest fades. */
function paintChange(ctx, art, { from, to, e, box, lift }, alpha) {
  const rolls = ["randomised", "replaced"].includes(to.cell.state) && from.cell.text !== to.cell.text;
  if (to.cell.state === "masked" && from.cell.state !== "masked") {
    paintChip(ctx, art, box, from.cell, from.lane, alpha, lift);
    if (e <= 0) return;
    ctx.beginPath();
    ctx.rect(box.x - 12, box.y - 12, box.w + 24, (box.h + 12) * e + (e >= 1 ? 24 : 0));
    ctx.clip();
    paintChip(ctx, art, box, to.cell, to.lane, alpha, lift);
  } else if (rolls && e > 0 && e < 1) {
    ctx.beginPath();
    boxPath(ctx, box.x - 1, box.y - 1, box.w + 2, box.h + 2, 9);
    ctx.clip();
    paintChip(ctx, art, { ...box, y: box.y - (box.h + 4) * e }, from.cell, from.lane, alpha);
    paintChip(ctx, art, { ...box, y: box.y + (box.h + 4) * (1 - e) }, to.cell, to.lane, alpha);
  } else {
    const fades = lookOf(art.theme, to.cell, to.lane).fill === null; // a chip without a body cannot cover the old one
    paintChip(ctx, art, box, from.cell, from.lane, alpha * (fades ? 1 - e : e >= 1 ? 0 : 1), lift);
    paintChip(ctx, art, box, to.cell, to.lane, alpha * e, lift);
  }
}

// ---------------------------------------------------------------------------------------------------- painting: arcs

/** The n-th token of a stream in a lane: deleted chips are still drawn but have no row in a matrix. */
export function streamSpots(frame, lane) {
  const cells = (laneOf(frame, lane) || { cells: [] }).cells;
  return cells.map((cell, i) => ({ lane, i, cell })).filter((spot) => spot.cell.state !== "deleted");
}

/**
 * The current reader in the lanes: whom it sees, as arcs, and which chips stay bright. A decoder row reads its own
 * past and the encoder at once, so both matrices of that row speak together.
 */
export function focusOf(record, k, reader, eye) {
  const frame = record.frames[k];
  const own = reader && matrixOf(frame, reader.matrix);
  if (!own || reader.row >= own.n) return null;
  const lane = READER_LANE[reader.matrix] || "inputs";
  const voices = lane === "decoder" ? frame.matrices.filter((matrix) => READER_LANE[matrix.name] === "decoder") : [own];
  const home = laneOf(frame, lane) ? lane : "targets";
  const me = streamSpots(frame, home)[reader.row];
  const seen = voices.flatMap((matrix) => {
    const readLane = READ_LANE[matrix.name] || "inputs";
    const spots = streamSpots(frame, laneOf(frame, readLane) ? readLane : home);
    return spots.flatMap((spot, j) => {
      const state = j < matrix.m && reader.row < matrix.n ? matrix.cells[reader.row * matrix.m + j] : 0;
      if (state !== CELL.visible && state !== CELL.leaked) return [];
      return [{ ...spot, leaked: state === CELL.leaked, weight: weightAt(matrix, reader.row, j, eye) }];
    });
  });
  const id = (spot) => `${spot.lane}/${spot.i}`;
  const roles = new Map(seen.map((spot) => [id(spot), spot.leaked ? "leaked" : "seen"]));
  const involved = new Set([home, ...voices.map((matrix) => READ_LANE[matrix.name])]);
  return {
    me,
    seen,
    dims: (spot) => involved.has(spot.lane) && !roles.has(id(spot)) && !(me && id(me) === id(spot)),
    halo: (spot) => (me && id(me) === id(spot) ? "reader" : roles.get(id(spot))),
  };
}

export function paintArcs(ctx, art, focus) {
  if (!focus || !focus.me) return;
  const { theme, plan } = art;
  const start = chipBox(plan, focus.me.lane, focus.me.i, focus.me.cell.chosen);
  const under = ({ lane, i }) => {
    const rest = chipBox(plan, lane, i);
    return rest.y + rest.h + plan.lanes[lane].below + 2;
  };
  const wrapped = (spot) => plan.lanes[spot.lane].lines > 1; // arcs across lines are a tangle; there the rings must do
  for (const spot of wrapped(focus.me) ? [] : focus.seen.filter((seen) => !wrapped(seen))) {
    const box = chipBox(plan, spot.lane, spot.i, spot.cell.chosen);
    const [ax, bx] = [start.x + start.w / 2, box.x + box.w / 2];
    const strength = spot.weight === null ? 0.75 : 0.12 + 0.88 * Math.sqrt(spot.weight);
    ctx.save();
    ctx.globalAlpha = strength;
    ctx.strokeStyle = ctx.fillStyle = spot.leaked ? theme.leak : theme.visible;
    ctx.lineWidth = spot.weight === null ? 1.6 : 1 + 2.6 * spot.weight;
    ctx.beginPath();
    let tip;
    if (spot.lane !== focus.me.lane) {
      const up = box.y < start.y;
      const [ay, by] = up ? [start.y - 3, under(spot)] : [under(focus.me), box.y - 3];
      const bend = (by - ay) * 0.55;
      ctx.moveTo(ax, ay);
      ctx.bezierCurveTo(ax, ay + bend, bx, by - bend, bx, by);
      tip = [bx, by, up ? 1 : -1];
    } else {
      const [ay, by] = [under(focus.me), under(spot)];
      const deep = Math.min(25, 9 + 3.4 * Math.abs(spot.i - focus.me.i));
      if (spot.i !== focus.me.i) {
        ctx.moveTo(ax, ay);
        ctx.bezierCurveTo(ax, ay + deep * 1.3, bx, by + deep * 1.3, bx, by + 3);
      }
      tip = [bx, by, 1];
    }
    ctx.stroke();
    ctx.globalAlpha = Math.max(0.5, strength);
    ctx.beginPath(); // an arrow head that touches the chip which is being read
    ctx.moveTo(tip[0], tip[1]);
    ctx.lineTo(tip[0] - 4, tip[1] + 6 * tip[2]);
    ctx.lineTo(tip[0] + 4, tip[1] + 6 * tip[2]);
    ctx.fill();
    ctx.restore();
  }
}
