"""What a browser shows at once, before the app's scripts have run: the same table or picture, as tags and a drawing."""

from html import escape

from playground.errors import UserError
from widgets.animation.static_svg import svg
from widgets.animation.survey_table import in_words, table_data
from widgets.bundle import sheet
from widgets.panel_compat import DEFERRED
from widgets.state.stage.store import StageStore

TEMPLATE = """
{% extends "base.html" %}
{% block loader_css %}
STYLE
{% endblock %}
{% block js_resources %}
<script>
  (() => {
    const address = new URL(location.href);
    if (!address.searchParams.has("bokeh-session-id")) return;
    address.searchParams.delete("bokeh-session-id");
    history.replaceState(history.state, "", address);
  })();
</script>
DEFERRED
{% endblock %}
{% block loader %}
<div id="first" class="{{ scheme }}">{{ first | safe }}</div>
<script>
  addEventListener("error", (event) => {
    const said = event.target.localName === "script" && document.getElementById("first-said");
    if (said) said.textContent = "A part of the app could not be loaded; reload the page.";
  }, true);
</script>
{% endblock %}
{% block loader_script %}
<script>
  document.addEventListener("DOMContentLoaded", function look() {
    const said = document.getElementById("first-said");
    if (said && _wsError) said.textContent = "The app does not answer; reload the page.";
    else if (said) setTimeout(look, 500);
  });
</script>
{% endblock %}
""".replace("STYLE", sheet(__file__)).replace("DEFERRED", DEFERRED)
"""The page of the widget library without its sheets: a grey one took every click until the last part was drawn, and
one with an error stayed for ever over a page that needed more than 10 s for its scripts. Troubles are said in what is
seen at first, and go with it.

The name of the visit that a page came back to is private, so it goes from the address before anything reads that.
"""


def first(store: StageStore) -> str:
    """The stage as it will be drawn, or the table in words."""
    try:
        inside = in_words(table_data(*store.table())) if store.view == "table" else svg(store.record(), 0)
    except UserError as refusal:
        inside = escape(str(refusal))
    return page('<p class="tag">preview, loading…</p>' + inside)


def page(inside: str) -> str:
    """A page until the app's scripts have run: its head, a bar that moves, what there is to show, and any trouble."""
    bar = '<p class="bar" role="progressbar" aria-label="Opening"><i></i></p>'
    said = '<p id="first-said" role="status"></p>'
    return f"<header>Pretraining Playground</header>{bar}<main>{inside}{said}</main>"
