"""Where settings come from, which source wins, and what is known of each value."""

import os
from pathlib import Path

import pytest

from vernal.context.settings import Environment, Settings, SettingsError


class Audit(Settings, prefix="audit"):
    path: str = "default"


PLACES = ["argument", "environment", "secrets", ".env.second", ".env.first", ".env", "vernal.toml", "pyproject.toml"]


def _environment(directory: Path, places: list[str]) -> Environment:
    (directory / "secrets").mkdir(exist_ok=True)
    environ = {"VERNAL_PROFILES": "first,second", "VERNAL_SECRETS_DIRECTORY": "secrets"}
    arguments: dict[str, object] = {}
    for place in places:
        match place:
            case "argument":
                arguments = {"audit": {"path": place}}
            case "environment":
                environ["VERNAL_AUDIT__PATH"] = place
            case "secrets":
                (directory / "secrets" / "vernal_audit__path").write_text(f"{place}\n")
            case "vernal.toml":
                (directory / place).write_text(f'[audit]\npath = "{place}"\n')
            case "pyproject.toml":
                (directory / place).write_text(f'[project]\nname = "x"\n\n[tool.vernal.audit]\npath = "{place}"\n')
            case _:
                (directory / place).write_text(f"# a comment\nexport VERNAL_AUDIT__PATH='{place}'\n")
    return Environment.load(arguments, directory=directory, environ=environ)


@pytest.mark.parametrize("rank", range(len(PLACES)))
def test_the_highest_source_wins(tmp_path: Path, rank: int) -> None:
    """Arguments beat the environment, then secrets, .env of the last profile, .env, vernal.toml and pyproject.toml."""
    environment = _environment(tmp_path, PLACES[rank:])
    assert environment.bind(Audit).path == PLACES[rank]


def test_without_any_source_the_default_holds(tmp_path: Path) -> None:
    """What is set nowhere has the default of its class, and lookup finds nothing."""
    environment = Environment.load(directory=tmp_path, environ={})
    assert environment.bind(Audit).path == "default"
    assert environment.lookup("audit.path") is None


@pytest.mark.parametrize(
    ("place", "origin"),
    [
        ("argument", "settings= argument"),
        ("environment", "environment variable VERNAL_AUDIT__PATH"),
        (".env.second", ".env.second:2"),
        (".env", ".env:2"),
        ("vernal.toml", "vernal.toml:2"),
        ("pyproject.toml", "pyproject.toml:5"),
    ],
)
def test_every_value_has_its_origin(tmp_path: Path, place: str, origin: str) -> None:
    """A looked-up value says in which file and line, or in which variable, it stands."""
    found = _environment(tmp_path, [place]).lookup("audit.path")
    assert found is not None
    assert (found.value, found.origin) == (place, origin)


def test_the_repr_of_a_value_does_not_show_it(tmp_path: Path) -> None:
    """A setting value may be secret, so its repr keeps it back."""
    found = Environment.load({"a": {"b": "sk-secret"}}, directory=tmp_path, environ={}).lookup("a.b")
    assert "sk-secret" not in repr(found)


def test_profiles_come_from_files_too(tmp_path: Path) -> None:
    """A profile named in .env activates .env.<profile>."""
    (tmp_path / ".env").write_text("VERNAL_PROFILES=dev, local\n")
    (tmp_path / ".env.local").write_text("VERNAL_AUDIT__PATH=here\n")
    environment = Environment.load(directory=tmp_path, environ={})
    assert environment.profiles == ("dev", "local")
    assert environment.bind(Audit).path == "here"


@pytest.mark.parametrize("given", [["dev"], ("dev",), "dev"])
def test_profiles_may_be_given_as_an_argument(tmp_path: Path, given: object) -> None:
    """The settings= argument names profiles as a list or as text."""
    assert Environment.load({"profiles": given}, directory=tmp_path, environ={}).profiles == ("dev",)


def test_a_profile_that_is_no_name_is_refused(tmp_path: Path) -> None:
    """A profile becomes part of a file name, so it cannot lead out of the directory."""
    with pytest.raises(SettingsError, match=r"profiles = .*'\.\./x' is not the name of a profile"):
        Environment.load(directory=tmp_path, environ={"VERNAL_PROFILES": "../x"})


def test_each_file_is_read_once(tmp_path: Path) -> None:
    """What changes on disk after loading changes nothing in a loaded environment."""
    environment = _environment(tmp_path, PLACES[3:])
    for file in tmp_path.glob(".env*"):
        file.unlink()
    assert environment.bind(Audit).path == ".env.second"
    assert environment.bind(Audit) is environment.bind(Audit)


def test_an_empty_variable_counts_as_not_set(tmp_path: Path) -> None:
    """Compose files pass unset variables as empty ones; these hide nothing."""
    (tmp_path / ".env").write_text("VERNAL_AUDIT__PATH=here\n")
    environment = Environment.load(directory=tmp_path, environ={"VERNAL_AUDIT__PATH": ""})
    assert environment.bind(Audit).path == "here"


def test_names_are_compared_without_case_and_punctuation(tmp_path: Path) -> None:
    """A variable in small letters and a key with dashes mean the same field."""
    (tmp_path / "vernal.toml").write_text("[chat-client]\nFull-Name = 1\n")
    environment = Environment.load(directory=tmp_path, environ={"vernal_chat_client__other": "2"})
    first, second = environment.lookup("chat_client.full_name"), environment.lookup("chat_client.other")
    assert first is not None
    assert second is not None
    assert (first.value, second.value) == (1, "2")


def test_dotted_arguments_nest(tmp_path: Path) -> None:
    """Arguments may be dotted at the first level, also beside nested ones."""
    arguments = {"chat.client.enabled": False, "chat": {"model": "offline"}, "chat.client": {"order": 1}}
    environment = Environment.load(arguments, directory=tmp_path, environ={})
    for key, value in {"chat.client.enabled": False, "chat.model": "offline", "chat.client.order": 1}.items():
        found = environment.lookup(key)
        assert found is not None
        assert found.value == value


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    """A mapping with other keys than text cannot be settings."""
    with pytest.raises(TypeError, match="the name 1 in tools in settings= argument is a int; names are text"):
        Environment.load({"tools": {1: 2}}, directory=tmp_path, environ={})


def test_lookup_falls_back_to_variables_of_others(tmp_path: Path) -> None:
    """A third-party variable counts only when the key itself is set in no source; case does not matter."""
    (tmp_path / ".env").write_text("\nOPENAI_API_KEY=theirs\n")
    environment = Environment.load(directory=tmp_path, environ={})
    found = environment.lookup("openai.api_key", fallbacks=["OPENAI_API_KEY"])
    assert found is not None
    assert (found.value, found.origin) == ("theirs", ".env:2")
    (tmp_path / "vernal.toml").write_text('[openai]\napi_key = "ours"\n')
    found = Environment.load(directory=tmp_path, environ={}).lookup("openai.api_key", fallbacks=["OPENAI_API_KEY"])
    assert found is not None
    assert found.value == "ours"


def test_dotenv_expands_variables_of_the_given_environment(tmp_path: Path) -> None:
    """`${NAME}` in .env takes the environment that was handed over, and earlier lines."""
    (tmp_path / ".env").write_text("BASE=${HOME_OF_TEST}/x\nVERNAL_AUDIT__PATH=${BASE}/y\n")
    environment = Environment.load(directory=tmp_path, environ={"HOME_OF_TEST": "/t"})
    assert environment.bind(Audit).path == "/t/x/y"


def test_a_broken_line_of_dotenv_is_named_and_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A line that is no assignment is warned of by number, its content unseen, and the rest is read."""
    (tmp_path / ".env").write_text("VERNAL_AUDIT__PATH=here\n'hidden\n")
    environment = Environment.load(directory=tmp_path, environ={})
    assert environment.bind(Audit).path == "here"
    assert ".env:2" in caplog.text
    assert "hidden" not in caplog.text


@pytest.mark.parametrize("name", ["vernal.toml", "pyproject.toml"])
def test_a_file_that_is_no_toml_is_named(tmp_path: Path, name: str) -> None:
    """A TOML file that cannot be read is an error with its name and the line."""
    (tmp_path / name).write_text("[tool.vernal]\npath = = 1\n")
    with pytest.raises(SettingsError, match=rf"{name}: the file is not TOML: .*line 2"):
        Environment.load(directory=tmp_path, environ={})


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    """A file that is not UTF-8 is an error with its name."""
    (tmp_path / ".env").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsError, match=r"\.env: the file cannot be read"):
        Environment.load(directory=tmp_path, environ={})


def test_a_secrets_directory_that_is_missing_is_an_error(tmp_path: Path) -> None:
    """A directory that was named and does not exist is no silent nothing."""
    with pytest.raises(SettingsError, match="there is no such directory"):
        Environment.load(directory=tmp_path, environ={"VERNAL_SECRETS_DIRECTORY": "nowhere"})


def test_other_files_in_the_secrets_directory_are_not_read(tmp_path: Path) -> None:
    """Only files named after a variable of ours are opened."""
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "VERNAL_AUDIT__PATH").write_text("here")
    environment = Environment.load({"secrets_directory": tmp_path}, environ={})
    found = environment.lookup("audit.path")
    assert found is not None
    assert (found.value, found.origin) == ("here", str(tmp_path / "VERNAL_AUDIT__PATH"))


def test_the_process_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without arguments, os.environ and the working directory are read."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(os.environ, "VERNAL_AUDIT__PATH", "process")
    assert Environment.load().bind(Audit).path == "process"


def test_the_lines_of_a_toml_file_survive_multiline_text(tmp_path: Path) -> None:
    """Text over several lines that looks like keys does not confuse the origins; inline tables have their line."""
    (tmp_path / "vernal.toml").write_text(
        '[audit]\nnote = """\npath = 1\n[other]\n"""\npath = "x"\n\n[audit."a b"]\nd = { e = 1 }\nf.g = 2\n'
    )
    environment = Environment.load(directory=tmp_path, environ={})
    keys = {"audit.note": 2, "audit.path": 6, "audit.a b.d.e": 9, "audit.a b.f.g": 10}
    for key, line in keys.items():
        found = environment.lookup(key)
        assert found is not None
        assert found.origin == f"vernal.toml:{line}", key


@pytest.mark.parametrize(
    "text",
    [
        "[tool.vernal.audit]\npath = 'x'\n",
        "[tool]\nvernal.audit.path = 'x'\n",
        "[ tool . 'vernal' ]\naudit = { path = 'x' }\n",
        '["tool"."vernal".audit]\npath = "x"\n',
    ],
)
def test_the_table_of_pyproject_may_be_written_in_every_way(text: str, tmp_path: Path) -> None:
    """However TOML lets the table be written, it is read; a file without it is not even parsed."""
    (tmp_path / "pyproject.toml").write_text(text)
    found = Environment.load(directory=tmp_path, environ={}).lookup("audit.path")
    assert found is not None
    assert found.value == "x"
    (tmp_path / "pyproject.toml").write_text("# vernal, no TOML at all [tool.other]")
    assert Environment.load(directory=tmp_path, environ={}).lookup("audit.path") is None


def test_the_mark_of_editors_at_the_begin_of_a_file_is_no_part_of_it(tmp_path: Path) -> None:
    """A file that begins with a byte order mark is read like any other."""
    (tmp_path / ".env").write_text("VERNAL_X__A=one\n", encoding="utf-8-sig")
    (tmp_path / "vernal.toml").write_text("[x]\nb = 'two'\n", encoding="utf-8-sig")
    environment = Environment.load(directory=tmp_path, environ={})
    found = [environment.lookup(key) for key in ("x.a", "x.b")]
    assert [one.value for one in found if one is not None] == ["one", "two"]


def test_nothing_between_commas_is_no_profile(tmp_path: Path) -> None:
    """A list of profiles may end with a comma, as any list of settings may."""
    environment = Environment.load(directory=tmp_path, environ={"VERNAL_PROFILES": " dev, ,local,"})
    assert environment.profiles == ("dev", "local")


@pytest.mark.parametrize("value", ["'x'", "['x']", "7"])
def test_the_table_of_pyproject_is_a_table(tmp_path: Path, value: str) -> None:
    """Anything else under `tool.vernal` is refused by that name."""
    (tmp_path / "pyproject.toml").write_text(f"[tool]\nvernal = {value}\n[tool.vernal-other]\n")
    with pytest.raises(SettingsError, match=r"tool\.vernal: a table is wanted"):
        Environment.load(directory=tmp_path, environ={})
