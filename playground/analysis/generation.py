"""Write with a model: greedily, by beam search, or by sampling.

Beam search after Sutskever et al. (arXiv:1409.3215, sec. 3.2): a hypothesis that ends leaves the beam, which goes on
with the rest. Top-p sampling after Holtzman et al. (arXiv:1904.09751, sec. 3.1).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial

import torch
from torch import Generator, Tensor

from playground.batch import Batch, Spans, Specials, Tokens, arange_rows, begin
from playground.corpora.corpus import pick
from playground.errors import UserError
from playground.knob import knob
from playground.models import Architecture, LanguageModel
from playground.objectives import Objective
from playground.objectives.arrange import ArrangePair, ArrangeText, ControlCode, ShiftRight
from playground.objectives.ask import (
    AskAnswer,
    AskBlanks,
    AskContinuation,
    AskCrossView,
    AskDecoder,
    AskInput,
    AskLabel,
    AskMasked,
    AskNext,
    AskPair,
    AskQueryStream,
    AskTranslation,
    Reweight,
)
from playground.objectives.change import ShiftInOrder, SpansToBlanks
from playground.objectives.propose import SampleFromGenerator
from playground.objectives.see import SeeLeft, SeePermutation, SeePrefix, SeeRight
from playground.objectives.stage import Ask, See, Stage
from playground.parsing import LARGEST
from playground.rng import generator
from playground.tokenizing import Tokenizer
from playground.tokenizing.padding import pad_rows
from playground.tokenizing.tokenizer import unknown_words
from playground.tokenizing.words import clean, split_words

NextWord = Callable[[Tensor], Tensor]
"""Log-probabilities `[k, v]` of the next token of k hypotheses `[k, u]`."""

WAYS = (
    (SeeLeft, AskNext),
    (SeeLeft, AskInput),
    (SeePrefix, AskContinuation),
    (SeeLeft, AskMasked),
    (SeePermutation, AskQueryStream),
    (SeePrefix, AskMasked),
    (SeePrefix, AskBlanks),
)
"""What a chain sees and asks for that scores the word behind a text, the plainest way first.

Where hidden words are asked for, a mask token stands at the end and is replaced by the word (UniLM, arXiv:1905.03197,
sec. 2.5; XLNet, arXiv:1906.08237, sec. 2.3, whose query stream reads no token there). For GLM it stands for all that is
written (arXiv:2103.10360, sec. 2.1).
"""

FOR_DECODER = (AskDecoder, AskTranslation, AskAnswer)
FOR_LABELS = (AskPair, AskLabel, AskCrossView, Reweight)

ALTERNATIVES = 3
"""The likeliest tokens that are kept for each position."""

FOR_SAMPLING = ("temperature", "top_k", "top_p", "num_return_sequences", "seed")
"""What only sampling reads."""


@dataclass(frozen=True)
class Generation:
    """How a model writes, with the names and meanings of the transformers library.

    A finished text is worth its log-probability divided by its number of tokens, the end included, to the power of
    `length_penalty`.
    """

    do_sample: bool = knob(False, why="Draw each token at random by its probability, instead of the likeliest one.")
    temperature: float = knob(1.0, 0.05, 5.0, why="Divides the scores: below 1 likely tokens gain.")
    top_k: int = knob(0, 0, 100, unit="tokens", why="Draws from this number of the likeliest tokens; 0 for all.")
    top_p: float = knob(
        1.0, 0.01, 1.0, unit="probability", why="Only the likeliest tokens that reach this mass are drawn."
    )
    num_return_sequences: int = knob(1, 1, 1000, unit="texts", why="How many texts are drawn.")
    seed: int = knob(0, 0, LARGEST, why="The same seed draws the same text.")
    num_beams: int = knob(1, 1, 64, unit="hypotheses", why="1 is greedy search; more beams keep more candidates.")
    length_penalty: float = knob(1.0, -4.0, 4.0, unit="exponent", why="Above 0 long texts are favoured.")
    max_new_tokens: int = knob(20, 1, 200, why="A longer text is cut.")
    target_language: int = knob(0, 0, 15, unit="number", why="The target language of a multilingual model, from 0.")
    control_code: int = knob(
        0, 0, 100, unit="number", why="The control code before the text (CTRL), from 1; 0 for none."
    )

    def __post_init__(self) -> None:
        if self.do_sample and self.num_beams > 1:
            raise UserError(
                f"num_beams is {self.num_beams}, but do_sample draws one text at a time; set num_beams to 1."
            )
        if not self.do_sample:
            self._refuse(FOR_SAMPLING, "only sampling draws; set do_sample")
        if self.num_beams == 1:
            self._refuse(("length_penalty",), "only beams of several texts are ranked by it; set num_beams above 1")

    def _refuse(self, names: Sequence[str], reason: str) -> None:
        """Refuse what is turned and has no part."""
        for each in fields(self):
            if each.name in names and (value := getattr(self, each.name)) != each.default:
                raise UserError(f"{each.name} is {value:g}, but {reason}.")


@dataclass(frozen=True)
class TokenChoice:
    """One written token: its id, its probability under the model, and the likeliest ids with theirs."""

    id: int
    probability: float
    top: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Hypothesis:
    """A written text, its end included, with its log-probability in nats and its score."""

    tokens: tuple[TokenChoice, ...]
    log_prob: float
    score: float
    ended: bool

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of its tokens."""
        return tuple(token.id for token in self.tokens)

    @property
    def shown(self) -> tuple[int, ...]:
        """The ids without the end."""
        return self.ids[: len(self.ids) - self.ended]


@dataclass(frozen=True)
class Written:
    """What was written behind a prompt, the best text first, and the tokenizer that reads it; a notice in words."""

    prompt: str
    texts: tuple[Hypothesis, ...]
    tokenizer: Tokenizer
    notice: str = ""


def search(next_word: NextWord, ends: Sequence[int], how: Generation, rng: Generator | None = None) -> list[Hypothesis]:
    """The finished texts: the best of a beam first, or drawn ones in the order in which they end.

    At most `num_beams` share one beam until each has ended. Log-probabilities are the model's own.
    """
    finished: list[Hypothesis] = []
    log_prob = torch.zeros(how.num_return_sequences)
    written: list[tuple[TokenChoice, ...]] = [()] * how.num_return_sequences
    for length in range(1, how.max_new_tokens + 1):
        each = next_word(torch.tensor([[token.id for token in text] for text in written]).long())
        if how.do_sample:
            rows, ids = torch.arange(len(each)), torch.multinomial(warp(each, how).exp(), 1, generator=rng)[:, 0]
        else:
            sums, best = (log_prob[:, None] + each).flatten().topk(min(how.num_beams - len(finished), each.numel()))
            rows, ids = best[sums.isfinite()] // each.shape[1], best[sums.isfinite()] % each.shape[1]
        log_prob = log_prob[rows] + each[rows, ids]
        pairs = zip(rows.tolist(), ids.tolist(), strict=True)
        written = [(*written[row], _choice(each[row], number)) for row, number in pairs]
        over = torch.isin(ids, torch.tensor(ends)) | (length == how.max_new_tokens)
        for k in over.nonzero()[:, 0].tolist():
            value, ended = float(log_prob[k]), written[k][-1].id in ends
            finished.append(Hypothesis(written[k], value, value / length**how.length_penalty, ended))
        log_prob, written = log_prob[~over], [written[k] for k in (~over).nonzero()[:, 0].tolist()]
        if not written:
            break
    return finished if how.do_sample else sorted(finished, key=lambda hypothesis: -hypothesis.score)


def _choice(log_probs: Tensor, number: int) -> TokenChoice:
    """A written token among the log-probabilities `[v]` of its position."""
    best = log_probs.topk(min(ALTERNATIVES, len(log_probs)))
    top = zip(best.indices.tolist(), best.values.exp().tolist(), strict=True)
    return TokenChoice(number, float(log_probs[number].exp()), tuple(top))


def warp(log_probs: Tensor, how: Generation) -> Tensor:
    """The log-probabilities `[k, v]` from which is drawn: temperature, then top-k, then top-p, as in transformers."""
    scores = log_probs / how.temperature
    if how.top_k:
        least = scores.topk(min(how.top_k, scores.shape[1])).values[:, -1:]
        scores = scores.masked_fill(scores < least, float("-inf"))
    if how.top_p < 1:
        chances, order = scores.softmax(-1).sort(dim=-1, descending=True)
        reached = chances.cumsum(-1) - chances >= how.top_p
        scores = scores.masked_fill(torch.zeros_like(reached).scatter(1, order, reached), float("-inf"))
    return scores.log_softmax(-1)


def write_text(
    model: LanguageModel, objective: Objective, tokenizer: Tokenizer, prompt: str, how: Generation
) -> Written:
    """What a model writes behind a typed text, or what its decoder writes about it."""
    prompt = clean(prompt).strip()
    unknown = unknown_words(tokenizer, split_words(prompt))
    notice = f"Not in the vocabulary, so read as [UNK]: {', '.join(unknown[:8])}." if unknown else ""
    ids = tokenizer.encode(prompt).ids if prompt else []
    return Written(prompt, tuple(write(model, objective, ids, tokenizer.specials, how)), tokenizer, notice)


@torch.no_grad()
def write(
    model: LanguageModel, objective: Objective, text: Sequence[int], specials: Specials, how: Generation
) -> list[Hypothesis]:
    """What a model writes behind a text, or what its decoder writes about it; [END] and [SEP] end it."""
    if why := cannot_write(model.shape, objective):
        raise UserError(f"{why} Take GPT-2 or BART.")
    chain = _chain(objective)
    if how.control_code and not codes_of(objective):
        raise UserError(f"control_code is {how.control_code}, but this model has learned no code; set it to 0.")
    if how.control_code > len(specials.sentinels):
        raise UserError(f"control_code is {how.control_code}; there are {len(specials.sentinels)} codes.")
    if how.target_language >= max(1, model.shape.languages):
        known = f"knows {model.shape.languages}, numbered from 0" if model.shape.languages else "takes no language"
        raise UserError(f"target_language is {how.target_language}, but this model {known}; set it to 0.")
    scores = _decoder_scores if model.shape.decoder_layers else _scores_behind
    training = model.training
    model.eval()
    try:
        next_word = partial(_log_probs, specials, scores(model, chain, text, specials, how))
        ends = (specials.end, specials.sep)
        return search(next_word, ends, how, generator(how.seed, "writing"))
    finally:
        model.train(training)


def reads_source(shape: Architecture) -> bool:
    """Whether what is typed is read by an encoder, and not continued."""
    return bool(shape.decoder_layers)


def codes_of(objective: Objective) -> str:
    """The label whose values are the control codes in front of a text; empty without codes."""
    return next((stage.label for stage in _chain(objective) if isinstance(stage, ControlCode)), "")


def cannot_write(shape: Architecture, objective: Objective) -> str:
    """Why a model that was trained like this cannot write, in a sentence; empty where it can."""
    if _chain(objective) and shape.kind != "static":
        return ""
    if shape.kind == "static":
        return "This model has a vector for each word and reads no text, so no word follows from one."
    if any(isinstance(stage, SampleFromGenerator) for stage in objective.every_stage):
        return "This model was asked which words a generator had replaced, and for no word, so it cannot write."
    if any(isinstance(stage, SeeRight) for stage in objective.every_stage):
        return "This model reads from right to left, so it predicts the words before a text and cannot continue it."
    if any(isinstance(stage, Ask) and not isinstance(stage, FOR_LABELS) for stage in objective.every_stage):
        return "This model was only asked for words with both sides in view, so it cannot continue a text."
    return "This model was only asked for labels of whole texts, and for no word, so it cannot write."


def _chain(objective: Objective) -> tuple[Stage, ...]:
    """The stages of an objective, up to the target, by which a text is continued or written; empty without."""
    for sees, asks in WAYS:
        for chain in objective.chains:
            kinds = [type(stage) for stage in chain.stages]
            if sees in kinds and asks in kinds and all(map(_goes_on, chain.stages)):
                return chain.stages[: kinds.index(asks) + 1]
    return next((c.stages for c in objective.chains if any(isinstance(s, FOR_DECODER) for s in c.stages)), ())


def _goes_on(stage: Stage) -> bool:
    """Whether a stage leaves the order of a text, and hides the word that is asked for, so that a text can go on."""
    match stage:
        case ShiftRight() | AskNext():
            return stage.side == "left"
        case SeePermutation():
            return stage.streams == "two streams"
        case _:
            return True


def _log_probs(specials: Specials, scores: NextWord, written: Tensor) -> Tensor:
    """Log-probabilities `[k, v]` behind what is written; a special token is written only if it ends or marks a part."""
    written_too = {specials.end, specials.sep, *specials.sentinels}
    never = [number for number in specials.ids if number not in written_too]
    return scores(written).index_fill(1, torch.tensor(never), float("-inf")).log_softmax(-1)


def _scores_behind(
    model: LanguageModel, chain: Sequence[Stage], text: Sequence[int], specials: Specials, how: Generation
) -> NextWord:
    """The scores of the word behind a text and what is written: the last answer that the chain itself asks for."""
    if not text and not isinstance(chain[-1], AskNext | AskInput | AskMasked):
        raise UserError("The text is empty, but this model needs words to continue; type a text.")
    device = model.token_embedding.weight.device

    def scores(written: Tensor) -> Tensor:
        rows = [[*row, specials.mask] for row in written.tolist()]
        batch = _example(chain, text, rows, specials, how, device)
        [target] = batch.targets
        last = target.loss_mask & (target.origin == len(text) + written.shape[1])
        [answer] = model(replace(batch, auxiliary=(), targets=(replace(target, loss_mask=last, known=None),)))
        return answer.scores.cpu()

    return scores


def _example(
    chain: Sequence[Stage], text: Sequence[int], written: Sequence[list[int]], specials: Specials, how: Generation,
    device: torch.device,
) -> Batch:  # fmt: skip
    """What a chain makes of a text and what is `written`, of which the last word is asked for; nothing is drawn."""
    read = partial(_tokens, specials=specials, how=how, device=device)
    pair = (SeePrefix, AskMasked) == (type(next(s for s in chain if isinstance(s, See))), type(chain[-1]))
    batch = begin(read([text] * len(written)) if pair else read([[*text, *row] for row in written]))
    for stage in chain:
        match stage:
            case ArrangePair() if pair:
                tokens = replace(batch.tokens, neighbours={"next": read(written)})
                plan = torch.full((len(written),), stage.outcomes.index("next"), device=device)
                batch = stage.build(replace(batch, tokens=tokens), plan)
            case ArrangePair():
                batch = ArrangeText(add_special_tokens=True).build(batch)
            case ControlCode() if how.control_code:
                code = torch.full_like(batch.tokens.ids, how.control_code - 1)
                tokens = replace(batch.tokens, labels={**batch.tokens.labels, stage.label: code})
                batch = stage.build(replace(batch, tokens=tokens))
            case SpansToBlanks():  # one blank at the end of the text
                length = torch.tensor([len(row) for row in written], device=device)[:, None]
                start = torch.full_like(length, len(text))
                chosen = arange_rows(batch.tokens.ids) >= len(text)
                batch = stage.build(replace(batch, spans=Spans(start, length), selected=chosen), length * 0)
            case ArrangeText() | ShiftRight() | ShiftInOrder():
                batch = stage.build(batch)
            case See() | Ask():
                new = len(text) if isinstance(chain[-1], AskContinuation) else len(text) + len(written[0]) - 1
                batch = stage.build(replace(batch, selected=arange_rows(batch.tokens.ids) >= new))
            case _:  # it draws or hides words, or needs labels that what is typed has not
                pass
    return batch


def _tokens(rows: Sequence[Sequence[int]], specials: Specials, how: Generation, device: torch.device) -> Tokens:
    """Rows as texts of the language that is written."""
    tokens = pad_rows(rows, specials, ())
    return replace(tokens, labels={"language": torch.full_like(tokens.ids, how.target_language)}).to(device)


def _decoder_scores(
    model: LanguageModel, _: Sequence[Stage], text: Sequence[int], specials: Specials, how: Generation
) -> NextWord:
    """The scores of a decoder behind [START] and what is written; it reads the encoder's states of a text."""
    if not text:
        raise UserError("The text is empty, but the decoder needs a text that the encoder reads; type a text.")
    source = pad_rows([text], specials, ()).to(model.token_embedding.weight.device)
    read = model.features(source)

    def scores(written: Tensor) -> Tensor:
        rows, begun = len(written), torch.nn.functional.pad(written, (1, 0), value=specials.start).to(read.device)
        sources = pick(source, torch.zeros(rows, dtype=torch.long, device=read.device))
        states = model.decode(read.expand(rows, -1, -1), sources, begun, how.target_language)
        return model.score(states[:, -1], "vocabulary", model.network).cpu()

    return scores
