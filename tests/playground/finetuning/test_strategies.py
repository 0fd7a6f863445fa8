"""Strategies against their papers in plain PyTorch: losses, gradients and the weights after a few steps.

All in float64, because Adam amplifies the differences of rounding in float32.
"""

from collections import Counter
from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from torch.nn import functional

from playground.errors import UserError
from playground.finetuning import find_strategy, find_task
from playground.finetuning.comparing.budget_matching import cost
from playground.finetuning.data.input_format import format_for
from playground.finetuning.run.base import Base
from playground.finetuning.run.record import key
from playground.finetuning.run.trainer import FinetuneConfig, Finetuner, numbered, order
from playground.finetuning.run.tune import tune
from playground.finetuning.strategy.compose import difference
from playground.finetuning.strategy.multitask import SampledTasks
from playground.finetuning.strategy.plasticity import LayerDecay
from playground.finetuning.strategy.task_losses import FreeLB, Mixout, RDrop
from playground.models.adapters import PfeifferAdapter, attach
from playground.models.dropout import dropping
from playground.rng import generator
from playground.tokenizing import of_words
from playground.training.train_state import TrainState
from playground.zoo.recipe import BETAS
from tests.runs import base_of, learner_of, reviews, tiny

SETTING = FinetuneConfig(steps=6, batch_size=4)
STEPS = 4
ENTRIES = pytest.mark.parametrize("entry", ["RoBERTa", "GPT-2", "BART", "ELMo"])


@pytest.fixture(autouse=True)
def _exactly():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def begun(name, base=None, setting=SETTING, seed=0):
    base = base or base_of()
    texts = find_task("sentiment").load(base.words, 24, 0, "train")
    return Finetuner(base, find_strategy(name), numbered(texts, base), setting, seed)


class Twin:
    """A copy of the model and the head of a run, and an AdamW of its own, that go their own way."""

    def __init__(self, run):
        self.run, self.model, self.head = run, deepcopy(run.model), deepcopy(run.head)
        used = set(run.named)
        self.body = [p.requires_grad_() for n, p in self.model.named_parameters() if n in used]
        self.optimiser = torch.optim.AdamW(
            [*self.body, *self.head.parameters()], run.strategy.rate, betas=BETAS, weight_decay=0.01
        )

    def batch(self, step):
        return self.run.train.pick(order(len(self.run.train.labels), SETTING.batch_size, self.run.seed, step))

    def scores(self, batch, levels=None):
        return self.head(dict(enumerate(levels or self.model.hidden_states(batch.tokens))), batch)

    def step(self):
        self.optimiser.step()
        self.optimiser.zero_grad()

    def check(self):
        """Whether the run has the same weights."""
        own = [*self.run.named.values(), *self.run.head.parameters()]
        for one, other in zip(own, [*self.body, *self.head.parameters()], strict=True):
            assert torch.allclose(one, other, atol=1e-9, rtol=0)


# R-Drop


def r_drop(one, other, labels, alpha):
    """The loss of arXiv:2106.14448 with the mean of both cross-entropies."""
    p, q = one.softmax(-1), other.softmax(-1)
    both = (p * (p / q).log()).sum(-1) + (q * (q / p).log()).sum(-1)
    row = torch.arange(len(labels))
    plain = -(p[row, labels].log() + q[row, labels].log()) / 2
    return (plain + alpha * both / 2).mean()


@ENTRIES
def test_r_drop_learns_as_a_model_with_dropout_of_its_own_does_in_two_passes(entry):
    run = begun("R-Drop(alpha=2, dropout=0.3)", base_of(entry))
    twin = Twin(run)
    dropping_itself = learner_of(entry, model={"dropout": 0.3}).model
    dropping_itself.load_state_dict(twin.model.state_dict())
    twin = Twin(run)
    twin.model, named = dropping_itself, dict(dropping_itself.named_parameters())
    twin.body = [named[name] for name in run.named]
    twin.optimiser.param_groups[0]["params"] = [*twin.body, *twin.head.parameters()]
    for step in range(STEPS):
        batch = twin.batch(step)
        with dropping(twin.model, generator(0, "R-Drop", step)):
            one, other = twin.scores(batch), twin.scores(batch)
        assert not torch.allclose(one, other), "two passes drop other numbers"
        r_drop(one, other, batch.labels, 2.0).backward()
        twin.step()
        said = run.learn(step)
        assert said == pytest.approx(float(functional.cross_entropy(one, batch.labels).detach()))
    twin.check()


def test_r_drop_leaves_a_model_as_it_was_and_reads_without_dropout_afterwards():
    run = begun("R-Drop")
    before, batch = run.score(run.train), run.train.pick(torch.arange(4))
    run.strategy.task_loss.take(run, 0, batch)
    assert torch.equal(run.score(run.train), before)
    assert [*run.model.state_dict()] == [*base_of().learner.model.state_dict()]


def test_a_span_has_a_distribution_over_positions_for_each_of_its_ends():
    answer = find_task("question answering").answer
    scores, labels = torch.randn(3, 5, 2, generator=torch.Generator().manual_seed(0)), torch.tensor([[0, 1]] * 3)
    each = answer.log_probabilities(scores, labels)
    assert torch.allclose(each.exp().sum(1), torch.ones(6))  # first and last position of each of 3 texts
    starts, ends = scores[..., 0].log_softmax(1), scores[..., 1].log_softmax(1)
    assert torch.allclose(each, torch.stack([starts, ends], dim=1).flatten(0, 1))
    chosen = torch.stack([starts[:, 0], ends[:, 1]])
    assert torch.allclose(answer.loss(scores, labels), -chosen.mean())


# FreeLB


def first_move(embedded, lengths, size, rng):
    """Uniform between -1 and 1, times the size, divided by the root of the number of real values in a row."""
    noise = torch.rand(embedded.shape, generator=rng) * 2 - 1
    for row, length in enumerate(lengths.tolist()):
        noise[row, length:] = 0.0
        noise[row] *= size / (length * embedded.shape[-1]) ** 0.5
    return noise


@ENTRIES
@pytest.mark.parametrize(("most", "size"), [(0.2, 0.15), (0.0, 0.0)])
def test_freelb_is_the_loop_of_its_released_code(entry, most, size):
    """Gradients add up over the passes, a third of each; the move climbs and stays in the ball."""
    run = begun(f"FreeLB(adv_steps=3, adv_lr=0.15, adv_init_mag={size}, adv_max_norm={most})", base_of(entry))
    twin, bound, first = Twin(run), 0, 0.0
    for step in range(STEPS):
        batch = twin.batch(step)
        top = twin.model.top_hidden_state
        start = twin.model.hidden_states(batch.tokens, last=0)[0].detach()
        delta = first_move(start, batch.tokens.lengths, size, generator(0, "FreeLB", step))
        for number in range(3):
            delta.requires_grad_()
            embedded = twin.model.hidden_states(batch.tokens, last=0)[0] + delta
            scores = twin.scores(batch, twin.model.hidden_states(batch.tokens, embedded, 0, top))
            loss = functional.cross_entropy(scores, batch.labels)
            first = float(loss.detach()) if number == 0 else first
            (loss / 3).backward()
            if number == 2:
                break
            slope = delta.grad.clone()
            norms = slope.view(len(slope), -1).norm(dim=1).clamp(min=1e-8).view(-1, 1, 1)
            delta = (delta + 0.15 * slope / norms).detach()
            lengths = delta.view(len(delta), -1).norm(dim=1)
            for row in range(len(delta)):
                if most and lengths[row] > most:
                    delta[row] *= most / lengths[row]
                    bound += 1
        twin.step()
        assert run.learn(step) == pytest.approx(first)
    twin.check()
    assert bool(bound) == bool(most), "the ball is met only where there is one"


def test_freelb_climbs():
    """Each pass on the way is harder than the one before, and padding is not moved in the first."""
    run = begun("full")
    batch, move = run.train, FreeLB(adv_init_mag=0.0, adv_lr=0.05, adv_max_norm=0.0)
    embedded, losses = run.embed(batch), []
    delta = move.start(embedded, batch, generator(0))
    assert float(delta.abs().max()) == 0.0
    for _ in range(3):
        delta = delta.detach().requires_grad_()
        losses.append(batch.answer.loss(run.score(batch, embedded.detach() + delta), batch.labels))
        delta = move.moved(delta, torch.autograd.grad(losses[-1], [delta])[0])
    assert losses[0] < losses[1] < losses[2]
    start = FreeLB(adv_init_mag=0.3).start(embedded, batch, generator(0))
    assert not bool(start[~batch.tokens.valid].any())
    assert float(start.flatten(1).norm(dim=1).max()) < 0.3


# mixout


@pytest.mark.parametrize("entry", ["RoBERTa", "GPT-2", "BART"])
def test_mixout_learns_as_linear_layers_with_mixed_weights_do(entry):
    run = begun("mixout(p=0.6)", base_of(entry))
    twin, step = Twin(run), 0
    start = {n: p.detach().clone() for n, p in run.base.learner.model.named_parameters()}

    def forward(module, name):
        def linear(x):
            mask = torch.rand(module.weight.shape[1], generator=generator(0, "mixout", step, name)) < 0.6
            mask, old = mask.double(), start[name]
            mixed = (mask * old + (1 - mask) * module.weight - 0.6 * old) / (1 - 0.6)
            return functional.linear(x, mixed, module.bias)

        return linear

    layers = [
        (name, module) for name, module in twin.model.named_modules() if isinstance(module, torch.nn.Linear)
        and f"{name}.weight" in run.named
    ]  # fmt: skip
    assert len(layers) == 6, "query, key, value, output and two of the MLP"
    for step in range(STEPS):
        batch = twin.batch(step)
        for name, module in layers:
            module.forward = forward(module, f"{name}.weight")
        loss = functional.cross_entropy(twin.scores(batch), batch.labels)
        loss.backward()
        twin.step()
        assert run.learn(step) == pytest.approx(float(loss.detach()))
    twin.check()


def test_the_weights_out_of_a_unit_are_one_of_two_and_their_expected_value_is_the_weight():
    run = begun("mixout(p=0.75)")
    for step in range(2):
        run.learn(step)
    old, seen = dict(run.base.learner.model.named_parameters()), Counter()
    mixes = [run.strategy.task_loss.mixed(run, step) for step in range(2, 40)]
    assert set(mixes[0]) == {n for n, p in run.named.items() if ".blocks." in n and p.dim() == 2}
    for name, now in run.named.items():
        for mixed in [mix[name] for mix in mixes if name in mix]:
            moved = (now - 0.75 * old[name]) / (1 - 0.75)
            is_old, is_new = torch.isclose(mixed, old[name]), torch.isclose(mixed, moved)
            assert bool((is_old.all(0) | is_new.all(0)).all()), "all weights out of a unit together"
            seen.update({"old": int((is_old & ~is_new).sum()), "new": int((is_new & ~is_old).sum())})
            assert torch.allclose(0.75 * old[name] + 0.25 * moved, now), "so the mean is the weight"
    assert seen["old"] / seen.total() == pytest.approx(0.75, abs=0.03)


def test_mixout_mixes_what_learns_alone_and_what_reads_the_unseen_texts_is_not_mixed():
    gradual = begun("mixout + gradual unfreezing", base_of(layers=2))
    sizes = []
    for step in range(6):
        gradual.learn(step)
        sizes.append(len(gradual.strategy.task_loss.mixed(gradual, step)))
    assert sizes == [0, 0, 6, 12, 12, 12], "the head, then a layer, then the other, then the embeddings"
    run = begun("mixout")
    run.learn(0)
    plain = run.head(dict(enumerate(run.model.hidden_states(run.train.tokens))), run.train)
    assert torch.equal(run.score(run.train), plain)


def test_mixout_reaches_the_weights_of_recurrent_layers():
    run = begun("mixout(p=0.9)", base_of("ELMo"))
    run.learn(0)
    mixed = run.strategy.task_loss.mixed(run, 1)
    assert {name.rsplit(".", 1)[1] for name in mixed} == {"weight_ih_l0", "weight_hh_l0"}, "no part of the embeddings"
    scores, _ = run.strategy.task_loss.take(run, 1, run.train)
    by_hand = deepcopy(run.model)
    by_hand.load_state_dict(mixed, strict=False)
    known = dict(enumerate(by_hand.hidden_states(run.train.tokens)))
    assert torch.allclose(scores, run.head(known, run.train))
    assert not torch.allclose(scores, run.score(run.train))


# Pfeiffer adapters


@pytest.mark.parametrize(
    ("entry", "first"), [("RoBERTa", False), ("RoBERTa", True), ("GPT-2", True), ("ALBERT", False)]
)
def test_a_pfeiffer_adapter_stands_after_the_mlp_between_two_norms(entry, first):
    """Post-norm: LN(x + f + U ReLU(D LN(x + f))); pre-norm: x + f + U ReLU(D (x + f)) (arXiv:2005.00052)."""
    learner = learner_of(entry, model={"layers": 2, "norm_first": first})
    model, tokens = learner.model, find_task("sentiment").load(reviews().tokenizer, 6, 0, "train").tokens
    attached = attach(PfeifferAdapter(bottleneck_size=3), model, generator(1))
    with torch.no_grad():
        for p in attached.modules.parameters():
            p.copy_(torch.randn(p.shape, generator=generator(2, tuple(p.shape))))
    calls, stack = [], model.network.encoder
    hooks = [block.register_forward_pre_hook(lambda _, args: calls.append(args)) for block in stack.layers]
    levels = model.hidden_states(tokens)
    for hook in hooks:
        hook.remove()
    attached.detach()
    modules = [*attached.modules] * (2 // len(attached.modules))
    for number, (block, module, (x, allowed, positions)) in enumerate(zip(stack.layers, modules, calls, strict=True)):
        down, up = module.down_proj, module.up_proj

        def small(h, down=down, up=up):
            return (h @ down.weight.T + down.bias).clamp(min=0) @ up.weight.T + up.bias

        seen = block.ln_1(x) if first else x
        after = x + block.attn(seen, seen, allowed, positions)
        if first:
            total = after + block.mlp(block.ln_2(after))
            right = total + small(total)
        else:
            after = block.ln_1(after)
            total = after + block.mlp(after)
            right = block.ln_2(total + small(block.ln_2(total)))
        assert torch.allclose(levels[number + 1], right)
    assert not torch.allclose(model.hidden_states(tokens)[-1], levels[-1]), "and it is gone when detached"


def test_pfeiffer_adapters_are_one_bottleneck_a_layer_and_refused_where_layers_share_no_end():
    modules = begun("Pfeiffer(bottleneck_size=5)", base_of(layers=2)).attached[0].modules
    assert sum(p.numel() for p in modules.parameters()) == 2 * (2 * 16 * 5 + 5 + 16)
    with pytest.raises(UserError, match=r"norm_first=yes, layer_sharing=all"):
        attach(PfeifferAdapter(), learner_of("ALBERT", model={"norm_first": True}).model, generator(0))


# layer-wise learning rate decay


def test_layer_decay_is_that_of_electras_code():
    """`learning_rate * layer_decay ** (n_layers + 2 - depth)`: depth 0 embeddings, k layer k, n + 2 the task's head."""
    groups = ("embeddings", *(f"encoder layer {k + 1}" for k in range(12)), "task head")
    plan = LayerDecay()(groups, 2)
    depths = [*range(13), 14]
    assert plan[:, 0].tolist() == pytest.approx([0.8 ** (12 + 2 - depth) for depth in depths])
    assert torch.equal(plan[:, 0], plan[:, 1])
    both = [row for group in groups[:-1] for row in (group, f"{group} biases")]
    apart = LayerDecay()((*both, "task head"), 2)
    assert torch.equal(apart[0:-1:2], plan[:-1]) and torch.equal(apart[1:-1:2], plan[:-1]), "biases as their layer"


def test_layer_decay_and_discriminative_rates_are_two_plans():
    assert find_strategy("LLRD").name == "layer-wise learning rate decay"
    said = difference(find_strategy("LLRD"), find_strategy("discriminative"))
    assert "differ in one thing; what learns when: every layer learns at a fixed share of the rate" in said


# temperature sampling


def test_mixing_rates_are_those_of_t5():
    """arXiv:1910.10683, sec. 3.5.2: min(e, K) / sum, to the power 1 / T, normalised again."""
    sizes = (64, 512, 4000)
    for temperature in (1.0, 2.0, 8.0):
        capped = [min(size, 1000) for size in sizes]
        rates = [(size / sum(capped)) ** (1 / temperature) for size in capped]
        right = [rate / sum(rates) for rate in rates]
        assert SampledTasks(temperature=temperature, maximum=1000).mixing_rates(sizes).tolist() == pytest.approx(right)
    assert SampledTasks(temperature=1000.0).mixing_rates(sizes).tolist() == pytest.approx([1 / 3] * 3, abs=2e-3)


def test_tasks_are_drawn_by_their_rates_and_by_the_seed():
    setting = FinetuneConfig(steps=4000, batch_size=4)
    run, other = (begun("temperature sampling", setting=setting, seed=seed) for seed in (0, 1))
    term = run.strategy.others
    drawn = term.drawn(run)
    assert torch.equal(drawn, term.drawn(run)) and not torch.equal(drawn, term.drawn(other))
    sizes = [24, *(len(task.texts.labels) for task in run.others)]
    assert len(sizes) == 4 and set(sizes[1:]) == {128}
    said = run.strategy.notices(run.base, run.train, run.train, run.input_format)
    assert (
        said[-1]
        == "temperature sampling: The task itself is learned in about 13% of the steps, other tasks in the rest."
    )
    shares = drawn.bincount(minlength=4) / 4000
    assert shares.tolist() == pytest.approx(term.mixing_rates(sizes).tolist(), abs=0.02)


def test_each_step_learns_the_drawn_task_alone():
    run = begun("temperature sampling(temperature=1000)", setting=FinetuneConfig(steps=12, batch_size=4))
    twin, others = Twin(run), [deepcopy(other.head) for other in run.others]
    twin.optimiser.add_param_group({"params": [p.requires_grad_() for head in others for p in head.parameters()]})
    drawn, turns = run.strategy.others.drawn(run).tolist(), Counter()
    assert set(drawn) == {0, 1, 2, 3}
    for step, task in enumerate(drawn):
        if task:
            texts = run.others[task - 1].texts
            batch = texts.pick(order(len(texts.labels), 4, 0, turns[task]))
            scores = others[task - 1](dict(enumerate(twin.model.hidden_states(batch.tokens))), batch)
        else:
            batch = twin.batch(step)
            scores = twin.scores(batch)
        turns[task] += 1
        batch.answer.loss(scores, batch.labels).backward()
        twin.step()
        run.learn(step)
    twin.check()
    for one, other in zip(others, run.others, strict=True):
        assert all(map(torch.allclose, one.parameters(), other.head.parameters()))


# with other strategies, other tasks and other costs


@pytest.mark.parametrize(
    "name",
    [
        "R-Drop + LoRA", "R-Drop + feature-based", "R-Drop + further pre-training", "R-Drop + self-distillation",
        "FreeLB + gradual unfreezing", "FreeLB + adapters", "FreeLB + EWC", "FreeLB + multi-task", "mixout + LLRD",
        "mixout + L2-SP", "mixout + replay", "mixout + self-ensemble", "Pfeiffer + Houlsby + LoRA", "Pfeiffer + R-Drop",
        "temperature sampling + Pfeiffer", "temperature sampling + R-Drop", "LLRD + slanted triangular rates",
    ],
)  # fmt: skip
def test_what_goes_together_runs_and_the_same_seed_gives_the_same_run(name):
    base, task = base_of(layers=2), find_task("sentiment")
    train, test = (task.load(base.words, 24, 0, split) for split in ("train", "test"))
    events = [[*tune(base, find_strategy(name), train, test, SETTING, seed)] for seed in (0, 0, 1)]
    losses = [[event.loss for event in some[:-1]] for some in events]
    assert losses[0] == losses[1] != losses[2]
    assert events[0][-1].moved == events[1][-1].moved


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("R-Drop + FreeLB", r"they take the task's loss by R-Drop \(alpha 1, dropout 0.1\) and FreeLB"),
        ("R-Drop + R-Drop(alpha=2)", "they take the task's loss by"),
        ("mixout + feature-based", "mixout acts on the pre-trained matrices of the layers, which are all frozen"),
        ("mixout + LoRA", "mixout acts on the pre-trained matrices of the layers, which are all frozen"),
        ("mixout + BitFit", "mixout acts on the pre-trained matrices of the layers, which are all frozen"),
        ("mixout + random start", "mixout holds on to pre-trained weights, and the model starts from new ones"),
        ("multi-task + temperature sampling", "both bring 'other tasks'"),
        ("R-Drop(alpha=11)", "alpha is 11.0; it must lie between 0.0 and 10.0"),
        ("mixout(p=1)", "p is 1.0; it must lie between 0.0 and 0.95"),
        ("FreeLB(adv_step=2)", "has no knob 'adv_step'; its knobs are: adv_steps, adv_lr, adv_init_mag, adv_max_norm"),
    ],
)
def test_what_does_not_go_together_is_refused(name, said):
    with pytest.raises(UserError, match=said):
        find_strategy(name)


FORMS = (
    "entailment",
    "story ending",
    "question answering",
    "part of speech",
    "word in context",
    "aspect",
    "similarity",
)


@pytest.mark.parametrize("task", [*FORMS, "text to text", "summary"])
@pytest.mark.parametrize("name", ["R-Drop", "FreeLB", "mixout"])
def test_every_form_of_answer_is_learnt_or_refused(name, task):
    asked, written = find_task(task), task in ("text to text", "summary")
    known = [word for item in asked.items(24, 0, "train") for word in (*item.words, *(item.right if written else ()))]
    learner = TrainState.new(tiny("BART" if written else "RoBERTa"), of_words(known).words, 0, torch.device("cpu"))
    texts = asked.load(of_words(known), 24, 0, "train", format_for(learner.model.shape))
    strategy = find_strategy(name)
    if (name, task) == ("R-Drop", "similarity"):
        with pytest.raises(UserError, match="compares probabilities of answers, and the task 'similarity' asks for a"):
            strategy.check(learner, asked)
        return
    strategy.check(learner, asked)
    base = Base(learner, texts.tokens, tokenizer=of_words(known), task=asked)
    run = Finetuner(base, strategy, numbered(texts, base), SETTING, 0)
    run._set_rates(0)
    scores, loss = run.strategy.task_loss.take(run, 0, run.train.pick(torch.arange(4)))
    loss.backward()
    assert bool(scores.isfinite().all()) and bool(loss.isfinite())
    assert all(bool(p.grad.isfinite().all()) for p in run.every if p.grad is not None)
    assert any(bool(p.grad.any()) for p in run.every if p.grad is not None)


@pytest.mark.parametrize("name", ["R-Drop", "mixout"])
def test_a_model_without_layers_is_refused(name):
    with pytest.raises(UserError, match=f"{name} changes what the layers .* word2vec has no layers"):
        find_strategy(name).check(learner_of("word2vec"), find_task("sentiment"))


def test_each_pass_is_priced():
    base = base_of()
    texts = find_task("sentiment").load(base.words, 24, 0, "train")
    plain = cost(base, find_strategy("full"), texts, SETTING)
    for name, passes in (("R-Drop", 2), ("FreeLB", 3), ("FreeLB(adv_steps=5)", 5), ("mixout", 1), ("LLRD", 1)):
        got = cost(base, find_strategy(name), texts, SETTING)
        assert (got.tokens / plain.tokens, got.flops / plain.flops) == (pytest.approx(passes), pytest.approx(passes))
    assert cost(base, find_strategy("temperature sampling"), texts, SETTING).tokens == pytest.approx(plain.tokens)


@pytest.mark.parametrize("name", ["further pre-training", "intermediate task", "multi-task(single_task_fraction=0.5)"])
def test_while_the_task_waits_its_texts_are_not_priced(name):
    strategy, full = find_strategy(name), find_strategy("full")
    setting = FinetuneConfig(steps=12, batch_size=4)
    train = find_task("sentiment").load(reviews().tokenizer, 24, 0, "train")
    one, other = (cost(base_of(), s, train, setting).tokens for s in (strategy, full))
    read = strategy.waits(12) if strategy.name == "further pre-training" else strategy.others.reading(12)
    assert one == pytest.approx(other * (12 - strategy.waits(12) + read) / 12)


def test_every_knob_of_the_tasks_loss_is_part_of_a_trials_name():
    written = ["full", "R-Drop", "R-Drop(alpha=2)", "R-Drop(dropout=0.2)", "FreeLB", "FreeLB(adv_lr=0.2)", "mixout"]
    assert len({key(find_strategy(name), 0, 24, SETTING, "") for name in written}) == len(written)


def test_what_sets_the_losses_apart_is_said():
    said = difference(find_strategy("full"), find_strategy("mixout"))
    assert said == "full and mixout differ in one thing; the task's own loss: the plain one vs. mixout (p 0.7)."
    assert replace(find_strategy("full"), task_loss=RDrop()).task_loss != Mixout()
