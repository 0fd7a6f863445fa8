"""The loop: a generator of events. Pause is to stop pulling; a run follows from its seed alone."""

import time
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch
from torch import Tensor

from playground.analysis.cooccurrence import cooccurrence
from playground.batch import Batch, Tokens
from playground.corpora import Corpus
from playground.errors import Refusal
from playground.objectives import Objective
from playground.objectives.arrange import ArrangeCooccurrences
from playground.rng import generator
from playground.training import checkpoint, compiled, ddp, memory
from playground.training.accumulation import OutOfMemory, room_for
from playground.training.async_checkpoint import Writer
from playground.training.data import BatchSampler
from playground.training.events import Evaluated, Event, Incident, Started, Stepped, Stopped
from playground.training.grad_stats import sizes
from playground.training.prefetch import FEW, Prefetcher, most_at_once, steps_together
from playground.training.snapshot import State
from playground.training.train_state import TrainState
from playground.zoo.entry import Entry


@dataclass(frozen=True)
class Run:
    """What a run is: the same values give the same events on one kind of device.

    With `steps` the learning rate falls to its floor at the last step of the recipe; with `seconds` alone it stays
    level after the warm-up, because nobody knows the last step.
    Every `sizes_every` steps (0: never) the gradient and the update of every layer are measured.
    Where it is `compiled`, `torch.compile` makes code of the pass and its losses; the numbers stay but for rounding.
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
    compiled: bool = False

    @property
    def falling(self) -> bool:
        return self.seconds is None

    @property
    def last(self) -> int | None:
        """The step after which the run ends by itself, None where only the clock ends it."""
        if self.steps is not None:
            return self.steps
        return self.entry.recipe.steps if self.seconds is None else None


@dataclass
class RunState:
    """A run on its way: what is prepared before its first step, and where it last was well."""

    run: Run
    learner: TrainState
    held_out: Tokens
    blocks: Prefetcher
    good: State
    loss: Tensor = field(default_factory=lambda: torch.zeros(()))
    evaluated: int = -1

    @property
    def over(self) -> str:
        """Why the run ends here by itself, or nothing while it goes on."""
        run, learner = self.run, self.learner
        if run.last is not None and learner.step >= run.last:
            return "steps"
        return "seconds" if run.seconds is not None and learner.seconds >= run.seconds else ""

    def step(self) -> Iterator[Event]:
        """One step; where the memory does not reach, in more and smaller parts."""
        learner, each = self.learner, self.run.sizes_every
        measured = bool(each) and (learner.step + 1) % each == 0
        was_compiled = not compiled.failed(learner.gradient)
        while True:
            began = time.perf_counter()
            try:
                with sizes(learner.model) if measured else nullcontext(()) as groups:
                    example, self.loss, terms, share = self._learn()
                break
            except OutOfMemory as error:
                short = OutOfMemory(error.asked, error.during)  # the error itself holds on to what filled the memory
            yield self._smaller(short)
        if was_compiled and (reason := compiled.failed(learner.gradient)):
            sentence = f"The run goes on without compiled code: {reason}. Only its speed changes."
            yield Incident(learner.step, "compiler", sentence, {})
        learner.seconds += ddp.seconds_of_first(time.perf_counter() - began, learner.device)
        yield Stepped(
            learner.step, self.loss, terms, share, learner.tokens, learner.seconds, example, learner.graded,
            tuple(groups),
        )  # fmt: skip

    def _learn(self) -> tuple[Batch, Tensor, dict[str, Tensor], float]:
        with room_for("drawing"):
            example = self.blocks.at(self.learner.step)
        return self.learner.learn(example, self.run.falling)

    def _smaller(self, short: OutOfMemory) -> Incident:
        """Ready to take the step again in less memory, and with what was freed before."""
        memory.give_back(self.learner.device)
        if short.during == "drawing":
            return memory.fewer(self.blocks, short)
        if short.during == "optimiser":
            self._repair()
        return memory.smaller(self.learner, short)

    def _repair(self) -> None:
        """Some weights may have moved: the same steps again from the last good state, up to the one that failed."""
        failed, seconds = self.learner.step, self.learner.seconds
        self._back()
        while self.learner.step < failed:
            self._learn()
        self.learner.seconds = seconds

    def _back(self) -> None:
        """To the last good state; what was turned since then stays turned."""
        learner, entry = self.learner, self.learner.entry
        self.good.give_back(learner)
        learner.entry = entry
        learner.turn({})

    def evaluate(self) -> Iterator[Event]:
        """The loss on the held-out rows, in as many parts as a step."""
        while True:
            try:
                terms, accuracy = self.learner.measure(self.held_out)
                break
            except OutOfMemory as error:
                short = OutOfMemory(error.asked, error.during)
            yield self._smaller(short)
        self.evaluated = self.learner.step
        yield Evaluated(self.learner.step, next(iter(terms.values())), terms, accuracy)

    def well(self) -> bool:
        """Whether loss and weights are numbers; if so, this is where to come back to."""
        well = self.learner.sound(self.loss)
        if well and self.good.step != self.learner.step:
            with suppress(OutOfMemory), room_for("evaluation"):  # where there is no room, the earlier one stays
                self.good = State.of(self.learner)
        return well

    def go_back(self) -> Incident:
        """Back to the last step after which all was well: steps are taken again, to the same bit, until one fails."""
        learner, noticed = self.learner, self.learner.step
        self._back()
        while learner.step < noticed:
            before = State.of(learner)
            loss = learner.learn(self.blocks.at(learner.step), self.run.falling)[1]
            if not learner.sound(loss):
                before.give_back(learner)
                break
        return _advice(learner)

    def keep(self, began: int) -> None:
        """Save what was learnt since a step, where a run must end before its time."""
        if self.run.out is not None and self.learner.step > began and self.learner.sound(self.loss):
            with suppress(Refusal):
                checkpoint.write_whole(self.run.out / "checkpoint.safetensors", *self.pack())

    def pack(self) -> checkpoint.Packed:
        """Everything that a checkpoint holds."""
        corpus = self.run.corpus
        studied = checkpoint.CorpusInfo(corpus.name, corpus.hash, corpus.unigram_entropy, self.held_out)
        return checkpoint.pack(self.learner, corpus.tokenizer, studied)


def prepared(run: Run, learner: TrainState | None = None) -> RunState:
    """All that a run needs before its first step."""
    run = run if learner is None else _of_learner(run, learner)
    recipe = run.entry.recipe
    objective = informed(run.entry.objective, run.corpus)
    run = replace(run, entry=replace(run.entry, objective=objective))
    feed = BatchSampler.of(run.corpus, recipe.seq_len, recipe.batch_size, run.seed, run.device, objective.needs)
    held_out = feed.evaluation()
    asked = objective.specimens(held_out, generator(0, "asked", device=run.device.type))
    learner = learner or TrainState.new(run.entry, run.corpus.tokenizer.words, run.seed, run.device, asked)
    learner.objective = informed(learner.objective, run.corpus)
    if ddp.size() > 1:
        if recipe.generator_first:
            raise Refusal("generator_first is above 0, which several processes cannot share; set it to 0.")
        learner.gradient = ddp.DistributedDataParallelGradient()
        run = run if ddp.first() else replace(run, out=None)
    if run.compiled:
        learner.gradient = compiled.of(learner.gradient)
    blocks = Prefetcher(feed, learner, steps_together(objective, asked, feed), most_at_once(feed, FEW))
    return RunState(run, learner, held_out, blocks, State.of(learner))


def train(run: Run, learner: TrainState | None = None) -> Iterator[Event]:
    """Train from the start, or go on with a learner from a checkpoint as if it had never stopped."""
    yield from events_of(prepared(run, learner))


def events_of(course: RunState) -> Iterator[Event]:
    """The events of a run that is ready for its first step."""
    began = course.learner.step
    try:
        yield from _events(course, began)
    except Refusal:
        course.keep(began)
        raise


def _events(course: RunState, began: int) -> Iterator[Event]:
    run, learner = course.run, course.learner
    yield Started(learner, run.corpus.unigram_entropy, course.held_out)
    if learner.step == 0:
        yield from course.evaluate()
    with Writer() as writer:
        while not (reason := course.over):
            yield from course.step()
            yield from writer.done()
            evaluates = learner.step % run.evaluate_every == 0
            saves = run.out is not None and learner.step % run.save_every == 0
            if (evaluates or saves) and not course.well():
                break
            if evaluates:
                yield from course.evaluate()
            if saves and run.out is not None:
                writer.begin(run.out, course.pack(), learner.step, stays=True)
        yield from writer.done()
        noticed, reason = learner.step, reason if learner.sound(course.loss) else "diverged"
        if reason == "diverged":
            yield course.go_back()
        elif course.evaluated != learner.step:
            yield from course.evaluate()
        if run.out is not None and (reason != "diverged" or learner.step > began):
            writer.begin(run.out, course.pack(), learner.step, stays=False)
            yield from writer.done()
    yield Stopped(noticed, reason, learner.seconds)


def _advice(learner: TrainState) -> Incident:
    recipe = learner.entry.recipe
    settings = {"lr": recipe.lr / 3, "grad_clip": min(recipe.grad_clip, 1.0) or 1.0}
    settings |= {"muon_lr": recipe.muon_lr / 3} if recipe.optimiser == "muon" else {}
    changed = {name: value for name, value in settings.items() if value != getattr(recipe, name)}
    told = ", ".join(f"{name} {getattr(recipe, name):g} → {value:.2g}" for name, value in changed.items())
    sentence = (
        f"In step {learner.step + 1} a loss or a weight was no number any more. The learner is back at step "
        f"{learner.step}, where all was well; fork from there with a lower rate: {told}."
    )
    return Incident(learner.step, "numbers", sentence, settings)


def informed(objective: Objective, corpus: Corpus) -> Objective:
    """The objective with what only the whole corpus knows: its names of the labels, its table of co-occurrences."""
    objective = objective.knowing(corpus.label_names)
    if not objective.counts:
        return objective
    text, specials = corpus.ids[: corpus.held_out_from].long(), corpus.tokenizer.specials
    return objective.counting(cooccurrence(text, specials, _window(objective)))


def _window(objective: Objective) -> int:
    """How far apart the words that are counted may stand; knobs of one name are turned together, so there is one."""
    stages = (stage for chain in objective.chains for stage in chain.stages)
    return next(stage.window_size for stage in stages if isinstance(stage, ArrangeCooccurrences))


def _of_learner(run: Run, learner: TrainState) -> Run:
    """The run with the knobs that the learner began with, so that its batches are those it would have seen."""
    if learner.entry.name != run.entry.name:
        raise Refusal(f"The checkpoint holds a {learner.entry.name}, not a {run.entry.name}; name the same entry.")
    return replace(run, entry=learner.entry)
