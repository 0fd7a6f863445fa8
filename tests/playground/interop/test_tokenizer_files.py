"""tokenizer.json in both directions: the library and our tokenizers give a word the same ids."""

import json

import pytest
import tokenizers
import transformers as hf
from tokenizers import models, normalizers, pre_tokenizers, trainers

from playground.errors import UserError
from playground.interop.tokenizer_file import read_vocabulary, write_tokenizer
from playground.tokenizing import SPECIAL_TOKENS, train

TEXT = (
    "The dog sees the cats . Don't go , we'll see 3.5 U.S. dogs — ok ! Houses and the housing of a naïve café ; "
    "dogs and housings are seen by the 12 seers (again) . 東京 is far away ."
)
KINDS = ("word", "character", "wordpiece", "bpe", "bytes", "unigram")


def written(folder, files):
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))
    return folder


@pytest.mark.parametrize("lower", [False, True], ids=["as it is", "lower"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_the_same_ids_in_the_library_and_is_read_back(kind, lower, tmp_path):
    tokenizer = train([TEXT] * 4, kind=kind, size=640, lower=lower)
    written(tmp_path, write_tokenizer(tokenizer))
    library = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in (TEXT, "  seen   housing.", "we'll go!"):
        assert library.encode(text, add_special_tokens=False).ids == tokenizer.encode(text).ids
    again = read_vocabulary(tmp_path, {}, len(tokenizer), numbered=False)
    assert again.tokenizer == tokenizer and again.rows == tuple(range(len(tokenizer))) and not again.unlike


def test_across_categories_is_written_too(tmp_path):
    tokenizer = train([TEXT] * 4, kind="bytes", size=640, across=True)
    written(tmp_path, write_tokenizer(tokenizer))
    assert read_vocabulary(tmp_path, {}, len(tokenizer), numbered=False).tokenizer == tokenizer


def test_transformers_opens_the_tokenizer_with_its_special_tokens(tmp_path):
    tokenizer = train([TEXT] * 4, kind="wordpiece", size=200)
    written(tmp_path, write_tokenizer(tokenizer))
    library = hf.AutoTokenizer.from_pretrained(tmp_path)
    assert library("The dogs", add_special_tokens=False).input_ids == tokenizer.encode("The dogs").ids
    assert (library.pad_token_id, library.mask_token_id, library.unk_token_id) == (0, 5, len(SPECIAL_TOKENS) - 1)
    assert library.convert_tokens_to_ids(["[CLS]", "<7>"]) == [3, 13]


def bert_files(folder, lower=True):
    """A WordPiece vocabulary in BERT's order."""
    library = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    library.normalizer = normalizers.BertNormalizer(lowercase=lower)
    library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    library.train_from_iterator(
        [TEXT] * 4, trainers.WordPieceTrainer(vocab_size=150, special_tokens=special, show_progress=False)
    )
    library.save(str(folder / "tokenizer.json"))
    return library


def test_a_vocabulary_of_bert_is_read_in_our_order(tmp_path):
    library = bert_files(tmp_path)
    found = read_vocabulary(tmp_path, {}, library.get_vocab_size(), numbered=False)
    assert [found.rows[SPECIAL_TOKENS.index(t)] for t in ("[PAD]", "[CLS]", "[SEP]", "[MASK]")] == [0, 3, 4, 5]
    assert found.tokenizer.lower and found.rows[SPECIAL_TOKENS.index("<0>")] == -1 and not found.unlike
    text = "the dogs and the housing of seers ."
    rows = [found.rows[number] for number in found.tokenizer.encode(text).ids]
    assert rows == library.encode(text, add_special_tokens=False).ids


def test_a_list_of_words_is_read_like_the_file(tmp_path):
    library = bert_files(tmp_path)
    whole = read_vocabulary(tmp_path, {}, library.get_vocab_size(), numbered=False)
    (tmp_path / "tokenizer.json").unlink()
    words = sorted(library.get_vocab().items(), key=lambda item: item[1])
    (tmp_path / "vocab.txt").write_text("".join(f"{word}\n" for word, _ in words), encoding="utf-8")
    again = read_vocabulary(tmp_path, {}, library.get_vocab_size(), numbered=False)
    assert again.rows == whole.rows and again.tokenizer.words[39:] == whole.tokenizer.words[39:]


def test_kinds_that_ours_cannot_express_are_refused_and_can_be_numbered(tmp_path):
    gpt = tokenizers.Tokenizer(models.BPE())
    gpt.pre_tokenizer = pre_tokenizers.ByteLevel()
    gpt.train_from_iterator([TEXT], trainers.BpeTrainer(vocab_size=300, show_progress=False))
    piece = tokenizers.Tokenizer(models.Unigram())
    piece.pre_tokenizer = pre_tokenizers.Metaspace()
    piece.train_from_iterator([TEXT] * 4, trainers.UnigramTrainer(vocab_size=80, show_progress=False))
    ends = tokenizers.Tokenizer(models.BPE(end_of_word_suffix="</w>"))
    for library, told in ((gpt, "space before a word"), (piece, "Unigram"), (ends, "'BPE'")):
        library.save(str(tmp_path / "tokenizer.json"))
        with pytest.raises(UserError, match=told):
            read_vocabulary(tmp_path, {}, 400, numbered=False)
        assert read_vocabulary(tmp_path, {"pad_token_id": 7}, 400, numbered=True).rows[0] == 7


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "no JSON"),
        ("[]", "not an object"),
        ("{}", "damaged"),
        ('{"model": {"type": "WordLevel", "vocab": {"a": 5, "b": 5}}}', "'b'"),
        ('{"model": {"type": "WordLevel", "vocab": {"a": 99}}}', "99"),
        ('{"model": {"type": "WordLevel", "vocab": {"a": NaN}}}', "nan"),
        ('{"model": {"type": "WordLevel", "vocab": {"a": 1}}}', "tokenizer.json"),
    ],
)
def test_a_damaged_tokenizer_is_refused(text, told, tmp_path):
    (tmp_path / "tokenizer.json").write_text(text)
    with pytest.raises(UserError, match=told):
        read_vocabulary(tmp_path, {}, 9, numbered=False)


@pytest.mark.parametrize("name", ["merges.txt", "spiece.model"])
def test_older_files_are_named(name, tmp_path):
    (tmp_path / name).write_text("x")
    with pytest.raises(UserError, match=name):
        read_vocabulary(tmp_path, {}, 9, numbered=False)
