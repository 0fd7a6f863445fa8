/** Tokens as chips: one chip, the lanes with everything on its way, the arcs to what a reader attends to. */

import tokens from "../../../design_tokens.json" with { type: "json" };
import {
  CELL, READER_LANE, READ_LANE, STRIP, chipBox, clamp, ease, font, isAnswers, isOpen, laneOf, lerp, matrixOf, placed,
  rises, weightAt, wordOf,
} from "../record.js";
import { boxPath, cut, fitted, paintBox, paintDot, paintLines, paintText, paintWrapped, trace } from "./pen.js";

/** @type {{ [state: string]: Look }} */
const LOOKS = tokens.chips;

/** A colour by its name in the theme, such as "ink" or "tint sky". @param {Theme} theme @param {string} name */
function colourOf(theme, name) {
  const [kind, hue] = name.split(" ");
  if (hue) return kind === "tint" ? theme.tint(hue) : theme.strong(hue);
  return theme[/** @type {Shade} */ (name)] ?? name;
}

/** How a chip looks: the state decides fill, edge and mark together, never colour alone.
 * @param {Theme} theme @param {Cell} cell @param {string} lane @returns {Look} */
function lookOf(theme, cell, lane) {
  const answers = isAnswers(lane);
  const blank = answers && !cell.scored && cell.state !== "padding";
  const plain = LOOKS[blank ? "blank" : cell.state] || LOOKS.kept;
  const look = answers && cell.scored ? { ...plain, ...LOOKS.answer } : plain;
  const fill = look.fill && colourOf(theme, look.fill);
  return { ...look, fill, edge: colourOf(theme, look.edge), text: colourOf(theme, look.text) };
}

/** A token as a box with its word and its marks, `lift` above the paper while it flies.
 * @param {Pen} ctx @param {ChipArt} art @param {Box} box @param {Cell} cell @param {string} lane */
export function paintChip(ctx, art, box, cell, lane, alpha = 1, lift = 0) {
  if (alpha <= 0.004) return;
  const { theme, plan } = art;
  const { mark } = plan.chips;
  const look = lookOf(theme, cell, lane);
  const { x, y, w, h } = box;
  const radius = look.pill ? h / 2 : Math.min(9, h * 0.28);
  const raised = cell.chosen && rises(lane);
  ctx.save();
  ctx.globalAlpha *= alpha;
  if (look.fill) paintBody(ctx, theme, box, look, radius, raised, lift);
  ctx.lineWidth = raised ? 2 : look.thick || 1;
  ctx.setLineDash(look.dash || []);
  const edge = raised && !look.dash ? theme.strong("orange") : look.edge;
  paintBox(ctx, { x: x + 0.5, y: y + 0.5, w: w - 1, h: h - 1 }, radius, null, edge);
  ctx.setLineDash([]);
  paintMark(ctx, theme, box, look, mark, radius);
  if (cell.scored) paintRing(ctx, theme, x + 8.5 * mark, y + 8.5 * mark, 3 * mark);
  const size = Math.min(plan.chips.size, h * 0.62);
  const shown = textOf(cell, lane);
  ctx.font = fitted(ctx, shown, w - size * 0.7, size, look.weight || 500);
  if (w > 14) {
    const word = cut(ctx, shown, w - size * 0.7);
    paintText(ctx, word, x + w / 2, y + h / 2 + size * 0.06, { fill: look.text, align: "center" });
  }
  ctx.restore();
}

/** The word on a chip; an answer that is empty is a dot. @param {Cell} cell @param {string} lane */
const textOf = (cell, lane) => cell.text || (isAnswers(lane) ? "·" : "");

/** What a chip is made of; blurred shadows are slow, so a chip at rest has only an edge to stand on.
 * @param {Pen} ctx @param {Theme} theme @param {Box} box @param {Look} look @param {number} radius
 * @param {boolean} raised @param {number} lift */
function paintBody(ctx, theme, box, look, radius, raised, lift) {
  const [shadowBlur, shadowOffsetY] = [(raised ? 9 : 3) + 12 * lift, (raised ? 3 : 1) + 6 * lift];
  const shadow = { shadowColor: theme.shadow, shadowBlur, shadowOffsetY };
  if (!look.flat && (raised || lift > 0.02)) Object.assign(ctx, shadow);
  else if (!look.flat) paintBox(ctx, { ...box, y: box.y + 1.5 }, radius, theme.ledge);
  paintBox(ctx, box, radius, look.fill);
  ctx.shadowColor = "transparent";
}

/** The marks that say the state without colour. Each is drawn in the colour of the edge, at `s` times its size.
 * @type {{ [mark: string]: (ctx: Pen, theme: Theme, box: Box, s: number, radius: number, side?: number) => void }} */
const MARKS = {
  dice(ctx, theme, { x, y, w }, s) {
    const side = 10 * s;
    const [left, top] = [x + w - side * 0.62, y - side * 0.38]; // over the corner, clear of the word
    paintBox(ctx, { x: left, y: top, w: side, h: side }, 2.5 * s, ctx.fillStyle);
    ctx.fillStyle = theme.paper;
    for (const at of [0.27, 0.5, 0.73]) paintDot(ctx, left + side * at, top + side * at, 1.15 * s);
  },
  strike: (ctx, _, { x, y, w, h }) => paintLines(ctx, [[x + w * 0.18, y + h / 2 + 1], [x + w * 0.82, y + h / 2 + 1]]),
  plus(ctx, theme, { x, y, w }, s) {
    const [cx, cy] = [x + w - 8 * s, y + 8 * s];
    paintLines(ctx, [[cx - 3 * s, cy], [cx + 3 * s, cy]], [[cx, cy - 3 * s], [cx, cy + 3 * s]]);
  },
  ribbon(ctx, theme, { x, y, w, h }, s) {
    Object.assign(ctx, { strokeStyle: theme.strong("green"), lineWidth: 2.4 * s, lineCap: "round" });
    const [base, wave] = [y + h - 5 * s, 2.2 * s];
    ctx.beginPath();
    ctx.moveTo(x + w * 0.25, base);
    ctx.bezierCurveTo(x + w * 0.42, base - 2.4 * wave, x + w * 0.58, base + 2.4 * wave, x + w * 0.75, base);
    ctx.stroke();
  },
  notch(ctx, theme, { x, y, w, h }, s, radius, side = 13 * s) {
    ctx.save();
    ctx.beginPath();
    boxPath(ctx, x, y, w, h, radius);
    ctx.clip();
    trace(ctx, [[x + w - side, y], [x + w, y], [x + w, y + side]]);
    ctx.fill();
    ctx.restore();
  },
  lucky(ctx, theme, box, s, radius) {
    MARKS.notch(ctx, theme, box, s, radius, 16 * s);
    const [right, y] = [box.x + box.w, box.y];
    ctx.strokeStyle = theme.paper;
    paintLines(ctx, [[right - 8 * s, y + 4.6 * s], [right - 6 * s, y + 6.6 * s], [right - 2.8 * s, y + 2.6 * s]]);
  },
  dots(ctx, theme, { x, y, w, h }, s) {
    ctx.fillStyle = theme.faint;
    for (const dx of [-6, 0, 6]) paintDot(ctx, x + w / 2 + dx * s, y + h / 2, 1.4 * s);
  },
};

/** The mark of a chip, in the colour of its edge.
 * @param {Pen} ctx @param {Theme} theme @param {Box} box @param {Look} look @param {number} s @param {number} radius */
function paintMark(ctx, theme, box, look, s, radius) {
  ctx.strokeStyle = ctx.fillStyle = look.edge;
  ctx.lineWidth = 1.6 * s;
  if (look.mark) MARKS[look.mark](ctx, theme, box, s, radius);
}

/** The sign for "scored", the same on chips, beside matrix rows and in the legend.
 * @param {Pen} ctx @param {Theme} theme @param {number} x @param {number} y @param {number} radius */
export function paintRing(ctx, theme, x, y, radius) {
  ctx.strokeStyle = theme.strong("orange");
  ctx.lineWidth = Math.max(1.4, radius * 0.5);
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, 7);
  ctx.stroke();
}

/** What hangs on a chip from outside: the order of prediction above, the hidden original below.
 * @param {Pen} ctx @param {ChipArt} art @param {Box} box @param {Cell} cell @param {string} lane */
export function paintHangers(ctx, art, box, cell, lane, alpha = 1) {
  const { theme, plan } = art;
  if (alpha <= 0.004 || (!cell.badge && !cell.was)) return;
  ctx.save();
  ctx.globalAlpha *= alpha;
  if (cell.badge) {
    const size = Math.round(plan.chips.size * 0.72);
    ctx.font = font(size, 700);
    const width = Math.max(size * 1.55, ctx.measureText(cell.badge).width + size * 0.8);
    const [x, y] = [box.x + box.w - width + 5, box.y - size * 0.78];
    paintBox(ctx, { x, y, w: width, h: size * 1.55 }, size, theme.strong("purple"));
    const fill = theme.dark ? theme.paper : "#fff";
    paintText(ctx, cell.badge, x + width / 2, y + size * 0.83, { fill, align: "center" });
  }
  const below = cell.was && plan.lanes[lane].was;
  if (below) {
    const size = Math.max(9, plan.chips.size * 0.76);
    ctx.font = font(size);
    const x = box.x + box.w / 2;
    const y = box.y + (cell.chosen && rises(lane) ? 5 : 0) + box.h + below * 0.62;
    const text = cut(ctx, cell.was, box.w);
    paintText(ctx, text, x, y, { fill: theme.muted, align: "center" });
    const half = ctx.measureText(text).width / 2 + 1;
    ctx.fillRect(x - half, y, 2 * half, 1);
  }
  ctx.restore();
}

/** @param {Cell} a @param {Cell} b */
const sameLook = (a, b) => a.text === b.text && a.state === b.state && a.chosen === b.chosen && a.scored === b.scored;

/** The lane frames: a name, a quiet track, and a hint of lanes that later frames will fill.
 * @param {Pen} ctx @param {Art} art @param {StageRecord} record @param {number} k @param {number} u */
export function paintTracks(ctx, art, record, k, u) {
  const frames = [record.frames[k], record.frames[Math.min(k + 1, record.frames.length - 1)]];
  for (const name of Object.keys(art.plan.lanes)) {
    const [before, after] = frames.map((frame) => laneOf(frame, name));
    const presence = lerp(Number(Boolean(before)), Number(Boolean(after)), ease(u));
    paintTrack(ctx, art, name, before, after, presence);
    const fades = u > 0 && JSON.stringify(before?.ids) !== JSON.stringify(after?.ids);
    paintIds(ctx, art, before, fades ? 1 - ease(u) : 1);
    if (fades) paintIds(ctx, art, after, ease(u));
  }
}

/** One lane, of which `presence` is there.
 * @param {Pen} ctx @param {Art} art @param {string} name @param {Lane | undefined} before
 * @param {Lane | undefined} after @param {number} presence */
function paintTrack(ctx, { theme, plan }, name, before, after, presence) {
  const { chips, inset, left, wide } = plan;
  const slot = plan.lanes[name];
  const lane = after || before;
  const across = chips.columns * (chips.w + chips.gap) - chips.gap;
  ctx.save();
  ctx.globalAlpha = lerp(0.5, 1, presence);
  const track = { x: left - inset, y: slot.top - 7, w: across + 2 * inset, h: slot.y + slot.height - slot.top + 14 };
  paintBox(ctx, track, 13, theme.track);
  Object.assign(ctx, { font: font(wide ? 12.5 : 12, 600), fillStyle: presence > 0.5 ? theme.muted : theme.faint });
  const y = wide ? slot.top + slot.above + chips.h / 2 : slot.y + 3;
  paintWrapped(ctx, lane?.title || slot.title, plan.pad, y, wide ? plan.gutter - 18 : plan.width - 2 * plan.pad, 15);
  if (slot.numbered && presence > 0.5 && lane) paintNumbers(ctx, { theme, plan }, before || lane);
  ctx.restore();
}

/** Position numbers over the original: positions stay when tokens change, which is worth seeing.
 * @param {Pen} ctx @param {Pick<Art, "theme" | "plan">} art @param {Lane} lane */
function paintNumbers(ctx, { theme, plan }, { begins = 0, cells, name }) {
  cells.forEach((_, i) => {
    const { x, y, w } = chipBox(plan, name, i);
    paintText(ctx, String(begins + i + 1), x + w / 2, y - 12, { spec: font(10), fill: theme.faint, align: "center" });
  });
}

/** What a model reads with the tokens of a lane: a bar below each run of one id, or of positions that count on.
 * @param {Pen} ctx @param {Art} art @param {Lane | undefined} lane @param {number} alpha */
function paintIds(ctx, { theme, plan }, lane, alpha) {
  if (!lane) return;
  ctx.save();
  ctx.globalAlpha *= alpha;
  lane.ids.forEach((ids, k) => {
    const { title, values, words } = ids;
    const step = words.length ? 0 : 1;
    for (let from = 0, to = 0; from < values.length; from = to) {
      do to += 1; while (to < values.length && to % plan.chips.columns && values[to] === values[to - 1] + step);
      const word = wordOf(ids, from) + (step && to > from + 1 ? `–${values[to - 1]}` : "");
      if (!word) continue;
      const [first, last] = [from, to - 1].map((i) => chipBox(plan, lane.name, i));
      const [x, w] = [first.x, last.x + last.w - first.x];
      const y = first.y + first.h + plan.lanes[lane.name].was + k * STRIP + 4;
      const fill = words.length && values[from] % 2 ? theme.line : theme.chip;
      ctx.lineWidth = 1;
      paintBox(ctx, { x: x + 0.5, y: y + 0.5, w: w - 1, h: STRIP - 4 }, 4, fill, theme.line);
      Object.assign(ctx, { font: font(10.5, 500), fillStyle: theme.muted });
      const full = `${title} ${word}`;
      const text = cut(ctx, ctx.measureText(full).width < w - 6 ? full : word, w);
      paintText(ctx, text, x + w / 2, y + (STRIP - 3) / 2 + 0.5, { align: "center" });
    }
  });
  ctx.restore();
}

/** All chips at (k, u). Moving chips come last so that they pass over those that rest.
 * @param {Pen} ctx @param {Art} art @param {StageRecord} record @param {number} k @param {number} u
 * @param {Focus | null} focus */
export function paintLanes(ctx, art, record, k, u, focus) {
  /** @type {Move[]} */
  const moves = u > 0 ? record.moves[k] : placed(record.frames[k]).map((spot) => ({ from: spot, to: spot }));
  const count = Math.max(...moves.map((move) => (move.to || move.from).i), 0) + 1;
  const drawn = moves.map((move) => flight(art.plan, move, u, count));
  const moving = drawn.filter((item) => item.lift >= 0.02);
  for (const item of drawn) if (item.lift < 0.02) paintFlight(ctx, art, item, focus);
  for (const item of moving) paintFlight(ctx, art, item, focus);
  return drawn;
}

/** Where one chip is at fraction u; chips start one after the other, a little, so that the eye can follow.
 * @param {Plan} plan @param {Move} move @param {number} u @param {number} count @returns {Flight} */
function flight(plan, { from, to, into }, u, count) {
  const spread = Math.min(0.45, 0.05 * count);
  const spot = to || from;
  const e = ease(clamp(u * (1 + spread) - spread * (spot.i / count)));
  const made = { from, to, spot, e, alpha: 1, lift: 0 };
  const a = boxOf(plan, from || spot);
  const b = boxOf(plan, into || spot);
  if (from && to) return {
    ...made, box: between(a, b, e), lift: clamp((Math.hypot(b.x - a.x, b.y - a.y) - 8) / 60) * Math.sin(Math.PI * e),
  };
  if (to) return { ...made, box: swell(b, lerp(0.72, 1, e)), alpha: e };
  if (into) return { ...made, box: between(a, { x: b.x + b.w / 2 - 4, y: b.y, w: 8, h: b.h }, e), alpha: 1 - e * e };
  return { ...made, box: { ...a, y: a.y + 30 * e * e }, alpha: Math.pow(1 - e, 1.5), turn: 0.16 * e };
}

/** @param {Plan} plan @param {Spot} spot */
const boxOf = (plan, { lane, i, cell }) => chipBox(plan, lane, i, cell.chosen);
/** @param {Box} a @param {Box} b @param {number} t */
const between = (a, b, t) =>
  ({ x: lerp(a.x, b.x, t), y: lerp(a.y, b.y, t), w: lerp(a.w, b.w, t), h: lerp(a.h, b.h, t) });
/** @param {Box} box @param {number} s */
const swell = ({ x, y, w, h }, s) => ({ x: x + (w * (1 - s)) / 2, y: y + (h * (1 - s)) / 2, w: w * s, h: h * s });

/** @param {Pen} ctx @param {Art} art @param {Flight} item @param {Focus | null} focus */
function paintFlight(ctx, art, item, focus) {
  const { from, to, spot, e, box, lift, turn } = item;
  const alpha = item.alpha * (focus?.dims(spot) ? 0.3 : 1);
  ctx.save();
  if (turn) {
    ctx.translate(box.x + box.w / 2, box.y + box.h / 2);
    ctx.rotate(turn);
    ctx.translate(-box.x - box.w / 2, -box.y - box.h / 2);
  }
  const changes = from && to && from !== to && !(sameLook(from.cell, to.cell) && from.lane === to.lane);
  if (changes) paintChange(ctx, art, from, to, item, alpha);
  else paintChip(ctx, art, box, spot.cell, spot.lane, alpha, lift);
  ctx.restore();
  if (focus) paintHalo(ctx, art, box, focus.halo(spot));
  if (from && to && !sameHangers(from, to)) {
    paintHangers(ctx, art, box, from.cell, from.lane, alpha * (1 - e));
    paintHangers(ctx, art, box, to.cell, to.lane, alpha * e);
  } else paintHangers(ctx, art, box, spot.cell, spot.lane, alpha);
}

/** @param {Spot} a @param {Spot} b */
const sameHangers = (a, b) => a.cell.badge === b.cell.badge && a.cell.was === b.cell.was && a.lane === b.lane;

/** The ring around the reader and around each chip that it reads; under the hangers, which must stay readable.
 * @param {Pen} ctx @param {Art} art @param {Box} box @param {string | null | undefined} role */
function paintHalo(ctx, { theme, plan }, { x, y, w, h }, role) {
  if (!role) return;
  ctx.lineWidth = 2;
  const edge = role === "reader" ? theme.ink : role === "leaked" ? theme.leak : theme.visible;
  paintBox(ctx, { x: x - 1.5, y: y - 1.5, w: w + 3, h: h + 3 }, Math.min(10.5, plan.chips.h * 0.28 + 1.5), null, edge);
}

/** One chip turning into another: a mask slides down as a cover, a random word rolls like a counter, the rest fades.
 * @param {Pen} ctx @param {Art} art @param {Spot} from @param {Spot} to @param {Flight} item @param {number} alpha */
function paintChange(ctx, art, from, to, { e, box, lift }, alpha) {
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

/** The n-th token of a stream in a lane: deleted chips are still drawn but have no row in a matrix.
 * @param {Frame} frame @param {string} lane */
export function streamSpots(frame, lane) {
  const cells = laneOf(frame, lane)?.cells ?? [];
  return cells.map((cell, i) => ({ lane, i, cell })).filter((spot) => spot.cell.state !== "deleted");
}

/** The current reader in the lanes: whom it sees, as arcs, and which chips stay bright. A decoder row reads its own
 * past and the encoder at once, so both matrices of that row speak together.
 * @param {StageRecord} record @param {number} k @param {Reader} reader @param {Eye} eye @returns {Focus | null} */
export function focusOf(record, k, reader, eye) {
  const frame = record.frames[k];
  const own = matrixOf(frame, reader.matrix);
  if (!own || reader.row >= own.n) return null;
  const lane = READER_LANE[reader.matrix] || "inputs";
  const voices = lane === "decoder" ? frame.matrices.filter((matrix) => READER_LANE[matrix.name] === "decoder") : [own];
  const home = laneOf(frame, lane) ? lane : "targets";
  const me = streamSpots(frame, home)[reader.row];
  const seen = voices.flatMap((matrix) => {
    const readLane = READ_LANE[matrix.name] || "inputs";
    const spots = streamSpots(frame, laneOf(frame, readLane) ? readLane : home);
    return spots.flatMap((spot, j) => {
      const at = reader.row * matrix.m + j;
      if (j >= matrix.m || reader.row >= matrix.n || !isOpen(matrix, at)) return [];
      return [{ ...spot, leaked: matrix.cells[at] === CELL.leaked, weight: weightAt(matrix, reader.row, j, eye) }];
    });
  });
  const id = (/** @type {Spot} */ spot) => `${spot.lane}/${spot.i}`;
  const roles = new Map(seen.map((spot) => [id(spot), spot.leaked ? "leaked" : "seen"]));
  const involved = new Set([home, ...voices.map((matrix) => READ_LANE[matrix.name])]);
  return {
    me, seen,
    dims: (spot) => involved.has(spot.lane) && !roles.has(id(spot)) && !(me && id(me) === id(spot)),
    halo: (spot) => (me && id(me) === id(spot) ? "reader" : roles.get(id(spot))),
  };
}

/** @param {Pen} ctx @param {Art} art @param {Focus | null} focus */
export function paintArcs(ctx, art, focus) {
  const { me = null, seen = [] } = focus || {};
  // arcs across lines are a tangle; there the rings must do
  const inLine = (/** @type {Spot} */ spot) => art.plan.lanes[spot.lane].lines === 1;
  if (me && inLine(me)) for (const spot of seen.filter(inLine)) paintArc(ctx, art, me, spot);
}

/** Below a chip and what is under it. @param {Plan} plan @param {Spot} spot */
function under(plan, { lane, i }) {
  const rest = chipBox(plan, lane, i);
  return rest.y + rest.h + plan.lanes[lane].below + 2;
}

/** An arc from the reader to a chip that it reads: below a lane they share, else from one lane to the other.
 * @param {Pen} ctx @param {Art} art @param {Spot} me @param {Focus["seen"][0]} spot */
function paintArc(ctx, { theme, plan }, me, spot) {
  const [start, box] = [boxOf(plan, me), boxOf(plan, spot)];
  const beside = spot.lane === me.lane;
  const up = !beside && box.y < start.y;
  const below = beside || up; // the chip is reached from below
  const [ax, bx] = [start.x + start.w / 2, box.x + box.w / 2];
  const [ay, by] = [up ? start.y - 3 : under(plan, me), below ? under(plan, spot) : box.y - 3];
  const strength = spot.weight === null ? 0.75 : 0.12 + 0.88 * Math.sqrt(spot.weight);
  ctx.save();
  ctx.globalAlpha = strength;
  ctx.strokeStyle = ctx.fillStyle = spot.leaked ? theme.leak : theme.visible;
  ctx.lineWidth = spot.weight === null ? 1.6 : 1 + 2.6 * spot.weight;
  const bend = beside ? Math.min(25, 9 + 3.4 * Math.abs(spot.i - me.i)) * 1.3 : (by - ay) * 0.55;
  if (!beside || spot.i !== me.i) {
    ctx.beginPath();
    ctx.moveTo(ax, ay);
    ctx.bezierCurveTo(ax, ay + bend, bx, beside ? by + bend : by - bend, bx, beside ? by + 3 : by);
    ctx.stroke();
  }
  ctx.globalAlpha = Math.max(0.5, strength);
  const foot = by + (below ? 6 : -6); // of an arrow head that touches the chip which is being read
  trace(ctx, [[bx, by], [bx - 4, foot], [bx + 4, foot]]);
  ctx.fill();
  ctx.restore();
}
