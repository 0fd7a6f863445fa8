"""What every compression method of the catalogue owes: a card, an identity, an honest file, the same result twice."""

import re

import pytest
import torch

from playground.compression import FAMILIES, Pipeline, find_method, methods, read_pipeline
from playground.compression.classifier import score_all
from playground.compression.grids import top_code
from playground.compression.meters import size
from playground.compression.method import Compressed
from playground.compression.storage import load, pack, save
from playground.errors import UserError
from playground.knob import spelt
from tests.compressing import NAMES, compressed, data, of_kind, quick, same, state, teacher
from tests.runs import each_kind

HEADER = 9_000
"""Bytes that names and sizes of tensors may take in a file."""

every_method = pytest.mark.parametrize("name", NAMES)
WITH_IDENTITY = [name for name in NAMES if methods()[name].identity]
ROUNDING = [name for name in NAMES if methods()[name].family == "quantization"]
OTHERS = [name for name in NAMES if name not in ROUNDING]


@every_method
def test_the_card_is_filled_in(name):
    method = methods()[name]
    assert re.fullmatch(r"[A-Z].{20,}\.", method.idea)
    assert re.search(r"arXiv:\d{4}\.\d{5}", method.source)
    assert method.family in FAMILIES
    assert method.rows
    assert all(knob.why for knob in method.knobs)
    assert method.turn({knob.name: knob.default for knob in method.knobs}) == method


def test_names_and_aliases_are_unique_and_every_family_has_members():
    spoken = [n.lower() for m in methods().values() for n in (m.name, *m.aliases)]
    assert len(spoken) == len(set(spoken))
    assert {method.family for method in methods().values()} == set(FAMILIES)


@every_method
def test_it_is_found_by_every_name_and_read_as_it_is_written(name):
    for spoken in (name, name.upper(), *methods()[name].aliases):
        assert find_method(spoken) is methods()[name]
    turned = quick(name)
    assert read_pipeline(turned.name) == turned


@pytest.mark.parametrize("name", WITH_IDENTITY)
def test_at_its_identity_it_changes_nothing_bit_for_bit(name):
    known, whole = data(), teacher()
    _, identity = spelt(f"{name}({methods()[name].identity})")
    made = Pipeline((quick(name).methods[0].turn(identity),)).apply(whole, known)
    assert same(state(made.classifier), state(whole))
    assert torch.equal(score_all(made.classifier, known.test), score_all(whole, known.test))


@every_method
def test_the_teacher_stays_as_it_is_and_the_same_seed_gives_the_same_result(name):
    before, first = state(teacher()), state(compressed(name).classifier)
    again = quick(name).apply(teacher(), data())
    assert same(state(teacher()), before)
    assert same(state(again.classifier), first)
    assert not same(first, before)


@every_method
def test_the_meters_count_what_torch_counts_and_the_file_holds_nothing_else(name):
    made = compressed(name)
    found = size(made)
    assert found.parameters == sum(p.numel() for p in made.classifier.parameters())
    assert 0 <= found.file - _bytes(made) < HEADER


def _bytes(made):
    """What the tensors of a model need: 4 bytes a number, or the bits of a grid with a scale for each group."""
    total = 0
    for name, value in made.classifier.state_dict().items():
        grid = made.grids.get(name)
        total += 4 * value.numel() if grid is None else -(-value.numel() * grid.bits // 8) + 4 * len(grid.scales)
    return total


@every_method
def test_a_saved_model_comes_back_bit_for_bit(name, tmp_path):
    made, known = compressed(name), data()
    save(tmp_path, made, known.base.words)
    back = load(tmp_path, known.task)
    assert same(state(back.classifier), state(made.classifier))
    assert torch.equal(score_all(back.classifier, known.test), score_all(made.classifier, known.test))
    assert back.methods == made.methods
    assert size(back) == size(made)


@every_method
def test_it_is_smaller_or_says_why_not(name):
    """Zeros cost as much as numbers unless they are left out, and exits are heads that come on top."""
    whole, made = size(Compressed.whole(teacher())), size(compressed(name))
    if name in ("pruning", "movement pruning", "early exit"):
        assert made.parameters >= whole.parameters
        assert made.nonzero < whole.nonzero or name == "early exit"
    else:
        assert made.file < whole.file


@pytest.mark.parametrize("name", OTHERS)
def test_int8_can_follow_and_a_quantised_weight_takes_only_values_of_its_grid(name):
    _on_their_grids(Pipeline((*quick(name).methods, find_method("int8"))).apply(teacher(), data()))


@pytest.mark.parametrize("name", ROUNDING)
@pytest.mark.parametrize("bits", [1, 3])
def test_every_matrix_is_on_a_grid_of_its_bits(name, bits):
    settings = {"bits": bits, "low": bits, "high": bits, "embedding_bits": bits, "activation_bits": 8}
    if name == "int8" and bits == 1:
        with pytest.raises(UserError, match="bits is 1"):
            quick(name, **settings)
        return
    made = quick(name, **settings).apply(teacher(), data())
    assert {grid.bits for grid in made.grids.values()} == {bits}
    _on_their_grids(made)


def _on_their_grids(made):
    assert made.grids
    for name, grid in made.grids.items():
        weight = made.classifier.get_parameter(name)
        assert torch.equal(weight, grid.weight)
        assert int(grid.codes.abs().max()) <= top_code(grid.bits)
        for part in weight.tensor_split(len(grid.scales)) if len(weight) % len(grid.scales) == 0 else [weight]:
            most = 2 if grid.bits == 1 else 2**grid.bits - 1
            assert len(part.unique()) <= most * (1 if len(weight) % len(grid.scales) == 0 else len(grid.scales))


@pytest.mark.parametrize("name", ["pruning", "movement pruning"])
def test_exact_zeros_stay_zeros_through_later_training(name):
    first = compressed(name)
    made = Pipeline((*quick(name).methods, *quick("neuron pruning(share=0)").methods)).apply(teacher(), data())
    assert made.zeros == first.zeros != frozenset()
    before, after = ({n: c.get_parameter(n) for n in first.zeros} for c in (first.classifier, made.classifier))
    assert all(bool((after[n][before[n] == 0] == 0).all()) for n in after)
    assert any(not torch.equal(before[n], after[n]) for n in after), "the rest must have learnt"


@pytest.mark.parametrize("later", ["Q8BERT", "movement pruning"])
def test_exact_zeros_stay_zeros_where_a_method_masks_or_rounds_matrices_as_it_trains(later):
    first = compressed("pruning")
    made = Pipeline((*quick("pruning").methods, *quick(later).methods)).apply(teacher(), data())
    for name in first.zeros:
        assert bool((made.classifier.get_parameter(name)[first.classifier.get_parameter(name) == 0] == 0).all()), name


@pytest.mark.parametrize("first", ["low rank", "head pruning", "neuron pruning", "layer dropping"])
@pytest.mark.parametrize(
    "second", [n for n in NAMES if not (methods()[n].from_base or methods()[n].family == "baseline")]
)
def test_a_model_with_cut_matrices_or_layers_is_compressed_again_or_refused_in_a_sentence(first, second, tmp_path):
    known = data()
    try:
        made = Pipeline((*quick(first).methods, *quick(second).methods)).apply(teacher(), known)
    except UserError:
        return
    save(tmp_path, made, known.base.words)
    back = load(tmp_path, known.task)
    assert torch.equal(score_all(back.classifier, known.test), score_all(made.classifier, known.test))


def test_low_rank_and_cut_neurons_go_with_shared_layers_and_factorised_embeddings():
    for line in ("low rank, layer sharing", "low rank, factorised embeddings", "neuron pruning, factorised embeddings"):
        assert size(quick(line).apply(teacher(), data())).parameters < size(compressed(line.split(",")[0])).parameters


@pytest.mark.parametrize("later", ["layer dropping(dropped=bottom)", "soft targets(start=last)"])
def test_the_zeros_of_a_layer_that_moves_stay_zeros(later):
    whole, known = compressed("pruning"), data()
    made = Pipeline((*quick("pruning").methods, *quick(later).methods)).apply(teacher(), known)
    moved, old = (f"model.network.encoder.blocks.{k}.mlp.fc1.weight" for k in (0, 1))
    assert made.layers == ((2,),)
    assert moved in made.zeros
    zero = whole.classifier.get_parameter(old) == 0
    assert bool((made.classifier.get_parameter(moved)[zero] == 0).all())


def test_zeros_cost_what_numbers_cost_unless_they_are_left_out():
    dense, sparse = (quick("pruning", sparsity=0.9, stored=how).apply(teacher(), data()) for how in ("dense", "sparse"))
    assert same(state(dense.classifier), state(sparse.classifier))
    assert size(dense).file > 4 * size(dense).parameters > 3 * size(sparse).file
    tensors, _ = pack(sparse)
    assert all(bool((value != 0).all()) for name, value in tensors.items() if name.endswith(".values"))


@pytest.mark.parametrize("second", ["layer dropping(layers=1)", "Theseus(layers=1)", "soft targets(layers=1)"])
def test_a_student_with_first_weights_can_be_made_smaller_again(second):
    made = Pipeline((*quick("PD", layers=2).methods, *quick(second, layers=1).methods)).apply(teacher(), data())
    assert made.classifier.model.shape.layers == 1
    assert made.layers == ()


@each_kind
@pytest.mark.parametrize("method", ["pruning", "int8", "head pruning", "factorised embeddings", "soft targets"])
def test_every_kind_of_model_is_compressed_and_saved_or_refused_in_a_sentence(name, method, tmp_path):
    known, whole = of_kind(name)
    if name in ("BART", "ELMo") and method in ("head pruning", "soft targets"):
        with pytest.raises(UserError, match="needs one stack of attention layers"):
            quick(method).apply(whole, known)
        return
    if name == "ELMo" and method == "factorised embeddings":
        with pytest.raises(UserError, match="this model makes word vectors of letters"):
            quick(method).apply(whole, known)
        return
    if known.base.learner.model.shape.embedding_size and method == "factorised embeddings":
        with pytest.raises(UserError, match="this model has narrow vectors already"):
            quick(method).apply(whole, known)
        return
    made = quick(method).apply(whole, known)
    save(tmp_path, made, known.base.words)
    back = load(tmp_path, known.task)
    assert torch.equal(score_all(back.classifier, known.test), score_all(made.classifier, known.test))
    assert size(made).file < size(Compressed.whole(whole)).file or method == "pruning"


def test_a_small_model_from_scratch_has_no_generator_as_the_models_it_is_held_against():
    known, whole = of_kind("ELECTRA")
    made = quick("small from scratch").apply(whole, known)
    assert made.classifier.model.shape.generator_ratio == 0
    assert not [name for name in made.classifier.state_dict() if "generator" in name]


@pytest.mark.parametrize("method", ["DistilBERT", "PD"])
def test_a_student_cannot_learn_the_pre_training_of_a_model_with_a_generator(method):
    known, whole = of_kind("ELECTRA")
    with pytest.raises(UserError, match="a student has none; distil the task alone"):
        quick(method).apply(whole, known)


def test_only_the_tables_of_the_network_are_factorised():
    """SpanBERT's boundary head has a table of positions too, as wide as the network."""
    known, whole = of_kind("SpanBERT")
    made = quick("factorised embeddings").apply(whole, known)
    assert made.classifier.model.sbo_head.position_embedding.weight.shape[1] == 16


def test_the_curvature_of_a_decoder_that_an_answer_does_not_read_is_0():
    known, whole = of_kind("BART")
    made = quick("mixed precision").apply(whole, known)
    assert {grid.bits for grid in made.grids.values()} == {2, 4, 8}


def test_quantization_comes_last_and_a_model_of_its_own_first():
    with pytest.raises(UserError, match="int8 comes before pruning"):
        read_pipeline("int8, pruning")
    with pytest.raises(UserError, match="DistilBERT does not start from the model of the method before"):
        read_pipeline("pruning, DistilBERT")
    with pytest.raises(UserError, match=r"no compression method named 'nope'; the nearest: [^,]+, [^,]+, [^,]+"):
        read_pipeline("nope")
    with pytest.raises(UserError, match="A method is missing in"):
        read_pipeline("int8,,")
