import subprocess
import sys


def test_the_command_also_runs_as_a_module():
    """`python -m langchain_memkit.cli` is `memkit`."""
    command = [sys.executable, "-m", "langchain_memkit.cli", "--version"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "0.1.0" in result.stdout
