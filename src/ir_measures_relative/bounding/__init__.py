"""What unjudged documents could change: the extremes of values and differences over all labels that they could have."""

from .bounds import bounds
from .judge_next import judge_next
from .model_builder import ModelBuilder, bounded
from .verdicts import verdicts

__all__ = ["ModelBuilder", "bounded", "bounds", "judge_next", "verdicts"]
