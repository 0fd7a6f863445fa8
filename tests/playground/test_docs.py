"""What the documents say is what the code does."""

import re
import runpy
import shlex
from pathlib import Path
from typing import Literal, NotRequired, TypedDict

from playground.analysis.inspection import instruments_of
from playground.analysis.instrument import instruments, labels
from playground.cli import parser
from playground.compression.method import methods
from playground.corpora import open_corpus
from playground.corpora.sources import sources
from playground.finetuning import find_strategy, find_task, strategies, tasks
from playground.glossary import hover, mentioned
from playground.objectives import objectives
from playground.tokenizing.words import split_words
from playground.zoo import entries

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def read(name):
    """A document as one line."""
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


def words_of(name):
    """The words of a small corpus of one source, with a space between them."""
    corpus = open_corpus(name, seed=0, tokens=20_000)
    return " ".join(corpus.tokenizer.decode(corpus.ids.tolist()))


def test_every_generated_corpus_stands_in_the_table_with_a_text_that_it_has():
    lines = (DOCS / "corpora.md").read_text(encoding="utf-8").split("|---|---|---|---|---|\n")[1].splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines]
    assert {len(row) for row in rows} == {5}
    examples = {}
    for _, corpora, batch, *_ in rows:
        for name in re.findall("`([^`]+)`", corpora):
            examples.setdefault(name, []).append(split_words(re.sub(r"/\S+", "", batch)))
    assert examples.keys() == sources().keys() - {"python reference"}
    for name, texts in examples.items():
        runs = [" ".join(words[k : k + 5]) for words in texts for k in range(len(words) - 4)]
        whole = words_of(name)
        assert any(run in whole for run in runs), name


def test_the_knobs_that_the_text_on_the_objectives_names_exist():
    named = set(re.findall(r"`(\w+)=\w+`|--set (\w+)=", read("docs/objectives.md")))
    known = {name for objective in objectives().values() for name in objective.knobs}
    assert len(named) > 4
    assert {one or other for one, other in named} <= known | {"chosen"}


def test_what_is_counted_by_hand_is_counted_right():
    """Every number in front of a noun of the catalogue, in the README, in the changes and on the command line."""
    counts = {
        "objectives": len(objectives()),
        "systems": len(entries()),
        "strategies": len(strategies()),
        "tasks": len(tasks()),
        "generated": len([name for name in sources() if name != "python reference"]),
        "instruments": len(instruments()),
        "methods": len(methods()),
    }
    number = re.compile(rf"\b(\d+)(?: [a-z-]+)? ({'|'.join(counts)})\b")
    found = [match for page in ("README.md", "CHANGELOG.md", "docs/cli.md") for match in number.findall(read(page))]
    assert {noun for _, noun in found} >= {"objectives", "systems", "strategies", "tasks"}
    assert [pair for pair in found if int(pair[0]) != counts[pair[1]]] == []


def test_the_commands_of_the_readme_can_be_typed():
    commands = re.findall(
        r"^\.venv/bin/playground (.+)$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(commands) == 3
    for command in commands:
        given = parser().parse_args(shlex.split(command))
        assert all(map(find_strategy, getattr(given, "strategies", "full").split(",")))


def test_the_first_pages_are_short():
    before, _, rest = (ROOT / "README.md").read_text(encoding="utf-8").partition("<details>")
    assert len((before + rest.partition("</details>")[2]).splitlines()) <= 74  # the verdicts are folded away
    unreleased = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("(unreleased)")[1].split("\n## ")[0]
    assert len(unreleased.splitlines()) <= 30


def test_the_commands_for_transfer_can_be_typed():
    """Every command is understood, and every task and strategy in it is there."""
    written = (DOCS / "transfer.md").read_text(encoding="utf-8")
    commands = re.findall(r"`playground ((?:compare|edit|choose) RUN [^`]+)`", written.split("| what |")[1])
    assert len(commands) >= 9
    for command in commands:
        given = parser().parse_args(shlex.split(command))
        names = (
            given.tasks.split(",") if given.command == "choose" else [given.task, *(getattr(given, "then", None) or ())]
        )
        assert all(map(find_task, names))
        assert all(map(find_strategy, getattr(given, "strategies", "full").split(",")))


# the glossary; its terms are held to the screen by contracts/test_words.py


def test_the_glossary_is_what_its_script_writes():
    made = runpy.run_path(str(DOCS / "write_glossary.py"))
    assert made["page"]() == (DOCS / "glossary.md").read_text(encoding="utf-8")


def test_the_instruments_are_what_their_script_writes_and_its_commands_can_be_typed():
    made = runpy.run_path(str(DOCS / "write_instruments.py"))
    assert made["page"]() == (DOCS / "instruments.md").read_text(encoding="utf-8")
    one, several = re.findall(r"`playground (inspect [^`]+)`", made["HEAD"])
    assert instruments_of(parser().parse_args(shlex.split(one)).instruments)
    assert parser().parse_args(shlex.split(several)).over == "seeds"
    assert made["needed"](labels("pos", "head")) == "The corpus has gold labels of these names: pos, head."


def test_the_claims_and_the_verdicts_in_the_readme_are_what_their_script_writes():
    made = runpy.run_path(str(DOCS / "write_claims.py"))
    assert made["page"]() == (DOCS / "claims.md").read_text(encoding="utf-8")
    assert made["readme"]() == (ROOT / "README.md").read_text(encoding="utf-8")
    assert made["lesson"]() == made["LESSON"].read_text(encoding="utf-8")


def test_a_heading_explains_its_terms_and_nothing_else():
    assert [term.name for term in mentioned("Learning rate per layer; Probes")] == ["learning rate", "layer", "probe"]
    assert hover("Prune all of the normal trunks") == ""
    assert hover("Attention mask") == ' title="attention mask: Which key positions a query position may attend to."'


def test_the_json_keys_are_what_their_script_writes():
    made = runpy.run_path(str(DOCS / "write_json_keys.py"))
    assert made["page"]() == (DOCS / "cli.md").read_text(encoding="utf-8")


class _Part(TypedDict):
    """A part.

    And more of it.
    """

    share: float
    """Share of the whole,
    from 0 to 1."""


class _Whole(_Part):
    name: NotRequired[Literal["a", "b"] | None]
    parts: list[_Part]
    by_name: dict[str, _Part]
    pairs: tuple[tuple[str, int], ...]
    counts: dict[str, float | str]


def test_a_table_of_json_keys_has_types_meanings_and_the_keys_of_objects_inside():
    made = runpy.run_path(str(DOCS / "write_json_keys.py"))
    share = "number | Share of the whole, from 0 to 1. |\n"
    assert list(made["rows"](_Whole, {})) == [
        '| `name` | `"a"` or `"b"` or null, optional |  |\n',
        "| `parts` | list of objects | A part. |\n",
        f"| `parts[].share` | {share}",
        "| `by_name` | object | A part. |\n",
        f"| `by_name.*.share` | {share}",
        "| `pairs` | list of lists of string, integer |  |\n",
        "| `counts` | object of numbers or strings |  |\n",
        f"| `share` | {share}",
    ]
    assert "| `parts` | list of objects | A part. As in `other`. |\n" in made["rows"](_Whole, {_Part: "other"})


def test_the_page_of_the_command_line_knows_no_option_that_is_not():
    written = (DOCS / "cli.md").read_text(encoding="utf-8")
    options = {o for p in parser()._subparsers._group_actions[0].choices.values() for o in p._option_string_actions}
    assert (
        set(re.findall(r"--[a-z][a-z-]+", written)) - {"--help", "--nproc-per-node"} <= options
    )  # the second is of torchrun


def test_the_files_that_the_architecture_names_are_there():
    named = re.findall(
        r"`((?:playground|widgets|cli|objectives|training|trace|models|finetuning|see|js)/[\w/]+\.py)`",
        (DOCS / "architecture.md").read_text(encoding="utf-8"),
    )
    assert len(named) > 15
    roots = (ROOT, ROOT / "playground")
    assert [name for name in named if not any((root / name).is_file() for root in roots)] == []
