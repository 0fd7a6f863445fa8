"""Ask a decoder to write."""

from dataclasses import dataclass, replace

from playground.batch import Batch, Stream, Target, Tokens, arange_rows, gather_origin, language_ids_at, ones_view
from playground.knob import knob
from playground.objectives.ask.words import asked
from playground.objectives.change.markers import markers, sentinel
from playground.objectives.ops.ragged import Woven, append, below, collect, shift, unfold
from playground.objectives.stage import Ask


@dataclass(frozen=True)
class AskDecoder(Ask):
    """A decoder writes: the whole text (BART), the missing parts (survey), or both behind numbered markers (T5).

    The survey's Table 2 shows only the missing part; BART (arXiv:1910.13461) writes all, T5 (arXiv:1910.10683) the
    parts behind their sentinels, MASS (arXiv:1905.02450) the fragment at its own places. What is written is closed with
    [END] as the released codes do (not MASS's, whose fragment lies in the middle of a text); the rows of the survey's
    table print no such sign and have none. Where there is nothing to write, no [END] is asked for either.
    """

    target: str = knob("text", choices=("text", "gaps", "sentinels", "fragment"), why="What the decoder must write.")
    add_eos: bool = knob(True, why="Close the target with [END], so that stopping is learnt.")
    final_sentinel: bool = knob(False, why="Close the parts with one more sentinel, as in the figure of T5's paper.")

    def build(self, example: Batch) -> Batch:
        tokens = example.tokens
        written = self.written(example)
        if self.final_sentinel and self.target == "sentinels":
            number = example.spans.is_span.sum(1, keepdim=True)
            written = append(written, sentinel(example, number), tokens.specials.pad)
        if self.add_eos:
            written = append(written, tokens.specials.end, tokens.specials.pad, to_empty=False)
        decoder = answered_so_far(tokens, written)
        if self.target == "fragment":
            decoder = _in_its_own_places(example, written, decoder)
        return asked_to_write(example, written, decoder, copying=self.target == "text")

    def written(self, example: Batch) -> Woven:
        """What the decoder must write, `[b, n]`, and the place of the text that each answer stands at."""
        if self.target == "sentinels":
            return unfold(example, markers(example, "sentinel"))
        return whole(example.tokens) if self.target == "text" else collect(example, example.selected)


def whole(tokens: Tokens) -> Woven:
    """A text as it stands, without the columns that are padding in every row."""
    if not tokens.padded:
        return Woven(tokens.ids, arange_rows(tokens.ids), ones_view(tokens.ids), padded=False)
    real, padded = below(tokens.lengths)
    ids = tokens.ids[:, : real.shape[1]]
    if not padded:
        return Woven(ids, arange_rows(ids), real, padded)
    return Woven(ids.where(real, tokens.specials.pad), arange_rows(ids).where(real, -1), real)


def answered_so_far(tokens: Tokens, written: Woven) -> Stream:
    """What a decoder has when it writes: a start sign and all answers but the last."""
    ids, real, padded = shift(written.ids, tokens.specials.start), written.real, written.padded
    ids = ids.where(real, tokens.specials.pad) if padded else ids
    return Woven(ids, shift(written.origin, -1).where(real, -1), real, padded).stream(tokens)


def asked_to_write(example: Batch, written: Woven, decoder: Stream, copying: bool) -> Batch:
    """The example with a decoder and the question what it writes."""
    question = Target(
        name="written words",
        head="vocabulary",
        stream="decoder",
        targets=written.ids,
        loss_mask=written.real,
        origin=written.origin,
        copying=copying,
    )
    return asked(replace(example, decoder=decoder), question)


def _in_its_own_places(example: Batch, written: Woven, decoder: Stream) -> Stream:
    """MASS: the decoder starts from the visible word before the fragment and keeps the positions of the text.

    Each word is written from the position before its own. Where the fragment begins the text there is no such position:
    [START] takes the first one, and all that follow are one further on.
    """
    tokens = example.tokens
    before = (written.origin - 1).where(written.origin >= 0, shift(written.origin, -1)).where(written.real, -1)
    ids = gather_origin(tokens.ids, before, tokens.specials.start).where(written.real, tokens.specials.pad)
    language = language_ids_at(tokens, before)
    position = (before + (before[:, :1] < 0).long()).clamp(min=0)
    return replace(decoder, ids=ids, origin=before, position_ids=position, language_ids=language)
