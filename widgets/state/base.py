"""A trained model as the base of a comparison: how it is changed first, its origin, and what is saved of its corpus."""

from collections.abc import Generator
from dataclasses import replace

from playground.corpora import Corpus
from playground.finetuning import Base
from playground.finetuning.apply.add_decoder import with_decoder
from playground.finetuning.apply.crosslingual import learn_words, second_language, with_words_of
from playground.finetuning.run.base import opened_again
from playground.tokenizing import Tokenizer
from playground.training.checkpoint import CorpusInfo

AS_IT_IS, SECOND = "as it is", "with words of a second language"
SAME, NEW = "with a decoder of its own layers", "with a new decoder"

CHANGES = {
    AS_IT_IS: "",
    SECOND: (
        "Word vectors of the second language are learned first, with everything else frozen (arXiv:1910.11856, sec. "
        "3). Then choose a task named 'abroad': it is learned in the first language and tested in both; "
        "'embeddings frozen' is the third of the four steps."
    ),
    SAME: (
        "Encoder and decoder start as the base's layers; only the attention between them is new (arXiv:1901.07291). "
        "Then choose a task that writes, such as translation or summary, with more steps than for the others."
    ),
    NEW: "The encoder is the base; the decoder is initialised at random. Then choose a task that writes.",
}
"""What can be done to a base, and what to try with it then."""

WORD_STEPS = 500  # steps in which the words of the second language are learnt


def changed(base: Base, tokenizer: Tokenizer, how: str) -> Generator[str, None, tuple[Base, Tokenizer]]:
    """The changed base and its words, after sentences on how far that is; what cannot be changed so is refused."""
    if how == SECOND:
        yield "Opening sentences of the second language."
        corpus = second_language()
        made = with_words_of(base.learner, tokenizer, corpus)
        for step, loss in enumerate(learn_words(made, corpus, WORD_STEPS), 1):
            yield f"Learning words of the second language: step {step} of {WORD_STEPS}, loss {loss:.2f} nats."
        return replace(base, learner=made.learner, memory={}), made.tokenizer
    if how in (SAME, NEW):
        donor, words = (base.learner, tokenizer) if how == SAME else (None, None)
        return replace(base, learner=with_decoder(base.learner, tokenizer, donor, words), memory={}), tokenizer
    return base, tokenizer


def corpus_info(corpus: Corpus, base: Base) -> CorpusInfo:
    """What a checkpoint must hold of the corpus: also its text, where it cannot be opened by name."""
    gone = opened_again(corpus.name, corpus.hash, corpus.tokenizer) is None
    text = base.rehearse() if gone else None
    return CorpusInfo(corpus.name, corpus.hash, corpus.unigram_entropy, base.held_out, text)
