"""Files of texts and labelled rows become documents: plain text, tables, JSON lines, treebanks, translations."""
