"""An objective for one run: with the names and counts of its corpus, the generator of its model, its step."""

from collections.abc import Mapping
from dataclasses import replace

import torch

from playground.corpora.corpus import Corpus
from playground.knob import turn
from playground.objectives.arrange import ArrangeCooccurrences, SampleTask
from playground.objectives.ask.label import AskCrossView, AskLabel, AskPair
from playground.objectives.curriculum import schedule
from playground.objectives.objective import Objective, settings_of
from playground.objectives.ops.cooccurrence import Cells, cooccurrence
from playground.objectives.propose import Proposer, SampleFromGenerator
from playground.objectives.see.labels import SeeLabels
from playground.objectives.stage import Stage


def with_corpus(objective: Objective, corpus: Corpus, device: torch.device = torch.device("cpu")) -> Objective:
    """The objective with the corpus' names of the labels and its table of co-occurrences, on the device of the run."""
    objective = with_label_names(objective, corpus.label_names)
    counting = [stage for stage in objective.every_stage if isinstance(stage, ArrangeCooccurrences)]
    if all(stage.table is not None for stage in counting):
        return objective
    text, specials = corpus.ids[: corpus.held_out_from].long(), corpus.tokenizer.specials
    table = cooccurrence(text, specials, counting[0].window_size)  # the same for all
    return with_cooccurrences(objective, table.to(device))


def with_label_names(objective: Objective, names: Mapping[str, tuple[str, ...]]) -> Objective:
    """The objective with a corpus' own names of the labels it asks for or reads (`Corpus.label_names`)."""

    def named(stage: Stage) -> Stage:
        if isinstance(stage, AskLabel | AskPair | AskCrossView | SeeLabels) and stage.label in names:
            return replace(stage, classes=tuple(names[stage.label]))
        return stage

    return objective.map_stages(named)


def with_cooccurrences(objective: Objective, table: Cells) -> Objective:
    """The objective on the co-occurrences of a whole corpus."""
    return objective.map_stages(lambda s: replace(s, table=table) if isinstance(s, ArrangeCooccurrences) else s)


def with_generator(objective: Objective, proposer: Proposer) -> Objective:
    """The objective with a network for every stage that samples from a generator; the same where there is none."""
    if not objective.proposes:
        return objective
    return objective.map_stages(lambda s: replace(s, proposer=proposer) if isinstance(s, SampleFromGenerator) else s)


def at_step(objective: Objective, step: int, steps: int) -> Objective:
    """The objective in a step (0-based) of a run of so many steps."""
    if not objective.changes:
        return objective
    shares, values = schedule(objective.curriculum, steps).at(step) if objective.curriculum else ((), {})
    now = objective.map_stages(lambda stage: turn(stage, settings_of(stage, values)))
    return replace(
        now,
        stages=tuple(
            replace(stage, step=step, shares=shares or stage.shares) if isinstance(stage, SampleTask) else stage
            for stage in now.stages
        ),
        parts=tuple(at_step(part, step, steps) for part in now.parts),
        auxiliary=tuple((weight, at_step(chain, step, steps)) for weight, chain in now.auxiliary),
    )
