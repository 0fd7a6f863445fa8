import assert from "node:assert/strict";
import { test } from "node:test";

import { nearest } from "../../widgets/lists/ring.js";

test("a ring goes to the cell whose middle is nearest, also from outside the matrix", () => {
  const middles = [[0, 0, 10, 10], [0, 1, 30, 10], [1, 0, 10, 30], [1, 1, 30, 30]];
  assert.deepEqual(nearest(middles, [21, 12]), [0, 1]);
  assert.deepEqual(nearest(middles, [-50, 400]), [1, 0]);
});
