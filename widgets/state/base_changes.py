"""A base that is changed before anything is compared: words of a second language, or a decoder to write with."""

from collections.abc import Generator
from dataclasses import dataclass, replace

from playground.finetuning import Base
from playground.finetuning.apply.add_decoder import with_decoder
from playground.finetuning.apply.crosslingual import learn_words, second_language, with_words_of
from playground.tokenizing import Tokenizer

AS_IT_IS, SECOND, SAME, NEW = (
    "as it is",
    "with words of a second language",
    "with a decoder of its own layers",
    "with a new decoder",
)

CHANGES = {
    AS_IT_IS: "",
    SECOND: (
        "Word vectors of the second language are learnt first, all else frozen (arXiv:1910.11856, sec. 3). Then take a "
        "task 'abroad': it is learnt in the first language and asked in the second; 'embeddings frozen' is the third "
        "of the four steps."
    ),
    SAME: (
        "Encoder and decoder start as the base's layers; only the attention between them is new (arXiv:1901.07291). "
        "Then take a task that writes, such as translation or summary, with more steps than the others need."
    ),
    NEW: "The encoder is the base; the decoder begins from new weights. Then take a task that writes.",
}
"""What can be done to a base, and what to try with it then."""

WORD_STEPS = 500
"""Steps in which the words of the second language are learnt."""


@dataclass(frozen=True)
class Preparing:
    """How far the change of a base is."""

    step: int
    last: int
    said: str


def changed(base: Base, tokenizer: Tokenizer, how: str) -> Generator[Preparing, None, tuple[Base, Tokenizer]]:
    """The changed base and its words; what cannot be changed so is refused in a sentence."""
    if how == SECOND:
        yield Preparing(0, WORD_STEPS, "Opening sentences of the second language.")
        corpus = second_language()
        made = with_words_of(base.learner, tokenizer, corpus)
        for step, loss in enumerate(learn_words(made, corpus, WORD_STEPS), 1):
            said = f"Learning words of the second language: step {step} of {WORD_STEPS}, loss {loss:.2f} nats."
            yield Preparing(step, WORD_STEPS, said)
        return replace(base, learner=made.learner, memory={}), made.tokenizer
    if how in (SAME, NEW):
        donor, words = (base.learner, tokenizer) if how == SAME else (None, None)
        return replace(base, learner=with_decoder(base.learner, tokenizer, donor, words), memory={}), tokenizer
    return base, tokenizer
