"""What a data collator of the transformers library makes of one sentence, as a batch that is traced and drawn."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from playground.answers import Target, Word
from playground.batch import Action, Batch, Tokens, causal_mask, stream
from playground.errors import UserError
from playground.objectives import Objective
from playground.objectives.see import SeeEncoderDecoder
from playground.objectives.see.painted import in_cells
from playground.objectives.stage import Ask, Change, See
from playground.tokenizing.padding import pad_rows
from playground.tokenizing.vocabulary import FIRST_WORD, SPECIAL_TOKENS, specials
from playground.trace.rebuild import Rebuilt, rebuild_row

Collator = Callable[[list[dict[str, Any]]], Mapping[str, Any]]
"""A data collator: encoded sentences to the tensors of a batch."""

OF_TOKENS = ("input_ids", "labels", "decoder_input_ids")
"""The tensors that hold ids of tokens."""

IGNORED = -100
"""The label of a position that is not scored, as in PyTorch's cross-entropy."""

OURS = {
    "pad_token_id": "[PAD]", "mask_token_id": "[MASK]", "unk_token_id": "[UNK]", "cls_token_id": "[CLS]",
    "sep_token_id": "[SEP]", "eos_token_id": "[END]", "bos_token_id": "[START]",
}  # fmt: skip
"""Our special token for each of theirs; an id with several roles takes the first."""


@dataclass(frozen=True)
class Collated:
    """What a collator returned for one sentence, in ids of our own: `[1, n]` each, `cells` `[1, n, n]`.

    `shifts` says that the model moves the labels by one, `written` that its decoder writes them.
    """

    ids: Tensor
    valid: Tensor
    labels: Tensor
    cells: Tensor | None
    decoder_ids: Tensor | None
    shifts: bool
    written: bool
    permuted: bool


def collate(
    collator: Collator, text: str, *, answer: str = "", tokenizer: Any = None, seed: int = 0, causal: bool | None = None
) -> Rebuilt:
    """What a collator makes of a sentence: the input, which positions are scored, and what may be attended to.

    `answer` is what a decoder writes about the text. A `causal` model reads from left to right and moves the labels by
    one; by default that is so where a collator has the setting `mlm` and it is off.
    """
    tokenizer = tokenizer if tokenizer is not None else getattr(collator, "tokenizer", None)
    name = getattr(collator, "__name__", type(collator).__name__)
    if tokenizer is None:
        raise UserError(f"{name} has no tokenizer of its own; give the one with which its sentences are encoded.")
    features = _features(tokenizer, text, answer)
    causal = not getattr(collator, "mlm", True) if causal is None else causal
    returned = _returned(name, collator, features, seed)
    ids = [returned[key].unique().tolist() for key in OF_TOKENS if key in returned]
    names = _Names.of(tokenizer, [features["input_ids"], *ids])
    tokens = pad_rows([names.read(features["input_ids"])], specials(len(names.words)), names.words)
    collated = _collated(name, returned, names, causal, features)
    rebuilt = rebuild_row(_objective(name, collator, collated), tokens, text, seed, notices=_traps(collated, tokens))
    return replace(rebuilt, pair=answer)


def _features(tokenizer: Any, text: str, answer: str) -> dict[str, list[int]]:
    features = {key: list(value) for key, value in tokenizer(text).items()}
    if not features["input_ids"]:
        raise UserError("The text is empty; type a sentence.")
    return features | ({"labels": list(tokenizer(text_target=answer)["input_ids"])} if answer else {})


def _returned(name: str, collator: Collator, features: dict[str, Any], seed: int) -> dict[str, Tensor]:
    """The tensors that a collator returns, the same for one seed where torch draws them; its refusal as a sentence."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # `torch.manual_seed` would change those of devices too
        try:
            returned = collator([features])
        except (ValueError, TypeError, KeyError, RuntimeError) as error:
            length = len(features["input_ids"])
            raise UserError(
                f"{name} refuses this sentence of {length} tokens: {' '.join(str(error).split())}"
            ) from error
    tensors = {key: torch.as_tensor(value) for key, value in returned.items()}
    if "input_ids" not in tensors or "labels" not in tensors:
        given = ", ".join(tensors) or "nothing"
        raise UserError(f"{name} returned {given}; input_ids and labels are needed to draw what is predicted.")
    if tensors["labels"].dim() != 2:
        shape = list(tensors["labels"].shape)
        raise UserError(f"{name} returned labels of the shape {shape}; only labels of single positions are drawn.")
    return tensors


@dataclass(frozen=True)
class _Names:
    """The tokens of a sentence and of its batch as a small vocabulary with our layout and the library's strings."""

    ours: dict[int, int]
    words: tuple[str, ...]

    @classmethod
    def of(cls, tokenizer: Any, ids: Iterable[Sequence[int]]) -> "_Names":
        ours: dict[int, int] = {}
        for role, token in OURS.items():
            number = getattr(tokenizer, role, None)
            if number is not None:
                ours.setdefault(int(number), SPECIAL_TOKENS.index(token))
        others = sorted({k for row in ids for k in row if 0 <= k < len(tokenizer)} - set(ours))
        words = [*SPECIAL_TOKENS, *map(str, tokenizer.convert_ids_to_tokens(others))]
        for theirs, number in ours.items():
            words[number] = str(tokenizer.convert_ids_to_tokens(theirs))
        return cls(ours | {k: FIRST_WORD + n for n, k in enumerate(others)}, tuple(words))

    def read(self, ids: Iterable[int]) -> list[int]:
        return [self.ours[k] for k in ids]

    def tensor(self, ids: Tensor) -> Tensor:
        """Ids `[1, n]` as ours; a label that is not scored stays as it is."""
        return torch.tensor([[IGNORED if k == IGNORED else self.ours[k] for k in row] for row in ids.tolist()])


def _collated(
    name: str, returned: Mapping[str, Tensor], names: _Names, causal: bool, features: Mapping[str, Any]
) -> Collated:
    ids = names.tensor(returned["input_ids"])
    valid, cells = torch.ones_like(ids, dtype=torch.bool), None
    mask = returned.get("attention_mask")
    if mask is not None and mask.dim() == 2:
        valid = mask.bool()
    elif mask is not None:
        cells = mask.reshape(1, ids.shape[1], ids.shape[1]).bool()
    permuted = "perm_mask" in returned
    cells = returned["perm_mask"] == 0 if permuted else cells
    decoder = returned.get("decoder_input_ids")
    written = decoder is not None or "labels" in features
    if not written and returned["labels"].shape != ids.shape:
        raise UserError(
            f"{name} returned {returned['labels'].shape[1]} labels for {ids.shape[1]} positions; give the text that "
            "its decoder writes as answer."
        )
    labels = names.tensor(returned["labels"])
    started = None if decoder is None else names.tensor(decoder)
    return Collated(ids, valid, labels, cells, started, causal and not written, written, permuted)


def _objective(name: str, collator: Collator, made: Collated) -> Objective:
    """A chain of the three things that a collator decides, so that each has its frame."""
    see, ask = SeeCollated(made), AskCollated(made)
    says = " ".join((collator.__doc__ or "It is a function of your own.").split()).partition(". ")[0].rstrip(".")
    return Objective(
        name=name,
        stages=(ChangeCollated(made), *((ask, see) if made.written else (see, ask))),
        idea=f"What this data collator of the transformers library makes of the sentence. {says}.",
        loss="Mean cross-entropy of the labels that are not -100.",
        terms=(),
        source="the transformers library",
    )


@dataclass(frozen=True)
class ChangeCollated(Change):
    """The ids that the collator returned, beside those of the sentence."""

    made: Collated

    def build(self, batch: Batch) -> Batch:
        made, text = self.made, batch.tokens.ids
        kept = int(made.valid.sum()) == text.shape[1]  # else it is not known which position came from which
        origin = (made.valid.long().cumsum(1) - 1).where(made.valid & torch.tensor(kept), -1)
        inputs = stream(made.ids, origin, made.valid, padded=not bool(made.valid.all()))
        if made.written or made.shifts or not kept:
            return replace(batch, inputs=inputs)
        selected = made.labels[made.valid][None] != IGNORED
        shown = made.ids[made.valid][None]
        actions = torch.full_like(text, int(Action.RANDOMISED))
        actions[shown == batch.tokens.specials.mask] = int(Action.MASKED)
        actions[shown == text] = int(Action.SCORED_AS_IS)
        actions = actions.where(selected | (shown != text), int(Action.KEPT))
        batch = replace(batch, inputs=inputs, selected=selected, actions=actions)
        return replace(batch, prediction_order=_order(made, selected)) if made.permuted else batch


def _order(made: Collated, selected: Tensor) -> Tensor:
    """The rank `[1, t]` of each position in the order of prediction: context, then targets by what they see."""
    assert made.cells is not None
    sees = (made.cells & selected[:, None, :]).sum(2)
    return (sees + selected.long() * (1 + selected.shape[1])).argsort(dim=1, stable=True).argsort(dim=1)


@dataclass(frozen=True)
class SeeCollated(See):
    """What the model may attend to: a permutation in two streams, a mask of cells, the left side, or everything."""

    made: Collated

    def build(self, batch: Batch) -> Batch:
        made, inputs = self.made, batch.inputs
        if made.written:
            return SeeEncoderDecoder().build(batch)
        if made.shifts and made.cells is None:
            return replace(batch, inputs=replace(inputs, attn_mask=causal_mask(inputs.valid, inputs.padded)))
        if made.cells is None:
            return batch
        if not made.permuted:
            return replace(batch, inputs=replace(inputs, attn_mask=in_cells(made.cells)))
        itself = torch.eye(made.cells.shape[1], dtype=torch.bool)  # the content stream of XLNet sees itself too
        streams = {"attn_mask": in_cells(made.cells | itself), "query_attn_mask": in_cells(made.cells)}
        return replace(batch, inputs=replace(inputs, **streams))


@dataclass(frozen=True)
class AskCollated(Ask):
    """The labels that are not -100, where the model reads them: in place, one to the left, or in its decoder."""

    made: Collated

    def build(self, batch: Batch) -> Batch:
        made = self.made
        if made.written:
            return self._in_decoder(batch)
        labels, origin = made.labels, batch.inputs.origin
        if made.shifts:  # position k answers for the label of position k + 1
            labels, origin = pad(labels[:, 1:], (0, 1), value=IGNORED), pad(origin[:, 1:], (0, 1), value=-1)
        name = "next word" if made.shifts else "labels"
        stream = "query" if made.permuted else "inputs"
        target = Target(name, Word(), stream, labels.clamp(min=0), labels != IGNORED, origin)
        return replace(batch, targets=(target,))

    def _in_decoder(self, batch: Batch) -> Batch:
        """A decoder that has the labels before each, as the models of the library shift them where no ids are given."""
        labels, specials = self.made.labels, batch.tokens.specials
        real = labels != IGNORED
        ids = pad(labels.masked_fill(~real, specials.pad)[:, :-1], (1, 0), value=specials.start)
        ids = ids if self.made.decoder_ids is None else self.made.decoder_ids
        nowhere = torch.full_like(labels, -1)
        decoder = stream(ids, nowhere, real, padded=not bool(real.all()))
        target = Target("labels", Word(), "decoder", labels.clamp(min=0), real, nowhere)
        return replace(batch, decoder=decoder, targets=(target,))


def _traps(made: Collated, tokens: Tokens) -> list[str]:
    """What is easily overlooked in a batch of this kind, where it is so."""
    found = []
    ends = made.valid & (made.ids == tokens.specials.pad)
    if made.shifts and bool((ends & (made.labels == IGNORED)).any()):
        found.append(
            f"{tokens.vocabulary[tokens.specials.pad]} is the end of the text and the padding too, so its label is "
            f"{IGNORED}: the model does not learn where to stop."
        )
    if made.permuted and bool((made.ids == tokens.specials.mask).any()):
        found.append("The targets are masked in the content stream too, so no target ever sees an earlier one.")
    return found
