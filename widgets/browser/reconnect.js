/**
 * After a lost connection the visit and its run go on without the page for some minutes. A line says so, and as soon as
 * the app answers the page is loaded again in the same visit; where that is gone, the Train page offers the run that
 * the tab remembers. What is pressed meanwhile is not sent again, since that could do it twice.
 */

import reconnectStyle from "./reconnect.css" with { type: "text" };
import { endOf, follow, listen, node, tell } from "../animation/js/dom.js";

const FIRST = 1000; // milliseconds until the first try; every further one waits twice as long
const LONGEST = 10000;
const RUN = "playground-run";
const BACK = "playground-back";
const SHOWN = 12000; // milliseconds that a line stays which asks for nothing

/** Whether the app itself answers, and not only what stands before it: a script that every page needs is there. */
async function answers() {
  const script = /** @type {HTMLScriptElement | null} */ (document.querySelector("script[src*='static/js/bokeh']"));
  try {
    return (await fetch(
      script ? script.src : location.href, { method: script ? "HEAD" : "GET", cache: "no-store" }
    )).ok;
  } catch {
    return false;
  }
}

/** What a browser refuses to keep is forgotten; nothing else depends on it. */
function remembered(/** @type {(kept: Storage) => string | null | void} */ write) {
  try {
    return write(sessionStorage);
  } catch {
    return null;
  }
}

function render(/** @type {Host} */ { model, el }) {
  const text = node("p");
  const again = node("button", { type: "button", onclick: tryAgain }, "Try now");
  const line = node("div", { class: "lost-line", hidden: "" }, text, again);
  el.replaceChildren(node("style", {}, reconnectStyle), line);
  let [wait, timer, trying, away] = [FIRST, 0, false, false];

  function show(/** @type {string} */ role, /** @type {string} */ words) {
    clearTimeout(timer);
    line.setAttribute("role", role);
    text.textContent = words;
    again.hidden = role === "status";
    line.hidden = false;
  }

  function lost() {
    if (away) return;
    away = true;
    const end = `after ${model.get("minutes")} minutes it is stopped and kept with its last step`;
    const run = ` The run continues without this page; ${end}.`;
    const pressed = " Clicks and input do not reach the app now.";
    show("alert", `Connection lost; the page stays as it is.${pressed}${model.get("run") ? run : ""} Trying again …`);
    timer = setTimeout(tryAgain, wait);
  }

  async function tryAgain() {
    if (!away || trying) return;
    clearTimeout(timer);
    trying = true;
    const there = await answers();
    trying = false;
    if (there) {
      remembered((kept) => kept.setItem(BACK, "yes"));
      const address = new URL(location.href);
      address.searchParams.set("bokeh-session-id", model.get("visit"));
      return location.replace(address);
    }
    wait = Math.min(LONGEST, 2 * wait);
    timer = setTimeout(tryAgain, wait);
  }

  /** The page was loaded again after its connection was lost. */
  function sayBack() {
    if (!remembered((kept) => kept.getItem(BACK))) return;
    remembered((kept) => kept.removeItem(BACK));
    show("status", "Connected again. Your last click or input may not have arrived; please check.");
    timer = setTimeout(() => (line.hidden = true), SHOWN);
  }

  function goodbye() {
    if (away) return; // nobody would hear it
    navigator.sendBeacon(new URL(
      `${model.get("base")}/goodbye?visit=${encodeURIComponent(model.get("visit"))}`, location.href
    ));
  }

  const leave = () => model.get("ended") && location.replace(new URL(`${model.get("base")}/ended`, location.href));

  const remember = () => model.get("run") && remembered((kept) => kept.setItem(RUN, model.get("run")));
  const before = remembered((kept) => kept.getItem(RUN));
  if (before && !model.get("run")) tell(model, "earlier", before);
  remember();
  sayBack();
  follow(model, ["run"], remember);
  follow(model, ["ended"], leave);
  for (const shown of window.Bokeh?.documents || []) shown.on_event("connection_lost", lost);
  return endOf(listen([[window, { online: tryAgain, pagehide: goodbye }]]), () => clearTimeout(timer));
}

export default { render };
