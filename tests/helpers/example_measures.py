"""Every registered measure, in each variant that its parameters have: what every measure must pass is run on these."""

from typing import Any

import ir_measures
import numpy as np

from ir_measures_relative.context.measure_strings import registered
from ir_measures_relative.measures.measure import RelativeMeasure


def variants(measure: RelativeMeasure) -> list[RelativeMeasure]:
    """The measure with a cutoff and, in turn, each choice that its parameters have."""
    found = [measure @ 3] if "cutoff" in measure.SUPPORTED_PARAMS else [measure]
    for name, spec in measure.SUPPORTED_PARAMS.items():
        choices = (True, False) if spec.dtype is bool else getattr(spec, "choices", ())
        for value in choices if isinstance(choices, tuple | list) else ():
            variant = found[0](**{name: value})
            try:
                variant.validate_params()
            except ValueError:  # does not go with the default base
                continue
            found.append(variant)
    return list(dict.fromkeys(found))


#: Of the package, by name.
REGISTERED = registered()

EXAMPLES: list[RelativeMeasure] = [e for m in REGISTERED.values() for e in variants(m)]
EXAMPLES += [
    ir_measures.parse_measure(m)
    for m in (
        *("MED(base='AP',norm='min')@3", "MED(base='RBP',residual=False)@3", "MED(base='RBP')"),
        *("UE(base='RR',version='z')@3", "UE(base='Success',version=1)@3"),
        *("UE(base='RBP',p=0.5,version='z')", "UE(base='AP',expected='exact')@3", "UE(base='ERR')"),
        *("Rareness(base='AP')", "AP_Rareness(rarity='log',bounded=True)@3"),
    )
]

#: Those that look at no aspects, which most judgments do not name.
PLAIN_EXAMPLES = [e for e in EXAMPLES if not e.looks_at_aspects]


class OfSome(RelativeMeasure):
    """The number of judged documents of a query, and no value where it is odd."""

    __name__ = NAME = "OfSome"
    PRETTY_NAME = "Of some"
    SHORT_DESC = "For tests."
    RELATIVE_TO = "chance"
    SUPPORTED_PARAMS: dict[str, Any] = {}

    def score(self, run: Any) -> Any:
        count = np.diff(run.collection.documents.starts)
        return np.where(count % 2, np.nan, count)
