"""Claims on inspecting."""
