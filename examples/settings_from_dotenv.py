"""Settings come from a `.env` file, for vernal's own keys and for those of a settings class of one's own.

The environment wins over `.env`, and `Application(settings=…)` over both. `vernal settings` lists every key, its value,
and where that came from. An application reads the `.env` of the working directory; this one brings its own.

Run: python examples/settings_from_dotenv.py

Prints:
    17 °C in Bergen
    chat.model: .env:1
    weather.degrees: .env:2
    weather.unit: the default
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from vernal import Application, ChatClient, Settings, bean, configuration, tool

DOTENV = """\
VERNAL_CHAT__MODEL=offline
VERNAL_WEATHER__DEGREES=17
"""


class WeatherSettings(Settings, prefix="weather"):
    degrees: int = 18
    unit: str = "C"


class WeatherTools:
    def __init__(self, settings: WeatherSettings) -> None:
        self.settings = settings

    @tool
    def get_weather(self, city: str) -> str:
        """Current weather of a city."""
        return f"{self.settings.degrees} °{self.settings.unit} in {city}"


@configuration
class Beans:
    @bean
    def weather_tools(self, settings: WeatherSettings) -> WeatherTools:
        return WeatherTools(settings)


def main() -> None:
    with TemporaryDirectory() as directory:
        Path(directory, ".env").write_text(DOTENV)
        with Application(Beans, directory=directory) as context:
            tools = context.get(WeatherTools)
            print(context.get(ChatClient).prompt("What is the weather in Bergen?").tools(tools).call().content())
            for key in ("chat.model", "weather.degrees", "weather.unit"):
                found = context.environment.lookup(key)
                print(f"{key}: {found.origin if found is not None else 'the default'}")


if __name__ == "__main__":
    main()
