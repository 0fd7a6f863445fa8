"""The rooms of the drawing's JavaScript: a module imports from its own room and from those below it."""

import re
from pathlib import Path

import pytest

from widgets.animation import schema

DRAWING = Path(schema.__file__).with_name("js")
ROOMS = ("main", "components", "interact", "export", "paint", "shared")
"""From the top to the bottom; `main` is the entry, `shared` the modules beside it that every room may use."""
MODULES = sorted(DRAWING.rglob("*.js"))


def room(module: Path) -> int:
    """The number of the room of a module, 0 for the entry."""
    folder = module.relative_to(DRAWING).parts[0]
    return ROOMS.index({"main.js": "main"}.get(folder, "shared" if folder.endswith(".js") else folder))


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(DRAWING)))
def test_a_module_imports_only_from_its_own_room_and_those_below(module):
    paths = re.findall(
        r'^(?:import|export) [^;]*? from "([^"]+\.js)";', module.read_text(encoding="utf-8"), re.MULTILINE
    )
    above = [path for path in paths if room((module.parent / path).resolve()) < room(module)]
    assert not above, f"{module.relative_to(DRAWING)} imports {above}; the order is {' > '.join(ROOMS)}"


def test_every_room_has_modules():
    assert {room(module) for module in MODULES} == set(range(len(ROOMS)))
