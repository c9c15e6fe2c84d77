"""Words: the tokenizer, tag schemes, and file formats of tagged sentences."""
