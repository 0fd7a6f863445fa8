"""What looks like knowledge of facts is partly guessing from names, and negations are ignored."""

from playground.claims import Arm, Claim, Lab, higher


def share(lab: Lab, arm: Arm, seed: int) -> float:
    """The share of answers that stay with "not", or P@1 of towns whose name holds the answer, or does not."""
    numbers = {number.name: number for number in lab.finding(arm, seed).numbers}
    named = numbers["P@1, name holds the answer"]
    found = {name: number.value for name, number in numbers.items()}
    return (found | {"P@1, it does not": named.baselines["it does not"]})[arm.figure]


K208 = Claim(
    title="Names and negations fool fact questions",
    source="Qiu et al., sec. 3.3.2; Poerner et al., arXiv:1911.03681; Kassner and Schütze, arXiv:1911.03343",
    prediction="Most answers stay the same when the question has a not; towns whose name holds the answer are right "
    "more often by 0.1 than other towns.",
    otherwise="A not changes most answers, or the name does not help.",
    common=Arm("LM", corpus="facts", tokens=12_000, instrument="fact critiques"),
    arms={
        "same with not": {"figure": "same answer with not"},
        "name tells": {"figure": "P@1, name holds the answer"},
        "name does not": {"figure": "P@1, it does not"},
    },
    rules=(higher("same with not", 0.5), higher("name tells", "name does not", by=0.1)),
    compute=share,
    unit="of the answers",
    scale="The word not is rare or missing in so small a text, so that a model can hardly have learned it; BERT has "
    "read it millions of times.",
)
