"""Every notebook: it runs by papermill, holds its asserts, and its export still animates without kernel or network."""

import json
from pathlib import Path

import nbformat
import pytest

from playground.cli import main
from playground.errors import UserError
from widgets.lessons import Lesson, as_html, exercise, needs, notebooks, parameters, run_one

NOTEBOOKS = notebooks(Path(__file__).parents[2] / "notebooks")
each_notebook = pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=[pytest.mark.guarded] * (path.stem[:2] == "00")) for path in NOTEBOOKS],
)

PARAMETERS = {"steps", "seed", "corpus", "device"}
"""What every notebook lets papermill set."""

QUICK = {
    "00_start_here": {"steps": 120, "tuning_steps": 20, "seeds": 2},
    "01_what_is_a_contextual_embedding": {"steps": 250},
    "02_how_does_a_model_guess_the_next_word": {"steps": 100},
    "03_how_does_a_model_fill_a_gap": {"steps": 120},
    "04_can_a_model_read_in_any_order": {"steps": 60},
    "05_who_attends_to_whom": {"steps": 60},
    "06_what_can_be_broken_and_mended": {"steps": 80},
    "07_which_word_was_replaced": {"steps": 60},
    "08_do_two_texts_belong_together": {"steps": 250},
    "09_can_one_model_read_two_languages": {"steps": 200},
    "10_how_to_adapt_a_model": {"steps": 120, "tuning_steps": 10, "seeds": 2},
    "11_what_has_a_model_learned": {"steps": 300},
    "12_can_a_model_be_made_smaller": {"steps": 60, "tuning_steps": 10},
    "13_can_i_bring_my_own": {"steps": 60, "tuning_steps": 10},
    "14_can_i_invent_an_objective": {"steps": 120},
    "15_does_the_claim_hold": {"steps": 60, "tuning_steps": 10, "seeds": 2},
}
"""Smaller numbers, with which all that they say can be seen as well."""

LARGEST = 3_000_000
"""Bytes of an exported page."""


@pytest.fixture(scope="session")
def executed(tmp_path_factory):
    """Run each notebook once, as papermill does it: nobody sits before the kernel."""
    done: dict[str, Lesson] = {}

    def run(path: Path) -> Lesson:
        if path.stem not in done:
            done[path.stem] = run_one(path, tmp_path_factory.mktemp("notebooks"), QUICK.get(path.stem, {}))
        return done[path.stem]

    return run


@pytest.mark.guarded
@each_notebook
def test_declares_its_parameters_and_keeps_no_outputs(path):
    assert (PARAMETERS | QUICK.get(path.stem, {}).keys()) <= parameters(path), "the parameters cell must hold these"
    notebook = nbformat.read(path, as_version=4)
    assert not any(c.get("outputs") or c.get("execution_count") for c in notebook.cells if c.cell_type == "code")
    parts = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown").split("\n## ")
    sections = [part for part in parts if part[:1].isdigit()]
    asserts = [c for c in notebook.cells if c.cell_type == "code" and "assert" in c.source]
    assert len(asserts) >= len(sections) >= 2, "one assert for each section that shows something"


@each_notebook
def test_runs_by_papermill_and_shows_its_pictures(path, executed):
    lesson = executed(path)
    assert not lesson.failure
    notebook = nbformat.read(lesson.page.with_suffix(".ipynb"), as_version=4)
    written = [output for cell in notebook.cells for output in cell.get("outputs", ())]
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
    [lesson] = json.loads(capsys.readouterr().out)["lessons"]
    assert lesson["failure"] == "01_one, cell 3: AssertionError: the steps are not one"
    page = (tmp_path / "out" / "index.html").read_text()
    assert '<a href="01_one.html">One &amp; only</a>' in page and "cell 3" in page and "steps = 2" in page
    assert main([*given, "--set", "step=2"]) == 2
    assert "No notebook has a parameter 'step'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("steps=abc", "steps is 'abc'; it must be a whole number."),
        ("seed=[1]", "seed is [1]; it must be a whole number."),
        ("steps=0", "steps is 0; it must lie between 1 and 100000 steps."),
    ],
)
def test_a_setting_of_a_wrong_type_is_named_with_its_cell(setting, said, tmp_path, capsys):
    cells = [
        nbformat.v4.new_markdown_cell("# One"),
        nbformat.v4.new_code_cell("steps = 1\nseed = 0", metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell("from widgets import train\n\ntrain('GPT', steps=steps, seed=seed)"),
    ]
    (tmp_path / "in").mkdir()
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "in" / "01_one.ipynb")
    given = ["lessons", "run", "--notebooks", str(tmp_path / "in"), "--out", str(tmp_path / "out")]
    assert main([*given, "--set", setting]) == 1
    printed = capsys.readouterr()
    assert f"01_one, cell 3: UserError: {said}" in printed.out and "Traceback" not in printed.out + printed.err


def test_a_notebook_keeps_the_corpus_that_its_asserts_need(tmp_path, capsys):
    kept = {path.stem[:2] for path in NOTEBOOKS if needs(path)}
    assert kept == {"01", "09", "11"}, "every other notebook takes a text of the class"
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
    assert json.loads(capsys.readouterr().out)["lessons"][0]["kept_corpus"] == "known meanings"
    assert "with its own corpus: it needs known meanings" in (tmp_path / "out" / "index.html").read_text()


@pytest.mark.guarded
def test_exercises_are_handed_out_without_their_solutions(tmp_path, capsys):
    assert main(["lessons", "run", "04", "15", "--form", "exercise", "--out", str(tmp_path), "--json"]) == 0
    lessons = json.loads(capsys.readouterr().out)["lessons"]
    assert [Path(lesson["page"]).name for lesson in lessons] == [f"{lesson['name']}.ipynb" for lesson in lessons]
    solutions = (tmp_path / "solutions.html").read_text()
    for path in NOTEBOOKS:
        if path.stem[:2] in ("04", "15"):
            handed = nbformat.read(tmp_path / path.name, as_version=4)
            nbformat.validate(handed)
            assert "<summary>" not in "".join(cell.source for cell in handed.cells)
            assert any(cell.source.startswith("# Your answer") for cell in handed.cells)
            assert "## Sources" in handed.cells[-1].source
    assert "from right to left" in solutions
    assert "stop at a chance result" in solutions


def test_every_solution_of_a_cell_is_taken_out(tmp_path):
    asked = "".join(f"Why {k}?<details><summary>Solution</summary>Because {k}.</details>\n" for k in (1, 2))
    cells = [nbformat.v4.new_markdown_cell(text) for text in ("# A lesson", asked, "The end.")]
    (tmp_path / "out").mkdir()
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "one.ipynb")
    _, solutions = exercise(tmp_path / "one.ipynb", tmp_path / "out")
    handed = [cell.source for cell in nbformat.read(tmp_path / "out" / "one.ipynb", as_version=4).cells]
    assert handed == ["# A lesson", "Why 1?", "# Your answer\n", "Why 2?", "# Your answer\n", "The end."]
    assert "Because 1." in solutions and "Because 2." in solutions


def test_a_demo_goes_on_by_its_one_button_and_plays(executed, offline_page, tmp_path):
    path = next(path for path in NOTEBOOKS if path.stem.startswith("04"))
    made = nbformat.read(executed(path).page.with_suffix(".ipynb"), as_version=4)
    (tmp_path / "demo.html").write_text(as_html(made, demo=True), encoding="utf-8")
    page = offline_page
    page.goto((tmp_path / "demo.html").as_uri())
    page.locator("canvas").first.wait_for()
    assert not page.locator(".jp-InputArea-editor").count(), "no code before a class"
    assert page.locator("button#lesson-next").text_content() == "Next (1 of 6)"
    page.keyboard.press("Space")
    page.locator("button#lesson-next", has_text="Next (2 of 6)").wait_for()
    page.wait_for_function("document.querySelector('[id^=stage-]').__stage.state().frame > 0")
    assert page.evaluate("document.querySelectorAll('.lesson-part')[1].getBoundingClientRect().top") < 100


@pytest.mark.guarded
def test_a_notebook_is_found_by_the_beginning_of_its_name(tmp_path):
    assert [path.stem for path in notebooks(NOTEBOOKS[0].parent, ["04", "00"])] == [
        "00_start_here", "04_can_a_model_read_in_any_order",
    ]  # fmt: skip
    with pytest.raises(UserError, match="No notebook begins with '99'"):
        notebooks(NOTEBOOKS[0].parent, ["99"])
    with pytest.raises(UserError, match="There is no notebook in"):
        notebooks(tmp_path)
