"""The bug hunt, a part of the Claims page: name the fault of a suspect from its symptoms."""

import json
from typing import Any

import panel_material_ui as pmui

from playground.hunt.fault import faults
from playground.hunt.grading import answer_key, cases, is_right
from playground.hunt.questions import QUESTIONS
from widgets.lists.pressable import Pressable
from widgets.pages.layout import FIELD, MAIN, STRETCH, Sidebar, View, accordion, button, column, exports, number, row
from widgets.state.app import Store
from widgets.static import claims as cards
from widgets.static import hunt as drawn
from widgets.static.zoo import parts
from widgets.theme import GROWING, STYLE, html, say

ABOUT = (
    "Each case is a real fault of a public program. Train a sound run and the suspect, compare them, measure both on "
    "the Inside page, and name the fault."
)


class HuntView(View):
    """The cases, both runs of the open one, and the answer."""

    def __init__(self, store: Store) -> None:
        self.store, self.hunt = store, store.hunt
        hunt, sheets = store.hunt, [STYLE, GROWING, cards.STYLE, drawn.STYLE]
        self.list = Pressable(stylesheets=[*sheets, parts.STYLE], margin=(2, 10), **STRETCH)
        self.list.param.watch(lambda event: hunt.choose(int(event.new[1])), "pressed")
        self.symptom, self.said, self.verdict = html(""), html(""), html("")
        self.pair = html("", stylesheets=sheets)
        self.begin = button("Train both", hunt.train, "play_arrow", margin=(6, 10), **MAIN)
        self.stop = button("Stop", hunt.training.forget, "stop", margin=(6, 3), disabled=True)
        self.inside = button("Measure both", lambda: hunt.open_inside(hunt.case), "visibility", margin=(6, 3))
        self.progress = pmui.LinearProgress(variant="determinate", value=0, margin=(8, 10), visible=False, **STRETCH)
        seed = number(hunt.param.seed, pmui.IntSlider, **{**FIELD, "max_width": 220})
        answer = pmui.Select.from_param(
            hunt.param.answer, options=["", *sorted(faults())], **{**FIELD, "max_width": 420}
        )
        self.give = button("Answer", hunt.give, "gavel", margin=(6, 10))
        tests = {f"Eight questions {when} the hunt": Questions(store, when) for when in ("before", "after")}
        files = exports({
            "hunt.csv": ("Grades (CSV)", hunt.csv),
            "hunt.json": ("Answers (JSON)", lambda: json.dumps(hunt.answers, indent=1).encode()),
        })  # fmt: skip
        side = Sidebar(
            [self.list],
            [self.symptom, row(self.begin, seed, self.inside, self.stop), self.progress, self.said, self.pair,
             row(answer, self.give), self.verdict, accordion(tests, margin=(10, 10)), files],
            lambda: f"case {hunt.case}",
        )  # fmt: skip
        hunt.param.watch(side.label, "case")
        super().__init__(column(html(say(ABOUT)), side))
        self.poll()

    def poll(self) -> None:
        """Show what has changed."""
        hunt, job = self.hunt, self.hunt.training
        self.progress.param.update(visible=job.busy, value=round(100 * (job.share or 0)))
        if not self.is_new((job.turn, hunt.case, hunt.trouble, repr(hunt.answers))):
            return
        fault, there = hunt.fault, hunt.runs.get(hunt.case)
        self.list.markup = drawn.listed(hunt.solved, len(cases()), hunt.case)
        trains = f"{fault.entry} on {fault.corpus}, {fault.steps} steps; look at {fault.shows}."
        self.symptom.object = f"<b>Case {hunt.case}.</b> " + say(fault.symptom) + say(trains, "quiet")
        self.begin.disabled, self.stop.disabled, self.inside.disabled = job.busy, not job.busy, there is None
        trouble = hunt.trouble or job.error
        self.said.object = say(trouble, "trouble") if trouble else ""
        self.pair.object = drawn.pair(*there) if there else ""
        self.verdict.object = self._verdict(there)

    def _verdict(self, there: Any) -> str:
        """Whether the answer is right; then what the fault is, and whether its law holds in both runs."""
        hunt = self.hunt
        if (right := hunt.solved.get(hunt.case)) is None:
            return ""
        if not right:
            return say("That is not it. Compare the data, the mask and the figures of both runs again.", "trouble")
        held = ""
        if there:
            sound, suspect = (hunt.fault.holds(run) for run in there)
            words = {True: "holds", False: "does not hold"}
            held = say(f"In the sound run it {words[sound]}; in the suspect it {words[suspect]}.", "quiet")
        return say("Right.") + drawn.explained(hunt.fault) + held


class Questions(View):
    """The eight questions; how many are right is said when all are answered."""

    def __init__(self, store: Store, when: str) -> None:
        self.hunt, self.when, self.result = store.hunt, when, html("")
        asked = [self._question(k) for k in range(1, len(QUESTIONS) + 1)]
        super().__init__(column(*asked, self.result))

    def _question(self, k: int) -> Any:
        each = QUESTIONS[k - 1]
        group = pmui.RadioBoxGroup(options=list(each.choices), value=None, margin=(2, 10))
        group.param.watch(lambda event: self._heard(k, event.new), "value")
        return column(html(say(f"{k}. {each.text}")), group)

    def _heard(self, k: int, answer: str) -> None:
        self.hunt.reply(self.when, k, answer)
        given = [self.hunt.answers.get(f"{self.when} question {n}") for n in range(1, len(QUESTIONS) + 1)]
        if all(given):
            right = sum(is_right(answer_key(), f"question {n}", str(each)) for n, each in enumerate(given, 1))
            self.result.object = say(f"{right} of {len(QUESTIONS)} are right.") + drawn.reviewed(
                [str(g) for g in given]
            )
