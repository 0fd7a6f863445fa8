"""What each term of a loss adds up, by hand: the set its sum runs over, what it predicts, and what sources misprint."""

import re
from math import log

import pytest
import torch
from torch.nn.functional import logsigmoid

from playground.answers import Answer, InBatchContrast, Target
from playground.models import total_loss
from playground.objectives import find_objective, objectives
from playground.rng import generator
from playground.trace.rebuild import rebuild
from tests.texts import PAIR, TWO_SENTENCES, plain_rows, story, tokens_of

# the set that a sum runs over

WORDS = {"hidden words": "M"}
WRITTEN_TEXT = {"written words": "T+1"}
NEARBY = {"word nearby": "P"}
CENTRE = {"centre word": "T"}
ONE = {"pair": "1"}
SUMS = {
    "LM": {"next word": "T"},
    "multi-token prediction": {
        "next word": "T",
        "2nd next word": "T-1",
        "3rd next word": "T-2",
        "4th next word": "T-3",
    },
    "sequential multi-token prediction": {"next word": "T", "2nd next word": "T-1"},
    "backward LM": {"previous word": "T"},
    "window LM": {"next word": "T"},
    "BiLM": {"next word": "T", "previous word": "T"},
    "multilingual LM": {"next word": "T"},
    "multilingual BiLM": {"next word": "T", "previous word": "T"},
    "MLM": WORDS,
    "static MLM": WORDS,
    "whole word masking": WORDS,
    "phrase masking": WORDS,
    "entity masking": WORDS,
    "n-gram masking": WORDS,
    "span masking": WORDS,
    "knowledge masking": WORDS,
    "multilingual MLM": WORDS,
    "TLM": WORDS,
    "MLM in either language": WORDS,
    "UniLM both sides": WORDS,
    "UniLM seq2seq": WORDS,
    "UniLM left to right": WORDS,
    "UniLM right to left": WORDS,
    "SpanBERT": {**WORDS, "span boundary": "B within"},
    "word structure": {**WORDS, "word order": "S"},
    "MLM + NSP": {**WORDS, **ONE},
    "n-gram MLM + SOP": {**WORDS, **ONE},
    "StructBERT": {**WORDS, "word order": "S", **ONE},
    "InfoWord": {**WORDS, "match": "B"},
    "NSP": ONE,
    "SOP": ONE,
    "sentence structure": ONE,
    "translation pairs": ONE,
    "sentence distance": ONE,
    "inference": {"inference": "1"},
    "InferSent": {"inference": "1"},
    "discourse relation": {"connective": "1"},
    "sentence matching": {"match": "B"},
    "DIM": {"match": "B"},
    "RTD": {**WORDS, "replaced?": "T"},
    "PLM": {"hidden words": "T-c"},
    "PLM on pairs": {"hidden words": "T-c"},
    "seq2seq LM": {"next word": "T-c"},
    "span mask": {"written words": "j-i+1"},
    "discrete mask": {"written words": "M"},
    "text infilling": {"written words": "M"},
    "T5 drop": {"written words": "y"},
    "T5 spans": {"written words": "y"},
    "T5 i.i.d.": {"written words": "y"},
    "translation": {"written words": "y"},
    "translation through one vector": {"written words": "y"},
    "BART infilling": WRITTEN_TEXT,
    "sentence shuffling": {"written words": "T"},
    "sentence permutation": WRITTEN_TEXT,
    "token masking": WRITTEN_TEXT,
    "token deletion": WRITTEN_TEXT,
    "document rotation": WRITTEN_TEXT,
    "BART mixture": WRITTEN_TEXT,
    "all noises": WRITTEN_TEXT,
    "T5 mask in place": WRITTEN_TEXT,
    "multilingual denoising": WRITTEN_TEXT,
    "skip-gram": NEARBY,
    "skip-gram NS": NEARBY,
    "CBOW": CENTRE,
    "CBOW NS": CENTRE,
    "pairwise ranking": CENTRE,
    "context2vec": CENTRE,
    "GloVe": {"how often": "X"},
}
"""For each objective and each of its questions: what its sum runs over."""

OVER = {
    "T": (r"\frac{1}{T}\sum_{t=1}^{T}", r"\frac{1}{T}\sum_{o}", r"\frac{1}{T}\sum_t "),
    "T+1": (r"\frac{1}{T+1}\sum_{t=1}^{T+1}",),
    **{f"T-{k}": (rf"\frac{{1}}{{T-{k}}}\sum_{{t=1}}^{{T-{k}}}",) for k in (1, 2, 3)},
    "M": (r"\frac{1}{|M|}\sum_{t \in M}",),
    "S": (r"\frac{1}{|S|}\sum_{t \in S}",),
    "B within": (r"\frac{1}{|B|}\sum_{i \in B}",),
    "T-c": (r"\frac{1}{T-c}\sum_{t=c+1}^{T}",),
    "j-i+1": (r"\frac{1}{j-i+1}\sum_{t=i}^{j}",),
    "y": (r"\frac{1}{|y|}\sum_{i}",),
    "P": (r"\frac{1}{|P|}\sum_{(c,o) \in P}",),
    "X": (r"\frac{1}{|X|}\sum_{X_{ij} > 0}",),
    "B": (r"\frac{1}{B}\sum_{b}",),
    "1": (r"\log p(y \mid",),
}
"""How each set is written: the mean over it and the sum over it must say the same."""


def number(over, made):
    """How many members a set has on a text of which the plan is told, by hand and without a look at the question."""
    plan = made.facts()["plan"]
    spans = [tuple(map(int, span.split(":"))) for span in plan.get("spans", ())]
    lengths = [length for _, length in spans]
    words = plan.get("chosen")
    whole = int(made.batch.tokens.lengths[0])
    match over:
        case "T" | "T+1" | "1" | "B":
            return {"T": whole, "T+1": whole + 1}.get(over, 1)
        case "T-1" | "T-2" | "T-3":
            return whole - int(over[-1])
        case "M":
            return sum(lengths) if words is None else len(words)
        case "S" | "j-i+1":
            return sum(lengths)
        case "B within":
            return within({first + k for first, length in spans for k in range(length)}, whole)
        case "T-c":
            return whole - (plan["cut"] if "cut" in plan else plan["split"])
        case "y" if not plan.keys() - {"language"}:
            return len((TWO_SENTENCES if plan.get("language") == "second" else PAIR).split()) + 1
        case "y":
            return written(words, lengths, made.objective.name != "T5 drop")
        case "P":
            return sum(0 < abs(c - o) <= radius for c, radius in enumerate(plan["radius"]) for o in range(whole))
    ids = made.batch.tokens.ids[0].tolist()
    return len({(a, b) for i, a in enumerate(ids) for j, b in enumerate(ids) if 0 < abs(i - j) <= 10})


def within(hidden, whole):
    """How many hidden words have a word that is not hidden on both sides of their run."""
    runs = [1 + max(set(range(word)) - hidden) for word in hidden]
    ends = [min(set(range(word, whole + 2)) - hidden) for word in hidden]
    return sum(first > 1 and end <= whole for first, end in zip(runs, ends, strict=True))


def written(words, lengths, marked):
    """Each run of words, with its marker in front where there are any, and the [END] if there is a word."""
    runs = len(lengths) if words is None else sum(word - 1 not in words for word in words)
    missing = sum(lengths) if words is None else len(words)
    return runs * marked + missing + bool(missing)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", SUMS)
def test_as_many_positions_feed_a_term_as_its_sum_has_members(name, seed):
    made = story(name, seed=seed)
    terms = {term.target: term.latex for term in made.objective.terms}
    told = {term["target"]: term for term in made.facts()["terms"]}
    assert terms.keys() == told.keys() == SUMS[name].keys()
    for target, over in SUMS[name].items():
        assert terms[target].removeprefix("-").startswith(OVER[over]), terms[target]
        assert len(told[target]["positions"]) == number(over, made), target


ROWS = {
    "LM": 8,
    "MLM": 2,
    "NSP": 1,
    "SOP": 1,
    "Discriminator (o/r)": 8,
    "PLM": 5,
    "seq2seq LM": 4,
    "Span Mask": 3,
    "Text Infilling": 3,
    "Sent Shuffling": 8,
    "TLM": 2,
}
"""How many answers the last term of each row of the survey's Table 2 adds up, counted in the print."""


@pytest.mark.parametrize("row", ROWS)
def test_the_rows_of_the_survey_add_up_what_they_print(row):
    printed = find_objective(row).printed
    texts = {"text": printed.text, "pair": printed.pair, "other": printed.other} if printed.text else {}
    told = rebuild(row, overrides=dict(printed.plan), **texts).facts()["terms"]
    assert len(told[-1]["positions"]) == ROWS[row]
    assert [len(term["positions"]) for term in told[:-1]] == ([2] if row.startswith("Discriminator") else [])


def test_what_is_in_the_table_is_in_the_catalogue():
    assert set(SUMS) <= set(objectives())
    assert {find_objective(row).name for row in ROWS} <= set(SUMS)


# under turned knobs

TURNED = {
    ("LM", "add_eos", True): (r"-\frac{1}{T+1}\sum_{t=1}^{T+1}\log p(x_t \mid x_{<t})", 9),
    ("LM", "context_size", 3): (r"-\frac{1}{T-3}\sum_{t=4}^{T}\log p(x_t \mid x_{<t})", 5),
    ("LM", "sliding_window", 2): (r"-\frac{1}{T}\sum_{t=1}^{T}\log p(x_t \mid x_{t-(k-1)L-1}, \ldots, x_{t-1})", 8),
    ("window LM", "sliding_window", 0): (r"-\frac{1}{T}\sum_{t=1}^{T}\log p(x_t \mid x_{<t})", 8),
    ("backward LM", "add_eos", True): (r"-\frac{1}{T+1}\sum_{t=0}^{T}\log p(x_t \mid x_{>t})", 9),
    ("backward LM", "context_size", 3): (r"-\frac{1}{T-3}\sum_{t=1}^{T-3}\log p(x_t \mid x_{>t})", 5),
    ("seq2seq LM", "loss_on", "all"): (r"-\frac{1}{T-1}\sum_{t=2}^{T}\log p(x_t \mid x_{\leq \max(c,\,t-1)})", 7),
    ("T5 prefix LM", "add_eos", False): (
        r"-\frac{1}{T-c}\sum_{t=c+1}^{T}\log p(x_t \mid x_{\leq c}, x_{c+1:t-1})",
        None,
    ),
    ("T5 prefix LM", "target", "text"): (r"-\frac{1}{T+1}\sum_{t=1}^{T+1}\log p(x_t \mid x_{\leq c}, x_{<t})", 9),
    ("PLM", "streams", "words only"): (r"-\frac{1}{T-c}\sum_{t=c+1}^{T}\log p(x_{z_t} \mid x_{z_{<t}})", None),
    ("PLM", "streams", "positions only"): (r"-\frac{1}{T-c}\sum_{t=c+1}^{T}\log p(x_{z_t} \mid z_t)", None),
    ("BART infilling", "add_eos", False): (r"-\frac{1}{T}\sum_{t=1}^{T}\log p(x_t \mid \hat{x}, x_{<t})", 8),
    ("BART infilling", "target", "sentinels"): (r"-\frac{1}{|y|}\sum_{i}\log p(y_i \mid \hat{x}, y_{<i})", None),
    ("T5 spans", "target", "text"): (r"-\frac{1}{T+1}\sum_{t=1}^{T+1}\log p(x_t \mid \hat{x}, x_{<t})", 9),
    ("span mask", "target", "gaps"): (r"-\frac{1}{|M|}\sum_{t \in M}\log p(x_t \mid \hat{x}, x_{M,<t})", None),
    ("NSP", "weight", 0.5): (r"-0.5\,\log p(y \mid A, B)", 1),
    ("BiLM", "weight", 0.25): (
        r"-0.25\,\frac{1}{T}\sum_{t=1}^{T}\log p(x_t \mid x_{<t}) - 0.25\,\frac{1}{T}\sum_{t=1}^{T}"
        r"\log p(x_t \mid x_{>t})",
        8,
    ),
}
"""What a knob makes of the loss of eight words, and how many answers its last term then adds up."""


@pytest.mark.parametrize(("name", "knob", "value"), TURNED)
def test_the_loss_in_symbols_follows_its_knobs(name, knob, value):
    latex, answers = TURNED[name, knob, value]
    made = rebuild(name, pair="Walk home together" if name == "NSP" else "", settings={knob: value})
    assert made.facts()["formula"] == made.record()["formula"] == latex
    told = made.facts()["terms"]
    assert written_out(told) == latex
    if answers is not None:
        assert len(told[-1]["positions"]) == answers
    assert rebuild(name, pair="Walk home together" if name == "NSP" else "").facts()["formula"] != latex


def written_out(told):
    """The terms put together again by what the record says of them."""
    numbered = [(term["latex"], "" if term["weight"] == 1 else f"{term['weight']:g}\\,") for term in told]
    return " + ".join(f"-{weight}{latex.removeprefix('-')}" for latex, weight in numbered).replace("+ -", "- ")


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("UniLM left to right", r"\hat{x}_{t-(k-1)L}, \ldots, \hat{x}_t"),
        ("UniLM right to left", r"\hat{x}_t, \ldots, \hat{x}_{t+(k-1)L}"),
    ],
)
def test_a_window_narrows_what_a_one_sided_cloze_is_given(name, seen):
    objective = find_objective(name)
    turned = objective.turn({"sliding_window": 3})
    assert f"\\mid {seen})" in turned.formula != objective.formula
    assert turned.turn({"sliding_window": 0}).formula == objective.formula
    assert list(turned.current_terms[0].meanings) == ["k", "L"] and not objective.current_terms[0].meanings


SAME = {
    ("skip-gram NS", "nce"): "skip-gram NCE",
    ("skip-gram NCE", "sampled"): "skip-gram NS",
    ("CBOW NS", "sampled"): "CBOW NS",
}


@pytest.mark.parametrize(("name", "loss"), SAME)
def test_two_objectives_that_differ_by_a_knob_have_one_formula_under_it(name, loss):
    turned, same = find_objective(name).turn({"loss": loss}), find_objective(SAME[name, loss])
    assert turned.formula == same.formula
    assert [term.meanings for term in turned.current_terms] == [term.meanings for term in same.current_terms]


PAIRS = r"\frac{1}{|P|}\sum_{(c,o) \in P}"
FOUR_WAYS = {
    "sampled": rf"-{PAIRS}\Big[\log\sigma(u_o^\top v_c) + \sum_{{k=1}}^{{K}}\log\sigma(-u_k^\top v_c)\Big]",
    "nce": rf"-{PAIRS}\Big[\log\sigma(u_o^\top v_c - \log K q_o) "
    r"+ \sum_{k=1}^{K}\log\sigma(\log K q_k - u_k^\top v_c)\Big]",
    "hinge": rf"{PAIRS}\sum_{{k=1}}^{{K}}\max\{{0,\ 1 - u_o^\top v_c + u_k^\top v_c\}}",
    "softmax": rf"-{PAIRS}\log\frac{{\exp(u_o^\top v_c)}}{{\exp(u_o^\top v_c) + \sum_{{k=1}}^{{K}}\exp(u_k^\top v_c)}}",
}


@pytest.mark.parametrize("loss", FOUR_WAYS)
def test_the_four_ways_of_telling_words_apart_in_symbols(loss):
    assert find_objective("skip-gram NS").turn({"loss": loss}).formula == FOUR_WAYS[loss]


@pytest.mark.parametrize("name", ["skip-gram NS", "CBOW NS", "pairwise ranking", "context2vec"])
@pytest.mark.parametrize(
    ("loss", "by_hand"),
    {
        "sampled": lambda right, wrong: -logsigmoid(right) - logsigmoid(-wrong).sum(),
        "hinge": lambda right, wrong: (1 - right + wrong).clamp(min=0).sum(),
        "softmax": lambda right, wrong: -(right.exp() / (right.exp() + wrong.exp().sum())).log(),
    }.items(),
)
def test_the_four_ways_of_telling_words_apart_cost_what_their_symbols_say(name, loss, by_hand):
    """Read off the formula by hand; that of noise-contrastive estimation is in `test_propose.py`."""
    objective = find_objective(name).turn({"loss": loss})
    sign = {"sampled": r"\log\sigma(-", "hinge": r"\max\{0,\ 1 - ", "softmax": r"\log\frac{\exp("}[loss]
    assert sign in objective.formula
    (target,) = objective.batch(plain_rows(2, 12), generator(6)).targets
    wrong = target.kind.negatives[target.loss_mask]
    scores = torch.randn(len(wrong), 1 + wrong.shape[1], generator=generator(7))
    losses = answered(target, scores).losses()
    for row, drawn, loss_of_row in zip(scores, wrong, losses, strict=True):
        assert torch.allclose(loss_of_row, by_hand(row[0], row[1:][drawn >= 0]), atol=1e-5)


def test_a_weight_with_a_name_keeps_it_and_says_its_number():
    made = rebuild("RTD", settings={"weight": 20.0})
    assert r"-\lambda\,\frac" in made.facts()["formula"].replace("- ", "-")
    assert made.facts()["terms"][-1]["weight"] == 20.0


@pytest.mark.parametrize("part", range(4))
def test_a_mixture_says_what_the_part_asks_that_was_drawn(part):
    mixture = find_objective("UniLM")
    made = rebuild(mixture, PAIR, pair=PAIR, overrides={"part": part + 1})
    own = mixture.parts[part].formula
    assert made.facts()["formula"] == made.record()["formula"] == own != mixture.formula


def test_symbols_that_do_not_stand_in_a_formula_are_not_explained():
    plain, turned = (rebuild("LM", settings={"add_eos": end}).facts()["terms"][0]["symbols"] for end in (False, True))
    assert plain == {} and list(turned) == ["T+1"]


# what is predicted

PREDICTED = re.compile(r"\\log p\w*\((.+?) \\mid (.+)\)")


@pytest.mark.parametrize("name", objectives())
def test_what_a_term_predicts_is_a_word_or_a_label_and_never_a_position(name):
    """x stands for the words of the text, y for what is written or said of it; z is an order of places."""
    made = story(name, seed=2)
    said = {term.target: PREDICTED.search(term.latex) for term in made.objective.terms}
    for part in made.batch.with_auxiliary:
        for target in part.targets:
            found = said.get(target.name)
            if found is None:
                continue
            assert found[1][0] in "xy", found[0]
            scored = target.loss_mask[0]
            if found[1][0] == "x":
                origin, ids = target.origin[0][scored], part.tokens.ids[0]
                assert target.kind.names_words
                assert torch.equal(target.labels[0][scored][origin >= 0], ids[origin[origin >= 0]])
                specials, others = part.tokens.specials, target.labels[0][scored][origin < 0]
                marks = torch.isin(others, torch.tensor([specials.end, *specials.sentinels]))
                assert bool(marks.all()), "the others are special tokens that close the text or mark its parts"
                ends = int((others == specials.end).sum())
                assert ends <= 1 or name == "causal masking", "one behind each span"


@pytest.mark.parametrize("name", [n for n in objectives() if n.startswith("PLM")])
def test_a_term_over_an_order_predicts_the_word_at_its_position_and_is_given_the_position(name):
    predicted, given = PREDICTED.search(objectives()[name].terms[0].latex).groups()
    assert predicted == "x_{z_t}"
    assert given.startswith("x_{z_{")
    assert given.endswith(", z_t")


def test_the_t_th_word_of_the_order_is_told_from_all_t_minus_1_before_it():
    """The words heard at the t-th step are those at z_1 to z_{t-1}, in the survey's order."""
    order = [3, 5, 6, 8, 2, 1, 4, 7]
    query = rebuild("PLM", overrides={"order": order, "cut": 3}).facts()["attention_mask"]["query"]
    for step in range(3, 8):
        seen = {position + 1 for position, yes in enumerate(query[order[step] - 1]) if yes}
        assert seen == set(order[:step])


# what sources misprint

MISPRINTS = {
    "RTD": (r"\log(1 - \log D", "Weng"),
    "PLM": (r"\log p(z_t \mid z_{<t})", "Qiu"),
    "GloVe": (r"X_{ij} = P(j \mid i)", "Static Embedding"),
    "DIM": (r"\in N} s(\hat{x}_{i:j}, \tilde{x}_{i:j})", "Qiu"),
}
"""The sign by which each misprint of inventory, appendix B (E3, E4, E7, E22), is known, and who prints it."""


def test_these_objectives_have_a_misprint_and_their_relatives_the_same():
    first = {}
    for objective in objectives().values():
        if objective.misprint is not None:
            first.setdefault(objective.misprint, objective.name)
    assert set(first.values()) == set(MISPRINTS)


@pytest.mark.parametrize("name", MISPRINTS)
def test_what_is_misprinted_is_shown_as_printed_and_is_not_what_is_trained(name):
    sign, who = MISPRINTS[name]
    objective = find_objective(name)
    assert sign in objective.misprint.latex
    assert sign not in objective.formula
    assert who in objective.misprint.where
    assert objective.misprint.wrong.endswith(".")
    assert story(name).record()["misprint"]["latex"] == objective.misprint.latex


def answered(target, scores):
    rows, positions = target.loss_mask.nonzero(as_tuple=True)
    return Answer(target, rows, positions, scores, target.labels[rows, positions])


def test_a_replaced_word_costs_log_1_minus_d_and_not_the_log_of_a_log():
    """E7: with D the chance that a word is the original, a replaced one costs -log(1 - D), an original one -log D."""
    batch = rebuild("RTD", overrides={"chosen": "3,5", "replace": "thrilled,study"}).batch
    scores = torch.linspace(-2, 2, 8)[:, None]
    losses = answered(batch.targets[0], scores).losses()
    original = torch.sigmoid(-scores[:, 0])
    replaced = torch.tensor([2, 4])
    assert torch.allclose(losses[replaced], -(1 - original[replaced]).log(), atol=1e-6)
    assert torch.allclose(losses[[0, 1, 3, 5]], -original[[0, 1, 3, 5]].log(), atol=1e-6)
    assert not torch.allclose(losses[replaced], -(1 - original[replaced].log()).log(), atol=1e-2)


def test_x_is_how_often_two_words_met_and_no_probability():
    """E4: in a b a b a, the two words meet 4 times side by side and twice three places apart: 4 + 2/3, above 1."""
    batch = find_objective("GloVe").batch(tokens_of([[40, 41, 40, 41, 40]], padded=False), generator(0))
    (target,) = batch.targets
    seen = target.kind.counts[target.loss_mask]
    assert float(seen.max()) == pytest.approx(4 + 2 / 3)
    once = torch.tensor([[float(seen.max())]]).log()
    exact = Answer(target, torch.tensor([0]), target.kind.counts.argmax(1), once, torch.tensor([0]))
    assert float(exact.losses()) == pytest.approx(0.0, abs=1e-9)


def test_the_loss_of_a_match_has_its_minus_and_its_exponential():
    """E3: -(s - log sum exp s); as printed, s - log sum s, it would be made large."""
    scores = torch.tensor([[2.0, 1.0, 0.5], [0.3, 3.0, 1.0], [1.0, 1.0, 1.0]])
    grid = torch.arange(3)[:, None]
    scored = torch.ones(3, 1, dtype=torch.bool)
    target = Target("match", InBatchContrast(), "inputs", grid, scored, torch.full((3, 1), -1))
    right = scores.diagonal()
    losses = answered(target, scores).losses()
    assert torch.allclose(losses, -(right - scores.exp().sum(1).log()), atol=1e-6)
    assert not torch.allclose(losses, right - scores.sum(1).log(), atol=0.1)


# a model that knows nothing


@pytest.mark.parametrize("size", [2, 61, 30_000])
@pytest.mark.parametrize("name", ["LM", "MLM", "PLM", "T5", "BART", "seq2seq LM"])
def test_a_model_that_knows_nothing_has_the_perplexity_of_its_vocabulary(name, size):
    """Scores that are all 0 say that every word is as likely: the mean loss is log V (inventory, appendix D)."""
    batch = find_objective(name).batch(plain_rows(3, 12), generator(3))
    (target,) = batch.targets
    rows, positions = target.loss_mask.nonzero(as_tuple=True)
    targets = target.labels[rows, positions] % size
    answer = Answer(target, rows, positions, torch.zeros(len(rows), size), targets)
    total, terms = total_loss([answer])
    assert total.item() == pytest.approx(log(size), rel=1e-6)
    assert total.exp().item() == pytest.approx(size, rel=1e-5)
    assert terms == {target.name: total}


def test_a_model_that_knows_nothing_pays_the_logarithm_of_its_choices_everywhere():
    """Yes or no costs log 2, one of three log 3, the right word against five wrong ones six times log 2."""
    detected = find_objective("RTD").batch(plain_rows(2, 12), generator(4)).targets[0]
    assert answered(detected, torch.zeros(24, 1)).mean().item() == pytest.approx(log(2))
    three = story("sentence structure").batch.targets[0]
    assert answered(three, torch.zeros(1, 3)).mean().item() == pytest.approx(log(3))
    near = find_objective("skip-gram NS").batch(plain_rows(2, 40), generator(5)).targets[0]
    wrong = near.kind.negatives[near.loss_mask]
    each = (1 + (wrong >= 0).sum(1)) * log(2)
    losses = answered(near, torch.zeros(len(wrong), 1 + wrong.shape[1])).losses()
    assert torch.allclose(losses.double(), each.double(), atol=1e-5)
    assert torch.allclose(losses, -logsigmoid(torch.zeros(())) * (1 + (wrong >= 0).sum(1)), atol=1e-5)
