"""What was set by hand on the Stage page, and what of it training takes along."""

from contextlib import suppress
from typing import TYPE_CHECKING

from playground.errors import UserError
from playground.objectives import find_objective
from playground.objectives.by_hand import draws_order
from playground.objectives.choose.order import OrderOverride
from playground.objectives.mask_overrides import MaskOverride, carried
from playground.objectives.plan_overrides import parse, settings_of
from playground.objectives.steps import describe_plan

if TYPE_CHECKING:
    from widgets.state.stage.store import StageStore


def rules(stage: "StageStore") -> tuple[MaskOverride, ...]:
    """What was set by hand, as rules for every text; of a mixture, for the part that is on the stage."""
    part = 0 if stage.plain is None else describe_plan(stage.plain.steps).get("part", 0)
    return (*carried(stage.painted, part), *own_order(stage))


def own_order(stage: "StageStore") -> tuple[OrderOverride, ...]:
    """The order of prediction that was set by hand, where every text can be read in it."""
    if stage.plan != stage.printed_plan and draws_order(find_objective(stage.objective)):
        with suppress(UserError):
            return tuple(OrderOverride(tuple(v)) for k, v in parse(settings_of(stage.plan)).items() if k == "order")
    return ()


def redrawn(stage: "StageStore") -> str:
    """A sentence where choices by hand are for this text alone, which training does not take along."""
    keys = {setting.partition("=")[0] for setting in settings_of(stage.plan)} - {"order" if own_order(stage) else ""}
    if not keys or stage.plan == stage.printed_plan:
        return ""
    return f"In training, what you set by hand ({', '.join(sorted(keys))}) is drawn again for every text."


def unasked(stage: "StageStore") -> bool:
    """Whether no answer counts in the loss any more, so that there is nothing left to learn from."""
    made = stage.rebuilt
    return bool(stage.painted) and made is not None and not made.signal["scored"]
