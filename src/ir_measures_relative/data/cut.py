"""What is known of rankings that are not here whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(eq=False)
class Cut:
    """What is known of rankings that are not here whole: their first ``depth`` documents, and the ``listed`` ones."""

    source: str  #: what messages call where they come from
    depth: int
    listed: (
        Any  #: the ``Documents`` whose positions are known at any depth; nothing is known of other queries
    )
    citation: str = ""  #: of the track, as in "trec-dl-2019 v1 (37 runs, sha256 1f3a…)"
    n_runs: int = 0  #: how many runs the track has
    without_self: bool = False  #: whether the document whose id is the query's was removed

    def refuse(self, needed: int | None, what: str = "this", times: int = 1) -> ValueError:
        """Return the error for looking deeper than is known, where a cutoff is read ``times`` as deep."""
        reads = "whole rankings" if needed is None else f"the first {needed} documents"
        remedy = f"make it with {'a larger depth=' if needed is None else f'depth={needed}'}"
        remedy += f", or use @{self.depth // times}" if self.depth >= times else ""
        return ValueError(f"{what} needs {reads}; {self.source} has {self.depth}: {remedy}")

    def refuse_document(self, run: str, query_id: str, doc_id: str) -> ValueError:
        """Return the error for a document of which nothing is known."""
        return ValueError(
            f"{self.source} does not know where {run} ranks {doc_id!r} of topic {query_id!r}: make it again with these "
            f"judgments, or use a cutoff of at most {self.depth}"
        )
