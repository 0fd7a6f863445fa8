"""Names of the field that are not here, and what is nearest to them by meaning; a new name is one more string."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Nearest:
    """What is here: its kind and its `name`, why it is near, and the names of the field that it stands nearest to."""

    kind: Literal["entry", "objective", "strategy", "task", "corpus"]
    name: str
    because: str
    to: tuple[str, ...]


NEAREST = (
    # models that read from the left
    Nearest(
        "entry", "GPT-3",
        "it too is a transformer that sees the left side alone and predicts the next word; the others differ in "
        "size, in data and in small parts",
        (
            "GPT-4", "GPT-J", "GPT-Neo", "GPT-NeoX", "Megatron-LM", "Megatron", "Turing-NLG", "LLaMA", "Phi",
            "DeepSeek", "Claude", "Gemini", "OPT", "BLOOM", "PaLM", "Chinchilla", "Gopher", "Mistral", "Falcon",
            "Qwen", "Gemma", "Pythia", "DialoGPT", "Codex", "ChatGPT", "InstructGPT",
        ),
    ),
    Nearest(
        "entry", "GPT",
        "its network is this: it sees the left side alone",
        ("Transformer decoder", "decoder-only"),
    ),
    Nearest(
        "entry", "Dai and Le",
        "it too carries a state from word to word, in an LSTM; `--set kind=gru` makes that a GRU",
        ("LSTM", "GRU", "biLSTM", "QRNN", "RNN", "recurrent neural network", "Mamba", "RWKV", "state space model"),
    ),
    Nearest(
        "entry", "Dai and Le",
        "it too makes the state of a place out of other states, though from word to word and not along a tree",
        ("TreeLSTM", "recursive neural network"),
    ),
    Nearest(
        "entry", "Transformer-XL",
        "it has the distance between two words in their attention, and a memory of the text before: the knob mem_len",
        ("segment-level recurrence", "relative positions", "relative position embeddings", "Compressive Transformer"),
    ),
    Nearest(
        "objective", "window LM",
        "it too lets a word see only a few words that are near",
        ("Sparse Transformer", "banded sparse attention", "local attention", "Longformer", "BigBird"),
    ),
    Nearest(
        "objective", "LM",
        "its attention mask is the causal one",
        ("causal mask", "causal attention", "attention mask"),
    ),
    Nearest(
        "entry", "CTRL",
        "it too writes as a sign before the text says",
        ("PPLM", "controlled generation"),
    ),
    Nearest(
        "entry", "Grover",
        "it is written to by metadata as such news is, and its authors tell false news with it",
        ("fake-news detection", "fake news"),
    ),
    Nearest(
        "entry", "GPT-2",
        "it put the norms in front of each part of a layer, and its authors cut words to pieces of bytes; `--set "
        "norm_first=no` puts them behind, and the Corpus page cuts a text with BPE",
        ("pre-norm", "post-norm", "pre-LN", "post-LN", "BPE", "byte-pair encoding", "byte-level BPE"),
    ),
    # models that read from both sides
    Nearest(
        "entry", "BERT",
        "its network is this: every word sees all others, and knows its place; `--set positions=...` gives other "
        "places",
        (
            "Transformer", "Transformer encoder", "self-attention", "position embeddings", "positional encoding",
            "learned positions", "sinusoidal positions", "rotary positions", "RoPE",
        ),
    ),
    Nearest(
        "entry", "BERT",
        "it is what they make cheaper or larger: here every word sees all others by plain attention, and every layer "
        "has one MLP",
        (
            "Reformer", "Linformer", "Performer", "FlashAttention", "Funnel Transformer", "Switch Transformer", "MoE",
            "mixture of experts",
        ),
    ),
    Nearest(
        "entry", "BERT",
        "it too lets every word look at others, at all of them and not only at those that a graph joins to it",
        ("GCN", "graph convolution"),
    ),
    Nearest(
        "entry", "BERT",
        "they are this model on other texts or in another language; `playground train BERT --corpus FILE` trains it "
        "on yours",
        (
            "CamemBERT", "FlauBERT", "BERTje", "RobBERT", "AraBERT", "RuBERT", "FinBERT", "Chinese-BERT", "NEZHA",
            "ZEN", "CodeBERT", "LayoutLM",
        ),
    ),
    Nearest(
        "entry", "BERT",
        "its heads are what such tools draw; here the Train page does, and `playground bake` keeps them in a file",
        ("BertViz", "exBERT", "attention visualisation"),
    ),
    Nearest(
        "entry", "BERT",
        "what is meant is a knob of its network or its recipe, as of all others: dropout, grad_accum_steps, "
        "precision",
        ("dropout", "gradient accumulation", "mixed precision", "bfloat16"),
    ),
    Nearest(
        "entry", "BERT",
        "its authors cut words with it; here the Corpus page does",
        ("WordPiece",),
    ),
    Nearest(
        "entry", "XLNet",
        "its authors cut words with it; here the Corpus page does, by Unigram",
        ("SentencePiece", "Unigram"),
    ),
    Nearest(
        "entry", "RoBERTa",
        "it too is BERT with another recipe; what keeps a word apart from its place is not here",
        ("DeBERTa", "DeBERTa-v3", "ModernBERT"),
    ),
    Nearest(
        "entry", "BioBERT",
        "it too is BERT on the texts of one field",
        ("ClinicalBERT", "PubMedBERT", "PatentBERT", "LegalBERT", "BlueBERT", "DAPT", "domain-adaptive pre-training"),
    ),
    Nearest(
        "entry", "ALBERT",
        "it too is BERT in less memory, by layers that are shared and by narrow word vectors; fewer bits, or "
        "weights taken away, are methods of `playground compress`",
        (
            "quantization", "quantisation", "Q-BERT", "Q8BERT", "pruning", "weight pruning", "head pruning",
            "attention-head pruning", "layer pruning", "lottery ticket", "information bottleneck", "VIB",
            "low-rank factorisation", "model compression", "smaller vocabulary",
        ),
    ),
    Nearest(
        "entry", "ALBERT",
        "it has them: word vectors that are narrow and tied, and one layer used at every depth",
        (
            "factorised embeddings", "factorized embeddings", "tied embeddings", "cross-layer sharing",
            "parameter sharing", "Universal Transformer",
        ),
    ),
    Nearest(
        "entry", "mBERT",
        "it is the model with one vocabulary for many languages that such studies look into",
        ("Wu et al. 2019", "Pires et al. 2019", "multilingual transfer"),
    ),
    Nearest(
        "entry", "XLM",
        "it too reads a sentence beside its translation; the further questions of those models are not here",
        ("Unicoder", "InfoXLM", "XAE", "XMLM", "XNLG", "cross-lingual word recovery", "ALM"),
    ),
    Nearest(
        "entry", "ERNIE 2.0",
        "it is the model before it",
        ("ERNIE 3.0",),
    ),
    Nearest(
        "entry", "ELECTRA",
        "with `--set generator_first=0.5 --set generator_ratio=1` it trains in two stages",
        ("two-stage ELECTRA", "RTD in two stages"),
    ),
    Nearest(
        "entry", "UniLM",
        "it is the model before it",
        ("UniLMv2",),
    ),
    # models with letters, word vectors
    Nearest(
        "entry", "ELMo",
        "its word vectors too are made of letters, by a convolution",
        ("CharCNN", "character CNN", "CNN encoder"),
    ),
    Nearest(
        "entry", "flair",
        "it reads and predicts characters; any entry does with `--tokenizer characters`, or bytes",
        ("character-level LM", "CANINE", "ByT5"),
    ),
    Nearest(
        "entry", "ELMo",
        "it too reads a text from either side by a network of its own",
        ("two-tower cloze", "Baevski et al. 2019", "contextual embeddings", "contextual word embeddings"),
    ),
    Nearest(
        "entry", "GloVe",
        "it too makes word vectors of a table that says which words stand together, by least squares",
        (
            "LSA", "SVD", "PPMI", "latent semantic analysis", "co-occurrence matrix factorisation",
            "global matrix factorization",
        ),
    ),
    Nearest(
        "objective", "skip-gram NS",
        "it too does without the scores of the whole vocabulary, by a few words drawn at random",
        ("hierarchical softmax",),
    ),
    Nearest(
        "objective", "skip-gram NS",
        "it is trained by it, and so is 'CBOW NS'",
        ("negative sampling",),
    ),
    Nearest(
        "objective", "skip-gram NS",
        "two of its tables, one for each language, are turned onto each other by `playground align`",
        ("multilingual word embeddings", "bilingual word embeddings", "MUSE", "VecMap", "Procrustes alignment"),
    ),
    # objectives
    Nearest(
        "objective", "MLM",
        "what becomes of a chosen word are its knobs: mask_replace_prob and random_replace_prob",
        ("80/10/10", "80/10/10 corruption", "mask token", "[MASK]", "MLM head", "enhanced MLM", "E-MLM"),
    ),
    Nearest(
        "objective", "MLM",
        "it too fills hidden words from both sides; a diffusion model hides another share each time, up to all of "
        "them, and fills them in many passes",
        (
            "diffusion", "diffusion language model", "masked diffusion", "discrete diffusion", "D3PM", "LLaDA",
            "block diffusion", "BD3-LM",
        ),
    ),
    Nearest(
        "objective", "LM",
        "it too asks a state for words to its right, though for the next one only",
        ("multi-token prediction", "MTP"),
    ),
    Nearest(
        "objective", "MLM",
        "it too hides words and asks for them; there each is read off the place before it, so that one network is both",
        ("MNTP", "GPT-BERT"),
    ),
    Nearest(
        "objective", "multilingual MLM",
        "it too makes one model of texts in two languages, which need not stand side by side",
        ("code-switching", "code-switch"),
    ),
    Nearest(
        "objective", "MLM + NSP",
        "it has [CLS], [SEP] and a vector for the first and the second text",
        ("segment embeddings", "[CLS]", "[SEP]", "special tokens", "input packing", "BERT input packing"),
    ),
    Nearest(
        "objective", "PLM",
        "it is the objective that has them: an order drawn by chance, told by attention masks and a second stream "
        "that knows the place but not the word",
        (
            "partial prediction", "permutation by attention mask", "target-position-aware prediction",
            "two-stream self-attention", "two-stream attention", "MPNet", "NADE", "sigma-GPT", "any-order",
        ),
    ),
    Nearest(
        "objective", "BART infilling",
        "it is the noise that did best alone in BART's paper; 'all noises' has five, one after another",
        ("DAE", "denoising autoencoder"),
    ),
    Nearest(
        "objective", "BART mixture",
        "it puts together the two noises that BART's authors chose",
        ("noise composition",),
    ),
    Nearest(
        "objective", "T5 spans",
        "it too hides spans and writes them; UL2 mixes several lengths of them with a prefix LM, here 'T5 prefix "
        "LM'",
        ("UL2", "mT5", "GLM", "FIM", "CM3", "ERNIE-GEN", "fill in the middle"),
    ),
    Nearest(
        "entry", "T5",
        "it has an encoder that sees all and a decoder that writes from the left, and learns by teacher forcing",
        ("encoder-decoder", "full Transformer", "seq2seq", "sequence to sequence", "teacher forcing"),
    ),
    Nearest(
        "entry", "GPT-2",
        "a trained run of it writes on, greedily or by beam search: `playground generate RUN --num-beams 4`",
        ("beam search", "greedy decoding", "length penalty"),
    ),
    Nearest(
        "objective", "T5 multi-task",
        "there too tasks are written as text with a prefix, and are trained together",
        ("T0", "FLAN", "Flan-T5", "instruction tuning", "decaNLP", "MQAN", "universal data format"),
    ),
    Nearest(
        "objective", "translation through one vector",
        "there too all that is known of a sentence must pass through one vector, from which another text is written",
        ("skip-thought", "GenSen", "paragraph vector", "doc2vec", "sequence autoencoder", "sentence autoencoder"),
    ),
    Nearest(
        "objective", "sentence matching",
        "it too tells by two vectors which two texts belong together among those of a batch",
        ("SimCSE", "SimCLR", "information retrieval", "DPR", "TwinBERT", "CLIP", "dual encoder", "Quick-Thought"),
    ),
    Nearest(
        "objective", "translation pairs",
        "it too asks which two sentences are translations of each other",
        ("parallel corpus mining", "BUCC", "Tatoeba"),
    ),
    Nearest(
        "objective", "gap sentences",
        "it too hides whole sentences of a document and writes them",
        ("HIBERT", "sentence infilling"),
    ),
    # knowledge
    Nearest(
        "entry", "WKLM",
        "it too must know which name belongs where, from texts alone; vectors of a graph of facts are not here",
        (
            "KnowBERT", "KT-NET", "TransE", "knowledge graph embedding", "ERNIE-THU", "dEA", "KEPLER", "KGLM", "LRLM",
            "entity linking", "LUKE", "knowledge embedding",
        ),
    ),
    Nearest(
        "entry", "SenseBERT",
        "it too learns what a dictionary of meanings says of words",
        ("LIBERT",),
    ),
    Nearest(
        "strategy", "knowledge injection",
        "it too puts what is looked up into the text, but facts of our grammar, and finds nothing in other texts",
        ("REALM", "RAG", "retrieval augmentation", "kNN-LM", "visible matrix"),
    ),
    # fine-tuning
    Nearest(
        "strategy", "self-distillation",
        "there too a model stays near what another one predicts, though that is its own earlier self and no larger; "
        "a small model that learns from a large one is made by `playground compress`",
        (
            "DistilBERT", "TinyBERT", "BERT-PKD", "patient knowledge distillation", "PD", "well-read students",
            "MiniLM", "TextBrewer", "MobileBERT", "DualTrain", "knowledge distillation", "distillation",
            "distilled BiLSTM", "BERT-of-Theseus", "module replacing", "soft targets",
        ),
    ),
    Nearest(
        "strategy", "single layer",
        "it too reads the answer off a lower layer, though the same one for every text; `playground compress` lets "
        "each text leave at a layer of its own",
        ("FastBERT", "DeeBERT", "early exit", "sample-wise adaptive depth"),
    ),
    Nearest(
        "strategy", "adapters",
        "it is small parts in a frozen model too, though not one set for each kind of knowledge",
        ("K-Adapter", "AdapterFusion", "Compacter"),
    ),
    Nearest(
        "strategy", "LoRA",
        "it too trains a few numbers beside frozen matrices",
        ("AdaLoRA", "VeRA", "SHiRA", "QLoRA", "DoRA", "IA3"),
    ),
    Nearest(
        "strategy", "prefix tuning",
        "it too learns vectors that the frozen model can look at, though in every layer",
        ("prompt tuning", "P-tuning", "soft prompts"),
    ),
    Nearest(
        "strategy", "few-shot prompting",
        "it too shows solved examples, though without their reasons",
        ("chain of thought",),
    ),
    Nearest(
        "strategy", "adversarial",
        "it too moves the embeddings for the worst, though in one step, not several",
        ("FreeLB", "NEFTune", "SMART", "PGD", "adversarial training"),
    ),
    Nearest(
        "strategy", "rewritten texts",
        "there too a model that fills gaps gives a text other words, though they keep the label; `playground edit` "
        "changes words until the label is another",
        ("BERT-Attack", "Mask and Infill", "sentiment transfer", "TextFooler", "HotFlip", "adversarial examples"),
    ),
    Nearest(
        "strategy", "new decoder",
        "it too joins what was trained with what was not to a model that writes; `playground compare --decoder RUN` "
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
        "of all that is here against forgetting it keeps the old question itself",
        ("catastrophic forgetting", "continual learning", "lifelong learning", "continual infusion"),
    ),
    Nearest(
        "strategy", "ULMFiT",
        "as a strategy it reads the last state, the highest and the mean",
        ("concat pooling",),
    ),
    Nearest(
        "strategy", "multi-task",
        "it too trains one model on several tasks at once",
        ("Liu, Qiu, Huang 2016",),
    ),
    Nearest(
        "strategy", "L2-SP",
        "it too pulls the weights back to those of pre-training while it trains",
        ("mixout", "RecAdam"),
    ),
    Nearest(
        "strategy", "L2-SP",
        "it too holds the weights near those of pre-training, though while it trains and not afterwards",
        ("WiSE-FT", "model soup", "model soups", "task arithmetic", "TIES", "DARE"),
    ),
    Nearest(
        "strategy", "self-distillation",
        "it too pulls a model towards the predictions of a copy of itself",
        ("LwF", "learning without forgetting", "data2vec", "JEPA"),
    ),
    Nearest(
        "strategy", "gradual unfreezing",
        "it too takes the layers one after another, though from the top and when all are pre-trained",
        ("layer-wise pre-training", "greedy layer-wise pre-training"),
    ),
    Nearest(
        "strategy", "full",
        "it learns from right answers; learning from a reward or from what people like better is not here",
        ("RLHF", "DPO", "PPO", "GRPO"),
    ),
    # tasks
    Nearest(
        "task", "entailment",
        "it is one of the kinds of task in it; the others here are acceptability, sentiment, paraphrase and "
        "similarity",
        ("GLUE",),
    ),
    Nearest(
        "task", "entailment",
        "it asks the same of two sentences",
        ("SNLI", "SciTail", "WNLI", "ANLI", "MultiNLI"),
    ),
    Nearest(
        "task", "word in context",
        "it is one of the tasks of it",
        ("SuperGLUE",),
    ),
    Nearest(
        "task", "word in context",
        "it too asks which meaning a word has where it stands",
        ("word sense disambiguation", "WSD", "SemCor"),
    ),
    Nearest(
        "task", "sentiment",
        "it too asks whether a review praises or blames",
        ("SST-5", "IMDb", "Rotten Tomatoes", "Yelp", "Amazon reviews"),
    ),
    Nearest(
        "task", "topic",
        "it too asks of what kind a text is",
        ("DBpedia", "AG News", "TREC", "question classification"),
    ),
    Nearest(
        "task", "paraphrase",
        "it asks the same of two sentences",
        ("PAWS",),
    ),
    Nearest(
        "task", "sentiment abroad",
        "it too learns a task in one language and is asked in another",
        (
            "XNLI", "zero-shot cross-lingual transfer", "cross-lingual document classification", "MLDoc", "XTREME",
            "Japanese sentiment",
        ),
    ),
    Nearest(
        "task", "question answering",
        "it too asks for words of a passage, in one step of question and answer",
        (
            "SQuAD 1.1", "TyDi QA", "XQuAD", "question generation", "Retrospective Reader", "SAE", "SQuAD 2.0",
            "CoQA", "HotpotQA", "MLQA", "QNLI", "TriviaQA", "NewsQA", "Natural Questions", "ELI5", "span head",
            "coreference resolution",
        ),
    ),
    Nearest(
        "task", "story ending",
        "it too chooses among several texts the one that goes on best",
        ("RACE", "HellaSwag", "COPA", "Children's Book Test", "ROCStories", "Winograd"),
    ),
    Nearest(
        "task", "entities",
        "it too finds names and says what they name",
        ("CoNLL-2003", "OntoNotes", "OntoNotes 5.0", "Reuters", "entity normalisation"),
    ),
    Nearest(
        "task", "part of speech",
        "it too says of every word what it is in its sentence",
        (
            "Penn Treebank", "PTB", "WSJ", "chunking", "text chunking", "constituent labelling", "dependency parsing",
            "constituency parsing", "parsing",
        ),
    ),
    Nearest(
        "task", "known people",
        "it too asks for a fact that the text does not tell",
        ("LAMA", "knowledge probing"),
    ),
    Nearest(
        "task", "translation",
        "it writes a sentence in another language",
        ("WMT14", "WMT15", "IWSLT15", "unsupervised MT", "NMT", "document MT"),
    ),
    Nearest(
        "task", "summary",
        "it too writes one sentence for a text",
        ("XSum", "abstractive summarisation"),
    ),
    Nearest(
        "task", "key sentence",
        "it too chooses the sentences that sum up a text",
        ("MatchSum", "extractive summarisation"),
    ),
    # corpora
    Nearest(
        "corpus", "world",
        "it is the text that is learnt from here, made by a grammar; `--corpus FILE` takes any text of yours",
        (
            "BookCorpus", "BooksCorpus", "Wikipedia", "WikiText-103", "1 Billion Word Benchmark", "1B Word",
            "WebText", "OpenWebText", "Common Crawl", "CC-News", "C4", "Stories dataset", "Gigaword", "ClueWeb",
            "RealNews", "WMT News Crawl", "The Pile", "enwik8",
        ),
    ),
    Nearest(
        "corpus", "parallel",
        "it too has sentences with their translations",
        ("Europarl", "MultiUN", "Tanzil", "OPUS"),
    ),
    Nearest(
        "corpus", "facts",
        "its sentences tell who was born where and what towns have",
        ("Wikidata", "ConceptNet", "ATOMIC", "knowledge graph"),
    ),
    Nearest(
        "corpus", "roles",
        "its sentences tell who did what to whom, in the active and in the passive",
        ("semantic role labelling", "SRL", "PropBank"),
    ),
    Nearest(
        "corpus", "gaps",
        "in it too a word is known only by one that stands far before",
        ("LAMBADA",),
    ),
    Nearest(
        "corpus", "families",
        "it is written for analogies of relatives and capitals",
        ("word analogy", "word analogies", "WordSim-353", "SimLex-999"),
    ),
    Nearest(
        "corpus", "speech",
        "in it uh, um, repeated and retracted words are marked",
        ("disfluency detection", "Switchboard", "noisy words detection", "noisy word detection"),
    ),
    Nearest(
        "corpus", "stories",
        "its stories have four events in an order",
        ("story generation", "dialogue", "response generation", "conversational response generation"),
    ),
    Nearest(
        "corpus", "scenes",
        "it tells pictures, events and sounds as symbols before a sentence, so that any objective reads both",
        (
            "VideoBERT", "MAE", "BEiT", "CBT", "wav2vec", "masked visual-feature modelling",
            "image denoising autoencoder", "visual-linguistic matching", "ViLBERT", "LXMERT", "VisualBERT", "VL-BERT",
            "B2T2", "UNITER", "Unicoder-VL", "UniViLM", "SpeechBERT", "visual MLM", "image-text matching", "VQA",
            "VCR", "visual question answering", "spoken question answering",
        ),
    ),
)  # fmt: skip
