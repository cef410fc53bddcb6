"""The catalogue of bases, one or a few related ones a file, and what they are made of: gains, browsing models.

Each :class:`.Base` of a module here is in :data:`BASES`, so that a new one is a new file.
"""

from importlib import import_module
from pkgutil import iter_modules

from .base import Base

#: The bases by name.
BASES: dict[str, Base] = {
    found.name: found
    for module in iter_modules(__path__, f"{__name__}.")
    for found in vars(import_module(module.name)).values()
    if type(found).__name__ == Base.__name__  # where a notebook reloads modules the class may be another
}
