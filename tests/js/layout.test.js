/** Where everything is at one width: lanes, matrices, legend and answers. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { answersShown, speakGuess } from "../../widgets/animation/js/paint/answers.js";
import { makePlan } from "../../widgets/animation/js/paint/layout.js";
import { chipBox, range, readRecord } from "../../widgets/animation/js/record.js";

const measure = (text) => text.length * 7;
const words = (n, more = {}) => range(n).map((i) => ({ text: `word${i}`, key: `w${i}`, ...more }));
const names = (n) => range(n).map((i) => `word${i}`);

const guess = (position, more = {}) => ({
  target: "masked", reader: "inputs", position, truth: `word${position}`, probability: 0.2, loss: 1.61,
  top: [["other", 0.5], [`word${position}`, 0.2]], ...more,
});

/** A record of `n` tokens in two lanes and as many matrices as asked for, with guesses or without. */
function recordOf(n, { matrices = 1, guesses = null } = {}) {
  const square = (name) => ({
    name, title: name, rows: names(n), columns: names(n), states: new Uint8Array(n * n).fill(1), scored_rows: [],
  });
  const lanes = [
    { name: "original", title: "Text", cells: words(n) }, { name: "inputs", title: "In", cells: words(n) },
  ];
  const shown = ["encoder", "decoder", "cross", "query"].slice(0, matrices).map(square);
  const frames = [{ name: "text", lanes, matrices: [] }, { name: "visibility", lanes, matrices: shown }];
  if (!guesses) return readRecord({ frames });
  const targets = { name: "targets", title: "Out", target: "masked", cells: words(n, { scored: true }) };
  const more = ["predict", "loss"].map((name) => ({
    name, lanes: [...lanes, targets], matrices: shown, numbers: true,
  }));
  return readRecord({ frames: [...frames, ...more], numbers: { guesses } });
}

test("Chips of a lane neither overlap nor leave the picture, at any width", () => {
  for (const [n, width] of [[4, 320], [9, 700], [40, 900], [40, 320], [60, 1600]]) {
    const plan = makePlan(recordOf(n), width, measure);
    const boxes = range(n).map((i) => chipBox(plan, "inputs", i));
    for (const box of boxes) assert.ok(box.x >= 0 && box.x + box.w <= width, `${n} ${width}`);
    boxes.slice(1).forEach((box, i) => assert.ok(box.y > boxes[i].y || box.x >= boxes[i].x + boxes[i].w));
  }
});

test("Lanes come one below the other, and matrices below all of them", () => {
  const plan = makePlan(recordOf(12), 900, measure);
  const [original, inputs] = ["original", "inputs"].map((name) => plan.lanes[name]);
  assert.ok(inputs.y >= original.y + original.height);
  assert.ok(plan.boxes.encoder.y >= inputs.y + inputs.height);
  assert.ok(plan.height >= plan.boxes.encoder.y + 12 * plan.boxes.encoder.cell);
});

test("Matrices have one cell size and do not overlap, side by side, in pairs or one below the other", () => {
  for (const [matrices, width] of [[1, 320], [3, 1200], [3, 320], [4, 800]]) {
    const plan = makePlan(recordOf(10, { matrices }), width, measure);
    const boxes = Object.values(plan.boxes);
    assert.equal(boxes.length, matrices);
    assert.equal(new Set(boxes.map((box) => box.cell)).size, 1);
    boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => {
      const apart = a.right <= b.left || b.right <= a.left || a.y + 10 * a.cell <= b.top || b.y + 10 * b.cell <= a.top;
      assert.ok(apart, `${a.name} ${b.name} at ${width}`);
    }));
    assert.ok(boxes.every((box) => box.right <= width));
  }
});

test("Within a height everything gets smaller until it fits", () => {
  const record = recordOf(20);
  const [free, low] = [makePlan(record, 1000, measure), makePlan(record, 1000, measure, 420)];
  assert.ok(free.height > 420 && low.height <= 420);
  assert.ok(low.boxes.encoder.cell < free.boxes.encoder.cell);
});

test("The legend explains what occurs, and nothing else", () => {
  const kinds = (record) =>
    makePlan(record, 900, measure).legend.map(({ kind, state, code }) => `${kind} ${state ?? code}`);
  assert.deepEqual(kinds(recordOf(4)), ["cell 1"]);
  const lane = { name: "inputs", title: "", cells: words(2, { state: "masked", chosen: true }) };
  const masked = readRecord({ frames: [{ name: "corrupt", lanes: [lane], matrices: [] }] });
  assert.deepEqual(kinds(masked), ["token chosen", "token masked"]);
});

test("A band of guesses has room over all frames, and says what it shows in each", () => {
  const record = recordOf(6, { guesses: [guess(1), guess(4, { loss: 0.5 })] });
  const plan = makePlan(record, 1100, measure);
  assert.ok(plan.answers.shown >= 1 && plan.answers.x + plan.answers.room <= 1100);
  const [text, , predict, loss] = range(4).map((k) => answersShown(record, k, plan.answers));
  assert.deepEqual([text.kind, predict.kind, loss.kind], [null, "guesses", "guesses"]);
  assert.deepEqual([predict.prices, loss.prices], [[], [{ position: 1, loss: 1.61 }, { position: 4, loss: 0.5 }]]);
});

test("Two questions at one position cost what both cost", () => {
  const record = recordOf(6, { guesses: [guess(1, { loss: 1 }), guess(1, { loss: 0.25 })] });
  assert.deepEqual(answersShown(record, 3, null).prices, [{ position: 1, loss: 1.25 }]);
});

test("A guess is said with its likeliest words, the truth and its cost, in the unit and measure that it has", () => {
  const other = guess(2, { measure: "score", unit: "squared error", top: [["high", 0.75]], truth: "low" });
  const [, , predict] = recordOf(6, { guesses: [guess(1), other] }).frames;
  assert.equal(
    speakGuess(predict, { matrix: "encoder", row: 1 }),
    " It guesses 'other' 50 %, 'word1' 20 %; the truth 'word1' has 20 % and costs 1.61 nats."
  );
  assert.equal(
    speakGuess(predict, { matrix: "encoder", row: 2 }),
    " It guesses 'high' 0.75; the truth 'low' has 0.20 and costs 1.61 squared error."
  );
  assert.equal(speakGuess(predict, { matrix: "decoder", row: 1 }), "");
});
