"""Dates, times and durations of the prompt in the form that JSON Schema's formats ask for."""

import re
from collections.abc import Callable

from vernal.models.offline.lexicon import MONTHS, WEEKDAYS
from vernal.models.offline.reading import Mention, Reading
from vernal.models.offline.words import stem

_DURATIONS = {
    "second": "PT{}S", "sec": "PT{}S", "minut": "PT{}M", "min": "PT{}M", "hour": "PT{}H", "h": "PT{}H", "hr": "PT{}H",
    "day": "P{}D", "night": "P{}D", "week": "P{}W",
}  # fmt: skip


def written_as(form: str, mention: Mention, reading: Reading, today: str | None) -> str | None:
    """`mention` as a `date`, `datetime`, `time` or `duration` in ISO 8601, None where it says no such thing.

    `today` is the ISO date that "tomorrow" and "Friday" are counted from, None for the clock of the machine.
    """
    return _FORMS[form](mention, reading, today)


def _date(mention: Mention, reading: Reading, today: str | None) -> str | None:
    text = mention.text.lower().replace("/", "-")
    if mention.kind == "datetime":
        return text[:10] if _day(text[:10]) else None
    if mention.kind == "day":
        return _relative(text, today)
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return _day(text)
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    if re.fullmatch(r"\d+\.\d+\.\d+", text):
        return _day(f"{numbers[2]:04}-{numbers[1]:02}-{numbers[0]:02}")
    month = next((number for number, name in enumerate(MONTHS, 1) if name[:3] in text), None)
    if month is None:
        return None  # 04/05/2025 is one day in Boston and another in Berlin
    year = numbers[1] if len(numbers) > 1 else int((today or _clock())[:4])
    return _day(f"{year:04}-{month:02}-{numbers[0]:02}")


def _time(mention: Mention, reading: Reading, today: str | None) -> str | None:
    text = mention.text.lower().replace(".", "")
    if text in ("noon", "midnight"):
        return "12:00:00" if text == "noon" else "00:00:00"
    found = re.search(r"(\d{1,2})(?::(\d\d))?(?::(\d\d))?\s?([ap]m)?$", text if mention.kind == "time" else text[11:19])
    if found is None:
        return None
    hour, half = int(found[1]), found[4]
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    minute, second = int(found[2] or 0), int(found[3] or 0)
    return f"{hour:02}:{minute:02}:{second:02}" if hour < 24 and minute < 60 and second < 60 else None


def _datetime(mention: Mention, reading: Reading, today: str | None) -> str | None:
    if mention.kind == "datetime":
        return mention.text.upper().replace(" ", "T") if _day(mention.text[:10]) else None
    day = _date(mention, reading, today)
    clock = min(
        (m for m in reading.mentions if m.kind == "time"), key=lambda m: abs(m.first - mention.first), default=None
    )
    return f"{day}T{(clock and _time(clock, reading, today)) or '00:00:00'}" if day else None


def _duration(mention: Mention, reading: Reading, today: str | None) -> str | None:
    form = _DURATIONS.get(mention.after) or _DURATIONS.get(stem(mention.unit))
    return form.format(mention.value) if form and isinstance(mention.value, int) else None


_FORMS: dict[str, Callable[[Mention, Reading, str | None], str | None]] = {
    "date": _date,
    "time": _time,
    "datetime": _datetime,
    "duration": _duration,
}


def _clock() -> str:
    from datetime import date

    return date.today().isoformat()


def _day(text: str) -> str | None:
    from datetime import date

    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return None


def _relative(text: str, today: str | None) -> str | None:
    from datetime import date, timedelta

    start = date.fromisoformat(today or _clock())
    days = {"today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1, "the day after tomorrow": 2}.get(text)
    weekday = next((number for number, name in enumerate(WEEKDAYS) if text.endswith(name)), None)
    if days is None and weekday is not None and not text.startswith("last"):
        days = (weekday - start.weekday() - 1) % 7 + 1
    return None if days is None else (start + timedelta(days=days)).isoformat()
