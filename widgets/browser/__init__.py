"""What the browser does in addition to Panel."""
