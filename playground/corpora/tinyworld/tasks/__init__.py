"""Labelled texts and questions about TinyWorld, for fine-tuning and for probes; one kind in each file."""
