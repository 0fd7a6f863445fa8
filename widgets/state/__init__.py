"""What a visit knows and does, without any picture: a class of parameters for each page."""
