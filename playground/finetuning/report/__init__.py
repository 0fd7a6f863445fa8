"""A comparison for people who were not there: a page, a notebook and a spreadsheet."""
