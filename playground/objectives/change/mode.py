"""Change the input of a denoiser: a token for the mode stands in front."""

from dataclasses import dataclass, replace
from typing import Literal

from torch.nn.functional import pad

from playground.batch import Batch, language_ids_at, stream
from playground.errors import UserError
from playground.objectives.ops.names import with_names
from playground.objectives.stage import Change

Mode = Literal["[NLU]", "[S2S]", "[NLG]"]

MODES: tuple[Mode, ...] = ("[NLU]", "[S2S]", "[NLG]")
"""The names of UL2's mode tokens: for regular, sequential and extreme denoising."""


@dataclass(frozen=True)
class PrependModeToken(Change):
    """A token in front of the input says in which way the text was corrupted (UL2, arXiv:2205.05131, sec. 3.1).

    The modes are the last three sentinels: the vocabulary has no other tokens that no text is made of. A text with so
    many gaps that they reach these uses them as well.
    """

    mode: Mode

    def build(self, batch: Batch) -> Batch:
        inputs, sentinels = batch.inputs, batch.tokens.specials.sentinels
        if len(sentinels) < len(MODES):
            raise UserError(
                f"The vocabulary has {len(sentinels)} sentinels; {len(MODES)} modes need one each. "
                "Choose a corpus with a vocabulary of its own."
            )
        names = dict(zip(sentinels[-len(MODES) :], MODES, strict=True))
        token = next(number for number, mode in names.items() if mode == self.mode)
        origin = pad(inputs.origin, (1, 0), value=-1)
        shown = stream(
            pad(inputs.ids, (1, 0), value=token),
            origin,
            pad(inputs.valid, (1, 0), value=True),
            padded=inputs.padded,
            language=language_ids_at(batch.tokens, origin),
        )
        return replace(batch, tokens=with_names(batch.tokens, names), inputs=shown)
