"""A comparison for people who were not there: a page, a notebook, a spreadsheet and their plot."""
