/** What a person edits: the plan as it is read, the values that are taken home. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { csvOf } from "../../widgets/animation/js/export/csv.js";
import { apng } from "../../widgets/animation/js/export/apng.js";
import { EditablePlan } from "../../widgets/animation/js/interact/plan.js";
import { readMatrix } from "../../widgets/animation/js/record.js";

/** A plan on a stage that only notes what is sent. */
function planOf(values, edits = Object.keys(values), live = true) {
  const sent = [];
  return {
    plan: new EditablePlan({ live, record: { plan: values, edits }, send: (...each) => sent.push(each) }), sent,
  };
}

test("Words are chosen one by one or in spans, and come in order", () => {
  assert.deepEqual(planOf({ chosen: [7, 2, 11] }).plan.chosen, [2, 7, 11]);
  const { plan } = planOf({ spans: ["5:2", "1:3"] });
  assert.deepEqual(plan.chosen, [1, 2, 3, 5, 6]);
  assert.deepEqual(plan.spanOf(6), { text: "5:2", start: 5, length: 2 });
  assert.equal(plan.spanOf(4), undefined);
});

test("Actions and replacements belong to the chosen words in their order", () => {
  const { plan } = planOf({ chosen: [2, 4, 9], actions: ["mask", "random", "random"], replace: ["red", "blue"] });
  assert.deepEqual([2, 4, 9].map((word) => plan.actionOf(word)), ["mask", "random", "random"]);
  assert.deepEqual([2, 4, 9].map((word) => plan.replacementOf(word)), ["", "red", "blue"]);
});

test("Only what the record offers can be edited, and nothing without a kernel", () => {
  assert.deepEqual(["chosen", "order"].map((key) => planOf({ chosen: [] }).plan.can(key)), [true, false]);
  assert.equal(planOf({ chosen: [] }, ["chosen"], false).plan.can("chosen"), false);
});

test("A word is let go by itself, or with its span; the frame that shows it is opened", () => {
  const [alone, inSpan] = [planOf({ chosen: [3] }), planOf({ spans: ["2:3"] })];
  alone.plan.letGo(3);
  inSpan.plan.letGo(4);
  assert.deepEqual(alone.sent, [[{ do: "choose", word: 3 }, "choose"]]);
  assert.deepEqual(inSpan.sent, [[{ do: "unspan", old: "2:3" }, "choose"]]);
});

test("A matrix as values: 1 where a query may attend, or how much of its attention it gives", () => {
  const matrix = readMatrix({
    name: "encoder", title: "", rows: ["=a", "b"], columns: ["=a", "b"], states: Uint8Array.from([2, 0, 1, 2]),
  });
  assert.equal(csvOf(matrix, null), "reader,'=a,b\r\n'=a,0,0\r\nb,1,0\r\n");
  const weighed = { ...matrix, heads: 1, layers: 1, data: { 0: Uint8Array.from([255, 0, 51, 204]) } };
  assert.equal(csvOf(weighed, { layer: 0, head: 0 }), "reader,'=a,b\r\n'=a,1.0000,0.0000\r\nb,0.2000,0.8000\r\n");
  assert.equal(csvOf(weighed, { layer: 0, head: null }), csvOf(matrix, null));
});

test("An animated PNG has the chunks of the specification, numbered in order", () => {
  const chunk = (name, ...data) => [0, 0, 0, data.length, ...Buffer.from(name), ...data, 0, 0, 0, 0];
  const size = [0, 0, 0, 2, 0, 0, 0, 1, 8, 6, 0, 0, 0];
  const png = Uint8Array.from([
    137, 80, 78, 71, 13, 10, 26, 10, ...chunk("IHDR", ...size), ...chunk("IDAT", 1, 2), ...chunk("IEND"),
  ]);
  const made = Buffer.concat(apng([{ png, ms: 40 }, { png, ms: 700 }]));
  const found = [];
  for (let at = 8; at < made.length; at += 12 + made.readUInt32BE(at)) {
    found.push({
      name: made.toString("latin1", at + 4, at + 8), data: made.subarray(at + 8, at + 8 + made.readUInt32BE(at)),
    });
  }
  const names = found.map(({ name }) => name);
  assert.deepEqual(names, ["IHDR", "acTL", "fcTL", "IDAT", "fcTL", "fdAT", "IEND"]);
  assert.equal(found[1].data.readUInt32BE(0), 2);
  assert.deepEqual([2, 4, 5].map((k) => found[k].data.readUInt32BE(0)), [0, 1, 2]);
  assert.deepEqual([2, 4].map((k) => found[k].data.readUInt16BE(20)), [40, 700]);
});
