"""The best possible prediction of every word of a generated corpus, and how far a model is from it."""
