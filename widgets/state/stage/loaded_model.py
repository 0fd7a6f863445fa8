"""Models come to the Stage page: trained there, from the Train page, or bundled with the package."""

from contextlib import suppress
from copy import deepcopy
from typing import Any

from playground.corpora.readers.decode import Progress
from playground.errors import UserError
from playground.objectives import find_objective
from playground.training import Session
from playground.training.store.bundled import OBJECTIVES
from playground.zoo.changes import turned
from widgets.state.stage import texts
from widgets.state.stage.model import StageModel, Versions, has_learned, train_on, train_small
from widgets.state.stage.store import StageStore


def teach(stage: StageStore) -> None:
    """Begin to train a small model of the objective on the stage, and one of each beside that has none yet."""
    beside, seed = [name for name in stage.compared[:3] if name not in stage.models.small], stage.seed
    names = [stage.objective, *beside]

    def train_all(report: Progress) -> list[StageModel]:
        shares = (lambda done, total, k=k: report(k * total + done, len(names) * total) for k in range(len(names)))
        return [train_small(find_objective(name), seed, share) for name, share in zip(names, shares, strict=True)]

    stage.teaching.begin(train_all)


def own(stage: StageStore) -> bool:
    """Whether the model was made for this page: it is bundled, or it was trained here."""
    return stage.model is not None and stage.models.made(stage.model)


def teach_on(stage: StageStore) -> None:
    """Begin to train a copy of the model on the stage for more steps."""
    if (model := stage.model) is not None:
        stage.teaching.begin(lambda report: [train_on(model, report)])


def take(stage: StageStore) -> None:
    """Put the small models on the stage once they are there."""
    made = None if stage.teaching.busy else stage.teaching.result
    if made is None:
        return
    stage.teaching.result = None
    stage.models.small |= {small.learner.objective.name: small for small in made}
    if made[0].learner.objective.name == stage.objective:
        attach(stage, made[0])


def attach(stage: StageStore, model: StageModel | None) -> None:
    """Put a model on the stage, or remove it; a text of ours with words that it lacks is replaced by its own."""
    stage.alone, stage.borrowed = model is None, None
    stage.param.update(model=model, inside={}, bundled=stage.bundled and model is not None)
    fit = texts.fitting(stage, stay=True)
    plan, same = texts.opening_plan(stage, fit), fit == {name: getattr(stage, name) for name in fit}
    stays = same and stage.plan != stage.printed_plan
    stage.change(**fit, plan=stage.plan if stays else plan, painted={})
    stage.show_frame("forward" if stage.answers.main else "")


def show_head(stage: StageStore, model: StageModel, text: str, layer: int, head: int) -> None:
    """Put a model on the stage with its objective and a text, and open the weights of one of its heads, from 0."""
    _prepare(stage, model, text)
    stage.layer, stage.head = layer, {"layer": layer, "head": head}
    attach(stage, model)


def show_versions(stage: StageStore, versions: Versions, text: str) -> None:
    """Put two versions of a model on the stage with its objective and a text."""
    _prepare(stage, versions.model, text, compared=[])
    stage.two_versions = versions
    attach(stage, versions.model)


def _prepare(stage: StageStore, model: StageModel, text: str, **values: Any) -> None:
    with suppress(UserError):
        stage.objective = find_objective(model.learner.objective.name).name
    stage.view = "stage"
    stage.change(text=text, settings=turned(model.learner.entry), **values)


def attach_bundled(stage: StageStore) -> None:
    """Bring the bundled models back after they were removed."""
    stage.models.small.pop(stage.objective, None)
    stage.alone, stage.bundled = False, True
    stage.renew()


def removed(stage: StageStore) -> bool:
    """Whether no model is here because it was removed, and a bundled one could take its place."""
    return stage.alone and stage.model is None and stage.objective in OBJECTIVES


def trained(stage: StageStore) -> Session | None:
    """The run of the Train page, once it has learned something."""
    session = stage.train_session()
    if session is None or session.learner is None or not has_learned(session.learner, session.run.corpus):
        return None
    return session


def attach_trained(stage: StageStore) -> None:
    """Put a copy of the Train page's model on the stage as it is now; its run goes on."""
    session = trained(stage)
    if session is None or session.learner is None:
        return
    going = session.state == "running"
    if going:
        session.rest()
    model = StageModel(deepcopy(session.learner), session.run.corpus)
    if going:
        session.start()
    attach(stage, model)
    stage.borrowed = session


def enter(stage: StageStore) -> None:
    """The page was opened: the model of the Train page is there where it has learned this very objective."""
    session = trained(stage)
    learner = session.learner if session is not None else None
    objective = None if learner is None else learner.objective
    fits = objective is not None and objective.name == stage.objective and not objective.mask_overrides
    if fits and (stage.model is None or stage.model.card) and not stage.alone:
        attach_trained(stage)


def look_inside(stage: StageStore) -> None:
    """Show the model's next update instead of the text, or the text again."""
    stage.inside = {} if stage.inside or stage.model is None else stage.model.inside()
    stage.renew()
    stage.show_frame("text" if stage.inside else "")
