/**
 * Says when the app is no longer there: what is on screen stays, and one button opens the page again where it was,
 * since the address holds what is on the stage and a run is kept with its last saved step.
 */

const STYLE = `
.lost-line { position: fixed; left: 0; right: 0; top: 0; z-index: 1400; display: flex; flex-wrap: wrap; gap: 6px 16px; align-items: center; padding: 10px 18px; font: 400 15px/1.45 system-ui, sans-serif; color: #1d2129; background: #fff3d6; border-bottom: 3px solid #e69f00; }
.lost-line[hidden] { display: none; } .lost-line p { margin: 0; flex: 1 1 260px; }
.lost-line button { font: inherit; font-weight: 600; color: #fff; background: #0072b2; border: 0; border-radius: 8px; padding: 6px 16px; cursor: pointer; }
.lost-line button:focus-visible { outline: 3px solid #1d2129; outline-offset: 2px; }
`;

/** The step that stands on the Train page, also behind shadow roots; empty where no run has begun. */
function stepShown(root) {
  for (const element of root.querySelectorAll("*")) {
    if (element.matches(".figures div") && element.querySelector("span")?.textContent === "step") {
      const step = element.querySelector("b").textContent.split(" of ")[0];
      return step === "0" ? "" : step;
    }
    const inner = element.shadowRoot && stepShown(element.shadowRoot);
    if (inner) return inner;
  }
  return "";
}

export function render({ el }) {
  const style = document.createElement("style");
  style.textContent = STYLE;
  const [line, text, again] = ["div", "p", "button"].map((tag) => document.createElement(tag));
  Object.assign(line, { className: "lost-line", hidden: true });
  line.setAttribute("role", "alert");
  again.type = "button";
  again.textContent = "Reconnect";
  again.addEventListener("click", () => location.reload());
  line.append(text, again);
  el.replaceChildren(style, line);

  function lost() {
    const step = stepShown(document);
    const run = step ? ` at step ${step}; the run is kept with its last saved step and can be resumed under Runs` : "";
    text.textContent = `Connection lost${run}. What is on screen stays.`;
    line.hidden = false;
  }

  const back = () => (line.hidden = true);
  for (const shown of window.Bokeh?.documents || []) {
    shown.on_event("connection_lost", lost);
    shown.on_event("client_reconnected", back);
  }
}

export default { render };
