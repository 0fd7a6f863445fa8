"""What the commands share: the parser that refuses in one sentence, common options, one way to print."""

import argparse
import codecs
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from playground.errors import UserError, readable
from playground.folders import runs_folder
from playground.parsing import LARGEST, LIMITS, dump_json, parse_int, parse_json

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

KNOBS = "a knob of the model, of its recipe or of its objective"
"""What `--set` turns where a model is trained."""


EMPTY = ("second_column",)
"""The options for which an empty value says something: there is no such column."""


class Parser(argparse.ArgumentParser):
    """An argument parser that refuses in one sentence; `typed` of what it reads are the arguments that were typed."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.typed: dict[str, str] = {}
        self.set_defaults(typed=self.typed)

    def error(self, message: str) -> NoReturn:
        print(readable(f"{self.prog}: {message}. See `{self.prog} --help`."), file=sys.stderr)
        raise SystemExit(2)

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """The value of an option, noted as typed; argparse of Python 3.11 takes `--text=--` for an empty list."""
        if action.option_strings or arg_strings:
            self.typed[action.dest] = max(action.option_strings, key=len, default=repr(" ".join(arg_strings)))
        if arg_strings == [""] and action.dest not in EMPTY:
            raise argparse.ArgumentError(action, "'' is empty; give a value or leave it out")
        if action.option_strings and action.nargs is None and arg_strings == ["--"]:
            return self._get_value(action, "--")
        return super()._get_values(action, arg_strings)


def refuse_unused(given: argparse.Namespace, reason: str, *names: str) -> None:
    """Refuse the first of these arguments that was typed, for the `reason` that it has no part in what is to be done.

    Every command calls it for each of its ways to run, before any work.
    """
    for name, shown in given.typed.items():
        if name in names:
            raise UserError(f"{shown} does not apply here: {reason}.")


def common_options(command: Parser, run: Callable[[argparse.Namespace], int], seeded: bool = True) -> None:
    """The function that a command runs, and the options of every command that prints facts."""
    option = command.add_argument
    option("--json", action="store_true", help="one JSON object on standard output and nothing else")
    if seeded:
        option("--seed", type=whole, default=0, metavar="N", help="the same seed gives the same result; 0 by default")
    command.set_defaults(run=run)


def list_of_runs(command: Parser) -> None:
    """The option that names the folder with the list of runs."""
    folder = str(runs_folder())
    command.add_argument("--runs", type=path, default=folder, metavar="DIR", help="the folder with the list of runs")


def parallelism(command: Parser) -> None:
    """The option that chooses how several models are trained at once."""
    command.add_argument(
        "--parallelism", default="auto", metavar="HOW", choices=("auto", "vmap", "processes"),
        help="vmap (all models as one), processes, or auto: vmap on CUDA",
    )  # fmt: skip


def training_options(command: Parser) -> None:
    """The options that set how long and where to train; the defaults of those that only `train` and `bake` have."""
    command.set_defaults(resume=False, save_every=500, runs=str(runs_folder()), sentence=None, threads=1)
    option = command.add_argument
    option("--steps", type=number_of(), metavar="N")
    option("--seconds", type=number_of(kind=float), metavar="N")
    option("--device", default="auto", metavar="D", help="auto, cpu, cuda or mps")
    option("--out", type=path, metavar="DIR", help="folder for checkpoint and metrics")


def number_of(what: str = "", kind: type = int) -> Callable[[str], Any]:
    """The type of an option: a number above 0, up to the limit of what it counts."""
    most, expected = LIMITS.get(what, LARGEST), "a whole number" if kind is int else "a number"

    def read(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = 0
        if not 0 < value <= most:
            limit = f" and at most {most:,}" if value > most else ""
            raise argparse.ArgumentTypeError(f"{text!r} is not {expected} above 0{limit}")
        return value

    return read


def whole(text: str) -> int:
    """The type of an option: a whole number."""
    try:
        return parse_int(text)
    except ValueError as error:
        large = f" of at most {len(str(LARGEST))} digits" if len(text) >= len(str(LARGEST)) else ""
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number{large}") from error


def path(text: str) -> str:
    """The type of an option: a path that this system allows, whether or not it exists."""
    try:
        text.encode()  # the list of runs stores it
        for name in (text, *Path(text).parts):
            with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
                os.lstat(name)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise argparse.ArgumentTypeError(f"{text!r} cannot be a path: {why}") from error
    return text


def say(given: argparse.Namespace, facts: "Mapping[str, object] | DataclassInstance", lines: Sequence[str]) -> int:
    """Print the facts as JSON or the lines for people, and return exit status 0.

    The `FACTS` of a command declare what it prints; they are checked in the tests and listed in docs/cli.md.
    """
    plain = codecs.lookup(sys.stdout.encoding or "ascii").name != "utf-8"
    print(dump_json(facts, ensure_ascii=plain) if given.json else "\n".join(lines))
    return 0


def warn(*sentences: str) -> None:
    """Print the sentences that are not empty on standard error."""
    print(*filter(None, sentences), sep="\n", end="\n" * any(sentences), file=sys.stderr)


def pairs(settings: Sequence[str], what: str) -> dict[str, str]:
    """Settings of the form name=value."""
    for setting in settings:
        if "=" not in setting:
            raise UserError(f"{what} {setting!r} has no '='; write it as name=value.")
    return {name.strip(): value.strip() for name, _, value in (s.partition("=") for s in settings)}


def read_plan(settings: Sequence[str]) -> dict[str, Any]:
    """A plan as typed, or from files named with a leading @: what `--json` printed, or its `plan` alone."""
    plan: dict[str, Any] = {}
    for file in (setting[1:] for setting in settings if setting.startswith("@")):
        plan |= _saved_plan(Path(file))
    return plan | pairs([setting for setting in settings if not setting.startswith("@")], "The plan")


def _saved_plan(path: Path) -> dict[str, Any]:
    try:
        saved = parse_json(path.read_text(encoding="utf-8"))
        return {str(key): value for key, value in saved.get("plan", saved).items()}
    except OSError as error:
        raise UserError(f"The plan {path} could not be read: {error.strerror or error}.") from error
    except (ValueError, AttributeError) as error:
        raise UserError(f'{path} holds no plan; it must be JSON such as {{"chosen": [3, 8]}}.') from error
