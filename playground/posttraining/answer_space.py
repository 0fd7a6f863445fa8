"""Prompts of one length and every answer of two words, and the policy that a causal model is over them.

A model gives every token a chance; here all but the tokens of the text are suppressed in both steps of an answer
(`suppress_tokens` of the transformers library), so that the chances of all answers sum to 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Generator, Tensor

from playground.answers import Answer
from playground.batch import Batch, Tokens
from playground.corpora import Corpus
from playground.devices import from_cpu
from playground.errors import UserError
from playground.models import LanguageModel
from playground.objectives import Objective, find_objective
from playground.objectives.ask import AskNext
from playground.objectives.see import SeeLeft
from playground.rng import generator
from playground.tokenizing.tokenizer import unknown_words
from playground.tokenizing.vocabulary import SEPARATOR
from playground.tokenizing.words import clean, split_words

ANSWER_LEN = 2
"""Words of an answer."""

PROMPT_LEN = 7
"""Words of a prompt that is drawn."""

MOST_WORDS = 400
"""Words of the largest text whose answers are enumerated; 400 words are 160,000 answers of each prompt."""

ROWS_AT_ONCE = 2048
"""Rows of one pass of a model."""


@dataclass(frozen=True, eq=False)
class AnswerSpace:
    """Prompts `[p, t]` as ids and the w words `[w]` that answers are made of, ascending; an answer is a pair of them.

    The answer of the words with the numbers i and j has the number `i * w + j`.
    """

    corpus: Corpus
    prompts: Tensor
    words: Tensor

    @property
    def prompt_len(self) -> int:
        return self.prompts.shape[1]

    @property
    def count(self) -> int:
        """The number of answers of each prompt."""
        return len(self.words) ** ANSWER_LEN

    def pair(self, answers: Tensor) -> Tensor:
        """The numbers of both words of some answers `[k]`, `[k, 2]`."""
        return torch.stack([answers // len(self.words), answers % len(self.words)], dim=1)

    def prompt_text(self, prompt: int) -> str:
        """A prompt in words."""
        return self._spelt(self.prompts[prompt])

    def answer_text(self, answer: int) -> str:
        """An answer in words; [SEP] ends a document."""
        return self._spelt(self.words[self.pair(torch.tensor([answer]))[0]])

    def tokens(self, prompts: Tensor, answers: Tensor) -> Tokens:
        """Prompts `[k]` with their answers `[k]` as rows `[k, t + 2]`."""
        ids = torch.cat([self.prompts[prompts], self.words[self.pair(answers)]], dim=1)
        stops = torch.zeros(len(self.corpus.tokenizer), dtype=torch.long)
        stops[[n for n, word in enumerate(self.corpus.tokenizer.words) if word in ".?"] + [SEPARATOR]] = 1
        return Tokens(
            ids=ids,
            lengths=torch.full((len(ids),), ids.shape[1]),
            word_ids=torch.arange(ids.shape[1]).expand_as(ids),
            sentence_ids=stops[ids].cumsum(1) - stops[ids],
            specials=self.corpus.tokenizer.specials,
            vocabulary=self.corpus.tokenizer.words,
            padded=False,
        )

    def _spelt(self, ids: Tensor) -> str:
        return " ".join(self.corpus.tokenizer.words[i] for i in ids.tolist())


def draw_prompts(corpus: Corpus, number: int, length: int, rng: Generator) -> AnswerSpace:
    """Different beginnings of held-out documents, of `length` words each."""
    if number < 1:
        raise UserError(f"{number} prompts are asked for; ask for at least 1.")
    first = corpus.held_out_from
    ids, documents = corpus.ids[first:].long(), corpus.document_ids[first:]
    starts = (documents[1:] != documents[:-1]).nonzero()[:, 0] + 1
    starts = starts[starts + length + ANSWER_LEN <= len(ids)]
    starts = starts[documents[starts] == documents[starts + length - 1]]
    rows = ids[starts[:, None] + torch.arange(length)].unique(dim=0)
    if len(rows) < number:
        raise UserError(
            f"The held-out part of {corpus.name} begins in {len(rows)} ways with {length} words, and {number} prompts "
            "are asked for; ask for fewer, or for longer ones."
        )
    return AnswerSpace(corpus, rows[torch.randperm(len(rows), generator=rng)[:number]], _words_of(corpus))


def read_prompts(corpus: Corpus, texts: Sequence[str]) -> AnswerSpace:
    """Typed prompts, of one number of words, all of them words of the corpus."""
    rows = [[word.lower() if corpus.tokenizer.lower else word for word in split_words(clean(text))] for text in texts]
    if not rows or not all(rows):
        raise UserError("A prompt is empty; type at least one word.")
    if len({len(row) for row in rows}) > 1:
        sizes = ", ".join(str(len(row)) for row in rows)
        raise UserError(f"The prompts have {sizes} words; give all of them the same number.")
    if unknown := unknown_words(corpus.tokenizer, [word for row in rows for word in row]):
        raise UserError(f"The prompt has the word {unknown[0]!r}, which {corpus.name} lacks.")
    return AnswerSpace(corpus, torch.tensor([corpus.tokenizer.encode_words(row) for row in rows]), _words_of(corpus))


def open_space(corpus: Corpus, number: int, typed: Sequence[str] | None) -> AnswerSpace:
    """The typed prompts, or so many that are drawn, with all their answers."""
    if typed is not None:
        return read_prompts(corpus, typed)
    return draw_prompts(corpus, number, PROMPT_LEN, generator(0, "prompts"))


def _words_of(corpus: Corpus) -> Tensor:
    """The tokens of the text of a corpus, its [SEP] included, ascending."""
    words = corpus.ids.unique().long()
    if len(words) > MOST_WORDS:
        raise UserError(
            f"{corpus.name} has {len(words):,} words, so {len(words) ** 2:,} answers of each prompt; choose a corpus "
            f"with at most {MOST_WORDS} words, such as reviews."
        )
    return words


@dataclass(frozen=True, eq=False)
class AnswerLogProbs:
    """Exact log-probabilities of all answers: of the first word `[p, w]`, and of the second after it `[p, w, w]`."""

    first: Tensor
    second: Tensor

    @property
    def joint(self) -> Tensor:
        """Of whole answers, `[p, w * w]`."""
        return (self.first[:, :, None] + self.second).flatten(1)

    def per_token(self, prompts: Tensor, pairs: Tensor) -> Tensor:
        """Of both words of some answers `[k, 2]` to the prompts `[k]`, `[k, 2]`."""
        one, two = pairs.unbind(1)
        return torch.stack([self.first[prompts, one], self.second[prompts, one, two]], dim=1)


def check_causal(objective: Objective) -> None:
    """Refuse an objective that does not predict each next word from the words to its left."""
    kinds = {type(stage) for stage in objective.stages}
    if not {SeeLeft, AskNext} <= kinds:
        raise UserError(f"{objective.name} predicts no next word, so it answers no prompt; choose a run of LM.")


def answer_batch(tokens: Tokens, begin: int) -> Batch:
    """Rows of prompt and answer for a causal model; the loss mask has the words from position `begin` on."""
    batch = find_objective("LM").batch(tokens, Generator())
    [target] = batch.targets
    return replace(batch, targets=(replace(target, loss_mask=target.loss_mask & (target.origin >= begin)),))


def answer_logps(model: LanguageModel, batch: Batch, words: Tensor) -> Tensor:
    """Log-probabilities of all words at the scored positions of a batch, `[b, scored, w]`, on the CPU as the batch."""
    [answer] = model(from_cpu(batch, model.token_embedding.weight.device))
    assert isinstance(answer, Answer)
    return answer.scores.cpu()[:, words].log_softmax(-1).view(len(batch.tokens.ids), -1, len(words))


def per_token_logps(model: LanguageModel, batch: Batch, words: Tensor) -> Tensor:
    """Log-probabilities of the words of the answers of a batch, `[b, 2]`."""
    numbers = torch.searchsorted(words, batch.tokens.ids[:, -ANSWER_LEN:].contiguous())
    return answer_logps(model, batch, words).gather(2, numbers[:, :, None])[:, :, 0]


@torch.no_grad()
def enumerate_answers(model: LanguageModel, space: AnswerSpace) -> AnswerLogProbs:
    """The exact log-probabilities of every answer of every prompt, in double precision."""
    count, width, begin = len(space.prompts), len(space.words), space.prompt_len
    every, some = torch.arange(count), torch.zeros(count, dtype=torch.long)
    first = answer_logps(model, answer_batch(space.tokens(every, some), begin), space.words)[:, 0].double()
    prompts, answers = every.repeat_interleave(width), (torch.arange(width) * width).repeat(count)
    parts = [
        answer_logps(model, answer_batch(space.tokens(some_prompts, some_answers), begin + 1), space.words)[:, 0]
        for some_prompts, some_answers in zip(prompts.split(ROWS_AT_ONCE), answers.split(ROWS_AT_ONCE), strict=True)
    ]
    return AnswerLogProbs(first.log_softmax(-1), torch.cat(parts).double().log_softmax(-1).view(count, width, width))


@torch.no_grad()
def sample_answers(model: LanguageModel, space: AnswerSpace, prompts: Tensor, rng: Generator) -> Tensor:
    """An answer to each of the prompts `[k]`, drawn word by word from the model, `[k]`."""
    width, begin = len(space.words), space.prompt_len
    asked, back = prompts.unique(return_inverse=True)
    first = answer_logps(model, answer_batch(space.tokens(asked, torch.zeros_like(asked)), begin), space.words)[:, 0]
    one = torch.multinomial(first.exp()[back], 1, generator=rng)[:, 0]
    batch = answer_batch(space.tokens(prompts, one * width), begin + 1)
    two = torch.multinomial(answer_logps(model, batch, space.words)[:, 0].exp(), 1, generator=rng)[:, 0]
    return one * width + two
