"""Tasks and what a model reads of them: labelled rows, their input format, verbalizers, files of one's own."""
