"""Builds the wheel and the source archive. The package is plain Python, so a zip file and its list of hashes are enough."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import tarfile
import zipfile
from typing import Dict, Iterator, List, Tuple

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "src")
#: Python 3.9 can't read TOML, and these lines are ours.
FIELD = re.compile(r'^(name|version|description|requires-python)\s*=\s*"(.*)"$', re.MULTILINE)


def get_requires_for_build_wheel(config_settings: object = None) -> List[str]:
    return []


get_requires_for_build_sdist = get_requires_for_build_wheel
get_requires_for_build_editable = get_requires_for_build_wheel


def build_wheel(
    wheel_directory: str, config_settings: object = None, metadata_directory: object = None
) -> str:
    return _write_wheel(wheel_directory, dict(_sources()))


def build_editable(
    wheel_directory: str, config_settings: object = None, metadata_directory: object = None
) -> str:
    return _write_wheel(wheel_directory, {"svc_agents.pth": (SOURCE + "\n").encode()})


def build_sdist(sdist_directory: str, config_settings: object = None) -> str:
    fields = _fields()
    base = f"svc_agents-{fields['version']}"
    files = {f"src/{path}": data for path, data in _sources()}
    for name in ("pyproject.toml", "README.md", "build_backend.py"):
        files[name] = _read(os.path.join(HERE, name))
    files["PKG-INFO"] = _metadata(fields)
    with tarfile.open(os.path.join(sdist_directory, f"{base}.tar.gz"), "w:gz") as archive:
        for path, data in sorted(files.items()):
            entry = tarfile.TarInfo(f"{base}/{path}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return f"{base}.tar.gz"


def _fields() -> Dict[str, str]:
    return dict(FIELD.findall(_read(os.path.join(HERE, "pyproject.toml")).decode()))


def _sources() -> Iterator[Tuple[str, bytes]]:
    for folder, _, names in os.walk(SOURCE):
        for name in names:
            if name.endswith(".py") or name == "py.typed":
                path = os.path.join(folder, name)
                yield os.path.relpath(path, SOURCE).replace(os.sep, "/"), _read(path)


def _write_wheel(folder: str, files: Dict[str, bytes]) -> str:
    fields = _fields()
    info = f"svc_agents-{fields['version']}.dist-info"
    files[f"{info}/METADATA"] = _metadata(fields)
    files[f"{info}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: svc-agents\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    lines = [f"{path},sha256={_digest(data)},{len(data)}" for path, data in sorted(files.items())]
    files[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,", ""]).encode()
    name = f"svc_agents-{fields['version']}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in sorted(files.items()):
            wheel.writestr(zipfile.ZipInfo(path), data, zipfile.ZIP_DEFLATED)
    return name


def _metadata(fields: Dict[str, str]) -> bytes:
    head = [
        "Metadata-Version: 2.1",
        f"Name: {fields['name']}",
        f"Version: {fields['version']}",
        f"Summary: {fields['description']}",
        f"Requires-Python: {fields['requires-python']}",
        "License: MIT",
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(head).encode() + b"\n\n" + _read(os.path.join(HERE, "README.md"))


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
