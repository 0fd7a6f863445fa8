"""An objective with rules that a person set by hand: cells of its masks, which answers are scored, an order."""

from dataclasses import replace

from playground.errors import UserError
from playground.objectives.ask.loss_mask import LossMaskOverride, OverrideLossMask
from playground.objectives.choose.order import ChooseOrder, OrderOverride
from playground.objectives.mask_overrides import MaskOverride, describe, meant_for
from playground.objectives.objective import Objective
from playground.objectives.see.painted import AttentionMaskOverride, OverrideMask
from playground.objectives.stage import Stage


def with_overrides(objective: Objective, rules: tuple[MaskOverride, ...]) -> Objective:
    """The same objective, which obeys the rules in every text; one that has nothing to override is refused."""
    if not rules:
        return objective
    return _ordered(_masked(objective, rules), rules).variant(
        idea=f"{objective.idea} {describe(rules)}",
        mask_overrides=(*objective.mask_overrides, *rules),
    )  # fmt: skip


def draws_order(objective: Objective) -> bool:
    """Whether it draws an order of prediction."""
    return any(isinstance(stage, ChooseOrder) for stage in objective.every_stage)


def _masked(objective: Objective, rules: tuple[MaskOverride, ...]) -> Objective:
    """The same chain with its masks overridden; in a mixture, of every part that a rule is meant for."""
    parts = objective.parts
    if unknown := [rule.part for rule in rules if rule.part > len(parts)]:
        known = f"its parts are 1 to {len(parts)}" if parts else "it is not a mixture"
        raise UserError(f"{objective.name} has no part {unknown[0]} to paint in; {known}.")
    if parts:
        numbered = enumerate(parts, 1)
        return replace(objective, parts=tuple(_masked(part, meant_for(rules, number)) for number, part in numbered))
    answers = tuple(rule for rule in rules if isinstance(rule, LossMaskOverride))
    asked = (OverrideLossMask(answers),) if answers else ()
    return replace(objective, stages=(*_seeing(objective, rules), *asked))


def _seeing(objective: Objective, rules: tuple[MaskOverride, ...]) -> tuple[Stage, ...]:
    """The stages, with an override right after the stage that sets the attention mask."""
    cells = tuple(rule for rule in rules if isinstance(rule, AttentionMaskOverride))
    if not cells:
        return objective.stages
    seen = [number for number, stage in enumerate(objective.stages, 1) if stage.verb == "see"]
    if not seen:
        raise UserError(f"{objective.name} has no mask of its own that could be painted over.")
    return (*objective.stages[: seen[-1]], OverrideMask(cells), *objective.stages[seen[-1] :])


def _ordered(objective: Objective, rules: tuple[MaskOverride, ...]) -> Objective:
    """The same with an order set by hand wherever an order of prediction is drawn."""
    orders = [rule.positions for rule in rules if isinstance(rule, OrderOverride)]
    if not orders:
        return objective
    if not draws_order(objective):
        raise UserError(f"{objective.name} draws no order of prediction, so none can be set by hand; PLM draws one.")
    return objective.map_stages(lambda s: replace(s, order=orders[-1]) if isinstance(s, ChooseOrder) else s)
