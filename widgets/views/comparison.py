"""A finished comparison in numbers: one row per strategy, and the verdict."""

from html import escape
from typing import Any


def markup(facts: dict[str, Any]) -> str:
    """Accuracy, forgetting, trained parameters and seconds of every strategy, from the facts of a comparison."""
    rows = "".join(_row(s) for s in facts["strategies"])
    return (
        "<table><tr><th>strategy</th><th>accuracy</th><th>forgetting (nats)</th><th>trained parameters</th>"
        f"<th>seconds, all seeds</th></tr>{rows}</table><p>{escape(facts['verdict'])}</p>"
    )


def _row(s: dict[str, Any]) -> str:
    right, forgot = s["accuracy"], s["forgetting"]
    return (
        f"<tr><td>{escape(s['name'])}</td><td>{right['mean']:.3f} ± {right['sd']:.3f}</td>"
        f"<td>{forgot['mean']:+.3f} ± {forgot['sd']:.3f}</td><td>{s['trainable']:,}</td>"
        f"<td>{s['seconds']:.2f}</td></tr>"
    )
