"""Strategies side by side: what is compared, with equal budgets, over several seeds, and what differs."""
