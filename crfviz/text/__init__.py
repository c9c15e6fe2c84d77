"""Words: the tokenizer, tag schemes, and the file formats that hold tagged sentences."""
