"""Phases of a run: trained one after another, each with its objective, text and rates, exact across the border."""

from dataclasses import replace

import pytest
import torch

from playground.errors import UserError
from playground.objectives import find_objective
from playground.training import Evaluated, PhaseStarted, Session, Stepped, checkpoint, train
from playground.training.fork import fork
from playground.training.loop import events_of, prepared
from playground.training.lr_schedule import lr_multiplier_of
from playground.training.parallel.stacked_seeds import hindrance
from playground.training.store.metrics import Summary
from playground.zoo import Phase, entries
from playground.zoo.preset import PAPER
from tests.runs import alone, reviews, run_of, tiny
from tests.texts import small_corpus

LAST = 12


def of_two_texts(**values):
    """BioBERT: general text, and from the seventh step of twelve on the text of its field."""
    return run_of(entry=tiny("BioBERT"), corpus=small_corpus("facts"), **values)


def of_three_questions(**values):
    """ERNIE: three maskings of one text, four steps each."""
    return run_of("ERNIE", **values)


def of_more_and_more(**values):
    """ERNIE 2.0: one task, and one more from the third, sixth, eighth and eleventh step on."""
    return run_of("ERNIE 2.0", **values)


each_run = pytest.mark.parametrize("make", [of_two_texts, of_three_questions, of_more_and_more])


def weights_after(run, learner=None):
    """The weights after every step, from the one where the learner stands."""
    found = {}
    for event in train(run, learner):
        learner = getattr(event, "learner", learner)
        if isinstance(event, Stepped | Evaluated):
            found[learner.step] = {k: v.clone() for k, v in learner.model.state_dict().items()}
    return found


def same(one, other):
    return all(torch.equal(one[name], other[name]) for name in one)


def begun(run):
    return [(e.step, e.number, e.objective, e.corpus) for e in train(run) if isinstance(e, PhaseStarted)]


def test_each_phase_trains_its_own_objective_on_its_own_text():
    assert begun(of_two_texts()) == [(0, 0, "MLM + NSP", "world"), (6, 1, "MLM", "facts")]
    three = [(0, 0, "MLM"), (4, 1, "phrase masking"), (8, 2, "entity masking")]
    assert [each[:3] for each in begun(of_three_questions())] == three
    five = [(0, 0, "one task"), (2, 1, "two tasks"), (5, 2, "three tasks"), (7, 3, "four tasks")]
    assert [each[:3] for each in begun(of_more_and_more())] == [*five, (10, 4, "continual multi-task")]
    terms = [list(e.terms) for e in train(of_more_and_more()) if isinstance(e, Stepped)]
    known = ("hidden words", "capitalized", "recurring", "order", "pair")
    for step, [asked] in enumerate(terms):
        assert asked in known[: 1 + sum(step >= start for start in (2, 5, 7, 10))]
    assert len({asked for [asked] in terms}) > 2


def test_an_evaluation_is_of_the_phase_that_comes_and_of_its_held_out_rows():
    run = of_two_texts(evaluate_every=6)
    texts = {e.step: e.held_out.ids for e in train(run) if isinstance(e, PhaseStarted)}
    assert not torch.equal(texts[0], texts[6])
    session = Session(run).start()
    session._thread.join(60)
    assert torch.equal(session._held_out.ids, texts[6])
    assert [row.step for row in session.rows if row.held_out is not None] == [0, 6, 12]


@each_run
@pytest.mark.parametrize("stop", [5, 6, 7, 8])
def test_a_run_goes_on_exactly_from_a_checkpoint_on_either_side_of_a_border(make, stop, tmp_path):
    whole = weights_after(make())
    list(train(make(steps=stop, out=tmp_path)))
    rest = weights_after(make(), checkpoint.load(tmp_path).learner)
    assert max(rest) == LAST and min(rest) <= stop + 1
    assert all(same(rest[step], whole[step]) for step in rest)


@each_run
def test_a_fork_without_a_change_goes_on_exactly_over_a_border(make, tmp_path):
    whole = weights_after(make())
    run = make()
    list(train(make(steps=5, out=tmp_path)))
    made = fork(run, checkpoint.load(tmp_path).learner)
    rest = weights_after(made.run, made.learner)
    assert all(same(rest[step], whole[step]) for step in rest)


def test_a_knob_is_turned_in_every_phase_that_has_it(tmp_path):
    list(train(of_three_questions(steps=5, out=tmp_path)))
    made = fork(of_three_questions(), checkpoint.load(tmp_path).learner, {"mask_ratio": 0.5})
    phases = [made.run.entry.objective_in(phase).knobs["mask_ratio"].default for phase in made.run.entry.phases]
    assert phases == [0.5, 0.5, 0.5]
    kept = made.learner.objectives
    assert [one.knobs["mask_ratio"].default for one in kept] == phases


def test_a_new_phase_begins_with_a_schedule_of_its_own_and_optimisers_that_know_nothing():
    run = of_two_texts()
    rates = [e.rate for e in train(run) if isinstance(e, Stepped)]
    assert rates == [lr_multiplier_of(run.entry, step) for step in range(LAST)]
    assert rates[5] < rates[0] == rates[6] == 1.0
    learner = prepared(run).learner
    while learner.step < 6:
        learner.learn(prepared(run).blocks.at(learner.step))
    assert [list(optimiser.state) for optimiser in learner.optimisers] == [[], []]


def test_a_run_that_diverges_in_a_later_phase_goes_back_over_the_border(monkeypatch):
    learner_class = type(prepared(of_two_texts()).learner)
    learn = learner_class.learn

    def spoilt(self, *given, **also):
        if self.step == 8:
            with torch.no_grad():
                self.model.token_embedding.weight.fill_(float("nan"))
        return learn(self, *given, **also)

    whole = weights_after(of_two_texts())
    monkeypatch.setattr(learner_class, "learn", spoilt)
    state = prepared(of_two_texts(evaluate_every=50))
    last = list(events_of(state))[-1]
    assert last.reason == "diverged" and state.learner.step == 8
    assert same(dict(state.learner.model.state_dict()), whole[8])


def test_the_report_names_the_phase_and_every_loss():
    run = of_more_and_more()
    summary = Summary(run)
    for event in train(run):
        summary.read(event)
    facts = summary.facts()
    assert facts["phase"] == "sentence distance"
    assert list(facts["losses"]) == ["hidden words", "capitalized", "recurring", "order", "pair"]
    assert facts["loss"]["train"] in [loss["train"] for loss in facts["losses"].values()]


def test_another_text_than_the_entrys_own_is_read_in_every_phase():
    run = replace(of_two_texts(), corpus=replace(reviews(), name="letters"))
    assert [corpus for *_, corpus in begun(run)] == ["letters", "letters"]


def test_texts_of_two_vocabularies_are_refused():
    entry = replace(tiny("BioBERT"), phases=(Phase("other words", 0.5, corpus="domains"), Phase("facts", 0.5)))
    with pytest.raises(UserError, match="reads domains, which has other words than facts"):
        next(train(run_of(entry=entry, corpus=small_corpus("facts"))))


def test_seeds_of_several_phases_run_apart():
    assert "a second phase" in hindrance(prepared(of_three_questions()))


def test_every_part_of_a_mixture_is_evaluated():
    run = run_of(entry=alone(find_objective("UniLM")), steps=1)
    (_, evaluated) = [e for e in train(run) if isinstance(e, Evaluated)]
    assert set(evaluated.terms) == set(run.entry.objective.target_names)


@pytest.mark.parametrize("name", [name for name, entry in entries().items() if entry.phases])
def test_the_phases_of_every_entry_fill_the_run_and_say_what_they_are(name):
    entry = PAPER(entries()[name])
    assert sum(phase.share for phase in entry.phases) == pytest.approx(1)
    assert all(phase.name and phase.idea.endswith(".") for phase in entry.phases)
    assert entry.phases[-1].objective is None and not entry.phases[-1].corpus, "the last one is the entry's own"
    assert sorted(set(entry.phase_starts)) == list(entry.phase_starts)


def test_objectives_by_turns_alternate_from_step_to_step_wherever_a_run_begins(tmp_path):
    """XLM (arXiv:1901.07291): two steps in one language, a step on translations."""
    asked = [list(e.terms) for e in train(run_of("XLM")) if isinstance(e, Stepped)]
    assert asked == [["next word"], ["hidden words, one language"], ["hidden words, two languages"]] * 4
    list(train(run_of("XLM", steps=5, out=tmp_path)))
    rest = [list(e.terms) for e in train(run_of("XLM"), checkpoint.load(tmp_path).learner) if isinstance(e, Stepped)]
    assert rest == asked[5:]


def test_unilm_begins_from_the_weights_and_the_head_of_bert():
    """Initialised by BERT, then 770,000 steps of 330 rows for its 1,000,000 of 256 (arXiv:1905.03197, sec. 2.3)."""
    run = run_of("UniLM")
    assert [each[:3] for each in begun(run)] == [(0, 0, "MLM + NSP"), (6, 1, "UniLM")]
    asked = [set(e.terms) for e in train(run) if isinstance(e, Stepped)]
    assert asked[:6] == [{"hidden words", "pair"}] * 6
    assert all("hidden words, seq2seq" in terms and "pair" in terms for terms in asked[6:])
    bert = replace(tiny("UniLM", steps=6), phases=(), objective=find_objective("MLM + NSP"))
    assert same(weights_after(run_of(entry=bert, steps=6))[6], weights_after(run)[6])
