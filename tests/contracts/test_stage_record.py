"""What the engine sends to the drawing, and what comes back, is what `widgets/animation/schema.py` says."""

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from playground.analysis.predictions import read
from playground.errors import UserError
from playground.objectives import objectives
from playground.trace import plan_edits
from playground.trace.model_frames import numbers, with_numbers
from playground.trace.rebuild import Rebuilt, rebuild
from tests import json_keys
from tests.runs import learner_of, reviews
from widgets.animation import schema
from widgets.animation.record import typeset
from widgets.state.stage import edits as stage_edits

SCRIPTS = Path(schema.__file__).with_name("js")
(EDIT,) = re.findall(r"^type Edit =\n(.*?);\n$", (SCRIPTS / "types.d.ts").read_text(encoding="utf-8"), re.M | re.S)
"""The union of what the stage sends, as TypeScript knows it."""
DRAWING = "".join(path.read_text(encoding="utf-8") for path in SCRIPTS.rglob("*.js"))
TEXT, PAIR, OTHER = (
    "I am happy to be with you . We walk side by side .",
    "It rained all day .",
    "The moon is far away .",
)


SAMPLE = "the film is good"


def check(record: Any) -> None:
    """Refuse a record that is not as the schema says."""
    json_keys.check(json.dumps(record), schema.StageRecord)


def test_a_difference_is_seen():
    record = typeset(rebuild("MLM").record())
    check(record)
    for wrong in ({**record, "version": "1"}, {**record, "more": 1}, {k: v for k, v in record.items() if k != "plan"}):
        with pytest.raises(ValidationError):
            check(wrong)


class WithoutLabels(Exception):
    """A typed text has none of the labels that an objective needs, so it has no record."""


def made(name: str) -> Rebuilt:
    """An objective on a typed text."""
    try:
        return rebuild(name, TEXT, pair=PAIR, other=OTHER)
    except UserError as refusal:
        if "which a typed text does not have" in str(refusal):
            raise WithoutLabels from refusal
        raise


@pytest.mark.parametrize("name", objectives())
def test_a_record_is_what_the_schema_says(name):
    with suppress(WithoutLabels):
        check(typeset(made(name).record()))


@pytest.mark.parametrize("name", objectives())
def test_the_ids_beside_the_tokens_are_those_of_the_batch(name):
    with suppress(WithoutLabels):
        rebuilt = made(name)
        facts, batch = rebuilt.facts(), rebuilt.batch
        lanes = {lane["name"]: lane for lane in typeset(rebuilt.record())["frames"][-1]["lanes"]}
        for stream, lane, prefix in ((batch.inputs, "inputs", ""), (batch.decoder, "decoder", "decoder_")):
            if stream is None:
                continue
            known = {f"{label}_type_ids": each.ids for label, each in stream.label_ids.items()}
            known |= {"token_type_ids": stream.segment_ids, "langs": stream.language_ids}
            known |= {"position_ids": stream.position_ids}
            if stream.second_position_ids is not None:
                known |= {"second_position_ids": stream.second_position_ids}
            real = {key: [int(ids[0, i]) for i in stream.valid[0].nonzero()] for key, ids in known.items()}
            assert {key: facts[prefix + key] for key in real} == real
            drawn = {ids["name"]: ids for ids in lanes[lane].get("ids", ())}
            assert {key: ids["values"] for key, ids in drawn.items()} == {key: real[key] for key in drawn}
            assert all(max(ids["values"]) < len(ids["words"]) for ids in drawn.values() if ids["words"])
            for key in set(real) - set(drawn):
                alone = key == "position_ids" and stream.attn_mask.form == "alone"
                apart = key == "token_type_ids" and "langs" in drawn
                assert alone or apart or real[key] == [i * (key == "position_ids") for i in range(len(real[key]))]


def test_a_model_says_what_the_schema_says():
    corpus = reviews()
    learner = learner_of("BERT")
    shown = rebuild("MLM", SAMPLE, tokenizer=corpus.tokenizer)
    record = shown.record()
    told = with_numbers(record, numbers(record, read(learner.model, shown.batch), "BERT"))
    assert told["numbers"]["guesses"] and told["numbers"]["attention"]
    check(typeset(told))


def test_the_edits_that_are_sent_declared_and_heard_are_the_same():
    sent = set(re.findall(r'\bdo: "(\w+)"', DRAWING))
    declared = {kind for kinds in re.findall(r"\bdo: ([^;}]+)", EDIT) for kind in re.findall(r"\w+", kinds)}
    store = Path(stage_edits.__file__).read_text(encoding="utf-8")
    heard = set(plan_edits.DO) | {
        word for line in re.findall(r'case ((?:"\w+"(?: \| )?)+)', store) for word in re.findall(r"\w+", line)
    }
    assert declared == heard == sent


def test_the_fields_of_edits_are_those_of_the_schema():
    sent = {
        field
        for each in re.findall(r"\{ (do: [^{}]*)", DRAWING)
        for field in re.findall(r"(?:^|, )([a-z]+)(?=:|,|$| )", each)
    }
    hearing = "".join(Path(str(part.__file__)).read_text(encoding="utf-8") for part in (plan_edits, stage_edits))
    heard = set(re.findall(r'(?:edit|message)(?:\.get\(|\[)"(\w+)"|number\((?:edit|message), "(\w+)"', hearing))
    read_fields = {field for pair in heard for field in pair if field}
    known = set(schema.Edit.__annotations__)
    assert sent <= known and read_fields <= known | {"edits"}, (sent - known, read_fields - known)
    assert set(re.findall(r"\b(\w+)\??:", EDIT)) == known - {"number"}
