"""A model that reads and writes, put together from pre-trained parts; the attention between them is new.

Both stacks take what fits (arXiv:1611.02683, sec. 2.1; XLM, arXiv:1901.07291, sec. 4.2-4.3); attention from the decoder
to the encoder has no counterpart in pre-training, so its weights are random.
"""

from dataclasses import replace

import torch

from playground.errors import UserError
from playground.tokenizing import Tokenizer
from playground.training.train_state import TrainState

ENCODER, DECODER = "network.encoder.", "network.decoder."


def with_decoder(
    learner: TrainState, tokenizer: Tokenizer, donor: TrainState | None, donors: Tokenizer | None
) -> TrainState:
    """A copy of a learner with a decoder whose layers are those of the donor; None for new ones.

    Word vectors are the learner's own: the two stacks share them here.
    """
    _check(learner)
    if donor is not None:
        _check_pair(learner, tokenizer, donor, donors)
    layers = (donor or learner).model.shape.layers
    entry = replace(learner.entry, model=replace(learner.model.shape, decoder_layers=layers))
    made = TrainState.new(entry, tokenizer.words, learner.seed, learner.device)
    parts = dict(learner.model.state_dict())
    for name, value in donor.model.state_dict().items() if donor is not None else ():
        if name.startswith(ENCODER):
            parts[DECODER + name.removeprefix(ENCODER)] = torch.clone(value)
    lacking, surplus = made.model.load_state_dict(parts, strict=False)
    assert not surplus, surplus
    assert all(name.startswith(DECODER) for name in lacking), lacking
    made.step, made.tokens, made.seconds = learner.step, learner.tokens, learner.seconds
    return made


def _check(learner: TrainState) -> None:
    name, shape = learner.entry.name, learner.model.shape
    if shape.kind == "static":
        raise UserError(f"{name} has no layers, so it cannot be an encoder. Choose a base with layers, such as BERT.")
    if shape.decoder_layers:
        raise UserError(f"{name} has a decoder already; leave --decoder out, and choose what is kept by a strategy.")
    if shape.two_streams or shape.generator_ratio:
        raise UserError(f"{name} is more than one network, so it gets no decoder. Choose a base such as BERT or GPT.")


def _check_pair(learner: TrainState, tokenizer: Tokenizer, donor: TrainState, donors: Tokenizer | None) -> None:
    one, other = learner.model.shape, donor.model.shape
    if donors is not None and donors.words != tokenizer.words:
        raise UserError("The two runs have different vocabularies; train both on the same corpus.")
    if other.kind == "static" or (one.width, one.heads, one.mlp_ratio) != (other.width, other.heads, other.mlp_ratio):
        raise UserError(
            f"The layers do not fit: the base has width {one.width} and {one.heads} heads, the other run {other.width} "
            f"and {other.heads}; train both with the same."
        )
    if one.norm_first != other.norm_first:
        first, then = ("before", "after") if one.norm_first else ("after", "before")
        raise UserError(
            f"The norms are {first} its layers in the base and {then} "
            "them in the other run; train both in the same form."
        )
    if one.positions != other.positions:
        raise UserError(
            f"The base has {one.positions} positions, the other run {other.positions}; train both with the same."
        )
