"""Where a track is: a path, a name of the package's catalogue, or a URL."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from ..messages import few_quoted, kind_of

_CATALOGUE = Path(__file__).parent / "tracks"
_URL = re.compile(r"(https?://[^#]+)(?:#sha256=([0-9a-f]{64}))?")


def catalogue() -> list[str]:
    """The names of the tracks that come with the package."""
    return sorted(path.stem for path in _CATALOGUE.glob("*.track"))


def is_track(text: str) -> bool:
    """Return whether a text stands for a track, and not for a run or a folder of runs."""
    return text.endswith(".track") or "://" in text or (text in catalogue() and not os.path.exists(text))


def locate_track(given: Any) -> tuple[Path, str | None]:
    """Return the file of a track, fetched if it is a URL, and the sha256 that it must have; None for any.

    Raises:
        FileNotFoundError: there is no such file, and no such name in the catalogue.
        ConnectionError: it cannot be fetched; the message says where to put the file.
    """
    if not isinstance(given, (str, os.PathLike)):
        raise TypeError(
            f"the track is {kind_of(given)}; give a path, a URL, or one of {few_quoted(catalogue())}"
        )
    text = os.fspath(given)
    if "://" in text:
        return _fetch(text)
    path = Path(text)
    if path.is_file():
        return path, None
    if text in catalogue():
        return _CATALOGUE / f"{text}.track", None
    what = "is a folder" if path.is_dir() else "is no file"
    raise FileNotFoundError(
        f"{text} {what}, and no track of the catalogue, which has {few_quoted(catalogue())}; make a track of a folder "
        "of runs: ir_measures_relative track make QRELS RUNS -o FILE"
    )


def _fetch(text: str) -> tuple[Path, str]:
    match = _URL.fullmatch(text)
    if match is None or match[2] is None:
        raise ValueError(
            f"{text}: a track from a URL needs its sha256, as in https://…/x.track#sha256=1f3a…, so that it is the "
            "same tomorrow; `ir_measures_relative track show FILE` prints it"
        )
    import hashlib

    from ir_datasets.util import Cache, RequestsDownload, home_path

    url, sha256 = match[1], match[2]
    name = f"{hashlib.sha256(url.encode()).hexdigest()[:8]}-{url.rstrip('/').rpartition('/')[2]}"
    path = home_path() / "ir_measures_relative" / name
    try:
        return Path(Cache(RequestsDownload(url), path).path()), sha256
    except (OSError, RuntimeError) as error:
        raise ConnectionError(
            f"{url} could not be fetched ({type(error).__name__}); is there a network? Without one, put the file at "
            f"{path}"
        ) from error
