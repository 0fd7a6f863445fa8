"""`playground train`: train an entry of the zoo, or an objective by its name."""

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, NotRequired, Unpack

import torch
from tqdm import tqdm

from playground.batch import Tokens
from playground.cli.options import (
    KNOBS,
    Parser,
    common_options,
    list_of_runs,
    number_of,
    pairs,
    parallelism,
    refuse_unused,
    say,
    training_options,
    warn,
)
from playground.corpora import Corpus, open_corpus
from playground.corpora.readers.decode import WrongEncoding
from playground.corpora.respelling import IN_WORDS
from playground.corpora.sources import ReadOptions, is_generated, name_with_tokenizer
from playground.corpora.tokenization import KINDS
from playground.devices import doubt, pick
from playground.errors import TooShort, UserError
from playground.knob import spelt
from playground.objectives.ask.loss_mask import SCORED
from playground.objectives.choose.order import OrderOverride
from playground.objectives.mask_overrides import (
    MATRICES,
    MaskOverride,
    carried,
    describe,
    from_json,
    read_cells,
    written_cells,
)
from playground.objectives.plan_overrides import parse
from playground.parsing import parse_int, parse_json
from playground.training import Evaluated, Event, Incident, PhaseStarted, Run, Started, Stepped, ddp, train
from playground.training.data import describe_left_out, windows
from playground.training.fork import describe_recipe, fork, what_changed
from playground.training.lr_finder import LRFinderResult, find_rate
from playground.training.observe.look import text_to_watch
from playground.training.own_text import corpus_of
from playground.training.parallel import seeds as parallel
from playground.training.parallel.dask_cluster import connected
from playground.training.store.metrics import LossFacts, RunFacts, Summary
from playground.training.store.runs import Parent, Runs
from playground.training.train_state import TrainState
from playground.zoo import Entry, entry_to_train
from playground.zoo.preset import find_preset


class TrainedFacts(RunFacts):
    """One trained model, with what only a fork or one of several seeds has."""

    parent: NotRequired[str]
    """The run that the fork left."""
    forked_at: NotRequired[int]
    """The step at which it left."""
    changed: NotRequired[str]
    """What is different from there on."""
    bands: NotRequired[list[parallel.Band]]


class TrainFacts(TrainedFacts):
    """A trained model; of several seeds the first."""

    runs: NotRequired[list[TrainedFacts]]
    """Every seed, where several are trained."""


FACTS = (TrainFacts, LRFinderResult)

NAME_ENCODING = " Or name its encoding, as in 'mine.txt(encoding=cp1252)'."
"""How the encoding of a text is named, for a refusal; `--encoding` does the same."""

LONGER = "as in 'mine.txt(repeat=50, mix=everyday)'"
"""How a short text is made longer, for help and for a refusal."""


def add(command: Parser) -> None:
    """The options of the command."""
    common_options(command, train_entry)
    option = command.add_argument
    option(
        "entry", nargs="?",
        help="a system of the zoo such as BERT, an objective such as NSP, or a weighted sum such as 'MLM + 50 RTD'",
    )  # fmt: skip
    option(
        "--corpus",
        help=f"a generated corpus by name, or a text file; a short file is repeated or mixed, {LONGER}",
    )  # fmt: skip
    option("--encoding", metavar="NAME", help="encoding of a file that is not UTF-8, such as cp1252")
    option("--tokenizer", metavar="KIND", help=f"how words are split: {', '.join(KINDS)}")
    option("--vocab-size", type=number_of(), metavar="N", help="maximum size of the vocabulary")
    training_options(command)
    _seed_options(command)
    _entry_options(command)
    option("--resume", action="store_true", help="resume from the checkpoint in --out")
    option("--save-every", type=number_of(), default=500, metavar="N", help="steps between checkpoints")
    option(
        "--fork", metavar="RUN[@STEP]",
        help="fork a saved run at a step; --set changes knobs, or the objective: --set objective=MLM",
    )  # fmt: skip
    option("--find-rate", action="store_true", help="search for a learning rate and train nothing")
    list_of_runs(command)


def _seed_options(command: Parser) -> None:
    """The recipe, how many seeds are trained with it, and by which processes."""
    option = command.add_argument
    option("--threads", type=number_of("processes"), default=1, metavar="N", help="1 is fastest for tiny models")
    option(
        "--recipe", metavar="R", help="preset of optimiser and schedule: paper, or fast, which changes the network too"
    )
    option("--seeds", type=number_of("seeds"), default=1, metavar="K", help="train K seeds")
    parallelism(command)
    option("--workers", type=number_of("processes"), default=1, metavar="N", help="processes that share the seeds")
    option("--cluster", metavar="ADDRESS", help="share the seeds on a Dask cluster; local for one here")


def _entry_options(command: Parser) -> None:
    """What of the entry is set by hand: its knobs, its matrices, its order of prediction."""
    option = command.add_argument
    option("--set", action="append", default=[], metavar="KNOB=VALUE", help=KNOBS)
    option(
        "--paint", action="append", default=[], metavar="MATRIX=CELLS",
        help="open and close cells of an attention mask by hand, at the same distances in every text: query=1.1+,3.2-",
    )  # fmt: skip
    option(
        "--plan", action="append", default=[], metavar="order=POSITIONS",
        help="an order of prediction by hand: with order=3,1,2 words "
        "3, 1 and 2 of every text are predicted in this order",
    )  # fmt: skip
    option("--mask-overrides", metavar="JSON", help="the same rules as JSON, as a saved run and its command hold them")


def train_entry(given: argparse.Namespace) -> int:
    """Train every seed, or a fork, or search for a learning rate."""
    _refuse_unused(given)
    with ddp.group(given.device):
        if given.fork:
            runs = [_fork(given)]
        elif given.find_rate:
            *_, found = find_rate(_run(given, _entry(given)[0]))
            assert isinstance(found, LRFinderResult)
            return say(given, found, [found.sentence])
        elif given.seeds > 1 and ddp.size() > 1:
            raise UserError(f"--seeds is {given.seeds}, but torchrun shares one run; train the seeds without torchrun.")
        elif given.seeds > 1 or given.cluster:
            runs = _train_seeds(given, _entry(given)[0])
        else:
            runs = [train_one(given, *_entry(given))]
        if ddp.first():
            facts: TrainFacts = {**runs[0]}
            if len(runs) > 1:
                facts["runs"] = runs
            say(given, facts, [line for run in runs for line in _report(run)] + _band(facts))
    return 1 if any(run["stopped"] == "diverged" for run in runs) else 0


def _refuse_unused(given: argparse.Namespace) -> None:
    """Refuse what has no part in a fork, in a search for a rate, on a cluster, or where one seed is trained."""
    several, seeds = ("workers", "parallelism"), ("seeds", "cluster", "workers", "parallelism")
    if given.fork:
        kept = ("entry", "recipe", "tokenizer", "vocab_size", "paint", "plan", "mask_overrides")
        refuse_unused(given, "a fork keeps the entry and the vocabulary of its run; --set changes knobs", *kept)
        refuse_unused(given, "a fork is one run that leaves another", "resume", "find_rate", *seeds)
    elif given.find_rate:
        runs = ("steps", "seconds", "out", "resume", "save_every", "runs")
        refuse_unused(given, "--find-rate tries 80 rates for one step each and keeps no run", *runs, *seeds)
    elif given.cluster:
        refuse_unused(given, "a cluster has its own workers, and resumes where a seed stopped", "resume", *several)
    elif given.seeds == 1:
        refuse_unused(given, "one seed is trained; --seeds K trains more", *several)


def _entry(given: argparse.Namespace) -> tuple[Entry, dict[str, str]]:
    """The entry with its recipe and the knobs that were set, and these settings."""
    if given.entry is None:
        raise UserError("No entry is named; name one, such as BERT, or a run to fork: --fork RUN.")
    rules = (*_painted(given.paint), *_ordered(given.plan), *_overrides(given.mask_overrides))
    entry = entry_to_train(given.entry).with_overrides(rules)
    if given.recipe:
        if not given.resume:
            warn(describe_recipe(entry, given.recipe))
        entry = find_preset(given.recipe)(entry)
    settings = pairs(given.set, "The setting")
    return entry.turned(settings), settings


def _overrides(text: str | None) -> tuple[MaskOverride, ...]:
    """The rules that are given as JSON."""
    try:
        rules = [] if text is None else parse_json(text)
    except ValueError as error:
        raise UserError(f"--mask-overrides is {text!r}, which is not JSON ({error}).") from error
    return from_json(rules)


def _ordered(settings: Sequence[str]) -> tuple[MaskOverride, ...]:
    """The order of prediction that is set by hand for every text, as on the Stage page."""
    plan = parse(settings)
    for key in plan.keys() - {"order"}:
        raise UserError(f"--plan sets {key}, which is for one text; in training write an order, such as order=3,1,2.")
    return tuple(OrderOverride(tuple(order)) for order in plan.values())


def _painted(settings: Sequence[str]) -> tuple[MaskOverride, ...]:
    """The rules of the matrices that are painted by hand, as on the Stage page."""
    lines = pairs(settings, "The painted matrix")
    painted = {matrix: read_cells(cells) for matrix, cells in lines.items()}
    for matrix, cells in lines.items():
        if matrix not in (*MATRICES, SCORED):
            raise UserError(f"--paint names the matrix {matrix!r}; the matrices are {', '.join((*MATRICES, SCORED))}.")
        if not cells or written_cells(painted[matrix]) != cells:
            raise UserError(f"--paint says {matrix}={cells}; write cells such as query=1.1+,3.2- (open and closed).")
    return carried(painted)


def train_one(given: argparse.Namespace, entry: Entry, settings: Mapping[str, str]) -> TrainedFacts:
    """Train one seed with a bar on standard error and return its facts; `settings` are knobs that were set by hand."""
    run = _run(given, entry)
    run = replace(run, out=Path(given.out or Path(given.runs, parallel.run_name(run, run.seed))))
    learner = _resumed(given, run) if given.resume else None
    events = train(run, learner) if learner else _check_settings(train(run), run.entry, settings)
    return _follow(given, run, events, learner)


def _resumed(given: argparse.Namespace, run: Run) -> TrainState | None:
    """The learner of a run that goes on as it began; what was typed and would change it is refused."""
    learner = parallel.resumed(run)
    if learner is not None:
        if given.steps is not None and given.steps < learner.step:
            raise UserError(
                f"--steps is {given.steps}, but the run in {run.out} has {learner.step} steps already; give more."
            )
        settings = pairs(given.set, "The setting")
        if given.steps == learner.entry.recipe.steps:  # to which the schedule was made as long
            settings.pop("steps", None)
        asked = find_preset(given.recipe)(learner.entry) if given.recipe else learner.entry
        changed = what_changed(learner.entry, asked.turned(settings))
        if changed != "nothing":
            raise UserError(
                f"The run in {run.out} resumes with the settings it began with, but --set or --recipe would change it: "
                f"{changed}. Leave them out, or fork the run: playground train --fork RUN --set KNOB=VALUE."
            )
        _say_schedule(run, learner)
    return learner


def _say_schedule(run: Run, learner: TrainState) -> None:
    """Say so where a run goes on beyond its schedule, at the lowest learning rate."""
    recipe = learner.entry.recipe
    if run.falling and run.last is not None and run.last > recipe.steps:
        print(
            f"The schedule of the run has {recipe.steps:,} steps; in those beyond, the learning rate stays at "
            f"{recipe.min_lr_ratio:.0%} of the full one. A fork changes that: --fork RUN --set steps={run.last}.",
            file=sys.stderr,
        )


def _run(given: argparse.Namespace, entry: Entry) -> Run:
    """The run without its folder; a schedule shorter than the run is made as long."""
    warn(doubt())
    torch.set_num_threads(given.threads)
    corpus = _opened(_corpus_name(given, entry))
    if given.steps is not None and given.steps > entry.recipe.steps:  # a long run shall not end at the lowest rate
        entry = replace(entry, recipe=replace(entry.recipe, steps=given.steps))
    return Run(
        entry, corpus, given.seed, pick(given.device), given.steps, given.seconds,
        save_every=given.save_every,
    )  # fmt: skip


def _opened(name: str, **reading: Unpack[ReadOptions]) -> Corpus:
    """A corpus, whose notice is printed; a refusal says what this command can do about it."""
    try:
        corpus = open_corpus(name, **reading)
    except TooShort as short:
        raise UserError(f"{short} Repeat it or mix it, {LONGER}.") from short
    except WrongEncoding as wrong:
        raise UserError(f"{wrong}{(not wrong.named) * NAME_ENCODING}") from wrong
    warn(corpus.notice)
    return corpus


def _corpus_name(given: argparse.Namespace, entry: Entry) -> str:
    """The corpus with the tokenizer that was chosen for it, of which its name tells."""
    name, options = given.corpus or entry.corpus, ("tokenizer", "vocab_size", "encoding")
    chosen = {option: getattr(given, option, None) for option in options}
    chosen = {option: value for option, value in chosen.items() if value is not None}
    said = {} if os.path.exists(name) else spelt(name)[1]
    if twice := next(
        (option for option in chosen if said.get(option, str(chosen[option])) != str(chosen[option])), None
    ):
        shown = f"--{twice.replace('_', '-')} is {chosen[twice]}"
        raise UserError(f"{shown}, but --corpus says {twice}={said[twice]}; say it once.")
    kind = {**said, **chosen}.get("tokenizer", "auto")
    if kind == "auto" or (kind == "words" and is_generated(name)):
        refuse_unused(given, "the text decides the vocabulary size; name another --tokenizer", "vocab_size")
        if "vocab_size" in said:
            raise UserError(f"{name} sets vocab_size, but the text decides the vocabulary size; set tokenizer, too.")
    return name_with_tokenizer(name, chosen)


def _follow(
    given: argparse.Namespace,
    run: Run,
    events: Iterable[Event],
    learner: TrainState | None,
    parent: Parent | None = None,
) -> TrainedFacts:
    """Train to the end, write the run down, and return its facts."""
    summary = Summary(run)
    if ddp.first():
        runs, text = Runs(given.runs), _probe_text(given, run)
        events = _with_bar(run, parallel.followed(run, events, learner, runs, parent, replayed=True, text=text))
    for event in events:
        summary.read(event)
    return {**summary.facts()}


def _train_seeds(given: argparse.Namespace, entry: Entry) -> list[TrainedFacts]:
    """Train K seeds, in worker processes where there are several, with one bar over all."""
    if given.threads > 1 and (given.workers > 1 or given.cluster):
        raise UserError(f"--threads is {given.threads}, but the workers of several seeds have one each; leave it out.")
    run = replace(_run(given, entry), out=Path(given.out or given.runs))
    if given.cluster and given.device == "auto":
        run = replace(run, device=pick("cpu"))  # workers may have no GPU
    reads = entry.objective.needs, entry.continues
    windows(run.corpus, entry.recipe.seq_len, "held_out", given.seed, *reads)  # a text that lacks them leaves no folder
    seeds = range(given.seed, given.seed + given.seeds)
    for seed in seeds if given.resume or given.cluster else ():
        out = Path(given.out or given.runs, parallel.run_name(run, seed))
        if out.exists():
            _resumed(given, replace(run, seed=seed, out=out))
    notices = parallel.stacks(run, seeds, given.parallelism)[1], parallel.plan(run, given.workers, len(seeds))[1]
    warn(*notices, *describe_left_out(run.corpus, run.entry))
    points: list[parallel.Point] = []
    facts: dict[int, RunFacts] = {}
    total = None if run.last is None else run.last * len(seeds)
    with tqdm(total=total, desc=f"{run.entry.name}, {len(seeds)} seeds", file=sys.stderr, mininterval=0.2) as bar:
        for event in _events_of_seeds(given, run, seeds):
            if isinstance(event, parallel.Finished):
                facts[event.seed] = event.facts
            else:
                points.append(event)
                bar.update(event.row.loss is not None)
    bands = [*parallel.bands(points)]
    return [{**facts[seed], "bands": bands} for seed in seeds]


def _events_of_seeds(given: argparse.Namespace, run: Run, seeds: range) -> Iterator[parallel.Point | parallel.Finished]:
    """The events of all seeds, from this process, its workers or a cluster."""
    ways = given.workers, Runs(Path(given.runs).absolute()), given.resume, given.parallelism
    with connected(given.cluster) if given.cluster else nullcontext() as executor:
        yield from parallel.train_seeds(run, seeds, *ways, executor=executor)


def _fork(given: argparse.Namespace) -> TrainedFacts:
    """Leave a kept run at a step, with the knobs that were set, and train on."""
    torch.set_num_threads(given.threads)
    name, _, step = given.fork.partition("@")
    runs = Runs(given.runs)
    try:
        number = parse_int(step, 0) if step else None
    except ValueError as error:
        raise UserError(f"The step {step!r} is not a whole number; write RUN@STEP, such as {name}@500.") from error
    saved = runs.load(name, number, pick(given.device))
    learner, entry = saved.learner, saved.learner.entry
    if not given.corpus:
        refuse_unused(given, "the fork continues with the text of its run; name another with --corpus", "encoding")
    reading: ReadOptions = {"encoding": given.encoding} if given.encoding else {}
    corpus = _opened(given.corpus, **reading) if given.corpus else corpus_of(saved)
    if corpus.tokenizer.words != saved.tokenizer.words:
        if kept := spelt(given.corpus or "")[1].keys() & {"tokenizer", "vocab_size"}:
            raise UserError(f"--corpus sets {min(kept)}, but a fork keeps the vocabulary of its run; leave it out.")
        corpus = open_corpus(given.corpus, tokenizer=saved.tokenizer, **reading)
        corpus = replace(corpus, name=f"{corpus.name}{IN_WORDS}{name}")
    run = Run(
        entry, corpus, learner.seed, learner.device, given.steps, given.seconds, save_every=given.save_every
    )  # fmt: skip
    settings = pairs(given.set, "The setting") | ({"seed": given.seed} if "seed" in given.typed else {})
    made = fork(run, learner, settings)
    _say_schedule(made.run, made.learner)
    others = {"seed": (learner.seed, made.run.seed), "corpus": (saved.corpus.name, corpus.name)}
    changed = what_changed(entry, made.run.entry, others, made.fresh)
    out = Path(given.out or Path(given.runs, runs.new_name(f"{Path(name).name}-fork{made.step}")))
    run, parent = replace(made.run, out=out), Parent(name, made.step, changed)
    facts = _follow(given, run, train(run, made.learner), made.learner, parent)
    return {**facts, "parent": name, "forked_at": made.step, "changed": changed}


def _probe_text(given: argparse.Namespace, run: Run) -> Tokens | None:
    """The typed sentence that the replay watches, or the text in its place."""
    if not given.sentence:
        return None
    text, origin = text_to_watch(run.corpus, run.entry.watched, run.entry.recipe.seq_len, given.sentence)
    print(origin, file=sys.stderr)
    return text


def _check_settings(events: Iterable[Event], entry: Entry, settings: Mapping[str, str]) -> Iterator[Event]:
    """The same events; a part of the model that was switched off by hand, but that the objective needs, is refused."""
    for event in events:
        if isinstance(event, Started):
            made = event.learner.entry.model
            for name in (k for k in settings if getattr(made, k, None) != getattr(entry.model, k, None)):
                chosen, needed = getattr(entry.model, name), getattr(made, name)
                raise UserError(
                    f"{name} is {chosen}, but {entry.objective.name} needs {needed}; leave this setting out."
                )
        yield event


def _with_bar(run: Run, events: Iterable[Any]) -> Iterator[Any]:
    """The same events, with a bar on standard error."""
    total, entry = run.last or run.seconds, run.entry
    with tqdm(total=total, desc=f"{run.entry.name} seed {run.seed}", file=sys.stderr, mininterval=0.2) as bar:
        for event in events:
            if isinstance(event, Started):
                entry = event.learner.entry
                for sentence in describe_left_out(run.corpus, entry):
                    bar.write(sentence, file=sys.stderr)
            if isinstance(event, Stepped):
                if event.step == 1:
                    bar.unpause()  # the first step prepares all others, so the rate is counted from the second one
                done = event.step if run.last else min(round(event.seconds, 1), run.seconds or 0.0)
                bar.update(done - bar.n)
            if isinstance(event, PhaseStarted):
                phases = len(run.entry.all_phases)
                bar.write(
                    f"Phase {event.number + 1} of {phases}, {event.name}: {event.objective} on {event.corpus}.",
                    file=sys.stderr,
                )
            if isinstance(event, Evaluated):
                unit = entry.unit(next(iter(event.terms)))
                bar.set_postfix_str(f"step {event.step}, held-out {event.held_out:.3f} {unit}")
            if isinstance(event, Incident):
                bar.write(event.sentence, file=sys.stderr)
            yield event


def _report(facts: TrainedFacts) -> list[str]:
    loss, forked = facts["loss"], ""
    if "parent" in facts and "forked_at" in facts and "changed" in facts:
        forked = f", from step {facts['forked_at']} of {facts['parent']} ({facts['changed']})"
    by_hand = describe(from_json(facts["mask_overrides"]))
    return [
        f"{facts['entry']} on {facts['corpus']}, seed {facts['seed']}, {facts['device_name']}{forked}: "
        f"{facts['steps']} steps in {facts['seconds']:.1f} s, {facts['tokens_per_second']} tokens/s",
        f"  loss {_number(loss['train'])} (training), {_number(loss['held_out'])} (held out) {loss['unit']}; "
        f"unigram entropy of the corpus {facts['unigram_entropy']:.3f} nats",
        *([f"  {by_hand}"] if by_hand else []),
        *_each_loss(facts["losses"]),
        *_shares("right on held-out text", facts["accuracy"]),
        *(f"  {name} {value:.1f} (held out)" for name, value in facts["gauges"].items()),
        *_shares("probes, a half by chance", facts["probes"]),
        *(f"  {sentence}" for sentence in facts["troubles"]),
        f"  {facts['parameters']:,} parameters, saved in {facts['out']}",
    ]


def _each_loss(losses: Mapping[str, LossFacts]) -> list[str]:
    """A line for each of several targets."""
    each = [
        f"  {name}: {_number(loss['train'])}, {_number(loss['held_out'])} {loss['unit']}"
        for name, loss in losses.items()
    ]
    return each if len(each) > 1 else []


def _shares(title: str, shares: dict[str, float]) -> list[str]:
    return [f"  {title}: {', '.join(f'{name} {value:.3f}' for name, value in shares.items())}"] if shares else []


def _band(facts: TrainedFacts) -> list[str]:
    """The last point of the band, where several seeds were trained."""
    return [
        f"Held out over {last.seeds} seeds at step {last.step}: {last.mean:.3f} ± {last.sd:.3f} {facts['loss']['unit']}"
        for last in facts.get("bands", [])[-1:]
    ]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
