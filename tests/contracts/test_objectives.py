"""What every objective of the catalogue owes: a card, plans that can be replayed, frames, no leak, honest gradients."""

import base64
import json
import re
from collections import Counter
from math import isfinite

import pytest
import torch

from playground import leaks
from playground.analysis.predictions import glance
from playground.answers import Replaced, TeacherState
from playground.batch import begin
from playground.errors import UserError
from playground.models import Architecture, make_model, total_loss, with_required_parts
from playground.objectives import GROUPS, find_objective, objectives
from playground.objectives.ask import AskBlanks
from playground.objectives.choose.spans import ChosenSpans, describe_spans
from playground.objectives.objective import SURVEY_ROWS
from playground.objectives.steps import describe_plan, specimens
from playground.rng import generator
from playground.slicing import split_rows
from playground.tokenizing.tokenizer import train
from playground.trace.frames import BETWEEN, STATES
from playground.trace.json_schema import ObjectiveFacts
from playground.trace.rebuild import SENTENCE, rebuild
from tests import json_keys
from tests.laws import LAYERS, assert_same, influences, model_for, watched, words_read_later
from tests.texts import SPECIALS, TWO_SENTENCES, hiding, story, suited, tokens_for, tokens_of

NAMES = tuple(objectives())
MAY_ASK_NOTHING = {
    "masked diffusion",
    "block diffusion",
    "PLM as in transformers",
    "T5 i.i.d.",
    "T5 drop",
    "MLM at 20 %",
    "MLM at 30 %",
}
"""What draws so that a short text may have no target: as a library does (`test_order.py` has the share), or each
word alone (`test_tokens.py` has it)."""
TINY = Architecture(layers=1, width=16, heads=2)
every_objective = pytest.mark.parametrize("name", NAMES)


# the card


@every_objective
def test_the_card_is_filled_in(name):
    objective = objectives()[name]
    for sentence in (objective.idea, objective.loss):
        assert re.fullmatch(r"[A-Z].{20,}\.", sentence), sentence
    assert re.search(r"\\log|\\max|smoothL1", objective.formula)
    assert re.search(r"arXiv:\d{4}\.\d{4,5}|Radford|survey", objective.source)


def test_no_group_is_empty():
    assert {o.group for o in objectives().values()} == set(GROUPS)
    assert len(GROUPS) == len(set(GROUPS))


def test_names_and_aliases_are_unique():
    spoken = [plain(n) for o in objectives().values() for n in {plain(o.name), *map(plain, o.aliases)}]
    assert len(spoken) == len(set(spoken))


def test_they_are_listed_as_the_survey_prints_them_then_by_group_and_year():
    assert [o.row for o in objectives().values()][: len(SURVEY_ROWS)] == list(SURVEY_ROWS)
    rest = list(objectives().values())[len(SURVEY_ROWS) :]
    assert not any(o.row for o in rest)
    assert [GROUPS.index(o.group) for o in rest] == sorted(GROUPS.index(o.group) for o in rest)
    assert [o.name for o in rest if o.group == "Language models"] == [
        "window LM",
        "backward LM",
        "BiLM",
        "article LM",
        "CLM in either language",
        "conditional LM",
        "multilingual BiLM",
        "multilingual LM",
        "causal masking",
        "FIM",
        "multi-token prediction",
        "sequential multi-token prediction",
    ]  # 2003, twice 2018, five times 2019, twice 2022, twice 2024


def plain(name):
    return "".join(c for c in name.lower() if c.isalnum())


@every_objective
def test_it_is_found_by_every_name_it_has(name):
    objective = objectives()[name]
    for spoken in (name, name.upper(), *objective.aliases, *filter(None, [objective.row])):
        assert find_objective(spoken) is objective


def test_the_name_of_a_model_means_its_objective():
    spoken = {"BERT's objective": "MLM + NSP", "BERT-wwm": "whole word masking", "SBO": "SpanBERT"}
    spoken |= {"WKLM": "entity replacement", "SenseBERT": "supersense prediction", "SentiLR": "label-aware MLM"}
    assert {name: find_objective(name).name for name in spoken} == spoken


def test_an_unknown_objective_is_refused_with_those_there_are():
    with pytest.raises(UserError, match=r"no objective named 'nope'; the nearest: NSP, SOP"):
        find_objective("nope")


@every_objective
def test_stages_come_in_the_order_of_their_verbs(name):
    verbs = [s.verb for s in steps_of(name)]
    assert set(verbs) <= {"arrange", "choose", "change", "propose", "see", "ask"}
    assert "see" in verbs
    assert "ask" in verbs
    assert "choose" not in verbs or verbs.index("choose") <= verbs.index("see")


# steps, plans, replays


def steps_of(name, seed=0):
    return objectives()[name].steps(tokens_for(objectives()[name]), generator(seed))


def batches_of(name, seed=0):
    """The example of the sentence; where its labels may be known or not, what is asked then and what otherwise."""
    objective = objectives()[name]
    overrides = [{"labelled": said} for said in ("yes", "no")] if "labelled" in objective.plan_keys else [{}]
    return [objective.steps(tokens_for(objective), generator(seed), w)[-1].batch for w in overrides]


@every_objective
def test_the_last_step_is_the_training_example(name):
    batch = objectives()[name].batch(tokens_for(objectives()[name]), generator(3))
    assert_same(steps_of(name, 3)[-1].batch, batch)


@every_objective
def test_plans_replay_every_step_without_chance(name):
    steps = steps_of(name, 4)
    again = objectives()[name].replay(tokens_for(objectives()[name]), tuple(s.plan for s in steps))
    assert [s.verb for s in again] == [s.verb for s in steps]
    for first, second in zip(steps, again, strict=True):
        assert_same(first.batch, second.batch)


def answer(rebuilt):
    facts = rebuilt.facts()
    keys = ("inputs", "decoder_inputs", "targets", "scored", "target_positions", "actions", "attention_mask", "plan")
    return {key: facts[key] for key in keys}


@every_objective
@pytest.mark.parametrize("seed", range(6))
def test_a_described_plan_gives_the_same_batch_whatever_the_seed(name, seed):
    turned = hiding(objectives()[name], 0.4)
    first = story(name, seed=seed, settings=turned)
    plan = json.loads(json.dumps(describe_plan(first.steps)))
    for other in (seed, seed + 100):
        again = story(name, seed=other, settings=turned, overrides=plan)
        assert answer(again) == answer(first)


@pytest.mark.parametrize("name", ["MLM", "span mask"])
@pytest.mark.parametrize("seed", range(4))
def test_a_described_plan_names_the_random_words(name, seed):
    settings = {"mask_replace_prob": 0.2, "random_replace_prob": 0.6}
    first = rebuild(name, TWO_SENTENCES, seed=seed, settings=settings | ({"mask_ratio": 0.6} if name == "MLM" else {}))
    again = rebuild(name, TWO_SENTENCES, seed=seed + 50, overrides=describe_plan(first.steps))
    assert "randomised" in first.facts()["actions"]
    assert answer(again) == answer(first)


@pytest.mark.parametrize("name", [n for n in NAMES if not objectives()[n].needs])
@pytest.mark.parametrize("seed", range(5))
def test_a_described_plan_is_never_refused_where_words_have_pieces(name, seed):
    pieces = train([f"{TWO_SENTENCES} {TWO_SENTENCES}"], "bpe", size=60)
    first = rebuild(name, TWO_SENTENCES, seed=seed, tokenizer=pieces)
    assert int(first.batch.tokens.lengths) > int(first.batch.tokens.word_ids.max()) + 1
    again = rebuild(name, TWO_SENTENCES, seed=seed, tokenizer=pieces, overrides=describe_plan(first.steps))
    assert not again.verdict.leak


def test_plans_of_later_rows_are_described_in_their_own_words():
    """The number of words of the first row says nothing about the second."""
    batch = begin(tokens_of([[40] * 9, [40] * 3]))
    plan = ChosenSpans(torch.tensor([[9], [3]]), torch.tensor([[0], [0]]))
    assert [describe_spans(batch, plan, row) for row in (0, 1)] == [{"spans": ["10:0"]}, {"spans": ["4:0"]}]


def test_words_to_propose_are_not_for_the_stage_before():
    """`replace` names what the generator proposes, also where its own input has random words."""
    rebuilt = rebuild(
        "RTD", settings={"random_replace_prob": 0.15}, overrides={"chosen": "3,5", "replace": "thrilled,study"}
    )
    facts = rebuilt.facts()
    assert facts["inputs"] == "I am thrilled to study with you today".split()
    shown = rebuilt.batch.generator.inputs.ids[0]
    vocabulary = rebuilt.batch.tokens.vocabulary
    assert not {"thrilled", "study"} & {vocabulary[i] for i in shown.tolist()}


# knobs and refusals


def settings_to_try():
    """Every knob at its ends; without `--all` once for each kind of stage that has it."""
    met = set()
    for name, objective in objectives().items():
        kinds = {type(stage) for chain in objective.chains for stage in chain.stages}
        for key, k in objective.knobs.items():
            stage, _, field = key.rpartition(".")
            owners = [kind for kind in kinds if hasattr(kind, field) and stage in ("", kind.__name__)]
            for value in k.choices or ((False, True) if isinstance(k.default, bool) else (k.low, k.high)):
                turned = {(kind, field, value) for kind in owners}
                marks = [pytest.mark.exhaustive] if turned <= met else []
                met |= turned
                yield pytest.param(name, key, value, id=f"{name}-{key}-{value}", marks=marks)


@pytest.mark.parametrize(("name", "key", "value"), tuple(settings_to_try()))
def test_every_knob_turned_to_its_ends_still_builds(name, key, value):
    other = {"mask_replace_prob": {"random_replace_prob": 0.0}, "random_replace_prob": {"mask_replace_prob": 0.0}}.get(
        key, {}
    )
    rebuilt = story(name, settings={key: value} | other)
    assert rebuilt.objective.knobs[key].default == value
    json.dumps(rebuilt.record())
    json_keys.check(json.dumps(rebuilt.facts()), ObjectiveFacts)


@every_objective
def test_every_number_has_limits_and_a_reason(name):
    for k in objectives()[name].knobs.values():
        assert k.why.endswith(".")
        assert isinstance(k.default, bool) or k.choices or None not in (k.low, k.high)


def test_shares_that_add_up_to_more_than_everything_are_refused():
    with pytest.raises(UserError, match=r"mask_replace_prob 0\.8 and random_replace_prob 0\.3 add up to more than 1"):
        rebuild("MLM", settings={"random_replace_prob": 0.3})


@every_objective
def test_unknown_knobs_and_plan_keys_are_refused_with_a_sentence(name):
    with pytest.raises(UserError, match=rf"{re.escape(name)} has no knob 'speed'; its knobs are: .+\."):
        story(name, settings={"speed": 1})
    strange = "cut" if "split" in objectives()[name].plan_keys else "split"
    with pytest.raises(UserError, match=rf"{re.escape(name)} has no plan key '{strange}'; its keys are: .+\."):
        story(name, overrides={strange: 3})
    with pytest.raises(UserError, match=r"There is no plan key 'colour'; the keys are chosen, .+\."):
        story(name, overrides={"colour": 3})


BAD_PLANS = [
    ("MLM", {"chosen": "12"}, "Position 12 is not in the text; it has 8 words"),
    ("MLM", {"chosen": "0"}, "Position 0 is not in the text"),
    ("MLM", {"chosen": "one"}, "The plan chosen is 'one'; it must be word positions"),
    ("MLM", {"chosen": "1,2", "actions": "mask"}, "names 1 for 2 chosen words"),
    ("MLM", {"chosen": "1", "actions": "burn"}, "The action 'burn' is not known; choose one of mask, random, keep"),
    ("RTD", {"chosen": "1,2", "replace": "glad"}, "The plan replace names 1 for 2 chosen words"),
    ("PLM", {"order": "1,2"}, "The order 1,2 is not an order of 8 words"),
    ("PLM", {"order": "1,1,2,3,4,5,6,7"}, "is not an order of 8 words"),
    ("PLM", {"cut": "8"}, "The cut is 8; it must lie between 0 and 7"),
    ("span mask", {"spans": "7:5"}, "The span 7:5 does not fit"),
    ("text infilling", {"spans": "2:3,4:1"}, "The span 4:1 does not fit"),
    ("text infilling", {"spans": "3"}, "The plan spans is '3'; it must be start:length pairs"),
    ("BART infilling", {"spans": "3:-1"}, "The span 3:-1 does not fit"),
    ("sentence shuffling", {"order": "1,2,3"}, "The order 1,2,3 is not an order of 8 words"),
]


@pytest.mark.parametrize(("name", "plan", "sentence"), BAD_PLANS)
def test_a_plan_that_does_not_fit_is_refused_with_what_would(name, plan, sentence):
    with pytest.raises(UserError, match=re.escape(sentence)) as refusal:
        rebuild(name, overrides=plan)
    assert str(refusal.value).endswith(".")


def test_sentences_are_needed_to_shuffle_them():
    with pytest.raises(UserError, match="needs at least two sentences"):
        rebuild("sentence permutation")
    with pytest.raises(UserError, match="is not an order of 2 sentences"):
        rebuild("sentence permutation", TWO_SENTENCES, overrides={"order": "1,2,3"})
    assert rebuild("sentence permutation", TWO_SENTENCES, overrides={"order": "2,1"}).facts()["inputs"][:2] == [
        "We",
        "walk",
    ]


# leaks, loss cells


@every_objective
@pytest.mark.parametrize("seed", range(4))
def test_nothing_leaks_by_default(name, seed):
    verdict = story(name, seed=seed).verdict
    assert (verdict.leak, verdict.leaking, verdict.path) == (False, (), ())
    assert verdict.scored > 0 or name in MAY_ASK_NOTHING
    assert verdict.sentence.endswith(".")


@every_objective
def test_something_is_scored_and_only_real_words_are(name):
    numbers = Counter()
    for batch, target in (
        (e, target) for e in batches_of(name) for part in e.with_auxiliary for target in part.targets
    ):
        asked = target.labels[target.loss_mask]
        numbers[target.name] += len(asked)
        if target.kind.names_words:
            specials = batch.tokens.specials
            signs = torch.isin(asked, torch.tensor((*specials.sentinels, specials.end)))
            assert bool(((asked >= specials.unknown) | signs).all())
            shown = torch.cat([batch.tokens.ids.flatten(), batch.inputs.ids.flatten()])  # as those of a field or a span
            written = torch.isin(shown, torch.tensor(specials.sentinels)).any()
            closed = any(getattr(stage, "add_eos", isinstance(stage, AskBlanks)) for stage in objectives()[name].stages)
            assert batch.decoder is not None or bool(written) or closed or not signs.any()
    assert all(numbers.values()), numbers


@every_objective
def test_a_loss_has_the_unit_of_its_formula(name):
    """Nats are of a logarithm, logits of a hinge of scores, squared nats of a squared distance of logarithms.

    A distance of vectors has its own name for a unit.
    """
    asked = objectives()[name]
    settings = [{"loss": each} for each in getattr(asked.knobs.get("loss"), "choices", ())] or [{}]
    settings += [{"loss_beta": 0.0}] if "loss_beta" in asked.knobs else []
    for objective in (asked.turn(each) for each in settings):
        batches = specimens(objective, tokens_for(objective), generator(0))
        kinds = {target.name: target.kind for e in batches for part in e.with_auxiliary for target in part.targets}
        for term in objective.current_terms:
            signs = {r"\max": "logits", ")^2": "squared nats", "smoothL1": "smooth L1", r"\rVert^2": "squared error"}
            unit = next((unit for sign, unit in signs.items() if sign in term.latex), "nats")
            over = " a word" if r"\frac{1}{L}" in term.latex else ""  # the mean over all words
            assert objective.unit(term.target) == unit + over, term
            assert term.target not in kinds or kinds[term.target].unit == unit


def test_the_parts_of_a_sum_keep_their_units():
    both = find_objective("MLM + 0.5 pairwise ranking")
    assert {target: both.unit(target) for target in both.target_names} == {
        "centre word": "logits", "hidden words": "nats"
    }  # fmt: skip


# records and facts


@every_objective
def test_the_record_follows_the_steps(name):
    rebuilt = story(name, seed=2)
    record = json.loads(json.dumps(rebuilt.record()))
    names = [f["name"] for f in record["frames"]]
    assert len(names) == len(set(names))
    assert names[0] == "text"
    assert record["version"] == 1
    assert (record["title"], record["subtitle"]) == (name, rebuilt.objective.idea)
    own = [s for s in rebuilt.steps if s.part == 0]
    text = begin(own[0].batch.tokens).inputs.ids
    told = [s for s in own if s.verb != "arrange" or not torch.equal(s.batch.inputs.ids, text)]
    assert len(record["frames"]) == 1 + len(told)
    for frame, step in zip(record["frames"][1:], told, strict=True):
        assert_frame_shows(frame, step.batch)


def assert_frame_shows(frame, batch):
    lanes = {lane["name"]: lane["cells"] for lane in frame["lanes"]}
    assert texts(lanes["original"]) == words(batch, batch.tokens)
    assert texts(lanes["inputs"]) == words(batch, batch.inputs)
    assert ("decoder" in lanes) == (batch.decoder is not None)
    if batch.decoder is not None:
        assert texts(lanes["decoder"]) == words(batch, batch.decoder)
    assert ("targets" in lanes) == bool(batch.targets)
    for cells in lanes.values():
        assert len({c["key"] for c in cells}) == len(cells)
        assert {c["state"] for c in cells} <= {*STATES.values(), "inserted", "special", "padding"}
    for lane, readers in (("inputs", ("inputs", "query")), ("decoder", ("decoder",))):
        asked = [target.loss_mask[0] for target in batch.targets if target.stream in readers]
        if lane in lanes:
            overrides = torch.stack(asked).any(0).tolist() if asked else [False] * len(lanes[lane])
            assert [cell["scored"] for cell in lanes[lane]] == overrides[: len(lanes[lane])]
            assert not any(overrides[len(lanes[lane]) :])
    own = {lane["target"]: lane["cells"] for lane in frame["lanes"] if "target" in lane}
    for target in batch.targets if own else ():
        assert_targets_shown(own[target.name], batch, [target])
    if batch.targets and not own:
        assert_targets_shown(lanes["targets"], batch, batch.targets)


def assert_targets_shown(cells, batch, targets):
    """Every scored answer of every question stands in the lane, at its position."""
    scored = torch.stack([target.loss_mask[0] for target in targets]).any(0).tolist()
    assert [c["scored"] for c in cells] == scored[: len(cells)]
    for target in targets:
        for position in target.loss_mask[0].nonzero().flatten().tolist():
            answer_ = spoken(target, int(target.labels[0, position]), batch)
            assert answer_ in cells[position]["text"].split(BETWEEN)


def spoken(target, label, batch):
    if isinstance(target.kind, Replaced):
        return "or"[label]
    if isinstance(target.kind, TeacherState):
        return f"h({batch.tokens.vocabulary[label]})"
    if target.kind.compares_rows:
        return " ".join(batch.tokens.vocabulary[i] for i in batch.tokens.ids[0][batch.selected[0]].tolist())
    return (target.kind.classes or batch.tokens.vocabulary)[label]


def texts(cells):
    return [c["text"] for c in cells]


def words(batch, row):
    """The strings of the real tokens of a text or a stream."""
    return [batch.tokens.vocabulary[i] for i in row.ids[0][row.valid[0]].tolist()]


@every_objective
def test_the_matrices_of_the_record_are_those_of_training(name):
    rebuilt = story(name, seed=4)
    frame = rebuilt.record()["frames"][-1]
    attention_mask = rebuilt.facts()["attention_mask"]
    inputs = rebuilt.batch.inputs
    query = inputs.query_attn_mask
    assert [m["name"] for m in frame["matrices"]] == list(attention_mask)
    for matrix in frame["matrices"]:
        states = states_of(matrix)
        assert (states == 1).long().tolist() == attention_mask[matrix["name"]]
        assert list(states.shape) == [len(matrix["rows"]), len(matrix["columns"])]
        assert len(matrix["scored_rows"]) == len(matrix["rows"])
        assert (matrix["order"] is None) == (query is None or query.window is not None)  # a window has no order
    first = "encoder" if query is None else "content"
    real = inputs.valid[0]
    assert attention_mask[first] == inputs.attn_mask.dense()[0][real][:, real].long().tolist()
    asked = {"query": "query", "decoder": "decoder"}.get(rebuilt.batch.targets[0].stream, first)
    scored = next(m["scored_rows"] for m in frame["matrices"] if m["name"] == asked)
    assert sum(scored) == int(torch.stack([target.loss_mask[0] for target in rebuilt.batch.targets]).any(0).sum())


def states_of(matrix):
    return torch.frombuffer(bytearray(base64.b64decode(matrix["states"])), dtype=torch.uint8).view(matrix["shape"])


@every_objective
def test_frames_before_the_visibility_have_no_matrix(name):
    frames = story(name).record()["frames"]
    seen = [f["name"] for f in frames].index("visibility")
    assert all(f["matrices"] == [] for f in frames[:seen])
    assert all(f["matrices"] for f in frames[seen:])


def test_the_order_sorts_the_axes_of_the_permutation():
    rebuilt = rebuild("PLM", overrides={"order": "3,5,6,8,2,1,4,7", "cut": "3"})
    matrices = rebuilt.record()["frames"][-1]["matrices"]
    assert all([p + 1 for p in m["order"]] == [3, 5, 6, 8, 2, 1, 4, 7] for m in matrices)
    query = states_of(matrices[1])
    assert bool((query.diagonal() == 2).all())


@every_objective
def test_the_facts_have_the_promised_keys(name):
    facts = json.loads(json.dumps(story(name, seed=5).facts()))
    assert {
        "objective",
        "text",
        "seed",
        "inputs",
        "targets",
        "scored",
        "attention_mask",
        "leak",
        "plan",
    } <= facts.keys()
    assert len(facts["targets"]) == len(facts["scored"]) == len(facts["target_positions"])
    assert set(facts["scored"]) <= {0, 1}
    assert facts["knobs"].keys() == objectives()[name].knobs.keys()


@pytest.mark.parametrize("name", [n for n in NAMES if not objectives()[n].needs])
@pytest.mark.parametrize("text", ["Hello", "Hello there", "Hello hello hello"])
def test_a_text_of_hardly_any_words_has_a_record_too(name, text):
    rebuilt = rebuild(name, text)
    frames = json.loads(json.dumps(rebuilt.record()))["frames"]
    assert texts(frames[-1]["lanes"][0]["cells"]) == text.split()
    json_keys.check(json.dumps(rebuilt.facts()), ObjectiveFacts)
    assert not rebuilt.verdict.leak
    again = rebuild(name, text, seed=9, overrides=describe_plan(rebuilt.steps))
    assert answer(again) == answer(rebuilt)


# gradients of a real model


@every_objective
@pytest.mark.parametrize("seed", range(2))
def test_gradients_flow_exactly_where_visibility_lets_them(name, seed, monkeypatch):
    """The closure of visibility is the truth: outside it every gradient is exactly zero, inside it none is."""
    objective = objectives()[name]
    embedded, further = watched(monkeypatch), words_read_later(monkeypatch)
    for batch in batches_of(name, seed):
        further.clear()
        answers = iter(model_for(objective)(batch))
        for part, target in ((e, target) for e in batch.with_auxiliary for target in e.targets):
            answer_ = next(answers)
            if bool(target.loss_mask.any()):
                assert_influence_is_closure(part, target, answer_, embedded, further)


def influences_of_words_read_later(answer_, further):
    """The same `[k, n]` of the words that modules read besides; the k-th reads at each position the word k on."""
    found = torch.zeros(len(answer_.scores), further[0].shape[1], dtype=torch.bool)
    for number, token in enumerate(further[: answer_.target.kind.ahead], 1):
        moves = influences(answer_, token)
        found[:, number:] |= moves[:, :-number]
        assert not moves[:, -number:].any()  # nothing follows there
    return found


def assert_influence_is_closure(batch, target, answer_, embedded, further):
    assert answer_.target is target
    reach, own = leaks.answering(batch, target, LAYERS)
    found = influences(answer_, embedded[id(batch.inputs)])
    if target.kind.sequential:
        found |= influences_of_words_read_later(answer_, further)
    assert torch.equal(found, reach[answer_.positions])
    assert_answers_stay_hidden(batch, answer_, found)
    if own is not None:
        written = influences(answer_, embedded[id(batch.decoder)])
        assert torch.equal(written, own[answer_.positions])
        answers = answer_.target.origin[0, answer_.positions]
        assert not (written & (batch.decoder.origin[0] == answers[:, None]) & (answers >= 0)[:, None]).any()


def assert_answers_stay_hidden(batch, answer_, found):
    """No position that shows an answer moves its score, except where showing it is the task."""
    shown, _ = leaks.shown_positions(batch.inputs, batch, 0)
    answers = answer_.target.origin[0, answer_.positions]
    shows = (shown == answers[:, None]) & (answers >= 0)[:, None]
    assert answer_.target.copying or not (found & shows).any()


@pytest.mark.parametrize("name", ["skip-gram NS", "GloVe", "DIM", "CVT", "CBOW"])
def test_a_glance_names_what_is_compared(name):
    objective = find_objective(name)
    seen = glance(model_for(objective), objective, 0, tokens_for(objective))
    assert seen.guesses
    for guess in seen.guesses:
        assert 0.0 <= guess.probability <= 1.0
        assert guess.truth
        assert name != "CVT" or guess.truth in objective.stages[-1].classes


SHORT = (
    [[], []],
    [[], range(40, 49), [], [44]],
    [[40]],
    [[40, 41]],
    [[SPECIALS.sep]],
    [[SPECIALS.sep, 41]],
    [[], [40], [40, 41], [42, 42], list(range(40, 60))],
)
"""Batches of texts without a word, with hardly any, or with some of each."""


@every_objective
@pytest.mark.parametrize("extra", [0, 2])
def test_texts_of_hardly_any_words_cost_a_number_and_nothing_where_nothing_is_asked(name, extra):
    """Also with `extra` columns of padding, a row at a time, and for each part of a mixture."""
    objective = objectives()[name]
    usual = specimens(objective, tokens_for(objective), generator(0))
    for rows in SHORT:
        tokens = suited(objective, tokens_of(rows, extra=max(extra, not any(rows))))
        wholes = specimens(objective, tokens, generator(1))
        for whole in wholes if len(wholes) == 1 else (objective.batch(tokens, generator(1)), *wholes):
            model = make_model(with_required_parts(TINY, whole, *usual), SPECIALS.size, generator(2))
            for part in (whole, *split_rows(whole, 1, trim=True)):
                loss, terms = total_loss(model(part))
                targets = [target for e in part.with_auxiliary for target in e.targets]
                assert isfinite(float(loss.detach()))
                assert terms.keys() == {q.name for q in targets}
                for term, value in terms.items():
                    scored = any(bool(q.loss_mask.any()) for q in targets if q.name == term)
                    assert scored or float(value.detach()) == 0.0
                if loss.requires_grad:
                    loss.backward()
                    assert all(bool(p.grad.isfinite().all()) for p in model.parameters() if p.grad is not None)


@every_objective
def test_every_term_of_the_formula_is_fed_by_one_question(name):
    """Each question of each network has its term, and the positions that feed it are those that are scored."""
    rebuilt = story(name, seed=1)
    told = {t["target"]: t for t in rebuilt.facts()["terms"]}
    asked = [target for part in rebuilt.batch.with_auxiliary for target in part.targets]
    assert sorted(told) == sorted(q.name for q in asked)
    for target in asked:
        assert told[target.name]["positions"] == (target.loss_mask[0].nonzero().flatten() + 1).tolist()
        assert told[target.name]["weight"] == target.weight
        weighed = next(t.weight for t in rebuilt.objective.terms if t.target == target.name)
        assert bool(weighed) == (target.weight != 1), "a term shows a weight where it has one"


# the first thing that a person sees

SAYS_NOTHING = {"entity masking", "inference", "InferSent", "discourse relation"}
"""What the first text cannot be asked, and says so: no name stands in it, nobody has judged it."""


def first_seen(name):
    """Seed 0 on the example of its own, else on the survey's sentence, else on what it needs beside a text."""
    objective = objectives()[name]
    try:
        return rebuild(objective, objective.printed.text or SENTENCE, pair=objective.printed.pair)
    except UserError:
        return story(name)


@every_objective
def test_the_first_seed_asks_something_and_shows_what_is_changed(name):
    made = first_seen(name)
    silent = not any(bool(target.loss_mask.any()) for part in made.batch.with_auxiliary for target in part.targets)
    assert silent == (name in SAYS_NOTHING) == ("othing is predicted" in made.notice)
    changed = set(made.facts()["actions"]) - {"kept", "scored_as_is"}
    assert silent or bool(changed) == any(step.verb == "change" for step in made.steps)


@every_objective
@pytest.mark.parametrize("seed", range(3))
def test_padding_is_never_printed_and_an_answer_of_many_words_only_where_it_is_scored(name, seed):
    made = story(name, seed=seed)
    facts, record = made.facts(), made.record()
    sides = [facts, *facts["auxiliary"]]
    printed_ = [
        word for side in sides for key in ("inputs", "decoder_inputs", "targets") for word in side.get(key) or ()
    ]
    cells = [cell for frame in record["frames"] for lane in frame["lanes"] for cell in lane["cells"]]
    assert "[PAD]" not in {*printed_, *texts(cells)}
    for side in sides:
        for said, counts in zip(side.get("targets", ()), side.get("scored", ()), strict=True):
            assert counts or " " not in said, said
    for lane in record["frames"][-1]["lanes"]:
        assert lane["name"] != "targets" or not any(cell["text"] for cell in lane["cells"] if not cell["scored"])


# what a decoder closes

CLOSES = dict.fromkeys(("span mask", "discrete mask", "text infilling", "sentence shuffling"), False) | dict.fromkeys(
    (
        "T5 spans", "T5 i.i.d.", "T5 drop", "T5 mask in place", "T5 prefix LM", "BART infilling", "BART mixture",
        "token masking", "token deletion", "document rotation", "sentence permutation", "all noises",
        "multilingual denoising", "gap sentences", "PEGASUS large", "translation", "translation through one vector",
        "text-to-text", "T5 multi-task", "UL2",
    ),
    True,
)  # fmt: skip
"""Whether what a decoder writes ends with [END]: always, but for MASS and two rows of the survey's table."""


def written(batch):
    """What a decoder must write, row by row."""
    asked = [target for part in batch.with_auxiliary for target in part.targets if target.stream == "decoder"]
    return [ids[scored].tolist() for q in asked for ids, scored in zip(q.labels, q.loss_mask, strict=True)]


def test_every_decoder_ends_with_one_end_token_or_is_listed():
    found = {}
    for name, objective in objectives().items():
        parts = objective.parts or (objective,)
        rows = [row for part in parts for row in written(part.batch(tokens_for(objective), generator(0)))]
        if rows:
            assert all(row.count(SPECIALS.end) <= 1 for row in rows)
            [found[name]] = {row[-1] == SPECIALS.end for row in rows}
    assert found == CLOSES


@pytest.mark.parametrize("name", [n for n in CLOSES if not {"pair", "translation"} & set(objectives()[n].needs)])
def test_where_there_is_nothing_to_write_no_end_token_is_asked_for(name):
    objective = objectives()[name]
    tokens = suited(objective, tokens_of([[], range(40, 49)]))
    first, second = written(objective.batch(tokens, generator(0)))
    assert first == []
    assert not second or (second[-1] == SPECIALS.end) == CLOSES[name]
