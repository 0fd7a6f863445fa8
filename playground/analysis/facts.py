"""What a model answers to questions about facts, and how often its training text states each fact."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.analysis.cloze import log_chances, texts, with_gap
from playground.analysis.subject import Subject
from playground.analysis.words.vectors import known_words
from playground.corpora import Corpus
from playground.corpora.tinyworld.tasks.cloze import Cloze, fact_questions

FEWEST = 40
"""Questions in known words that are needed."""

WORDINGS = ("subject first", "relation first")


@dataclass(frozen=True)
class AnsweredQuestions:
    """Questions, the log chances of every word for each answer `[k, v]`, the ids of the right answers `[k]`."""

    questions: tuple[Cloze, ...]
    chances: Tensor
    right: Tensor

    @property
    def hits(self) -> Tensor:
        """Whether the likeliest word is the right one, `[k]` of 0 and 1 (P@1)."""
        return (self.chances.argmax(1) == self.right).double()


def ask(subject: Subject, questions: Sequence[Cloze]) -> AnsweredQuestions:
    """The model's answers."""
    device = subject.model.token_embedding.weight.device
    tokens = texts([question.words for question in questions], subject.tokenizer)
    positions = torch.tensor([question.position for question in questions])
    chances = log_chances(subject.model, with_gap(subject.model.shape, tokens.to(device), positions.to(device)))
    return AnsweredQuestions(tuple(questions), chances.double().cpu(), tokens.ids.gather(1, positions[:, None])[:, 0])


def known_questions(corpus: Corpus, wording: int = 0) -> list[Cloze]:
    """The questions whose words, in both wordings, stand in the training text, which may never tell the fact itself."""
    known = known_words(corpus)
    both = zip(fact_questions(0), fact_questions(1), strict=True)
    return [pair[wording] for pair in both if known.issuperset((*pair[0].words, *pair[1].words))]


def mention_counts(corpus: Corpus, questions: Sequence[Cloze]) -> list[int]:
    """In how many sentences of the training text all words of a fact's subject and its object stand together."""
    ids, sentences = corpus.ids[: corpus.held_out_from], corpus.sentence_ids[: corpus.held_out_from]
    where: dict[str, set[int]] = {}

    def holds(word: str) -> set[int]:
        if word not in where:
            (number,) = corpus.tokenizer.encode_words([word])
            where[word] = set(sentences[ids == number].tolist())
        return where[word]

    facts = [question.fact for question in questions]
    return [len(set.intersection(*map(holds, (*fact.subject.split(), fact.object)))) for fact in facts]


def knows_facts(subject: Subject) -> str:
    """Its training text holds the words of the questions."""
    if subject.tokenizer.kind == "word" and len(known_questions(subject.corpus)) >= FEWEST:
        return ""
    return f"The corpus {subject.corpus.name} has no facts about people; train on facts."
