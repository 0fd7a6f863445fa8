/**
 * Keys of the Train page that need no focus: each presses the button of its command, if that can be pressed now; the
 * page says by a class which button has which command, whatever stands on it. F also works on the Stage page. What a
 * fork has done is said in a line that fades, and read aloud.
 */

import shortcutsStyle from "./shortcuts.css" with { type: "text" };
import { endOf, everywhere, follow, listen, node, tell } from "../animation/js/dom.js";

const STAGE = 0;
const TRAIN = 1;
/** @type {{ [key: string]: string[] }} */
const COMMANDS = {
  s: ["step"], p: ["pause", "resume"], r: ["reset"], n: ["new-seed"], " ": ["pause", "resume", "train"],
};
const LIST = [
  ["Space", "train, pause"], ["S", "one step"], ["P", "pause, resume"], ["R", "restart with the same seed"],
  ["N", "again with a new seed"], ["F", "fork the run at this step"], ["?", "this list"],
];

const CHOOSING = "[role=option], [role=listbox], [role=menu], [role=combobox], [role=dialog]"; // letters seek in a list

const isTyping = (/** @type {HTMLElement} */ at) =>
  ["INPUT", "TEXTAREA", "SELECT"].includes(at.tagName) || at.isContentEditable || at.closest?.(CHOOSING);
const isModified = (/** @type {KeyboardEvent} */ { altKey, ctrlKey, metaKey, repeat }) =>
  ctrlKey || metaKey || altKey || repeat;

/** A visible button with one of these commands that can be pressed. */
function pressable(/** @type {string[]} */ commands) {
  const hosts = [...everywhere(document)].filter(
    (each) => commands.some((command) => each.classList.contains(`command-${command}`))
  );
  return hosts.map((host) => host.shadowRoot?.querySelector("button:enabled")).find((button) => button?.offsetParent);
}

function render(/** @type {Host} */ { model, el }) {
  const [said, list] = [node("p", { role: "status" }), node("dl")];
  const home = node("div", { class: "key-line" }, said, list);
  el.replaceChildren(node("style", {}, shortcutsStyle), home);
  let [fading, count] = [0, 0];

  function say() {
    clearTimeout(fading);
    said.textContent = model.get("said").text || "";
    fading = setTimeout(() => (said.textContent = ""), 8000);
  }

  function help(open = !list.firstChild) {
    list.replaceChildren(...(open ? LIST.flatMap(([key, text]) => [node("dt", {}, key), node("dd", {}, text)]) : []));
  }

  function heard(/** @type {KeyboardEvent} */ event) {
    const at = /** @type {HTMLElement} */ (event.composedPath()[0]);
    if (isTyping(at) || event.defaultPrevented || isModified(event)) return;
    const [key, page] = [event.key.toLowerCase(), model.get("page")];
    const commands = page === TRAIN && !(key === " " && at.tagName === "BUTTON") ? COMMANDS[key] : null;
    const button = commands && pressable(commands);
    if (button) button.click();
    else if (key === "f" && [STAGE, TRAIN].includes(page)) tell(model, "asked", (count += 1));
    else if (page === TRAIN && key === "?") help();
    else if (key === "escape" && list.firstChild) help(false);
    else return;
    event.preventDefault();
  }

  return endOf(
    listen([[document, { keydown: heard }]]), follow(model, ["said"], say), follow(model, ["page"], () => help(false)),
    () => clearTimeout(fading)
  );
}

export default { render };
