"""What a document is worth by its label alone."""


def gain_oracle(label: int, dcg: str = "log2", gains: dict[int, int] | None = None) -> float:
    """The gain of a label."""
    if gains is not None:
        label = gains.get(label, label)
    if label <= 0:
        return 0.0
    return float(2**label - 1) if dcg == "exp-log2" else float(label)


def theta(doc: str, labels: dict[str, int], max_grade: int) -> float:
    """The chance that a document satisfies."""
    return float((2 ** max(labels.get(doc, 0), 0) - 1) / 2**max_grade)
