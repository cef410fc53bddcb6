"""How runs and judgments come in: files, frames, dicts, datasets, pipelines."""
