"""The ratio P(k | ice) / P(k | steam) tells which words k belong to ice and which to steam."""

from playground.claims import Arm, Claim, alike, higher, lower

K011 = Claim(
    title="Ice and steam",
    source="From Static Embedding to Contextualized Embedding, GloVe; Pennington et al. 2014, D14-1162, table 1",
    prediction="The ratio is far above 1 for solid, far below 1 for gas, and near 1 for water and fashion.",
    otherwise="Words that belong to both or to neither have ratios as large or as small as solid and gas.",
    common=Arm(corpus="families", steps=0, instrument="co-occurrence ratios"),
    arms={word: {"figure": word} for word in ("solid", "gas", "water", "fashion")},
    rules=(
        higher("solid", 1.0, by=3.0, exact=True), lower("gas", 1.0, by=0.75, exact=True),
        alike("water", 1.0, within=0.5, exact=True), alike("fashion", 1.0, within=0.5, exact=True),
    ),
    unit="(ratio)",
    published="solid 8.9, gas 0.085, water 1.36, fashion 0.96",
    scale="The generated text has these ratios on purpose, so this shows what the table means, not that real text has "
    "them. Nothing is trained.",
    seeds=1,
)  # fmt: skip
