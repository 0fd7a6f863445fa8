"""The pages of the documentation site: everything in the catalogue has one, and every link in them leads somewhere."""

import importlib.util
import re
import sys
from importlib import import_module
from pathlib import Path, PurePosixPath
from types import SimpleNamespace

import pytest
from PIL import Image

from playground.cli import COMMANDS
from playground.corpora.sources import sources
from playground.finetuning import strategies, tasks
from playground.objectives import objectives
from playground.zoo import entries

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("pages_of_the_docs", DOCS / "pages.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made
    spec.loader.exec_module(made)
    return made


@pytest.fixture(scope="module")
def pages(script):
    return script.pages()


def test_everything_in_the_catalogue_has_a_page_of_its_own(script, pages):
    kinds = {"objectives": objectives(), "zoo": entries(), "strategies": strategies(), "corpora": sources()}
    for folder, names in (kinds | {"tasks": tasks(), "commands": COMMANDS}).items():
        overrides = [f"{folder}/{script.slug(name)}.md" for name in names]
        assert len(set(overrides)) == len(overrides), "no two names share a file"
        assert set(overrides) < pages.keys()
        assert all(f"({script.slug(name)}.md)" in pages[f"{folder}/index.md"] for name in names)


def anchors(page):
    """The anchors of a page's headings, as GitHub and the site make them."""
    plain = (re.sub(r"[`*\\]", "", head).strip().lower() for head in re.findall(r"(?m)^#+ (.*)$", page))
    return {re.sub(r"[^\w\- ]", "", head).replace(" ", "-") for head in plain}


def test_every_link_leads_to_a_page_and_to_a_heading_of_it(script, pages):
    pictures = {Path(picture).name for picture in script.PICTURES}
    followed = 0
    for name, text in pages.items():
        without_code = re.sub(r"(?ms)^```.*?^```|`[^`\n]*`|<script.*?</script>", "", text)
        for target in re.findall(r"\]\(([^)\s]+)\)", without_code):
            if re.match(r"https?:|mailto:", target):
                continue
            path, _, part = target.partition("#")
            position = "/".join(script._normal(PurePosixPath(name).parent / path)) if path else name
            assert position in pages or position in pictures, f"{name}: {target}"
            assert not part or part in anchors(pages[position]), f"{name}: {target}"
            followed += 1
    assert followed > 500


def test_the_rows_of_the_surveys_table_play_and_no_page_asks_another_host(pages):
    playing = {name for name, text in pages.items() if '["stage", "stage-' in text}
    assert len(playing) == len([o for o in objectives().values() if o.row])
    assert not [n for n, text in pages.items() if re.search(r"<(script|img|link)[^>]+(src|href)=.https?:", text)]


def test_the_refusals_are_listed_with_what_would_be_right(pages):
    assert pages["errors.md"].count("\n| ") > 300 and pages["errors.md"].count("\n## ") < 20
    assert "| There is no knob … | The knobs are: …. |" in pages["errors.md"]


def test_the_notebook_functions_and_their_values_are_described(pages):
    api = pages["api.md"]
    for part in (
        "## stage",
        "## train",
        "`run` (trait)",
        "`value` (trait)",
        "`resume()`",
        '>>> order = stage("PLM"',
        "## compress",
    ):
        assert part in api


def test_the_moving_picture_is_small_and_moves():
    with Image.open(DOCS / "training.webp") as picture:
        assert picture.is_animated and picture.n_frames > 10
        assert picture.width <= 1280 and picture.height <= 800
    assert (DOCS / "training.webp").stat().st_size < 1_500_000


def test_a_screenshot_is_small(script):
    pages = [DOCS.parent / name for name in script.PICTURES if "/page_" in name]
    assert len(pages) == 4
    assert [path.name for path in pages if path.stat().st_size > 300_000] == []


def test_every_page_of_a_kind_is_in_the_navigation_after_its_index(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    for name in ("index", "mlm", "plm"):
        (tmp_path / "objectives").mkdir(exist_ok=True)
        (tmp_path / "objectives" / f"{name}.md").touch()
    nav = [{"Objectives": ["objectives/index.md", {"About them": "about.md"}]}, {"Zoo": "objectives/index.md"}]
    made = import_module("navigation").on_config(SimpleNamespace(docs_dir=str(tmp_path), nav=nav)).nav
    found = ["objectives/index.md", "objectives/mlm.md", "objectives/plm.md"]
    assert made == [{"Objectives": [*found, {"About them": "about.md"}]}, {"Zoo": found}]
