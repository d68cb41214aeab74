"""The first application: typed methods are tools, the model calls them, and the answer comes whole or as a stream.

Run: python examples/quick_start.py

`Application()` alone takes its settings from the environment and `.env`; here the offline model is chosen, so that it
runs without a key.

Prints:
    18 °C and cloudy in Amsterdam
    18 °C and cloudy in Paris
    18 °C and cloudy in Oslo
    18 °C and cloudy in Rome
    18 °C and cloudy in Lima
    Trip(city='Bergen', days=3)
"""

import asyncio
from dataclasses import dataclass

from vernal import Application, ChatClient, tool

application = Application(settings={"chat": {"model": "offline"}})


class WeatherTools:
    @tool
    def get_weather(self, city: str) -> str:
        """Current weather of a city.

        Args:
            city: Name of the city, such as "Amsterdam".
        """
        return f"18 °C and cloudy in {city}"


@dataclass
class Trip:
    city: str
    days: int


def blocking() -> None:
    with application as context:
        client = context.get(ChatClient)
        print(client.prompt("What is the weather in Amsterdam and Paris?").tools(WeatherTools()).call().content())
        for text in client.prompt("What is the weather in Oslo?").tools(WeatherTools()).stream().content():
            print(text, end="", flush=True)
        print()


async def asynchronous() -> None:
    async with application as context:
        client = context.get(ChatClient)
        print(await client.prompt("What is the weather in Rome?").tools(WeatherTools()).acall().content())
        async for text in client.prompt("What is the weather in Lima?").tools(WeatherTools()).astream().content():
            print(text, end="", flush=True)
        print()
        print(await client.prompt("Plan a trip to Bergen of 3 days").acall().entity(Trip))


if __name__ == "__main__":
    blocking()
    asyncio.run(asynchronous())
