"""What a fine-tuned model can do beyond labels: edit a text, read another language, write with a decoder."""
