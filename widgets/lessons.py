"""The tutorial notebooks, run by papermill and written as pages that animate without a kernel and without a network.

A lesson has three forms: the page with all its code, the demo for a projector, whose only button goes on, and the
exercise to be handed out, whose solutions are on a page of their own.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from html import escape
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

import nbformat

from playground.errors import UserError

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>
:root {{ color-scheme: light dark; }}
body {{ font: 1.05rem/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }}
li {{ margin: 0 0 .7rem; }} .quiet {{ opacity: .75; font-size: .9em; }}
</style></head><body><h1>{title}</h1>
<p>{idea}</p>
<ol>
{rows}
</ol>
<p class="quiet">{settings}</p>
</body></html>
"""


FORMS = {
    "page": "Each page plays by itself: nothing is installed, nothing is downloaded.",
    "demo": "Each page is for a projector: the button, the space bar or the right arrow key goes on and plays.",
    "exercise": "Each notebook runs in JupyterLab; the solutions are not in it.",
}
"""The forms of a lesson, and what the index page says of them."""

DEMO = """<style>
.jp-MarkdownOutput { font-size: 1.3em; }
.lesson-part { min-height: 100vh; box-sizing: border-box; padding: 1rem 0 5rem; }
#lesson-next { position: fixed; right: 1.5rem; bottom: 1.5rem; z-index: 9; padding: .6em 1.4em; font: inherit;
  border-radius: .5em; border: 1px solid #777; background: #0072b2; color: #fff; cursor: pointer; }
</style><script>
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
    if (host) host.__stage.play();
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
"""What makes a page a demo: a part fills the screen, and one button shows the next part and plays its picture."""

SOLUTION = re.compile(r"<details><summary>Solution</summary>(.*?)</details>", re.DOTALL)


@dataclass(frozen=True)
class Lesson:
    """A notebook in one of its forms: what was written, how long it took, and why it failed where it did.

    `kept` says why it kept its own corpus although another was asked for.
    """

    name: str
    title: str
    page: Path
    seconds: float
    failure: str = ""
    kept: str = ""


def notebooks(folder: Path, names: Sequence[str] = ()) -> list[Path]:
    """The notebooks of a folder in their order; `names` are beginnings such as "04", of which each must fit one."""
    found = sorted(folder.glob("*.ipynb"))
    if not found:
        raise UserError(f"There is no notebook in {str(folder)!r}; name the folder that has them with --notebooks.")
    for name in names:
        if not any(path.stem.startswith(name) for path in found):
            raise UserError(f"No notebook begins with {name!r}; there are: {', '.join(path.stem for path in found)}.")
    return [path for path in found if not names or path.stem.startswith(tuple(names))]


def parameters(path: Path) -> set[str]:
    """The names that the parameters cell of a notebook sets."""
    tagged = [c for c in nbformat.read(path, as_version=4).cells if "parameters" in c.metadata.get("tags", ())]
    lines = [node for cell in tagged for node in ast.parse(cell.source).body if isinstance(node, ast.Assign)]
    return {target.id for line in lines for target in line.targets if isinstance(target, ast.Name)}


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
        papermill.execute_notebook(path, made, own, kernel_name="python3", language="python", progress_bar=False)
    except PapermillExecutionError as error:
        failure = f"{path.stem}, cell {error.cell_index}: {error.ename}: {error.evalue}"
    page = made.with_suffix(".html")
    page.write_text(as_html(nbformat.read(made, as_version=4), demo=form == "demo"), encoding="utf-8")
    return Lesson(path.stem, title(path), page, perf_counter() - begun, failure, kept)


def as_html(notebook: nbformat.NotebookNode, demo: bool = False) -> str:
    """A notebook as a page that needs no network; a demo has no code, and one button."""
    from nbconvert import HTMLExporter

    exporter = HTMLExporter(mathjax_url="", require_js_url="", exclude_input=demo, exclude_output_prompt=demo)
    page = exporter.from_notebook_node(notebook)[0]
    return page.replace("</body>", DEMO + "</body>") if demo else page


def exercise(path: Path, out: Path) -> tuple[Lesson, str]:
    """Write a notebook to be handed out, with a cell for the answer in the place of each solution; these come back."""
    begun, notebook = perf_counter(), nbformat.read(path, as_version=4)
    cells, solutions = [], []
    for cell in notebook.cells:
        *asked, rest = SOLUTION.split(cell.source) if cell.cell_type == "markdown" else [cell.source]
        for question, solution in zip(asked[::2], asked[1::2], strict=True):
            solutions.append(f"{question.strip()}\n\n{solution.strip()}")
            cells.append(nbformat.v4.new_markdown_cell(question.strip()))
            cells.append(nbformat.v4.new_code_cell("# Your answer\n"))
        if not asked or rest.strip():
            cells.append(nbformat.v4.new_markdown_cell(rest.strip()) if asked else cell)
    made = out / path.name
    notebook.cells = cells
    nbformat.write(notebook, made)
    said = "\n\n".join(solutions).replace("## Exercise", "").strip()
    return Lesson(path.stem, title(path), made, perf_counter() - begun), f"## {title(path)}\n\n{said}"


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
    own = {path: {name: value for name, value in settings.items() if name in parameters(path)} for path in paths}
    if unknown := settings.keys() - {name for known in own.values() for name in known}:
        raise UserError(f"No notebook has a parameter {sorted(unknown)[0]!r}; look into their parameters cells.")
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        waiting = [pool.submit(run_one, path, out, known, form) for path, known in own.items()]
        yield from (done.result() for done in as_completed(waiting))


def index(lessons: Sequence[Lesson], settings: Mapping[str, Any], form: str = "page") -> str:
    """The page that links to all lessons in their order."""
    rows = (
        f'<li><a href="{escape(lesson.page.name)}">{escape(lesson.title)}</a> '
        f'<span class="quiet">{escape(lesson.failure or _told(lesson, form))}</span></li>'
        for lesson in sorted(lessons, key=lambda lesson: lesson.name)
    )
    said = ", ".join(f"{name} = {value}" for name, value in settings.items())
    settled = f"Run with {said}." if said else "Run as they are."
    heading = {"page": "Lessons", "demo": "Demos", "exercise": "Exercises"}[form]
    return PAGE.format(
        title=heading, idea=FORMS[form], rows="\n".join(rows), settings="" if form == "exercise" else escape(settled)
    )


def _told(lesson: Lesson, form: str) -> str:
    kept = f", with its own corpus: it needs {lesson.kept}" if lesson.kept else ""
    return "" if form == "exercise" else f"{lesson.seconds:.0f} s{kept}"
