"""Claims on compressing."""
