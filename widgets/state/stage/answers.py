"""What the models predict on the Stage page, and the record that is drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from playground.analysis.unmasking import can_unmask
from playground.errors import UserError
from playground.objectives import find_objective
from playground.trace.lockstep import lockstep
from playground.trace.rebuild import Rebuilt
from widgets.state.stage.model import StageModel
from widgets.state.stage.model_choice import model_beside

if TYPE_CHECKING:
    from widgets.state.stage.store import StageStore


@dataclass(frozen=True)
class Answers:
    """The record with what the model predicts, empty without one, the records beside it, and why one predicts nothing.

    The `subtitles` say what two versions of a model are.
    """

    main: Mapping[str, Any] = field(default_factory=dict)
    beside: tuple[Mapping[str, Any], ...] = ()
    subtitles: tuple[str, ...] = ()
    silent: str = ""


def ask_models(stage: "StageStore", made: Rebuilt, companions: Sequence[Rebuilt]) -> Answers:
    """The predictions of the models for what is on the stage; one that makes none says why."""
    main, silent = answer(stage, stage.model, made, (stage.layer,))
    others = [(model_beside(stage, each.objective.name), each) for each in companions]
    versions = stage.versions
    if versions is not None:
        others.append((versions.second, made))
    beside = [answer(stage, model, each) for model, each in others]
    records = tuple(answered or each.record() for (answered, _), (_, each) in zip(beside, others, strict=True))
    why = next(filter(None, (stage.without_model, silent, *(why for _, why in beside))), "")
    return Answers(main, records, () if versions is None else versions.subtitles, why)


def answer(
    stage: "StageStore", model: StageModel | None, made: Rebuilt, layers: tuple[int, ...] | None = None
) -> tuple[dict[str, Any], str]:
    """The record with what a model predicts, and why it predicts nothing."""
    if model is None:
        return {}, ""
    try:
        record = model.unmasked(model.answers(made, layers), made, stage.unmask, stage.seed)
        return record, model.model.unscored(made.batch)
    except UserError as refusal:
        return {}, str(refusal)


def unmasks(stage: "StageStore") -> bool:
    """Whether the model fills the gaps of the text step by step."""
    return stage.model is not None and stage.rebuilt is not None and can_unmask(stage.rebuilt.batch)


def record(stage: "StageStore", whole: bool = False) -> dict[str, Any]:
    """What the stage draws; `whole`, with the attention of every layer, for a page that cannot ask for another."""
    if stage.rebuilt is None:
        return {}
    if stage.inside:
        return {**stage.inside, "said": stage.said}
    answered = answer(stage, stage.model, stage.rebuilt)[0] if whole and stage.answers.main else stage.answers.main
    by_hand = {name: [[i, j] for i, j, _ in cells] for name, cells in stage.painted.items()}
    more = {"painted": by_hand, "can": stage.history.can, "said": stage.said, "link": urlencode(stage.query())}
    records = [{**(answered or stage.rebuilt.record()), **more}, *stage.answers.beside]
    subtitles = [{"subtitle": versus} if versus else {} for versus in _versus(stage)]
    begin = {"begin": stage.tokens} if stage.tokens else {}
    return lockstep([record | more | begin for record, more in zip(records, subtitles, strict=True)])


def _versus(stage: "StageStore") -> list[str]:
    """What each of the stages is: a version of the model, or an objective and how it differs from the others."""
    if stage.answers.subtitles:
        return [*stage.answers.subtitles]
    shown = [stage.objective, *(made.objective.name for made in stage.companions)]
    return [next(filter(None, map(find_objective(name).versus.get, shown)), "") for name in shown]
