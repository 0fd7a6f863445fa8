"""What the stage is without a browser: still pictures, data inside a page, and edits that are heard once."""

import re
from xml.etree import ElementTree

import pytest

from playground.trace.rebuild import SENTENCE, rebuild
from tests.browser import stage_gallery as gallery
from widgets.animation import js, standalone, svg, unheard
from widgets.animation.static_svg import runs, still


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


def test_languages_positions_and_segments_are_drawn_in_runs_and_a_lone_text_has_none():
    drawn = svg(rebuild("TLM", "How are you", pair="Comment vas-tu").record())
    found = re.findall(r">((?:language|position|segment) [^<]+)<", drawn)
    assert found == ["position 0–4", "position 0–3", "language 1", "language 2"]
    pair = rebuild("MLM + NSP", "How are you", pair="I am fine", overrides={"pair": "next"}).record()
    assert re.findall(r">(segment [^<]+)<", svg(pair)) == ["segment A", "segment B"]
    assert "<td>A</td>" in still(pair) and "<td>B</td>" in still(pair)
    alone = rebuild("MLM", SENTENCE).record()["frames"]
    assert not any("ids" in lane for each in alone for lane in each["lanes"])


def test_a_run_ends_with_its_line_its_id_or_its_count():
    segments = {"title": "segment", "values": [0, 0, 0, 1], "words": ["A", "B"]}
    assert list(runs(segments, 2)) == [(0, 1, "A"), (2, 2, "A"), (3, 3, "B")]
    positions = {"title": "position", "values": [0, 2, 3, 0], "words": []}
    assert list(runs(positions, 9)) == [(0, 0, "0"), (1, 2, "2–3"), (3, 3, "0")]
    polarity = {"title": "word polarity:", "values": [0, 2, 0], "words": ["", "positive", "negative"]}
    assert list(runs(polarity, 9)) == [(1, 1, "negative")]
