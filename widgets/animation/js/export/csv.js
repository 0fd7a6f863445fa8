/** Comma-separated values, as a spreadsheet opens them. */

import { isOpen, range, weightAt } from "../record.js";

const PLAIN_NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/** A cell: what a spreadsheet would take for a formula begins with an apostrophe, what would end the cell is quoted. */
function csvCell(/** @type {any} */ value) {
  const text = String(value);
  const safe = /^[=+\-@\t\r]/.test(text) && !PLAIN_NUMBER.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

/** Rows of words and numbers as comma-separated values. @param {any[][]} rows */
export const csvText = (rows) => rows.map((row) => row.map(csvCell).join(",") + "\r\n").join("");

/** A matrix as comma-separated values: query positions down, key positions across; attention, or 1 where they may. */
export function csvOf(/** @type {Matrix} */ matrix, /** @type {Eye | null} */ eye) {
  const rows = range(matrix.n).map((i) => {
    const values = range(matrix.m).map((j) => {
      const weight = eye ? weightAt(matrix, i, j, eye)?.toFixed(4) : null;
      return weight ?? Number(isOpen(matrix, i * matrix.m + j));
    });
    return [matrix.rows[i] ?? i + 1, ...values];
  });
  return csvText([["reader", ...matrix.columns], ...rows]);
}
