"""What a dataclass sends to another process."""

from typing import Any


def declared_fields(value: Any) -> dict[str, Any]:
    """The fields alone, as `__getstate__`: `cached_property` of another thread may add to `__dict__` meanwhile."""
    return {name: getattr(value, name) for name in value.__dataclass_fields__}
