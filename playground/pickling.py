"""What a dataclass sends to another process."""

from typing import Any


def declared_fields(self: Any) -> dict[str, Any]:
    """The fields alone, as `__getstate__`: `cached_property` of another thread may add to `__dict__` meanwhile."""
    return {name: getattr(self, name) for name in self.__dataclass_fields__}
