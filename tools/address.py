"""The address of the repository, one setting in ``pyproject.toml``, and what is made of it. Also hatchling's hook.

python -m tools.address https://github.com/OWNER/NAME    # sets it here, in CITATION.cff and in the page on citing

``repository`` under ``[tool.hatch.metadata.hooks.custom]`` is empty until somebody owns an address: then the package
names no page, and the description on an index has the words of its links without the links. Nothing else in the
repository names the address; the texts that are copied from it are held to it by a test.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_SETTING = re.compile(r'(?<=^repository = ")(.*)(?="$)', re.MULTILINE)
_ADDRESS = re.compile(r"https://[\w.-]+(/[\w.-]+)+")
_RELATIVE = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)]+)\)")


def repository(root: Path = ROOT) -> str:
    """Return the address as it is set; empty if it is not."""
    found = _SETTING.search((root / "pyproject.toml").read_text(encoding="utf-8"))
    return found[0] if found else ""


def site(address: str) -> str:
    """Return the address of the documentation: on GitHub the published pages, elsewhere the folder itself."""
    if on_github := re.fullmatch(r"https://github\.com/([^/]+)/([^/]+)", address):
        return f"https://{on_github[1].lower()}.github.io/{on_github[2]}/"
    return f"{address}/blob/main/docs/index.md"


def urls(address: str) -> dict[str, str]:
    """Return the links in the package's metadata; none without an address."""
    if not address:
        return {}
    return {
        "Source": address,
        "Documentation": site(address),
        "Changelog": f"{address}/blob/main/CHANGELOG.md",
        "Issues": f"{address}/issues",
    }


def description(readme: str, address: str, version: str) -> str:
    """The README for an index, where no relative link leads anywhere: links to the files of the tag, or words."""

    def absolute(link: re.Match[str]) -> str:
        picture, words, path = link.groups()
        if not address:
            return "" if picture else words
        return f"{picture}[{words}]({address}/{'raw' if picture else 'blob'}/v{version}/{path})"

    return _RELATIVE.sub(absolute, readme)


def write(address: str, root: Path = ROOT) -> None:
    """Sets it, in the three files that name it.

    Raises:
        SystemExit: what is given is no address of a repository.
    """
    if address and not _ADDRESS.fullmatch(address):
        raise SystemExit(
            f"{address!r} is not the address of a repository, such as https://github.com/OWNER/NAME"
        )
    for name, pattern, text in (
        ("pyproject.toml", _SETTING.pattern, address),
        ("CITATION.cff", r'(?<=^license: MIT\n)(repository-code: ".*"\n)?', citation(address)),
        ("docs/valid-statistics.md", r"(?<=^  year = \{2026\})(,\n  url = \{.*\})?", bibtex(address)),
    ):
        path = root / name
        path.write_text(
            re.sub(
                pattern, text.replace("\\", ""), path.read_text(encoding="utf-8"), count=1, flags=re.MULTILINE
            ),
            encoding="utf-8",
        )


def citation(address: str) -> str:
    """The line of ``CITATION.cff``."""
    return f'repository-code: "{address}"\n' if address else ""


def bibtex(address: str) -> str:
    """Return the end of the software's entry, after the year."""
    return f",\n  url = {{{address}}}" if address else ""


try:
    from hatchling.metadata.plugin.interface import MetadataHookInterface
except ImportError:  # not while the package is built
    pass
else:

    class Metadata(MetadataHookInterface):
        """Fills the description and the links of the package when it is built or installed."""

        def update(self, metadata: dict[str, object]) -> None:
            address, root = self.config["repository"], Path(self.root)
            package = (root / "src" / "ir_measures_relative" / "__init__.py").read_text(encoding="utf-8")
            version = re.findall(r'^__version__ = "(.+)"$', package, re.MULTILINE)[0]
            text = description((root / "README.md").read_text(encoding="utf-8"), address, version)
            metadata["readme"] = {"content-type": "text/markdown", "text": text}
            metadata["urls"] = urls(address)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(f"give the address: {(__doc__ or '').splitlines()[2].split('#')[0].strip()}")
    write(sys.argv[1])
