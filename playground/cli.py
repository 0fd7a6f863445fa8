"""The command line: every command prints for people, or one JSON object with `--json`.

Exit status 0 done, 1 the run failed, 2 the arguments are wrong (one sentence on standard error).
"""

import argparse
import json
import math
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from playground import __version__
from playground.refusal import Refusal

SENTENCE = "I am happy to join with you today"


class Parser(argparse.ArgumentParser):
    """An argument parser that refuses in one sentence."""

    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: {message}. See `{self.prog} --help`.", file=sys.stderr)
        raise SystemExit(2)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    given = parser().parse_args(arguments)
    try:
        return given.run(given)
    except Refusal as refusal:
        print(str(refusal), file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 1


def parser() -> Parser:
    """All commands with their options."""
    top = Parser(prog="playground", description="Pre-training objectives and tiny models, to see and to train.")
    top.add_argument("--version", action="version", version=__version__)
    commands = top.add_subparsers(dest="command", required=True, parser_class=Parser)

    app = commands.add_parser("app", help="serve the playground on this machine")
    app.add_argument("--port", type=int, default=5006, metavar="N", help="0 takes any free port")
    app.add_argument("--no-browser", action="store_true", help="do not open a browser")
    app.set_defaults(run=serve)

    objective = _command(commands, "objective", "one objective on one text", show_objective)
    objective.add_argument(
        "name", help="LM, MLM, PLM, span mask, T5 spans, BART infilling, sentence shuffling, RTD ..."
    )
    _text(objective)
    objective.add_argument("--set", action="append", default=[], metavar="KNOB=VALUE", help="turn a knob")
    objective.add_argument(
        "--plan", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help="a plan by hand, or @FILE"
    )

    table = _command(commands, "table", "the survey's input/target table for a text", show_table)
    _text(table)
    table.set_defaults(seed=None)
    table.add_argument("--plan", nargs="+", action="extend", default=[], metavar="ROW:KEY=VALUE", help="a row's plan")

    train = _command(commands, "train", "train an entry of the zoo", train_entry)
    train.add_argument("entry", help="GPT, BERT, XLNet, BART, ELECTRA, or an objective such as NSP")
    train.add_argument("--corpus", help="a generated corpus by name, or a text file")
    _training(train)
    train.add_argument("--seeds", type=_positive(int), default=1, metavar="K", help="train K seeds, one after another")
    train.add_argument("--set", action="append", default=[], metavar="KNOB=VALUE", help="a knob of model or recipe")
    train.add_argument("--resume", action="store_true", help="go on from the checkpoint in --out")

    compare = _command(commands, "compare", "fine-tuning strategies side by side", compare_strategies)
    compare.add_argument("base", metavar="RUN|ENTRY", help="the folder of a run, or an entry to train first")
    compare.add_argument("--task", default="sentiment")
    compare.add_argument("--strategies", default="feature-based,full,gradual unfreezing", metavar="a,b,c")
    compare.add_argument("--labels", type=_positive(int), default=64, metavar="N")
    compare.add_argument("--seeds", type=_positive(int), default=3, metavar="K")
    compare.add_argument("--tuning-steps", type=_positive(int), default=80, metavar="N", help="steps of each lane")
    compare.add_argument("--workers", type=_positive(int), default=1, metavar="N", help="processes for the lanes")
    compare.add_argument("--corpus", help="the corpus of an entry that is trained first")
    _training(compare)

    zoo = _command(commands, "zoo", "what there is", show_zoo)
    zoo.add_argument("name", nargs="?", help="one entry")
    return top


def _command(commands: Any, name: str, help_text: str, run: Callable[[argparse.Namespace], int]) -> Parser:
    made = commands.add_parser(name, help=help_text, description=help_text)
    made.add_argument("--json", action="store_true", help="one JSON object on standard output and nothing else")
    made.add_argument("--seed", type=int, default=0, metavar="N")
    made.set_defaults(run=run)
    return made


def _text(command: Parser) -> None:
    command.add_argument("--text", help=f"default: {SENTENCE!r}")
    command.add_argument("--file", help="read the text from a file")
    command.add_argument("--pair", default="", metavar="T2", help="the second text of NSP, SOP, TLM ...")


def _training(command: Parser) -> None:
    command.add_argument("--steps", type=_positive(int), metavar="N")
    command.add_argument("--seconds", type=_positive(float), metavar="N")
    command.add_argument("--device", default="auto", metavar="D", help="auto, cpu or cuda")
    command.add_argument("--threads", type=_positive(int), default=1, metavar="N", help="1 is fastest for tiny models")
    command.add_argument("--out", metavar="DIR", help="folder for checkpoint and metrics")


def _positive(kind: type) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = 0
        if not 0 < value < math.inf:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
        return value

    return read


def _say(given: argparse.Namespace, facts: dict[str, Any], lines: Sequence[str]) -> int:
    print(json.dumps(_finite(facts), ensure_ascii=False) if given.json else "\n".join(lines))
    return 0


def _finite(value: Any) -> Any:
    """The same with null for what is not a number: strict readers of JSON know no NaN."""
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _pairs(settings: Sequence[str], what: str) -> dict[str, str]:
    for setting in settings:
        if "=" not in setting:
            raise Refusal(f"{what} {setting!r} has no '='; write it as name=value.")
    return {name.strip(): value.strip() for name, _, value in (s.partition("=") for s in settings)}


def _plan(settings: Sequence[str]) -> dict[str, Any]:
    """A plan as typed, or from files named with a leading @: what `--json` printed, or its `plan` alone."""
    typed = [s for s in settings if not s.startswith("@")]
    plan: dict[str, Any] = {}
    for name in (s[1:] for s in settings if s.startswith("@")):
        plan |= _saved_plan(Path(name))
    return plan | _pairs(typed, "The plan")


def _saved_plan(path: Path) -> dict[str, Any]:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        plan = kept.get("plan", kept)
        return {str(key): value for key, value in plan.items()}
    except OSError as error:
        raise Refusal(f"The plan {path} could not be read: {error.strerror}.") from error
    except (ValueError, AttributeError) as error:
        raise Refusal(f'{path} holds no plan; it must be JSON such as {{"chosen": [3, 8]}}.') from error


def _given_text(given: argparse.Namespace) -> str:
    if given.file is None:
        typed = given.text if isinstance(given.text, str | None) else "--"  # argparse turns a lone "--" into a list
        return SENTENCE if typed is None else typed
    from playground.corpora.text import read_whole

    return read_whole(Path(given.file))


def serve(given: argparse.Namespace) -> int:
    """`playground app`"""
    import importlib

    return importlib.import_module("widgets.server").serve(given.port, browser=not given.no_browser)


def show_objective(given: argparse.Namespace) -> int:
    """`playground objective`"""
    from playground.objectives.objective import Printed, find_objective
    from playground.objectives.rebuild import rebuild

    settings, plan = _pairs(given.set, "The setting"), _plan(given.plan)
    own = find_objective(given.name).printed if given.text is None and given.file is None else Printed()
    text, pair = own.text or _given_text(given), given.pair or own.pair
    rebuilt = rebuild(given.name, text, pair=pair, seed=given.seed, settings=settings, wanted=plan)
    facts = rebuilt.facts()
    lines = [
        f"{facts['objective']}: {rebuilt.objective.idea}",
        f"  inputs   {' '.join(facts['inputs'])}",
        *([f"  decoder  {' '.join(facts['decoder_inputs'])}"] if facts["decoder_inputs"] else []),
        f"  targets  {facts['survey']['targets']}",
        f"  graded   {sum(facts['graded'])} of {len(facts['graded'])} positions",
        f"  plan     {json.dumps(facts['plan'], ensure_ascii=False)}   (seed {given.seed})",
        *_drawn(facts["visible"]),
        f"  leak     {facts['leak_detail']['sentence']}",
    ]
    return _say(given, facts, [*lines, *([f"  note     {facts['notice']}"] if facts["notice"] else [])])


def _drawn(visible: dict[str, list[list[int]]]) -> list[str]:
    lines = []
    for name, rows in visible.items():
        drawn = ["".join(" ■" if cell else " ·" for cell in row) for row in rows]
        lines += [f"  {name if i == 0 else '':<8}{line}" for i, line in enumerate(drawn)]
    return lines


def show_table(given: argparse.Namespace) -> int:
    """`playground table`"""
    from playground.objectives.rebuild import table

    text = _given_text(given)
    done, refused = table(text, given.seed, _plans(given.plan), given.pair)
    rows = [r.facts() for r in done]
    left_out = [{"row": o.row, "objective": o.name, "reason": reason} for o, reason in refused]
    width = max(len(r["survey"]["inputs"]) for r in rows) if rows else 0
    lines = [f"{r['row']:<20} {r['survey']['inputs']:<{width}}  ->  {r['survey']['targets']}" for r in rows]
    lines += [f"{o['row']:<20} left out: {o['reason']}" for o in left_out]
    return _say(given, {"text": text, "seed": given.seed or 0, "rows": rows, "left_out": left_out}, lines)


def _plans(settings: Sequence[str]) -> dict[str, dict[str, str]]:
    """`MLM:chosen=3,8` for one row; a plan without a row holds for every row that has its key."""
    plans: dict[str, dict[str, str]] = {}
    for setting in settings:
        _pairs([setting], "The plan")
        found = re.fullmatch(r"(?:([^=]*):)?(\w+)=(.*)", setting.strip(), re.DOTALL)
        if not found:
            raise Refusal(f"The plan {setting!r} is not understood; write it as row:key=value, such as MLM:chosen=3,8.")
        plans.setdefault(found[1] or "", {})[found[2]] = found[3]
    return plans


def train_entry(given: argparse.Namespace) -> int:
    """`playground train`"""
    from playground.zoo import entry_named

    entry = _turned(entry_named(given.entry), _pairs(given.set, "The setting"))
    runs = [_train(given, entry, given.seed + k, given.seeds) for k in range(given.seeds)]
    facts = runs[0] | ({"runs": runs} if len(runs) > 1 else {})
    lines = [line for f in runs for line in _report(f)]
    _say(given, facts, lines)
    return 1 if any(f["stopped"] == "diverged" for f in runs) else 0


def _turned(entry: Any, settings: dict[str, str]) -> Any:
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


def _train(given: argparse.Namespace, entry: Any, seed: int, seeds: int) -> dict[str, Any]:
    import torch

    from playground.corpora import open_corpus
    from playground.devices import pick
    from playground.training import Run, train
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
        train(run, learner) if learner else _as_set(train(run), entry, _pairs(getattr(given, "set", []), "The setting"))
    )
    for event in _with_bar(run, recorded(run, events, learner.step if learner else 0)):
        summary.read(event)
    return summary.facts()


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


def compare_strategies(given: argparse.Namespace) -> int:
    """`playground compare`"""
    from playground.finetuning import Comparison, compare, find_strategy, find_task
    from playground.finetuning.base import from_checkpoint
    from playground.finetuning.tune import Setting
    from playground.training import checkpoint

    task = find_task(given.task)
    chosen = [find_strategy(name.strip()) for name in given.strategies.split(",") if name.strip()]
    folder = _folder(given.out)
    saved = checkpoint.load(_base(given))
    base = from_checkpoint(saved, rehearsed=any(strategy.rehearses for strategy in chosen))
    setting = Setting(steps=given.tuning_steps)
    events = compare(
        base, saved.tokenizer, task, chosen, labels=given.labels, seeds=given.seeds, seed=given.seed, setting=setting,
        workers=given.workers,
    )  # fmt: skip
    *_, last = _lane_bar(events, len(chosen) * given.seeds * given.tuning_steps)
    assert isinstance(last, Comparison)
    facts = last.facts() | {"base": saved.learner.entry.name, "corpus": saved.corpus.name}
    if folder is not None:
        (folder / "comparison.json").write_text(json.dumps(_finite(facts), indent=1), encoding="utf-8")
    return _say(given, facts, _compared(facts))


def _folder(out: str | None) -> Path | None:
    """The folder of a result, made before the work begins, so that nothing is computed for nothing."""
    if out is None:
        return None
    try:
        Path(out).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refusal(f"The folder {out} cannot be written ({error.strerror or error}); choose another.") from error
    return Path(out)


def _base(given: argparse.Namespace) -> Path:
    """The folder of the run to start from; an entry is trained first."""
    from playground.zoo import entry_named

    if Path(given.base).exists():
        return Path(given.base)
    entry = entry_named(given.base)
    inner = argparse.Namespace(**{**vars(given), "out": None, "resume": False})
    return Path(_train(inner, entry, given.seed, 1)["out"])


def _lane_bar(events: Any, total: int) -> Any:
    from tqdm import tqdm

    from playground.finetuning import Lane
    from playground.finetuning.tune import Tuned

    with tqdm(total=total, desc="fine-tuning", file=sys.stderr, mininterval=0.2) as bar:
        for event in events:
            if isinstance(event, Lane):
                bar.set_postfix_str(f"{event.strategy.name}, seed {event.seed}")
                bar.update(isinstance(event.event, Tuned))
            yield event


def _compared(facts: dict[str, Any]) -> list[str]:
    wide = max(20, *(len(s["name"]) for s in facts["strategies"]))
    lines = [
        f"{facts['task']}, {facts['labels']} labels, {facts['seeds']} seeds, from {facts['base']} on {facts['corpus']}",
        f"{'strategy':<{wide}} {'accuracy':>16} {'forgetting (nats)':>20} {'trainable':>10} {'seconds':>8}",
    ]
    for s in facts["strategies"]:
        right, forgot = s["accuracy"], s["forgetting"]
        lines.append(
            f"{s['name']:<{wide}} {right['mean']:>8.3f} ± {right['sd']:.3f}"
            f" {forgot['mean']:>+12.3f} ± {forgot['sd']:.3f} {s['trainable']:>10} {s['seconds']:>8.1f}"
        )
    return [*lines, facts["verdict"]]


def show_zoo(given: argparse.Namespace) -> int:
    """`playground zoo`"""
    from playground.inventory import inventory

    facts = inventory(given.name)
    return _say(given, facts, [line for kind, items in facts.items() for line in (kind, *_listed(items))])


def _listed(items: Sequence[dict[str, Any]]) -> list[str]:
    """A line for each item, below the name of its group where it has one."""
    from playground.objectives import GROUPS

    lines = []
    for group in ("", *GROUPS):
        members = [item for item in items if item.get("group", "") == group]
        lines += [f"  {group}"] if group and members else []
        lines += [f"{'    ' if group else '  '}{item['name']:<22} {item.get('idea', '')}" for item in members]
    return lines


if __name__ == "__main__":
    raise SystemExit(main())
