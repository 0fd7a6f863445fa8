"""One objective on one text as a widget."""

from collections.abc import Callable, Mapping
from typing import Any

import traitlets

from playground.analysis.predictions import Prediction
from playground.analysis.predictions import read as read_answers
from playground.errors import UserError
from playground.objectives import Objective, find_objective
from playground.objectives.plan_overrides import parse, settings_of, write
from playground.objectives.steps import describe_plan
from playground.tokenizing import Tokenizer
from playground.trace.collators import collate
from playground.trace.json_schema import ObjectiveFacts
from playground.trace.rebuild import SENTENCE, Rebuilt, rebuild
from widgets.animation import standalone, typeset
from widgets.animation.widget import StageWidget
from widgets.notebook.arguments import checked
from widgets.notebook.drawing import Drawing, headless
from widgets.notebook.training import Trained
from widgets.state.stage.model import StageModel
from widgets.state.stage.samples import texts_for
from widgets.state.stage.store import LONGEST_WINDOWED, StageStore
from widgets.state.stage.suggestions import full


def alone(stage: StageStore) -> dict[str, Any]:
    """The record, and what a page of the app would show and hear, for there is none."""
    more, made = {"said": stage.said or stage.trouble or full(stage), "alone": True}, stage.record()
    return made | more | ({"records": [r | more for r in made["records"]]} if "records" in made else {})


class Picture(StageWidget, Drawing):
    """A rebuilt text on the stage.

    `value` is the plan that is shown now: it follows what a person clicks and drags, and setting it rebuilds the text.
    `frame` is the number of the frame that is shown.
    """

    value = traitlets.Dict(help="The plan that is shown, by its keys.")

    def __init__(
        self, rebuilt: Rebuilt, scene: StageStore | None = None, model: StageModel | None = None,
        again: Callable[[Mapping[str, Any]], Rebuilt] | None = None, **values: Any,
    ) -> None:  # fmt: skip
        self.rebuilt, self.scene, self.model, self._again = rebuilt, scene, model, again
        super().__init__(value=describe_plan(rebuilt.steps), **values)
        if scene is not None:
            self.follow(scene, lambda: alone(scene))
            scene.param.watch(self._renew, ["rebuilt", "companions"])

    @traitlets.default("record")
    def _drawn(self) -> dict[str, Any]:
        return typeset(self._whole() if self.scene is None else alone(self.scene))  # a default is not validated

    def _whole(self) -> dict[str, Any]:
        """The record with the attention of every layer, for nobody can ask for another."""
        if self.scene is not None:
            return self.scene.record(whole=True)
        return self.rebuilt.record() if self.model is None else self.model.answers(self.rebuilt)

    def _renew(self, *_: Any) -> None:
        """Take over what a person did by hand."""
        if self.scene is not None and self.scene.rebuilt is not None:
            self.rebuilt = self.scene.rebuilt
        self.value = describe_plan(self.rebuilt.steps)
        self.keep()

    @traitlets.observe("value")
    def _planned(self, change: Mapping[str, Any]) -> None:
        """Rebuild the text by a plan that was set here; one that does not fit is refused, and nothing changes."""
        shown = describe_plan(self.rebuilt.steps)
        if change["new"] == shown:
            return
        try:
            self._rebuild(change["new"])
        except UserError:
            self.value = shown
            raise

    def _rebuild(self, plan: Mapping[str, Any]) -> None:
        if self.scene is not None:
            self.scene.change(plan=write(plan))
            if self.scene.trouble:
                raise UserError(self.scene.trouble)
            return
        if self._again is None:
            raise UserError("This picture is of one plan; call stage(...) with another plan for another picture.")
        self.rebuilt = self._again(plan)
        self.record = self._whole()
        self._renew()

    @property
    def facts(self) -> ObjectiveFacts:
        """What is shown now, as `playground objective --json` prints it."""
        return self.rebuilt.facts()

    @property
    def predictions(self) -> tuple[Prediction, ...]:
        """What the model predicts at each scored position, with the loss in nats; nothing without a model."""
        return () if self.model is None else read_answers(self.model.model, self.rebuilt.batch).guesses

    def baked(self, module: bool) -> str:
        return standalone(self._whole(), module, self.reserve)

    def __repr__(self) -> str:
        return f"{self.rebuilt.objective.name} on {self.rebuilt.text!r}"


@checked
def stage(
    objective: str | Objective = "MLM",
    text: str = "",
    *,
    pair: str = "",
    seed: int = 0,
    plan: str | Mapping[str, Any] = "",
    model: Trained | None = None,
    collator: Callable[..., Any] | None = None,
    tokenizer: Any = None,
    **knobs: Any,
) -> Picture:
    """One objective on one text, animated: what the model is given, what it may attend to, what it must predict.

    The objective is a name, a weighted sum of names, or one of yours; `pair` is the second text of one that reads
    two. `plan` is a plan by hand such as "chosen=3,8"; `knobs` turn its knobs, as in `mask_ratio=0.5`. Tab inside the
    quotes and `playground zoo` list the objectives.

    With a `model` that `train` returned, its attention, predictions and losses are shown; without a text it gets a
    held-out one. In JupyterLab the plan and the mask of a named objective can be edited by hand, and edits undone.

    With a `collator` of the transformers library, what it makes of the text takes the place of an objective; `pair` is
    what a decoder should write, and `tokenizer` one of the library or of ours where the collator has none.

    What comes back is a widget: `value` is the plan that is shown, also after a drag, and may be set; `frame` is the
    number of the frame; `facts` are what `playground objective --json` prints; `predictions` are those of the model.

    >>> order = stage("PLM", plan="order=3,5,6,8,2,1,4,7 cut=3")
    >>> order.value = {"order": [1, 2, 3, 4, 5, 6, 7, 8], "cut": 3}
    >>> order.observe(lambda change: print(change.new), "value")
    """
    if collator is not None:
        if model is not None or plan or knobs:
            raise UserError(
                "A collator makes its own choices and has its own vocabulary; leave out model, plan and knobs."
            )
        if isinstance(tokenizer, Tokenizer):
            from playground.interop.tokenizer_file import wrapped  # no other cell needs the folders of that library

            tokenizer = wrapped(tokenizer)
        return Picture(collate(collator, text or SENTENCE, answer=pair, tokenizer=tokenizer, seed=seed))
    shown = None if model is None else StageModel(model.learner, model.corpus)
    chosen = find_objective(objective) if isinstance(objective, str) else objective
    if not text and shown is not None:
        text, pair = shown.sample(chosen) or ("", "")
    if not text and not pair:
        text, pair = texts_for(chosen).values()
    ready, tokenizer = (chosen, None) if shown is None else (shown.ready(chosen), shown.tokenizer)

    def again(overrides: Mapping[str, Any]) -> Rebuilt:
        return rebuild(
            ready, text or SENTENCE, pair=pair, seed=seed, settings=knobs, overrides=dict(overrides),
            tokenizer=tokenizer, longest=LONGEST_WINDOWED,
        )  # fmt: skip

    made = again(parse(settings_of(plan)) if isinstance(plan, str) else plan)
    if headless() or not isinstance(objective, str):
        return Picture(made, None, shown, again)
    scene = StageStore()
    scene.model = shown
    query = {"objective": chosen.name, "text": made.text, "pair": pair, "seed": str(seed)}
    query["plan"] = plan if isinstance(plan, str) else write(plan)
    scene.open(query | {f"set.{name}": str(value) for name, value in knobs.items()})
    return Picture(made, scene, shown)
