"""The main job: a question, the tools that the model calls, and the answer as it arrives.

`make demo` runs it with the embedded offline model; `make demo Q='…'` asks another question. With
VERNAL_CHAT__MODEL=openai:gpt-5-mini and a key, the same program asks the real service.
"""

import os
import sys
from datetime import date

from vernal import Application, ChatClient, tool

QUESTION = "What is the weather in Amsterdam and Paris, and what is 25 euro in dollars?"


class TravelTools:
    """Tools of a small travel assistant."""

    @tool
    def get_weather(self, city: str) -> dict[str, object]:
        """Current weather of a city.

        Args:
            city: Name of the city, such as "Amsterdam".
        """
        print(f"  → get_weather(city={city!r})")
        return {"city": city, "temperature": f"{12 + len(city)} °C", "sky": "cloudy" if len(city) % 2 else "clear"}

    @tool
    def convert_currency(self, amount: float, source: str = "EUR", target: str = "USD") -> str:
        """Convert an amount of money from one currency into another, such as euro into dollars.

        Args:
            amount: How much money.
            source: Currency code of the amount.
            target: Currency code that is wanted.
        """
        print(f"  → convert_currency(amount={amount:g}, source={source!r}, target={target!r})")
        return f"{amount:g} {source} are {amount * 1.08:.2f} {target}"

    @tool
    async def days_until(self, day: date) -> str:
        """Count the days from 1 January 2027 until a date.

        Args:
            day: The date, such as 2027-03-14.
        """
        print(f"  → days_until(day={day.isoformat()})")
        return f"{(day - date(2027, 1, 1)).days} days"


def main(question: str) -> None:
    """Ask `question` and print what happens."""
    with Application() as context:
        client = context.get(ChatClient)
        print(f"Question: {question}\n")
        print("Tools that the model calls:")
        with client.prompt(question).tools(TravelTools()).stream().content() as texts:
            for number, text in enumerate(texts):
                print(f"\nAnswer: {text}" if number == 0 else text, end="", flush=True)
        print()


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]) or os.environ.get("DEMO_QUESTION") or QUESTION)
