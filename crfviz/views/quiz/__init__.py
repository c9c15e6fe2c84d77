"""Questions for readers, with their answers and typical mistakes."""
