"""`playground train`: train an entry of the zoo, or an objective by its name."""

import argparse
import sys
from pathlib import Path
from typing import Any

from playground.cli.options import command, pairs, positive, say, training_options
from playground.refusal import Refusal


def add(commands: Any) -> None:
    """The options of the command."""
    train = command(commands, "train", "train an entry of the zoo", train_entry)
    train.add_argument("entry", help="GPT, BERT, XLNet, BART, ELECTRA, or an objective such as NSP")
    train.add_argument("--corpus", help="a generated corpus by name, or a text file")
    training_options(train)
    train.add_argument("--seeds", type=positive(int), default=1, metavar="K", help="train K seeds, one after another")
    train.add_argument("--set", action="append", default=[], metavar="KNOB=VALUE", help="a knob of model or recipe")
    train.add_argument("--resume", action="store_true", help="go on from the checkpoint in --out")


def train_entry(given: argparse.Namespace) -> int:
    """Train every seed."""
    from playground.zoo import entry_named

    entry = turned(entry_named(given.entry), pairs(given.set, "The setting"))
    runs = [train_one(given, entry, given.seed + k, given.seeds) for k in range(given.seeds)]
    facts = runs[0] | ({"runs": runs} if len(runs) > 1 else {})
    lines = [line for f in runs for line in _report(f)]
    say(given, facts, lines)
    return 1 if any(f["stopped"] == "diverged" for f in runs) else 0


def turned(entry: Any, settings: dict[str, str]) -> Any:
    """The entry with its knobs turned, those of model, recipe and objective alike."""
    from dataclasses import replace

    from playground.knob import knobs, turn

    model = {k.name for k in knobs(entry.model)} & set(settings)
    recipe = {k.name for k in knobs(entry.recipe)} & set(settings)
    rest = {k: v for k, v in settings.items() if k not in model | recipe}
    return replace(
        entry,
        model=turn(entry.model, {k: settings[k] for k in model}),
        recipe=turn(entry.recipe, {k: settings[k] for k in recipe}),
        objective=entry.objective.turn(rest),
    )


def train_one(given: argparse.Namespace, entry: Any, seed: int, seeds: int) -> dict[str, Any]:
    """Train one seed with a bar on standard error and return its facts."""
    import torch

    from playground.corpora import open_corpus
    from playground.devices import pick
    from playground.training import Run, moments, train
    from playground.training.record import Summary, recorded

    torch.set_num_threads(given.threads)
    device = pick(given.device)
    corpus = open_corpus(given.corpus or entry.corpus)
    entry = _long_enough(entry, given.steps)
    name = f"{entry.name}-{Path(corpus.name).stem}-seed{seed}".replace(" ", "_")
    out = Path(given.out or "runs") / (name if given.out is None or seeds > 1 else "")
    run = Run(entry, corpus, seed, device, given.steps, given.seconds, out)
    learner = _resumed(run) if getattr(given, "resume", False) else None
    summary = Summary(run)
    events = (
        train(run, learner) if learner else _as_set(train(run), entry, pairs(getattr(given, "set", []), "The setting"))
    )
    events = moments.watched(run, recorded(run, events, learner.step if learner else 0), _watched(given, corpus))
    for event in _with_bar(run, events):
        summary.read(event)
    return summary.facts()


def _watched(given: argparse.Namespace, corpus: Any) -> Any:
    """The sentence of the replay, where one is given."""
    from playground.analysis.glance import sentence_from

    sentence = getattr(given, "sentence", None)
    return sentence_from(sentence, corpus.tokenizer) if sentence else None


def _as_set(events: Any, entry: Any, settings: dict[str, str]) -> Any:
    """The same events; a part that was switched off by hand is not put back in silence where the objective needs it."""
    from playground.training import Started

    for event in events:
        if isinstance(event, Started):
            made = event.learner.entry.model
            for name in (k for k in settings if getattr(made, k, None) != getattr(entry.model, k, None)):
                wanted, needed = getattr(entry.model, name), getattr(made, name)
                raise Refusal(f"{name} is {wanted}, but {entry.objective.name} needs {needed}; leave this setting out.")
        yield event


def _long_enough(entry: Any, steps: int | None) -> Any:
    """The entry with a schedule that lasts as long as the run, so that a long run does not end at the lowest rate."""
    from dataclasses import replace

    if steps is None or steps <= entry.recipe.steps:
        return entry
    return replace(entry, recipe=replace(entry.recipe, steps=steps))


def _resumed(run: Any) -> Any:
    from playground.training import checkpoint

    saved = checkpoint.load(run.out, run.device)
    if saved.corpus.hash != run.corpus.hash:
        raise Refusal(
            f"The run in {run.out} was trained on other text (content {saved.corpus.hash[:8]}, not "
            f"{run.corpus.hash[:8]}); give the same corpus to go on."
        )
    if saved.learner.seed != run.seed:
        raise Refusal(
            f"The run in {run.out} has seed {saved.learner.seed}, not {run.seed}; give the same seed to go on."
        )
    return saved.learner


def _with_bar(run: Any, events: Any) -> Any:
    """The same events, with a bar on standard error."""
    from tqdm import tqdm

    from playground.training import Evaluated, Stepped

    total = run.last or run.seconds
    with tqdm(total=total, desc=f"{run.entry.name} seed {run.seed}", file=sys.stderr, mininterval=0.2) as bar:
        for event in events:
            if isinstance(event, Stepped):
                done = event.step if run.last else min(round(event.seconds, 1), total)
                bar.update(done - bar.n)
            if isinstance(event, Evaluated):
                bar.set_postfix_str(f"step {event.step}, held-out {event.held_out:.3f} nats")
            yield event


def _report(facts: dict[str, Any]) -> list[str]:
    loss = facts["loss"]
    return [
        f"{facts['entry']} on {facts['corpus']}, seed {facts['seed']}, {facts['device']}: {facts['steps']} steps in "
        f"{facts['seconds']:.1f} s, {facts['tokens_per_second']} tokens/s",
        f"  loss {_said(loss['train'])} (training), {_said(loss['held_out'])} (held out) nats per graded position; "
        f"unigram entropy of the corpus {facts['unigram_entropy']:.3f}",
        f"  saved in {facts['out']}",
    ]


def _said(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
