"""A manual prompt gives only a lower bound of what a model knows; choosing prompts or joining several recovers more."""

import torch
from torch import Tensor

from playground.analysis.facts import WORDINGS, ask, known_questions
from playground.claims import Arm, Claim, Lab, higher


def recalled(lab: Lab, arm: Arm, seed: int) -> float:
    """P@1 of half of the facts: with the prompt that is best on the other half, with both prompts, or with one."""
    subject = lab.subject(arm, seed)
    asked = [ask(subject, known_questions(subject.corpus, k)) for k in range(len(WORDINGS))]
    hits = torch.stack([each.hits for each in asked])  # [prompt, k]
    if arm.figure == "both prompts":
        chances = torch.stack([each.chances for each in asked]).mean(0)
        hits = (chances.argmax(1) == asked[0].right).double()[None]
    kinds = [question.fact.relation for question in asked[0].questions]
    tests = torch.rand(len(kinds), generator=subject.rng("prompts")) < 0.5
    of = [torch.tensor([kind == name for kind in kinds]) for name in dict.fromkeys(kinds)]
    shares = [_chosen(hits, part, tests, arm.figure == "best prompt") for part in of if (part & tests).any()]
    return float(torch.stack(shares).mean())


def _chosen(hits: Tensor, part: Tensor, tests: Tensor, best: bool) -> Tensor:
    """P@1 of a relation on its test facts: of the prompt that is best on the others, or the mean of all prompts."""
    shares = hits[:, part & tests].mean(1)
    return shares[hits[:, part & ~tests].mean(1).argmax()] if best else shares.mean()


K207 = Claim(
    title="One prompt is a lower bound",
    source="Qiu et al., sec. 3.3.2; Jiang et al., arXiv:1911.12543",
    prediction="The prompt that is best on other facts of the relation recovers more facts than the mean prompt, and "
    "so do both prompts together.",
    otherwise="All prompts recover the same facts.",
    common=Arm("LM", corpus="facts", tokens=12_000),
    arms={name: {"figure": name} for name in ("mean prompt", "best prompt", "both prompts")},
    rules=(higher("best prompt", "mean prompt"), higher("both prompts", "mean prompt")),
    compute=recalled,
    unit="of the facts (P@1), mean over relations",
    scale="Two prompts a relation, and the training text has both. The paper collects dozens of prompts a relation "
    "from a text that the model has not seen as prompts.",
)
