"""What the commands share: the parser that refuses in one sentence, common options, one way to print."""

import argparse
import codecs
import json
import math
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from playground.errors import Refusal, readable
from playground.parsing import LARGEST, parse_int, parse_json

SENTENCE = "I am happy to join with you today"

KNOBS = "a knob of model, recipe or objective; where two have the name, the objective's is objective.NAME"
"""What `--set` turns where a model is trained."""


class Parser(argparse.ArgumentParser):
    """An argument parser that refuses in one sentence."""

    def error(self, message: str) -> NoReturn:
        print(readable(f"{self.prog}: {message}. See `{self.prog} --help`."), file=sys.stderr)
        raise SystemExit(2)

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """The value of an option; argparse of Python 3.11 takes `--text=--` for an empty list."""
        if action.option_strings and action.nargs is None and arg_strings == ["--"]:
            return self._get_value(action, "--")
        return super()._get_values(action, arg_strings)


def command(commands: Any, name: str, help_text: str, run: Callable[[argparse.Namespace], int]) -> Parser:
    """A command with the options that all have."""
    made = commands.add_parser(name, help=help_text, description=help_text)
    made.add_argument("--json", action="store_true", help="one JSON object on standard output and nothing else")
    made.add_argument("--seed", type=whole, default=0, metavar="N", help="the same seed, the same result; 0 by default")
    made.set_defaults(run=run)
    return made


def renamed(command: argparse.ArgumentParser, old: str, new: str, **how: Any) -> None:
    """An option under the name `new`; `old`, its name in earlier versions, is understood too and in no help."""
    command.add_argument(new, **how)
    command.add_argument(
        old, **{**how, "help": argparse.SUPPRESS, "dest": new[2:].replace("-", "_"), "default": argparse.SUPPRESS}
    )


def text_options(command: Parser) -> None:
    """The options that say which text."""
    one = command.add_mutually_exclusive_group()
    one.add_argument("--text", help=f"default: {SENTENCE!r}")
    one.add_argument("--file", help="read the text from a file")
    command.add_argument("--pair", default="", metavar="T2", help="the second text of NSP, SOP, TLM ...")


def parallelism(command: argparse.ArgumentParser) -> None:
    """The option that says how several models learn at once."""
    names = {"stacked": "vmap", "apart": "processes"}
    renamed(
        command, "--way", "--parallelism", default="auto", metavar="HOW", type=lambda text: names.get(text, text),
        choices=("auto", "vmap", "processes"), help="vmap (all models as one), processes, or auto: vmap on CUDA",
    )  # fmt: skip


def training_options(command: Parser) -> None:
    """The options that say how long and where to train."""
    command.add_argument("--steps", type=positive(int), metavar="N")
    command.add_argument("--seconds", type=positive(float), metavar="N")
    command.add_argument("--device", default="auto", metavar="D", help="auto, cpu, cuda or mps")
    command.add_argument(
        "--threads", type=positive(int, MOST_AT_ONCE), default=1, metavar="N", help="1 is fastest for tiny models"
    )
    command.add_argument("--out", type=path, metavar="DIR", help="folder for checkpoint and metrics")


MOST_SEEDS, MOST_STEPS, MOST_TEXTS, MOST_AT_ONCE = 1_000, 100_000, 1_000_000, 256
"""Limits of what one command is asked for: seeds, steps of a lane, labelled texts, and processes or threads."""


def positive(kind: type, most: int = LARGEST) -> Callable[[str], Any]:
    """A reader of numbers above 0."""
    wanted = "a whole number" if kind is int else "a number"

    def read(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = 0
        if not 0 < value <= most:
            limit = f" and at most {most:,}" if value > most else ""
            raise argparse.ArgumentTypeError(f"{text!r} is not {wanted} above 0{limit}")
        return value

    return read


def whole(text: str) -> int:
    """A whole number, which a seed is."""
    try:
        return parse_int(text)
    except ValueError as error:
        large = f" of at most {len(str(LARGEST))} digits" if len(text) >= len(str(LARGEST)) else ""
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number{large}") from error


def path(text: str) -> str:
    """A path that this system could have, whether something is there or not."""
    try:
        text.encode()  # the list of runs keeps it
        for name in (text, *Path(text).parts):
            with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
                os.lstat(name)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise argparse.ArgumentTypeError(f"{text!r} cannot be a path: {why}") from error
    return text


def say(given: argparse.Namespace, facts: dict[str, Any], lines: Sequence[str]) -> int:
    """Print the facts as JSON or the lines for people; the exit status of a command that went well."""
    plain = codecs.lookup(sys.stdout.encoding or "ascii").name != "utf-8"
    print(json.dumps(finite(facts), ensure_ascii=plain) if given.json else "\n".join(lines))
    return 0


def finite(value: Any) -> Any:
    """The same with null for what is not a number: strict readers of JSON know no NaN."""
    if isinstance(value, dict):
        return {k: finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [finite(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def pairs(settings: Sequence[str], what: str) -> dict[str, str]:
    """Settings of the form name=value."""
    for setting in settings:
        if "=" not in setting:
            raise Refusal(f"{what} {setting!r} has no '='; write it as name=value.")
    return {name.strip(): value.strip() for name, _, value in (s.partition("=") for s in settings)}


def read_plan(settings: Sequence[str]) -> dict[str, Any]:
    """A plan as typed, or from files named with a leading @: what `--json` printed, or its `plan` alone."""
    typed = [s for s in settings if not s.startswith("@")]
    plan: dict[str, Any] = {}
    for name in (s[1:] for s in settings if s.startswith("@")):
        plan |= _saved_plan(Path(name))
    return plan | pairs(typed, "The plan")


def _saved_plan(path: Path) -> dict[str, Any]:
    try:
        kept = parse_json(path.read_text(encoding="utf-8"))
        plan = kept.get("plan", kept)
        return {str(key): value for key, value in plan.items()}
    except OSError as error:
        raise Refusal(f"The plan {path} could not be read: {error.strerror or error}.") from error
    except (ValueError, AttributeError) as error:
        raise Refusal(f'{path} holds no plan; it must be JSON such as {{"chosen": [3, 8]}}.') from error


def given_text(given: argparse.Namespace) -> str:
    """The text that was typed or read from a file."""
    if given.file is None:
        return SENTENCE if given.text is None else given.text
    from playground.corpora.readers.text import read_whole

    return read_whole(Path(given.file))
