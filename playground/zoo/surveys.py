"""The tables of two surveys: which entries are their rows, and the cells that follow from what an entry declares."""

from playground.zoo.entry import Entry

TABLE_1 = (
    "ELMo", "GPT", "GPT-2", "BERT", "RoBERTa", "ALBERT", "UniLM", "ELECTRA", "XLNet", "XLM", "MASS", "T5", "BART",
)  # fmt: skip
"""Table 1 of the survey (Liu et al., arXiv:2003.07278), in its order.

Its cells that do not follow from an entry are `printed` there: "objective", and "stacks" where they are counted apart.
"""

TABLE_2 = (
    "ELMo", "GPT", "GPT-2", "BERT", "InfoWord", "RoBERTa", "XLNet", "ELECTRA", "UniLM", "MASS", "BART", "T5", "WKLM",
)  # fmt: skip
"""Table 2 of Qiu et al. (arXiv:2003.08271) in its order, as far as its systems are here.

`printed` there: "task" of pre-training, "GLUE" (the mean over its tasks), and "FT", whether the model is fine-tuned.
"""

NETWORKS = {
    "transformer": "Transformer", "lstm": "LSTM", "gru": "GRU", "window": "feed-forward", "static": "word vectors",
}  # fmt: skip


def network(entry: Entry) -> str:
    """What an entry is made of, as the tables call it."""
    streams = entry.model.two_streams and entry.model.kind == "transformer"
    return "Two-stream Transformer" if streams else NETWORKS[entry.model.kind]


def family(entry: Entry) -> str:
    """By what the zoo is sorted: the stacks of a transformer, or what another network is."""
    if entry.model.recurrent:
        return "recurrent"
    return " and ".join(entry.model.stacks) or "static"


def representation(entry: Entry) -> str:
    """Whether a word has one vector in every text (static), or one that its text has a part in (contextual)."""
    return "contextual" if entry.model.stacks else "static"


def reads(entry: Entry) -> str:
    """What stands in a row of training, by what the objective needs."""
    needs = entry.objective.needs
    labels = [need.partition(":")[2] for need in needs if need.startswith("label:")]
    more = ["its translation"] if "translation" in needs else ["a second text"] if "pair" in needs else []
    return " + ".join(("text", *more, *(f"label: {name}" for name in labels)))


def sizes(entry: Entry) -> str:
    """The parameters that the authors give, from the smallest size to the largest."""
    counts = sorted(size.parameters for size in entry.published)
    return " to ".join(dict.fromkeys(shortened(count) for count in counts[:1] + counts[-1:]))


def shortened(count: float) -> str:
    """A number of parameters in thousands, millions or billions, with three digits or fewer."""
    unit, letter = next((unit, letter) for unit, letter in ((1e9, "B"), (1e6, "M"), (1e3, "k")) if count >= unit)
    return f"{count / unit:.3g}{letter}" if count < 1000 * unit else f"{count / unit:.0f}{letter}"
