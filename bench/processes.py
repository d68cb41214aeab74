"""The processes of a run: the service, the two clients, and short ones that only start."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from report import KINDS, Figures, Pairs

HERE = Path(__file__).parent


def clean_environment(**more: str) -> dict[str, str]:
    """The environment without proxies and settings of the person who runs this; bytecode is written, to be read."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.lower().endswith("_proxy")
        and not name.startswith(("VERNAL_", "OPENAI_"))
        and name != "PYTHONDONTWRITEBYTECODE"
    }
    return {**kept, "PYTHONHASHSEED": "0", **more}


class Worker:
    """A client in its process."""

    def __init__(self, kind: str, url: str) -> None:
        self.kind = kind
        self._process = subprocess.Popen(
            [sys.executable, HERE / "worker.py", kind, url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=clean_environment(),
        )

    def __call__(self, job: str, *arguments: Any) -> Figures:
        """Let the worker do a job; its figures."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([job, *arguments]) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the {self.kind} worker has ended in {job}{arguments}; its error is printed above")
        figures: Figures = json.loads(line)
        return figures

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


@contextmanager
def workers(url: str) -> Iterator[list[Worker]]:
    """The floor and vernal, each in a process."""
    started = [Worker(kind, url) for kind in KINDS]
    try:
        yield started
    finally:
        for worker in started:
            worker.end()


@contextmanager
def service() -> Iterator[str]:
    """The mock service; on a processor of its own where there are several. Gives its URL."""
    command = [sys.executable, str(HERE / "service.py")]
    processors = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(processors) > 1:
        os.sched_setaffinity(0, set(processors[:-1]))
        command.append(str(processors[-1]))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=clean_environment()) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.kill()


def interleaved(repetitions: int, measure: Callable[[str], Figures]) -> Pairs:
    """`measure` each kind in turn, the first in one repetition the last in the next."""
    pairs: Pairs = {kind: [] for kind in KINDS}
    for repetition in range(repetitions):
        for kind in KINDS if repetition % 2 == 0 else KINDS[::-1]:
            pairs[kind].append(measure(kind))
    return pairs


def started(arguments: list[str], *, until: str | None = None, **environment: str) -> float:
    """Milliseconds from the start of a process to its end, or to a line of its output that begins with `until`."""
    begun = time.perf_counter()
    command = [sys.executable, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=clean_environment(**environment)) as process:
        assert process.stdout is not None
        found = any(line.startswith(until) for line in process.stdout) if until is not None else None
        if until is None:
            process.wait()
        elapsed = time.perf_counter() - begun
        process.stdout.read()
    if process.returncode or found is False:
        raise RuntimeError(f"{arguments!r} ended with {process.returncode} and without {until!r}")
    return elapsed * 1e3
