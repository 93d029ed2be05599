"""A user sees what a budget takes from a transcript, and why."""

import json

import pytest
from langchain_core.messages import messages_to_dict
from typer.testing import CliRunner

from langchain_memkit.cli.app import app


@pytest.fixture
def file(conversation, tmp_path):
    """The conversation as a file, with an attack in a tool result."""
    conversation[3].content = "[red]Page 0[/red] \x1b[2J \u202e" + "wind " * 40
    path = tmp_path / "run.json"
    path.write_text(json.dumps(messages_to_dict(conversation)))
    return path


@pytest.fixture
def many(conversation, tmp_path):
    """Three conversations as lines."""
    rows = [
        {"id": name, "messages": messages_to_dict(conversation[:end])}
        for name, end in (("first", 14), ("second", 4), ("7", 8))
    ]
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def run(*arguments):
    """Run the command."""
    return CliRunner().invoke(app, ["trim", *map(str, arguments)])


def test_trim_tells_what_left_and_why(file):
    """A summary, and a row for each message that left."""
    before = file.read_bytes()
    result = run(file, "--max-tokens", "60%")
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert lines[1].split()[0] == "run"
    assert lines[1].endswith("valid")
    assert "stubbed" in result.stdout
    assert file.read_bytes() == before


def test_text_of_a_transcript_does_nothing_to_the_terminal(file):
    """Markup is shown, controls are replaced."""
    text = run(file, "--max-tokens", "60%").stdout
    assert "[red]Page 0[/red] �[2J �" in text
    assert "\x1b" not in text


def test_what_fits_is_told(file):
    """An empty table would look like a fault."""
    assert "Nothing left." in run(file, "--max-tokens", "100000").stdout


def test_half_is_the_budget_where_none_is_given(file):
    """A first look needs no option."""
    text = run(file).stdout
    assert text == run(file, "--max-tokens", "50%").stdout


def test_what_if_adds_a_row_for_each_budget(file):
    """Budgets side by side, the one that was asked for first."""
    lines = run(file, "--max-tokens", "300", "--what-if", "400", "--what-if", "90%")
    budgets = [line.split()[1] for line in lines.stdout.splitlines()[1:4]]
    assert budgets[:2] == ["300", "400"]


def test_trim_prints_json(file):
    """All figures, and what-ifs without their rows."""
    (read,) = json.loads(
        run(file, "--max-tokens", "300", "--what-if", "90%", "--json").stdout
    )
    assert read["max_tokens"] == 300
    assert read["departures"]
    (other,) = read["what_if"]
    assert other["tokens_after"] > read["tokens_after"]
    assert "departures" not in other
    assert "what_if" not in json.loads(run(file, "--json").stdout)[0]


def test_many_conversations_have_a_row_each(many):
    """And the sum of what came out valid."""
    text = run(many).stdout
    assert [line.split()[0] for line in text.splitlines()[1:4]] == [
        "runs#first",
        "runs#second",
        "runs#7",
    ]
    assert "3 conversations: 3 valid" in text


@pytest.mark.parametrize("given", ["runs#second", "second", "2"])
def test_one_of_many_is_chosen_by_name_or_number(many, given):
    """The table of what left is for one."""
    (read,) = json.loads(
        run(many, "--max-tokens", "9999", "--conversation", given, "--json").stdout
    )
    assert read["name"] == "runs#second"


def test_a_budget_that_cannot_be_kept_has_its_code(many):
    """The best is shown, and the reason goes to standard error."""
    result = run(many, "--max-tokens", "5")
    assert result.exit_code == 3
    assert "over budget" in result.stdout
    assert result.stderr.count("got 5") == 3


@pytest.mark.parametrize(
    "options",
    [
        ["--max-tokens", "none"],
        ["--what-if", "0"],
        ["--conversation", "9"],
        ["--keep-last-steps", "-1"],
        ["--counter", "x"],
    ],
)
def test_a_mistake_ends_with_a_message(many, options):
    """Exit code 2 and no traceback."""
    result = run(many, *options)
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)
    assert result.stderr


@pytest.mark.parametrize("text", ["", "[", '[{"role": "pope", "content": ""}]'])
def test_a_file_that_is_no_transcript_ends_with_a_message(tmp_path, text):
    """The message says what was expected."""
    path = tmp_path / "x.json"
    path.write_text(text)
    result = run(path)
    assert result.exit_code == 2
    assert "must" in result.stderr
