"""A model that reads and writes, put together from pre-trained parts; what joins them starts anew.

Both stacks take what fits (arXiv:1611.02683, sec. 2.1; XLM, arXiv:1901.07291, sec. 4.2-4.3); attention from the decoder
to the encoder has no model in pre-training, so its weights are random.
"""

from dataclasses import replace

import torch
from torch import Tensor

from playground.errors import Refusal
from playground.tokenizing import Tokenizer
from playground.training.train_state import TrainState

READS = "network.encoder."
WRITES = "network.decoder."


def with_decoder(
    learner: TrainState, tokenizer: Tokenizer, donor: TrainState | None, donors: Tokenizer | None
) -> TrainState:
    """A copy of a learner with a decoder whose layers are those of the donor; None for new ones.

    Word vectors are the learner's own: the two stacks share them here.
    """
    shape = learner.model.shape
    _check(learner)
    if donor is not None:
        _check_pair(learner, tokenizer, donor, donors)
    layers = (donor or learner).model.shape.layers
    made = TrainState.new(
        replace(learner.entry, model=replace(shape, decoder_layers=layers)),
        tokenizer.words,
        learner.seed,
        learner.device,
    )
    parts = dict(learner.model.state_dict())
    parts |= _as_decoder(donor.model.state_dict()) if donor is not None else {}
    lacking, surplus = made.model.load_state_dict(parts, strict=False)
    assert not surplus, surplus
    assert all(name.startswith(WRITES) for name in lacking), lacking
    made.step, made.tokens, made.seconds = learner.step, learner.tokens, learner.seconds
    return made


def _as_decoder(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights of a stack that reads, named as those of one that writes."""
    return {WRITES + name.removeprefix(READS): torch.clone(p) for name, p in state.items() if name.startswith(READS)}


def _check(learner: TrainState) -> None:
    """Refuse what has a decoder already or cannot get one."""
    name, shape = learner.entry.name, learner.model.shape
    if shape.kind == "static":
        raise Refusal(f"{name} has no layers, so it cannot read for a decoder; take another base.")
    if shape.decoder_layers:
        raise Refusal(f"{name} has a decoder already; leave --decoder out, and choose what is kept by a strategy.")
    if shape.two_streams or shape.generator_ratio:
        raise Refusal(f"{name} has further networks that do not go with a decoder; take a base such as BERT or GPT.")


def _check_pair(learner: TrainState, tokenizer: Tokenizer, donor: TrainState, donors: Tokenizer | None) -> None:
    """Refuse parts that do not fit each other."""
    one, other = learner.model.shape, donor.model.shape
    if donors is not None and donors.words != tokenizer.words:
        raise Refusal("The two runs have different vocabularies; train both on the same corpus.")
    if other.kind == "static" or (one.width, one.heads, one.mlp_ratio) != (other.width, other.heads, other.mlp_ratio):
        raise Refusal(
            f"The layers do not fit: the base has width {one.width} and {one.heads} heads, the other run {other.width} "
            f"and {other.heads}; train both with the same."
        )
    if one.positions != other.positions:
        raise Refusal(
            f"The base has {one.positions} positions, the other run {other.positions}; train both with the same."
        )
