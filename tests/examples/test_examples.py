"""Every example runs without a key and without a network, and prints what its header says."""

import ast
import logging
import os
import re
import runpy
import socket
import sys
from pathlib import Path
from textwrap import dedent
from typing import NoReturn

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
DEMO = EXAMPLES / "demo.py"
PROGRAMS = sorted(set(EXAMPLES.glob("*.py")) - {DEMO})
each_program = pytest.mark.parametrize("program", PROGRAMS, ids=[program.stem for program in PROGRAMS])


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No key, no setting, no `.env`, no network."""

    def refuse(*_: object) -> NoReturn:
        raise AssertionError("an example has asked for the network")

    for name in os.environ:
        if name.startswith("VERNAL_") or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def printed_by(program: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """What `program` prints, run as a script without arguments."""
    monkeypatch.setattr(sys, "argv", [str(program)])
    runpy.run_path(str(program), run_name="__main__")
    return capsys.readouterr().out


def header_of(program: Path) -> str:
    return ast.get_docstring(ast.parse(program.read_text(encoding="utf-8"))) or ""


@each_program
def test_a_header_says_what_is_shown_how_to_run_it_and_what_it_prints(program: Path) -> None:
    """The header's first line is a sentence; a line with the command and a block `Prints:` follow."""
    lines = header_of(program).splitlines()
    assert lines, f"{program.name} has no header docstring"
    assert re.match(r"[A-Z].+", lines[0])
    assert f"Run: python examples/{program.name}" in lines
    assert "Prints:" in lines, f"{program.name} does not say what it prints"


@each_program
def test_an_example_prints_what_its_header_says(
    program: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The block after `Prints:` is the output, to the letter; the log warns at most of a tool that fails."""
    _, _, block = header_of(program).partition("\nPrints:\n")
    assert printed_by(program, monkeypatch, capsys) == dedent(block) + "\n"
    told = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert [text for text in told if not re.match(r"tool '\w+' failed: ", text)] == []


def test_the_demo_shows_question_tool_calls_and_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`make demo` shows the question, then the calls in whatever order they run, then the answer."""
    monkeypatch.setenv("VERNAL_CHAT__MODEL", "offline")
    question, calls, answer = re.split(r"\n\n", printed_by(DEMO, monkeypatch, capsys))
    assert question.startswith("Question: What is the weather in Amsterdam and Paris")
    assert all(f"→ {name}" in calls for name in ("get_weather(city='Amsterdam')", "convert_currency(amount=25"))
    assert answer.startswith("Answer: ")
    assert all(word in answer for word in ("Amsterdam", "Paris", "27.00"))


def test_the_table_of_examples_is_complete() -> None:
    """The README of the examples lists each program once, and nothing that is not there."""
    table = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[([a-z_]+)\]\(([a-z_]+\.py)\) \|", table, re.MULTILINE)
    assert all(file == f"{name}.py" for name, file in rows)
    assert sorted(file for _, file in rows) == sorted(path.name for path in EXAMPLES.glob("*.py"))
