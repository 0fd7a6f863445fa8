"""`playground lessons`: run the tutorial notebooks and write them as pages."""

import argparse
import os
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypedDict

from tqdm import tqdm

from playground.cli.options import Parser, common_options, number_of, pairs, path, refuse_unused, say
from playground.errors import UserError, writing


class LessonFacts(TypedDict):
    """A notebook that was written as a page."""

    name: str
    title: str
    page: str
    """The file."""
    seconds: float
    bytes: int
    """Size of the page."""
    failure: str
    """Why it failed, with its cell; empty if it did not."""
    kept_corpus: str
    """Why it kept its own corpus although another was asked for; empty if it did not."""


class LessonsFacts(TypedDict):
    """The pages of the lessons."""

    out: str
    """Their folder."""
    lessons: list[LessonFacts]


FACTS = (LessonsFacts,)


def add(command: Parser) -> None:
    """The options of the command."""
    option = command.add_argument
    option("action", choices=("run",), help="run every notebook with papermill")
    option("names", nargs="*", metavar="NOTEBOOK", help="how a name begins, such as 04; all by default")
    option("--out", type=path, default="lessons", metavar="DIR", help="folder for the pages; lessons by default")
    option("--notebooks", type=path, default="notebooks", metavar="DIR", help="folder of the notebooks")
    option(
        "--form", choices=("page", "demo", "exercise"), default="page",
        help="page: with all code; demo: for a projector, one button; exercise: notebooks without solutions, not run",
    )  # fmt: skip
    option(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="set a parameter of the notebooks: steps=100"
    )
    option(
        "--workers",
        type=number_of("processes"),
        default=os.cpu_count() or 1,
        metavar="N",
        help="one per core",
    )
    common_options(command, run)


def run(given: argparse.Namespace) -> int:
    """Run them side by side; exit status 1 where one fails, which is named with its cell and cause."""
    if given.form == "exercise":
        refuse_unused(given, "exercises are written and not run", "set", "seed", "workers")
    elif find_spec("papermill") is None:
        raise UserError("Lessons run in Jupyter; install it with: pip install 'pretraining-playground[lab]'.")
    lessons = import_module("widgets.lessons")
    chosen, out, settings = lessons.notebooks(Path(given.notebooks), given.names), Path(given.out), _settings(given)
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    done = []
    with tqdm(total=len(chosen), desc="lessons", unit="notebook", file=sys.stderr) as bar:
        written = (
            lessons.exercises(chosen, out)
            if given.form == "exercise"
            else lessons.run_all(chosen, out, settings, given.workers, given.form)
        )
        for lesson in written:
            bar.update()
            bar.set_postfix_str(lesson.name)
            done.append(lesson)
    (out / "index.html").write_text(lessons.index(done, settings, given.form), encoding="utf-8")
    facts: list[LessonFacts] = [
        {
            "name": lesson.name, "title": lesson.title, "page": str(lesson.page), "seconds": lesson.seconds,
            "bytes": lesson.page.stat().st_size, "failure": lesson.failure, "kept_corpus": lesson.kept,
        }
        for lesson in sorted(done, key=lambda lesson: lesson.name)
    ]  # fmt: skip
    lines = [f"{each['failure'] or each['name']}: {each['seconds']:.0f} s" for each in facts]
    say(given, LessonsFacts(out=str(out), lessons=facts), [*lines, f"{out / 'index.html'}: {len(facts)} lessons."])
    return int(any(each["failure"] for each in facts))


def _settings(given: argparse.Namespace) -> dict[str, Any]:
    """The parameters that were set, as they were typed; the seed is one of them."""
    typed = pairs(given.set, "The setting")
    if "seed" in typed and given.seed:
        raise UserError(f"--set seed={typed['seed']} and --seed {given.seed} are both given; leave one of them out.")
    return ({"seed": given.seed} if given.seed else {}) | typed
