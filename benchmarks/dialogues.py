"""Make a set of long conversations and questions about them, from templates.

    python benchmarks/dialogues.py FOLDER [--seed 7]

Writes FOLDER/dialogue.docs.jsonl.gz, one document a session with the spans of its
turns, and FOLDER/dialogue.questions.jsonl.gz, in the format that `capsules.py` reads.
Every other question (`--part 0` there) was used to choose the packer's weights, the
rest (`--part 1`) to report.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from pathlib import Path
from typing import Any

NAMES = [
    "Ada",
    "Bela",
    "Carlo",
    "Dina",
    "Emre",
    "Farah",
    "Gus",
    "Hana",
    "Ivo",
    "Jun",
    "Kofi",
    "Lena",
    "Milo",
    "Nura",
    "Otto",
    "Pia",
    "Quinn",
    "Rosa",
    "Sami",
    "Tess",
]
SLOTS = {
    "pet": [
        "puppy",
        "kitten",
        "parrot",
        "tortoise",
        "rabbit",
        "hamster",
        "greyhound",
        "canary",
    ],
    "petname": [
        "Biscuit",
        "Pepper",
        "Clover",
        "Ziggy",
        "Mango",
        "Olive",
        "Rufus",
        "Waffle",
    ],
    "city": [
        "Lisbon",
        "Kyoto",
        "Oslo",
        "Cusco",
        "Tbilisi",
        "Hanoi",
        "Quebec",
        "Marrakesh",
        "Galway",
    ],
    "food": [
        "dumplings",
        "ramen",
        "paella",
        "gnocchi",
        "pierogi",
        "tagine",
        "curry",
        "focaccia",
    ],
    "craft": [
        "pottery",
        "calligraphy",
        "woodcarving",
        "knitting",
        "origami",
        "beekeeping",
    ],
    "job": [
        "librarian",
        "paramedic",
        "cartographer",
        "welder",
        "translator",
        "florist",
    ],
    "sport": ["climbing", "fencing", "rowing", "archery", "badminton", "orienteering"],
    "instrument": ["cello", "ukulele", "accordion", "trumpet", "harp", "clarinet"],
    "relative": ["sister", "uncle", "grandmother", "cousin", "nephew", "stepfather"],
    "month": ["January", "March", "April", "June", "August", "October", "November"],
    "number": ["two", "three", "four", "five", "seven", "eleven", "twelve"],
    "cause": [
        "a sprained ankle",
        "a broken wrist",
        "pneumonia",
        "a migraine",
        "back pain",
    ],
    "book": ["The Salt Road", "Nine Lanterns", "Paper Harbours", "The Quiet Orchard"],
    "plant": ["basil", "tomatoes", "orchids", "lavender", "chillies", "succulents"],
    "vehicle": ["bicycle", "scooter", "campervan", "canoe", "motorbike"],
}
# What somebody says, what the other asks first (or nothing), and what is asked later.
EVENTS = (
    (
        "We finally brought a {pet} home from the shelter, and named it {petname}.",
        "",
        ("What is {who}'s {pet} called?", "Which animal did {who} adopt?"),
    ),
    (
        "I booked flights to {city} for {month}, {number} days all by myself!",
        "",
        (
            "Where is {who} travelling to in {month}?",
            "How long will {who} stay in {city}?",
        ),
    ),
    (
        "{food}, always. I could eat that every single day.",
        "What would be your last meal?",
        ("What is {who}'s favourite dish?",),
    ),
    (
        "I signed up for a {craft} course, the first lesson was messy but fun.",
        "",
        ("Which hobby did {who} start learning?", "What class has {who} enrolled in?"),
    ),
    (
        "My {relative} is working as a {job} now, such a change after the bank.",
        "",
        ("What does {who}'s {relative} do for a living?",),
    ),
    (
        "The doctor says it is {cause}, so no {sport} for {number} weeks.",
        "How did the appointment go?",
        ("Why did {who} have to stop {sport}?", "How many weeks must {who} rest?"),
    ),
    (
        "I have played the {instrument} since {month}, the neighbours hate me.",
        "",
        (
            "Which instrument does {who} play?",
            "When did {who} begin with the {instrument}?",
        ),
    ),
    (
        "{number}, and all of them still fit in the {vehicle}.",
        "How many kids are there now?",
        ("How many children does {who} have?",),
    ),
    (
        "I just finished {book} and cried through the last chapter.",
        "",
        ("Which novel made {who} cry?", "What did {who} read recently?"),
    ),
    (
        "My balcony is full of {plant} this year, I water them before breakfast.",
        "",
        ("What does {who} grow on the balcony?",),
    ),
    (
        "Sold the old car and bought a {vehicle} instead, best decision in years.",
        "",
        ("What did {who} buy after selling the car?",),
    ),
    (
        "We are moving to {city} once the lease ends in {month}.",
        "Any news about the flat?",
        ("Which city is {who} moving to?", "When does {who}'s lease end?"),
    ),
    (
        "My {relative} taught me to cook {food} when I was {number}.",
        "",
        ("Who taught {who} to make {food}?",),
    ),
    (
        "I came second in the {sport} tournament, I still cannot believe it!",
        "You look so happy today!",
        ("How did {who} do in the {sport} competition?",),
    ),
)
SMALL_TALK = (
    "Hey {other}! It has been a while, how have you been?",
    "Pretty good, thanks! Work keeps me busy as always.",
    "Wow, that is amazing! I am so happy for you.",
    "Oh no, I am sorry to hear that. Let me know if I can help.",
    "Haha, that sounds exactly like you, {other}.",
    "What have you been up to lately?",
    "Honestly, I needed to hear that today.",
    "That must have been quite an experience! Tell me more.",
    "Thanks, {other}. It means a lot to me.",
    "The weather has been awful here, nothing but rain.",
    "I took some pictures, remind me to send them to you.",
    "Same here. Some days I just want to stay in bed.",
    "Are you coming to the reunion? Everybody asks about you.",
    "I was thinking about our trip the other day, those were good times.",
    "Let us catch up again soon, I have to run!",
    "Sure! Talk to you next week, take care.",
    "Did you watch the game last night? What a finish.",
    "My phone died twice today, I really need a new one.",
    "I love how you always find time for the people around you.",
    "It is the little things that keep me going, you know?",
)
SESSIONS = 14
TURNS = (14, 26)


def conversation(rng: random.Random, number: int) -> tuple[list[Any], list[Any]]:
    """Make the sessions of one conversation and the questions about it."""
    corpus = f"dialogue-{number}"
    pair = rng.sample(NAMES, 2)
    sessions, questions = [], []
    asked: set[str] = set()
    for session in range(SESSIONS):
        lines, gold = _session(rng, pair, asked)
        identity = f"{corpus}-{session}"
        text, units = f"Session {session + 1}\n", []
        for speaker, said in lines:
            start = len(text)
            text += f"{speaker}: {said}\n"
            units.append({"line": start, "line_end": len(text) - 1})
        sessions.append(
            {
                "id": identity,
                "corpus": corpus,
                "title": "",
                "text": text,
                "units": units,
            }
        )
        for at, question in gold:
            end = units[at]["line_end"]
            start = end - len(lines[at][1])
            span = {"id": f"{identity}:{at}", "doc": identity, "start": start}
            span |= {"end": end, "text": text[start:end]}
            questions.append(
                {
                    "id": span["id"],
                    "corpus": corpus,
                    "question": question,
                    "gold": [span],
                }
            )
    return sessions, questions


def _session(
    rng: random.Random, pair: list[str], asked: set[str]
) -> tuple[list[tuple[str, str]], list[tuple[int, str]]]:
    lines: list[tuple[str, str]] = []
    gold: list[tuple[int, str]] = []
    for turn in range(rng.randint(*TURNS)):
        who = pair[turn % 2]
        talk = " ".join(rng.sample(SMALL_TALK, rng.choice((1, 2, 2, 3))))
        if turn < 2 or rng.random() < 0.7:
            lines.append((who, talk))
            continue
        statement, prompt, about = rng.choice(EVENTS)
        values = {slot: rng.choice(choices) for slot, choices in SLOTS.items()}
        question = rng.choice(about).format(who=who, **values)
        if prompt:
            lines[-1] = (lines[-1][0], f"{rng.choice(SMALL_TALK)} {prompt}")
        said = statement.format(**values)
        said = said[0].upper() + said[1:]
        around = rng.choice(("{said}", "{said} {talk}", "{talk} {said}"))
        lines.append((who, around.format(said=said, talk=rng.choice(SMALL_TALK))))
        if question not in asked:
            gold.append((len(lines) - 1, question))
            asked.add(question)
    named = {pair[0]: pair[1], pair[1]: pair[0]}
    return [(who, said.replace("{other}", named[who])) for who, said in lines], gold


def write(folder: Path, *, conversations: int = 12, seed: int = 7) -> None:
    """Write the set into a folder."""
    rng = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    made = [conversation(rng, number) for number in range(conversations)]
    for name, at in (("docs", 0), ("questions", 1)):
        path = folder / f"dialogue.{name}.jsonl.gz"
        with gzip.open(path, "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for one in made for row in one[at])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    write(arguments.folder, seed=arguments.seed)
