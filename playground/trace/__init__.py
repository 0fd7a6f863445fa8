"""From a batch to what a person sees: frames, the rebuilt input, edits, the source of a stage."""
