"""Write the pages of the documentation site with `python docs/pages.py FOLDER`; `make docs` builds the site from them.

Whatever the catalogue holds has a page: a new file in it is a new page. Nothing that is written here is kept in git.
"""

import argparse
import ast
import html
import inspect
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from latex2mathml.converter import convert

from playground.cli import COMMANDS, parser
from playground.corpora.sources import Source, read_name, sources
from playground.errors import UserError
from playground.finetuning import strategies, tasks
from playground.finetuning.data.task import Task
from playground.finetuning.strategy.find import knobs_of
from playground.finetuning.strategy.strategy import FAMILIES, Strategy
from playground.knob import Knob, knobs
from playground.objectives import GROUPS, Objective, objectives
from playground.objectives.plan_overrides import SHAPES
from playground.trace.rebuild import rebuild
from playground.zoo import Entry, entries
from widgets import notebook
from widgets.animation import standalone

ROOT = Path(__file__).parents[1]
ADDRESS = {
    "README.md": "readme.md",
    "examples/bert_in_100_lines.py": "bert_in_100_lines.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/README.md": "benchmarks.md",
    "binder/README.md": "binder.md",
    **{f"docs/{name}.md": f"{name}.md" for name in ("architecture", "cli", "cluster", "extend", "serving", "transfer")},
    "docs/objectives.md": "about-objectives.md",
    "docs/corpora.md": "all-corpora.md",
    "docs/glossary.md": "glossary.md",
    "docs/instruments.md": "instruments.md",
    "docs/claims.md": "claims.md",
}
"""The documents that people wrote, or other scripts, and the pages that they become."""

ABOUT = {
    "corpora": "Texts and corpora",
    "tokenizing": "Tokenizers",
    "objectives": "Objectives and their plans",
    "trace": "A sentence and its edits",
    "zoo": "Entries of the zoo",
    "models": "Models",
    "training": "Training and saved runs",
    "analysis": "Instruments",
    "finetuning": "Tasks, strategies and comparisons",
    "compression": "Compression",
    "posttraining": "Post-training",
    "claims": "Claims",
    "interop": "Folders of transformers",
    "cli": "The command line",
    "notebook": "Notebooks",
    "widgets": "The app",
}
"""The packages whose refusals are listed, by what they are about; of two the first in the path counts."""

OTHERS = "Others"

PICTURES = tuple(sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.webp")))
NONE = "–"

HOME = """# Pretraining Playground

See a sentence become a training example, watch a tiny language model learn from it, and measure what the model
transfers to a new task. Everything on screen is drawn from the tensors that are being trained on.

![A training run: the loss falls, the guesses improve, and an attention head takes shape](training.webp)

All of it in one file: [BERT in 100 lines](bert_in_100_lines.md).

In one minute: `make app`, then press play on the Stage. [The README](readme.md) says how to begin; the
[objectives](objectives/index.md) each have a page, those of the survey's table with a stage that plays here.

{counts}
"""

Pages = dict[str, str]
"""Markdown by its path below the folder of the site."""


def pages() -> Pages:
    """All pages that are made of the catalogue, of docstrings and of parsers, and the documents."""
    kinds = (objective_pages, entry_pages, strategy_pages, corpus_pages, task_pages, command_pages)
    made: Pages = {"index.md": home(), "errors.md": errors(), "api.md": api()}
    for kind in kinds:
        made |= kind()
    return made | {page: document(name) for name, page in ADDRESS.items()}


def home() -> str:
    """The first page."""
    counted = {"objectives": objectives(), "systems": entries(), "strategies": strategies(), "corpora": sources()}
    folders = {"systems": "zoo"}
    lines = (
        f"- [{len(each)} {name}]({folders.get(name, name)}/index.md)"
        for name, each in (counted | {"tasks": tasks(), "commands": COMMANDS}).items()
    )
    return HOME.format(counts="\n".join(lines))


# a page for each thing of the catalogue


def objective_pages() -> Pages:
    """The objectives in their groups; those of the survey's table play."""
    return listed("objectives", "Objectives", objectives().values(), lambda o: o.group, GROUPS, _objective)


def _objective(o: Objective) -> Iterable[str]:
    stages = [stage for chain in o.chains for stage in chain.stages]
    users = [_link("zoo", e.name) for e in entries().values() if e.objective.name == o.name]
    yield facts({"Source": linked(o.source), "Loss": o.loss, "Survey's Table 2": o.row, "Also called": _names(o)})
    yield mathml(o.formula)
    yield from (
        f"- {mathml(sign, inline=True)} {words(what)}" for t in o.current_terms for sign, what in t.meanings.items()
    )
    if o.misprint:
        yield f"\n## Misprint in {words(o.misprint.where)}\n\n{mathml(o.misprint.latex)}"
        yield words(o.misprint.wrong) + "\n"
    if o.row:
        yield f"\n## On the survey's sentence\n\n{stage(o)}"
    yield "\n## Stages\n\n" + "".join(f"- `{type(each).__name__}`: {words(first_line(each))}\n" for each in stages)
    yield knob_table(o.knobs.values())
    yield _listing("What a plan by hand may set", (f"`{key}`: {words(SHAPES[key])}" for key in o.plan_keys))
    yield _listing("Trained by", users)
    yield f"\n```\nplayground objective {quoted(o.name)}\n```\n"


def stage(o: Objective) -> str:
    """The stage of an objective as a part of the page, which plays."""
    printed = o.printed
    shown = (
        rebuild(o, printed.text, pair=printed.pair, overrides=printed.plan)
        if printed.text
        else rebuild(o, overrides=printed.plan)
    )
    return standalone(shown.record())


def entry_pages() -> Pages:
    """The systems of the zoo by year."""
    years = sorted({str(e.year) for e in entries().values()})
    return listed("zoo", "Zoo", entries().values(), lambda e: str(e.year), years, _entry)


def _entry(e: Entry) -> Iterable[str]:
    parent = _link("zoo", e.parent) if e.parent in entries() else words(e.parent)
    sizes = "; ".join(f"{size.name}: {size.parameters:,.0f} ({size.where})" for size in e.published)
    objective = _link("objectives", e.objective.name) if e.objective.name in objectives() else words(e.objective.name)
    about = {"Year": str(e.year), "Source": linked(e.paper), "Objective": objective, "Parent": parent}
    about |= {
        "New over the parent": words(e.changed),
        "Data of the authors": words(e.data),
        "Published sizes": words(sizes),
    }
    yield facts(about | {"Corpus here": _link("corpora", read_name(e.corpus)[0]), "Also called": _names(e)})
    yield words(e.not_the_paper) + "\n"
    yield values("Architecture", e.model) + values("Recipe", e.recipe)
    yield f"\n```\nplayground train {quoted(e.name)}\n```\n"


def strategy_pages() -> Pages:
    """The ways to adapt a model, by family."""
    return listed("strategies", "Strategies", strategies().values(), lambda s: s.family, FAMILIES, _strategy)


def _strategy(s: Strategy) -> Iterable[str]:
    about = {
        "Source": linked(s.source),
        "Family": words(FAMILIES.get(s.family, "")),
        "Learning rate here": f"{s.rate:g}",
    }
    yield facts(about | {"Also called": _names(s)})
    yield knob_table(knobs_of(s).values())
    yield f"\n```\nplayground compare RUN --strategies {quoted(s.name)}\n```\n"


def corpus_pages() -> Pages:
    """What a model reads."""
    return listed("corpora", "Corpora", sources().values(), lambda s: "", ("",), _corpus)


def _corpus(s: Source) -> Iterable[str]:
    users = [_link("zoo", e.name) for e in entries().values() if read_name(e.corpus)[0] == s.name]
    yield facts({"Tokens": f"{s.tokens:,}", "Also called": _names(s)})
    yield "[The table of all corpora](../all-corpora.md) has an example of its text and what is known of each word.\n"
    yield knob_table(() if s.settings is None else knobs(s.settings))
    yield _listing("Read by", users)
    yield _listing(
        "Tasks for a model that has read it", (_link("tasks", t.name) for t in tasks().values() if s.name in t.corpora)
    )


def task_pages() -> Pages:
    """What a trained model is asked."""
    return listed("tasks", "Tasks", tasks().values(), lambda t: "", ("",), _task)


def _task(t: Task) -> Iterable[str]:
    after = ", ".join(_link("corpora", name) for name in t.corpora)
    form = f"{type(t.answer).__name__}: {first_line(t.answer)}"
    yield facts(
        {"Source": linked(t.source), "Form of answer": words(form), "Measure": words(t.metric), "After reading": after}
    )
    yield f"\n```\nplayground compare RUN --task {quoted(t.name)}\n```\n"


def command_pages() -> Pages:
    """The commands, as their parsers know them."""
    commands = parser()._subparsers._group_actions[0].choices  # type: ignore[union-attr]
    made = {f"commands/{name}.md": _command(name, commands[name]) for name in COMMANDS}
    head = "# Commands\n\nNames, JSON keys and exit statuses: [The command line](../cli.md).\n\n"
    return made | {"commands/index.md": head + "".join(f"- [{n}]({n}.md): {words(h)}\n" for n, h in COMMANDS.items())}


def _command(name: str, command: argparse.ArgumentParser) -> str:
    rows = [
        (f"`{', '.join(a.option_strings) or a.metavar or a.dest}`", words((a.help or "") % vars(a)), _default(a))
        for a in command._actions
        if a.help != argparse.SUPPRESS
    ]
    usage = re.sub(r"\s+", " ", command.format_usage().removeprefix("usage: ")).strip()
    return f"# playground {name}\n\n{words(COMMANDS[name]).capitalize()}.\n\n```\n{usage}\n```\n\n" + table(
        ("argument", "what it does", "default"), rows
    )


def _default(action: argparse.Action) -> str:
    quiet = action.default in (None, False, argparse.SUPPRESS, ())
    return NONE if quiet else f"`{action.default}`"


# the functions of a notebook, and what can go wrong


def api() -> str:
    """The functions of a notebook and what they return."""
    given = (
        ("stage", notebook.Picture),
        ("table", notebook.Table),
        ("train", notebook.Trained),
        ("compare", notebook.Compared),
        ("inspect", notebook.Inspected),
        ("compress", notebook.CompressedModels),
        ("post_train", notebook.PostTrained),
    )
    parts = [_function(getattr(notebook, name)) + _returned(kind) for name, kind in given]
    imported = f"`from widgets import {', '.join(name for name, _ in given)}`"
    head = f"# In a notebook\n\n{imported}. What the first three return are widgets.\n"
    return head + "".join(parts)


def _function(function: Callable[..., Any]) -> str:
    signature = str(inspect.signature(function)).replace("playground.", "")
    return f"\n## {function.__name__}\n\n```python\n{function.__name__}{signature}\n```\n\n{docstring(function)}\n"


def _returned(kind: type) -> str:
    own = {n: v for n, v in vars(kind).items() if not n.startswith("_") and inspect.getdoc(v) and not _is_trait(v)}
    members = (
        (f"`{n}{_call(v)}`", words(first_line(v))) for n, v in own.items() if isinstance(v, property) or callable(v)
    )
    declared = getattr(kind, "class_traits", dict)()
    traits = ((f"`{n}` (trait)", words(t.help)) for n, t in declared.items() if t.help and _is_ours(kind, n))
    return f"\n### {kind.__name__}\n\n{docstring(kind)}\n\n" + table(("name", "what it is"), [*traits, *members])


def _is_trait(value: Any) -> bool:
    return hasattr(value, "this_class")


def _is_ours(kind: type, name: str) -> bool:
    """Whether a trait is declared in a class of ours."""
    return any(name in vars(c) and c.__module__.startswith("widgets") for c in kind.__mro__)


def _call(member: Any) -> str:
    return "" if isinstance(member, property) else "(" + ", ".join(list(inspect.signature(member).parameters)[1:]) + ")"


def errors() -> str:
    """Every refusal of the engine and of the pages, by what it is about, with what to do."""
    said: dict[str, set[str]] = {about: set() for about in (*ABOUT.values(), OTHERS)}
    for file in (path for room in ("playground", "widgets") for path in (ROOT / room).rglob("*.py")):
        room = next((ABOUT[part] for part in file.relative_to(ROOT).with_suffix("").parts if part in ABOUT), OTHERS)
        found = map(refusal, ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
        said[room] |= {sentence for sentence in found if len(re.findall("[A-Za-z]{3,}", sentence)) > 1}
    head = (
        "# What can be refused\n\nBad input is answered with one sentence: what was wrong, and what would be right. "
        "All of them are here, by what they are about; `…` is what was given or what there is. On the command line the "
        "exit status is then 2.\n"
    )
    tables = (table(("what is said", "what to do"), map(_advice, sorted(some))) for some in said.values())
    return head + "".join(f"\n## {about}\n\n{rows}" for about, rows in zip(said, tables, strict=True))


def refusal(node: ast.AST) -> str:
    """The sentence of `raise UserError("...")` with its values left open, empty for anything else."""
    call = node.exc if isinstance(node, ast.Raise) else None
    if not isinstance(call, ast.Call) or getattr(call.func, "id", "") != UserError.__name__ or not call.args:
        return ""
    return re.sub(r"(… ?)+", "… ", _open(call.args[0])).replace("… .", "….").replace("… ;", "…;").strip()


def _open(value: ast.expr) -> str:
    match value:
        case ast.Constant():
            return str(value.value)
        case ast.JoinedStr():
            return "".join(_open(part) for part in value.values)
        case ast.BinOp():
            return _open(value.left) + _open(value.right)
    return "…"


def _advice(sentence: str) -> tuple[str, str]:
    """What was wrong, and what would be right, which stands behind the first semicolon, colon or full stop."""
    parts = re.split(r"(?<=[;:.]) (?=\S)", sentence, maxsplit=1)
    wrong, right = parts if len(parts) == 2 else (sentence, "")
    return words(wrong.rstrip(";:") or NONE), words(right[:1].upper() + right[1:]) or NONE


# documents that are written already


def document(name: str) -> str:
    """A document of the repository as a page: its links lead to pages, others become plain words."""
    text = (ROOT / name).read_text(encoding="utf-8")
    if name.endswith(".py"):
        return f"# {ast.get_docstring(ast.parse(text)).split(':')[0]}\n\n```python\n{text}```\n"

    def lead(found: re.Match[str]) -> str:
        mark, label, target = found["mark"], found["label"], found["target"]
        if re.match(r"[a-z]+:|#", target):
            return found[0]
        path, _, part = target.partition("#")
        at = "/".join(_normal(PurePosixPath(name).parent / path))
        if at in PICTURES:
            return f"{mark}[{label}]({PurePosixPath(at).name})"
        return f"{mark}[{label}]({ADDRESS[at]}{'#' * bool(part)}{part})" if at in ADDRESS else label

    text = re.sub(r'src="docs/([\w.]+)"', r'src="\1"', text)
    return re.sub(r"(?P<mark>!?)\[(?P<label>[^\]]*)\]\((?P<target>[^)\s]+)\)", lead, text)


def _normal(path: PurePosixPath) -> list[str]:
    parts: list[str] = []
    for part in path.parts:
        parts = parts[:-1] if part == ".." else [*parts, part]
    return parts


# Markdown


def listed(
    folder: str, title: str, items: Iterable[Any], group: Callable[[Any], str], groups: Iterable[str],
    about: Callable[[Any], Iterable[str]],
) -> Pages:  # fmt: skip
    """A page for each item, and one that lists them in their groups."""
    items = list(items)
    made = {
        f"{folder}/{slug(i.name)}.md": f"# {words(i.name)}\n\n{words(i.idea)}\n\n" + "\n".join(about(i)) for i in items
    }
    sections = []
    for one in groups:
        lines = [f"- [{words(i.name)}]({slug(i.name)}.md): {words(i.idea)}\n" for i in items if group(i) == one]
        sections.append((f"\n## {one}\n\n" if one else "\n") + "".join(lines) if lines else "")
    return made | {f"{folder}/index.md": f"# {title}\n" + "".join(sections)}


def slug(name: str) -> str:
    """The name of a file; names that differ get different ones."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower().replace("+", " plus ").replace("*", " star ")).strip("-")


def _link(folder: str, name: str) -> str:
    return f"[{words(name)}](../{folder}/{slug(name)}.md)"


def _names(item: Any) -> str:
    return words(", ".join(item.aliases))


def facts(about: Mapping[str, str]) -> str:
    """What is known, a line each."""
    return "".join(f"- **{name}:** {value}\n" for name, value in about.items() if value) + "\n"


def values(title: str, part: Any) -> str:
    """The knobs of a dataclass as they stand."""
    assert is_dataclass(part), "architectures and recipes are dataclasses"
    rows = [(f"`{k.name}`", f"`{getattr(part, k.name)}`", words(k.unit), words(k.why)) for k in knobs(part)]
    others = {f.name for f in fields(part)} - {k.name for k in knobs(part)}
    rows += [
        (f"`{name}`", f"`{getattr(part, name)}`", "", "") for name in sorted(others) if _short(getattr(part, name))
    ]
    return f"\n## {title}\n\n" + table(("knob", "value", "unit", "why"), rows)


def _short(value: Any) -> bool:
    return isinstance(value, str | int | float | bool) and bool(value)


def knob_table(all_knobs: Iterable[Knob]) -> str:
    """Knobs with their defaults, limits, units and reasons."""
    rows = [(f"`{k.name}`", f"`{k.default}`", words(_limits(k)), words(k.unit), words(k.why)) for k in all_knobs]
    return "\n## Knobs\n\n" + table(("knob", "default", "limits", "unit", "why"), rows) if rows else ""


def _limits(k: Knob) -> str:
    if k.choices:
        return ", ".join(map(str, k.choices))
    return NONE if k.low is None and k.high is None else f"{k.low:g} to {k.high:g}"


def _listing(title: str, lines: Iterable[str]) -> str:
    text = "".join(f"- {line}\n" for line in lines)
    return f"\n## {title}\n\n{text}" if text else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; a bar would end a cell."""
    cells = [[cell.replace("|", "&#124;").replace("\n", " ") or NONE for cell in row] for row in rows]
    lines = (head, ["---"] * len(head), *cells)
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) if cells else ""


def words(text: str) -> str:
    """A text as words, in which no sign means anything to Markdown or HTML; code in backticks stays code."""
    parts = re.split(r"(`[^`]+`)", str(text))
    return "".join(
        p if p.startswith("`") else re.sub(r"([\\*_\[\]])", r"\\\1", html.escape(p, quote=False)) for p in parts
    )


def linked(source: str) -> str:
    """A source, whose arXiv numbers lead to the paper."""
    return re.sub(r"arXiv:(\d{4}\.\d{4,5})", r"[arXiv:\1](https://arxiv.org/abs/\1)", words(source))


def mathml(latex: str, inline: bool = False) -> str:
    """A formula that a browser sets by itself."""
    made = re.sub(r"\s*\n\s*", "", convert(latex, display="inline" if inline else "block"))
    return made if inline else f"\n<div>{made}</div>\n"


def docstring(thing: Any) -> str:
    """A docstring as Markdown: its examples are code."""
    text = inspect.getdoc(thing) or ""
    return re.sub(r"(?m)((?:^>>> .*\n?)+)", lambda found: f"```python\n{found[0].rstrip()}\n```\n", text)


def first_line(thing: Any) -> str:
    """The sentence that says what a class, a function or an instance of a class is."""
    kind = thing if isinstance(thing, type | property) or callable(thing) else type(thing)
    return (inspect.getdoc(kind) or "").partition("\n")[0]


def quoted(name: str) -> str:
    """A name as an argument of the shell."""
    return name if re.fullmatch(r"[\w.-]+", name) else f'"{name}"'


def write(folder: Path) -> int:
    """Write everything that the site is built from, and count the pages."""
    shutil.rmtree(folder, ignore_errors=True)
    made = pages()
    for name, text in made.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for picture in PICTURES:
        shutil.copy(ROOT / picture, folder)
    return len(made)


if __name__ == "__main__":
    print(f"{write(Path(sys.argv[1]))} pages in {sys.argv[1]}")
