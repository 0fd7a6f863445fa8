"""The training loop: a generator of events, paused by not pulling; a run follows from its seed alone."""

import time
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from playground import devices
from playground.batch import Batch, Tokens
from playground.corpora import Corpus, open_corpus
from playground.corpora.respelling import IN_WORDS
from playground.corpora.sources import FEWEST, is_generated
from playground.errors import UserError
from playground.objectives.bind import with_corpus
from playground.objectives.steps import specimens
from playground.rng import generator
from playground.training import checkpoint, ddp, memory
from playground.training.accumulation import OutOfMemory, room_for
from playground.training.data import FEW, BatchSampler, Prefetcher, describe_left_out, most_at_once, steps_together
from playground.training.events import (
    READ_EVERY,
    Checkpointed,
    Evaluated,
    Event,
    Incident,
    PhaseStarted,
    Started,
    Stepped,
    Stopped,
    read_losses,
)
from playground.training.grad_stats import sizes
from playground.training.own_text import save_run
from playground.training.train_state import Snapshot, TrainState
from playground.zoo.entry import Entry
from playground.zoo.phase import Phase


@dataclass(frozen=True)
class Run:
    """The configuration of a run: the same values give the same events on one kind of device.

    On a GPU they are the same up to rounding, or to the bit with `devices.DETERMINISTIC`.

    With `steps` the learning rate falls until the last step of the recipe; with `seconds` it stays level after the
    warm-up. Every `sizes_every` steps (0: never) the gradient and the update of every layer are measured.
    """

    entry: Entry
    corpus: Corpus
    seed: int = 0
    device: torch.device = torch.device("cpu")
    steps: int | None = None
    seconds: float | None = None
    out: Path | None = None
    evaluate_every: int = 50
    save_every: int = 500
    sizes_every: int = 0

    @property
    def notice(self) -> str:
        """How the text was read, and what is left out of it, in sentences."""
        return f"{self.corpus.note} {self.warning}".strip()

    @property
    def warning(self) -> str:
        """What was left out of the text, and of one's own text what is not trained on."""
        own = not is_generated(self.corpus.name.partition(IN_WORDS)[0])
        left_out = describe_left_out(self.corpus, self.entry) if own else ()
        return " ".join(filter(None, [self.corpus.warning, *left_out]))

    @property
    def falling(self) -> bool:
        return self.seconds is None

    @property
    def last(self) -> int | None:
        """The last step of the run, None where only the clock ends it."""
        if self.steps is None and self.seconds is None:
            return self.entry.recipe.steps
        return self.steps


@dataclass(frozen=True)
class PhaseData:
    """What a phase of a run reads: its text, the held-out rows of it, and the batches of its steps."""

    corpus: Corpus
    held_out: Tokens
    blocks: Prefetcher


@dataclass
class RunState:
    """A run in progress: what is prepared before its first step for each of its phases, and its last good state."""

    run: Run
    learner: TrainState
    phases: tuple[PhaseData, ...]
    good: Snapshot
    loss: Tensor | None = None
    evaluated: int = -1
    unread: list[Stepped] = field(default_factory=list)

    @property
    def held_out(self) -> Tokens:
        """The held-out rows of the present phase."""
        return self.phases[self.learner.phase].held_out

    @property
    def blocks(self) -> Prefetcher:
        """The batches of the present phase."""
        return self.phases[self.learner.phase].blocks

    @property
    def over(self) -> str:
        """Why the run ends here ("steps" or "seconds"), empty while it goes on."""
        run, learner = self.run, self.learner
        if run.last is not None and learner.step >= run.last:
            return "steps"
        return "seconds" if run.seconds is not None and learner.seconds >= run.seconds else ""

    @property
    def evaluates(self) -> bool:
        """Whether the step that was taken is followed by an evaluation."""
        return self.learner.step % self.run.evaluate_every == 0

    @property
    def saves(self) -> bool:
        """Whether the step that was taken is followed by a checkpoint."""
        return self.run.out is not None and self.learner.step % self.run.save_every == 0

    def reads(self, seconds: float) -> bool:
        """Whether a GPU is waited for after this step, so that losses are known and the clock counts its work.

        It is where the step, of so many `seconds`, may be the last one.
        """
        step, limit = self.learner.step, self.run.seconds
        last = step == self.run.last or (limit is not None and self.learner.seconds + seconds >= limit)
        return last or step % READ_EVERY == 0 or self.evaluates or self.saves

    def step(self) -> Iterator[Event]:
        """One step; where memory is short, in more and smaller parts."""
        learner, each, phase = self.learner, self.run.sizes_every, self.learner.phase
        measured = bool(each) and (learner.step + 1) % each == 0
        while True:
            began = time.perf_counter()
            try:
                with sizes(learner.model) if measured else nullcontext(()) as groups:
                    batch, self.loss, terms, share = self._learn()
                break
            except OutOfMemory as error:
                short = OutOfMemory(error.asked, error.during)  # the error itself keeps the tensors of the step alive
            yield self._smaller(short)
        stepped = Stepped(
            learner.step, self.loss, terms, share, learner.tokens, learner.seconds, batch, learner.scored,
            tuple(groups),
        )  # fmt: skip
        if devices.computes_beside(learner.device):
            self.unread.append(stepped)
            if self.reads(time.perf_counter() - began):
                read_losses(self.unread)
                self.unread.clear()
        learner.seconds += ddp.seconds_of_first(time.perf_counter() - began, learner.device)
        yield replace(stepped, seconds=learner.seconds)
        if learner.phase != phase:
            yield self.phase_started()

    def phase_started(self) -> PhaseStarted:
        """Which phase begins now."""
        number, entry = self.learner.phase, self.learner.entry
        phase, asked = entry.all_phases[number], self.learner.objective.name
        return PhaseStarted(
            self.learner.step, number, phase.name, asked, self.phases[number].corpus.name, self.held_out
        )

    def _learn(self) -> tuple[Batch, Tensor, dict[str, Tensor], float]:
        with room_for("drawing"):
            batch = self.blocks.at(self.learner.step)
        return self.learner.learn(batch, self.run.falling)

    def _smaller(self, short: OutOfMemory) -> Incident:
        """Prepare to take the step again in less memory."""
        memory.free_cached(self.learner.device)
        if short.during == "drawing":
            return memory.fewer(self.blocks, short)
        if short.during == "optimiser":  # some weights may have moved: the same steps again from the last good state
            failed, seconds = self.learner.step, self.learner.seconds
            self._back()
            while self.learner.step < failed:
                self._learn()
            self.learner.seconds = seconds
        return memory.smaller(self.learner, short)

    def _back(self) -> None:
        """Return to the last good state; knobs that were turned since then stay turned."""
        learner, entry = self.learner, self.learner.entry
        self.good.restore(learner)
        learner.entry = entry
        learner.turn({})

    def evaluate(self) -> Iterator[Event]:
        """The loss on the held-out rows; where memory is short, in as many parts as a step."""
        while True:
            try:
                terms, accuracy, gauges = self.learner.measure(self.held_out)
                break
            except OutOfMemory as error:
                short = OutOfMemory(error.asked, error.during)
            yield self._smaller(short)
        self.evaluated = self.learner.step
        yield Evaluated(self.learner.step, next(iter(terms.values())), terms, accuracy, gauges)

    def checked(self) -> bool:
        """Whether loss and weights are finite; if so, this becomes the last good state."""
        finite = self.learner.sound(self.loss)
        if finite and self.good.step != self.learner.step:
            with suppress(OutOfMemory), room_for("evaluation"):  # where there is no room, the earlier one stays
                self.good = Snapshot.of(self.learner)
        return finite

    def go_back(self) -> Incident:
        """Return to the step before the first bad one, by taking the same steps again from the last good state."""
        learner, noticed = self.learner, self.learner.step
        self._back()
        while learner.step < noticed:
            before = Snapshot.of(learner)
            loss = learner.learn(self.blocks.at(learner.step), self.run.falling)[1]
            if not learner.sound(loss):
                before.restore(learner)
                break
        return _advice(learner)

    def save(self, began: int) -> None:
        """Save what was learnt since the step `began` of a run that ends early."""
        if self.run.out is not None and self.learner.step > began and self.learner.sound(self.loss):
            with suppress(UserError):
                self.write(self.run.out)

    def write(self, folder: Path, stays: bool = False) -> Checkpointed:
        """Write a checkpoint; from one that `stays` the run can be forked later."""
        path = save_run(folder, self.learner, self.run.corpus, self.held_out)
        if stays:
            checkpoint.keep(path, self.learner.step)
        return Checkpointed(self.learner.step, str(path))


def prepared(run: Run, learner: TrainState | None = None) -> RunState:
    """A run before its first step; with a learner it goes on with its knobs, so that it sees the same batches."""
    run = run if learner is None else _resumed(run, learner)
    entry, recipe = run.entry, run.entry.recipe
    texts = [_text_of(run, phase) for phase in entry.all_phases]
    objectives = [
        with_corpus(entry.objective_in(phase), text, run.device)
        for phase, text in zip(entry.all_phases, texts, strict=True)
    ]
    shape = recipe.seq_len, recipe.batch_size
    sampler = cache(lambda text, needs: BatchSampler.of(text, *shape, run.seed, run.device, needs, entry.continues))
    feeds = [sampler(text, objective.needs) for text, objective in zip(texts, objectives, strict=True)]
    held_out = [feed.evaluation() for feed in feeds]
    asked = [
        specimens(objective, rows, generator(0, "asked", device=run.device))
        for objective, rows in zip(objectives, held_out, strict=True)
    ]
    run = replace(run, entry=replace(entry, objective=objectives[-1]))
    if learner is None:
        every = [batch for batches in asked for batch in batches]
        learner = TrainState.new(run.entry, run.corpus.tokenizer.words, run.seed, run.device, every)
    known = learner.objectives or (learner.objective,)
    learner.objectives = tuple(with_corpus(one, text, run.device) for one, text in zip(known, texts, strict=True))
    learner.objective = learner.objectives[learner.phase]
    if ddp.size() > 1:
        run = _shared(run, learner)
    together = map(steps_together, objectives, asked, feeds)
    blocks = [
        Prefetcher(feed, learner, steps, most_at_once(feed, FEW)) for feed, steps in zip(feeds, together, strict=True)
    ]
    return RunState(run, learner, tuple(map(PhaseData, texts, held_out, blocks)), Snapshot.of(learner))


def _resumed(run: Run, learner: TrainState) -> Run:
    """The run with the knobs of a learner, which must be of the same entry."""
    if learner.entry.name != run.entry.name:
        raise UserError(f"The checkpoint holds a {learner.entry.name}, not a {run.entry.name}; name the same entry.")
    return replace(run, entry=learner.entry)


def _shared(run: Run, learner: TrainState) -> Run:
    """The run in one of several processes, which share each gradient and of which the first one saves."""
    if run.entry.continues:
        raise UserError("mem_len is above 0, which several processes cannot share; set it to 0.")
    if (phases := len(run.entry.all_phases)) > 1:
        raise UserError(
            f"{run.entry.name} has {phases} phases, which several processes cannot share; train it without torchrun."
        )
    learner.gradient = ddp.DistributedDataParallelGradient()
    return run if ddp.first() else replace(run, out=None)


def _text_of(run: Run, phase: Phase) -> Corpus:
    """The text of a phase, as long as that of the run; where the run does not read its entry's own, all read that."""
    if not phase.corpus or run.corpus.name != run.entry.corpus:
        return run.corpus
    text = open_corpus(phase.corpus, tokens=max(FEWEST, len(run.corpus)))
    if text.tokenizer.words != run.corpus.tokenizer.words:
        raise UserError(
            f"The phase {phase.name} of {run.entry.name} reads {text.name}, which has other words than "
            f"{run.corpus.name}; its phases must have one vocabulary."
        )
    return text


def train(run: Run, learner: TrainState | None = None) -> Iterator[Event]:
    """Train from the start, or go on with a learner from a checkpoint as if it had never stopped."""
    yield from events_of(prepared(run, learner))


def events_of(state: RunState) -> Iterator[Event]:
    """The events of a run from where it stands to its end."""
    began = state.learner.step
    try:
        yield from _events(state, began)
    except UserError:
        state.save(began)
        raise


def _events(state: RunState, began: int) -> Iterator[Event]:
    run, learner = state.run, state.learner
    yield Started(learner, run.corpus.unigram_entropy, state.held_out)
    if len(state.phases) > 1:
        yield state.phase_started()
    if learner.step == 0:
        yield from state.evaluate()
    while not (reason := state.over):
        yield from state.step()
        evaluates, saves = state.evaluates, state.saves
        if (evaluates or saves) and not state.checked():
            break
        if evaluates:
            yield from state.evaluate()
        if saves and run.out is not None:
            yield state.write(run.out, stays=True)
    noticed, reason = learner.step, reason if learner.sound(state.loss) else "diverged"
    if reason == "diverged":
        yield state.go_back()
    elif state.evaluated != learner.step:
        yield from state.evaluate()
    if run.out is not None and (reason != "diverged" or learner.step > began):
        yield state.write(run.out)
    yield Stopped(noticed, reason, learner.seconds)


def _advice(learner: TrainState) -> Incident:
    recipe = learner.entry.recipe
    settings = {"lr": recipe.lr / 3, "grad_clip": min(recipe.grad_clip, 1.0) or 1.0}
    settings |= {"muon_lr": recipe.muon_lr / 3} if recipe.optimiser == "muon" else {}
    changed = ", ".join(
        f"{name} {getattr(recipe, name):g} → {value:.2g}"
        for name, value in settings.items()
        if value != getattr(recipe, name)
    )
    sentence = (
        f"In step {learner.step + 1} a loss or a weight became NaN or infinite. The model is back at step "
        f"{learner.step}, before that happened; fork from there with a lower rate: {changed}."
    )
    return Incident(learner.step, "numbers", sentence, settings)
