"""Distillation: what a student reads of its teacher, the losses between them, and how a student begins."""
