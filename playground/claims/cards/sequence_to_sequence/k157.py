"""To hide the words of sentiment and fill in others changes the sentiment of a sentence and keeps its content."""

from playground.claims import Arm, Claim, Lab, higher
from playground.finetuning.apply.text_editing import Success, editor, success
from playground.finetuning.data.files import find_task

TESTS = 25


def share(lab: Lab, arm: Arm, seed: int) -> float:
    """The share of unseen texts that get the other label, or the share of their words that stay."""

    def make() -> Success:
        task, words = find_task(arm.task), lab.corpus(arm).tokenizer
        made = editor(lab.base(arm, seed), words, task, arm.train_size, arm.tuning_steps, seed)
        return success(made, task, TESTS)

    found = lab.once("edits", make)
    return found.turned if arm.figure == "turned" else found.kept


K157 = Claim(
    title="Turning the sentiment of a sentence",
    source="Qiu et al., sec. 7.3; Wu et al., arXiv:1908.08039",
    prediction="At least 80 % of the sentences get the other label, and at least 70 % of their words stay.",
    otherwise="Fewer sentences turn, or fewer words stay.",
    common=Arm(
        "RoBERTa", corpus="reviews", steps=600, one_model=True, task="sentiment", train_size=256, tuning_steps=120
    ),
    arms={name: {"figure": name} for name in ("turned", "kept")},
    rules=(higher("turned", 0.8), higher("kept", 0.7)),
    compute=share,
    unit="of sentences or words",
    scale="An independent classifier labels 25 edited sentences. At most four words are hidden. "
    "That words stay does not say that the meaning does.",
)
