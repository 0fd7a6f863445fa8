"""How likely the grammar of a corpus continues prompts with each answer, exactly."""

import torch
from torch import Tensor

from playground.analysis.floor.automaton import Automaton, automaton_of
from playground.errors import UserError
from playground.posttraining.answer_space import AnswerSpace

MOST_CELLS = 20_000_000
"""States times words of the largest grammar whose answers are enumerated; that of `reviews` has a million."""


def continuation_chances(space: AnswerSpace) -> Tensor:
    """The chance that the grammar writes each answer after each prompt, which begins a document, `[p, w, w]`.

    Raises `UserError` where no grammar wrote the corpus, or none writes a prompt.
    """
    rules, width = automaton_of(space.corpus), len(space.words)
    if rules.states * width > MOST_CELLS:
        raise UserError(f"The grammar of {space.corpus.name} has {rules.states:,} states, too many; choose reviews.")
    number = torch.full((len(rules.tokenizer),), -1)
    number[space.words] = torch.arange(width)
    known = number[rules.word] >= 0
    cell = rules.source * width + number[rules.word]
    table = torch.zeros(rules.states * width, dtype=torch.float64)
    second = table.index_add(0, cell[known], rules.chance[known]).view(rules.states, width)
    return torch.stack([_of_prompt(rules, space, prompt, number, second) for prompt in range(len(space.prompts))])


def _of_prompt(rules: Automaton, space: AnswerSpace, prompt: int, number: Tensor, second: Tensor) -> Tensor:
    """The chances of the answers to one prompt `[w, w]`; `second` `[s, w]` are those of the words after each state."""
    states = rules.starts["document"]
    for word in space.prompts[prompt].tolist():
        arcs = rules.arcs_of(word)
        flow = states[rules.source[arcs]] * rules.chance[arcs]
        states = torch.zeros_like(states).index_add(0, rules.target[arcs], flow)
    if not states.any():
        raise UserError(
            f"The grammar of {space.corpus.name} writes no document that begins {space.prompt_text(prompt)!r}; type "
            "the beginning of one."
        )
    states = states / states.sum()
    arcs = rules.arcs_from(states)
    cell = number[rules.word[arcs]] * rules.states + rules.target[arcs]
    after = torch.zeros(len(space.words) * rules.states, dtype=torch.float64)
    after.index_add_(0, cell, states[rules.source[arcs]] * rules.chance[arcs])
    return after.view(len(space.words), rules.states) @ second
