"""data2vec: predict the states that a slow copy of the model has of the whole text."""

from collections.abc import Mapping
from typing import Any

from playground.objectives.arrange import ArrangeText
from playground.objectives.ask import AskTeacherState
from playground.objectives.change import ReplaceWithMask
from playground.objectives.choose import ChooseSpans
from playground.objectives.formula import Term
from playground.objectives.objective import Objective
from playground.objectives.propose import ReadWithTeacher
from playground.objectives.see import SeeAll


def _distance(knobs: Mapping[str, Any]) -> str:
    mean = r"\frac{1}{|M|}\sum_{t \in M}"
    if not knobs["loss_beta"]:
        return rf"{mean}\frac{{1}}{{\sqrt{{d}}}}\lVert f_t - y_t \rVert^2"
    return rf"{mean}\sum_{{i=1}}^{{d}}\mathrm{{smoothL1}}_\beta(f_{{t,i}} - y_{{t,i}})"


DATA2VEC = Objective(
    name="data2vec",
    aliases=("latent targets", "teacher's states"),
    group="Latent targets",
    stages=(
        ArrangeText(),
        ChooseSpans(noise_density=0.35, mean_length=4.0),
        ReplaceWithMask(),
        SeeAll(),
        ReadWithTeacher(),
        AskTeacherState(),
    ),
    idea="Predict, where words are hidden, not the words but the states that a slow copy of the model has of them.",
    loss="Smooth L1 distance of predicted states to the teacher's, summed over the width; the mean over hidden words.",
    terms=(
        Term.by(
            _distance,
            "states",
            {
                "f": "the prediction of the model, which reads the masked text",
                "y": "the teacher's state of the word: the mean over its top K layers, each normalised",
                "d": "the width of the model",
                r"\beta": "up to this difference the loss is squared, then linear",
            },
            loss_beta=4.0,
        ),
    ),
    source="arXiv:2202.03555, sec. 3 and released code",
    versus={
        "MLM": "The targets are vectors that depend on the whole text, not words, and they change while it trains."
    },
)
