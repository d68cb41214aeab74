"""Settings that nothing reads, that are wrong, or that are secret and can be read by others."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from vernal.cli.doctor.finding import Finding, Level
from vernal.cli.inspection import Inspection
from vernal.context.settings import SettingRow

_FILE = re.compile(r"(?:.* in )?(?P<file>.+?)(?::\d+)?")
_READ_BY_OTHERS = 0o044


def _told_by_start(row: SettingRow, inspection: Inspection) -> bool:
    """Whether it is what keeps the application from starting, which is a finding already."""
    failure = inspection.failure
    return failure is not None and any(detail.startswith(f"{row.key} = ") for detail in failure.details)


def check_unknown_settings(inspection: Inspection) -> Iterator[Finding]:
    """Keys that nothing reads; they can be told only once the beans are known."""
    for unknown in inspection.unknown_settings:
        problem = unknown.problem
        yield Finding(
            level=Level.WARNING,
            about=unknown.written,
            text=f"{problem.reason} ({unknown.origin})",
            cure=problem.action or "",
        )


def check_values(inspection: Inspection) -> Iterator[Finding]:
    """Values that cannot be used, also of settings that no bean has asked for yet."""
    for row in inspection.settings_rows:
        if row.problem and not _told_by_start(row, inspection):
            yield Finding(
                level=Level.ERROR,
                about=row.key,
                text=f"{row.key} is {row.value!r} ({row.origin}): {row.problem}",
                cure=f"set {row.variable} to a value of type {row.type}",
            )


def check_profiles(inspection: Inspection) -> Iterator[Finding]:
    """Profiles without a file, which may be mistyped."""
    environment = inspection.application.environment
    for profile in environment.profiles if environment is not None else ():
        if not (inspection.application.directory / f".env.{profile}").is_file():
            yield Finding(
                level=Level.NOTE,
                about=f"profile {profile}",
                text=f"it is active, and there is no file .env.{profile}",
                cure="write it, or change VERNAL_PROFILES; without it only @on_profile asks for the profile",
            )


def check_secret_files(inspection: Inspection) -> Iterator[Finding]:
    """Secrets in files that other users of the machine can read, or that are usually under version control."""
    directory = inspection.application.directory
    keys: dict[Path, list[str]] = {}
    for row in inspection.settings_rows:
        match = _FILE.fullmatch(row.origin)
        file = directory / match["file"] if match is not None else directory
        if row.secret and row.value is not None and row.origin != "default" and file.is_file():
            keys.setdefault(file, []).append(row.key)
    for file, held in keys.items():
        names = ", ".join(held)
        if file.suffix == ".toml":
            yield Finding(
                level=Level.WARNING,
                about=file.name,
                text=f"{file.name} holds secrets ({names}), and such files are usually under version control",
                cure="move them to the environment, to .env or to the secrets directory",
            )
        if os.name == "posix" and file.stat().st_mode & _READ_BY_OTHERS:
            yield Finding(
                level=Level.WARNING,
                about=file.name,
                text=f"{file.name} holds secrets ({names}), and other users of this machine can read it",
                cure=f"chmod 600 {file.name}",
            )
