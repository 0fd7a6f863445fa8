"""What is written with the model of a run: the prompt, how it is continued, and the texts."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import param

from playground.analysis.generation import Generation, Written, cannot_write, codes_of, reads_source, write_text
from playground.corpora.sources import prefixes_of
from playground.errors import UserError
from playground.knob import Knob, knobs, turn
from playground.rng import next_seed
from playground.training import Session
from widgets.state.job import Job

GREEDY, SAMPLING, BEAMS = "greedy search", "sampling", "beam search"

WAYS = {
    GREEDY: ({}, ("max_new_tokens",)),
    SAMPLING: ({"do_sample": True}, ("temperature", "top_k", "top_p", "max_new_tokens")),
    BEAMS: ({"num_beams": 4}, ("num_beams", "length_penalty", "max_new_tokens")),
}
"""Each way to write: what it turns, and the knobs that have a part in it."""

NO_MODEL = "There is no model yet. Press Train, or open a saved run."


class WritingStore(param.Parameterized):
    """`turned` are the knobs that are not as they come, of all ways together; `code` is a control code, 0 for none."""

    text = param.String("", label="prompt")
    way = param.Selector(default=SAMPLING, objects=[*WAYS], label="decoding")
    turned = param.Dict({})
    code = param.Integer(0)
    language = param.Integer(0)
    seed = param.Integer(0)
    session = param.Parameter(None, doc="The session whose model writes.")

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        self.job = Job("writing")

    def take(self, session: Session | None) -> None:
        """Write with the model of another session; what another one wrote is dropped."""
        if session is not self.session:
            self.job.forget()
            self.param.update(session=session, code=0, language=0)

    @property
    def cannot(self) -> str:
        """Why nothing can be written, in a sentence; empty where the model can."""
        if self.session is None:
            return NO_MODEL
        entry = self.session.run.entry
        return cannot_write(entry.model, entry.objective)

    @property
    def reads_source(self) -> bool:
        """Whether an encoder reads the prompt."""
        return self.session is not None and reads_source(self.session.run.entry.model)

    @property
    def prefixes(self) -> tuple[str, ...]:
        """The task prefixes of the text."""
        return prefixes_of(self.session.run.corpus.name) if self.session is not None else ()

    @property
    def codes(self) -> tuple[str, ...]:
        """The names of the control codes that the model has learned."""
        if self.session is None:
            return ()
        run = self.session.run
        return tuple(run.corpus.label_names.get(codes_of(run.entry.objective), ()))

    @property
    def languages(self) -> int:
        """How many languages the model can be asked to write in; 0 where it has none."""
        return self.session.run.entry.model.languages if self.session is not None else 0

    @property
    def knobs(self) -> Mapping[str, Knob]:
        """The knobs of the way that is chosen."""
        _, names = WAYS[self.way]
        found = {k.name: k for k in knobs(Generation) if k.name in names}
        beams = {"num_beams": replace(found["num_beams"], default=4, low=2, high=16)} if self.way == BEAMS else {}
        return found | beams

    @property
    def how(self) -> Generation:
        """The settings of the way that is chosen."""
        settings, names = WAYS[self.way]
        drawn = {"seed": self.seed} if self.way == SAMPLING else {}
        chosen = {"control_code": self.code, "target_language": self.language}
        return turn(Generation(), settings | {n: v for n, v in self.turned.items() if n in names} | drawn | chosen)

    def set(self, name: str, value: Any) -> None:
        """Turn a knob."""
        self.turned = self.turned | {name: value}

    def begin(self) -> None:
        """Write in the background; a run that trains rests meanwhile."""
        session, text, how = self.session, self.text, self.how
        self.job.begin(lambda _: write_with(session, text, how))

    def again(self) -> None:
        """Draw another text."""
        self.seed = next_seed(self.seed)
        self.begin()


def write_with(session: Session | None, text: str, how: Generation) -> tuple[Written, str]:
    """What a session's model writes, and which model at which step; a run that trains rests between two steps."""
    if session is None:
        raise UserError(NO_MODEL)
    trains = session.state == "running"
    if trains:
        session.rest()
    try:
        learner = session.learner
        if learner is None:
            raise UserError(NO_MODEL)
        if session.state == "paused" and not session.rests:
            raise UserError("The present step takes long; pause the run and write when it is done.")
        written = write_text(learner.model, learner.objective, session.run.corpus.tokenizer, text, how)
        return written, f"{learner.entry.name} at step {learner.step:,}"
    finally:
        if trains and session.state == "paused":
            session.start()
