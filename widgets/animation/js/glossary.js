/** The terms of the screen with their lines; `bundle.py` puts those of `playground/glossary.py` here. */

/** @type {{ [term: string]: string }} */
export const GLOSSARY = {};

/** A text as a tooltip: itself, then a line for each term in it, longer terms before those that they contain. */
export function explained(/** @type {string} */ text) {
  let rest = text.toLowerCase();
  const found = Object.keys(GLOSSARY).sort((a, b) => b.length - a.length).filter((term) => {
    const parts = rest.split(
      new RegExp(`(?<![a-z])${term.toLowerCase().replace(/y?$/, (y) => y && "(?:y|ies)")}s?(?![a-z])`)
    );
    rest = parts.join("\n");
    return parts.length > 1;
  });
  return [text, ...found.map((term) => `${term}: ${GLOSSARY[term]}`)].join("\n");
}
