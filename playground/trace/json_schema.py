"""The keys of JSON that tell of one objective on one text: of the commands `objective` and `table`, and of a record."""

from typing import Any, Literal, NotRequired, TypedDict

from playground.knob import KnobValue


class IdLists(TypedDict):
    """What a model reads at each position of its input beside the token, by its names in transformers."""

    token_type_ids: list[int]
    """The segment of each token."""
    position_ids: list[int]
    """The position of each token."""
    second_position_ids: NotRequired[list[int]]
    """The second position of each token: that of the word to predict, or its number in its span, from 1."""
    langs: list[int]
    """The language of each token."""
    task_type_ids: NotRequired[list[int]]
    """The task of the batch at each token, from 1."""
    polarity_type_ids: NotRequired[list[int]]
    """The sentiment of the text at each token, from 1; 0 where it is unknown."""
    word_polarity_type_ids: NotRequired[list[int]]
    """The sentiment of each word, from 1; 0 where it is unknown."""
    pos_type_ids: NotRequired[list[int]]
    """The part of speech of each word, from 1; 0 where it is unknown."""


class DecoderIdLists(TypedDict):
    """What a decoder reads at each position of its input beside the token."""

    decoder_token_type_ids: NotRequired[list[int]]
    """The segment of each token of the decoder's input."""
    decoder_position_ids: NotRequired[list[int]]
    """The position of each token of the decoder's input."""
    decoder_langs: NotRequired[list[int]]
    """The language of each token of the decoder's input."""


Masks = dict[str, list[list[int]]]
"""Attention masks by name: rows of 0 and 1, query positions down, key positions across.

The names are `encoder`; with a query stream `content` and `query`; with a decoder also `decoder` and `cross`. Where
layers differ, a second mask of every second layer ends in ` above`.
"""


class PathNode(TypedDict):
    """A position of a stream in a layer, on the path of a leak."""

    stream: str
    position: int
    """Position in the stream, from 0."""
    layer: int


class Leak(TypedDict):
    """Whether an answer can reach its own prediction, and on which path."""

    leak: bool
    level: Literal["red", "amber", "green"]
    """Red is a leak, amber an answer that is shown by design."""
    by_design: list[int]
    """Positions, from 1, whose answers are shown by design."""
    sentence: str
    path: list[PathNode]
    """The shortest path of a leak, from the answer to its prediction."""


class Misprint(TypedDict):
    """What a source prints where it errs."""

    latex: str
    where: str
    """The part of the source."""
    wrong: str
    """What is wrong with it."""


class LeftOut(TypedDict):
    """A text that is too long, so that only its first tokens are used."""

    text: str
    """Which text it is."""
    used: int
    """Tokens that are used."""
    tokens: int
    """Tokens that it has; 0 if it is too long to be counted."""
    said: str
    """The same in a sentence."""


class Term(TypedDict):
    """A term of the loss, and what it scores."""

    target: str
    latex: str
    weight: float
    """Weight of the target in the loss."""
    symbols: dict[str, str]
    """What the symbols in the LaTeX mean."""
    network: str
    """The network that predicts: main, generator, backward ..."""
    reader: str
    """The stream that predicts: inputs, query or decoder."""
    positions: list[int]
    """Scored positions of the stream, from 1."""


class SurveyRow(TypedDict):
    """Inputs and targets as the survey's Table 2 prints them."""

    inputs: str
    targets: str


class TargetSignal(TypedDict):
    """How much is learned from a batch by one target."""

    scored: int
    """Scored positions."""
    read: int
    """Tokens of text that are read for the target."""
    idle_rows: int
    """Rows without a scored position."""
    share: float
    """Scored positions for each token that is read."""


class AuxiliaryFacts(IdLists):
    """The input, the targets and the masks of another network of the objective, such as the generator of RTD."""

    network: str
    inputs: list[str]
    targets: NotRequired[list[str]]
    scored: NotRequired[list[int]]
    """1 for each target that is scored, else 0."""
    attention_mask: Masks
    """Its attention masks, as those of the main network."""


class SharedFacts(TypedDict):
    """What the JSON of the command line and the record of a stage both say of an objective."""

    formula: str
    """The loss in LaTeX."""
    source: str
    """The paper."""
    terms: list[Term]
    misprint: Misprint | None
    left_out: list[LeftOut]


class ObjectiveFacts(IdLists, DecoderIdLists, SharedFacts):
    """One objective on one text."""

    objective: str
    text: str
    pair: str
    """The second text; empty where there is none."""
    seed: int
    inputs: list[str]
    """The tokens that the model reads."""
    decoder_inputs: list[str] | None
    """The tokens that the decoder reads; null without one."""
    targets: list[str]
    """The answers, in the order in which they are predicted."""
    scored: list[int]
    """1 for each target that is scored, else 0."""
    target_positions: list[int]
    """The position, from 1, of each target in the stream that predicts it."""
    reader: str
    """The stream that predicts: inputs, query or decoder."""
    actions: list[str]
    """What happened to each token of the text, such as kept, masked, randomised or deleted."""
    attention_mask: Masks
    """Attention masks by name, as rows of 0 and 1: query positions down, key positions across. The names are `encoder`;
    of PLM `content` and `query`; of an encoder-decoder `encoder`, `decoder` and `cross`."""
    leak: bool
    """Whether an answer can reach its own prediction."""
    leak_detail: Leak
    plan: dict[str, Any]
    """What was drawn, by the key of the plan; `--plan` takes it back."""
    knobs: dict[str, KnobValue]
    """The value of each knob of the objective."""
    row: str
    """Its row in the survey's Table 2; empty where it has none."""
    survey: SurveyRow
    signal: float
    """Scored positions for each token of the text."""
    signal_by_target: dict[str, TargetSignal]
    auxiliary: list[AuxiliaryFacts]
    notice: str
    """What was guessed, rounded or left out, in sentences; empty where nothing was."""


class LeftOutRow(TypedDict):
    """A row of the table that the text cannot give."""

    row: str
    objective: str
    reason: str


class TableFacts(TypedDict):
    """The survey's Table 2 for a text."""

    text: str
    seed: int
    rows: list[ObjectiveFacts]
    left_out: list[LeftOutRow]


class Cell(TypedDict):
    """A token of a lane; `key` is the same for the same token in every lane and frame."""

    text: str
    key: str
    state: str
    chosen: bool
    scored: bool
    badge: str
    """The position of the token in the prediction order, where there is one."""
    was: str
    """The original token, where the model reads another one."""


class Ids(TypedDict):
    """What a model reads at each position beside its token: the segment, language, position or a label.

    `words` has a text for each value, "" where nothing is known; without any the values are positions.
    """

    name: str
    title: str
    values: list[int]
    words: list[str]


class Lane(TypedDict):
    """A row of tokens: the text, the input, the decoder's input or the targets."""

    name: str
    title: str
    cells: list[Cell]
    ids: NotRequired[list[Ids]]
    target: NotRequired[str]


class Weights(TypedDict):
    """Attention weights as base64 of bytes, `[heads, rows, columns]` for each layer that is sent."""

    heads: int
    layers: int
    data: dict[str, str]


class Matrix(TypedDict):
    """An attention mask: `states` is base64 of a byte per cell, rows are queries and columns keys."""

    name: str
    title: str
    rows: list[str]
    columns: list[str]
    shape: list[int]
    states: str
    scored_rows: list[int]
    order: list[int] | None
    every: NotRequired[int]


class SourceText(TypedDict):
    """A function of the engine: its file below the repository, its first line and its text."""

    file: str
    line: int
    text: str


class Code(TypedDict):
    """The source of a stage, and how it is called."""

    call: str
    parts: list[SourceText]
    says: NotRequired[str]


class FrameWithoutLanes(TypedDict):
    """The batch after one stage; `numbers` marks a frame that shows those of a model."""

    name: str
    title: str
    caption: str
    matrices: list[Matrix]
    numbers: NotRequired[bool]


class Frame(FrameWithoutLanes):
    """A frame as the engine makes it."""

    lanes: list[Lane]
    code: NotRequired[Code]


class Meter(TypedDict):
    """How much is learned from a text by one target of a network."""

    target: str
    network: str
    scored: int
    tokens: int
    share: float


class Signal(TypedDict):
    """The number of scored positions and of tokens of text."""

    scored: int
    tokens: int


class Choice(Leak):
    """The leak check under one choice of a knob; `hears` says how much context a prediction has."""

    value: KnobValue
    hears: str


class Switch(TypedDict):
    """The leak check under every choice of the objective's main knob."""

    question: str
    knob: str
    now: KnobValue
    choices: list[Choice]


class Strip(TypedDict):
    """The masks of one text at its first visits: base64 of a byte per visit and token."""

    title: str
    copies: int
    states: str


class MaskHistory(TypedDict):
    """The masks of one text at its first visits, static and dynamic."""

    words: list[str]
    strips: list[Strip]


class Editable(TypedDict):
    """What may be edited by hand: the plan, its keys, the choices, and the words that they name."""

    plan: dict[str, Any]
    edits: list[str]
    outcomes: list[str]
    words: list[str]
    word: list[int]
    units: list[str]


class Guess(TypedDict):
    """A model's answer at one scored position."""

    position: int
    target: str
    reader: str
    truth: str
    probability: float
    loss: float
    unit: NotRequired[str]
    measure: NotRequired[str]
    """What ranks the answers, by default their probability."""
    top: list[list[Any]]


class Numbers(TypedDict):
    """What a model says of the batch; `groups` and `after` only where one update is looked into."""

    model: str
    attention: dict[str, Weights]
    guesses: list[Guess]
    losses: dict[str, float]
    captions: dict[str, str]
    groups: NotRequired[list[dict[str, Any]]]
    after: NotRequired[list[Guess]]
