import assert from "node:assert/strict";
import { test } from "node:test";

import { encloses } from "../../widgets/lists/lasso.js";

test("a lasso in the shape of a U holds its arms and its foot, and not what lies between the arms", () => {
  const line = [[0, 0], [3, 0], [3, 7], [7, 7], [7, 0], [10, 0], [10, 10], [0, 10]];
  const points = { arm: [1, 2], foot: [5, 8], other: [8, 1], between: [5, 3], left: [-1, 5], below: [5, 12] };
  const held = Object.keys(points).filter((name) => encloses(line, points[name]));
  assert.deepEqual(held, ["arm", "foot", "other"]);
  assert.equal(encloses([], [0, 0]), false);
});
