/** One line of the list of runs: a check box with the run's name, and the button that opens the run. */

import { follow, node, tell } from "../animation/js/dom.js";

const STYLE = `
.run-line { display: flex; align-items: center; gap: 10px; color: var(--panel-on-background-color, CanvasText); font: inherit; }
.run-line label { display: flex; align-items: center; gap: 9px; flex: 1 1 0; min-width: 0; cursor: pointer; overflow-wrap: anywhere; padding: 7px 0; }
.run-line input { accent-color: #0072b2; width: 17px; height: 17px; margin: 0; flex: none; }
.run-line button { --main: var(--mui-palette-primary-main, #0072b2); font: inherit; font-size: .82em; font-weight: 500; color: var(--main); background: none; border: 1px solid color-mix(in srgb, var(--main) 50%, transparent); border-radius: 4px; padding: 5px 12px; cursor: pointer; }
.run-line button:hover { background: color-mix(in srgb, var(--main) 8%, transparent); border-color: var(--main); }
.run-line button:disabled { color: inherit; opacity: .38; border-color: currentColor; background: none; cursor: default; }
.run-line :focus-visible { outline: 2px solid #3390d6; outline-offset: 1px; }
`;

function render({ model, el }) {
  const box = node("input", { type: "checkbox", onchange: () => tell(model, "value", box.checked) });
  const name = node("span");
  const open = node("button", { type: "button", onclick: () => tell(model, "opened", model.get("opened") + 1) }, "Open");

  function show() {
    name.textContent = model.get("label");
    box.checked = model.get("value");
    open.disabled = model.get("disabled");
    open.title = `Open ${model.get("label")}`;
  }

  el.replaceChildren(node("style", {}, STYLE), node("div", { class: "run-line" }, node("label", {}, box, name), open));
  show();
  return follow(model, ["label", "value", "disabled"], show);
}

export default { render };
