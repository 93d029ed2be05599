"""Operators look into a store, and change it only when they say so."""

import json
from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

from langchain_memkit.cli.app import app
from langchain_memkit.cli.memory_commands import print_consolidation
from langchain_memkit.cli.stores import open_memory
from langchain_memkit.memory import ConsolidationReport

LONG_AGO = datetime(2001, 1, 1, tzinfo=UTC)
FAR_AHEAD = datetime(2901, 1, 1, tzinfo=UTC)
EVIL = "[bold]Answer[/bold] \x1b[31mbriefly."


@pytest.fixture(params=["folder", "sqlite"])
def store(request, tmp_path):
    """The address of a store with a live, a faded and a pinned memory."""
    where = str(tmp_path / "store")
    where = where if request.param == "folder" else f"sqlite:///{where}.db"
    memory = open_memory(where, create=True)
    memory.remember("tone", EVIL, 0.9, now=FAR_AHEAD)
    memory.remember("old", "Kites need wind.", 0.25, now=LONG_AGO)
    memory.remember("rule", "Never fly in a storm.", pinned=True, now=LONG_AGO)
    scope = memory.scoped(("user", "4 2"))
    scope.remember("city", "Ghent.", source="user", now=LONG_AGO)
    return where


def run(*arguments):
    """Run the command."""
    return CliRunner().invoke(app, ["memory", *map(str, arguments)])


def parse(*arguments):
    """Run the command and read what it printed as JSON."""
    result = run(*arguments, "--json")
    assert result.exit_code == 0
    assert result.stdout.isascii()
    return json.loads(result.stdout)


def test_ls_shows_every_memory_and_its_state(store):
    """Live and faded ones, marks, and the compartments with how to open them."""
    lines = run("ls", store).stdout.splitlines()
    assert [line.split()[:4] for line in lines[1:4]] == [
        ["old", "0.25", "developer", "faded:"],
        ["rule", "0.50", "developer", "live"],
        ["tone", "0.90", "developer", "live"],
    ]
    assert "pinned" in lines[2]
    assert lines[4:] == ["3 memories", "compartment user/4 2: -n user -n '4 2'"]


def test_ls_shows_a_compartment(store):
    """Labels lead to it."""
    lines = run("ls", store, "-n", "user", "-n", "4 2").stdout.splitlines()
    assert lines[1].split()[:3] == ["city", "0.50", "user"]
    assert lines[2:] == ["1 memory"]


def test_ls_of_nothing_says_so(tmp_path):
    """An empty store is no mistake."""
    url = f"sqlite:///{tmp_path}/m.db"
    open_memory(url, create=True)
    assert run("ls", url).stdout == "0 memories\n"


def test_ls_prints_json(store):
    """Scripts get the same."""
    listed = parse("ls", store)
    assert [m["state"] for m in listed["memories"]] == ["idle", "live", "live"]
    assert listed["compartments"] == [["user", "4 2"]]


def test_the_policy_decides_what_has_faded(store):
    """Options replace the default policy."""
    lasting = parse("ls", store, "--ttl-days", 200_000)
    assert {m["state"] for m in lasting["memories"]} == {"live"}
    weak = parse("ls", store, "--ttl-days", 200_000, "--weak-days", 1)
    assert [m["state"] for m in weak["memories"]] == ["weak", "live", "live"]


def test_show_prints_a_memory_harmlessly(store):
    """The text stands as it is, but moves no cursor and colors nothing."""
    result = run("show", store, "tone")
    assert "[bold]Answer[/bold] �[31mbriefly." in result.stdout
    assert "importance      0.9" in result.stdout
    assert "\x1b" not in result.stdout


def test_show_raw_prints_the_text_alone(store):
    """Into a file the text goes as it was remembered."""
    assert run("show", store, "tone", "--raw").stdout == EVIL


def test_show_of_an_unknown_name_says_so(store):
    """A memory that is not there has an exit code of its own."""
    result = run("show", store, "nope")
    assert result.exit_code == 4
    assert "got 'nope'" in result.stderr


def test_search_finds_live_memories(store):
    """Best first, with the text."""
    result = run("search", store, "storm wind answer")
    assert [line.split()[0] for line in result.stdout.splitlines()[1:]] in (
        ["tone", "rule"],
        ["rule", "tone"],
    )
    assert "\x1b" not in result.stdout
    found = parse("search", store, "storm", "-k", 1)
    assert [one["content"] for one in found] == ["Never fly in a storm."]


def test_search_for_nothing_says_so(store):
    """No table of nothing."""
    assert run("search", store, "zebra").stdout == "Nothing found.\n"


def test_stats_count_what_is_there(store):
    """Live, faded and by source."""
    stats = parse("stats", store)
    assert (stats["memories"], stats["live"], stats["faded"]) == (3, 2, {"idle": 1})
    assert (stats["pinned"], stats["sources"]) == (1, {"developer": 3})
    assert stats["compartments"] == 1
    assert stats["last_access_at"].startswith("2901")
    text = run("stats", store).stdout
    assert "1 idle" in text


def test_stats_of_nothing_are_zero(tmp_path):
    """An empty store has no last access."""
    url = f"sqlite:///{tmp_path}/m.db"
    open_memory(url, create=True)
    text = run("stats", url).stdout
    assert "never" in text
    assert "none" in text


def test_looking_refreshes_nothing(store):
    """No command but consolidation and import changes a store."""
    before = parse("ls", store)
    for arguments in (["show", store, "tone"], ["search", store, "storm"]):
        run(*arguments)
    run("stats", store)
    run("consolidate", store, "--dry-run", "-r")
    assert parse("ls", store) == before


def test_a_dry_run_tells_what_would_be_forgotten(store):
    """Names and reasons, and nothing is done."""
    lines = run("consolidate", store, "--dry-run").stdout.splitlines()
    assert lines[0] == "(top): 1 would be forgotten, 2 kept"
    assert lines[2].split() == ["old", "idle"]
    assert len(parse("ls", store)["memories"]) == 3


def test_consolidate_forgets_what_has_faded(store):
    """Here only, unless compartments are asked for."""
    assert run("consolidate", store).stdout.startswith("(top): 1 forgotten, 2 kept")
    assert run("consolidate", store).stdout == "(top): 0 forgotten, 2 kept\n"
    (top, scope) = parse("consolidate", store, "--recursive")
    assert (top["pruned"], top["kept"]) == ([], 2)
    assert (scope["namespace"], scope["pruned"]) == (["user", "4 2"], ["city"])
    assert parse("ls", store)["compartments"] == []


def test_what_cannot_be_deleted_is_told(capsys):
    """What stays although it has faded is told apart from what went."""
    reasons = {"old": "idle", "stuck": "weak"}
    report = ConsolidationReport(
        pruned=("old",), kept=1, failed=("stuck",), reasons=reasons
    )
    print_consolidation("(top)", report)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[2:] == [
        ["old", "idle"],
        ["stuck", "weak", "could", "not", "be", "deleted"],
    ]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["ls"], 2),
        (["ls", "nowhere"], 2),
        (["ls", "mysterious://x"], 2),
        (["search", "nowhere", "x", "-k", "0"], 2),
        (["stats", "postgresql://a:secret@127.0.0.1:1/x?connect_timeout=1"], 1),
    ],
)
def test_a_mistake_ends_with_a_message(arguments, code):
    """No traceback, a documented code, and no password."""
    result = run(*arguments)
    assert result.exit_code == code
    assert isinstance(result.exception, SystemExit)
    assert "secret" not in result.output
