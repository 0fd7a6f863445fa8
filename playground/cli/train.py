"""`playground train`: train an entry of the zoo, or an objective by its name."""

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from playground.cli.options import (
    KNOBS,
    MOST_AT_ONCE,
    MOST_SEEDS,
    command,
    pairs,
    parallelism,
    path,
    positive,
    say,
    training_options,
)
from playground.errors import Refusal
from playground.parsing import parse_int

COMPILE = (
    "make code of the pass and its losses with torch.compile, on CUDA as CUDA graphs where shapes stay; off unless it "
    "is asked for: on a CPU it gains 1 to 5 %% and compiles for 20 seconds or more, on CUDA nothing was measured"
)

NAMED = "GPT, BERT, XLNet, BART, ELECTRA, an objective such as NSP, or a sum of some such as 'MLM + 50 RTD'"


def add(commands: Any) -> None:
    """The options of the command."""
    train = command(commands, "train", "train an entry of the zoo", train_entry)
    train.add_argument("entry", nargs="?", help=NAMED)
    train.add_argument("--corpus", help="a generated corpus by name, or a text file")
    training_options(train)
    train.add_argument("--recipe", metavar="R", help="paper or accelerated: optimiser, positions and start together")
    train.add_argument("--seeds", type=positive(int, MOST_SEEDS), default=1, metavar="K", help="train K seeds")
    parallelism(train)
    train.add_argument(
        "--workers", type=positive(int, MOST_AT_ONCE), default=1, metavar="N", help="processes that share the seeds"
    )
    train.add_argument("--cluster", metavar="ADDRESS", help="share the seeds on a Dask cluster; local for one here")
    train.add_argument("--compile", action="store_true", help=COMPILE)
    train.add_argument("--set", action="append", default=[], metavar="KNOB=VALUE", help=KNOBS)
    train.add_argument("--resume", action="store_true", help="go on from the checkpoint in --out")
    train.add_argument("--save-every", type=positive(int), default=500, metavar="N", help="steps between checkpoints")
    train.add_argument("--fork", metavar="RUN[@STEP]", help="leave a kept run at a step; --set says what changes")
    train.add_argument("--find-rate", action="store_true", help="search for a learning rate and train nothing")
    train.add_argument("--runs", type=path, default="runs", metavar="DIR", help="the folder with the list of runs")


def train_entry(given: argparse.Namespace) -> int:
    """Train every seed, or a fork, or search for a rate."""
    from playground.training import ddp as together

    with together.group(given.device):
        if given.fork:
            runs = [_fork(given)]
        elif given.find_rate:
            return _find_rate(given)
        elif given.seeds > 1 and together.size() > 1:
            raise Refusal(f"--seeds is {given.seeds}, but torchrun shares one run; train the seeds without torchrun.")
        elif given.seeds > 1 or given.cluster:
            runs = _seeds(given, _entry(given))
        else:
            runs = [train_one(given, _entry(given), given.seed, 1)]
        if together.first():
            facts = runs[0] | ({"runs": runs} if len(runs) > 1 else {})
            say(given, facts, [line for f in runs for line in _report(f)] + _banded(facts))
    return 1 if any(f["stopped"] == "diverged" for f in runs) else 0


def _entry(given: argparse.Namespace) -> Any:
    """The entry, trained the way that is asked for, with the knobs that were set."""
    from playground.zoo import entry_named
    from playground.zoo.preset import find_preset

    if given.entry is None:
        raise Refusal("No entry is named; name one, such as BERT, or a run to fork: --fork RUN.")
    entry = entry_named(given.entry)
    entry = find_preset(given.recipe)(entry) if given.recipe else entry
    return turned(entry, pairs(given.set, "The setting"))


def turned(entry: Any, settings: dict[str, str]) -> Any:
    """The entry with its knobs turned, those of model, recipe and objective alike; no two of them share a name."""
    from dataclasses import replace

    from playground.knob import knobs, turn

    known = {"model": [k.name for k in knobs(entry.model)], "recipe": [k.name for k in knobs(entry.recipe)]}
    known["objective"] = list(entry.objective.knobs)
    for name in settings:
        if not any(name in names for names in known.values()):
            told = "; ".join(f"of the {part}: {', '.join(names) or 'none'}" for part, names in known.items())
            raise Refusal(f"{entry.name} has no knob {name!r}. It has, {told}.")
    of = {part: {name: settings[name] for name in names if name in settings} for part, names in known.items()}
    return replace(
        entry,
        model=turn(entry.model, of["model"]),
        recipe=turn(entry.recipe, of["recipe"]),
        objective=entry.objective.turn(of["objective"]),
    )


def train_one(given: argparse.Namespace, entry: Any, seed: int, seeds: int) -> dict[str, Any]:
    """Train one seed with a bar on standard error and return its facts."""
    from dataclasses import replace

    from playground.training import train
    from playground.training.parallel.seeds import lane_name, resumed

    run = _run(given, entry, seed)
    name = lane_name(run, seed) if given.out is None or seeds > 1 else ""
    run = replace(run, out=Path(given.out or "runs") / name)
    learner = resumed(run) if getattr(given, "resume", False) else None
    settings = pairs(getattr(given, "set", []), "The setting")
    return _follow(given, run, train(run, learner) if learner else _as_set(train(run), run.entry, settings), learner)


def _run(given: argparse.Namespace, entry: Any, seed: int) -> Any:
    """The run without its folder."""
    import torch

    from playground.corpora import open_corpus
    from playground.devices import doubt, pick
    from playground.training import Run, memory

    print(doubt(), end="\n" * bool(doubt()), file=sys.stderr)
    torch.set_num_threads(given.threads)
    memory.hold()
    corpus = open_corpus(given.corpus or entry.corpus)
    entry, every = _long_enough(entry, given.steps), getattr(given, "save_every", 500)
    device, code = pick(given.device), getattr(given, "compile", False)
    return Run(entry, corpus, seed, device, given.steps, given.seconds, save_every=every, compiled=code)


def _follow(given: argparse.Namespace, run: Any, events: Any, learner: Any, parent: Any = None) -> dict[str, Any]:
    """The facts of a run, whose events are written down as they pass."""
    from playground.training import ddp as together
    from playground.training.observe import replay
    from playground.training.parallel.seeds import name_in
    from playground.training.store.metrics import Summary, recorded
    from playground.training.store.runs import Runs

    summary = Summary(run)
    if together.first():
        runs = Runs(getattr(given, "runs", "runs"))
        events = recorded(run, runs.opened(events), learner.step if learner and parent is None else 0)
        events = replay.watched(run, events, _watched(given, run))
        events = _with_bar(run, runs.recorded(name_in(runs, run), run, events, parent))
    for event in events:
        summary.read(event)
    return summary.facts()


def _seeds(given: argparse.Namespace, entry: Any) -> list[dict[str, Any]]:
    """Train K seeds, in worker processes where there are several, with one bar over all."""
    from dataclasses import replace

    from tqdm import tqdm

    from playground.training.parallel.seeds import Finished, Point, bands, plan, stacks

    run = replace(_run(given, entry, given.seed), out=Path(given.out or "runs"))
    seeds = range(given.seed, given.seed + given.seeds)
    sentences = stacks(run, seeds, given.parallelism)[1], plan(run, given.workers, len(seeds))[1]
    print(*filter(None, sentences), sep="\n", end="\n" * any(sentences), file=sys.stderr)
    points: list[Point] = []
    facts: dict[int, dict[str, Any]] = {}
    total = None if run.last is None else run.last * len(seeds)
    with tqdm(total=total, desc=f"{run.entry.name}, {len(seeds)} seeds", file=sys.stderr, mininterval=0.2) as bar:
        for event in _lanes(given, run, seeds):
            if isinstance(event, Finished):
                facts[event.seed] = event.facts
            else:
                points.append(event)
                bar.update(event.row.loss is not None)
    found = [asdict(band) for band in bands(points)]
    return [facts[seed] | {"bands": found} for seed in seeds]


def _lanes(given: argparse.Namespace, run: Any, seeds: range) -> Any:
    """The events of all seeds, from this process, its workers or a cluster."""
    from playground.cluster import connected, train_on
    from playground.training.parallel.seeds import train_seeds
    from playground.training.store.runs import Runs

    runs = Runs(Path(given.runs).absolute())
    if not given.cluster:
        yield from train_seeds(run, seeds, given.workers, runs, given.resume, given.parallelism)
        return
    with connected(given.cluster) as client:
        yield from train_on(client, run, seeds, runs)


def _fork(given: argparse.Namespace) -> dict[str, Any]:
    """Leave a kept run at a step, with the knobs that were set, and train on."""
    from dataclasses import replace

    import torch

    from playground.corpora import open_corpus
    from playground.devices import pick
    from playground.training import Run, memory, train
    from playground.training.fork import corpus_of, fork
    from playground.training.store.runs import Parent, Runs

    torch.set_num_threads(given.threads)
    memory.hold()
    name, _, step = given.fork.partition("@")
    runs = Runs(given.runs)
    saved = runs.load(name, _step(name, step) if step else None, pick(given.device))
    learner = saved.learner
    corpus = open_corpus(given.corpus) if given.corpus else corpus_of(saved)
    run = Run(
        learner.entry, corpus, learner.seed, learner.device, given.steps, given.seconds, compiled=given.compile
    )  # fmt: skip
    made = fork(run, learner, pairs(given.set, "The setting"))
    called = runs.new_name(f"{Path(name).name}-fork{made.step}")
    out = Path(given.out) if given.out else Path(given.runs) / called
    run = replace(made.run, out=out)
    parent = Parent(name, made.step, made.changed)
    facts = _follow(given, run, train(run, made.learner), made.learner, parent)
    return facts | {"parent": name, "forked_at": made.step, "changed": made.changed}


def _step(name: str, step: str) -> int:
    try:
        return parse_int(step, 0)
    except ValueError as error:
        said = f"The step {step!r} is not a whole number; write the fork as RUN@STEP, such as {name}@500."
        raise Refusal(said) from error


def _find_rate(given: argparse.Namespace) -> int:
    """Search for a rate; nothing is trained and nothing is written."""
    from playground.training.lr_finder import LRFinderResult, find_rate

    *_, found = find_rate(_run(given, _entry(given), given.seed))
    assert isinstance(found, LRFinderResult)
    return say(given, asdict(found), [found.sentence])


def _watched(given: argparse.Namespace, run: Any) -> Any:
    """The sentence of the replay, where one is given."""
    from playground.training.observe.look import text_to_watch

    sentence = getattr(given, "sentence", None)
    if not sentence:
        return None
    found = text_to_watch(run.corpus, run.entry.objective, run.entry.recipe.seq_len, sentence)
    print(found.origin, file=sys.stderr)
    return found.tokens


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


def _with_bar(run: Any, events: Any) -> Any:
    """The same events, with a bar on standard error."""
    from tqdm import tqdm

    from playground.training import Evaluated, Incident, Stepped

    total = run.last or run.seconds
    with tqdm(total=total, desc=f"{run.entry.name} seed {run.seed}", file=sys.stderr, mininterval=0.2) as bar:
        for event in events:
            if isinstance(event, Stepped):
                if event.step == 1:
                    bar.unpause()  # no rate and no remaining time is told from a step that prepares all others
                    bar.write(_first_step(run, event), file=sys.stderr, end="")
                done = event.step if run.last else min(round(event.seconds, 1), total)
                bar.update(done - bar.n)
            if isinstance(event, Evaluated):
                bar.set_postfix_str(f"step {event.step}, held-out {event.held_out:.3f} nats")
            if isinstance(event, Incident):
                bar.write(event.sentence, file=sys.stderr)
            yield event


def _first_step(run: Any, event: Any) -> str:
    """What the first step of a compiled run took, apart from the steady rate; nothing where it is like the others."""
    if not run.compiled:
        return ""
    return f"The first step took {event.seconds:.1f} s, most of it to compile; the bar counts from the next one.\n"


def _report(facts: dict[str, Any]) -> list[str]:
    loss = facts["loss"]
    forked = f", from step {facts['forked_at']} of {facts['parent']} ({facts['changed']})" if "parent" in facts else ""
    return [
        f"{facts['entry']} on {facts['corpus']}, seed {facts['seed']}, {facts['device_name']}{forked}: "
        f"{facts['steps']} steps in {facts['seconds']:.1f} s, {facts['tokens_per_second']} tokens/s",
        f"  loss {_said(loss['train'])} (training), {_said(loss['held_out'])} (held out) nats per scored position; "
        f"unigram entropy of the corpus {facts['unigram_entropy']:.3f}",
        *_shares("right on held-out text", facts["accuracy"]),
        *_shares("probes, a half by chance", facts["probes"]),
        *(f"  {sentence}" for sentence in facts["troubles"]),
        f"  {facts['parameters']:,} parameters, saved in {facts['out']}",
    ]


def _shares(title: str, shares: dict[str, float]) -> list[str]:
    """A line of shares, each with its name; nothing where there are none."""
    return [f"  {title}: {', '.join(f'{name} {value:.3f}' for name, value in shares.items())}"] if shares else []


def _banded(facts: dict[str, Any]) -> list[str]:
    """The last point of the band, where several seeds were trained."""
    if not facts.get("bands"):
        return []
    last = facts["bands"][-1]
    return [f"Held out over {last['seeds']} seeds at step {last['step']}: {last['mean']:.3f} ± {last['sd']:.3f} nats"]


def _said(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
