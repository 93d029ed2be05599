"""Open the page of `memkit compare` in headless Chromium, light and dark.

    python benchmarks/browser.py [--out FOLDER] [--budget 40%] [FILES…]

Writes `page.html`, `light.png` and `dark.png` for looking at, and checks that the page
loads nothing else, that its plots are drawn, and that both color schemes are its own.
Without FILES it measures a conversation of its own. Skips where there is no Chromium.
"""

from __future__ import annotations

import argparse
import json
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SIZE = (1120, 2200)


def find_browser() -> str | None:
    """Find a Chromium.

    Returns:
        Its path, or None.
    """
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def write_transcript(path: Path, pages: int = 30) -> None:
    """Write a conversation in which a model reads a log page by page.

    Args:
        path: The file.
        pages: How many pages.
    """
    messages: list[dict[str, object]] = [
        {"role": "system", "content": "You keep a weather log. Never guess a figure."},
        {"role": "user", "content": "Which days of the log were good for kites?"},
    ]
    for page in range(pages):
        function = {"name": "read_page", "arguments": json.dumps({"page": page})}
        call = {"id": f"call_{page}", "type": "function", "function": function}
        lines = [f"Day {page}, hour {h}: wind {h * 7 % 31} km/h" for h in range(24)]
        text = "<b>Log</b>\n" + "\n".join(lines[: 6 + page % 19])
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{page}", "content": text},
        ]
        if page % 8 == 7:
            messages += [
                {"role": "assistant", "content": f"Up to day {page} there were four."},
                {"role": "user", "content": "Only days above 20 km/h count. Go on."},
            ]
    path.write_text(json.dumps(messages), encoding="utf-8")


def write_page(files: list[str], page: Path, budget: str) -> None:
    """Run the command.

    Args:
        files: Transcripts.
        page: Where the page goes.
        budget: What prompts may come to.
    """
    command = [sys.executable, "-m", "langchain_memkit.cli"]
    options = ["--budget", budget, "--html", str(page)]
    subprocess.run([*command, "compare", *files, *options], check=True)


def browse(browser: str, page: Path, *options: str) -> str:
    """Open the page once.

    Args:
        browser: The browser.
        page: The page.
        *options: What to do with it.

    Returns:
        What the browser printed.
    """
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(
            [
                browser,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                f"--user-data-dir={profile}",
                f"--window-size={SIZE[0]},{SIZE[1]}",
                *options,
                page.resolve().as_uri(),
            ],
            check=True,
            capture_output=True,
            text=True,
            timeout=120,
        )
    return done.stdout


def first_pixel(png: bytes) -> tuple[int, int, int]:
    """Read the color of a picture's corner.

    Args:
        png: A picture of 8 bits a channel.

    Returns:
        Red, green and blue.
    """
    data, place = b"", 8
    while place < len(png):
        (length,) = struct.unpack(">I", png[place : place + 4])
        if png[place + 4 : place + 8] == b"IDAT":
            data += png[place + 8 : place + 8 + length]
        place += length + 12
    # every filter of PNG leaves the first pixel of the first row as it is
    red, green, blue = zlib.decompress(data)[1:4]
    return red, green, blue


def check(browser: str, page: Path, folder: Path) -> list[str]:
    """Look at the page in both color schemes.

    Args:
        browser: The browser.
        page: The page.
        folder: Where the pictures go.

    Returns:
        What is wrong with it.
    """
    wrong = []
    document = browse(browser, page, "--dump-dom")
    if "<svg" not in document or 'class="line' not in document:
        wrong.append("no plot was drawn")
    if "<script" in document or "src=" in document:
        wrong.append("the page loads something")
    for scheme, name in enumerate(("dark", "light")):
        picture = folder / f"{name}.png"
        scheme_option = f"--blink-settings=preferredColorScheme={scheme}"
        browse(browser, page, scheme_option, f"--screenshot={picture.resolve()}")
        corner = first_pixel(picture.read_bytes())
        print(f"{picture}: {picture.stat().st_size:,} bytes, corner {corner}")
        if (sum(corner) > 3 * 128) != (name == "light"):
            wrong.append(f"the ground is not {name}: {corner}")
    return wrong


def main() -> None:
    """Make the page, look at it, and tell what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--out", type=Path, default=Path(".build/browser"))
    parser.add_argument("--budget", default="40%")
    given = parser.parse_args()
    browser = find_browser()
    if browser is None:
        print(f"skipped: none of {', '.join(BROWSERS)} is installed")
        return
    given.out.mkdir(parents=True, exist_ok=True)
    page, own = given.out / "page.html", given.out / "own.json"
    if not given.files:
        write_transcript(own)
    write_page(given.files or [str(own)], page, given.budget)
    wrong = check(browser, page, given.out)
    print(
        f"{page}: {page.stat().st_size:,} bytes, {'; '.join(wrong) or 'as it should'}"
    )
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
