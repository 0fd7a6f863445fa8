"""A method of a catalogue: what it does as a dataclass with knobs, and where it comes from."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypedDict

from playground.catalog import choose, find, year
from playground.knob import Knob, KnobValue, knobs, spelt, turn, written


@dataclass(frozen=True, kw_only=True)
class CatalogMethod:
    """What methods of compression and of post-training share; `unlike_paper` says how one differs from its source."""

    package: ClassVar[str]
    """The package that holds the catalogue."""
    kind: ClassVar[str]
    """What a refusal calls a method."""

    name: str
    idea: str
    source: str
    step: Any
    aliases: tuple[str, ...] = ()
    unlike_paper: str = ""

    @property
    def order(self) -> tuple[int, ...]:
        """Its position in lists: by the year of its source."""
        return (year(self.source),)

    @property
    def knobs(self) -> tuple[Knob, ...]:
        """Its knobs, with the settings of the catalogue as defaults; two methods may share what they do."""
        return tuple(replace(k, default=getattr(self.step, k.name)) for k in knobs(self.step))

    def turn(self, settings: Mapping[str, Any]) -> Self:
        """The same method with some knobs turned."""
        return replace(self, step=turn(self.step, settings))

    def __str__(self) -> str:
        """The method as a person writes it, with the knobs that are not as in the catalogue."""
        changed = written(self.step, ", ", unlike=self.all()[self.name].step)
        return f"{self.name}({changed})" if changed else self.name

    @classmethod
    def all(cls) -> dict[str, Self]:
        """Every method of the catalogue by name."""
        return find(cls.package, cls)

    @classmethod
    def find(cls, line: str) -> Self:
        """One method by its name or an alias, with its knobs in brackets, as in "DPO(beta=0.2)"."""
        name, settings = spelt(line)
        method = choose(cls.package, cls, name, cls.kind)
        return method.turn(settings) if settings else method


class KnobFacts(TypedDict):
    """A knob of a method."""

    name: str
    default: KnobValue
    why: str
    """What turning it does."""


class MethodFacts(TypedDict):
    """A method of the catalogue."""

    name: str
    aliases: tuple[str, ...]
    """Other names under which it can be typed."""

    idea: str
    """What it does, in a sentence."""

    source: str
    """The paper."""

    unlike_paper: str
    """How it differs from the paper; empty where it does not."""

    knobs: list[KnobFacts]


def method_facts(method: CatalogMethod) -> MethodFacts:
    """A method with its knobs as plain data."""
    return {
        "name": method.name, "aliases": method.aliases, "idea": method.idea, "source": method.source,
        "unlike_paper": method.unlike_paper,
        "knobs": [{"name": k.name, "default": k.default, "why": k.why} for k in method.knobs],
    }  # fmt: skip
