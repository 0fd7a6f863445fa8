"""Each released layout is read and written again: scores as in transformers to 1e-4, weights equal to the bit."""

from functools import partial

import pytest
import torch
import transformers as hf

from playground.corpora import open_corpus, sources
from playground.errors import NoHead
from playground.interop import export, open_folder
from playground.interop.family import families
from playground.interop.run import save_run
from playground.training import checkpoint
from tests.playground.interop.forms import SIZE, cells, our_scores, our_states, text
from tests.playground.interop.released import ENCODERS, RELEASED
from tests.playground.interop.test_families import CLOSE, difference, extras, loaded, their_scores

EVERY = RELEASED | ENCODERS


@pytest.mark.parametrize("name", EVERY)
def test_a_released_layout_is_read_and_written_again(name, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "open_corpus", partial(open_corpus, tokens=6_000))
    theirs = EVERY[name].write(tmp_path / "released")
    opened = open_folder(tmp_path / "released")
    saved = checkpoint.load(save_run(opened, tmp_path / "run")[0])
    export(saved.learner, saved.tokenizer, tmp_path / "again", opened.family.name)
    again = loaded(tmp_path / "again")
    (ids, lengths), shape, states = text(SIZE, 39), opened.model.shape, name in ENCODERS
    assert shape.lm_head is not (states or shape.rtd_head)
    if shape.lm_head:
        assert saved.learner.evaluate(saved.corpus.held_out)
    else:
        with pytest.raises(NoHead, match="no head that scores words"):
            saved.learner.evaluate(saved.corpus.held_out)
    for masked in (False, True) if opened.family.name != "XLM" else (False,):
        more, mask = extras(shape, ids), cells(ids) if masked else None
        ours = (our_states if states else our_scores)(opened.model, ids, lengths, mask, **more)
        for other in (theirs, again):
            scores = their_scores(other, ids, lengths, mask, other.config.pad_token_id or 0, **more)
            assert scores.abs().max() > 0.1
            assert difference(ours, scores, lengths, more["written"]) < CLOSE
    before, after = theirs.state_dict(), again.state_dict()
    assert before.keys() == after.keys()
    for key, weight in before.items():
        rows = (
            shape.max_position_embeddings if "position" in key else len(weight)
        )  # those before the first are not read
        assert "pooler" in key or torch.equal(weight[-rows:], after[key][-rows:]), key


READ = ("pad_token_id", "eos_token_id", "decoder_start_token_id", "vocab_size", "tie_word_embeddings")
"""What is read of every config.json besides."""


@pytest.mark.parametrize("name", families())
def test_a_missing_key_means_what_it_means_in_transformers(name):
    family = families()[name]
    alone, whole = family.completed({}), family.completed(hf.CONFIG_MAPPING[family.model_type]().to_dict())
    assert alone == {key: whole[key] for key in alone}
    read = {setting.key for setting in family.settings} | {*family.fixed, *READ}
    assert read <= alone.keys()
