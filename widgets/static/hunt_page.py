"""The bug hunt as one page: both runs of every case, drawn, and a script that grades without a server."""

import json
from collections.abc import Callable, Sequence
from html import escape

from playground.hunt.fault import faults
from playground.hunt.grading import answer_key, cases
from playground.hunt.questions import QUESTIONS
from playground.hunt.suspect import train_suspect
from widgets.bundle import sheet
from widgets.static import hunt

STYLE = sheet(__file__)

SCRIPT = """
const fold = (text) => [...text.toLowerCase()].filter((c) => /[\\p{L}\\p{N}]/u.test(c)).join("");
function mark(text) {
  let value = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(fold(text))) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  return value.toString(16).padStart(8, "0");
}
const answers = {};
function give(name, asked, answer, said) {
  if (!answer) return;
  answers[name] = answer;
  said.textContent = KEY[asked] === mark(`${asked}: ${answer}`) ? "Right." : "That is not it.";
}
for (const part of document.querySelectorAll("[data-name]")) {
  const said = part.querySelector("output");
  part.addEventListener("change", (event) => give(part.dataset.name, part.dataset.asked, event.target.value, said));
}
document.querySelector("#save").addEventListener("click", () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(answers, null, 1)], { type: "application/json" }));
  link.download = "hunt.json";
  link.click();
});
"""


def page(seed: int = 0, report: Callable[[str], None] = lambda line: None) -> str:
    """The whole page; both runs of every case are trained for it."""
    known = sorted(faults())
    parts = [_questions("before"), *(_case(number, seed, known, report) for number in cases()), _questions("after")]
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>Bug hunt</title><style>{STYLE}{hunt.STYLE}</style><h1>Bug hunt</h1>"
        "<p>Each case is a real fault of a public program. Compare a sound run with the suspect and name the fault.</p>"
        f'{"".join(parts)}<p><button id="save" type="button">Save the answers (JSON)</button></p>'
        f"<script>const KEY = {json.dumps(answer_key())};{SCRIPT}</script></html>"
    )


def _case(number: int, seed: int, known: Sequence[str], report: Callable[[str], None]) -> str:
    fault = cases()[number]
    report(f"Case {number} of {len(cases())} is trained.")
    sound, suspect = (train_suspect(fault, faulty, seed) for faulty in (False, True))
    options = "".join(f"<option>{escape(name)}</option>" for name in ("", *known))
    trains = f"{fault.entry} on {fault.corpus}, {fault.steps} steps; look at {fault.shows}."
    return (
        f'<section data-name="case {number}" data-asked="case {number}"><h2>Case {number}</h2>'
        f'<p>{escape(fault.symptom)}</p><p class="quiet">{escape(trains)}</p>{hunt.pair(sound, suspect)}'
        f"<p><label>The fault: <select>{options}</select></label> <output></output></p></section>"
    )


def _questions(when: str) -> str:
    asked = "".join(
        f'<fieldset data-name="{when} question {k}" data-asked="question {k}"><legend>{k}. {escape(each.text)}</legend>'
        + "".join(
            f'<label><input type="radio" name="{when}{k}" value="{escape(c)}"> {escape(c)}</label><br>'
            for c in each.choices
        )
        + "<output></output></fieldset>"
        for k, each in enumerate(QUESTIONS, 1)
    )
    return f"<details><summary>Eight questions {when} the hunt</summary>{asked}</details>"
