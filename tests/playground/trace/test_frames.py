"""Lanes: which tokens stand in which row of the stage."""

import json
import re
from pathlib import Path

import pytest

import widgets.animation
from playground.objectives import objectives
from playground.trace import frames
from playground.trace.rebuild import SENTENCE, rebuild

RECORD_JS = Path(widgets.animation.__file__).parent / "js" / "record.js"


@pytest.mark.parametrize(("name", "number"), [("multi-token prediction", 4), ("sequential multi-token prediction", 2)])
def test_targets_at_several_distances_have_a_lane_each(name, number):
    rebuilt, words = rebuild(name, SENTENCE), SENTENCE.split()
    lanes = [lane for lane in frames.lanes(rebuilt.batch, 0) if lane["name"].startswith(frames.ANSWERS)]
    assert [lane["target"] for lane in lanes] == [target.name for target in rebuilt.batch.targets]
    assert len(lanes) == number
    for ahead, lane in enumerate(lanes):
        assert [cell["text"] for cell in lane["cells"] if cell["scored"]] == words[ahead:]
        assert not any(frames.BETWEEN in cell["text"] for cell in lane["cells"])


def test_the_drawing_knows_every_lane():
    """`LANES` of `record.js` gives their order from above."""
    found = re.search(r"export const LANES = (\[.*\]);", RECORD_JS.read_text(encoding="utf-8"))
    assert found
    known, drawn = json.loads(found[1]), set()
    for objective in objectives().values():
        if not objective.needs:
            names = [lane["name"] for lane in frames.lanes(rebuild(objective.name, SENTENCE).batch, 0)]
            assert names == sorted(names, key=known.index)
            drawn |= {*names}
    assert drawn == {*known}
