"""Every sentence that a person may read is plain English: a list of words and phrases is refused wherever it stands.

Most of them are German in English letters, some are the project's own where the field has a term. A word that is right
in some phrase is allowed there (`RIGHT`). Read are the strings of the code, the texts that the catalogues assemble, the
helps of the commands, the docstrings of what a notebook calls, the documents and the notebooks.
"""

import ast
import io
import json
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

from playground.analysis.instrument import instruments
from playground.cli import parser
from playground.cli.zoo import MEASURED
from playground.compression.method import methods
from playground.corpora.sources import sources
from playground.finetuning import strategies, tasks
from playground.finetuning.strategy.find import knobs_of
from playground.finetuning.strategy.strategy import FAMILIES
from playground.glossary import TERMS, mentioned, pattern
from playground.knob import Knob, knobs
from playground.models import Architecture
from playground.objectives import objectives
from playground.posttraining import methods as post_training_methods
from playground.posttraining import rewards
from playground.zoo import entries
from playground.zoo.changes import changes
from playground.zoo.recipe import Recipe
from widgets.notebook.comparison import Compared, compare
from widgets.notebook.compression import CompressedModels, compress
from widgets.notebook.inspection import Inspected, inspect
from widgets.notebook.picture import Picture, stage
from widgets.notebook.posttraining import PostTrained, post_train
from widgets.notebook.survey import Table, table
from widgets.notebook.training import Trained, train

ROOT = Path(__file__).parents[2]

HOUSE = (
    "acted out", "alike", "anew", "as far away", "as it were", "at the begin", "behind", "bends?", "bent", "beside",
    "bit for bit", "by lot", "by turns", "came (?:again|together)",
    "com(?:es?|ing) (?:again|often|equally|together|apart)", "counts? for", "equally (?:many|often|large)",
    "film of (?:the|this|a)", "film strip", "first moment",
    "first weights", "for in a", "for want of", "from nothing", "from where on",
    "(?:from|of) new weights", "further texts?", "(?:go|goes|went|going|gone) on", "graded?", "hangs? on", "heard",
    "hears?", "how (?:hard|alike)", "in front of", "in the line", "in turns", "(?:is|are) held against",
    "(?:is|was|are) there already", "judged?", "judges", "kept runs?", "kin", "(?:laid|lays?) (?:over|side|their|its)",
    "lamp", "lanes?", "(?:learn|learned|printed|them|target) so", "learnt", "left as it is", "less that of",
    "let the reader go", "made of letters", "moving picture", "no part (?:in|here)", "not one bit", "nothing but",
    "of a kind", "(?:of|in) one's own", "old (?:questions?|loss|outputs?)", "one that is kept", "places?",
    "plugged in", "readers?", "(?:reads?|runs?|ranked|trained|encoded|kept|are|is|each|tested|stand|texts|them) apart",
    "roll again", "runs? (?:that )?(?:is|are|was|were) kept", "(?:says?|said|asks?|asked|tells?|knows?) of", "seldom",
    "shall", "signs?", "so learned", "so (?:many|much|few)", "stands?", "stood", "taken out", "takes? along", "taught",
    "that (?:is|are) there", "the begin", "the dice", "the turn", "(?<!there )(?:is|are|was|were) no", "to chance",
    "to the last bit", "told", "took no part", "which only", "who sees whom", "wish(?:es)?",
    "take (?:a (?:base|model|strategy|task)|another|at least|more|one (?:from|that))",
    "learns? sooner", "times out of five", "turn a knob",
    "bring it back", "frequencies alone", "let it go", "lost its numbers", "make a run", "texts packed",
    "the first, against", "what it cannot write", "what labels are worth", "written in a line",
)  # fmt: skip
"""Patterns of whole words, in any case."""

RIGHT = {
    "are no": "are no longer",
    "behind": "behind (?:a reverse |a )?proxy|behind a gate|behind masks",
    "count for": "count for each",
    "frequencies alone": "word frequencies alone",
    "graded": "graded similarity",
    "is no": "is no (?:longer|better)",
    "lamp": "A small lamp was",  # sample texts
    "learned so": "learned so far",
    "place": "(?:takes?|took) (?:its|the) place|in place|of (?:a )?place|person or place|person place plant|and place",
    "places": "six places|a few places",
    "reader": "Retrospective Reader",
    "sign": "plus sign",
    "signs": "plus signs",
    "stand": "stands? for",
    "stands": "stands? for",
    "taught": "texts? taught",
    "texts apart": "tell the two texts apart",
}
"""A refused word, and the phrases in which it is right."""

WORD = re.compile(rf"(?<![\w-])(?:{'|'.join(HOUSE)})(?![\w-])", re.IGNORECASE)


def house_words(text: str) -> Iterator[str]:
    """The refused words of a text."""
    for hit in WORD.finditer(text):
        right = re.finditer(RIGHT.get(hit[0].lower(), "(?!)"), text, re.IGNORECASE)
        if not any(phrase.start() <= hit.start() and hit.end() <= phrase.end() for phrase in right):
            yield hit[0]


def refused(texts: Iterable[tuple[object, str]]) -> list[str]:
    """`where: word: sentence` for every refused word of texts, each with where it was read."""
    return [
        f"{where}: {word}: {_around(flat, word)}"
        for where, text in dict.fromkeys(texts)
        for flat in (" ".join(text.split()),)
        for word in house_words(flat)
    ]


def _around(text: str, word: str) -> str:
    """The sentence of a text that holds a word."""
    return (
        next(part for part in re.split(r"(?<=[.;:|]) ", text) if word in part or part == text) if word in text else text
    )


def test_a_word_is_refused_as_a_word_and_where_it_is_wrong():
    assert list(house_words("Two signs at the begin.")) == ["signs", "at the begin"]
    assert list(house_words("A plane, designs and a plus sign; [MASK] stands for a word.")) == []
    assert list(house_words("The place of a word. It takes its place; there is no text.")) == ["place"]
    assert list(house_words("It is no mixture and is no longer one.")) == ["is no"]


def test_a_template_is_read_with_those_inside_it():
    source = """a = /"/; b = "one two"; // "not this"\nc = `three ${x ? `four ${{ y: 1 }.y}` : "five"} six`;"""
    assert [text for _, text in javascript_strings(source)] == ["one two", "four {}", "five", "three {} six"]


# the catalogues, whose cards are assembled


def every_knob() -> Iterator[tuple[str, Knob]]:
    """The knobs of everything that has some, each with the name of what has it."""
    yield from ((o.name, k) for o in objectives().values() for k in o.knobs.values())
    yield from ((s.name, k) for s in strategies().values() for k in knobs_of(s).values())
    yield from ((i.name, k) for i in instruments().values() for k in knobs(i.settings))
    yield from ((m.name, k) for m in methods().values() for k in m.knobs)
    yield from ((m.name, k) for m in post_training_methods().values() for k in m.knobs)
    yield from ((s.name, k) for s in sources().values() if s.settings is not None for k in knobs(s.settings))
    yield from ((part.__name__, k) for part in (Architecture, Recipe) for k in knobs(part))


def catalogue() -> Iterator[tuple[str, str]]:
    for o in objectives().values():
        misprint = o.misprint.wrong if o.misprint else ""
        symbols = [said for term in o.current_terms for said in term.symbols.values()]
        yield from ((o.name, text) for text in (o.idea, o.loss, misprint, *o.switch, *o.versus.values(), *symbols))
    for entry in entries().values():
        yield from ((entry.name, text) for text in (entry.idea, entry.changed, entry.not_the_paper, entry.data))
        yield from ((entry.name, f"{c.part}: {c.before}, {c.after}. {c.why}") for c in changes(entry))
        yield from ((entry.name, f"{phase.name}: {phase.idea}") for phase in entry.all_phases)
    for s in (*strategies().values(), *tasks().values(), *sources().values(), *methods().values()):
        yield from ((s.name, text) for text in (s.idea, getattr(s, "source", "")) if isinstance(text, str))
    for m in post_training_methods().values():
        yield from ((m.name, text) for text in (m.idea, m.source, m.unlike_paper))
    yield from ((r.name, r.idea) for r in rewards().values())
    for i in instruments().values():
        yield from ((i.name, text) for text in (i.question, i.source))
    yield from ((f"{owner} {k.name}", f"{k.why} {k.unit}") for owner, k in every_knob())
    yield from FAMILIES.items()
    yield from ((term.name, term.says) for term in TERMS)


def test_the_catalogues():
    found = list(catalogue())
    assert len(found) > 1500
    assert refused(found) == []


def test_no_text_of_the_catalogues_has_marks_of_code():
    """It is shown as it stands; the glossary is also a page of the documentation, which sets them."""
    terms = {term.name for term in TERMS}
    assert [(name, text) for name, text in catalogue() if "`" in text and name not in terms] == []


def test_a_knob_explains_itself_in_words_of_its_own():
    assert [(owner, k.name) for owner, k in every_knob() if k.why.startswith("Of ")] == []


def test_the_helps_of_the_commands():
    commands = parser()._subparsers._group_actions[0].choices
    assert len(commands) > 15
    assert refused((name, command.format_help()) for name, command in commands.items()) == []


def test_the_docstrings_of_what_a_notebook_calls():
    functions = (stage, train, compare, compress, inspect, post_train, table)
    values = (Picture, Trained, Compared, CompressedModels, Inspected, PostTrained, Table)
    public = [getattr(value, name) for value in values for name in vars(value) if not name.startswith("_")]
    docs = [(one, one.__doc__) for one in (*functions, *values, *public) if getattr(one, "__doc__", None)]
    assert len(docs) > 30
    assert refused((getattr(one, "__qualname__", one), re.sub("`[^`]*`", "", doc)) for one, doc in docs) == []


# the strings of the code

DATA = ("playground/corpora/tinyworld/", "playground/tokenizing/phrases.py")
"""Words of generated texts and of a list of stop words, no sentences of ours; ideas of corpora are in the catalogue."""

NO_SENTENCE = re.compile(
    r"^\s*(?:CREATE|SELECT|INSERT|UPDATE|DELETE|BEGIN|ATTACH|PRAGMA)\b|ON CONFLICT|[\w-]+: [^;]+;.*[{}]|^step, kind"
)
"""SQL and style sheets."""


@cache
def nodes_of(source: str) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(source)))


@cache
def python_strings(source: str) -> tuple[tuple[int, str], ...]:
    """Line and text of each string of a module that may be a sentence: no docstring, key, pattern or annotation."""
    nodes = nodes_of(source)
    skipped = {id(inner) for node in nodes for outer in _not_read(node) for inner in ast.walk(outer)}
    strings = [node for node in nodes if id(node) not in skipped and isinstance(node, ast.JoinedStr | ast.Constant)]
    return tuple((node.lineno, _text(node)) for node in strings if _text(node))


def _text(node: ast.JoinedStr | ast.Constant) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)


def _not_read(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node whose strings no person reads as a sentence, or that are read with the node itself."""
    match node:
        case ast.Expr(value=ast.Constant()):
            yield node.value
        case ast.Dict():
            yield from filter(None, node.keys)
        case ast.Subscript():
            yield node.slice
        case ast.Compare():
            yield node
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re"))):
            yield from node.args[:1]
        case ast.JoinedStr():
            yield from (part for part in node.values if isinstance(part, ast.Constant))
        case ast.arg(annotation=ast.AST()) | ast.AnnAssign():
            yield node.annotation
        case ast.FunctionDef(returns=ast.AST()):
            yield node.returns


IN_CODE = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|[`{}]"
    r"|(?<=[(,=:\[!&|?{};>])\s*/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/",
    re.DOTALL,
)
"""A comment, a string, the beginning of a template, a brace, or a regular expression."""

IN_TEMPLATE = re.compile(r"\\.|`|\$\{", re.DOTALL)


def javascript_strings(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of each string and template of a module, those inside `${...}` too; comments are left out."""
    templates, braces, at = list[str](), [0], 0  # in the text of a template there are as many of one as of the other
    while found := (IN_TEMPLATE if len(templates) == len(braces) else IN_CODE).search(source, at):
        inside, before, token = len(templates) == len(braces), source[at : found.start()], found[0]
        at = found.end()
        if inside:
            templates[-1] += before + {"`": "", "${": "{}"}.get(token, token)
        if token == "${":
            braces.append(0)
        elif token == "`" and inside:
            yield source.count("\n", 0, at) + 1, templates.pop()
        elif token == "`":
            templates.append("")
        elif token == "{":
            braces[-1] += 1
        elif token == "}":
            braces[-1:] = [braces[-1] - 1] if braces[-1] else []
        elif token[0] in "\"'":
            yield source.count("\n", 0, at) + 1, token[1:-1]


def is_a_sentence(text: str) -> bool:
    return bool(re.search(r"[a-z,;:]\s+\S|^[A-Z][a-z]+$", text)) and not NO_SENTENCE.search(text)


@cache
def modules(ending: str) -> list[tuple[str, str]]:
    files = sorted(file for folder in ("playground", "widgets") for file in (ROOT / folder).rglob(f"*.{ending}"))
    read = [(str(file.relative_to(ROOT)), file.read_text(encoding="utf-8")) for file in files]
    return [(name, text) for name, text in read if not name.startswith(DATA)]


def sentences(ending: str, strings: Callable[[str], Iterable[tuple[int, str]]]) -> list[tuple[str, str]]:
    """The strings of all modules that may be sentences, each with its file and line."""
    return [
        (f"{name}:{line}", re.sub("<[^>]*>", " ", text))
        for name, source in modules(ending)
        for line, text in strings(source)
        if is_a_sentence(text)
    ]


def test_the_strings_of_python():
    found = sentences("py", python_strings)
    assert len(found) > 4000
    assert refused(found) == []


def test_the_strings_of_javascript():
    found = sentences("js", javascript_strings)
    assert len(found) > 200
    assert refused(found) == []


# the glossary


def test_every_term_is_in_the_glossary_once_in_a_sentence_or_two():
    names = [term.name.lower() for term in TERMS]
    assert names == sorted(set(names)) and len(names) > 100
    assert [term.name for term in TERMS if not re.fullmatch(r"[^|\n]{20,160}\.", term.says)] == []


def test_every_term_of_the_glossary_is_used():
    """In a text of the catalogue, on a page, in a script, a help or a lesson."""
    strings = [text for name, source in modules("py") if "glossary" not in name for _, text in python_strings(source)]
    strings += [text for name, source in modules("js") for _, text in javascript_strings(source)]
    strings += [text for _, text in (*catalogue(), *lessons())]
    shown = "\n".join(strings)
    assert [term.name for term in TERMS if not re.search(pattern(term.name), shown, re.IGNORECASE)] == []


EVERYDAY = set(
    """
    a ab an be by can changed cost data dataset document fairness for from ft generate generates in input it labelled
    meters method model ms of one or over params per question right run sees settings side start step steps text texts
    three time used what with words x y
    """.split()
)
"""Words of labels that need no explanation."""


def labels() -> Iterator[tuple[str, str]]:
    """The headings of the pages, the columns of the zoo's tables and of its command, the axes of the charts."""
    yield from (("zoo --measure", column) for column in MEASURED)
    for name, source in modules("py"):
        for call in (node for node in nodes_of(source) if isinstance(node, ast.Call)):
            titled = getattr(call.func, "id", "") in ("heading", "Heading", "_measured")
            parts = [*call.args[:titled], *(k.value for k in call.keywords if (k.arg or "").endswith("axis_label"))]
            yield from ((name, part.value) for part in parts if isinstance(part, ast.Constant) and part.value)


def test_every_label_is_explained_by_the_glossary_or_an_everyday_word():
    found = list(labels())
    assert len(found) > 60
    unknown = [(where, label) for where, label in found if not mentioned(label)]
    assert [one for one in unknown if not set(re.findall("[a-z]+", one[1].lower())) <= EVERYDAY] == []


# the documents


def test_the_documents():
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
    paragraphs = [
        (file.name, re.sub("`[^`]*`", "", part)) for file in files for part in file.read_text("utf-8").split("\n\n")
    ]
    assert refused(paragraphs) == []


def lessons() -> list[tuple[str, str]]:
    """The paragraphs, the strings and the comments of the notebooks."""
    found = []
    for file in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                found += [(file.name, re.sub("`[^`]*`", "", part)) for part in source.split("\n")]
                continue
            found += [(file.name, text) for _, text in python_strings(source) if is_a_sentence(text)]
            tokens = tokenize.generate_tokens(io.StringIO(source).readline)
            found += [(file.name, token.string) for token in tokens if token.type == tokenize.COMMENT]
    return found


def test_the_notebooks():
    found = lessons()
    assert len(found) > 800
    assert refused(found) == []
