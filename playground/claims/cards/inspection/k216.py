"""What a language model writes can disagree with what is commonly known, even if its text states it."""

from collections import defaultdict

import torch

from playground.analysis.facts import ask, known_questions, mention_counts
from playground.claims import Arm, Claim, Lab, higher


def contradictions(lab: Lab, arm: Arm, seed: int) -> float:
    """How likely a false answer of the right kind is to facts of the text, drawn at the temperature of the arm."""
    subject = lab.subject(arm, seed)
    last = [one for one in known_questions(subject.corpus) if one.position == len(one.words) - 2]  # before the stop
    asked = ask(subject, [one for one, n in zip(last, mention_counts(subject.corpus, last), strict=True) if n])
    kinds: dict[str, set[int]] = defaultdict(set)
    for question, right in zip(asked.questions, asked.right.tolist(), strict=True):
        kinds[question.fact.relation].add(right)
    drawn = (asked.chances / float(arm.figure)).softmax(-1)
    rows = zip(asked.questions, asked.right.tolist(), drawn, strict=True)
    return float(torch.stack([p[list(kinds[one.fact.relation] - {right})].sum() for one, right, p in rows]).mean())


K216 = Claim(
    title="Written, but not true",
    source="Liu et al., sec. 5.1; Zellers et al., arXiv:1905.12616",
    prediction="Of sentences about facts that the text states, at least 0.05 are completed with a false answer of the "
    "right kind at temperature 1; fewer are at 0.5, and more at 1.5.",
    otherwise="Fewer are, or the temperature does not matter.",
    common=Arm("LM", corpus="facts", tokens=12_000),
    arms={f"temperature {t}": {"figure": t} for t in ("0.5", "1", "1.5")},
    compute=contradictions,
    rules=(
        higher("temperature 1", 0.0, by=0.05), higher("temperature 1", "temperature 0.5"),
        higher("temperature 1.5", "temperature 1"),
    ),
    unit="of the answers",
    scale="One word of each sentence is drawn, and its probability is computed, so that there is no noise of drawing. "
    "The model is that of K206: each fact is stated 1 to 31 times. Writing for a purpose is left out.",
)  # fmt: skip
