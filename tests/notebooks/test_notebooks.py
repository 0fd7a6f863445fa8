"""Every notebook: it runs by papermill, holds its asserts, and its export still animates without kernel or network."""

import re
from pathlib import Path

import nbformat
import pytest

from playground.cli import main
from playground.errors import UserError
from playground.glossary import TERMS
from tests import json_keys
from widgets.lessons import ANSWER, Lesson, as_html, exercise, needs, notebooks, parameters, run_one, title

NOTEBOOKS = notebooks(Path(__file__).parents[2] / "notebooks")
each_notebook = pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.guarded] * (path.stem[:2] in ("00", "05")))
        for path in NOTEBOOKS
    ],
)

PARAMETERS = {"steps", "seed", "corpus", "device", "quick"}
"""What every notebook lets papermill set."""

LONGEST = 10
"""Lines of a cell, without blank ones."""

LARGEST = 3_000_000
"""Bytes of an exported page."""


@pytest.fixture(scope="session")
def executed(tmp_path_factory):
    """Run each notebook once, as papermill does it when a notebook starts it: nobody sits before the kernel."""
    done: dict[str, Lesson] = {}

    def run(path: Path) -> Lesson:
        if path.stem not in done:
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("JPY_SESSION_NAME", "/variants.ipynb")
                done[path.stem] = run_one(path, tmp_path_factory.mktemp("notebooks"), {"quick": True})
        return done[path.stem]

    return run


@pytest.mark.guarded
@each_notebook
def test_declares_its_parameters_and_keeps_no_outputs(path):
    assert parameters(path).keys() >= PARAMETERS, "the parameters cell must hold these"
    notebook = nbformat.read(path, as_version=4)
    assert not any(c.get("outputs") or c.get("execution_count") for c in notebook.cells if c.cell_type == "code")
    for cell in notebook.cells:
        lines = [line for line in cell.source.splitlines() if line.strip()]
        assert cell.cell_type == "markdown" or len(lines) <= LONGEST, f"more than {LONGEST} lines: {lines[0]}"


@pytest.mark.guarded
@each_notebook
def test_asks_shows_counts_and_lets_the_reader_try(path):
    notebook = nbformat.read(path, as_version=4)
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    numbered, *rest = text.partition("\n## What you have seen")
    assert text.startswith("# ") and text.splitlines()[0].endswith("?"), "a question"
    assert "In this notebook you will" in numbered
    sections = re.findall(r"\n## (\d+)\.", numbered)
    assert sections == [str(k + 1) for k in range(len(sections))] and len(sections) >= 2
    asserts = sum(cell.source.count("assert ") for cell in notebook.cells if cell.cell_type == "code")
    assert asserts >= len(sections), "an assert for each section that shows something"
    last = re.findall(r"\n## (What you have seen|Exercise|Sources)", text)
    assert last == ["What you have seen", "Exercise", "Sources"] and "<summary>Solution</summary>" in rest[-1]
    assert any(ANSWER in cell.source for cell in notebook.cells), "a cell for the answer"


@pytest.mark.guarded
@each_notebook
def test_its_terms_stand_in_the_glossary(path):
    names = {term.name.lower() for term in TERMS}
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            bold = {term.lower() for term in re.findall(r"\*\*(.+?)\*\*", cell.source)}
            assert not {term for term in bold if term not in names and term.removesuffix("s") not in names}


@each_notebook
def test_runs_by_papermill_and_shows_its_pictures(path, executed):
    lesson = executed(path)
    assert not lesson.failure
    notebook = nbformat.read(lesson.page.with_suffix(".ipynb"), as_version=4)
    written = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    answer = next(k for k, cell in enumerate(notebook.cells) if ANSWER in cell.source)
    assert notebook.cells[answer + 1].outputs[0].text.startswith("Missing: "), "the check says what is missing"
    warned = [output.text for output in written if output.get("name") == "stderr"]
    assert not warned, "such as a word of the lesson that its model does not know"
    outputs = [output.get("data", {}) for output in written]
    pages = [data["text/html"] for data in outputs if "text/html" in data]
    calls = [cell.source for cell in notebook.cells if cell.cell_type == "code" and ends_in_a_name(cell.source)]
    assert calls and len(pages) >= len(calls), "what a cell ends with is shown"
    assert sum("drawCells();" in page for page in pages) == 1, "the drawing module, in the first of them"
    assert lesson.page.stat().st_size < LARGEST
    assert not any("application/vnd.jupyter.widget-view+json" in data for data in outputs)


def ends_in_a_name(source: str) -> bool:
    """Whether the last line of a cell is a value to be shown."""
    return source.strip().splitlines()[-1].isidentifier()


@each_notebook
def test_export_animates_without_kernel_and_network(path, executed, offline_page):
    page = offline_page
    page.goto(executed(path).page.as_uri())
    page.locator("canvas").first.wait_for()
    assert "$" not in "".join(page.locator(".jp-MarkdownOutput").all_inner_texts()), "a formula that is not set"
    host = page.evaluate_handle(
        "[...document.querySelectorAll('[id^=stage-], [id^=replay-]')].find(e => e.__stage || e.__replay)"
    )
    state = "e => e.__stage ? e.__stage.state().name : e.__replay.state().step"
    before = page.evaluate(state, host)
    slider = host.as_element().query_selector("input[type=range]")
    slider.press("End" if page.evaluate("e => !!e.__stage", host) else "Home")
    page.wait_for_function(f"([e, was]) => ({state})(e) !== was", arg=[host, before])


@pytest.mark.guarded
def test_a_lesson_that_fails_is_named_with_its_cell_and_cause(tmp_path, capsys):
    cells = [
        nbformat.v4.new_markdown_cell("# One & only"),
        nbformat.v4.new_code_cell("steps = 1", metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell("assert steps == 1, 'the steps are not one'"),
    ]
    (tmp_path / "in").mkdir()
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "in" / "01_one.ipynb")
    given = ["lessons", "run", "--notebooks", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--json"]
    assert main([*given, "--set", "steps=2"]) == 1
    [lesson] = json_keys.read("lessons", capsys.readouterr().out)["lessons"]
    assert lesson["failure"] == "01_one, cell 3: AssertionError: the steps are not one"
    page = (tmp_path / "out" / "index.html").read_text()
    assert '<a href="01_one.html">01 One &amp; only</a>' in page and "cell 3" in page and "steps = 2" in page
    assert main([*given, "--set", "step=2"]) == 2
    assert "No notebook has a parameter 'step'" in capsys.readouterr().err
    assert main([*given, "--set", "steps=many"]) == 2
    assert "steps is 'many'; it must be a whole number." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"steps": "abc"}, "steps is 'abc'; it must be a whole number."),
        ({"seed": [1]}, "seed is [1]; it must be a whole number."),
        ({"steps": 0}, "steps is 0; it must lie between 1 and 100000 steps."),
    ],
)
def test_a_parameter_that_papermill_sets_wrongly_is_named_with_its_cell(setting, said, tmp_path):
    cells = [
        nbformat.v4.new_markdown_cell("# One"),
        nbformat.v4.new_code_cell("steps = 1\nseed = 0", metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell("from widgets import train\n\ntrain('GPT', steps=steps, seed=seed)"),
    ]
    (tmp_path / "out").mkdir()
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "01_one.ipynb")
    lesson = run_one(tmp_path / "01_one.ipynb", tmp_path / "out", setting)
    assert lesson.failure == f"01_one, cell 3: UserError: {said}"


def test_a_notebook_keeps_the_corpus_that_its_asserts_need(tmp_path, capsys):
    kept = {path.stem[:2] for path in NOTEBOOKS if needs(path)}
    assert kept == {"01", "04", "09", "11"}, "every other notebook takes a text of the class"
    cells = [
        nbformat.v4.new_markdown_cell("# One"),
        nbformat.v4.new_code_cell("corpus = 'senses'", metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell("assert corpus == 'senses'"),
    ]
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"playground": {"corpus": "known meanings"}})
    (tmp_path / "in").mkdir()
    nbformat.write(notebook, tmp_path / "in" / "01_one.ipynb")
    given = ["lessons", "run", "--notebooks", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--json"]
    assert main([*given, "--set", "corpus=mine.txt"]) == 0
    assert json_keys.read("lessons", capsys.readouterr().out)["lessons"][0]["kept_corpus"] == "known meanings"
    assert "Run with its own corpus: it needs known meanings." in (tmp_path / "out" / "index.html").read_text()


@pytest.mark.guarded
def test_exercises_are_handed_out_without_their_solutions(tmp_path, capsys):
    assert main(["lessons", "run", "04", "15", "--form", "exercise", "--out", str(tmp_path), "--json"]) == 0
    lessons = json_keys.read("lessons", capsys.readouterr().out)["lessons"]
    assert [Path(lesson["page"]).name for lesson in lessons] == [f"{lesson['name']}.ipynb" for lesson in lessons]
    solutions = (tmp_path / "solutions.html").read_text()
    for path in NOTEBOOKS:
        if path.stem[:2] in ("04", "15"):
            handed = nbformat.read(tmp_path / path.name, as_version=4)
            nbformat.validate(handed)
            assert "<summary>" not in "".join(cell.source for cell in handed.cells)
            assert any(ANSWER in cell.source for cell in handed.cells)
            assert "## Sources" in handed.cells[-1].source
    assert "the words on its right" in solutions
    assert "stop at a chance result" in solutions


def test_every_solution_of_a_cell_is_taken_out(tmp_path):
    asked = "".join(f"Why {k}?<details><summary>Solution</summary>Because {k}.</details>\n" for k in (1, 2))
    cells = [nbformat.v4.new_markdown_cell(text) for text in ("# A lesson", asked, "The end.")]
    (tmp_path / "out").mkdir()
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "one.ipynb")
    _, solutions = exercise(tmp_path / "one.ipynb", tmp_path / "out")
    handed = [cell.source for cell in nbformat.read(tmp_path / "out" / "one.ipynb", as_version=4).cells]
    assert handed == ["# A lesson", "Why 1?\nWhy 2?", "The end."]
    assert solutions.split("\n\n") == ["## A lesson", "Why 1?", "Because 1.", "Why 2?", "Because 2.", ""]


@pytest.mark.guarded
def test_the_first_notebook_lists_the_others_by_their_questions():
    lines = nbformat.read(NOTEBOOKS[0], as_version=4).cells[0].source.splitlines()
    listed = [line for line in lines if line.startswith("* [")]
    assert listed == [f"* [{path.stem[:2]}]({path.name}) {title(path)}" for path in NOTEBOOKS[1:]]


def test_a_demo_goes_on_by_its_one_button_and_plays(executed, offline_page, tmp_path):
    path = next(path for path in NOTEBOOKS if path.stem.startswith("04"))
    made = nbformat.read(executed(path).page.with_suffix(".ipynb"), as_version=4)
    (tmp_path / "demo.html").write_text(as_html(made, demo=True), encoding="utf-8")
    page = offline_page
    page.goto((tmp_path / "demo.html").as_uri())
    page.locator("canvas").first.wait_for()
    assert not page.locator(".jp-InputArea-editor").count(), "no code before a class"
    assert page.locator("button#lesson-next").text_content() == "Next (1 of 9)"
    page.keyboard.press("Space")
    page.locator("button#lesson-next", has_text="Next (2 of 9)").wait_for()
    page.wait_for_function("document.querySelector('[id^=stage-]').__stage.state().frame > 0")
    assert page.evaluate("document.querySelectorAll('.lesson-part')[1].getBoundingClientRect().top") < 100
    below = "document.querySelector('section.stage').getBoundingClientRect().bottom - innerHeight"
    assert page.evaluate(below) < 1, "the whole picture is in sight"
    assert not page.get_by_text("Missing").count(), "nothing is asked of a class that cannot type"


def test_formulas_of_a_page_are_drawn_without_a_script():
    text = "The loss $x_{<t}$ of the model:\n\n$$\\sum_t \\log p(x_t)$$"
    cells = [nbformat.v4.new_markdown_cell(text), nbformat.v4.new_code_cell("price = '$1 and $2'")]
    page = as_html(nbformat.v4.new_notebook(cells=cells)).partition("<body")[2]
    assert page.count("<math") == 2 and 'display="block"' in page
    assert "\\sum" not in page and "$1 and $2" in page, "the code is left as it is"
    assert cells[0].source == text, "and so is the notebook"


@pytest.mark.guarded
def test_a_notebook_is_found_by_the_beginning_of_its_name(tmp_path):
    assert [path.stem for path in notebooks(NOTEBOOKS[0].parent, ["04", "00"])] == [
        "00_start_here", "04_can_a_model_read_in_any_order",
    ]  # fmt: skip
    with pytest.raises(UserError, match="No notebook begins with '99'"):
        notebooks(NOTEBOOKS[0].parent, ["99"])
    with pytest.raises(UserError, match="There is no notebook in"):
        notebooks(tmp_path)
