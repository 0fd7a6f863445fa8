"""Data collators of the transformers library on our stage: what is drawn is what they return, traps included."""

import subprocess
import sys

import pytest
import torch
import transformers as hf

from playground import leaks
from playground.batch import Action
from playground.errors import UserError
from playground.interop.tokenizer_file import wrapped
from playground.tokenizing import of_words
from playground.tokenizing.vocabulary import FIRST_WORD
from playground.trace.collators import collate
from widgets import notebook

TEXT = "the film was bad and the plot was good"
OURS = of_words(TEXT.split())


@pytest.fixture(scope="module")
def tokenizer():
    return wrapped(OURS)


@pytest.fixture(scope="module")
def bert():
    """A tokenizer that puts [CLS] and [SEP] around a text, as BERT's."""
    made = wrapped(OURS)
    template = {
        "single": "[CLS] $A [SEP]",
        "special_tokens": [("[CLS]", made.cls_token_id), ("[SEP]", made.sep_token_id)],
    }
    from tokenizers.processors import TemplateProcessing

    made.backend_tokenizer.post_processor = TemplateProcessing(**template)
    return made


def words(batch, ids):
    return [batch.tokens.vocabulary[k] for k in ids[0].tolist()]


def returned(collator, tokenizer, seed, text=TEXT, **more):
    """What the collator itself returns with the same seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return collator([dict(tokenizer(text)) | more])


def test_our_own_tokenizer_is_one_of_the_library(tokenizer):
    assert tokenizer(TEXT)["input_ids"] == OURS.encode(TEXT).ids
    assert (tokenizer.mask_token, tokenizer.pad_token) == ("[MASK]", "[PAD]")


# masking


@pytest.mark.parametrize("seed", range(6))
def test_a_masked_sentence_is_what_the_collator_returned(bert, seed):
    collator = hf.DataCollatorForLanguageModeling(bert, mlm_probability=0.5)
    made, theirs = collate(collator, TEXT, seed=seed).batch, returned(collator, bert, seed)
    strings = bert.convert_ids_to_tokens(theirs["input_ids"][0].tolist())
    [target] = made.targets
    assert words(made, made.inputs.ids) == strings and words(made, made.tokens.ids)[0] == "[CLS]"
    assert torch.equal(target.loss_mask, theirs["labels"] != -100)
    asked = bert.convert_ids_to_tokens(theirs["labels"][theirs["labels"] != -100].tolist())
    assert [made.tokens.vocabulary[k] for k in target.labels[target.loss_mask].tolist()] == asked
    for k, action in enumerate(made.actions[0].tolist()):
        changed = strings[k] != words(made, made.tokens.ids)[k]
        overrides = Action.KEPT if not target.loss_mask[0, k] else Action.SCORED_AS_IS
        assert action == (Action.MASKED if strings[k] == "[MASK]" else Action.RANDOMISED if changed else overrides)
    assert not target.loss_mask[0, [0, -1]].any(), "special tokens are never predicted"


def test_one_seed_draws_one_sentence_and_leaves_no_trace(tokenizer, monkeypatch):
    collator = hf.DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.5)
    state = torch.random.get_rng_state()
    monkeypatch.setattr(torch.cuda, "manual_seed_all", lambda seed: pytest.fail("the random numbers of devices change"))
    first, again, other = (collate(collator, TEXT, seed=seed).facts()["inputs"] for seed in (1, 1, 2))
    assert first == again != other
    assert torch.equal(state, torch.random.get_rng_state())


def test_the_vocabulary_holds_the_tokens_of_the_sentence_and_no_number_of_a_mask():
    """In this tokenizer the ids 0 and 1, which stand in an attention mask too, are ordinary words."""
    made = wrapped(OURS)
    rest = hf.PreTrainedTokenizerFast(tokenizer_object=made.backend_tokenizer)
    made = collate(lambda rows: _as_labels(rows, attention_mask=torch.ones(1, 9).long()), TEXT, tokenizer=rest).batch
    assert set(made.tokens.vocabulary[FIRST_WORD:]) == set(TEXT.split())
    assert made.inputs.valid.all()


def _as_labels(rows, **more):
    """A collator whose labels are its input."""
    ids = torch.tensor([rows[0]["input_ids"]])
    return {"input_ids": ids, "labels": ids} | more


def test_a_language_model_answers_one_position_before_its_label(tokenizer):
    """The collator's labels equal its input; the models of the library move them, so the picture does too."""
    made = collate(hf.DataCollatorForLanguageModeling(tokenizer, mlm=False), TEXT).batch
    [target] = made.targets
    assert words(made, target.labels)[:-1] == TEXT.split()[1:]
    assert target.loss_mask[0].tolist() == [True] * 8 + [False]
    assert torch.equal(made.inputs.attn_mask.dense()[0], torch.ones(9, 9, dtype=torch.bool).tril())
    assert not leaks.check(made).leak


def test_labels_that_nobody_moves_show_their_own_answer(tokenizer):
    """The trap: the same labels under a mask that sees everything."""
    made = collate(hf.DataCollatorForLanguageModeling(tokenizer, mlm=False), TEXT, causal=False)
    assert made.verdict.leak or made.verdict.by_design
    assert made.facts()["targets"] == TEXT.split()


def test_padding_that_is_also_the_end_is_never_learnt():
    """The trap of GPT-2's tokenizers: eos as pad, so the label of the end is -100."""
    tokenizer = wrapped(OURS)
    tokenizer.pad_token = tokenizer.eos_token
    made = collate(hf.DataCollatorForLanguageModeling(tokenizer, mlm=False), TEXT + "[END]")
    assert "does not learn where to stop" in made.notice
    assert made.facts()["scored"] == [1] * 8 + [0, 0]


# permutation


@pytest.mark.parametrize("seed", range(8))
def test_the_cells_of_both_streams_are_those_of_perm_mask(bert, seed):
    collator, text = (
        hf.DataCollatorForPermutationLanguageModeling(bert, plm_probability=0.5),
        " ".join(TEXT.split()[:8]),
    )
    made, theirs = collate(collator, text, seed=seed).batch, returned(collator, bert, seed, text)
    seen, itself = theirs["perm_mask"] == 0, torch.eye(10, dtype=torch.bool)
    assert torch.equal(made.inputs.query_attn_mask.dense(), seen)
    assert torch.equal(made.inputs.attn_mask.dense(), seen | itself)
    [target] = made.targets
    assert target.stream == "query" and torch.equal(target.loss_mask, theirs["labels"] != -100)
    targets = target.loss_mask[0].nonzero()[:, 0].tolist()
    rank = made.prediction_order[0].tolist()
    assert sorted(rank) == list(range(10)) and all(rank[t] >= 10 - len(targets) for t in targets)
    for one in targets:
        assert [bool(seen[0, one, other]) for other in targets] == [rank[other] < rank[one] for other in targets]


def test_its_targets_are_hidden_for_good_and_the_stage_says_so(tokenizer):
    """The trap: [MASK] stands over the targets in the content stream as well, which XLNet's own code does not do."""
    collator = hf.DataCollatorForPermutationLanguageModeling(tokenizer, plm_probability=0.5)
    made = collate(collator, TEXT + " bad", seed=2)
    assert "no target ever sees an earlier one" in made.notice
    hidden = made.batch.targets[0].loss_mask[0]
    assert {words(made.batch, made.batch.inputs.ids)[k] for k in hidden.nonzero()[:, 0].tolist()} == {"[MASK]"}


def test_it_refuses_odd_lengths_in_its_own_words(tokenizer):
    with pytest.raises(UserError, match=r"refuses this sentence of 9 tokens: .*lengths be even"):
        collate(hf.DataCollatorForPermutationLanguageModeling(tokenizer), TEXT)


class WithAnd(hf.DataCollatorForPermutationLanguageModeling):
    """The slip of the collator's first version (transformers issue 6812): "padding and special" for "or"."""

    def torch_mask_tokens(self, inputs):
        shown, perm_mask, mapping, labels = super().torch_mask_tokens(inputs)
        special = (
            torch.tensor(
                [
                    self.tokenizer.get_special_tokens_mask(row, already_has_special_tokens=True)
                    for row in inputs.tolist()
                ]
            ).bool()
            & (labels == -100)
            & (shown != self.tokenizer.mask_token_id)
        )
        perm_mask[special[:, :, None].expand_as(perm_mask) & (labels != -100)[:, None, :]] = 1.0
        return shown, perm_mask, mapping, labels


def test_and_for_or_is_seen_in_the_rows_of_the_special_tokens(bert):
    """With "or" [SEP] has a step of its own and sees the targets before it; with "and" it is context and sees none."""
    text, drawn = " ".join(TEXT.split()[:8]), {"plm_probability": 0.5}
    kinds = (hf.DataCollatorForPermutationLanguageModeling, WithAnd)
    sees = []
    for kind in kinds:
        found = 0
        for seed in range(12):
            made = collate(kind(bert, **drawn), text, seed=seed).batch
            hidden = made.targets[0].loss_mask[0]
            found += int(made.inputs.attn_mask.dense()[0][[0, -1]][:, hidden].sum())
        sees.append(found)
    assert sees[0] > 0 == sees[1]


# a decoder


@pytest.mark.parametrize("padded", [None, 8])
def test_a_decoder_has_the_labels_before_each(tokenizer, padded):
    collator = hf.DataCollatorForSeq2Seq(tokenizer, pad_to_multiple_of=padded)
    made = collate(collator, TEXT, answer="bad film").batch
    theirs = returned(collator, tokenizer, 0, labels=tokenizer("bad film")["input_ids"])
    [target] = made.targets
    assert made.inputs.ids.shape == theirs["input_ids"].shape and target.stream == "decoder"
    assert torch.equal(target.loss_mask, theirs["labels"] != -100)
    assert torch.equal(made.inputs.valid, theirs["attention_mask"].bool())
    there = target.loss_mask[0]
    assert [made.tokens.vocabulary[k] for k in made.decoder.ids[0][there].tolist()] == ["[START]", "bad"]
    assert [made.tokens.vocabulary[k] for k in target.labels[0][there].tolist()] == ["bad", "film"]
    assert not made.decoder.cross_attn_mask.dense()[0][:, ~made.inputs.valid[0]].any()
    assert not leaks.check(made).leak


def test_the_decoders_ids_are_the_models_where_it_prepares_them(tokenizer):
    model = hf.BartForConditionalGeneration(
        hf.BartConfig(
            vocab_size=len(tokenizer), d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
            decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, max_position_embeddings=24,
            pad_token_id=tokenizer.pad_token_id, decoder_start_token_id=tokenizer.eos_token_id,
        )
    )  # fmt: skip
    made = collate(hf.DataCollatorForSeq2Seq(tokenizer, model=model), TEXT, answer="bad film").batch
    assert words(made, made.decoder.ids) == ["[END]", "bad"]


# on the stage


@pytest.mark.parametrize(
    ("make", "answer"),
    [
        (hf.DataCollatorForLanguageModeling, ""),
        (hf.DataCollatorForPermutationLanguageModeling, ""),
        (hf.DataCollatorForSeq2Seq, "bad film"),
    ],
)
def test_the_stage_of_a_notebook_draws_it_like_every_other(tokenizer, make, answer):
    picture = notebook.stage(collator=make(tokenizer), text=TEXT + " bad", pair=answer, seed=3)
    record = picture.rebuilt.record()
    names = {frame["name"] for frame in record["frames"]}
    assert record["title"] == make.__name__ and {"text", "corrupt", "visibility", "ask"} <= names
    lanes = {lane["name"]: [cell["text"] for cell in lane["cells"]] for lane in record["frames"][-1]["lanes"]}
    assert lanes["inputs"] == picture.facts["inputs"]
    assert "<svg" in picture._repr_mimebundle_()["text/html"] or "stage" in picture._repr_mimebundle_()["text/html"]


def test_a_collator_has_no_knobs_of_ours(tokenizer):
    with pytest.raises(UserError, match="leave out model, plan and knobs"):
        notebook.stage(collator=hf.DataCollatorForLanguageModeling(tokenizer), mask_ratio=0.3)


@pytest.mark.parametrize(
    ("collator", "text", "said"),
    [
        (lambda rows: {"input_ids": torch.tensor([rows[0]["input_ids"]])}, TEXT, "returned input_ids; input_ids and"),
        (
            lambda rows: {"input_ids": torch.tensor([rows[0]["input_ids"]]), "labels": torch.tensor([1])},
            TEXT, r"labels of the shape \[1\]",
        ),
        (lambda rows: {}, "", "The text is empty"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_a_sentence(tokenizer, collator, text, said):
    with pytest.raises(UserError, match=said):
        collate(collator, text, tokenizer=tokenizer)


def test_a_function_without_a_tokenizer_is_told_what_it_lacks():
    with pytest.raises(UserError, match="no tokenizer of its own"):
        collate(lambda rows: {}, TEXT)


def test_our_tokenizer_may_be_given_as_it_is():
    def doubled(rows):
        """It asks for each first word again. The labels are its copies."""
        ids = torch.tensor([rows[0]["input_ids"]])
        return {"input_ids": ids, "labels": ids.masked_fill(ids != ids[0, 0], -100)}

    made = notebook.stage(collator=doubled, text=TEXT, tokenizer=OURS).rebuilt
    assert made.batch.targets[0].loss_mask[0].tolist() == [word == "the" for word in TEXT.split()]
    assert made.objective.idea.endswith("sentence. It asks for each first word again.")


def test_the_library_is_imported_only_when_it_is_used():
    code = "import sys, widgets.notebook.picture; print('transformers' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip().endswith("False")
