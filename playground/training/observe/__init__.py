"""What is recorded and shown of a run while it trains: probes, looks, updates, the replay."""
