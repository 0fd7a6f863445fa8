"""Labelled sentences cut from film reviews, for fine-tuning."""

from playground.corpora.tinyworld.tasks.draw import Split, balanced, dice, different, write_words


def polarity_sentences(count: int, seed: int, split: Split = "train") -> tuple[list[list[str]], list[int]]:
    """Different single sentences of reviews and whether each is good (1) or bad (0), half of each.

    The adjectives carry the feeling, in a minority with "not". No sentence of one split is in the other.
    """
    random = dice(seed, "polarity", split)
    labels = balanced(count, 2, random)
    numbers = {"bad": count - sum(labels), "good": sum(labels)}
    bad, good = (
        different(number, split, lambda p=polarity: write_words("reviews", f"Praise-{p}", random), list, 2)
        for polarity, number in numbers.items()
    )
    return [(good if label else bad).pop() for label in labels], labels
