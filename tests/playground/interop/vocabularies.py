"""Tokenizers of the library in the forms of released vocabularies, learnt from a few texts."""

import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

BERT = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def bert_words(texts):
    """A WordPiece vocabulary in BERT's order."""
    library = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    library.normalizer = normalizers.BertNormalizer(lowercase=True)
    library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    library.decoder = decoders.WordPiece()
    library.train_from_iterator(
        texts, trainers.WordPieceTrainer(vocab_size=150, special_tokens=BERT, show_progress=False)
    )
    return library


def gpt_words(texts):
    """Byte-level BPE in GPT-2's form; its one special token stands last."""
    library = tokenizers.Tokenizer(models.BPE())
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    library.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    library.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=300, show_progress=False, initial_alphabet=alphabet)
    )
    library.add_special_tokens(["<|endoftext|>"])
    return library


def t5_words(texts):
    """Unigram of SentencePiece in T5's form; the numbered tokens stand last, backwards."""
    library = tokenizers.Tokenizer(models.Unigram())
    library.normalizer = normalizers.NFKC()
    library.pre_tokenizer = pre_tokenizers.Metaspace()
    library.decoder = decoders.Metaspace()
    special = ["<pad>", "</s>", "<unk>"]
    library.train_from_iterator(
        texts,
        trainers.UnigramTrainer(vocab_size=80, show_progress=False, special_tokens=special, unk_token="<unk>"),
    )
    library.add_special_tokens([f"<extra_id_{k}>" for k in reversed(range(4))])
    return library


FORMS = {"BERT": bert_words, "GPT-2": gpt_words, "T5": t5_words}
