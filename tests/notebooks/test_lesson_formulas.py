"""A formula of a lesson is drawn in its page, which has no script from elsewhere."""

import nbformat

from widgets.lessons import as_html


def test_formulas_of_a_page_are_drawn_without_a_script():
    text = "The loss $x_{<t}$ of the model:\n\n$$\\sum_t \\log p(x_t)$$"
    cells = [nbformat.v4.new_markdown_cell(text), nbformat.v4.new_code_cell("price = '$1 and $2'")]
    page = as_html(nbformat.v4.new_notebook(cells=cells)).partition("<body")[2]
    assert page.count("<math") == 2 and 'display="block"' in page
    assert "\\sum" not in page and "$1 and $2" in page, "the code is left as it is"
    assert cells[0].source == text, "and so is the notebook"
