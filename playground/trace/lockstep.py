"""Several objectives on one text, shown in step."""

from collections.abc import Mapping, Sequence
from typing import Any


def lockstep(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Several records as one, shown side by side under one player; a single one stays as it is."""
    if len(records) < 2:
        return dict(records[0]) if records else {}
    title = " · ".join(str(record.get("title", "")) for record in records)
    return {"version": 1, "title": title, "records": [dict(record) for record in records]}
