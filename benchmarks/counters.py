"""Print how far each counter is from `o200k_base` on texts of several kinds.

    python benchmarks/counters.py [--text FILE ...]

Needs tiktoken and its table (see `TIKTOKEN_CACHE_DIR`). Own texts can be added with
`--text`. The texts below were not used to fit the weights of the script-aware option.
"""

from __future__ import annotations

import argparse
import inspect
import json
import sys
import textwrap
from pathlib import Path

from langchain_memkit import (
    ApproximateCounter,
    CounterError,
    MissingExtraError,
    TiktokenCounter,
)

PROSE = """
The night train to the coast carries eleven coaches, two of them with berths. Travellers
who booked a berth are woken half an hour before their station, and breakfast is brought
to the compartment. If the train is more than an hour late, the conductor hands out a
form with which the fare can be claimed back. Bicycles have to be reserved in advance,
because there is room for eight of them only. Dogs may travel in the last coach.
"""
CHINESE = """
夜班列车开往海边，一共有十一节车厢，其中两节是卧铺。
预订卧铺的旅客会在到站前半小时被叫醒，早餐会送到包厢里。
如果列车晚点超过一个小时，列车员会发给旅客一张表格，可以凭它申请退还车费。
自行车必须提前预约，因为只有八个位置。
带狗的旅客请坐最后一节车厢，并且在站台上给狗戴好牵引绳。
餐车从晚上七点开到十点，提供热汤和面条。
"""
JAPANESE = """
海岸行きの夜行列車は十一両編成で、そのうち二両が寝台車です。
寝台を予約したお客様には到着の三十分前にお知らせし、
朝食を個室までお持ちします。
一時間以上遅れた場合は、車掌が
払い戻しの用紙をお配りします。
自転車は八台分の場所しかないため、事前の予約が必要です。
犬を連れたお客様は最後の車両をご利用ください。
"""
KOREAN = """
해안으로 가는 야간 열차는 모두 열한 량이며 그중 두 량이 침대칸입니다.
침대칸을 예약한 승객은 도착
삼십 분 전에 안내를 받고 아침 식사는 객실로 가져다 드립니다.
열차가 한 시간 넘게 늦으면 승무원이
요금을 돌려받을 수 있는 신청서를 나누어 줍니다.
자전거는 여덟 대만 실을 수 있으므로 미리 예약해야 합니다.
"""
EMOJI = "🚆🌙🛏️🥐☕🐕🚲⏰🎫🧳🌊🏖️🍜🔔🗺️🧑‍✈️👨‍👩‍👦🙂👋🏼✅❗📋💶🕖🪟"


def json_result() -> str:
    """Make a tool result of the usual kind.

    Returns:
        JSON without line breaks.
    """
    trains = [
        {
            "train_id": f"NX{400 + 7 * n}",
            "departure": f"2026-03-{10 + n}T21:{10 + n}:00+01:00",
            "berths_free": 3 * n,
            "fare": {"amount": 49.9 + n, "currency": "EUR"},
            "delayed": n % 3 == 0,
        }
        for n in range(9)
    ]
    return json.dumps({"trains": trains, "next_page": None})


def texts(files: list[str]) -> dict[str, str]:
    """Collect the texts to measure.

    Args:
        files: Paths of own texts.

    Returns:
        Each text under its label.
    """
    return {
        "English prose": textwrap.dedent(PROSE),
        "JSON tool result": json_result(),
        "source code": inspect.getsource(argparse.ArgumentParser),
        "Chinese": CHINESE,
        "Japanese": JAPANESE,
        "Korean": KOREAN,
        "emoji": EMOJI,
    } | {Path(name).name: Path(name).read_text(encoding="utf-8") for name in files}


def main() -> None:
    """Print one row a text."""
    parser = argparse.ArgumentParser(description="How far are the counters off?")
    parser.add_argument("--text", nargs="*", default=[])
    arguments = parser.parse_args()
    try:
        real = TiktokenCounter()
    except (CounterError, MissingExtraError) as error:
        print(f"not measured: {error}")
        return
    plain, aware = ApproximateCounter(), ApproximateCounter(script_aware=True)
    print(f"made by: python {' '.join(sys.argv)}\n")
    print("| text | o200k_base | chars/4 off by | script-aware off by |")
    print("|---|---|---|---|")
    for label, text in texts(arguments.text).items():
        tokens = real.count_text(text)
        off = [counter.count_text(text) / tokens - 1 for counter in (plain, aware)]
        print(f"| {label} | {tokens} | {off[0]:+.0%} | {off[1]:+.0%} |")


if __name__ == "__main__":
    main()
