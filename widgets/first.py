"""What a browser shows at once, before the app's scripts have run: the same table or picture, as tags and a drawing."""

from html import escape

from playground.refusal import Refusal
from widgets.scene.hosts import svg
from widgets.scene.table import in_words, table_data
from widgets.store import StageStore

TEMPLATE = """
{% extends "base.html" %}
{% block loader_css %}
{{ super() }}
#loader:not(.error) { display: none !important; }
#first { position: fixed; inset: 0; z-index: 1; overflow: hidden; background: #fff; color: #1d2129;
  font: 400 14px/1.5 ui-sans-serif, system-ui, sans-serif; }
#first header { background: #0072b2; color: #fff; font-size: 22px; font-weight: 700; line-height: 50px;
  padding: 0 24px; }
#first main { padding: 58px 14px 0; } #first svg { max-width: 100%; height: auto; }
#first table { border-collapse: collapse; width: 100%; }
#first th, #first td { text-align: left; padding: 10px 12px; border-bottom: 1px solid #e3e6ea; }
{% endblock %}
{% block loader %}
{{ super() }}
<div id="first">{{ first | safe }}</div>
{% endblock %}
"""
"""The page of the widget library without its grey sheet, which took every click until the last part was drawn."""


def first(store: StageStore) -> str:
    """The stage as it will be drawn, or the table in words."""
    try:
        inside = in_words(table_data(*store.table())) if store.view == "table" else svg(store.record(), 0)
    except Refusal as refusal:
        inside = escape(str(refusal))
    return f"<header>Pretraining Playground</header><main>{inside}</main>"
