"""Claims: inspection."""
