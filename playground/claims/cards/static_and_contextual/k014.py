"""The sum of the vectors of a country and of the word capital is close to the vector of its capital."""

from playground.claims import Arm, Claim, Lab, higher


def among_five(lab: Lab, arm: Arm, seed: int) -> float:
    """The share of countries whose capital is among the 5 words nearest to the sum, or to the country alone."""
    number = next(n for n in lab.finding(arm, seed).numbers if n.name == "capital is among the nearest 5")
    return number.value if arm.figure == "country + capital" else number.baselines[arm.figure]


K014 = Claim(
    title="Germany + capital = Berlin",
    source="Qiu et al., sec. 3.3.1; arXiv:1310.4546, sec. 5",
    prediction="The capital is among the 5 words nearest to the sum for at least half of the countries, and more often "
    "than among those nearest to the country alone.",
    otherwise="The word capital adds nothing, or the capital is not near the sum.",
    common=Arm("skip-gram NS", corpus="families", steps=600, instrument="sums of words"),
    arms={name: {"figure": name} for name in ("country + capital", "country alone")},
    rules=(higher("country + capital", 0.5), higher("country + capital", "country alone")),
    compute=among_five,
    unit="of the countries",
    scale="Sixteen countries in a small text; each share has steps of 0.06. A guess would have 0.04. "
    "After 300 steps the share was 0.31 with seed 0, so 600 were chosen.",
)
