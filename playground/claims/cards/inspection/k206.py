"""A pre-trained model stores facts of its training text, and cloze questions recover them."""

from typing import Any

from playground.claims import Arm, Claim, Lab, alike, higher


def known(lab: Lab, arm: Arm, seed: int) -> float:
    """P@1 of facts by how often they are stated, less what guessing among the answers of a relation would have."""
    finding = lab.finding(arm, seed)
    if arm.figure == "never stated":
        number = next(n for n in finding.numbers if n.name == "P@1, never stated")
        return number.value - number.baselines["guessing among the answers"]
    columns: Any = finding.tables[0].columns
    rows = zip(columns["mentions"], columns["P@1"], columns["facts"], columns["wording"], strict=True)
    first, last = {"1 to 3 times": (1, 3), "8 times and more": (8, 1_000)}[arm.figure]
    some = [(share, count) for n, share, count, how in rows if first <= n <= last and how == "both together"]
    chance = finding.numbers[0].baselines["guessing among the answers"]
    return sum(share * count for share, count in some) / sum(count for _, count in some) - chance


K206 = Claim(
    title="Dante was born in [MASK]",
    source="Qiu et al., sec. 3.3.2; Petroni et al., arXiv:1909.01066",
    prediction="Facts that the text states 8 times and more are recovered more often than those it states 1 to 3 "
    "times; facts that it never states are guessed.",
    otherwise="Facts that are stated are not recovered, or those never stated are as well.",
    common=Arm("LM", corpus="facts", tokens=12_000, instrument="facts"),
    arms={name: {"figure": name} for name in ("8 times and more", "1 to 3 times", "never stated")},
    rules=(
        higher("8 times and more", "1 to 3 times", by=0.1), higher("8 times and more", 0.0, by=0.3),
        alike("never stated", 0.0, within=0.1),
    ),
    compute=known,
    unit="of the facts, over guessing",
    scale="Two wordings of each question, both of which the text has; LAMA asks in words that the model may never have "
    "read. The words of a relation are few, so that guessing is often right. The text has 12,000 "
    "tokens, so that a fact is stated 1 to 31 times, or never.",
)  # fmt: skip
