"""A probe at every level of a model, with its control task, a random encoder and selectivity."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from playground.analysis.probing.items import Items
from playground.batch import Tokens
from playground.errors import UserError
from playground.models import LanguageModel
from playground.models.model import make_model
from playground.rng import derive, generator

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

TESTED = 1 / 3
"""Share of the groups that a probe is tested on."""

STEPS = 300
"""Steps of the solver: probes that have not converged by then are taken as they are."""


@dataclass(frozen=True)
class LevelScore:
    """Accuracies of one level on held-out items: of the task, of its control task, and the same of a random encoder."""

    level: int
    accuracy: float
    control: float
    random_accuracy: float
    random_control: float

    @property
    def selectivity(self) -> float:
        """Accuracy less that of the control task: what was read, not learnt by heart (arXiv:1909.03368)."""
        return self.accuracy - self.control


@dataclass(frozen=True)
class ProbeCurve:
    """The scores by level, and what needs no states: the most frequent class, and the most frequent of each type.

    `tested` is the number of test items; `chance` is the accuracy of the most frequent class of the training items,
    `by_type` that of the most frequent class of the same type, as a static vector allows at best.
    """

    levels: tuple[LevelScore, ...]
    chance: float
    by_type: float
    tested: int
    names: tuple[str, ...]

    @property
    def best(self) -> LevelScore:
        return max(self.levels, key=lambda one: one.accuracy)

    def error(self, share: float) -> float:
        """The standard error of a share of the tested items."""
        return (share * (1 - share) / self.tested) ** 0.5


@dataclass(frozen=True)
class Split:
    """Indices of the items that fit a probe and of those that test it."""

    train: Tensor
    test: Tensor


def split_items(items: Items, seed: int, by: str = "sentence") -> Split:
    """By "sentence", the first `fitted` rows to fit on where the items say so; or by "type", the word."""
    if by == "sentence" and items.fitted:
        return Split(items.rows < items.fitted, items.rows >= items.fitted)
    return split_by(items.rows if by == "sentence" else items.types, seed)


def split_by(groups: Tensor, seed: int) -> Split:
    """Whole groups `[m]` on either side, two thirds of them to fit on, at random."""
    kinds, number = groups.unique(return_inverse=True)
    order = torch.randperm(len(kinds), generator=generator(seed, "probe split"))
    test = torch.zeros(len(kinds), dtype=torch.bool)
    test[order[: max(1, round(TESTED * len(kinds)))]] = True
    if len(kinds) < 2:
        raise UserError(f"All {len(groups)} items are of one group; a probe is fitted on some and tested on others.")
    return Split(~test[number], test[number])


def random_encoder(model: LanguageModel, seed: int, words: Sequence[str] = ()) -> LanguageModel:
    """The same architecture with the weights it begins with, never trained."""
    table = model.token_embedding
    twin = make_model(model.shape, table.num_embeddings, generator(seed, "random encoder"), words)
    return twin.to(table.weight).eval()


def probe_curve(
    own: Sequence[Tensor], random: Sequence[Tensor], tokens: Tokens, items: Items,
    seed: int = 0, hidden: int = 0, by: str = "sentence",
) -> ProbeCurve:  # fmt: skip
    """Fit probes on the states `own` of a model and on those of a `random` encoder, `[r, t, d]` at every level.

    With `hidden` the probe is an MLP with so many hidden units, else it is linear. Items are split by "sentence", or by
    "type": then no word type of the test was fitted, and its control task can be at chance only.
    """
    items = items.sample(seed)
    split, control = split_items(items, seed, by), items.control(seed)

    def scores(level: Tensor) -> tuple[float, float]:
        x = items.features(level, tokens)
        return accuracy(x, items.labels, split, seed, hidden), accuracy(x, control, split, seed, hidden)

    levels = tuple(
        LevelScore(k, *scores(one), *scores(other)) for k, (one, other) in enumerate(zip(own, random, strict=True))
    )
    chance, by_type = baselines(items, split)
    return ProbeCurve(levels, chance, by_type, int(split.test.sum()), items.names)


def accuracy(x: Tensor, labels: Tensor, split: Split, seed: int = 0, hidden: int = 0) -> float:
    """The accuracy on the test items of a classifier that was fitted on the others; features are standardised."""
    if len(labels[split.train].unique()) < 2:
        return float((labels[split.test] == labels[split.train][0]).double().mean())
    return float(
        fit(x[split.train], labels[split.train], seed, hidden).score(x[split.test].numpy(), labels[split.test])
    )


def fit(x: Tensor, labels: Tensor, seed: int = 0, hidden: int = 0) -> "Pipeline":
    """scikit-learn's logistic regression, or its MLP with `hidden` units, on standardised features `[m, d]`."""
    from sklearn.exceptions import ConvergenceWarning  # here, because scikit-learn takes 90 MB, pandas with it
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if hidden:
        chance = derive(seed, "probe") % 2**32
        model = MLPClassifier((hidden,), max_iter=STEPS, random_state=chance, tol=1e-3)
    else:
        model = LogisticRegression(max_iter=STEPS, tol=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return make_pipeline(StandardScaler(), model).fit(x.double().numpy(), labels.numpy())


def baselines(items: Items, split: Split) -> tuple[float, float]:
    """Test accuracy of the most frequent class, and of the most frequent class of the item's own type."""
    labels, types = items.labels[split.train], items.types.unique(return_inverse=True)[1]
    size = len(items.names)
    most = torch.bincount(labels, minlength=size)
    table = torch.bincount(types[split.train] * size + labels, minlength=(int(types.max()) + 1) * size).view(-1, size)
    expected = items.labels[split.test]
    by_type = table.argmax(1).where(table.sum(1) > 0, most.argmax())[types[split.test]]
    return float((expected == most.argmax()).double().mean()), float((expected == by_type).double().mean())
