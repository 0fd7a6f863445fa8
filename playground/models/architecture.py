"""The shape of a model, as knobs, and the parts that an objective needs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from playground.batch import Action, Batch, gather_origin
from playground.errors import UnfitModel, UserError
from playground.knob import knob

if TYPE_CHECKING:
    from playground.answers import AnswerKind

SIZES = (
    "layers", "width", "heads", "head_dim", "decoder_layers", "embedding_size", "max_position_embeddings", "languages",
    "mem_len", "attention_window",
)  # fmt: skip
"""How large an architecture is; the rest is its form, which it has in common at every size."""


LONGEST = 512
"""Positions of a tiny model, as many as BERT has (arXiv:1810.04805, app. A.2)."""


@dataclass(frozen=True)
class Architecture:
    """A transformer by its numbers, or one vector for every word; attention masks come with the batch.

    `attention` is how the finished model reads a plain text (for fine-tuning). With a `backward` network it reads in
    both directions apart and concatenates the states. `labels` are the heads that choose one of several classes, such
    as `(("pair", 2),)`; those named in `paired` read two positions of a row, one of each text (InferSent).
    `window_radius` is how many positions to a side a window network lays side by side, as many as its masks open; word
    vectors without one are averaged. With `predicts_ahead` a hidden word is predicted at the position before it (MNTP).
    `label_embeddings` are labels with their classes that are read with the words (SentiLR). `mtp_num_layers` layers
    predict words after the next one, each on the trunk, or each after the one before (`mtp_sequential`).
    """

    kind: str = knob(
        "transformer",
        choices=("transformer", "lstm", "gru", "window", "static"),
        why="Attention, recurrence, a hidden layer over a window of words, or one static vector for every word.",
    )
    layers: int = knob(2, 1, 12, unit="layers", why="Depth: how often information can be combined.")
    width: int = knob(64, 8, 512, unit="numbers per position", why="Dimensions of a hidden state.")
    heads: int = knob(4, 1, 16, unit="heads", why="How many attention patterns a layer computes side by side.")
    head_dim: int = knob(
        0, 0, 512, unit="numbers per head", why="The width of a head; 0: that of the network shared out to its heads."
    )
    mlp_ratio: float = knob(
        4.0, 1.0, 8.0, unit="times the width", why="Width of the layer that works on each position alone."
    )
    decoder_layers: int = knob(0, 0, 12, unit="layers", why="Layers of a decoder; 0 for none.")
    embedding_size: int = knob(
        0,
        0,
        512,
        unit="numbers per word",
        why="Narrower word vectors, projected to the width before the first layer; 0: the width.",
    )
    layer_sharing: str = knob(
        "none", choices=("none", "mlp", "attention", "all"), why="Weights that all layers share (ALBERT)."
    )
    positions: str = knob(
        "rotary",
        choices=("rotary", "learned", "sinusoidal", "relative bias", "relative"),
        why="Turned queries and keys, added vectors, or distances that attention scores (T5; Transformer-XL).",
    )
    second_positions: str = knob(
        "none",
        choices=("none", "added", "concatenated"),
        why="A second position of each token: a learned vector more (GLM), or half of each vector (sigma-GPT).",
    )
    norm_first: bool = knob(True, why="Norms before each sub-layer (GPT-2), not after it (GPT, BERT).")
    norm: str = knob("layer norm", choices=("layer norm", "rms norm"), why="RMS norm has neither mean nor bias (T5).")
    norm_eps: float = knob(1e-5, 1e-12, 1e-2, unit="", why="Keeps norms from dividing by zero.")
    embedding_norm: bool = knob(False, why="A norm over the sum of all embeddings (BERT).")
    activation: str = knob(
        "gelu",
        choices=("gelu", "gelu tanh", "relu", "geglu", "swiglu"),
        why="Between the two matrices of an MLP; GEGLU (T5 1.1) and SwiGLU multiply it by a third.",
    )
    attention_bias: bool = knob(False, why="Queries, keys, values and the output projection have a bias.")
    mlp_bias: bool = knob(True, why="Both matrices of an MLP have a bias.")
    scale_attn_weights: bool = knob(True, why="Scores are divided by the root of a head's width; not so in T5.")
    lm_head: bool = knob(True, why="Scores for every word; without it an encoder alone (BertModel).")
    tie_word_embeddings: bool = knob(True, why="Words are scored by their own vectors, not by a second table.")
    head_transform: bool = knob(False, why="A layer between the last state and the scores of words (BERT).")
    lm_head_bias: bool = knob(True, why="The output layer has a bias for every word.")
    scale_decoder_outputs: bool = knob(False, why="States are divided by the root of the width before scoring (T5).")
    max_pooling: bool = knob(
        False,
        why="Recurrence: the first state of a text is the maximum of all "
        "(InferSent, LASER), and the only one that is used.",
    )
    char_cnn: bool = knob(False, why="Input word vectors are computed from characters by convolutions (ELMo).")
    word_states: bool = knob(
        False, why="Both directions: a word of several pieces is represented by the states at its two ends (flair)."
    )
    weight_drop: float = knob(
        0.0, 0.0, 0.9, unit="share", why="Share of recurrent connections that are dropped in a step (AWD-LSTM)."
    )
    dropout: float = knob(0.0, 0.0, 0.9, unit="share", why="Share of numbers that each training step sets to 0.")
    init: str = knob(
        "mimetic",
        choices=("mimetic", "normal", "scaled"),
        why="Attention that averages from the first step on; all small; small and smaller with depth (GPT-2).",
    )
    max_position_embeddings: int = knob(128, 8, 1024, unit="positions", why="The longest input that can be read.")
    segments: int = knob(0, 0, 8, unit="segments", why="Tells the first text of a pair from the second; 0 for none.")
    decoder_positions: bool = knob(False, why="The decoder has position vectors, and their norm, of its own (BART).")
    languages: int = knob(0, 0, 16, unit="languages", why="Tells every position its language (XLM); 0 for none.")
    two_streams: bool = knob(False, why="A second stream that knows the position but not the word (XLNet).")
    backward: bool = knob(False, why="A second network that reads from right to left (ELMo).")
    sbo_head: bool = knob(False, why="A head that predicts a span from the words at its two ends (SpanBERT).")
    rtd_head: bool = knob(False, why="A yes-or-no head at every position (ELECTRA).")
    teacher: bool = knob(False, why="A slow copy of the network, whose states can be targets (data2vec).")
    regression_head: bool = knob(False, why="A head that predicts a vector at every position (data2vec).")
    generator_ratio: float = knob(0.0, 0.0, 1.0, unit="of the width", why="A small network that proposes words.")
    tie_generator: str = knob(
        "embeddings",
        choices=("none", "table", "embeddings", "gradient-disentangled", "all"),
        why="What the generator shares: nothing, the word vectors, all embeddings, or every layer. "
        "Gradient-disentangled (GDES): the model adds a difference of its own to the generator's word and position "
        "vectors, to which its gradient does not flow.",
    )
    ngrams: int = knob(
        0, 0, 100_000, unit="buckets", why="Static words are made of character n-grams; 0 for whole words."
    )
    counts: bool = knob(False, why="A bias for each word, to fit counts of pairs (GloVe).")
    attention: str = knob(
        "bidirectional", choices=("bidirectional", "left to right", "right to left"), why="How a plain text is read."
    )

    mem_len: int = knob(
        0, 0, 512, unit="positions", why="States of the previous row that every layer attends to (Transformer-XL)."
    )

    attention_window: int = knob(
        0, 0, 512, unit="positions", why="How far every second layer attends, its own position included; 0 for all."
    )

    labels: tuple[tuple[str, int], ...] = ()
    paired: tuple[str, ...] = ()
    window_radius: int = 0
    sliding_window: int = 0
    predicts_ahead: bool = False
    mtp_num_layers: int = 0
    mtp_sequential: bool = False
    label_embeddings: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        for heads_or_vectors in ("labels", "label_embeddings"):
            counted = tuple((str(name), int(number)) for name, number in getattr(self, heads_or_vectors))
            object.__setattr__(self, heads_or_vectors, counted)
        object.__setattr__(self, "paired", tuple(map(str, self.paired)))
        if self.head_dim * self.heads == self.width:
            object.__setattr__(self, "head_dim", 0)
        if self.head_dim % 2:
            raise UserError(f"head_dim is {self.head_dim}; it must be an even number.")
        if not self.head_dim and self.width % (2 * self.heads):
            raise UserError(
                f"width {self.width} does not fit {self.heads} heads; it must be a multiple of {2 * self.heads}."
            )
        self._check_reach()
        if self.word_states and self.directions == 1:
            raise UserError("word_states is on, but one network alone reads the text; set backward to yes.")
        if self.kind == "window" and (self.decoder_layers or self.two_streams):
            raise UserError("kind is window, whose layers read a single stream; set kind to transformer.")
        self._check_positions()
        if self.tie_generator == "all" and self.generator_ratio and self.generator_width != self.width:
            raise UserError(
                f"tie_generator is all, but the generator is {self.generator_width} wide and the model {self.width}; "
                "set generator_ratio to 1, or tie_generator to embeddings."
            )

    def _check_positions(self) -> None:
        """Refuse position encodings that the network cannot have."""
        if self.positions == "relative" and self.decoder_layers:
            raise UserError(
                "positions is relative, but the model has a decoder, whose attention to the encoder has no distance; "
                "take relative bias."
            )
        if self.second_positions != "none" and self.kind == "static":
            raise UserError(
                f"second_positions is {self.second_positions}, but kind is static, whose vectors have no position; set "
                "second_positions to none."
            )

    def _check_reach(self) -> None:
        """Refuse a memory or a band that attention cannot have."""
        for part, hindrance in (("mem_len", self._memory_hindrance), ("attention_window", self._attention_hindrance)):
            if hindrance and (value := getattr(self, part)):
                raise UserError(f"{part} is {value}, but {hindrance}; set {part} to 0.")

    @property
    def _attention_hindrance(self) -> str:
        """Why layers attend to nothing; empty where they do."""
        return "" if self.kind == "transformer" else f"the kind is {self.kind}, whose layers attend to nothing"

    @property
    def _memory_hindrance(self) -> str:
        """Why states of the text before cannot be attended to; empty where they can."""
        if self._attention_hindrance:
            return self._attention_hindrance
        if self.positions in ("learned", "sinusoidal"):
            return (
                f"positions are {self.positions}, which encode the position of a word in its row and not its distance"
            )
        if self.decoder_layers or self.backward or self.generator_ratio:
            return "the model has a second network, which would need a memory of its own"
        if self.attention_window:
            return f"attention_window is {self.attention_window}, which bands the positions of a row alone"
        return ""

    @property
    def directions(self) -> int:
        """The number of networks that read a plain text, each from its own side: 2 for ELMo, else 1."""
        return 2 if self.backward and self.kind != "static" else 1

    @property
    def features_width(self) -> int:
        """The width of the states of a plain text, those of both directions concatenated."""
        return self.width * self.directions

    @property
    def head_width(self) -> int:
        """The numbers of a head."""
        return self.head_dim or self.width // self.heads

    @property
    def recurrent(self) -> bool:
        """Whether its layers are recurrent."""
        return self.kind in ("lstm", "gru")

    @property
    def window_offsets(self) -> range:
        """The positions that a window layer reads, counted from its own."""
        left = 0 if self.attention == "right to left" else self.window_radius
        right = 0 if self.attention == "left to right" else self.window_radius
        return range(-left, right + 1)

    @property
    def layer_window(self) -> int:
        """How many words a layer that reads from one side sees, its own one included; 0 for all."""
        return self.window_radius + 1 if self.kind == "window" else self.sliding_window

    def reading(self, attention: str) -> "Architecture":
        """The same shape for a plain text that is read in another direction."""
        return replace(self, attention=attention)

    @property
    def table_width(self) -> int:
        """The width of the word vectors."""
        return self.embedding_size or self.width

    @property
    def continues(self) -> bool:
        """Whether it can continue a plain text: one network alone reads from left to right."""
        return self.attention == "left to right" and self.directions == 1 and not self.decoder_layers

    @property
    def stacks(self) -> tuple[str, ...]:
        """Its stacks by how a text is read: an encoder sees both sides, a decoder one; none for static word vectors."""
        if self.kind == "static":
            return ()
        if self.decoder_layers:
            return ("encoder", "decoder")
        return ("encoder",) if self.attention == "bidirectional" else ("decoder",)

    @property
    def generator_reads_own_words(self) -> bool:
        """Whether the generator reads a table of word vectors of its own."""
        return self.tie_generator in ("none", "gradient-disentangled")

    @property
    def generator_width(self) -> int:
        """Width of the generator, rounded to whole heads."""
        step = 2 * self.heads
        return max(step, round(self.width * self.generator_ratio / step) * step)


def tiny(published: Architecture, **turned: Any) -> Architecture:
    """A published architecture small enough to train here: its form and its parts, the sizes of `Architecture`.

    `turned` are parts that are not as published, and sizes of its own.
    """
    small = Architecture()
    sizes = {name: getattr(small, name) for name in SIZES} | {"max_position_embeddings": LONGEST}
    if published.decoder_layers:
        sizes["decoder_layers"] = small.layers
    return replace(published, **sizes | turned)


def need(there: object, what: str, knob: str) -> None:
    """Refuse an objective that needs a part which this model lacks, and name the knob that adds it."""
    if not there:
        raise UnfitModel(f"This objective {what}, which this model does not have", f"set {knob}")


def with_required_parts(shape: Architecture, *batch: Batch) -> Architecture:
    """The same shape with every stream, stack and head that the targets of some batches need."""
    parts = [part for batch in batch for part in batch.with_auxiliary]
    targets, networks = [target for part in parts for target in part.targets], {part.network for part in parts}
    labelled = [q for q in targets if q.kind.label]
    grown: dict[str, Any] = {q.kind.switch: True for q in targets if q.kind.switch}
    grown["labels"] = tuple((dict(shape.labels) | {q.kind.label: len(q.kind.classes) for q in labelled}).items())
    read = {name: len(label.classes) for part in parts for name, label in part.inputs.label_ids.items()}
    grown["label_embeddings"] = tuple((dict(shape.label_embeddings) | read).items())
    grown["paired"] = tuple(sorted({*shape.paired, *(q.kind.label for q in labelled if q.reads is not None)}))
    grown["two_streams"] = shape.two_streams or any(q.at_query for q in targets)
    grown["backward"] = shape.backward or {"main", "backward"} <= networks
    if any(part.decoder is not None for part in parts) and not shape.decoder_layers:
        grown["decoder_layers"] = shape.layers
    grown["teacher"] = shape.teacher or "teacher" in networks
    if any(part.is_generator for part in parts) and not shape.generator_ratio:
        grown["generator_ratio"] = 1.0 if shape.tie_generator == "all" else 0.5
    if shape.kind == "window" or (shape.kind == "static" and shape.window_radius):
        grown["window_radius"] = max(_radius(shape, part) for part in parts)
    elif shape.kind == "transformer":
        grown["sliding_window"] = _sliding_window(shape, parts)
    if shape.second_positions == "none" and any(part.inputs.second_position_ids is not None for part in parts):
        need(shape.kind != "static", "gives each token a second position", "kind to transformer")
        grown["second_positions"] = "added"
    grown |= _further(shape, [q.kind for q in targets if q.kind.ahead])
    grown["predicts_ahead"] = shape.predicts_ahead or any(_ahead(part) for part in parts)
    for name, ids in (("languages", "language_ids"), ("segments", "segment_ids")):
        tables = [getattr(part.inputs, ids) for part in parts]
        if name == "languages":  # a decoder that writes several is given which
            written = [part.decoder.language_ids for part in parts if part.decoder is not None]
            tables += [each for each in written if each.numel() and each.amin() < each.amax()]
        number = 1 + max((int(table.amax()) for table in tables if table.numel()), default=0)
        distinguished = name == "segments" and "languages" in grown  # by their languages (XLM, sec. 3.4)
        if name == "segments" and shape.positions == "relative":
            number = min(number, 2)  # the same one or another (XLNet, sec. 2.5)
        if number > 1 and not distinguished:
            grown[name] = max(getattr(shape, name), number)
    return replace(shape, **grown)


def _further(shape: Architecture, kinds: "Sequence[AnswerKind]") -> dict[str, Any]:
    """The layers that predict words after the next one."""
    if not kinds:
        return {}
    need(shape.kind == "transformer", "predicts words after the next one", "kind to transformer")
    if len(forms := {kind.sequential for kind in kinds}) > 1:
        raise UserError("These objectives predict words after the next one in two forms; train one of them.")
    return {"mtp_num_layers": max(shape.mtp_num_layers, *(k.ahead for k in kinds)), "mtp_sequential": forms.pop()}


def _ahead(part: Batch) -> bool:
    """Whether hidden words of the input are predicted at the position before their own (MNTP)."""
    inputs = part.inputs
    hidden = gather_origin(part.actions == Action.MASKED, inputs.origin, False)
    ahead = hidden.roll(-1, 1), inputs.origin.roll(-1, 1)
    asked = (q for q in part.targets if q.stream == "inputs" and q.kind.names_words)
    return any(bool((q.loss_mask & ahead[0] & (q.origin == ahead[1])).any()) for q in asked)


def _sliding_window(shape: Architecture, parts: Sequence[Batch]) -> int:
    """How many words a layer sees where every mask has a sliding window on one side; 0 for all."""
    masks = [part.inputs.attn_mask for part in parts]
    if shape.attention == "bidirectional" or shape.two_streams or any(mask.window is None for mask in masks):
        return 0
    words = 1 + max(abs(away) for part in parts for away in _away(part))
    return words if words < max(part.inputs.ids.shape[1] for part in parts) else 0


def _away(part: Batch) -> list[int]:
    """At which distances from a position, negative to its left, the mask of a batch opens others."""
    inputs = part.inputs
    mask = inputs.attn_mask if inputs.query_attn_mask is None else inputs.query_attn_mask
    query, key = (mask.dense() & inputs.valid[:, :, None]).any(0).nonzero(as_tuple=True)
    return (key - query).unique().tolist()


def _radius(shape: Architecture, part: Batch) -> int:
    """How many positions to a side the mask of a batch opens; refused on a side that its network does not read."""
    inputs = part.inputs
    mask = inputs.attn_mask if inputs.query_attn_mask is None else inputs.query_attn_mask
    away = _away(part)
    radius = max(map(abs, away), default=0)
    if mask.window is None or not radius:
        raise UnfitModel(
            "A window network reads a few neighbours, but this attention mask opens whole texts or no neighbour",
            "set sliding_window, or kind to transformer",
        )
    reads = shape.reading("right to left") if part.network == "backward" and shape.directions == 2 else shape
    there = {*away} <= {*replace(reads, window_radius=radius).window_offsets}
    need(there, f"needs a window network that does not read {reads.attention} alone", "attention to bidirectional")
    return radius
