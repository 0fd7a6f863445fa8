"""Odd options of the command line, in this process; what would train for long is refused before, or trains tiny."""

import io
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random

from playground import cli
from playground.corpora.sources import sources
from playground.errors import UserError
from playground.finetuning import strategies, tasks
from playground.objectives import objectives
from playground.zoo import entries
from tests.fuzz import material, odd
from tests.fuzz.law import Case, Kind
from tests.fuzz.plans import plan_line

WORK = ("--seeds", "--train-size", "--tuning-steps", "--threads", "--workers")
OBJECTIVES, ENTRIES = tuple(objectives()), tuple(entries())
CORPORA, TASKS, STRATEGIES = tuple(sources()), tuple(tasks()), tuple(strategies())
FILES = ("text.txt", "table.csv", "runs", "runs/run", "missing", "runs/run/checkpoint.safetensors")


def draw(random: Random, home: Path) -> Case:
    """A command with some options, most of them right, at least one of them odd."""
    command = random.choice(tuple(COMMANDS) + ("objective", "train"))
    line = COMMANDS[command](random)
    if random.random() < 0.08:
        at = random.randint(0, len(line))
        line[at:at] = [odd.value(random)]
    if not any(word.startswith("runs/run") for word in line) or random.random() < 0.5:
        given = {}
    else:
        given = material.run("BERT")
    material.put({**given, "text.txt": material.text().encode(), "table.csv": material.table().encode()}, home)
    return Case(repr([word[:200] for word in line]), lambda: _called(line))


def _called(line: Sequence[str]) -> None:
    """The law of the command line: status 0, or 1 or 2 with a sentence on standard error and no output."""
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        try:
            status = cli.main(line)
        except SystemExit as leaving:
            status = leaving.code
    if status == 2:
        raise UserError(_only_sentence(out.getvalue(), err.getvalue()))
    assert status in (0, 1), f"the exit status is {status}"
    assert status == 0 or err.getvalue().strip(), "it failed without a word"


def _only_sentence(out: str, err: str) -> str:
    assert not out, f"refused, but it said {out[:80]!r}"
    said = [line for line in err.replace("\r", "\n").splitlines() if line.strip() and "it/s" not in line]
    assert said, "refused without a word"
    return "\n".join(said)


def _some(random: Random, *options: tuple[str, Sequence[str]]) -> list[str]:
    """Some of the options, mostly one of them with an odd value: what comes after the first mistake is never read."""
    chosen = random.sample(options, random.randint(1, min(3, len(options))))
    odd_ones = ((0.05 if k else 0.8, *option) for k, option in enumerate(chosen))
    return [word for share, name, right in odd_ones for word in _option(random, name, right, share)]


def _option(random: Random, name: str, right: Sequence[str], share: float) -> list[str]:
    said = odd.among(random, right, share)
    said = right[0] if name in WORK and _is_number(said, 4, 1_000_000) else said
    return [f"{name}={said}"] if random.random() < 0.7 or said.startswith("-") else [name, said]


def _is_number(said: str, low: int, high: int) -> bool:
    """Whether it is a number that a person may mean, so that the work begins and does not end for minutes."""
    try:
        return low <= int(said) <= high
    except ValueError:
        return False


def _knob(random: Random, knobs: Sequence[str]) -> list[str]:
    return [f"{odd.among(random, knobs, 0.1)}={odd.among(random, ['1', '0.5', 'yes'], 0.6)}"]


def _objective(random: Random) -> list[str]:
    name = odd.among(random, OBJECTIVES, 0.1)
    knobs = tuple(objectives()[name].knobs) if name in OBJECTIVES else ()
    return ["objective", name, *_some(
        random, ("--text", ["How are you", "Tom sold it. Then she left."]), ("--pair", ["Comment vas-tu"]),
        ("--file", FILES), ("--seed", ["3"]), ("--set", _knob(random, knobs)), ("--plan", [plan_line(random, name)]),
        ("--plan", ["@text.txt", "@missing", "@runs"]),
    ), *["--json"] * random.randint(0, 1)]  # fmt: skip


def _table(random: Random) -> list[str]:
    return ["table", *_some(
        random, ("--text", ["How are you"]), ("--pair", ["Comment vas-tu"]), ("--file", FILES), ("--seed", ["3"]),
        ("--plan", ["MLM:chosen=3", "chosen=2", "PLM:cut=3"]),
    ), *["--json"] * random.randint(0, 1)]  # fmt: skip


def _train(random: Random) -> list[str]:
    return ["train", odd.among(random, ENTRIES + OBJECTIVES, 0.08), "--corpus", "text.txt", "--steps", "1",
            "--seconds", "0.2", *material.TINY, *_some(
        random, ("--corpus", (*FILES, "nowhere", "text.txt+text.txt")), ("--steps", ["2"]), ("--seconds", ["0.1"]),
        ("--device", ["auto", "cpu", "cpu:1", "cuda"]), ("--threads", ["2"]), ("--out", ["there", "text.txt", "a/b"]),
        ("--recipe", ["paper"]), ("--seeds", ["1"]), ("--parallelism", ["auto", "processes"]), ("--workers", ["1"]),
        ("--seed", ["3"]), ("--save-every", ["2"]), ("--runs", ["runs", "text.txt"]), ("--fork", ["run", "run@2"]),
        ("--set", _knob(random, ["mask_ratio", "lr", "batch_size", "seq_len", "width", "heads", "steps", "optimiser"])),
        ("--set", _knob(random, ["positions", "max_position_embeddings", "decoder_layers", "ngrams", "precision"])),
        ("--set", _knob(random, ["grad_accum_steps", "grad_clip", "rate", "window", "clip", "longest", "cap"])),
    )]  # fmt: skip


def _compare(random: Random) -> list[str]:
    return ["compare", odd.among(random, ["runs/run"], 0.1), "--train-size", "4", "--seeds", "1",
            "--tuning-steps", "1", "--strategies", "full", *_some(
        random, ("--task", (*TASKS, "table.csv", "table.csv?text=text&label=label")), ("--then", TASKS),
        ("--strategies", STRATEGIES), ("--train-size", ["4", "4,8"]), ("--seeds", ["1"]), ("--tuning-steps", ["1"]),
        ("--text-column", ["text"]), ("--label-column", ["label"]), ("--input-format", ["plain", "BERT"]),
        ("--match", ["steps", "tokens"]), ("--lr-policy", ["own", "fixed"]), ("--seed", ["2"]), ("--out", ["there"]),
        ("--decoder", ["same", "new", "runs/run"]), ("--extra-encoder", ["runs/run"]), ("--workers", ["1"]),
    )]  # fmt: skip


def _others(random: Random) -> list[str]:
    match random.randrange(7):
        case 0:
            return [
                "runs",
                *_some(random, ("--runs", FILES)),
                *[odd.among(random, ["run"], 0.5)] * random.randint(0, 1),
            ]
        case 1:
            return ["choose", odd.among(random, ["runs/run"], 0.15), "--train-size", "4", "--seeds", "1",
                    "--tuning-steps", "1", "--tasks", "sentiment", *_some(
                random, ("--tasks", TASKS), ("--strategy", STRATEGIES), ("--train-size", ["4"]), ("--seed", ["1"]),
            )]  # fmt: skip
        case 2:
            return ["edit", odd.among(random, ["missing", "text.txt"]), *_some(
                random, ("--text", ["a good film"]), ("--to", ["good"]), ("--task", TASKS), ("--train-size", ["4"]),
            )]  # fmt: skip
        case 3:
            return ["align", "--corpus", "nowhere", *_some(
                random, ("--corpus", FILES), ("--known", ["3"]), ("--width", ["4"]), ("--window", ["2"]),
            )]  # fmt: skip
        case 4:
            return ["bake", odd.among(random, ["runs/run"], 0.15), *_some(
                random, ("-o", ["page.html", "a/b.html", "runs"]), ("--output", ["page.html"]), ("--seed", ["1"]),
            )]  # fmt: skip
        case 5:
            port = odd.among(random, ["x", "-1", "99999"])
            return ["app", "--no-browser", "--port", "-1" if _is_number(port, 0, 65_535) else port]
        case _:
            return ["zoo", odd.among(random, ENTRIES)]


COMMANDS = {"objective": _objective, "table": _table, "train": _train, "compare": _compare, "others": _others}
OPTIONS = Kind("options", 400, draw)
