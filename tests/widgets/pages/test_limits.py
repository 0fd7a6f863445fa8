"""Limits of numbers: they stand at the store, so fields, links and whatever a page sends keep to them."""

import panel_material_ui as pmui
import param
import pytest

from playground.parsing import LARGEST
from widgets.app import main
from widgets.pages.stage import StagePage

FIELDS = {
    "seed on Stage": (lambda s: s.stage, "seed", "Stage"),
    "seed on Train": (lambda s: s.train, "seed", "Train"),
    "seeds on Train": (lambda s: s.train, "seeds", "Train"),
    "steps on Train": (lambda s: s.train, "steps", "Train"),
    "seeds on Transfer": (lambda s: s.transfer, "seeds", "Transfer"),
    "steps on Transfer": (lambda s: s.transfer, "steps", "Transfer"),
    "seed on Corpus": (lambda s: s.corpus, "seed", "Corpus"),
    "entries on Corpus": (lambda s: s.corpus, "size", "Corpus"),
}


@pytest.mark.parametrize("label", FIELDS)
def test_a_field_has_the_limits_of_the_store_and_takes_nothing_beyond_them(store, label):
    own, name, page = FIELDS[label]
    own, shown = own(store), label.split(" on ")[0]
    was, (low, high) = getattr(own, name), own.param[name].bounds
    store.stage.view = "stage"
    every = main.PAGES[page](store).layout.select(lambda w: isinstance(w, pmui.IntInput | pmui.IntSlider))
    field = next(w for w in every if w.label == shown and w.value == was)
    assert (field.start, field.end) == own.param[name].get_soft_bounds()
    for wrong in (low - 1, high + 1, 10**400):
        with pytest.raises(ValueError, match="must be at"):
            field.value = wrong
        assert getattr(own, name) == field.value == was
        with pytest.raises(ValueError, match="must be at"):
            own.param.update(**{name: wrong})
    if isinstance(field.param.value, param.Integer) and field.param.value.allow_None:
        with pytest.raises(ValueError, match="must be an integer"):
            field.value = None
        assert getattr(own, name) == field.value == was
    field.value = high
    assert getattr(own, name) == high


@pytest.mark.parametrize("seed", ["²", "-1", "1.5", "", "9" * 5_000, str(LARGEST + 1), "1²", "½", "0x10"])
def test_a_link_with_a_seed_that_is_none_opens_without_it(store, seed):
    main._open(store, f"?objective=PLM&seed={seed}&text=The cat sat here")
    assert (store.stage.objective, store.stage.text, store.stage.seed) == ("PLM", "The cat sat here", 0)
    assert store.stage.trouble == ""


def test_a_link_with_the_largest_seed_opens_and_rolls_on(store):
    main._open(store, f"?objective=MLM&seed={LARGEST}")
    assert store.stage.seed == LARGEST
    assert f"seed={LARGEST}" in main._address(store)
    store.stage.edit({"do": "roll"})
    assert store.stage.seed == 0


WRONG_NUMBERS = ("abc", "null", "true", "[1]", "1e400", "", "[" * 60_000, '{"a":' * 5_000, "9" * 5_000)
WRONG = [("mask_ratio", v) for v in WRONG_NUMBERS] + [("max_predictions", v) for v in ("1.5", "null", "1e400")]


@pytest.mark.parametrize(("knob", "value"), WRONG)
def test_a_link_with_a_knob_of_a_wrong_type_names_it_on_a_page_with_its_default(store, knob, value):
    main._open(store, f"?objective=MLM&set.{knob}={value}&set.dupe_factor=3")
    said = store.stage.trouble
    assert said.startswith(f"{knob} is ") and said.endswith((" number.", " tokens."))
    assert store.stage.rebuilt is not None and store.stage.settings == {"dupe_factor": 3}
    assert f"{knob} is " in StagePage(store.stage).notices.text.object
