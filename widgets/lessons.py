"""The tutorial notebooks, run by papermill and written as pages that animate without a kernel and without a network.

A lesson has three forms: the page with all its code, the demo for a projector, whose only button goes on, and the
exercise to be handed out, whose solutions are on a page of their own.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from copy import deepcopy
from dataclasses import dataclass
from html import escape
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

import nbformat
from latex2mathml.converter import convert

from playground.errors import UserError
from playground.knob import Knob, check
from widgets.bundle import sheet
from widgets.design_tokens import properties

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>{style}</style></head><body><h1>{title}</h1>
<p>{idea}</p>
<ul>
{rows}
</ul>
<p class="quiet">{settings}</p>
</body></html>
"""


FORMS = {
    "page": "Each page plays by itself: nothing is installed, nothing is downloaded.",
    "demo": "Each page is for a projector: the button, the space bar or the right arrow key continues and plays.",
    "exercise": "Each notebook runs in JupyterLab; the solutions are not in it.",
}
"""The forms of a lesson, and what the index page says of them."""

DEMO = """<script>
(() => {
  const main = document.querySelector("main") || document.body;
  const parts = [];
  for (const cell of [...main.querySelectorAll(".jp-Cell")]) {
    if (!parts.length || cell.querySelector("h1, h2")) {
      parts.push(document.createElement("section"));
      parts.at(-1).className = "lesson-part";
      cell.before(parts.at(-1));
    }
    parts.at(-1).append(cell);
  }
  const button = document.createElement("button");
  button.id = "lesson-next";
  let at = 0;
  const say = () => (button.textContent = at < parts.length - 1 ? `Next (${at + 1} of ${parts.length})` : "Again");
  const next = () => {
    at = (at + 1) % parts.length;
    parts[at].scrollIntoView({ behavior: "instant" });
    const host = [...parts[at].querySelectorAll("[id^=stage-]")].find((each) => each.__stage);
    if (host) {
      const { top, bottom } = host.getBoundingClientRect();
      scrollBy({ top: Math.max(0, Math.min(top, bottom - innerHeight)), behavior: "instant" }); // the whole picture
      host.__stage.play();
    }
    say();
  };
  button.onclick = next;
  addEventListener("keydown", (event) => {
    if (event.target !== document.body || ![" ", "ArrowRight"].includes(event.key)) return;
    event.preventDefault();
    next();
  });
  say();
  document.body.append(button);
})();
</script>"""
"""What makes a page a demo, with its style sheet: a part fills the screen, one button shows the next and plays it."""

PICTURE = re.compile(r'<img alt="[^"]*" src="data:[^"]*">|<svg [^>]*viewBox="[0-9. ]+".*?</svg>', re.DOTALL)
"""A picture without a script in the output of a cell."""

FORMULA = re.compile(r"(\$\$?)(.+?)\1", re.DOTALL)
"""A formula in a text: on a line of its own between two dollar signs on each side, or within a line between one."""

LARGER = "<style>.jp-MarkdownOutput math { font-size: 1.2em; }</style>"
"""The letters of a formula are as large as those around it."""

ANSWER = "# your answer"
"""What a cell holds in which a reader answers; the next cell checks it."""

SOLUTION = re.compile(r"<details><summary>Solution</summary>(.*?)</details>", re.DOTALL)


@dataclass(frozen=True)
class Lesson:
    """A notebook in one of its forms: what was written, how long it took, and why it failed where it did.

    `kept` says why it kept its own corpus although another was asked for; `picture` is markup, the first that it shows.
    """

    name: str
    title: str
    page: Path
    seconds: float
    failure: str = ""
    kept: str = ""
    picture: str = ""


def notebooks(folder: Path, names: Sequence[str] = ()) -> list[Path]:
    """The notebooks of a folder in their order; `names` are beginnings such as "04", of which each must fit one."""
    found = sorted(folder.glob("*.ipynb"))
    if not found:
        raise UserError(f"There is no notebook in {str(folder)!r}; name the folder that has them with --notebooks.")
    for name in names:
        if not any(path.stem.startswith(name) for path in found):
            raise UserError(f"No notebook begins with {name!r}; there are: {', '.join(path.stem for path in found)}.")
    return [path for path in found if not names or path.stem.startswith(tuple(names))]


def parameters(path: Path) -> dict[str, Any]:
    """What the parameters cell of a notebook sets: names and values."""
    tagged = [c for c in nbformat.read(path, as_version=4).cells if "parameters" in c.metadata.get("tags", ())]
    lines = [node for cell in tagged for node in ast.parse(cell.source).body if isinstance(node, ast.Assign)]
    return {t.id: ast.literal_eval(line.value) for line in lines for t in line.targets if isinstance(t, ast.Name)}


def _own(path: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the settings that a notebook knows, each in the type of its own value, or refused."""
    return {
        name: check(Knob(name, default, None, None, (), "", ""), settings[name])
        for name, default in parameters(path).items()
        if name in settings
    }


def needs(path: Path) -> str:
    """What a notebook asks of its corpus that a text of one's own does not have; empty where any text will do."""
    return nbformat.read(path, as_version=4).metadata.get("playground", {}).get("corpus", "")


def run_one(path: Path, out: Path, settings: Mapping[str, Any], form: str = "page") -> Lesson:
    """Run a notebook with its parameters set and write it and its page into a folder; a failure names its cell.

    A notebook that needs its own corpus keeps it.
    """
    import papermill
    from papermill.exceptions import PapermillExecutionError

    begun, failure, made = perf_counter(), "", out / path.name
    kept = needs(path) if "corpus" in settings else ""
    own = {name: value for name, value in settings.items() if not (kept and name == "corpus")}
    try:
        papermill.execute_notebook(
            path, made, own, kernel_name="python3", language="python", progress_bar=False,
            extra_arguments=["--log-level=ERROR"],
        )  # fmt: skip
    except PapermillExecutionError as error:
        failure = f"{path.stem}, cell {error.cell_index}: {error.ename}: {error.evalue}"
    page, notebook = made.with_suffix(".html"), nbformat.read(made, as_version=4)
    page.write_text(as_html(notebook, demo=form == "demo"), encoding="utf-8")
    return Lesson(path.stem, title(path), page, perf_counter() - begun, failure, kept, first_picture(notebook))


def first_picture(notebook: nbformat.NotebookNode) -> str:
    """The first picture that a notebook shows, as markup without a script; empty where it shows none."""
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", ()))
    pages = (output.get("data", {}).get("text/html", "").partition("<script")[0] for output in outputs)
    return next((found[0] for page in pages if (found := PICTURE.search(page))), "")


def as_html(notebook: nbformat.NotebookNode, demo: bool = False) -> str:
    """A notebook as a page that needs no network and links to other pages; a demo has no code, and one button."""
    from nbconvert import HTMLExporter

    notebook = deepcopy(notebook)
    answer = next((k for k, cell in enumerate(notebook.cells) if ANSWER in cell.source), None)
    if demo and answer is not None:
        del notebook.cells[answer : answer + 2]  # with the cell that checks the answer
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = FORMULA.sub(_typeset, cell.source)
    exporter = HTMLExporter(mathjax_url="", require_js_url="", exclude_input=demo, exclude_output_prompt=demo)
    page = exporter.from_notebook_node(notebook)[0].replace("</head>", f"{LARGER}</head>", 1)
    page = re.sub(r'href="([^":/]+)\.ipynb"', r'href="\1.html"', page)
    style = sheet(__file__, "lessons_demo.css")
    return page.replace("</body>", f"<style>{style}</style>{DEMO}</body>") if demo else page


def _typeset(formula: re.Match[str]) -> str:
    """A formula between dollar signs as MathML, which a browser draws without a script."""
    return convert(formula[2].strip(), display="block" if formula[1] == "$$" else "inline")


def exercise(path: Path, out: Path) -> tuple[Lesson, str]:
    """Write a notebook to be handed out, without its solutions; these come back, each with what was asked."""
    begun, notebook, said = perf_counter(), nbformat.read(path, as_version=4), []
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and SOLUTION.search(cell.source):
            said += SOLUTION.split(cell.source.rpartition("## Exercise")[2])
            cell.source = SOLUTION.sub("", cell.source).strip()
    made = out / path.name
    nbformat.write(notebook, made)
    solutions = "\n\n".join(each.strip() for each in said)
    return Lesson(path.stem, title(path), made, perf_counter() - begun), f"## {title(path)}\n\n{solutions}"


def exercises(paths: Sequence[Path], out: Path) -> Iterator[Lesson]:
    """Write all notebooks to be handed out, and `solutions.html` for whoever teaches."""
    solutions = []
    for path in paths:
        lesson, said = exercise(path, out)
        solutions.append(nbformat.v4.new_markdown_cell(said))
        yield lesson
    page = as_html(nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Solutions"), *solutions]))
    (out / "solutions.html").write_text(page, encoding="utf-8")


def title(path: Path) -> str:
    """The first heading of a notebook."""
    cells = nbformat.read(path, as_version=4).cells
    return next((m[1] for cell in cells if (m := re.match(r"# (.+)", cell.source))), path.stem)


def run_all(
    paths: Sequence[Path], out: Path, settings: Mapping[str, Any], workers: int, form: str = "page"
) -> Iterator[Lesson]:
    """Run notebooks side by side, each in a process of its own; each gets those of the settings that it knows."""
    own = {path: _own(path, settings) for path in paths}
    if unknown := settings.keys() - {name for known in own.values() for name in known}:
        raise UserError(f"No notebook has a parameter {sorted(unknown)[0]!r}; look into their parameters cells.")
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        waiting = [pool.submit(run_one, path, out, known, form) for path, known in own.items()]
        yield from (done.result() for done in as_completed(waiting))


def index(lessons: Sequence[Lesson], settings: Mapping[str, Any], form: str = "page") -> str:
    """The page that links to all lessons in their order, each with its first picture."""
    rows = map(_card, sorted(lessons, key=lambda lesson: lesson.name))
    said = ", ".join(f"{name} = {value}" for name, value in settings.items())
    settled = f"Run with {said}." if said else "Run with their own parameters."
    heading = {"page": "Lessons", "demo": "Demos", "exercise": "Exercises"}[form]
    return PAGE.format(
        title=heading, style=properties(":root") + sheet(__file__), idea=FORMS[form], rows="\n".join(rows),
        settings="" if form == "exercise" else escape(settled),
    )  # fmt: skip


def _card(lesson: Lesson) -> str:
    number = lesson.name.partition("_")[0]
    picture = f'<span class="picture" aria-hidden="true">{lesson.picture}</span>' if lesson.picture else ""
    link = f'<a href="{escape(lesson.page.name)}">{picture}{escape(f"{number} {lesson.title}")}</a>'
    kept = f"Run with its own corpus: it needs {lesson.kept}." if lesson.kept else ""
    failed = f'<p class="failed">{escape(lesson.failure)}</p>' if lesson.failure else ""
    return f'<li>{link}{failed}<span class="quiet">{escape(kept)}</span></li>'
