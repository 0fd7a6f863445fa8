"""The state of one person's visit; pages read it and turn it, nothing else keeps state."""

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import param

from playground.analysis.glance import Glance, glance, sentence_from, sentence_of
from playground.corpora import Corpus, from_pasted, open_corpus, read_text_file
from playground.devices import pick
from playground.finetuning import FIRST_CHOICE, Comparison, Lane, compare, find_strategy, find_task
from playground.finetuning.tune import Base, Outcome, Setting, Tuned
from playground.objectives import find_objective
from playground.objectives.rebuild import SENTENCE, rebuild
from playground.objectives.wishes import parse, write
from playground.refusal import Refusal
from playground.training import Run, Session, background
from playground.training.feed import Feed
from playground.training.learner import Learner
from playground.zoo import find_entry

LONGEST_TEXT = 2_000
"""Characters of a sentence on the stage."""

LONGEST_PASTE = 2_000_000
"""Characters of a pasted corpus."""

SECONDS = {
    "pair": (SENTENCE, "We will walk home together"),
    "translation": ("How are you", "Comment vas-tu"),
}
"""The two texts with which an objective opens, by what it needs; the translations are the survey's."""

OWN_TEXT, OWN_FILE = "my own text", "my own file"


def _ours(name: str) -> set[str]:
    """The texts ("text") or second texts ("pair") that the playground itself offers."""
    texts, pairs = zip(*SECONDS.values(), (SENTENCE, ""), strict=True)
    return set(texts if name == "text" else pairs)


class StageStore(param.Parameterized):
    """What is on the stage: an objective, a text, a seed, knobs and a plan by hand, and what they rebuild to."""

    objective = param.String("MLM")
    text = param.String(SENTENCE)
    pair = param.String("")
    seed = param.Integer(0)
    settings = param.Dict({})
    plan = param.String("")
    rebuilt = param.Parameter(None)
    trouble = param.String("")

    def __init__(self, **values: Any) -> None:
        self._opening = False
        super().__init__(**values)
        self._other_objective()

    @param.depends("objective", watch=True)
    def _other_objective(self) -> None:
        """A new objective begins with its row of the survey's table, where the text is the survey's."""
        try:
            printed = self._printed()
        except Refusal as refusal:
            self.param.update(objective="MLM", trouble=str(refusal))
            return
        texts = self._texts()
        plan = printed if self.text.strip() in _ours("text") else ""
        self._opening = True
        self.param.update(**texts, settings={}, plan=plan)
        self._opening = False
        self.renew()

    @property
    def paired(self) -> bool:
        """Whether the objective asks for a second text."""
        return bool(set(SECONDS) & set(find_objective(self.objective).needs))

    def _texts(self) -> dict[str, str]:
        """The texts that fit the objective: what the person typed stays, one of ours gives way to the right one."""
        need = next((n for n in find_objective(self.objective).needs if n in SECONDS), "")
        right = dict(zip(("text", "pair"), SECONDS.get(need, (SENTENCE, "")), strict=True))
        return {
            name: words if getattr(self, name).strip() in _ours(name) else getattr(self, name)
            for name, words in right.items()
        }

    @param.depends("text", "pair", "seed", "settings", watch=True)
    def _other_chance(self) -> None:
        """The printed plan belongs to the printed row; whoever turns something else wants to see it act."""
        if self._opening:
            return
        if self.plan and self.plan == self._printed():
            self.plan = ""
        else:
            self.renew()

    def _printed(self) -> str:
        return write(find_objective(self.objective).printed.plan)

    @param.depends("plan", watch=True)
    def renew(self) -> None:
        """Rebuild the text; what cannot be is a sentence, and the last good picture stays."""
        if self._opening:
            return
        try:
            wanted = parse([p for p in self.plan.replace(";", " ").split() if p])
            made = rebuild(
                self.objective,
                self.text[:LONGEST_TEXT],
                pair=self.pair[:LONGEST_TEXT] if self.paired else "",
                seed=self.seed,
                settings=self.settings,
                wanted=wanted,
            )
        except Refusal as refusal:
            self.trouble = str(refusal)
            return
        self.param.update(rebuilt=made, trouble="")


class TrainStore(param.Parameterized):
    """A run and everything that is chosen for it."""

    entry = param.String("BERT")
    corpus = param.String("world")
    pasted = param.String("")
    upload = param.Parameter(None)
    sentence = param.String("")
    seed = param.Integer(0)
    steps = param.Integer(1000)
    device = param.String("auto")
    session = param.Parameter(None)
    trouble = param.String("")

    def load_corpus(self) -> Corpus:
        """The corpus that is chosen, or a refusal in a sentence."""
        if self.corpus == OWN_TEXT:
            return from_pasted(self.pasted[:LONGEST_PASTE])
        if self.corpus == OWN_FILE:
            if self.upload is None:
                raise Refusal("No file is chosen yet; choose a .txt file first.")
            return read_text_file(self.upload)
        return open_corpus(self.corpus)

    def begin(self) -> Session | None:
        """A fresh session for the choices, not yet started; trouble is a sentence and keeps the old session."""
        try:
            corpus = self.load_corpus()
            run = Run(find_entry(self.entry), corpus, self.seed, pick(self.device), steps=self.steps, evaluate_every=25)
            run = replace(run, entry=replace(run.entry, recipe=replace(run.entry.recipe, steps=self.steps)))
            Feed.of(corpus, run.entry.recipe.window, run.entry.recipe.batch, self.seed, run.device)
            watched = sentence_from(self.sentence, corpus.tokenizer) if self.sentence.strip() else sentence_of(corpus)
        except Refusal as refusal:
            self.trouble = str(refusal)
            return None
        self.end()

        def look(learner: Learner) -> Glance:
            return glance(learner.model, learner.objective, learner.step, watched)

        self.param.update(session=Session(run, look), trouble="")
        return self.session

    def end(self) -> None:
        """Stop the run that is there, if any."""
        if self.session is not None:
            self.session.stop()


class TransferStore(param.Parameterized):
    """A comparison of strategies and how far it is."""

    task = param.String("sentiment")
    chosen = param.List([])
    labels = param.Integer(64)
    seeds = param.Integer(3)
    steps = param.Integer(80)
    trouble = param.String("")

    def __init__(self, **values: Any) -> None:
        super().__init__(**{"chosen": list(FIRST_CHOICE), **values})
        self.events: list[Lane | Comparison] = []
        self.state = "ready"
        self.base_name = ""
        self._halt = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, session: Session | None) -> bool:
        """Start comparing from the model of a session; False, with the reason in `trouble`, where that cannot be."""
        try:
            base, tokenizer = base_of(session)
            chosen = [find_strategy(name) for name in self.chosen]
            if not chosen:
                raise Refusal("No strategy is chosen; choose at least one.")
            task = find_task(self.task)
            task.load(tokenizer, self.labels, 0, "train")
        except Refusal as refusal:
            self.trouble = str(refusal)
            return False
        self.end()
        self.trouble, self.events, self.state = "", [], "running"
        self.base_name = f"{base.learner.entry.name} after {base.learner.step} steps on {session.run.corpus.name}"
        self._halt.clear()
        lanes = compare(
            base, tokenizer, task, chosen, labels=self.labels, seeds=self.seeds, setting=Setting(steps=self.steps)
        )
        self._thread = background.thread(lambda: self._work(lanes), self._halt, "compare")
        self._thread.start()
        return True

    def end(self) -> None:
        """Stop the comparison that is running, if any."""
        self._halt.set()
        if self._thread is not None and self._thread.is_alive():
            self._thread.join(5.0)

    def _work(self, lanes: Any) -> None:
        try:
            for event in lanes:
                self.events.append(event)
                if self._halt.is_set():
                    self.state = "stopped"
                    return
            self.state = "done"
        except Exception as error:  # a thread that dies silently would leave a screen that waits for ever
            self.trouble, self.state = f"The comparison stopped: {error}", "failed"

    def values(self, what: str) -> dict[str, list[float]]:
        """Accuracy or forgetting of every finished lane, by strategy."""
        found: dict[str, list[float]] = {name: [] for name in self.chosen}
        for event in list(self.events):
            if isinstance(event, Lane) and isinstance(event.event, Outcome):
                found.setdefault(event.strategy.name, []).append(getattr(event.event, what))
        return found

    @property
    def done_share(self) -> float:
        """How much of all the steps is done, 0 to 1."""
        steps = sum(isinstance(e, Lane) and isinstance(e.event, Tuned) for e in list(self.events))
        return steps / max(1, len(self.chosen) * self.seeds * self.steps)

    @property
    def result(self) -> Comparison | None:
        """The finished comparison."""
        last = self.events[-1] if self.events else None
        return last if isinstance(last, Comparison) else None


def base_of(session: Session | None) -> tuple[Base, Any]:
    """The model of a session that rests, with its held-out text; a run that goes on is paused first."""
    if session is None or session.learner is None or session.learner.step == 0:
        raise Refusal("There is no trained model yet; train one on the Train page, or press 'Train one here'.")
    if session.state == "running":
        session.rest()
    run = session.run
    feed = Feed.of(run.corpus, run.entry.recipe.window, run.entry.recipe.batch, run.seed, run.device)
    return Base(session.learner, feed.evaluation(), lambda: feed.windows), run.corpus.tokenizer


class Store(param.Parameterized):
    """One visit: which page is open, and the stores of the pages."""

    page = param.Integer(0)

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        self.stage, self.train, self.transfer = StageStore(), TrainStore(), TransferStore()

    def close(self) -> None:
        """End everything that runs and remove what was uploaded."""
        self.train.end()
        self.transfer.end()
        if self.train.upload is not None:
            Path(self.train.upload).unlink(missing_ok=True)
