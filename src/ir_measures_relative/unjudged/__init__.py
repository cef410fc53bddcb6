"""What unjudged documents could change, and which of them to judge."""

from .bounds import bounds
from .pooling import pool_next
from .verdicts import judge_next, verdicts

__all__ = ["bounds", "judge_next", "pool_next", "verdicts"]
