/** The record: moves between frames, weights, leaks, and what is said of a row. */

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  CELL, leakSteps, movesBetween, readMatrix, readRecord, runsThrough, shownFrom, speakWeights, weightAt, withNumbers,
} from "../../widgets/animation/js/record.js";

const cell = (key, more = {}) => ({ key, text: key, ...more });
const matrixOf = (name, states, more = {}) => ({
  name, title: name, rows: ["a", "b"], columns: ["a", "b"], states: Uint8Array.from(states), ...more,
});
const frame = (name, lanes, matrices = []) => ({
  name, lanes: Object.entries(lanes).map(([lane, cells]) => ({ name: lane, title: lane, cells })), matrices,
});
const ends = ({ from, to, into }) => [from, to, into].map((spot) => spot && `${spot.lane}/${spot.cell.key}`);

test("A token stays, is copied, flies to another lane, or squeezes into what took its place", () => {
  const record = readRecord({ frames: [
    frame("text", { original: [cell("a"), cell("b"), cell("c")] }),
    frame("choose", { original: [cell("a"), cell("b"), cell("c")], inputs: [cell("a"), cell("b"), cell("c")] }),
    frame("corrupt", { original: [cell("a")], inputs: [cell("a"), cell("<X>"), cell("c")], targets: [cell("b")] }),
  ] });
  const [copied, folded] = record.moves.map((moves) => moves.map(ends));
  assert.deepEqual(copied.slice(3), [
    ["original/a", "inputs/a", undefined], ["original/b", "inputs/b", undefined], ["original/c", "inputs/c", undefined],
  ]);
  assert.ok(folded.some(([from, to]) => from === "original/b" && to === "targets/b"));
  assert.ok(folded.some(([from, to, into]) => from === "inputs/b" && to === null && into === "inputs/<X>"));
  assert.ok(folded.some(([from, to, into]) => from === "original/c" && to === null && into === null));
});

test("A key that a lane has twice is two tokens, each with its own move", () => {
  const [before, after] = readRecord({ frames: [
    frame("text", { inputs: [cell("a"), cell("a")] }), frame("choose", { inputs: [cell("a"), cell("a")] }),
  ] }).frames;
  assert.deepEqual(movesBetween(before, after).map(({ from, to }) => [from.i, to.i]), [[0, 0], [1, 1]]);
});

test("A weight is that of one head, or the mean of all; none where nobody looks or the layer has not arrived", () => {
  const data = Uint8Array.from([255, 0, 51, 204, 0, 255, 51, 204]); // two heads of 2 x 2
  const matrix = { ...readMatrix(matrixOf("encoder", [1, 1, 1, 1])), heads: 2, layers: 2, data: { 1: data } };
  assert.equal(weightAt(matrix, 0, 0, { layer: 1, head: 0 }), 1);
  assert.equal(weightAt(matrix, 0, 0, { layer: null, head: 1 }), 0);
  assert.ok(Math.abs(weightAt(matrix, 0, 0, { layer: 1, head: -1 }) - 0.5) < 1e-6);
  assert.equal(weightAt(matrix, 0, 0, { layer: 1, head: null }), null);
  assert.equal(weightAt(matrix, 0, 0, { layer: 0, head: 0 }), null);
  assert.equal(speakWeights(matrix, 1, { layer: 1, head: 0 }), ", and attends most to 'b' 80 %, 'a' 20 %");
});

test("Numbers go into the frames that show them, and attention into both matrices of a layer", () => {
  const matrices = [matrixOf("encoder", [1, 1, 1, 1]), matrixOf("encoder above", [1, 1, 1, 1])];
  const raw = { frames: [frame("text", {}), { ...frame("predict", {}, matrices), numbers: true }] };
  const attention = { encoder: { heads: 1, layers: 1, data: { 0: Uint8Array.from([255, 0, 0, 255]) } } };
  const [first, second] = withNumbers(readRecord(raw), { attention, captions: { predict: "Guesses." } }).frames;
  assert.equal(first.numbers, undefined);
  assert.equal(second.caption, "Guesses.");
  assert.deepEqual(second.matrices.map(({ heads }) => heads), [1, 1]);
});

test("The steps of a leak lead up the layers, each through the matrices that hold there", () => {
  const path = [
    { stream: "inputs", position: 1, layer: 0 }, { stream: "inputs", position: 0, layer: 1 },
    { stream: "query", position: 1, layer: 2 },
  ];
  const steps = leakSteps({ leak: { leak: true, path } });
  assert.deepEqual(steps.map(({ reader, read }) => [reader.position, read.position]), [[0, 1], [1, 0]]);
  const names = ["content", "query", "decoder", "cross"].map((name) => readMatrix(matrixOf(name, [1, 1, 1, 1])));
  const through = steps.map((step) => names.filter((each) => runsThrough(step, each)).map(({ name }) => name));
  assert.deepEqual(through, [["content"], ["query"]]);
  const above = readMatrix(matrixOf("content above", [1, 1, 1, 1], { every: 1 }));
  assert.equal(runsThrough(steps[0], above), false); // a reader of layer 1 reads by the first matrix
  assert.deepEqual(leakSteps({ leak: { leak: false, path } }), []);
});

test("Defaults are filled in, painted cells are marked, an order of another length is left out", () => {
  const matrix = readMatrix(matrixOf("encoder", [0, 1, 1, 0], { order: [0, 1, 2] }), [[1, 0]]);
  assert.deepEqual([...matrix.painted], [2]);
  assert.equal(matrix.order, null);
  assert.equal(matrix.cells[1], CELL.visible);
  assert.equal(readRecord({}).frames[0].title, "Nothing to show");
  const record = readRecord({ frames: [frame("text", {}), frame("choose 2", {})] });
  assert.deepEqual(["choose", "ask"].map((name) => shownFrom(record, name)), [1, 0]);
});
