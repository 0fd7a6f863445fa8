"""The instruments, one a file: a constant in capitals that the catalogue finds (`analysis/instrument.py`)."""
