"""What the Stage page suggests next."""

from typing import TYPE_CHECKING

from playground.errors import UserError
from playground.objectives.mask_overrides import MaskOverride
from playground.trace.rebuild import rebuild
from widgets.state.stage import survey
from widgets.state.stage.by_hand import rules, unasked
from widgets.state.stage.samples import offered, texts_for
from widgets.state.stage.texts import LONGEST_TEXT

if TYPE_CHECKING:
    from widgets.state.stage.store import StageStore

NOTHING_COUNTS = "No answer counts any more, so there is nothing to train; click one of them to have it count again."


def other(stage: "StageStore") -> str:
    """The objective that shows best what the one on the stage does: bidirectional beside left to right."""
    return "MLM" if stage.objective == "LM" else "LM"


def compare(stage: "StageStore") -> None:
    """The same sentence under the other objective, in step; where some stand beside, the one alone again."""
    if stage.versions is not None:
        stage.two_versions = None
        stage.renew()
    else:
        stage.compared = [] if stage.compared else [other(stage)]


def show_both(stage: "StageStore") -> None:
    """The pair of the survey that is easiest to mix up, side by side."""
    survey.show(stage, "MLM", ["PLM"])


def train_this(stage: "StageStore", rules: tuple[MaskOverride, ...] = ()) -> None:
    """Train the objective on the stage on the Train page, with its knobs and perhaps with rules set by hand."""
    try:
        stage.trainer(stage.objective, stage.settings, rules)
    except UserError as refusal:
        stage.trouble = str(refusal)


def train_anyway(stage: "StageStore") -> None:
    """Train this objective on the Train page with what was set by hand, also where the mask shows an answer."""
    if unasked(stage):
        stage.trouble = NOTHING_COUNTS
    else:
        train_this(stage, rules(stage))


def two_streams(stage: "StageStore") -> None:
    """The next lesson: an order of prediction, and why it needs a second stream."""
    stage.change(compared=[])
    stage.objective = "PLM"
    stage.show_frame("visibility")


def sample(stage: "StageStore") -> dict[str, str] | None:
    """Two texts of ours that the objective can use, where it needs others than those on the stage."""
    if not stage.lacks_text:
        return None
    texts = texts_for(stage.objective)
    try:
        rebuild(stage.objective, **texts)
    except UserError:
        return None
    return texts


def take_sample(stage: "StageStore") -> None:
    """Put texts on the stage that the objective can use."""
    if (texts := sample(stage)) is not None:
        plan = stage.printed_plan if texts["text"] in offered("text") else ""
        stage.change(**texts, plan=plan, painted={})


def full(stage: "StageStore") -> str:
    """A sentence where a text is as long as may stand here, so that the rest was cut off."""
    if max(len(stage.text), len(stage.pair)) < LONGEST_TEXT:
        return ""
    return f"A text here has at most {LONGEST_TEXT:,} characters; what came after them was cut off."
