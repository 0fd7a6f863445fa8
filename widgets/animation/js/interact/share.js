/** The menu of what a person may take home: a link, pictures, tables, an animation. */

import { listen, node, optionsOf } from "../dom.js";
import { csvOf } from "../export/csv.js";
import { download } from "../export/files.js";
import { takeHome } from "../export/pictures.js";
import { entire, linkOfStretch } from "../paint/long_text.js";
import { button, labelButton } from "./controls.js";

export class Share {
  constructor(/** @type {Kit} */ kit) {
    this.kit = kit;
    this.menu = node("div", { hidden: "" });
    const marks = { "aria-haspopup": "true", "aria-expanded": "false" };
    this.button = labelButton("share", "Share", "Link, picture, data", () => this.open(this.menu.hidden), marks);
    this.root = node("span", { class: "stage-menu" }, this.button, this.menu);
    this.destroy = listen([[document, { pointerdown: (event) => {
      if (!this.menu.hidden && !event.composedPath().includes(this.root)) this.open(false);
    } }]]);
  }

  key(/** @type {KeyboardEvent} */ event) {
    if (event.key !== "Escape" || this.menu.hidden) return false;
    this.open(false);
    this.button.focus();
    return true;
  }

  open(/** @type {boolean} */ open) {
    this.menu.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
    if (!open) return;
    const items = this.items();
    this.menu.replaceChildren(...items);
    items[0].focus({ preventScroll: true });
  }

  items() {
    const { kit } = this;
    const save = (/** @type {() => void} */ act) => () => {
      act();
      this.open(false);
    };
    const home = takeHome(kit);
    const csv = (/** @type {Matrix} */ matrix) => () => {
      const text = csvOf(entire(matrix), kit.frame().numbers ? kit.now : null);
      download(kit.root, text, home.name("csv", matrix.name), "text/csv");
    };
    const link = button("Copy link to this state", "Link", () => this.copyLink());
    return [
      ...(kit.record.link !== undefined && !kit.alone() ? [link] : []),
      button("Picture (PNG)", "PNG", save(home.picture)),
      button("Drawing (SVG)", "SVG", save(home.drawing)),
      ...kit.frame().matrices.map((matrix) =>
        button(`Table: ${matrix.title.split(":")[0]} (CSV)`, "CSV", save(csv(matrix)))),
      button("All steps (PNG)", "All frames as one PNG", home.sheetPng),
      button("All steps (SVG)", "All frames as one SVG whose text is text", home.sheetSvg),
      filmRow(home),
    ];
  }

  svg() {
    return takeHome(this.kit).svgText();
  }

  link() {
    const { link, stretch } = this.kit.record;
    const address = new URL(location.href);
    address.search = link || "";
    address.searchParams.set("frame", this.kit.frame().name);
    if (stretch) address.searchParams.set("tokens", linkOfStretch(stretch, this.kit.now.size));
    return address.href;
  }

  /** Where the clipboard is out of reach, the link is shown to be copied by hand. */
  async copyLink() {
    const value = this.link();
    const field = node("input", { type: "text", readonly: "", "aria-label": "Link", value, style: "width: 260px" });
    const said = await navigator.clipboard?.writeText(value).then(() => "Copied:", () => null);
    this.menu.replaceChildren(node("p", { role: "status" }, said || "Copy this link:"), field);
    field.select();
  }
}

/** The choice of the first and the last frame of an animation. */
function filmRow(/** @type {ReturnType<typeof takeHome>} */ { frames, film }) {
  /** @type {[number, string][]} */
  const choices = frames.map((frame, k) => [k, `${k + 1}. ${frame.title}`]);
  const pick = (/** @type {string} */ label, /** @type {number} */ value) => {
    const made = node("select", { "aria-label": label }, ...optionsOf(choices));
    made.value = String(value);
    return made;
  };
  const [from, to] = [pick("First frame of the animation", 0), pick("Last frame of the animation", frames.length - 1)];
  const tell = (/** @type {string} */ share) => (act.textContent = `Animation (APNG)${share}`);
  const act = button("Animation (APNG)", "The frames from the first to the last as an animated PNG", async () => {
    const [first, last] = [Number(from.value), Number(to.value)].sort((a, b) => a - b);
    await film(first, last, tell);
    tell("");
  });
  return node("div", { class: "stage-range" }, act, from, " to ", to);
}
