"""Probing classifiers: is a property of the text readable from the states of a model, level by level?"""
