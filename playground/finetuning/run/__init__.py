"""One fine-tuning after another or several at once: the base, the trainer, the scheduler, the record."""
