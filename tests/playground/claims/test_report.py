"""Claims as data and as a table."""

import csv
import io

from playground.claims.report import claim_facts, effect, table_csv
from playground.claims.verdict import decide
from tests.playground.claims.test_claim import CARD
from tests.playground.claims.test_verdict import VALUES


def test_a_claim_with_and_without_a_verdict():
    bare, judged = claim_facts(CARD, None), claim_facts(CARD, decide(CARD, VALUES, range(5), 9))
    assert (bare["verdict"], bare["effect"], bare["seconds"], effect(bare)) == (None, None, None, "")
    assert (judged["verdict"], judged["seeds"], judged["seconds"]) == ("agrees", 5, 9)
    assert effect(judged) == "+1.04 (0.88 to 1.2)"
    assert judged["arms"] == {"A": {"entry": "MLM"}, "B": {"entry": "LM"}}
    assert judged["common"] == {"corpus": "families", "steps": 4, "figure": "held-out loss"}


def test_the_table_has_a_row_for_each_claim():
    [row] = csv.DictReader(io.StringIO(table_csv([claim_facts(CARD, decide(CARD, VALUES, range(5)))])))
    assert (row["name"], row["verdict"], float(row["effect"])) == ("T1", "agrees", 1.04)
