"""The page stands alone, shows all figures, and obeys no transcript."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest
from langchain_core.messages import HumanMessage

from langchain_memkit.cli.compare import summarize
from langchain_memkit.cli.page import COLUMNS, render_page, show_cells
from langchain_memkit.cli.plot import draw_plot

EVIL = "</td></svg><script>alert('x')</script><img src=http://x.test/ onerror=a \x1b[2J"


class Reader(HTMLParser):
    """Collects tags, attributes and text."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.text, self.open = set(), set(), "", []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def read(page):
    """Parse a page; every tag is closed in order."""
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    return reader


@pytest.fixture
def render(measure):
    """Measure conversations and write their page."""

    def page(*conversations, **options):
        runs = measure(*conversations)
        about = [("budget", "50%")]
        return render_page(summarize(runs), runs=runs, about=about, **options)

    return page


def test_the_page_shows_every_figure(conversation, measure, render):
    """What the table of the terminal says stands in the page."""
    text = read(render(conversation)).text
    for row in summarize(measure(conversation)):
        assert all(cell in text for cell in show_cells(row))
    assert all(meaning in text for meaning in COLUMNS.values())


def test_the_page_stands_alone(conversation, render):
    """Nothing is fetched and nothing runs."""
    page = render(conversation)
    reader = read(page)
    assert not reader.tags & {"script", "link", "img", "iframe", "image", "use", "a"}
    assert not reader.attributes & {"src", "href", "xlink:href", "srcset"}
    assert "url(" not in page
    assert "@import" not in page
    assert "default-src 'none'" in page
    assert "prefers-color-scheme: dark" in page


def test_the_page_obeys_no_transcript(conversation, measure):
    """Text of a transcript stays text, wherever it is shown."""
    conversation[3].content = conversation[1].content = EVIL
    runs = measure(conversation)
    rows = [row.model_copy(update={"method": EVIL}) for row in summarize(runs)]
    page = render_page(rows, runs=runs, about=[(EVIL, EVIL)], notes=[EVIL])
    reader = read(page)
    assert not reader.tags & {"script", "img"}
    assert "alert('x')" in reader.text
    assert "\x1b" not in page


def test_departures_are_listed_with_what_left(conversation, render):
    """Each call that lost something names it."""
    text = read(render(conversation)).text
    assert "newest: 10 messages left or shortened, at 5 calls" in text
    assert "shortened: 5 messages left or shortened, at 5 calls" in text
    assert "1 system message left, 1 user message left" in text
    assert "Why do kites fly?" in text


def test_where_nothing_left_the_page_says_so(conversation, render):
    """An empty list is told from a missing one."""
    assert "Nothing left." in read(render(conversation[:3])).text


def test_many_departures_are_cut_short(conversation, render):
    """A page stays of a size that a browser opens."""
    more = [HumanMessage(f"and {n}") for n in range(400)]
    assert "lines more." in read(render([*conversation, *more])).text


def test_many_conversations_are_listed_and_the_longest_drawn(conversation, render):
    """A folder of runs makes one page."""
    page = render(*[conversation[: 2 + n] for n in range(10)], notes=["left out"])
    text = read(page).text
    assert page.count("<svg") == 8
    assert "10 conversations, the 8 longest drawn below" in text
    assert "All 10 conversations" in text
    assert "left out" in text
    assert "<h2>run#10</h2>" in page
    assert "<h2>run#1</h2>" not in page


def test_a_message_of_blocks_is_shown_by_its_text(conversation, render):
    """Lists of blocks are shown as text where they have any."""
    conversation[1] = HumanMessage([{"type": "text", "text": "Blocks of text"}])
    conversation[0].content = [{"type": "image", "url": "x"}]
    text = read(render(conversation)).text
    assert "Blocks of text" in text
    assert "{'type': 'image'" in text


def test_a_missing_method_keeps_the_colors(conversation, measure, methods):
    """This package has the same color whether or not another one is measured."""
    runs = measure(conversation, methods=methods[:1] + methods[2:])
    page = render_page(summarize(runs), runs=runs, about=[])
    assert "k3" in page.split("</style>")[1]
    assert "k1" not in page.split("</style>")[1]


@pytest.mark.parametrize("number", [1, 2, 7, 12])
def test_the_plot_is_a_drawing_of_every_call(conversation, measure, number):
    """One mark a call and method, one dot a departure, all inside the frame."""
    runs = measure(conversation[:number])
    root = ET.fromstring(draw_plot(runs, colors=[0, 1, 3]))
    marks = root.findall("circle")
    calls = [c for r in runs for c in r.calls]
    left = [c for r in runs[1:] for c in r.calls if c.gone or c.cut]
    assert len(marks) == len(calls) + len(left)
    width, height = map(float, root.get("viewBox").split()[2:])
    assert all(0 < float(mark.get("cx")) < width for mark in marks)
    assert all(0 < float(mark.get("cy")) < height for mark in marks)


def test_the_plot_marks_what_cannot_be_used(conversation, measure):
    """A hollow mark stands for a prompt that is not usable."""
    runs = measure(conversation)
    plot = draw_plot(runs, colors=[0, 1, 3])
    bad = sum(not c.is_usable for r in runs for c in r.calls)
    assert plot.count(" bad") == plot.count("not usable") == bad > 0


def test_ticks_are_round_numbers(conversation, measure):
    """A reader can read the scale."""
    more = [HumanMessage(f"and {n} " * 9) for n in range(60)]
    plot = draw_plot(measure([*conversation, *more]), colors=[0, 1, 3])
    labels = re.findall(r'class="end">([\d,]+)<', plot)
    assert labels == ["0", "500", "1,000", "1,500", "2,000"][: len(labels)]
    assert len(labels) > 3
