"""MTEB's predictions, version 2 and later: the rankings of each subset and split of a task, and the model."""

from __future__ import annotations

from ..io.readers import RawData
from .content import Content, Format, Parts, a_dict, add_formats

_META = "mteb_model_meta"


def _read(content: Content) -> Parts:
    model = content.json[_META].get("model_name")
    subsets = {name: splits for name, splits in content.json.items() if name != _META}
    several = len(subsets) > 1
    return {
        f"{subset}:{split}" if several else split: RawData(
            a_dict(run), tag=model if isinstance(model, str) else None
        )
        for subset, splits in subsets.items()
        for split, run in splits.items()
    }


add_formats(
    "mteb",
    Format(
        name="MTEB's predictions",
        holds=lambda content: isinstance(content.json, dict) and isinstance(content.json.get(_META), dict),
        runs=_read,
        instead="give the judgments of the task, such as json.dump(task.dataset['test']['relevant_docs'], file)",
        note="Name the split, and the subset where there are several: 'predictions.json#eng:test'.",
        one_run=True,
    ),
)
