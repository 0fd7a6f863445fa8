# ruff: noqa: E501
"""Seed plausible faults into the objectives, one at a time, and see that the tests catch every one.

    python tests/mutants.py [--only WORD]

Each fault is one replaced line in a copy of the project; the copy's own tests run until the first failure. A fault
that no test notices is a hole in the tests, and the exit status says so.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

HOME = Path(__file__).parents[1]
NEEDED = ("playground", "tests", "pyproject.toml", "README.md", "Makefile", "constraints.txt", "benchmarks")
STAGES = "playground/objectives"


SUITES = (
    "tests/papers",
    *(
        f"tests/playground/{part}"
        for part in ("objectives", "models", "trace", "corpora/test_corpora.py", "test_leaks.py")
    ),
    "tests/contracts/test_objectives.py",
)
"""What must notice a fault in the objectives: the tests of objectives, leaks and models."""


@dataclass(frozen=True)
class Mutant:
    """A fault: in `file`, the text `old` (which occurs there once) becomes `new`."""

    fault: str
    file: str
    old: str
    new: str


MUTANTS = (
    Mutant(
        "<= for <: a query sees its own word",
        f"{STAGES}/see/order.py",
        "replace(content, query_level=content.query_level - 1)",
        "replace(content)",
    ),
    Mutant(
        "< for <=: nobody sees himself",
        "playground/batch.py",
        "(self.query_level.short() + 1)[:, :, None]",
        "self.query_level.short()[:, :, None]",
    ),
    Mutant(
        "order for rank",
        f"{STAGES}/plan_overrides.py",
        "step.argsort(dim=1, stable=True).argsort(dim=1)",
        "step.argsort(dim=1, stable=True)",
    ),
    Mutant(
        "OR for AND in a painted mask",
        "playground/batch.py",
        "else cells & self.overrides",
        "else cells | self.overrides",
    ),
    Mutant(
        "padding can be read",
        "playground/batch.py",
        "masked_fill(~real, MASKED_LEVEL)",
        "masked_fill(~real, -MASKED_LEVEL)",
    ),
    Mutant(
        "one too many is chosen",
        f"{STAGES}/ops/sampling.py",
        "arange_rows(order) < count[:, None]) & candidates",
        "arange_rows(order) <= count[:, None]) & candidates",
    ),
    Mutant(
        "specials may be chosen",
        "playground/batch.py",
        "words = self.ids >= self.specials.unknown",
        "words = self.ids >= 0",
    ),
    Mutant(
        "one too many is drawn",
        f"{STAGES}/ops/sampling.py",
        "used = arange(most, count.device)[:, None] < count",
        "used = arange(most, count.device)[:, None] <= count",
    ),
    Mutant(
        "the k-th candidate is taken for the k-th place",
        f"{STAGES}/ops/sampling.py",
        "positions if is_all_true(candidates) else",
        "positions if True else",
    ),
    Mutant(
        "gaps between draws are one too long",
        f"{STAGES}/ops/sampling.py",
        "scale, rng).long() + 1",
        "scale, rng).long() + 2",
    ),
    Mutant(
        "a whole word runs into the next",
        f"{STAGES}/ops/marked_spans.py",
        "goes_on & (number[:, 1:] == number[:, :-1])",
        "goes_on",
    ),
    Mutant(
        "a draw that is taken is drawn again",
        f"{STAGES}/ops/sampling.py",
        "torch.where(taken.index_select(0, one), last, one, out=one)",
        "one",
    ),
    Mutant(
        "targets come before what they are predicted from",
        f"{STAGES}/choose/order.py",
        "sampling.orders(tokens.lengths - number, number, rng)",
        "sampling.orders(number - number, number, rng)",
    ),
    Mutant(
        "a run over the end of a text is lost at its begin",
        f"{STAGES}/choose/order.py",
        "spans.length - beyond.clamp(min=0), beyond]",
        "spans.length - beyond.clamp(min=0), beyond.clamp(max=0)]",
    ),
    Mutant(
        "the word after it in the order answers for a word",
        f"{STAGES}/ask/words.py",
        "scatter_(1, order[:, :-1], order[:, 1:])",
        "scatter_(1, order[:, 1:], order[:, :-1])",
    ),
    Mutant(
        "rounding half up",
        f"{STAGES}/ops/sampling.py",
        "(ratio * number.double()).round().long()",
        "(ratio * number.double() + 0.5).floor().long()",
    ),
    Mutant(
        "random and unchanged are drawn independently",
        f"{STAGES}/change/tokens.py",
        "+ (noise >= self.mask_replace_prob + self.random_replace_prob)",
        "+ (noise >= self.mask_replace_prob).long() * (noise >= self.random_replace_prob)",
    ),
    Mutant(
        "masked words stay readable",
        f"{STAGES}/change/tokens.py",
        "new.masked_fill(plan.action == Action.MASKED, tokens.specials.mask)",
        "new.masked_fill(plan.action < 0, tokens.specials.mask)",
    ),
    Mutant(
        "random words may be specials",
        f"{STAGES}/change/tokens.py",
        'first = 0 if pool == "vocabulary" else specials.first_word',
        "first = 0",
    ),
    Mutant(
        "a lucky sample counts as replaced",
        f"{STAGES}/ask/label.py",
        "== Action.REPLACED).long()",
        "!= Action.KEPT).long()",
    ),
    Mutant(
        "argmax instead of a sample",
        f"{STAGES}/propose/words.py",
        "(scores - (-noise.log()).log()).argmax(dim=-1)",
        "scores.argmax(dim=-1)",
    ),
    Mutant(
        "off-by-one shift of the prefix LM",
        f"{STAGES}/ask/words.py",
        "torch.cat([asked_for[:, 1:], torch.zeros_like(asked_for[:, :1])], dim=1)",
        "asked_for",
    ),
    Mutant(
        "the target stands in the input of LM",
        f"{STAGES}/arrange/text.py",
        'shown = place - 1 if self.side == "left"',
        'shown = place if self.side == "left"',
    ),
    Mutant(
        "macro for micro mean",
        "playground/answers.py",
        "return self.losses(consume).mean() if len(self.targets) else",
        "return torch.stack([self.losses()[self.rows == r].mean() for r in self.rows.unique()]).mean() if len(self.targets) else",
    ),
    Mutant(
        "an empty question costs NaN",
        "playground/answers.py",
        "self.losses(consume).mean() if len(self.targets) else self.scores.sum() * 0.0",
        "self.losses(consume).mean()",
    ),
    Mutant(
        "the second part sees its own right",
        f"{STAGES}/see/alone.py",
        "return (arange_rows(inputs.ids) + 1).where(second, 0)",
        "return (arange_rows(inputs.ids) * 0 + 1).where(second, 0)",
    ),
    Mutant(
        "MASS: the decoder sees the encoder's masks",
        f"{STAGES}/see/crossed.py",
        "inputs.valid & ~masked",
        "inputs.valid",
    ),
    Mutant(
        "MASS: the decoder starts from the word it must write",
        f"{STAGES}/ask/write.py",
        "before = (written.origin - 1)",
        "before = written.origin",
    ),
    Mutant(
        "MASS: the start sign shares its position with the first word",
        f"{STAGES}/ask/write.py",
        "(before + (before[:, :1] < 0).long()).clamp(min=0)",
        "before.clamp(min=0)",
    ),
    Mutant(
        "a run ends for good where a sign stands in it",
        f"{STAGES}/choose/spans.py",
        "length = torch.cat([first, behind.where(behind > 0, -1)], dim=1)",
        "length = torch.cat([first, behind.clamp(max=-1)], dim=1)",
    ),
    Mutant(
        "signs count as words when a share is taken",
        f"{STAGES}/choose/spans.py",
        "tokens, number = example.tokens, example.maskable.sum(1)",
        "tokens, number = example.tokens, example.tokens.lengths",
    ),
    Mutant(
        "runs that overlap stay two",
        f"{STAGES}/choose/spans.py",
        "opens = long & (start >= pad(end, (1, -1)))",
        "opens = long & (start >= 0 * end)",
    ),
    Mutant(
        "a word that is cut in two",
        f"{STAGES}/choose/spans.py",
        "closes = words.marked & ~pad(goes_on, (0, 1))[:, 1:]",
        "closes = words.opens",
    ),
    Mutant(
        "where nothing is missing a sign is asked for",
        f"{STAGES}/ops/ragged.py",
        "((count[:, 0] > 0) | to_empty)",
        "((count[:, 0] >= 0) | to_empty)",
    ),
    Mutant(
        "scores that are shaken to one side only",
        f"{STAGES}/choose/sentences.py",
        "(2 * sampling.noise(tuple(size.shape), rng).double() - 1)",
        "sampling.noise(tuple(size.shape), rng).double()",
    ),
    Mutant(
        "a share of the sentences is all of them",
        f"{STAGES}/change/order.py",
        "return inverse(_permute(moves, noise))",
        "return noise",
    ),
    Mutant(
        "a text that is not turned is turned to what is left of it",
        f"{STAGES}/change/order.py",
        "place.where(rotates, inverse(example.prediction_order)[:, 0])",
        "place.where(rotates, anchors(inputs)[:, 0])",
    ),
    Mutant(
        "fewer predictions than one",
        f"{STAGES}/choose/order.py",
        "number.clamp(min=1), there",
        "number.clamp(min=0), there",
    ),
    Mutant(
        "one prediction too few",
        f"{STAGES}/choose/order.py",
        "(plan.rank >= first[:, None])",
        "(plan.rank > first[:, None])",
    ),
    Mutant(
        "T5: one sentinel for all gaps",
        f"{STAGES}/change/markers.py",
        "sentinels.take(number.clamp(0, len(sentinels) - 1))",
        "sentinels.take(number * 0)",
    ),
    Mutant(
        "T5: official mode everywhere",
        f"{STAGES}/choose/spans.py",
        "return 0 if self.match_released_code else 1",
        "return 0",
    ),
    Mutant(
        "segments switch before the sign",
        f"{STAGES}/arrange/pair.py",
        "segment = (place > (lead + left)[:, None]).long()",
        "segment = (place >= (lead + left)[:, None]).long()",
    ),
    Mutant(
        "positions are not reset",
        f"{STAGES}/arrange/pair.py",
        "(segment == 0) | (not self.reset_position_ids)",
        "(segment == 0) | True",
    ),
    Mutant(
        "a stranger is called the next sentence",
        f"{STAGES}/arrange/pair.py",
        'either(number == self._number("other")',
        'either(number != self._number("other")',
    ),
    Mutant(
        "swapped pairs are labelled but not swapped",
        f"{STAGES}/arrange/pair.py",
        'swapped = plan == self._number("previous")',
        "swapped = plan < 0",
    ),
    Mutant(
        "positions of a plan count from 0",
        f"{STAGES}/plan_overrides.py",
        "torch.tensor([w - 1 for w in words]",
        "torch.tensor([w for w in words]",
    ),
    Mutant(
        "the leak check forgets the residual",
        "playground/leaks.py",
        "step = visible | own",
        "step = visible",
    ),
    Mutant(
        "the leak check believes that random words are shown",
        "playground/leaks.py",
        "torch.tensor([Action.MASKED, Action.RANDOMISED, Action.REPLACED]",
        "torch.tensor([Action.MASKED, Action.REPLACED]",
    ),
    Mutant(
        "the leak check sees one question only",
        "playground/leaks.py",
        "for e in example.with_auxiliary for q in e.questions]",
        "for e in example.with_auxiliary for q in e.questions[-1:]]",
    ),
    Mutant(
        "span lengths are clipped and not renormalised",
        f"{STAGES}/choose/geometric.py",
        "limits = (share / share.sum()).cumsum(0)[:-1]",
        "limits = share.cumsum(0)[:-1]",
    ),
    Mutant(
        "a run is longer by a word",
        f"{STAGES}/choose/geometric.py",
        "(words.of < word + number[:, None])",
        "(words.of <= word + number[:, None])",
    ),
    Mutant(
        "the boundary is a word of the run itself",
        f"{STAGES}/ask/words.py",
        "left = position - 1 - gather_origin(inner, inputs.origin)",
        "left = position - gather_origin(inner, inputs.origin)",
    ),
    Mutant(
        "a unit that does not fit is taken too",
        f"{STAGES}/choose/units.py",
        "(before - one).bitwise_and_(2**15 - 1), before,",
        "(before - one).clamp_(min=0), before,",
    ),
    Mutant(
        "a unit that comes twice is paid twice",
        f"{STAGES}/choose/units.py",
        "every.index_fill_(0, place, 0)",
        "every.index_fill_(0, place[:0], 0)",
    ),
    Mutant(
        "a folded run takes the word behind it along",
        f"{STAGES}/ops/ragged.py",
        "jump = (spans.length - 1) * spans.is_span",
        "jump = spans.length * spans.is_span",
    ),
    Mutant(
        "a span that is not there leaves its marker",
        f"{STAGES}/ops/ragged.py",
        "at = at.where(example.spans.is_span, width)",
        "at = at.clamp(min=0, max=width)",
    ),
    Mutant(
        "a marker comes from the place of its run also where there is no run",
        f"{STAGES}/ops/ragged.py",
        "spans.start.where(spans.length > 0, -1)",
        "spans.start",
    ),
    Mutant(
        "noise words by frequency and not by its power",
        f"{STAGES}/propose/wrong.py",
        "edges = noise_probability(example.tokens, self.ns_exponent).cumsum(0)",
        "edges = noise_probability(example.tokens, 1.0).cumsum(0)",
    ),
    Mutant(
        "the right word among the wrong ones",
        f"{STAGES}/propose/wrong.py",
        "drawn.masked_fill(skipped, -1), self.loss",
        "drawn.masked_fill(~question.loss_mask[..., None], -1), self.loss",
    ),
    Mutant(
        "NCE skips a draw that is the right word",
        f"{STAGES}/propose/wrong.py",
        "skipped = ~question.loss_mask[..., None]",
        "skipped = ~question.loss_mask[..., None] | (drawn == question.targets[..., None])",
    ),
    Mutant(
        "of two texts that are read apart the second is marked",
        f"{STAGES}/ask/label.py",
        "segment_ids=torch.zeros_like(inputs.segment_ids)",
        "segment_ids=inputs.segment_ids",
    ),
    Mutant(
        "a run counts words within ten, whatever its window",
        "playground/training/loop.py",
        "cooccurrence(text, specials, _window(objective))",
        "cooccurrence(text, specials)",
    ),
    Mutant(
        "the generator has places of its own",
        "playground/models/model.py",
        'shared = network if shape.tie_generator == "embeddings"',
        'shared = network if shape.tie_generator == "nothing"',
    ),
    Mutant(
        "the right word may be drawn where it is forbidden",
        f"{STAGES}/propose/words.py",
        'scores = scores.scatter(1, ids[example.selected_at][:, None], float("-inf"))',
        "scores = scores.clone()",
    ),
    Mutant(
        "a window is never wider than one",
        f"{STAGES}/ops/windows.py",
        "* most).long() + 1",
        "* most).long().clamp(max=0) + 1",
    ),
    Mutant(
        "far words count as much as near ones",
        f"{STAGES}/arrange/cells.py",
        "(1.0 / distance.double())",
        "(1.0 / distance.double().clamp(max=1.0))",
    ),
    Mutant(
        "future sees its own word",
        f"{STAGES}/ask/label.py",
        '"future", 1, asked_of',
        '"future", 0, asked_of',
    ),
    Mutant(
        "backwards looks forwards",
        f"{STAGES}/see/alone.py",
        "return inputs.ids.shape[1] - 1 - arange_rows(inputs.ids)",
        "return arange_rows(inputs.ids)",
    ),
    Mutant(
        "UniLM's masks in equal shares",
        f"{STAGES}/see/mixture.py",
        "weights = [getattr(self, kind) for kind in KINDS]",
        "weights = [1.0 for kind in KINDS]",
    ),
    Mutant(
        "a code of the last text of a row",
        f"{STAGES}/arrange/code.py",
        "first = (numbers >= 0).int().argmax(1, keepdim=True)",
        "first = numbers.shape[1] - 1 - (numbers >= 0).int().flip(1).argmax(1, keepdim=True)",
    ),
    Mutant(
        "a row goes on behind the text of its code",
        f"{STAGES}/arrange/code.py",
        "end = position.masked_fill(~other, position.shape[1]).amin(1, keepdim=True)",
        "end = position.masked_fill(~other | True, position.shape[1]).amin(1, keepdim=True)",
    ),
    Mutant(
        "the language is told where it must not be",
        f"{STAGES}/arrange/language.py",
        "if self.language_embeddings:",
        "if self.language_embeddings or True:",
    ),
    Mutant(
        "XLM's first sign may be hidden",
        f"{STAGES}/choose/tokens.py",
        "able & (arange_rows(tokens.ids) > 0)",
        "able & (arange_rows(tokens.ids) >= 0)",
    ),
    Mutant(
        "the last unit is not cut",
        f"{STAGES}/choose/units.py",
        "taken = torch.minimum(whole, left.clamp(min=0)).flatten()",
        "taken = (whole * (left > 0)).flatten()",
    ),
    Mutant(
        "of equal sentences the earlier one",
        f"{STAGES}/choose/sentences.py",
        "* size.shape[1] + place).masked_fill",
        "* size.shape[1] - place).masked_fill",
    ),
    Mutant(
        "a fixed mask forgets its copy",
        f"{STAGES}/ops/sampling.py",
        "_hash(_hash(row) + copy)",
        "_hash(_hash(row) + 0 * copy)",
    ),
    Mutant(
        "AND for OR: the context hides from the targets",
        f"{STAGES}/see/order.py",
        "return targets, targets",
        "return targets, example.prediction_order",
    ),
    Mutant(
        "GloVe weighs rare pairs like frequent ones",
        "playground/answers.py",
        "(seen / self.x_max).clamp(max=1.0) ** self.alpha",
        "(seen / self.x_max).clamp(max=1.0) ** 0",
    ),
    Mutant(
        "the chance of a noise word is not taken off",
        "playground/answers.py",
        "scores = scores - math.log(wrong.shape[1]) - self.log_noise_prob[ids]",
        "scores = scores - math.log(wrong.shape[1])",
    ),
    Mutant(
        "two texts that are read apart see each other",
        f"{STAGES}/see/apart.py",
        "return turn.where(second, 0), last.where(second, turn - 1)",
        "return turn.where(second, 0), last.expand_as(segment)",
    ),
    Mutant(
        "the second text's vector is read one place late",
        f"{STAGES}/ask/label.py",
        "torch.stack([torch.zeros_like(turn), turn], dim=2)",
        "torch.stack([torch.zeros_like(turn), turn + 1], dim=2)",
    ),
    Mutant(
        "pairs that nobody has judged are asked",
        f"{STAGES}/ask/label.py",
        "& (outcome >= 0) & (outcome < len(self.classes))",
        "& (outcome < len(self.classes))",
    ),
    Mutant(
        "the decoder sees all of the text that should pass through one vector",
        f"{STAGES}/see/apart.py",
        "first = (arange_rows(inputs.ids) > 0).long() * MASKED_LEVEL",
        "first = (arange_rows(inputs.ids) > 0).long() * 0",
    ),
    Mutant(
        "sentences that are left are no longer asked",
        f"{STAGES}/choose/intact.py",
        "return replace(example, spans=left, actions=action)",
        "return replace(example, spans=left, actions=action, selected=example.selected & (action == 0))",
    ),
    Mutant(
        "numbers are rounded up",
        "playground/corpora/tinyworld/vocabulary.py",
        "round(number * STEPS) / STEPS",
        "-(-number * STEPS // 1) / STEPS",
    ),
    Mutant(
        "a sentence that is no neighbour may be one",
        "playground/corpora/segment_pairs.py",
        "number + 2 + drawn - before",
        "number + 1 + drawn - before",
    ),
    Mutant(
        "a run is put where the run before it begins",
        f"{STAGES}/ops/marked_spans.py",
        "jump[1:] -= begun[:-1] + size[:-1]",
        "jump[1:] -= begun[:-1]",
    ),
    Mutant(
        "one place behind the end is real",
        f"{STAGES}/ops/ragged.py",
        "return arange(width, count.device) < count[:, None], True",
        "return arange(width, count.device) <= count[:, None], True",
    ),
    Mutant(
        "an empty span stands behind the last one",
        f"{STAGES}/ops/sampling.py",
        "(arange(number + 1, budget.device) < count[:, None]).long() - 1",
        "(arange(number + 1, budget.device) <= count[:, None]).long() - 1",
    ),
    Mutant(
        "where most are masked all are",
        f"{STAGES}/change/tokens.py",
        "if self.mask_replace_prob >= 1:",
        "if self.mask_replace_prob >= 0.5:",
    ),
    Mutant(
        "the text of a folded row begins one place late",
        f"{STAGES}/ops/ragged.py",
        "position[:, 0] = 0",
        "position[:, 0] = 1",
    ),
    Mutant(
        "the path is looked for in the lowest layer's mask alone",
        "playground/leaks.py",
        "in edges[(layer - 1) % 2][stream]",
        "in edges[0][stream]",
    ),
    Mutant(
        "the path takes the layer above for the one below",
        "playground/leaks.py",
        "in edges[(layer - 1) % 2][stream]",
        "in edges[layer % 2][stream]",
    ),
    Mutant(
        "the path ends where an answer is asked and not where it is read",
        "playground/leaks.py",
        "ends = [position] if question.reads is None else question.reads[row, position].tolist()",
        "ends = [position]",
    ),
    Mutant(
        "the leak check takes an answer from one of its two positions",
        "playground/leaks.py",
        "reach[question.reads[row]].any(1)",
        "reach[question.reads[row]].all(1)",
    ),
    Mutant(
        "the leak check knows one mask for all layers",
        "playground/leaks.py",
        "reach = _join(_dense(visible.layer(number), row) | own, reach)",
        "reach = _join(_dense(visible.layer(0), row) | own, reach)",
    ),
    Mutant(
        "the leak check lets a query hear its last layer alone",
        "playground/leaks.py",
        "if content.odd_layers is query.odd_layers is None else range(layers)",
        "",
    ),
    Mutant(
        "the leak check stops before the last layer",
        "playground/leaks.py",
        "for _ in range(layers - 1):",
        "for _ in range(layers - 2):",
    ),
    Mutant(
        "places alone hear the words",
        f"{STAGES}/see/order.py",
        "query_level=content.query_level - MASKED_LEVEL // 2",
        "query_level=content.query_level - 1",
    ),
    Mutant(
        "the coin of a pair is biased",
        f"{STAGES}/arrange/pair.py",
        "sampling.noise((len(example.tokens.ids),), rng) * len(self.outcomes)",
        "sampling.noise((len(example.tokens.ids),), rng) ** 1.2 * len(self.outcomes)",
    ),
    Mutant(
        "the coin of a language is biased",
        f"{STAGES}/arrange/language.py",
        "rng) < 0.5",
        "rng) < 0.45",
    ),
    Mutant(
        "the second text is numbered like the first",
        f"{STAGES}/arrange/pair.py",
        "turn = (lead + left + 1)[:, None]",
        "turn = (lead + left + gap)[:, None]",
    ),
    Mutant(
        "the first text is written too",
        f"{STAGES}/see/alone.py",
        'chosen if self.second == "chosen" else inputs.segment_ids > 0',
        'chosen if self.second == "chosen" else inputs.segment_ids >= 0',
    ),
    Mutant(
        "RTD: the detector's term is summed over the hidden words",
        f"{STAGES}/catalog/rtd.py",
        r"-\frac{1}{T}\sum_{t=1}^{T}\log p_D",
        r"-\frac{1}{|M|}\sum_{t \in M}\log p_D",
    ),
    Mutant(
        "RTD: the detector is graded at the hidden words alone",
        f"{STAGES}/ask/label.py",
        "return example.inputs.valid",
        "return example.inputs.valid & at_origin(example.selected, example.inputs.origin, False)",
    ),
    Mutant(
        "PLM: a place of the order is predicted and not the word there",
        f"{STAGES}/symbols.py",
        r"\log p(x_{{z_t}} \mid {known})",
        r"\log p(z_t \mid {known})",
    ),
    Mutant(
        "backward LM: the sum with a sign in front begins behind the first word",
        f"{STAGES}/symbols.py",
        "t={1 - end}",
        "t={1 + end}",
    ),
    Mutant(
        "word vectors: the hinge in symbols wants the wrong word ahead",
        f"{STAGES}/symbols.py",
        "1 - {right} + {wrong}",
        "1 - {wrong} + {right}",
    ),
    Mutant(
        "GloVe: chances for counts",
        f"{STAGES}/ask/words.py",
        "kind=CooccurrenceTarget(seen, self.x_max, self.alpha)",
        "kind=CooccurrenceTarget(seen / seen.sum(), self.x_max, self.alpha)",
    ),
)


def run(mutant: Mutant, copy: Path) -> tuple[bool, float, str]:
    """Whether the tests of the copy fail with the fault in it, after how many seconds, and which test failed."""
    file = copy / mutant.file
    sound = file.read_text(encoding="utf-8")
    file.write_text(sound.replace(mutant.old, mutant.new), encoding="utf-8")
    began = time.perf_counter()
    done = tested(copy)
    file.write_text(sound, encoding="utf-8")
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    return killed(done.returncode, failed), time.perf_counter() - began, failed[0] if failed else ""


def killed(code: int, failed: Sequence[str]) -> bool:
    """Whether a test failed: not when pytest was stopped, was given no test, or could not read the files at all."""
    return code == 1 and bool(failed)


def tested(copy: Path) -> subprocess.CompletedProcess[str]:
    """The tests of a copy, up to the first that fails."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", *SUITES]
    alone = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, cwd=copy, capture_output=True, text=True, env=alone)


def try_all(chosen: Sequence[Mutant], copies: Sequence[Path]) -> Iterator[tuple[Mutant, bool, float, str]]:
    """Every fault in whichever copy is free, as many at a time as there are copies."""
    free: Queue[Path] = Queue()
    for copy in copies:
        free.put(copy)

    def attempt(mutant: Mutant) -> tuple[Mutant, bool, float, str]:
        copy = free.get()
        try:
            return (mutant, *run(mutant, copy))
        finally:
            free.put(copy)

    with ThreadPoolExecutor(len(copies)) as pool:
        yield from (done.result() for done in as_completed([pool.submit(attempt, m) for m in chosen]))


def main() -> int:
    """Try every fault and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="faults whose description or file holds this word")
    parser.add_argument("--jobs", type=int, default=2, help="faults that are tried at a time")
    given = parser.parse_args()
    chosen = [m for m in MUTANTS if given.only.lower() in f"{m.fault} {m.file}".lower()]
    if not chosen:
        print(f"No fault holds the word {given.only!r}.")
        return 2
    survived = 0
    with tempfile.TemporaryDirectory() as folder:
        copies = [Path(folder) / str(number) for number in range(given.jobs)]
        for copy in copies:
            copy.mkdir()
            for name in NEEDED:
                source = HOME / name
                shutil.copytree(source, copy / name) if source.is_dir() else shutil.copy(source, copy / name)
        sound = tested(copies[0])
        if sound.returncode:
            print(f"The tests fail without any fault:\n{sound.stdout[-2000:]}{sound.stderr[-2000:]}")
            return 2
        for mutant, caught, seconds, test in try_all(chosen, copies):
            survived += not caught
            print(f"{'killed  ' if caught else 'SURVIVED'} {seconds:5.0f} s  {mutant.fault}  {test[:100]}", flush=True)
    print(f"{len(chosen) - survived} of {len(chosen)} faults were caught.")
    return 1 if survived else 0


if __name__ == "__main__":
    raise SystemExit(main())
