"""What the stage is without a browser: still pictures, data inside a page, and edits that are heard once."""

from xml.etree import ElementTree

import pytest

from playground.trace.rebuild import SENTENCE, rebuild
from tests.browser import stage_gallery as gallery
from widgets.animation import js, standalone, svg, unheard


def test_edits_that_arrive_twice_or_together_are_heard_once() -> None:
    heard: dict[str, int] = {}
    message = {"from": "a", "edits": [{"number": 1, "do": "undo"}, {"number": 2, "do": "redo"}]}
    assert [e["do"] for e in unheard(message, heard)] == ["undo", "redo"]
    assert list(unheard(message, heard)) == []
    later = {"from": "a", "edits": [*message["edits"], {"number": 3, "do": "roll"}]}
    assert [e["do"] for e in unheard(later, heard)] == ["roll"]
    assert [e["do"] for e in unheard({"from": "b", "edits": [{"number": 1, "do": "undo"}]}, heard)] == ["undo"]


@pytest.mark.parametrize("name", sorted(gallery.RECORDS))
def test_stills_are_xml_with_their_words_as_text(name: str) -> None:
    record = gallery.RECORDS[name]()
    drawn = ElementTree.fromstring(svg(record))
    words = "".join(drawn.itertext())
    assert all(cell["text"][:3] in words for lane in record["frames"][-1]["lanes"] for cell in lane["cells"])
    assert svg(record, "text") == svg(record, 0)


def test_scripts_cannot_be_closed_by_data() -> None:
    hostile = {"a": "</script>\u2028&"}
    assert js(hostile) == '{"a": "\\u003c/script\\u003e\\u2028\\u0026"}'
    assert standalone(gallery.hostile()).count("</script>") == 1


def test_two_languages_are_told_apart_on_every_token_and_one_is_not_marked():
    made = rebuild("TLM", "How are you", pair="Comment vas-tu").record()
    lanes = {lane["name"]: [cell.get("language", 0) for cell in lane["cells"]] for lane in made["frames"][-1]["lanes"]}
    assert lanes["original"] == [1, 1, 1, 2, 2]
    assert sorted(lanes["inputs"]) == lanes["inputs"] and set(lanes["inputs"]) == {1, 2}
    alone = rebuild("MLM", SENTENCE).record()["frames"]
    assert not any(cell.get("language") for each in alone for lane in each["lanes"] for cell in lane["cells"])
    drawn = svg(made)
    assert drawn.count('stroke-dasharray="4 2.5"') == lanes["original"].count(2) + lanes["inputs"].count(2)
