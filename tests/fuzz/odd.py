"""Odd values: what a person may type, a link may carry or a damaged file may hold where something else is expected."""

import json
from collections.abc import Sequence
from random import Random
from typing import Any

DEEP = 60_000
"""Brackets in each other: more than any parser of JSON that calls itself can take."""

NUMBERS = (
    *"0 -0 1 -1 2 3 7 99 1.5 .5 -.5 +3 1e3 1e400 -1e400 1e-400 nan inf -inf NaN Infinity".split(),
    *"0x10 1_000 1,000 1/2 %d".split(),
    *("² ½ Ⅷ ٣ １２ ௧ ³² 1² −1 1\N{NO-BREAK SPACE}000".split(" ")),
    *map(str, (2**31, 2**53, 2**63 - 1, 2**63, -(2**63) - 1, 2**64, 10**30, 10**400)),
    "9" * 5_000,
    "1" + "0" * 4_200,
    "-" + "7" * 5_000,
    "²" * 40,
    "0." + "3" * 5_000,
    " 5 ",
    "",
)
"""Numbers, and what looks like some."""

WORDS = (
    *("a A . , ; : = + - -- --- [ ] { } ( ) * ? % & # @ ! ' \" ` ~ / \\ | < > $ ^ _".split()),
    *"None null true false nan [] {} [MASK] [SEP] [PAD] [UNK] ##a None.None __class__".split(),
    *"{0} {name!r} %s %n ${HOME}".split(),
    *("../../etc/passwd /dev/null /dev/zero /proc/self/mem C:\\con .. . ~ file:///etc/passwd //host/share".split()),
    *("<script>alert(1)</script>|<img src=x onerror=alert(1)>|'; DROP TABLE runs; --|=1+1|@SUM(A1)|\tx".split("|")),
    "a\0b",
    "\0",
    "a\nb",
    "a\r\nb\n\n",
    "\x1b[2J",
    "\ufeffa",
    "a\u202eb\u2066c",
    "e\u0301" * 30,
    "👩‍👩‍👧‍👦 ⚠ 日本語 ไทย עברית",
    "\udcff\udc80",
    "\ud800",
    "\U0010ffff",
    "x" * 300,
    "ß" * 300,
    "word " * 2_000,
    "a" * 20_000,
    "[" * DEEP,
    "[" * DEEP + "]" * DEEP,
    '{"a":' * DEEP,
    " ",
    "",
)
"""Words that no one who means well would type, and some that one would."""


def number(random: Random) -> str:
    """A number as text, or what looks like one."""
    return random.choice(NUMBERS) if random.random() < 0.7 else str(random.randint(-12, 12))


def word(random: Random) -> str:
    """A word, a name or a text."""
    if random.random() < 0.75:
        return random.choice(WORDS)
    return "".join(chr(random.choice((random.randrange(32, 127), random.randrange(1, 0xD800)))) for _ in range(5))


def value(random: Random) -> str:
    """Any text."""
    return random.choice((number, word))(random)


def among(random: Random, right: Sequence[str], odd: float = 0.4) -> str:
    """One of those that are right, an odd one, or a right one with something odd in it."""
    one = random.choice(right) if right else ""
    if random.random() > odd:
        return one
    return mutated(random, one) if random.random() < 0.4 else value(random)


def mutated(random: Random, text: str) -> str:
    """A text with a few letters lost, doubled, exchanged or put in."""
    letters = list(text)
    for _ in range(random.randint(1, 3)):
        at = random.randint(0, len(letters))
        match random.randrange(4):
            case 0:
                del letters[at : at + random.randint(1, 4)]
            case 1:
                letters[at:at] = letters[at : at + 6] * random.randint(1, 3)
            case 2:
                letters[at:at] = value(random)
            case _:
                letters[at : at + 1] = random.choice("0 9 , : = + - . ; [ ] \" ' \0 ² é".split(" "))
    return "".join(letters)


def plain(random: Random, depth: int = 0) -> Any:
    """A value of JSON of any type and size."""
    if depth < 3 and random.random() < 0.3:
        some = [plain(random, depth + 1) for _ in range(random.randrange(4))]
        return some if random.random() < 0.5 else {value(random)[:30]: each for each in some}
    return random.choice(
        (
            *(
                None,
                True,
                False,
                0,
                1,
                -1,
                3,
                1.5,
                -0.0,
                "",
                "1",
                "²",
                "x" * 300,
                "\0",
                [],
                {},
                [[]],
                [None],
                {"": None},
            ),
            *(2**31, 2**62, 2**63, -(2**63), 2**64, 10**30, 10**400, 1e308, 9e18, float("nan"), float("inf")),
        )
    )


def nested(random: Random, deep: int = DEEP) -> str:
    """JSON that is nested too deep to be read."""
    return random.choice(("[" * deep + "]" * deep, '{"a":' * deep + "1" + "}" * deep, "[" * deep))


def replaced(random: Random, found: Any) -> tuple[Any, str]:
    """A value of JSON with one of its parts replaced, taken out or put in, and what was done, as a person reads it."""
    holders = [(found, "")]
    for holder, path in holders:
        inside = holder.items() if isinstance(holder, dict) else enumerate(holder)
        holders += [(part, f"{path}.{name}") for name, part in inside if isinstance(part, dict | list) and part][:40]
    holder, path = random.choice(holders)
    names = list(holder) if isinstance(holder, dict) else range(len(holder))
    name = random.choice(list(names)) if names else 0
    if random.random() < 0.15 and names:
        del holder[name]
        return found, f"without {path}.{name}"
    new = plain(random)
    if isinstance(holder, dict):
        holder[name if random.random() < 0.9 else value(random)[:30]] = new
    elif names:
        holder[name] = new
    return found, f"{path}.{name} = {json.dumps(new)[:80]}"


def spoiled(random: Random, content: bytes, most: int = 0) -> tuple[bytes, str]:
    """Bytes that were flipped, cut, put in or overwritten, within the first `most` of them where that is given."""
    content, end = bytearray(content), min(most or len(content), len(content))
    at = random.randint(0, max(0, end - 1))
    some = random.choice((1, 2, 8, 100))
    match random.randrange(6):
        case 0:
            return bytes(content[:at]), f"cut at byte {at}"
        case 1:
            content[at:at] = random.randbytes(some)
            return bytes(content), f"{some} bytes put in at {at}"
        case 2:
            del content[at : at + some]
            return bytes(content), f"{some} bytes taken out at {at}"
        case 3:
            content[at : at + some] = b"\0" * some
            return bytes(content), f"{some} zeros at {at}"
        case 4:
            content[at : at + some] = random.randbytes(some)
            return bytes(content), f"{some} other bytes at {at}"
        case _:
            positions = [random.randint(0, max(0, end - 1)) for _ in range(some)] if content else []
            for position in positions:
                content[position] ^= 1 << random.randrange(8)
            return bytes(content), f"{len(positions)} bits flipped, the first at {positions[:1]}"
