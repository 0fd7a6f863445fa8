/** The parts of the drawing module that need no browser. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { draggable } from "../../widgets/animation/js/interact/controls.js";
import { csvText } from "../../widgets/animation/js/export/csv.js";
import { unpacked } from "../../widgets/animation/js/export/files.js";
import { GLOSSARY, explained } from "../../widgets/animation/js/glossary.js";
import { LONG, lengthOf, stretched } from "../../widgets/animation/js/paint/long_text.js";
import { makePlan } from "../../widgets/animation/js/paint/layout.js";
import { Player, clockAtRest } from "../../widgets/animation/js/interact/player.js";
import {
  STRIP, bytes, chipBox, inverse, matrixShapes, readRecord, speak, speakIds,
} from "../../widgets/animation/js/record.js";
import { svgPen } from "../../widgets/animation/js/paint/svg_pen.js";
import { matches } from "../../widgets/lists/listbox.js";

const words = (...texts) => texts.map((text) => ({ text, key: text }));
const base64 = (values) => Buffer.from(values).toString("base64");
const measure = (text) => text.length * 7;

/** A record of two frames: `n` words, then a mask in place of the second one, with a causal matrix. */
function record(n = 3) {
  const texts = Array.from({ length: n }, (_, i) => `w${i}`);
  const states = texts.flatMap((_, i) => texts.map((_, j) => (j <= i ? 1 : 0)));
  const masked = [
    { text: "w0", key: "w0" }, { text: "[MASK]", key: "new", state: "masked" }, ...words(...texts.slice(2)),
  ];
  return readRecord({
    title: "T",
    frames: [
      { name: "text", lanes: [{ name: "inputs", cells: words(...texts) }], matrices: [] },
      {
        name: "corrupt",
        lanes: [{ name: "inputs", cells: masked }],
        matrices: [
          {
            name: "encoder", title: "Attention mask", rows: texts, columns: texts, shape: [n, n],
            states: base64(states), scored_rows: [],
          },
        ],
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

test("base64 is unpacked, and an order is turned round", () => {
  assert.deepEqual(Array.from(bytes(base64([7, 8, 9]))), [7, 8, 9]);
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

test("ids have room below their lane, are said with their names, and keep to their tokens in a window", () => {
  const ids = (values) => ({ ids: [{ name: "token_type_ids", title: "segment", values, words: ["A", "B"] }] });
  const of = (n, more = {}) => readRecord({ frames: [{
    name: "ask", lanes: [{ name: "inputs", cells: words(...Array.from({ length: n }, (_, i) => `w${i}`)), ...more }],
  }] });
  const lane = of(3, ids([0, 1, 1])).frames[0].lanes[0];
  assert.equal(speakIds(lane, 1), " It is read with segment B (token_type_id 1).");
  assert.equal(speakIds(of(3).frames[0].lanes[0], 1), "");
  const [bare, told] = [of(3), of(3, ids([0, 1, 1]))].map((made) => makePlan(made, 800, measure).lanes.inputs);
  assert.deepEqual([told.below - bare.below, told.height - bare.height], [STRIP, STRIP]);
  const long = of(LONG + 36, ids(Array.from({ length: LONG + 36 }, (_, i) => Number(i >= 50))));
  assert.deepEqual(
    stretched(long, 30, 40).frames[0].lanes[0].ids[0].values, Array.from({ length: 40 }, (_, i) => Number(i >= 20))
  );
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
  assert.deepEqual(
    part.frames[1].lanes[0].cells.map((cell) => cell.text), Array.from({ length: 40 }, (_, i) => `w${i + 30}`)
  );
  const [matrix] = part.frames[1].matrices;
  assert.deepEqual([matrix.n, matrix.m, matrix.top, matrix.left], [40, 40, 30, 30]);
  assert.equal(matrix.cells[1], 0);
  assert.equal(matrix.cells[40], 1);
  assert.equal(stretched(record(10), 0, 40).whole, undefined);
});

test("no cell of a table becomes a formula, and what would end it is quoted", () => {
  assert.equal(csvText([["=1+1", -2.5, 'a "b"', "x,y"]]), `'=1+1,-2.5,"a ""b""","x,y"\r\n`);
  assert.equal(
    csvText([["+1", "-1+1", "@A", "\t=1", "\r=1", "1e-05", "\n"]]), `'+1,'-1+1,'@A,'\t=1,"'\r=1",1e-05,"\n"\r\n`
  );
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

/** A player over four frames, and a clock whose frames come when `pass` says so. */
function playing(options = {}) {
  const [now, told, waiting] = [clockAtRest(), [], []];
  let [time, drawn] = [0, 0];
  globalThis.matchMedia = () => ({ matches: Boolean(options.calm) });
  globalThis.performance = { now: () => time };
  globalThis.requestAnimationFrame = (act) => waiting.push(act);
  globalThis.cancelAnimationFrame = () => waiting.splice(0);
  const player = new Player(
    now,
    {
      last: () => 3, pace: () => 100, back: 50, rest: 200, draw: () => (drawn += 1),
      onFrame: (frame) => told.push(frame), onPlaying: (on) => told.push(on), ...options,
    }
  );
  const pass = (ms) => {
    for (let left = ms; left > 0; left -= 10) {
      time += 10;
      for (const act of waiting.splice(0)) act(time);
    }
  };
  player.begin({});
  return { now, told, player, pass, waiting, drawn: () => drawn };
}

test("a player moves from frame to frame, rests on each, and tells its host of whole frames", () => {
  const { now, told, player, pass } = playing();
  player.toggle();
  pass(50);
  assert.ok(now.at > 0 && now.at < 1);
  pass(100);
  assert.equal(now.at, 1);
  pass(150);
  assert.equal(now.at, 1);
  pass(1000);
  assert.deepEqual([now.at, now.playing], [3, false]);
  assert.deepEqual(told, [true, 1, 2, 3, false]);
  player.toggle();
  assert.equal(now.at, 0);
});

test("a step by hand stops a player, which neither leaves its frames nor draws while nothing moves", () => {
  const { now, player, pass, waiting, drawn } = playing();
  player.toggle();
  pass(30);
  player.backward();
  pass(200);
  assert.deepEqual([now.at, now.playing, waiting.length], [0, false, 0]);
  player.scrub(7);
  assert.equal(now.at, 3);
  player.forward();
  pass(500);
  const before = drawn();
  pass(500);
  assert.deepEqual([now.at, drawn()], [3, before]);
  player.set(1, 0.5);
  assert.equal(now.at, 1.5);
  player.wake();
  player.destroy();
  assert.equal(waiting.length, 0);
});

test("for people who want less motion a player jumps", () => {
  const { now, player, pass } = playing({ calm: true });
  player.forward();
  pass(10);
  assert.equal(now.at, 1);
});

test("what is dragged follows its pointer until that is let go or taken away", () => {
  const [element, seen] = [new EventTarget(), []];
  Object.assign(element, { setPointerCapture: (id) => seen.push(["held", id]) });
  const acts = {
    start: ({ what }) => what, move: (held, { x }) => seen.push([held, x]),
    end: (held, _, cancelled) => seen.push([held, cancelled]),
  };
  const stop = draggable(element, acts);
  const send = (type, more) => element.dispatchEvent(Object.assign(
    new Event(type), { button: 0, pointerId: 1, ...more }
  ));
  send("pointermove", { x: 1 });
  send("pointerdown", { what: "a", button: 2 });
  send("pointerdown", { what: "a" });
  send("pointermove", { x: 2 });
  send("pointerup");
  send("pointermove", { x: 3 });
  send("pointerdown", { what: "b" });
  send("pointercancel");
  send("pointerdown", { what: null });
  stop();
  send("pointerdown", { what: "c" });
  assert.deepEqual(seen, [["held", 1], ["a", 2], ["a", false], ["held", 1], ["b", true]]);
});

test("a tooltip explains its terms, a longer one and not what is part of it", () => {
  Object.assign(GLOSSARY, { "attention mask": "Who.", mask: "Hidden.", seed: "Number." });
  assert.equal(
    explained("Paint the Attention Mask; another seed"),
    "Paint the Attention Mask; another seed\nattention mask: Who.\nseed: Number."
  );
  assert.equal(explained("Next"), "Next");
});

test("what Python packs is unpacked", async () => {
  assert.deepEqual(await unpacked("eNqrVkpUsoo21DGKrQUAEksDHw=="), { a: [1, 2] });
});
