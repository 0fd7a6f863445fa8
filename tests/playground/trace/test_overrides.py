"""The mask by hand: what is painted is what training sees, and the leak check answers at once."""

import pytest
import torch

from playground import leaks
from playground.errors import UserError
from playground.objectives import objectives
from playground.trace import frames
from playground.trace.overrides import painted, repainted
from tests.texts import story

TEXT = "We met . Rosa baked the bread . Then her brother sold it ."


def made(name):
    return story(name, TEXT)


@pytest.mark.parametrize("name", objectives())
def test_every_cell_of_every_matrix_can_be_turned_over_and_back(name):
    batch = made(name).batch
    for matrix, cells in frames.attention_mask(batch).items():
        i, j = len(cells) - 1, len(cells[0]) // 2
        turned = painted(batch, {matrix: [(i, j, not cells[i][j])]})
        assert frames.attention_mask(turned)[matrix][i][j] == 1 - cells[i][j]
        assert {k: v for k, v in frames.attention_mask(turned).items() if k != matrix} == {
            k: v for k, v in frames.attention_mask(batch).items() if k != matrix
        }
        back = painted(turned, {matrix: [(i, j, bool(cells[i][j]))]})
        assert frames.attention_mask(back) == frames.attention_mask(batch)
        assert leaks.check(back) == leaks.check(batch)


def test_closing_keeps_the_levels_and_opening_needs_a_matrix_of_its_own():
    seen = made("LM").batch.inputs.attn_mask
    closed = painted(made("LM").batch, {"encoder": [(3, 1, False)]}).inputs.attn_mask
    assert torch.equal(closed.key_level, seen.key_level) and closed.form == "levels"
    assert not closed.dense()[0, 3, 1]
    opened = painted(made("LM").batch, {"encoder": [(1, 3, True)]}).inputs.attn_mask
    assert opened.dense()[0, 1, 3] and not opened.key_level.any()
    assert int((opened.dense() != seen.dense()).sum()) == 1


def test_a_cell_over_the_diagonal_is_a_leak_with_its_path_and_closing_it_is_the_repair():
    batch = made("LM").batch
    assert not leaks.check(batch).leak
    leaking = leaks.check(painted(batch, {"encoder": [(2, 4, True)]}))
    assert leaking.leak and leaking.leaking == (2, 3)
    assert [position.position for position in leaking.path][-1] == leaking.leaking[0]
    assert not leaks.check(painted(batch, {"encoder": [(2, 4, True), (2, 4, False)]})).leak


def test_a_rebuilt_text_shows_the_paint_from_the_frame_that_draws_matrices():
    plain = made("PLM")
    leaky = repainted(plain, {"query": [(2, 2, True)]})
    assert [f["name"] for f in leaky.record()["frames"]] == [f["name"] for f in plain.record()["frames"]]
    assert frames.attention_mask(leaky.batch)["query"][2][2] == 1
    assert leaky.steps[0].batch is plain.steps[0].batch


@pytest.mark.parametrize(
    ("cells", "named"), [({"nope": [(0, 0, True)]}, "'nope'"), ({"encoder": [(0, 99, True)]}, "1.100")]
)
def test_what_is_not_there_cannot_be_painted(cells, named):
    with pytest.raises(UserError, match=named):
        painted(made("MLM").batch, cells)
