"""What the browser does beside Panel: colour scheme, history, shortcuts, reconnecting, names for screen readers."""
