"""What is recorded and shown of a run: probes, predictions, updates, the replay."""
