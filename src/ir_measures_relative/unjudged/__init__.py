"""What the documents that nobody judged could change."""
