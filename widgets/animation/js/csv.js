/** Comma-separated values: one way to write every table that a person takes home. */

const PLAIN_NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/** A cell: what a spreadsheet would take for a formula begins with an apostrophe, what would end the cell is quoted. */
function csvCell(value) {
  const text = String(value);
  const safe = /^[=+\-@\t\r]/.test(text) && !PLAIN_NUMBER.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

/** Rows of words and numbers as the text of a file. */
export function csvText(rows) {
  return rows.map((row) => row.map(csvCell).join(",") + "\r\n").join("");
}
