"""The tokenizer of a folder is the library's: the same ids for whole texts, and roles that point to them."""

import json
from importlib import import_module

import pytest
import tokenizers
import transformers as hf

from playground.errors import UserError
from playground.interop.tokenizer_file import read_tokenizer, write_tokenizer
from playground.tokenizing import SPECIAL_TOKENS, read_input, train
from tests.playground.interop.vocabularies import FORMS

TEXT = (
    "The dog sees the cats . Don't go , we'll see 3.5 U.S. dogs — ok ! Houses and the housing of a naïve café ; "
    "dogs and housings are seen by the 12 seers (again) . 東京 is far away ."
)
TEXTS = (
    TEXT, "  seen   housing.", "we'll go!", "well-known state-of-the-art e-mails, aren't they?", "3.14 U.S. a/b c_d",
    "我很高兴。私は今日あなたと一緒でうれしい。", "วันนี้ฉันดีใจ",
    'He said "no" (twice) — and left…', "a\u0301bc ﬁ İstanbul",
)  # fmt: skip
card = import_module("playground.cli.import")
KINDS = ("word", "character", "wordpiece", "bpe", "bytes", "unigram")


def written(folder, files):
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))
    return folder


@pytest.mark.parametrize("lower", [False, True], ids=["as it is", "lower"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_learnt_here_is_read_back_the_same(kind, lower, tmp_path):
    tokenizer = train([TEXT] * 4, kind=kind, size=640, lower=lower)
    written(tmp_path, write_tokenizer(tokenizer))
    library = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in TEXTS:
        assert library.encode(text, add_special_tokens=False).ids == tokenizer.encode(text).ids
    assert read_tokenizer(tmp_path, {}, len(tokenizer)) == tokenizer


def test_across_categories_is_written_too(tmp_path):
    tokenizer = train([TEXT] * 4, kind="bytes", size=640, across=True)
    written(tmp_path, write_tokenizer(tokenizer))
    assert read_tokenizer(tmp_path, {}, len(tokenizer)) == tokenizer


@pytest.mark.parametrize("kind", ["wordpiece", "unigram", "bytes"])
def test_transformers_opens_the_tokenizer_with_its_special_tokens(kind, tmp_path):
    tokenizer = train([TEXT] * 4, kind=kind, size=640)
    written(tmp_path, write_tokenizer(tokenizer))
    library = hf.AutoTokenizer.from_pretrained(tmp_path)
    assert len(library) == len(tokenizer)
    assert library("The dogs", add_special_tokens=False).input_ids == tokenizer.encode("The dogs").ids
    assert (library.pad_token_id, library.mask_token_id, library.unk_token_id) == (0, 5, len(SPECIAL_TOKENS) - 1)
    assert library.convert_tokens_to_ids(["[CLS]", "<7>"]) == [3, 13]


@pytest.mark.parametrize("form", FORMS)
def test_whole_texts_get_the_ids_of_the_library(form, tmp_path):
    library = FORMS[form]([TEXT] * 4)
    library.save(str(tmp_path / "tokenizer.json"))
    tokenizer = read_tokenizer(tmp_path, {}, library.get_vocab_size())
    for text in TEXTS:
        found, ids = tokenizer.encode(text), library.encode(text, add_special_tokens=False).ids
        assert found.ids == ids
        assert read_input(text, tokenizer, 10_000).tokens.ids[0].tolist() == ids
        assert all(first < last for first, last in found.offsets) and sorted(found.word) == found.word
        assert tokenizer.join(ids) == library.decode(ids, skip_special_tokens=False).strip()
    plain = "The dog sees the cats, and the housing (again) is far away."
    spelt = tokenizer.spell("The dog sees the cats , and the housing ( again ) is far away .".split())
    assert [number for ids in spelt for number in ids] == library.encode(plain, add_special_tokens=False).ids
    assert read_tokenizer(written(tmp_path, write_tokenizer(tokenizer)), {}, len(tokenizer)) == tokenizer


@pytest.mark.parametrize(
    ("form", "config", "roles"),
    [
        ("BERT", {}, {"pad": 0, "unknown": 2, "cls": 3, "start": 3, "sep": 4, "end": 4, "mask": 5}),
        (
            "GPT-2",
            {"bos_token_id": 300, "eos_token_id": 300},
            dict.fromkeys(("start", "end", "cls", "sep", "pad"), 300),
        ),
        ("T5", {"decoder_start_token_id": 0}, {"pad": 0, "start": 0, "cls": 0, "end": 1, "sep": 1, "unknown": 2}),
    ],
)
def test_roles_point_to_the_ids_that_the_folder_has_for_them(form, config, roles, tmp_path):
    library = FORMS[form]([TEXT] * 4)
    library.save(str(tmp_path / "tokenizer.json"))
    specials = read_tokenizer(tmp_path, config, library.get_vocab_size()).specials
    assert specials.roles == roles
    assert specials.sentinels == tuple(library.token_to_id(f"<extra_id_{k}>") for k in range(4) if form == "T5")
    assert set(specials.ids) >= {*roles.values(), *specials.sentinels} - {roles.get("unknown")}
    if form != "BERT":
        with pytest.raises(UserError, match=r"no mask token.*--add-special-tokens mask"):
            specials.mask  # noqa: B018
        again = read_tokenizer(tmp_path, config, library.get_vocab_size(), add=("mask",))
        assert again.specials.mask == library.get_vocab_size() == len(again) - 1 and again.words[-1] == "[MASK]"
        assert again.encode("[MASK]").ids == library.encode("[MASK]", add_special_tokens=False).ids
        signs = read_tokenizer(tmp_path, config, library.get_vocab_size(), add=("sentinel",)).specials.sentinels
        assert len(signs) == 32 and signs[0] == library.get_vocab_size()
    with pytest.raises(UserError, match="not for 'x'"):
        read_tokenizer(tmp_path, config, library.get_vocab_size(), add=("x",))


@pytest.mark.parametrize("form", ["BERT", "GPT-2"])
def test_the_older_files_are_read_like_the_one(form, tmp_path):
    library = FORMS[form]([TEXT] * 4)
    library.save(str(tmp_path / "tokenizer.json"))
    whole = read_tokenizer(tmp_path, {}, library.get_vocab_size())
    (tmp_path / "tokenizer.json").unlink()
    vocab = dict(sorted(library.get_vocab().items(), key=lambda item: item[1]))
    if form == "BERT":
        (tmp_path / "vocab.txt").write_text("".join(f"{word}\n" for word in vocab), encoding="utf-8")
    else:
        merges = json.loads(library.to_str())["model"]["merges"]
        lines = ["#version: 0.2", *(" ".join(pair) for pair in merges)]
        written(tmp_path, {"vocab.json": vocab})
        (tmp_path / "merges.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    again = read_tokenizer(tmp_path, {}, library.get_vocab_size())
    assert again.words == whole.words and again.specials.roles == whole.specials.roles
    for text in TEXTS:
        assert again.encode(text) == whole.encode(text)


def test_tokens_that_were_added_to_older_files_are_kept_whole(tmp_path):
    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "ent", "<", ">"]
    (tmp_path / "vocab.txt").write_text("".join(f"{word}\n" for word in vocab))
    about = {"do_lower_case": True, "tokenizer_class": "BertTokenizer"}
    written(tmp_path, {"added_tokens.json": {"<ent>": 10}, "tokenizer_config.json": about, "config.json": {}})
    library, tokenizer = hf.BertTokenizer.from_pretrained(tmp_path), read_tokenizer(tmp_path, {}, 11)
    for text in ("the <ent> cat", "cat<ENT> the"):
        assert tokenizer.encode(text).ids == library(text, add_special_tokens=False).input_ids
    with pytest.raises(UserError, match="gives '<ent>' the id 10; there are 10 rows"):
        read_tokenizer(tmp_path, {}, 10)


def test_a_vocabulary_of_xlm_marks_the_ends_of_words_and_the_card_says_how_text_is_split(tmp_path):
    names = ["<s>", "</s>", "<pad>", "<unk>", "<special1>", *"dog", "s</w>", "do", "dog", "dogs</w>"]
    vocab = {name: number for number, name in enumerate(names)}
    written(tmp_path, {"vocab.json": vocab})
    (tmp_path / "merges.txt").write_text("#version: 0.2\nd o\ndo g\ndog s</w>\n", encoding="utf-8")
    tokenizer = read_tokenizer(tmp_path, {}, len(vocab))
    found = tokenizer.encode("Dogs, dogs")
    assert tokenizer.decode(found.ids) == ["dogs", "<unk>", "dogs"] and found.word == [0, 1, 2]
    assert tokenizer.specials.mask == 4 and "Moses" in card.imitates_moses(tmp_path, tokenizer)
    written(tmp_path, {"tokenizer.json": {}})
    assert not card.imitates_moses(tmp_path, tokenizer)


def test_an_added_token_is_kept_whole(tmp_path):
    library = FORMS["BERT"]([TEXT] * 4)
    library.add_tokens(["<ent>"])
    library.save(str(tmp_path / "tokenizer.json"))
    tokenizer = read_tokenizer(tmp_path, {}, library.get_vocab_size())
    assert tokenizer.words[tokenizer.encode("the <ent> sees").ids[1]] == "<ent>"


def test_without_a_tokenizer_words_are_numbers_and_text_is_refused(tmp_path):
    tokenizer = read_tokenizer(tmp_path, {"pad_token_id": 7}, 20)
    assert tokenizer.specials.pad == 7 and tokenizer.encode("#3 #4").ids == [3, 4]
    with pytest.raises(UserError, match="cannot write 'hello'"):
        tokenizer.encode("hello")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "no JSON"),
        ("[]", "not an object"),
        ("{}", "damaged"),
        ('{"model": {"type": "WordLevel", "vocab": {"a": 5, "b": 5}}}', "has 5 2 times"),
        ('{"model": {"type": "WordLevel", "vocab": {"a": 99}, "unk_token": "a"}}', "99"),
        ('{"model": {"type": "WordLevel", "vocab": {"a": NaN}}}', "cannot be used"),
        ('{"model": {"type": "Fancy", "vocab": {"a": 1}}}', "tokenizer.json"),
    ],
)
def test_a_damaged_tokenizer_is_refused(text, told, tmp_path):
    (tmp_path / "tokenizer.json").write_text(text)
    with pytest.raises(UserError, match=told):
        read_tokenizer(tmp_path, {}, 9)


@pytest.mark.parametrize("named", ["[M]", 4, ["[MASK]"], {"content": "[M]"}])
def test_a_special_token_that_the_vocabulary_lacks_is_refused(named, tmp_path):
    library = FORMS["BERT"]([TEXT] * 4)
    library.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"mask_token": named}))
    with pytest.raises(UserError, match=r"tokenizer_config.json says mask_token: .*, which is no token of the vocab"):
        read_tokenizer(tmp_path, {}, library.get_vocab_size())
    assert read_tokenizer(tmp_path, {}, 20, numbered=True).specials.pad == 0


def test_the_first_of_several_ids_is_that_of_the_role(tmp_path):
    assert read_tokenizer(tmp_path, {"eos_token_id": [5, 6]}, 20).specials.end == 5


def test_a_file_of_sentencepiece_that_cannot_be_converted_is_named(tmp_path):
    (tmp_path / "spiece.model").write_text("x")
    with pytest.raises(UserError, match=r"only in spiece\.model"):
        read_tokenizer(tmp_path, {}, 9)
