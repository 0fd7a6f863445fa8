"""Names of the field that are not here, and what is nearest to them by meaning; a new name is one more string."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Nearest:
    """What is here: its kind and its `name`, why it is near, and the names of the field that it stands nearest to."""

    kind: Literal["entry", "objective", "strategy", "task", "corpus", "method of post-training"]
    name: str
    because: str
    to: tuple[str, ...]


NEAREST = (
    # models that read from the left
    Nearest(
        "entry", "GPT-3",
        "it is also a Transformer decoder that predicts the next word from the words to its left; the others differ "
        "in size, data and details",
        (
            "GPT-4", "GPT-J", "GPT-Neo", "GPT-NeoX", "Megatron-LM", "Megatron", "Turing-NLG", "LLaMA", "Phi",
            "Claude", "Gemini", "OPT", "BLOOM", "PaLM", "Chinchilla", "Gopher", "Mistral", "Falcon", "Qwen",
            "Gemma", "Pythia", "DialoGPT", "Codex", "ChatGPT", "InstructGPT",
        ),
    ),
    Nearest(
        "entry", "GPT", "it is a decoder-only Transformer with a causal attention mask",
        ("Transformer decoder", "decoder-only"),
    ),
    Nearest(
        "entry", "Dai and Le", "it is a recurrent language model, an LSTM; `--set kind=gru` makes it a GRU",
        ("LSTM", "GRU", "biLSTM", "QRNN", "RNN", "recurrent neural network", "Mamba", "RWKV", "state space model"),
    ),
    Nearest(
        "entry", "Dai and Le",
        "it also computes hidden states from other hidden states, but word by word and not along a parse tree",
        ("TreeLSTM", "recursive neural network"),
    ),
    Nearest(
        "entry", "Transformer-XL",
        "its attention has relative positions and a memory of the text before; the knob is mem_len",
        ("segment-level recurrence", "relative positions", "relative position embeddings", "Compressive Transformer"),
    ),
    Nearest(
        "objective", "window LM", "it also restricts attention to a few words nearby",
        ("Sparse Transformer", "banded sparse attention", "local attention", "Longformer", "BigBird"),
    ),
    Nearest("objective", "LM", "its attention mask is causal", ("causal mask", "causal attention", "attention mask")),
    Nearest(
        "entry", "CTRL", "it also puts a control code before the text that it generates",
        ("PPLM", "controlled generation"),
    ),
    Nearest(
        "entry", "Grover", "it generates news from metadata, and its authors use it to detect generated news",
        ("fake-news detection", "fake news"),
    ),
    Nearest(
        "entry", "GPT-2",
        "it is pre-norm, and its authors split words with byte-level BPE; `--set norm_first=no` makes it post-norm, "
        "and the Corpus page splits a text with BPE",
        ("pre-norm", "post-norm", "pre-LN", "post-LN", "BPE", "byte-pair encoding", "byte-level BPE"),
    ),
    # models that read from both sides
    Nearest(
        "entry", "BERT",
        "it is a Transformer encoder, in which every word attends to all words; `--set positions=...` changes how it "
        "encodes positions",
        (
            "Transformer", "Transformer encoder", "self-attention", "position embeddings", "positional encoding",
            "learned positions", "sinusoidal positions", "rotary positions", "RoPE",
        ),
    ),
    Nearest(
        "entry", "BERT",
        "they make its attention or its MLP cheaper or larger; here every word attends to all words, and every layer "
        "has one MLP",
        (
            "Reformer", "Linformer", "Performer", "FlashAttention", "Funnel Transformer", "Switch Transformer", "MoE",
            "mixture of experts",
        ),
    ),
    Nearest(
        "entry", "BERT",
        "each of its words also gathers information from other words, but from all of them and not only from its "
        "neighbours in a graph",
        ("GCN", "graph convolution"),
    ),
    Nearest(
        "entry", "BERT",
        "they are BERT trained on other texts or in another language; `playground train BERT --corpus FILE` trains it "
        "on yours",
        (
            "CamemBERT", "FlauBERT", "BERTje", "RobBERT", "AraBERT", "RuBERT", "FinBERT", "Chinese-BERT", "NEZHA",
            "ZEN", "CodeBERT", "LayoutLM",
        ),
    ),
    Nearest(
        "entry", "BERT",
        "such tools draw its attention heads; here the Train page draws them, and `playground bake` keeps them in a "
        "file",
        ("BertViz", "exBERT", "attention visualisation"),
    ),
    Nearest(
        "entry", "BERT",
        "these are knobs of its network or its recipe, as of every entry: dropout, grad_accum_steps, precision",
        ("dropout", "gradient accumulation", "mixed precision", "bfloat16"),
    ),
    Nearest("entry", "BERT", "its authors split words with WordPiece; here the Corpus page does", ("WordPiece",)),
    Nearest(
        "entry", "XLNet", "its authors split words with SentencePiece; here the Corpus page does, with Unigram",
        ("SentencePiece", "Unigram"),
    ),
    Nearest(
        "entry", "RoBERTa", "it is also BERT with another recipe; disentangled attention is not here", ("DeBERTa",)
    ),
    Nearest(
        "entry", "BioBERT", "it is also BERT with continued pre-training on the texts of one domain",
        ("ClinicalBERT", "PubMedBERT", "PatentBERT", "LegalBERT", "BlueBERT", "DAPT", "domain-adaptive pre-training"),
    ),
    Nearest(
        "entry", "ALBERT",
        "it is also BERT with fewer parameters, by shared layers and narrow word vectors; quantization, pruning and "
        "distillation are methods of `playground compress`",
        (
            "quantization", "quantisation", "Q-BERT", "Q8BERT", "pruning", "weight pruning", "head pruning",
            "attention-head pruning", "layer pruning", "lottery ticket", "information bottleneck", "VIB",
            "low-rank factorisation", "model compression", "smaller vocabulary",
        ),
    ),
    Nearest(
        "entry", "ALBERT", "it has them: narrow, tied word vectors, and layers that share their weights",
        (
            "factorised embeddings", "factorized embeddings", "tied embeddings", "cross-layer sharing",
            "parameter sharing", "Universal Transformer",
        ),
    ),
    Nearest(
        "entry", "mBERT", "such studies look into it: one model with one vocabulary for many languages",
        ("Wu et al. 2019", "Pires et al. 2019", "multilingual transfer"),
    ),
    Nearest(
        "entry", "XLM",
        "it also reads a sentence together with its translation; the other objectives of those models are not here",
        ("Unicoder", "InfoXLM", "XAE", "XMLM", "XNLG", "cross-lingual word recovery", "ALM"),
    ),
    Nearest("entry", "ERNIE 2.0", "it is the version before it", ("ERNIE 3.0",)),
    Nearest(
        "entry", "ELECTRA", "with `--set generator_first=0.5 --set generator_ratio=1` it trains in two stages",
        ("two-stage ELECTRA", "RTD in two stages"),
    ),
    Nearest("entry", "UniLM", "it is the version before it", ("UniLMv2",)),
    # models with letters, word vectors
    Nearest(
        "entry", "ELMo", "its word vectors also come from characters, through a convolution",
        ("CharCNN", "character CNN", "CNN encoder"),
    ),
    Nearest(
        "entry", "flair",
        "it reads and predicts characters; any entry does with `--tokenizer characters`, or with bytes",
        ("character-level LM", "CANINE", "ByT5"),
    ),
    Nearest(
        "entry", "ELMo", "it also reads a text in each direction with a network of its own",
        ("two-tower cloze", "Baevski et al. 2019", "contextual embeddings", "contextual word embeddings"),
    ),
    Nearest(
        "entry", "GloVe", "it also factorises a co-occurrence matrix into word vectors, by least squares",
        (
            "LSA", "SVD", "PPMI", "latent semantic analysis", "co-occurrence matrix factorisation",
            "global matrix factorization",
        ),
    ),
    Nearest(
        "objective", "skip-gram NS",
        "it also avoids the softmax over the whole vocabulary, by scoring a few random words",
        ("hierarchical softmax",),
    ),
    Nearest("objective", "skip-gram NS", "it is trained with it, and so is 'CBOW NS'", ("negative sampling",)),
    Nearest(
        "objective", "skip-gram NS",
        "`playground align` maps two of its embedding tables, one for each language, onto each other",
        ("multilingual word embeddings", "bilingual word embeddings", "MUSE", "VecMap", "Procrustes alignment"),
    ),
    # objectives
    Nearest(
        "objective", "MLM", "its knobs mask_replace_prob and random_replace_prob say what replaces a selected token",
        ("80/10/10", "80/10/10 corruption", "mask token", "[MASK]", "MLM head", "enhanced MLM", "E-MLM"),
    ),
    Nearest(
        "objective", "masked diffusion",
        "it also hides more and more words and is trained to undo it, but always by [MASK] and in all of the text",
        ("D3PM", "SEDD"),
    ),
    Nearest(
        "objective", "multilingual MLM",
        "it also trains one model on texts in two languages, which need not be parallel",
        ("code-switching", "code-switch"),
    ),
    Nearest(
        "objective", "MLM + NSP", "its input has [CLS], [SEP] and segment embeddings for the first and the second text",
        ("segment embeddings", "[CLS]", "[SEP]", "special tokens", "input packing", "BERT input packing"),
    ),
    Nearest(
        "objective", "PLM",
        "it has a random order of prediction, given by attention masks, and a second stream that knows the position "
        "but not the word",
        (
            "partial prediction", "permutation by attention mask", "target-position-aware prediction",
            "two-stream self-attention", "two-stream attention", "MPNet",
        ),
    ),
    Nearest(
        "objective", "BART mixture", "it combines the two noises that BART's authors chose",
        ("noise composition",),
    ),
    Nearest(
        "objective", "T5 spans",
        "it also masks spans and generates them, and mean_length says how long they are; the objective 'UL2' mixes "
        "several lengths with a prefix LM",
        ("mT5", "ERNIE-GEN"),
    ),
    Nearest(
        "entry", "T5",
        "it has an encoder that sees the whole text and a decoder that generates from left to right, trained with "
        "teacher forcing",
        ("encoder-decoder", "full Transformer", "seq2seq", "sequence to sequence", "teacher forcing"),
    ),
    Nearest(
        "entry", "GPT-2",
        "`playground generate RUN --num-beams 4` generates text with a trained run of it, by greedy or by beam search",
        ("beam search", "greedy decoding", "length penalty"),
    ),
    Nearest(
        "objective", "T5 multi-task", "it also writes tasks as text with a prefix and trains on them together",
        ("T0", "FLAN", "Flan-T5", "instruction tuning", "decaNLP", "MQAN", "universal data format"),
    ),
    Nearest(
        "objective", "translation through one vector",
        "it also encodes a sentence as one vector, from which a decoder generates another text",
        ("skip-thought", "GenSen", "paragraph vector", "doc2vec", "sequence autoencoder", "sentence autoencoder"),
    ),
    Nearest(
        "objective", "sentence matching", "it also finds by two vectors which texts of a batch belong together",
        ("SimCSE", "SimCLR", "information retrieval", "DPR", "TwinBERT", "CLIP", "dual encoder", "Quick-Thought"),
    ),
    Nearest(
        "objective", "translation pairs", "it also asks which two sentences are translations of each other",
        ("parallel corpus mining", "BUCC", "Tatoeba"),
    ),
    Nearest(
        "objective", "gap sentences", "it also masks whole sentences of a document and generates them",
        ("HIBERT", "sentence infilling"),
    ),
    # knowledge
    Nearest(
        "entry", "WKLM",
        "it also learns which entity belongs where, but from text alone; embeddings of a knowledge graph are not here",
        (
            "KnowBERT", "KT-NET", "TransE", "knowledge graph embedding", "ERNIE-THU", "dEA", "KEPLER", "KGLM", "LRLM",
            "entity linking", "LUKE", "knowledge embedding",
        ),
    ),
    Nearest("entry", "SenseBERT", "it also learns from a dictionary of word senses", ("LIBERT",)),
    Nearest(
        "strategy", "knowledge injection",
        "it also adds facts that are looked up to the text, but those of our grammar; it does not search other texts",
        ("REALM", "RAG", "retrieval augmentation", "kNN-LM", "visible matrix"),
    ),
    # fine-tuning
    Nearest(
        "strategy", "self-distillation",
        "it also keeps a model near the predictions of another one, but that is an earlier copy of itself and no "
        "larger model; `playground compress` distils a large model into a small one",
        (
            "DistilBERT", "TinyBERT", "BERT-PKD", "patient knowledge distillation", "PD", "well-read students",
            "MiniLM", "TextBrewer", "MobileBERT", "DualTrain", "knowledge distillation", "distillation",
            "distilled BiLSTM", "BERT-of-Theseus", "module replacing", "soft targets",
        ),
    ),
    Nearest(
        "strategy", "single layer",
        "it also reads the answer from a lower layer, but from the same one for every text; `playground compress` has "
        "early exit",
        ("FastBERT", "DeeBERT", "early exit", "sample-wise adaptive depth"),
    ),
    Nearest(
        "strategy", "adapters",
        "it also adds small modules to a frozen model, but not one set for each kind of knowledge",
        ("K-Adapter", "Compacter"),
    ),
    Nearest(
        "strategy", "Pfeiffer adapters",
        "its bottlenecks are the ones that they use; an attention over the adapters of several tasks or languages is "
        "not here",
        ("AdapterFusion", "MAD-X"),
    ),
    Nearest(
        "strategy", "temperature sampling",
        "it also draws the task of each step by a power of its number of texts, but the power stays the same",
        ("annealed sampling", "examples-proportional mixing"),
    ),
    Nearest(
        "strategy", "LoRA", "it also trains a few parameters next to frozen matrices",
        ("AdaLoRA", "SHiRA", "QLoRA"),
    ),
    Nearest(
        "strategy", "LoRA", "with use_rslora=yes its updates are multiplied by alpha / sqrt(rank)",
        ("rsLoRA", "rank-stabilised LoRA", "rank-stabilized LoRA"),
    ),
    Nearest(
        "strategy", "prompt tuning",
        "it also learns virtual tokens at the input of a frozen model, but no network makes their vectors",
        ("P-tuning",),
    ),
    Nearest(
        "strategy", "few-shot prompting", "it also shows solved examples, but without the reasoning",
        ("chain of thought",),
    ),
    Nearest(
        "strategy", "adversarial",
        "it also moves the embeddings before it learns, in one step in the direction that raises the loss",
        ("NEFTune", "adversarial training"),
    ),
    Nearest(
        "strategy", "FreeLB",
        "it also moves the embeddings in several steps that raise the loss, and keeps the whole move within a bound",
        ("PGD", "SMART"),
    ),
    Nearest(
        "strategy", "rewritten texts",
        "it also lets a masked language model replace words, but so that the label stays; `playground edit` replaces "
        "words until the prediction changes",
        ("BERT-Attack", "Mask and Infill", "sentiment transfer", "TextFooler", "HotFlip", "adversarial examples"),
    ),
    Nearest(
        "strategy", "new decoder",
        "it also joins a pre-trained model with a decoder that is not pre-trained; `playground compare --decoder RUN` "
        "takes the decoder from another run",
        ("Ramachandran et al.", "ELMo in NMT", "BERT2BERT", "initialising seq2seq", "BERT-fused NMT", "Rothe et al."),
    ),
    Nearest(
        "strategy", "embeddings frozen",
        "it is one of the four steps; `playground compare --second-language` does those before it",
        ("four-step transfer", "four-step monolingual transfer", "Artetxe, Ruder and Yogatama", "MonoTrans"),
    ),
    Nearest(
        "strategy", "replay",
        "of the strategies against forgetting it is the one that continues the pre-training objective",
        ("catastrophic forgetting", "continual learning", "lifelong learning", "continual infusion"),
    ),
    Nearest(
        "strategy", "ULMFiT", "as a strategy it concatenates the last state, the maximum and the mean",
        ("concat pooling",),
    ),
    Nearest("strategy", "multi-task", "it also trains one model on several tasks at once", ("Liu, Qiu, Huang 2016",)),
    Nearest(
        "strategy", "L2-SP", "it also pulls the weights back to the pre-trained ones during training",
        ("RecAdam",),
    ),
    Nearest(
        "strategy", "WiSE-FT",
        "it also merges finished weights; the instrument `soup plane` merges the models of two tasks",
        ("model soup", "model soups", "task arithmetic", "TIES", "DARE", "model merging"),
    ),
    Nearest(
        "strategy", "self-distillation", "it also pulls a model towards the predictions of a copy of itself",
        ("LwF", "learning without forgetting"),
    ),
    Nearest(
        "strategy", "gradual unfreezing",
        "it also adds the layers one after another, but from the top, and all of them are pre-trained",
        ("layer-wise pre-training", "greedy layer-wise pre-training"),
    ),
    Nearest(
        "method of post-training", "DPO", "it also learns from which of two answers is preferred",
        ("RLHF", "RLAIF", "IPO", "KTO", "ORPO", "SimPO", "CPO", "preference optimization", "reward model"),
    ),
    Nearest(
        "method of post-training", "GRPO",
        "it is also a clipped or plain policy gradient on rewards of answers that the policy writes; its baseline is "
        "the mean of a group",
        ("PPO", "proximal policy optimization", "RLOO", "REINFORCE", "GSPO", "CISPO", "VAPO"),
    ),
    # tasks
    Nearest(
        "task", "entailment",
        "it is one of its kinds of task; acceptability, sentiment, paraphrase and similarity are here too",
        ("GLUE",),
    ),
    Nearest(
        "task", "entailment", "it also asks whether one sentence follows from another",
        ("SNLI", "SciTail", "WNLI", "ANLI", "MultiNLI"),
    ),
    Nearest("task", "word in context", "it is one of its tasks", ("SuperGLUE",)),
    Nearest(
        "task", "word in context", "it also asks which sense a word has in its context",
        ("word sense disambiguation", "WSD", "SemCor"),
    ),
    Nearest(
        "task", "sentiment", "it also asks whether a review is positive or negative",
        ("SST-5", "IMDb", "Rotten Tomatoes", "Yelp", "Amazon reviews"),
    ),
    Nearest(
        "task", "topic", "it also asks which category a text belongs to",
        ("DBpedia", "AG News", "TREC", "question classification"),
    ),
    Nearest("task", "paraphrase", "it also asks whether two sentences mean the same", ("PAWS",)),
    Nearest(
        "task", "sentiment abroad", "it also learns a task in one language and is tested in another",
        (
            "XNLI", "zero-shot cross-lingual transfer", "cross-lingual document classification", "MLDoc", "XTREME",
            "Japanese sentiment",
        ),
    ),
    Nearest(
        "task", "question answering", "it also asks for a span of a passage, with one question at a time",
        (
            "SQuAD 1.1", "TyDi QA", "XQuAD", "question generation", "Retrospective Reader", "SAE", "SQuAD 2.0", "CoQA",
            "HotpotQA", "MLQA", "QNLI", "TriviaQA", "NewsQA", "Natural Questions", "ELI5", "span head",
            "coreference resolution",
        ),
    ),
    Nearest(
        "task", "story ending", "it also asks which of several texts continues a text best",
        ("RACE", "HellaSwag", "COPA", "Children's Book Test", "ROCStories", "Winograd"),
    ),
    Nearest(
        "task", "entities", "it also finds names and says what kind each is",
        ("CoNLL-2003", "OntoNotes", "OntoNotes 5.0", "Reuters", "entity normalisation"),
    ),
    Nearest(
        "task", "part of speech", "it also gives every word of a sentence a label",
        (
            "Penn Treebank", "PTB", "WSJ", "chunking", "text chunking", "constituent labelling", "dependency parsing",
            "constituency parsing", "parsing",
        ),
    ),
    Nearest(
        "task", "known people", "it also asks for a fact that the text does not contain",
        ("LAMA", "knowledge probing"),
    ),
    Nearest(
        "task", "translation", "it also generates a sentence in another language",
        ("WMT14", "WMT15", "IWSLT15", "unsupervised MT", "NMT", "document MT"),
    ),
    Nearest(
        "task", "summary", "it also generates one sentence that sums up a text",
        ("XSum", "abstractive summarisation"),
    ),
    Nearest(
        "task", "key sentence", "it also selects the sentences that sum up a text",
        ("MatchSum", "extractive summarisation"),
    ),
    # corpora
    Nearest(
        "corpus", "world",
        "it is the text that models are pre-trained on here, generated by a grammar; `--corpus FILE` takes any text "
        "of yours",
        (
            "BookCorpus", "BooksCorpus", "Wikipedia", "WikiText-103", "1 Billion Word Benchmark", "1B Word", "WebText",
            "OpenWebText", "Common Crawl", "CC-News", "C4", "Stories dataset", "Gigaword", "ClueWeb", "RealNews",
            "WMT News Crawl", "The Pile", "enwik8",
        ),
    ),
    Nearest(
        "corpus", "parallel", "it also has sentences with their translations",
        ("Europarl", "MultiUN", "Tanzil", "OPUS"),
    ),
    Nearest(
        "corpus", "facts", "its sentences say who was born where and what towns have",
        ("Wikidata", "ConceptNet", "ATOMIC", "knowledge graph"),
    ),
    Nearest(
        "corpus", "roles", "its sentences say who did what to whom, in the active and in the passive voice",
        ("semantic role labelling", "SRL", "PropBank"),
    ),
    Nearest("corpus", "gaps", "some of its words can also be predicted only from a word far before them", ("LAMBADA",)),
    Nearest(
        "corpus", "families", "it is made for analogies between relatives and between capitals",
        ("word analogy", "word analogies", "WordSim-353", "SimLex-999"),
    ),
    Nearest(
        "corpus", "speech", "in it uh, um, repetitions and corrections are marked",
        ("disfluency detection", "Switchboard", "noisy words detection", "noisy word detection"),
    ),
    Nearest(
        "corpus", "stories", "its stories have four events in order",
        ("story generation", "dialogue", "response generation", "conversational response generation"),
    ),
    Nearest(
        "corpus", "scenes",
        "it describes pictures, events and sounds with symbols before a sentence, so that any objective reads "
        "both",
        (
            "VideoBERT", "MAE", "BEiT", "CBT", "wav2vec", "masked visual-feature modelling",
            "image denoising autoencoder", "visual-linguistic matching", "ViLBERT", "LXMERT", "VisualBERT", "VL-BERT",
            "B2T2", "UNITER", "Unicoder-VL", "UniViLM", "SpeechBERT", "visual MLM", "image-text matching", "VQA", "VCR",
            "visual question answering", "spoken question answering",
        ),
    ),
)  # fmt: skip

POST_TRAINING = (
    "SFT", "supervised fine-tuning", "DPO", "direct preference optimization", "direct preference optimisation", "GRPO",
    "group relative policy optimization", "Dr. GRPO", "DAPO", "RLVR", "best of n", "best-of-n", "BoN",
    "rejection sampling",
)  # fmt: skip
"""The names of all methods of post-training, which are asked for in other lists too."""
