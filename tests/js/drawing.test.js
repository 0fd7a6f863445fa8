/** The parts of the drawing module that need no browser. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { csvText } from "../../widgets/animation/js/csv.js";
import { chipBox, matrixShapes } from "../../widgets/animation/js/layout.js";
import { LONG, lengthOf, stretched } from "../../widgets/animation/js/long_text.js";
import { makePlan } from "../../widgets/animation/js/plan.js";
import { bytes, inverse, readRecord, speak } from "../../widgets/animation/js/record.js";
import { matches } from "../../widgets/animation/js/search.js";
import { svgPen } from "../../widgets/animation/js/svg_pen.js";

const words = (...texts) => texts.map((text) => ({ text, key: text }));
const base64 = (values) => Buffer.from(values).toString("base64");
const measure = (text) => text.length * 7;

/** A record of two frames: `n` words, then a mask in place of the second one, with a causal matrix. */
function record(n = 3) {
  const texts = Array.from({ length: n }, (_, i) => `w${i}`);
  const states = texts.flatMap((_, i) => texts.map((_, j) => (j <= i ? 1 : 0)));
  const masked = [{ text: "w0", key: "w0" }, { text: "[MASK]", key: "new", state: "masked" }, ...words(...texts.slice(2))];
  return readRecord({
    title: "T",
    frames: [
      { name: "text", lanes: [{ name: "inputs", cells: words(...texts) }], matrices: [] },
      {
        name: "corrupt",
        lanes: [{ name: "inputs", cells: masked }],
        matrices: [{ name: "encoder", title: "Attention mask", rows: texts, columns: texts, shape: [n, n], states: base64(states), graded_rows: [] }],
      },
    ],
  });
}

test("what vanishes squeezes into what was inserted in its place, the rest stays where it is", () => {
  const [moves] = record().moves;
  const gone = moves.filter((move) => !move.to);
  assert.deepEqual(gone.map((move) => [move.from.cell.text, move.into.cell.text]), [["w1", "[MASK]"]]);
  const stays = moves.filter((move) => move.from && move.to).map((move) => [move.from.i, move.to.i]);
  assert.deepEqual(stays, [[0, 0], [2, 2]]);
});

test("a matrix is unpacked and said in words", () => {
  const [matrix] = record().frames[1].matrices;
  assert.deepEqual(Array.from(matrix.cells), [1, 0, 0, 1, 1, 0, 1, 1, 1]);
  assert.match(speak(matrix, 1), /2 of 3/);
});

test("bytes are exactly as many as were asked for", () => {
  assert.deepEqual(Array.from(bytes(base64([7, 8, 9]), 2)), [7, 8]);
  assert.deepEqual(Array.from(bytes([1], 3)), [1, 0, 0]);
  assert.deepEqual(inverse([2, 0, 1]), [1, 2, 0]);
});

test("chips stand in lines that never leave the width, for any width", () => {
  for (const width of [320, 390, 800, 1600]) {
    const made = record(30);
    const plan = makePlan(made, width, measure);
    for (let i = 0; i < 30; i++) {
      const box = chipBox(plan, "inputs", i);
      assert.ok(box.x >= 0 && box.x + box.w <= width + 0.5, `chip ${i} at ${width} px ends at ${box.x + box.w}`);
    }
    assert.ok(plan.height > chipBox(plan, "inputs", 29).y);
  }
});

test("the room of a matrix is that of its largest shape", () => {
  const [shape] = matrixShapes(record(5));
  assert.deepEqual([shape.name, shape.n, shape.m], ["encoder", 5, 5]);
});

test("of a long text a window is drawn, and the whole stays at hand", () => {
  const whole = record(LONG + 36);
  assert.equal(lengthOf(whole), 100);
  const part = stretched(whole, 30, 40);
  assert.equal(part.whole, whole);
  assert.deepEqual(part.frames[1].lanes[0].cells.map((cell) => cell.text), Array.from({ length: 40 }, (_, i) => `w${i + 30}`));
  const [matrix] = part.frames[1].matrices;
  assert.deepEqual([matrix.n, matrix.m, matrix.top, matrix.left], [40, 40, 30, 30]);
  assert.equal(matrix.cells[1], 0);
  assert.equal(matrix.cells[40], 1);
  assert.equal(stretched(record(10), 0, 40).whole, undefined);
});

test("no cell of a table becomes a formula, and what would end it is quoted", () => {
  assert.equal(csvText([["=1+1", -2.5, 'a "b"', "x,y"]]), `'=1+1,-2.5,"a ""b""","x,y"\r\n`);
});

test("a search finds the beginnings of words, whatever their case and accents", () => {
  assert.ok(matches("Whole word masking (BERT)", "bert wh"));
  assert.ok(matches("Élan vital", "elan"));
  assert.ok(!matches("Whole word masking", "asking"));
});

test("the pen writes text that can never become markup", () => {
  const pen = svgPen(100, 50, { paper: "#fff", hatch: "#eee" }, measure);
  pen.fillStyle = "rgba(1,2,3,0.5)";
  pen.fillText("<script>\u0001", 5, 6);
  pen.fillRect(0, 0, 10, 10);
  const text = pen.text("a & b");
  assert.ok(!text.includes("<script>") && text.includes("&#60;script&#62;\ufffd"));
  assert.ok(text.includes('fill="rgb(1,2,3)" fill-opacity="0.5"'));
  assert.ok(text.startsWith("<svg") && text.includes("<title>a &#38; b</title>"));
});
