"""The one exception that is meant for a person: a sentence with the wrong value and what would be right."""


class Refusal(ValueError):
    """Input that cannot be used; its text is shown to the person as it stands, never as a traceback."""
