"""Fetching a campaign from an archive once: into a cache, with the user's own name and password, resumed, and checked.

The name and the password are read from the environment when a file is fetched. They go to the host of the archive
alone, and are not kept. Nothing here says what runs there are: that is in the archive's own pages.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tqdm import tqdm

from ..messages import warn
from .campaign_folders import Submission, of_task, runs_listed
from .files import unpacked, write_whole

#: The variables of the environment: where the archive's pages are, and the name and password that its files ask for.
PAGES = "IR_MEASURES_RELATIVE_ARCHIVE_PAGES"
HOST = "IR_MEASURES_RELATIVE_ARCHIVE_HOST"
USER, PASSWORD = "IR_MEASURES_RELATIVE_ARCHIVE_USER", "IR_MEASURES_RELATIVE_ARCHIVE_PASSWORD"
TIMEOUT = "IR_MEASURES_RELATIVE_ARCHIVE_TIMEOUT"
#: The folder of what was fetched; ``~/.cache/ir_measures_relative`` if not given.
CACHE = "IR_MEASURES_RELATIVE_CACHE"

_TREC = "https://raw.githubusercontent.com/usnistgov/trec-browser/main/browser/src/docs"
_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_PIECE = 1 << 16
_PINS = "sha256.json"


def is_campaign_id(given: str) -> bool:
    """Whether it may be the id of a campaign in an archive, such as ``trec28/deep``."""
    return _ID.fullmatch(given) is not None


def fetched_campaign(campaign_id: str, task: str | None) -> Path:
    """The folder of a campaign, whose runs of a task are fetched if they are not there yet.

    Raises:
        ValueError: several tasks; a file that is not what it was when it was first fetched, or that is damaged.
        PermissionError: the archive asks for a name and a password, or takes none of these.
        ConnectionError: no answer, or one that broke off; what was fetched is kept.
    """
    cache = (
        os.environ.get(CACHE) or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "ir_measures_relative"
    )
    folder = Path(cache).expanduser() / campaign_id
    folder.mkdir(parents=True, exist_ok=True)
    pages = os.environ.get(PAGES) or _TREC
    if not (folder / "runs.md").exists():
        _fetch(f"{pages}/{campaign_id}/runs.md", folder / "runs.md")
    listed = runs_listed((folder / "runs.md").read_text("utf-8"))
    names = of_task(listed, task, campaign_id)
    files = {name: folder / f"input.{name}.gz" for name in names if listed[name].url and _is_name(name)}
    progress = tqdm(files, desc="fetching runs", unit="run", disable=None, leave=False)
    differ = [name for name in progress if not _fetch_run(listed[name], files[name])]
    if differ:
        warn(
            f"{campaign_id}: the archive lists another MD5 for {len(differ)} of the runs fetched, such as {differ[0]}; "
            "its list may be of the files before they were packed"
        )
    return folder


def _is_name(name: str) -> bool:
    """Whether a name that a page says is one of a file, and leads to no other folder."""
    return name not in (".", "..") and not set(name) & set("/\\\0")


def _fetch_run(listed: Submission, file: Path) -> bool:
    """Fetches a run if it is not there; whether it has the listed MD5, or was there, or none is listed."""
    pins, same = _pins(file.parent), True
    if not file.exists():
        _fetch(str(listed.url), file)
        data = file.read_bytes()
        try:
            unpacked(data, str(file))
        except ValueError:
            file.unlink()
            raise
        same = listed.md5 in (None, hashlib.md5(data, usedforsecurity=False).hexdigest())
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    if file.name not in pins:
        text = json.dumps(pins | {file.name: digest}, indent=1)
        write_whole(file.parent / _PINS, lambda path: Path(path).write_text(text))
    elif pins[file.name] != digest:
        raise ValueError(
            f"{file} is not what it was when it was first fetched (SHA-256); remove it to fetch it again, or its line "
            f"in {_PINS} to take it as it is"
        )
    return same


def _pins(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file when it was first fetched."""
    file = folder / _PINS
    found = json.loads(file.read_text()) if file.exists() else {}
    return found if isinstance(found, dict) else {}


def _fetch(url: str, file: Path) -> None:
    """Writes what a URL holds; what is there of it already is not fetched again."""
    import requests

    partial = file.with_name(f".{file.name}.part")
    at = partial.stat().st_size if partial.exists() else 0
    try:
        with requests.get(
            url,
            headers={"Range": f"bytes={at}-"} if at else {},
            auth=_credentials(url),
            stream=True,
            timeout=float(os.environ.get(TIMEOUT) or 60),
        ) as answer:
            if answer.status_code == 416:  # the part is the whole, or more
                partial.unlink()
                raise ConnectionError(f"{url}: what was fetched of it is no part of it; try again")
            _check_status(answer, url)
            at = at if answer.status_code == 206 else 0
            whole = at + int(answer.headers.get("Content-Length", -1 - at))
            with partial.open("ab" if at else "wb") as out:
                for piece in answer.raw.stream(_PIECE, decode_content=False):
                    out.write(piece)
    except (requests.RequestException, OSError) as error:
        if isinstance(error, (PermissionError, ConnectionError)) and not isinstance(
            error, requests.RequestException
        ):
            raise
        raise ConnectionError(_broke_off(url, type(error).__name__)) from None
    except Exception as error:  # of urllib3, where the stream breaks off
        if not type(error).__module__.startswith("urllib3"):
            raise
        raise ConnectionError(_broke_off(url, type(error).__name__)) from None
    size = partial.stat().st_size
    if whole >= 0 and size != whole:
        raise ConnectionError(_broke_off(url, f"{size:,} of {whole:,} bytes"))
    partial.replace(file)


def _broke_off(url: str, why: str) -> str:
    return f"{url} could not be fetched ({why}); what was fetched is kept: call again to go on"


def _check_status(answer: Any, url: str) -> None:
    code = answer.status_code
    if code in (401, 403):
        given = (
            "does not take the name and password given"
            if os.environ.get(USER)
            else "asks for a name and password"
        )
        raise PermissionError(
            f"{url}: the archive {given}; set yours as {USER} and {PASSWORD} in the environment"
        )
    if code == 404:
        raise ConnectionError(
            f"{url}: the archive has no such file; check the id of the campaign, such as trec28/deep"
        )
    if code not in (200, 206):
        raise ConnectionError(f"{url}: the archive answers {code} {answer.reason}; try again later")


def _credentials(url: str) -> Any:
    """What a request to the archive's host carries: the user's name and password; to any other, nothing."""
    parts, user = urlsplit(url), os.environ.get(USER)
    is_archive = parts.hostname == (os.environ.get(HOST) or "trec.nist.gov")
    is_safe = parts.scheme == "https" or parts.hostname in ("127.0.0.1", "localhost")
    if user and is_archive and is_safe:
        return user, os.environ.get(PASSWORD, "")
    return _nobody


def _nobody(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Leaves a request as it is: without this, requests would look for a name and a password in ~/.netrc."""
    return request
