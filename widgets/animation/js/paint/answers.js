/** What a real model answers: its guesses as cards, what they cost as chips, what one update does to its layers. */

import { READER_LANE, chipBox, clamp, ease, font, homeOf, inFull, laneOf, percent } from "../record.js";
import { paintRing, streamSpots } from "./chips.js";
import { cut, paintBox, paintText, paintWrapped } from "./pen.js";

const CARD = { least: 128, most: 216, gap: 10, head: 20, line: 17, pad: 7 };
const CARD_LINES = 2; // lines of cards; what does not fit is shown when somebody points at it
const MANY = 6; // guesses that are worth a card at the same time
const BAR = { line: 21, name: 132 };

/** Which stream's rows a matrix holds, as questions name their reader. @param {Guess} guess @param {string} matrix */
const asksRow = (guess, matrix) => (guess.reader === "decoder") === (READER_LANE[matrix] === "decoder");

/** A share of a guess as it is written: a probability in percent, another measure as a number.
 * @param {Guess} guess @param {number} share */
const written = (guess, share) =>
  (guess.measure ?? "probability") === "probability" ? percent(share) : share.toFixed(2);

/** @param {StageRecord} record */
const guessesOf = (record) => record.numbers?.guesses || [];
/** @param {StageRecord} record */
const groupsOf = (record) => record.numbers?.groups || [];
/** @param {StageRecord} record */
const isAnswered = (record) => guessesOf(inFull(record)).length + groupsOf(record).length > 0;

/** Is there a frame that puts a price on the scored chips? @param {StageRecord} record */
export const costs = (record) =>
  guessesOf(inFull(record)).length > 0 && record.frames.some((frame) => frame.name === "loss");

/** @type {{ [frame: string]: AnswerKind }} */
const BANDS = { predict: "guesses", loss: "guesses", gradient: "gradient", change: "change", after: "after" };

/** What the band below the lanes shows in a frame: cards, bars of the layers, or nothing yet. @param {Frame} frame */
const bandOf = (frame) => (frame.numbers && BANDS[frame.name]) || null;

/** How much of the width so many columns of guesses beside the matrices take.
 * @param {StageRecord} record @param {number} columns */
export const roomForAnswers = (record, columns) =>
  guessesOf(inFull(record)).length ? columns * (CARD.least + CARD.gap) + CARD.gap : 0;

/** Which share of the first guesses has a card. @param {StageRecord} record @param {Plan} plan */
export const shareShown = (record, plan) =>
  plan.answers ? plan.answers.shown / Math.min(MANY, guessesOf(inFull(record)).length) : 1;

/** Room for the band below the lanes; it stays the same over all frames, so that the picture never jumps.
 * @param {StageRecord} record @param {Plan} plan @param {number} y */
export function planAnswers(record, plan, y) {
  if (!isAnswered(record)) return y;
  const room = plan.chips.columns * (plan.chips.w + plan.chips.gap) - plan.chips.gap; // as wide as the lanes
  const top = y + (plan.wide ? 0 : 19);
  const fitted = fitAnswers(record, room, CARD_LINES);
  plan.answers = { ...fitted, x: plan.left, y, top, room, titled: plan.wide ? "beside" : "above" };
  return top + fitted.height + 22;
}

/** Room for the band beside the matrices, so that both are in sight; answers where the picture ends, or 0 if none.
 * @param {StageRecord} record @param {Plan} plan @param {number} bottom */
export function planAnswersBeside(record, plan, bottom) {
  if (!plan.beside || !isAnswered(record)) return 0;
  const x = plan.beside.x + 6;
  const [box] = Object.values(plan.boxes);
  const room = plan.width - plan.pad - x;
  if (room < (groupsOf(record).length ? 300 : CARD.least)) return 0;
  const top = box.top + 26;
  const one = fitAnswers(record, room, 1).card.h + CARD.gap;
  const low = plan.room < Infinity ? plan.room - 36 : bottom - 12;
  const least = plan.room < Infinity ? 1 : CARD_LINES;
  const fitted = fitAnswers(record, room, Math.max(least, Math.floor((low - top + CARD.gap) / one)));
  if (fitted.shown < Math.min(2, guessesOf(inFull(record)).length)) return 0;
  plan.answers = { ...fitted, x, y: box.top + 8, top, room, titled: "above" };
  return Math.max(bottom, top + fitted.height + 12);
}

/** How many cards stand in a line, how many are shown, how high they are; and the lines of the bars.
 * @param {StageRecord} record @param {number} room @param {number} most */
function fitAnswers(record, room, most) {
  const [guesses, groups] = [guessesOf(inFull(record)), groupsOf(record)];
  const across = Math.max(1, Math.floor((room + CARD.gap) / (CARD.least + CARD.gap)));
  const columns = Math.min(across, Math.max(1, guesses.length));
  const shown = Math.min(guesses.length, across * most);
  const lines = Math.max(0, ...[...guesses, ...(inFull(record).numbers?.after || [])].map(({ top, truth }) =>
    top.length + Number(record.changing || !top.some(([word]) => word === truth))));
  const card = {
    w: Math.floor(Math.min(CARD.most, (room - CARD.gap * (columns - 1)) / columns)),
    h: CARD.head + CARD.line * lines + CARD.pad,
  };
  const halves = groups.length > 5 && room >= 560 ? 2 : 1;
  const bars = { columns: halves, lines: Math.ceil(groups.length / halves) };
  const height = Math.max(Math.ceil(shown / columns) * (card.h + CARD.gap) - CARD.gap, bars.lines * BAR.line);
  return { columns, shown, card, bars, height };
}

/** The whole band at (k, u), and the prices on lane C.
 * @param {Pen} ctx @param {Art} art @param {StageRecord} record @param {number} k @param {number} u
 * @param {Reader | null} reader */
export function paintAnswers(ctx, art, record, k, u, reader) {
  const band = art.plan.answers;
  if (!band) return;
  const [before, after] = [record.frames[k], record.frames[Math.min(k + 1, record.frames.length - 1)]];
  const [a, b] = [bandOf(before), bandOf(after)];
  const scene = { ...art, band };
  paintBandTitle(ctx, scene, record, u < 0.5 ? a : b);
  const e = ease(u);
  /** @type {[AnswerKind | null, Frame, number, number][]} */
  const shown = a === b || u === 0 ? [[a, before, 1, 1]] : [[a, before, 1 - e, 1], [b, after, e, e]];
  for (const [kind, frame, alpha, grown] of shown) {
    if (!kind || alpha <= 0) continue;
    ctx.save();
    ctx.globalAlpha *= alpha;
    if (kind === "gradient" || kind === "change") paintGroups(ctx, scene, groupsOf(record), kind, grown);
    else paintCards(ctx, scene, frame, kind, grown, reader);
    ctx.restore();
  }
  paintPrices(ctx, art, before, after, e);
}

/** @type {{ [kind in AnswerKind]: string }} */
const BAND_TITLES = {
  guesses: "The model guesses", gradient: "Length of the gradient", change: "How far each group moves",
  after: "Before and after",
};

/** @param {Pen} ctx @param {BandArt} art @param {StageRecord} record @param {AnswerKind | null} kind */
function paintBandTitle(ctx, { plan, theme, band }, record, kind) {
  const title = BAND_TITLES[kind || (guessesOf(record).length ? "guesses" : "gradient")];
  const more = (kind === "guesses" || kind === "after") && guessesOf(record).length > band.shown;
  const beside = band.titled === "beside";
  const said = `${band.shown} of ${guessesOf(record).length}${beside || band.room >= 300 ? "; point at a row" : ""}`;
  ctx.save();
  Object.assign(ctx, { font: font(plan.wide ? 12.5 : 12, 600), fillStyle: kind ? theme.muted : theme.faint });
  if (beside) paintWrapped(ctx, title, plan.pad, band.top + 16, plan.gutter - 18, 15);
  else paintText(ctx, title, band.x > plan.left ? band.x : plan.pad, band.y + 3);
  ctx.font = font(11);
  if (more && beside) paintWrapped(ctx, said, plan.pad, band.top + 54, plan.gutter - 18, 13);
  else if (more) paintText(ctx, said, band.x + band.room, band.y + 3, { align: "right" });
  const track = { x: band.x - plan.inset, y: band.top - 4, w: band.room + 2 * plan.inset, h: band.height + 8 };
  if (!kind) paintBox(ctx, track, 13, theme.track);
  ctx.restore();
}

/** The guesses that have a card: the first ones, and in place of the last the one that is being pointed at.
 * @param {AnswerBand} band @param {Guess[]} guesses @param {Reader | null} reader */
function cardsShown(band, guesses, reader) {
  const shown = guesses.slice(0, band.shown);
  const asked = reader && guesses.find((guess) => asksRow(guess, reader.matrix) && guess.position === reader.row);
  if (asked && !shown.includes(asked)) shown[shown.length - 1] = asked;
  return { shown, asked };
}

/** @param {Pen} ctx @param {BandArt} art @param {Frame} frame @param {AnswerKind} kind @param {number} grown
 * @param {Reader | null} reader */
function paintCards(ctx, { theme, band }, frame, kind, grown, reader) {
  const { guesses = [], after = [] } = frame.numbers || {};
  const { shown, asked } = cardsShown(band, guesses, reader);
  shown.forEach((guess, i) => {
    const x = band.x + (i % band.columns) * (band.card.w + CARD.gap);
    const y = band.top + Math.floor(i / band.columns) * (band.card.h + CARD.gap);
    const later = kind === "after" ? after[guesses.indexOf(guess)] : null;
    ctx.save();
    if (asked && asked !== guess) ctx.globalAlpha *= 0.35;
    paintCard(ctx, theme, { x, y, ...band.card }, frame, guess, later, grown);
    ctx.restore();
  });
}

/** The lines of a card: the likeliest answers, and the true one below them where it is not among them.
 * @param {Guess} guess @param {Guess | null} later */
function cardLines(guess, later) {
  const now = later || guess;
  const was = new Map([...guess.top, [guess.truth, guess.probability]]);
  const lineOf = (/** @type {string} */ word, /** @type {number} */ share, apart = false) => ({
    word, share, said: written(guess, share), was: later ? was.get(word) : undefined, right: word === now.truth, apart,
  });
  const lines = now.top.map(([word, share]) => lineOf(word, share));
  return lines.some((line) => line.right) ? lines : [...lines, lineOf(now.truth, now.probability, true)];
}

/** @param {Pen} ctx @param {Theme} theme @param {Box} box @param {Frame} frame @param {Guess} guess
 * @param {Guess | null} later @param {number} grown */
function paintCard(ctx, theme, { x, y, w, h }, frame, guess, later, grown) {
  ctx.lineWidth = 1;
  paintBox(ctx, { x: x + 0.5, y: y + 0.5, w: w - 1, h: h - 1 }, 9, theme.chip, theme.line);
  ctx.font = font(11, 600);
  const price = later ? `${guess.loss.toFixed(2)} → ${later.loss.toFixed(2)}` : "";
  const spare = price ? ctx.measureText(price).width + 8 : 0;
  paintText(ctx, cut(ctx, cardTitle(frame, guess), w - 16 - spare), x + 8, y + 12, { fill: theme.muted });
  if (price) paintText(ctx, price, x + w - 8, y + 12, { align: "right" });
  const lineAt = (/** @type {number} */ i) => y + CARD.head + i * CARD.line;
  cardLines(guess, later).forEach((line, i) => paintGuess(ctx, theme, x + 8, lineAt(i), w - 16, line, grown));
}

/** Where the answer stands: its position and what the model sees there; with several questions, which one it is.
 * @param {Frame} frame @param {Guess} guess */
function cardTitle(frame, guess) {
  const spot = streamSpots(frame, homeOf(guess.reader))[guess.position];
  const several = new Set(frame.numbers?.guesses?.map((each) => each.target)).size > 1;
  return `${guess.number ?? guess.position + 1} ${spot ? spot.cell.text : ""}${several ? ` · ${guess.target}` : ""}`;
}

/** One answer: the bar is its probability, a hollow bar what it was before, the ring marks the true one.
 * @param {Pen} ctx @param {Theme} theme @param {number} x @param {number} y @param {number} w
 * @param {ReturnType<typeof cardLines>[0]} line @param {number} grown */
function paintGuess(ctx, theme, x, y, w, line, grown) {
  const middle = y + CARD.line / 2;
  const fill = line.right ? theme.tint("orange", theme.dark ? 0.5 : 0.42) : theme.tint("blue", theme.dark ? 0.5 : 0.26);
  paintBox(ctx, { x, y: y + 1, w: Math.max(1.5, w * clamp(line.share) * grown), h: CARD.line - 3 }, 3, fill);
  if (line.was !== undefined) {
    ctx.strokeStyle = theme.muted;
    ctx.setLineDash([3, 2]);
    ctx.strokeRect(x + 0.5, y + 1.5, Math.max(1, w * clamp(line.was) - 1), CARD.line - 4);
    ctx.setLineDash([]);
  }
  if (line.apart) {
    ctx.fillStyle = theme.line;
    ctx.fillRect(x, y - 0.5, w, 1);
  }
  ctx.font = font(10.5);
  const { width } = ctx.measureText(line.said);
  const covered = w * line.share * grown > w - width - 4;
  paintText(ctx, line.said, x + w, middle, { fill: covered ? theme.ink : theme.muted, align: "right" });
  if (line.right) paintRing(ctx, theme, x + 7, middle, 3.4);
  ctx.font = font(11.5, line.right ? 650 : 400);
  const word = cut(ctx, line.word, w - width - (line.right ? 22 : 9));
  paintText(ctx, word, x + (line.right ? 15 : 4), middle, { fill: theme.ink });
}

/** A bar for every group of layers: the length of its gradient, or how far it moves as a share of its own length.
 * @param {Pen} ctx @param {BandArt} art @param {LayerGroup[]} groups @param {AnswerKind} kind @param {number} grown */
function paintGroups(ctx, { theme, band }, groups, kind, grown) {
  const steep = kind === "gradient";
  const value = (/** @type {LayerGroup} */ group) =>
    (steep ? group.gradient : group.change / Math.max(group.size, 1e-12));
  const most = Math.max(1e-12, ...groups.map(value));
  const width = (band.room - 24 * (band.bars.columns - 1)) / band.bars.columns;
  const name = Math.min(BAR.name, width * 0.4);
  const full = width - name - 96;
  groups.forEach((group, i) => {
    const x = band.x + Math.floor(i / band.bars.lines) * (width + 24);
    const y = band.top + (i % band.bars.lines) * BAR.line;
    ctx.font = font(12);
    paintText(ctx, cut(ctx, group.name, name - 8), x, y + BAR.line / 2, { fill: theme.ink });
    ctx.fillStyle = theme.lattice;
    ctx.fillRect(x + name, y + 4, full, BAR.line - 9);
    ctx.fillStyle = theme.strong(steep ? "vermilion" : "green");
    ctx.fillRect(x + name, y + 4, Math.max(1, full * (value(group) / most) * grown), BAR.line - 9);
    const said = steep ? small(group.gradient) : `${small(100 * value(group))} % of ${small(group.size)}`;
    paintText(ctx, said, x + name + full + 8, y + BAR.line / 2, { fill: theme.muted });
  });
}

/** A number with three significant digits. @param {number} value */
function small(value) {
  if (value === 0) return "0";
  return value >= 0.001 ? String(Number(value.toPrecision(3))) : value.toExponential(1);
}

/** What every scored answer costs, on a chip below it; nothing hangs on what is not scored.
 * @param {Pen} ctx @param {Art} art @param {Frame} before @param {Frame} after @param {number} e */
function paintPrices(ctx, art, before, after, e) {
  const [a, b] = [pricesOf(before), pricesOf(after)];
  if (!a && !b) return;
  const later = b && (e >= 0.5 || !a);
  const [frame, prices] = [later ? after : before, (later ? b : a) || []];
  ctx.save();
  ctx.globalAlpha *= a && b ? 1 : a ? 1 - e : e;
  const dearest = Math.max(1, ...prices.map((price) => price.loss));
  for (const price of prices) {
    if (laneOf(frame, price.lane)?.cells[price.position]?.scored) paintPrice(ctx, art, price, dearest);
  }
  ctx.restore();
}

/** The lane that a guess answers: that of its target where it has one of its own.
 * @param {Frame} frame @param {Guess} guess */
const laneOfGuess = (frame, guess) => frame.lanes.find((lane) => lane.target === guess.target)?.name ?? "targets";

/** The guesses whose loss hangs on a lane of targets; several questions at one position of it add up.
 * @param {Frame} frame */
function pricesOf(frame) {
  if (!frame.numbers || !["loss", "gradient", "change", "after"].includes(frame.name)) return null;
  const guesses = (frame.name === "after" ? frame.numbers.after : frame.numbers.guesses) || [];
  /** @type {Map<string, { lane: string, position: number, loss: number }>} */
  const sums = new Map();
  for (const guess of guesses) {
    if (homeOf(guess.reader) !== homeOf(guesses[0].reader)) continue;
    const [lane, { position }] = [laneOfGuess(frame, guess), guess];
    const at = `${lane}/${position}`;
    sums.set(at, { lane, position, loss: guess.loss + (sums.get(at)?.loss || 0) });
  }
  return [...sums.values()];
}

/** @param {Pen} ctx @param {Art} art @param {{ lane: string, position: number, loss: number }} price
 * @param {number} dearest */
function paintPrice(ctx, art, { lane, position, loss }, dearest) {
  const { theme, plan } = art;
  const box = chipBox(plan, lane, position);
  const size = clamp(plan.chips.size * 0.78, 9, 11.5);
  ctx.font = font(size, 650);
  const said = loss.toFixed(box.w < 34 ? 1 : 2);
  const width = Math.min(box.w, ctx.measureText(said).width + 12);
  const [x, y] = [box.x + box.w / 2, box.y + box.h + 9];
  ctx.lineWidth = 1;
  const fill = theme.tint("vermilion", 0.12 + 0.5 * clamp(loss / dearest));
  paintBox(ctx, { x: x - width / 2, y: y - 7.5, w: width, h: 15 }, 7.5, fill, theme.strong("vermilion"));
  paintText(ctx, said, x, y + 0.5, { fill: theme.ink, align: "center" });
}

/** The answers that a frame shows, with a model's update or without. @param {Frame} frame */
function answersOf(frame) {
  const kind = bandOf(frame);
  return ((kind === "guesses" || kind === "after") && frame.numbers?.[kind]) || [];
}

/** What a reader guesses, as a spoken sentence. @param {Frame} frame @param {Reader} who */
export function speakGuess(frame, who) {
  return answersOf(frame)
    .filter((guess) => asksRow(guess, who.matrix) && guess.position === who.row)
    .map((guess) => {
      const first = guess.top.slice(0, 3).map(([word, share]) => `'${word}' ${written(guess, share)}`).join(", ");
      const cost = `${guess.loss.toFixed(2)} ${guess.unit ?? "nats"}`;
      const truth = `the truth '${guess.truth}' has ${written(guess, guess.probability)}`;
      return ` It guesses ${first}; ${truth} and costs ${cost}.`;
    })
    .join("");
}

/** What of a model's answers stands on screen in a frame, for tests and hosts.
 * @param {StageRecord} record @param {number} k @param {AnswerBand | null} band */
export function answersShown(record, k, band) {
  const frame = record.frames[k];
  const prices = pricesOf(frame) || [];
  return {
    kind: bandOf(frame),
    band: band && { x: band.x, top: band.top, room: band.room, height: band.height },
    step: (frame.numbers || {}).step ?? null,
    guesses: answersOf(frame).map(({ position, truth, top }) => ({ position, truth, first: top[0] && top[0][0] })),
    prices: prices.map(({ position, loss }) => ({ position, loss })),
    layers: frame.matrices.map(({ name, layers, data }) => ({ name, layers, held: Object.keys(data).map(Number) })),
  };
}
