"""Write with a model: the likeliest continuation by beam search; with a beam of one the greedy one.

After Sutskever et al. (arXiv:1409.3215, sec. 3.2): a hypothesis that ends leaves the beam, which goes on with the rest.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from playground.batch import Specials
from playground.corpora.corpus import pick
from playground.errors import UserError
from playground.knob import knob
from playground.models import LanguageModel
from playground.tokenizing.padding import batch

NextWord = Callable[[Tensor], Tensor]
"""Log-probabilities `[k, v]` of the next token of k hypotheses `[k, u]`."""


@dataclass(frozen=True)
class Generation:
    """How a model writes, with the names and meanings of the transformers library.

    A finished text is worth its log-probability divided by its number of tokens, the end included, to the power of
    `length_penalty`.
    """

    num_beams: int = knob(1, 1, 64, unit="hypotheses", why="1 is greedy search; more beams keep more candidates.")
    length_penalty: float = knob(1.0, -4.0, 4.0, unit="exponent", why="Above 0 long texts are favoured.")
    max_new_tokens: int = knob(20, 1, 200, unit="tokens", why="A text that has not ended by then is cut.")
    target_language: int = knob(0, 0, 15, unit="number", why="What a decoder of several is told to write; from 0.")


@dataclass(frozen=True)
class Hypothesis:
    """A written text as ids, its end included, with its log-probability in nats and its score."""

    ids: tuple[int, ...]
    log_prob: float
    score: float
    ended: bool


def beam_search(next_word: NextWord, ends: Sequence[int], how: Generation) -> list[Hypothesis]:
    """The finished texts, the best first: at most `num_beams`, which share one beam until each has ended."""
    finished: list[Hypothesis] = []
    written, log_prob = torch.zeros((1, 0), dtype=torch.long), torch.zeros(1)
    for length in range(1, how.max_new_tokens + 1):
        each = log_prob[:, None] + next_word(written)
        size = each.shape[1]
        log_prob, best = each.flatten().topk(min(how.num_beams - len(finished), each.numel()))
        possible = log_prob.isfinite()
        log_prob, best = log_prob[possible], best[possible]
        written = torch.cat([written[best // size], best[:, None] % size], dim=1)
        over = torch.isin(written[:, -1], torch.tensor(ends)) | (length == how.max_new_tokens)
        for ids, value in zip(written[over].tolist(), log_prob[over].tolist(), strict=True):
            score = value / length**how.length_penalty
            finished.append(Hypothesis(tuple(ids), value, score, ids[-1] in ends))
        written, log_prob = written[~over], log_prob[~over]
        if not len(written):
            break
    return sorted(finished, key=lambda hypothesis: -hypothesis.score)


@torch.no_grad()
def write(model: LanguageModel, text: Sequence[int], specials: Specials, how: Generation) -> list[Hypothesis]:
    """What the model writes behind a text, or what its decoder writes about it; [END] and [SEP] end it."""
    shape = model.shape
    if shape.kind == "static" or not (shape.decoder_layers or shape.continues):
        raise UserError(
            "This model has no decoder and does not read from left to right alone, so it cannot generate text; "
            "take GPT-2 or BART."
        )
    if shape.decoder_layers:
        states = _decoder_states(model, text, specials, how.target_language)
    else:
        states = _states_behind(model, text, specials)
    log_probs = partial(_log_probs, model, specials, states)
    return beam_search(log_probs, (specials.end, specials.sep), how)


def _log_probs(model: LanguageModel, specials: Specials, states: Callable[[Tensor], Tensor], written: Tensor) -> Tensor:
    """Log-probabilities `[k, v]` behind what is written; a special token is written only if it ends or marks a part."""
    scores = model.score(states(written)[:, -1], "vocabulary", model.network)
    written_too = {specials.end, specials.sep, *specials.sentinels}
    scores[:, [number for number in specials.ids if number not in written_too]] = float("-inf")
    return scores.log_softmax(-1).cpu()


def _states_behind(model: LanguageModel, text: Sequence[int], specials: Specials) -> Callable[[Tensor], Tensor]:
    """The states of [START], a text and what is written behind it."""
    begin, device = [specials.start, *text], model.token_embedding.weight.device
    return lambda written: model.features(batch([begin + row for row in written.tolist()], specials, ()).to(device))


def _decoder_states(
    model: LanguageModel, text: Sequence[int], specials: Specials, language: int
) -> Callable[[Tensor], Tensor]:
    """The states of a decoder behind [START], which reads the encoder's states of a text."""
    if not text:
        raise UserError("The text is empty, but the decoder needs a text that the encoder reads; type a text.")
    source = batch([text], specials, ()).to(model.token_embedding.weight.device)
    read = model.features(source)

    def states(written: Tensor) -> Tensor:
        rows, begun = len(written), torch.nn.functional.pad(written, (1, 0), value=specials.start).to(read.device)
        sources = pick(source, torch.zeros(rows, dtype=torch.long, device=read.device))
        return model.decode(read.expand(rows, -1, -1), sources, begun, language)

    return states
