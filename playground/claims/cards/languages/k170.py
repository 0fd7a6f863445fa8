"""A language model of two languages is better at the one that has little text than a model of that one."""

from playground.claims import Arm, Claim, lower
from playground.claims.figures.languages import second_language_loss

K170 = Claim(
    title="Polyglot training with little text",
    source="Liu et al., sec. 4; Mulcaire et al. 2019 (Rosita)",
    prediction="With 15,000 tokens of the second language and 285,000 of the first, the loss on held-out text of the "
    "second is lower than with its own text alone, after as many steps.",
    otherwise="The other language does not help, or it takes steps away.",
    common=Arm("MLM", corpus="bilingual(second=0.05)", tokens=300_000),
    arms={name: {"figure": name} for name in ("both languages", "second language alone")},
    rules=(lower("both languages", "second language alone"),),
    compute=second_language_loss,
    unit="nats",
    scale="In 300 steps the text of the second language alone is read 20 times, that of both once. The words of the "
    "second language are others, but the two share a tenth of the words and most of the grammar.",
)
