"""A model with the head of a task, and what can be cut out of its tensors."""

from collections.abc import Sequence
from copy import copy, deepcopy
from dataclasses import replace
from typing import cast

import torch
from torch import Tensor, nn

from playground.errors import UserError
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.run.base import Base
from playground.finetuning.run.measure import BLOCK
from playground.finetuning.run.trainer import FinetuneConfig, Finetuner, numbered
from playground.finetuning.strategies.full import FULL
from playground.finetuning.strategy.head import TaskHead, init_head
from playground.models import Architecture
from playground.models.model import LanguageModel, Network
from playground.models.transformer import MLP, Attention, Stack


class Classifier(nn.Module):
    """A model, the head of a task, and where texts may leave earlier a head for each layer below the last.

    A text leaves at the first head whose entropy, as a share of the largest, is below `speed` (FastBERT). `kept_ids`
    `[k]` are the words of the vocabulary that are left; any other is read as the unknown word. With `activation_bits`
    the inputs of every linear layer are rounded to so many bits as they come.
    """

    kept_ids: Tensor | None

    def __init__(self, model: LanguageModel, head: TaskHead, kept_ids: Tensor | None = None) -> None:
        super().__init__()
        self.model, self.head, self.exits, self.speed = model, head, nn.ModuleList(), 0.0
        self.activation_bits, self.vocabulary = 0, model.token_embedding.num_embeddings
        self.register_buffer("kept_ids", kept_ids)

    def forward(self, texts: Dataset) -> Tensor:
        """The scores of a batch."""
        texts = self.remapped(texts)
        return self._early(texts)[0] if len(self.exits) else self.answer(self.model.features(texts.tokens), texts)

    def answer(self, states: Tensor, texts: Dataset) -> Tensor:
        """The scores from the last states `[b, t, d]`."""
        return self.head({self.head.top: states}, texts)

    def remapped(self, texts: Dataset) -> Dataset:
        """The texts with the ids of the words that are left."""
        if self.kept_ids is None:
            return texts
        new = torch.full((self.vocabulary,), texts.tokens.specials.id_of("unknown"))
        new[self.kept_ids] = torch.arange(len(self.kept_ids))
        return replace(texts, tokens=replace(texts.tokens, ids=new[texts.tokens.ids]))

    def depths(self, texts: Dataset) -> Tensor:
        """How many layers each text `[b]` takes."""
        if len(self.exits):
            return self._early(self.remapped(texts))[1]
        return torch.full((len(texts.tokens.ids),), self.model.shape.layers)

    def exit_scores(self, texts: Dataset) -> list[Tensor]:
        """The scores of every head, from the lowest up to the last; the layers beneath them get no gradient."""
        levels = self.model.hidden_states(self.remapped(texts).tokens)
        return [head({head.top: levels[head.top].detach()}, texts) for head in (*self._exits, self.head)]

    def at_speed(self, speed: float) -> "Classifier":
        """The same weights, with texts that leave at another speed."""
        other = copy(self)
        other.speed = speed
        return other

    @property
    def _exits(self) -> list[TaskHead]:
        return [cast("TaskHead", head) for head in self.exits]

    def _early(self, texts: Dataset) -> tuple[Tensor, Tensor]:
        """Scores and depth of each text; what has left is not computed any further (FastBERT, arXiv:2004.02178)."""
        left = torch.arange(len(texts.tokens.ids))
        scores = torch.zeros(len(left), texts.answer.scores)
        depth, states = torch.full((len(left),), self.model.shape.layers), None
        for k, head in enumerate(self._exits):
            some = texts.pick(left)
            states = self.model.hidden_states(some.tokens, states, k, k + 1)[-1]
            now = head({head.top: states}, some)
            leaves = uncertainty(now) < self.speed
            scores[left[leaves]], depth[left[leaves]] = now[leaves], k + 1
            left, states = left[~leaves], states[~leaves]
            if not len(left):
                return scores, depth
        some, top = texts.pick(left), self.model.top_hidden_state
        states = self.model.hidden_states(some.tokens, states, len(self.exits), top)[-1]
        scores[left] = self.answer(states, some)
        return scores, depth


def uncertainty(scores: Tensor) -> Tensor:
    """The entropy of each distribution `[n]` as a share of the largest (FastBERT)."""
    log = scores.log_softmax(-1)
    return -(log.exp() * log).sum(-1) / torch.tensor(float(scores.shape[-1])).log()


@torch.no_grad()
def score_all(classifier: Classifier, texts: Dataset) -> Tensor:
    """The scores of any number of texts, in blocks."""
    blocks = torch.arange(len(texts.labels)).split(BLOCK)
    return torch.cat([classifier(texts.pick(index)) for index in blocks])


def fine_tuned(base: Base, train: Dataset, steps: int, batch_size: int, seed: int) -> Classifier:
    """A copy of the base after full fine-tuning, with its head."""
    run = Finetuner(base, FULL, numbered(train, base), FinetuneConfig(steps, batch_size), seed)
    for step in range(steps):
        run.learn(step)
    assert isinstance(run.head, TaskHead)
    return classifier_of(run.model, run.head)


def classifier_of(model: LanguageModel, head: TaskHead) -> Classifier:
    """A copy of a model with the head of a task on its top, without what only pre-training needs."""
    model = deepcopy(model).requires_grad_(True)
    if model.shape.generator_ratio:
        del model.generator, model.generator_lm_head, model.generator_token_embedding
        model.shape = replace(model.shape, generator_ratio=0.0)
    if model.shape.teacher:
        del model.teacher
        model.shape = replace(model.shape, teacher=False)
    return Classifier(model, read_top(head, model))


def weights_read(classifier: Classifier) -> dict[str, nn.Parameter]:
    """The parameters by name, without those that only pre-training reads."""
    idle = (
        "model.lm_head.",
        "model.rtd_head.",
        "model.sbo_head.",
        "model.regression_head.",
        "model.label_heads.",
        "model.mtp_blocks.",
        "model.network.query_embedding",
    )
    return {name: p for name, p in classifier.named_parameters() if not name.startswith(idle)}


def matrices(classifier: Classifier, embeddings: bool = True) -> dict[str, nn.Parameter]:
    """The matrices inside the network by name, with the tables of vectors (words, positions) or without."""
    named = {n: p for n, p in weights_read(classifier).items() if p.dim() == 2 and n.startswith("model.")}
    return {n: p for n, p in named.items() if embeddings or "embedding" not in n}


def stack_of(model: LanguageModel, what: str) -> Stack:
    """The encoder's stack, or a refusal where there is no single stack of attention layers."""
    shape = model.shape
    if shape.kind != "transformer" or shape.directions == 2 or shape.decoder_layers:
        kind = "an encoder with a decoder" if shape.decoder_layers else f"of the kind {shape.kind}"
        raise UserError(f"{what} needs one stack of attention layers, and this model is {kind}. Choose RoBERTa or GPT.")
    stack = cast("Network", model.network).encoder
    assert isinstance(stack, Stack)
    return stack


def unshared_stack(classifier: Classifier, what: str) -> Stack:
    """The encoder's stack, whose layers each have weights of their own."""
    stack, sharing = stack_of(classifier.model, what), classifier.model.shape.layer_sharing
    if sharing != "none":
        raise UserError(
            f"{what} needs layers with weights of their own; layer_sharing of this model is {sharing}, not none."
        )
    return stack


def reshaped(classifier: Classifier, **sizes: object) -> None:
    """Note other sizes in the architecture of a model, whose head then reads its new top."""
    model = classifier.model
    model.shape = replace(model.shape, **sizes)
    cast("Network", model.network).shape = model.shape
    classifier.head = read_top(classifier.head, model)


def read_top(head: TaskHead, model: LanguageModel) -> TaskHead:
    """The same head on the top of another model of the same width."""
    moved = copy(head)
    moved.top, moved.levels = model.top_hidden_state, (model.top_hidden_state,)
    return moved


def keep_layers(classifier: Classifier, layers: Sequence[int]) -> None:
    """Keep some layers, numbered from 0, and cut the others out."""
    stack = unshared_stack(classifier, "Dropping layers")
    if len(classifier.exits) and len(layers) < len(stack.layers):
        raise UserError("Early exit has a head for each layer; put it after the methods that drop layers.")
    stack.blocks = nn.ModuleList(stack.blocks[k] for k in layers)
    reshaped(classifier, layers=len(layers))


@torch.no_grad()
def cut_heads(attn: Attention, keep: Sequence[int]) -> None:
    """Cut the rows and columns of all other heads out of the matrices of an attention."""
    wide = attn.query.out_features // attn.heads
    for part in (attn.value, attn.out):
        need_linear(part, "Head pruning")
    rows = torch.cat([torch.arange(h * wide, (h + 1) * wide) for h in keep])
    for name in ("query", "key", "value", "position"):
        if isinstance(part := getattr(attn, name, None), nn.Linear):
            setattr(attn, name, _linear(part.weight[rows], None if part.bias is None else part.bias[rows]))
    for name in ("content_bias", "position_bias", "segment_bias", "segment_embedding"):
        if isinstance(part := getattr(attn, name, None), nn.Parameter):
            setattr(attn, name, nn.Parameter(part[..., list(keep), :].clone()))
    attn.out, attn.heads = _linear(attn.out.weight[:, rows], attn.out.bias), len(keep)
    attn.kept_heads = tuple(attn.kept_heads[h] for h in keep)


def kept_heads(model: LanguageModel) -> tuple[tuple[int, ...], ...]:
    """The heads of the architecture, from 0, that each layer of the encoder still has."""
    encoder, shape = cast("Network", model.network).encoder, model.shape
    if isinstance(encoder, Stack):
        return tuple(block.attn.kept_heads for block in encoder.layers)
    return (tuple(range(shape.heads)),) * shape.layers


@torch.no_grad()
def cut_neurons(mlp: MLP, keep: Tensor) -> None:
    """Cut all other neurons out of the two matrices of an MLP."""
    need_linear(mlp.fc1, "Neuron pruning")
    bias = None if mlp.fc1.bias is None else mlp.fc1.bias[keep]
    mlp.fc1, mlp.fc2 = _linear(mlp.fc1.weight[keep], bias), _linear(mlp.fc2.weight[:, keep], mlp.fc2.bias)
    if mlp.gate is not None:
        mlp.gate = _linear(mlp.gate.weight[keep], None if mlp.gate.bias is None else mlp.gate.bias[keep])


def need_linear(layer: nn.Module, what: str) -> nn.Linear:
    """A linear layer, or a refusal where it is a product of two thin ones already."""
    if not isinstance(layer, nn.Linear):
        raise UserError(f"{what} cuts whole matrices, but here they are products of low rank; put it before low rank.")
    return layer


def _linear(weight: Tensor, bias: Tensor | None) -> nn.Linear:
    """A linear layer with copies of these weights."""
    made = nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None)
    made.weight = nn.Parameter(weight.detach().clone())
    if bias is not None:
        made.bias = nn.Parameter(bias.detach().clone())
    return made


class LowRank(nn.Module):
    """A linear layer as a product of two thinner ones."""

    def __init__(self, width: int, rank: int, out: int, bias: bool) -> None:
        super().__init__()
        self.down, self.up = nn.Linear(width, rank, bias=False), nn.Linear(rank, out, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.up(self.down(x))


class LowRankEmbedding(nn.Module):
    """A table of word vectors `[V, H]` as a product of a thin table `[V, E]` and a projection `[E, H]`."""

    def __init__(self, table: Tensor, projection: Tensor) -> None:
        super().__init__()
        self.table, self.projection = nn.Parameter(table), nn.Parameter(projection)

    @property
    def weight(self) -> Tensor:
        return self.table @ self.projection

    @property
    def num_embeddings(self) -> int:
        return len(self.table)


def student_of(teacher: Classifier, layers: Sequence[int]) -> Classifier:
    """A copy of a teacher with some of its layers, numbered from 0."""
    student = deepcopy(teacher)
    keep_layers(student, layers)
    return student


def fresh(
    shape: Architecture, teacher: Classifier, rng: torch.Generator, texts: Dataset, words: Sequence[str] = ()
) -> Classifier:
    """A model of another shape with random weights and a head for the same task, with the teacher's vocabulary."""
    model = LanguageModel(shape, teacher.model.token_embedding.num_embeddings, rng, words)
    top, width, sides = model.top_hidden_state, shape.features_width, texts.sides is not None
    head = TaskHead(teacher.head.spec, (top,), top, width, texts.answer, sides)
    init_head(head, rng)
    made = Classifier(model, head, teacher.kept_ids)
    made.vocabulary = teacher.vocabulary
    return made
