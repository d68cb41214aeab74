"""What a turn costs: vernal against the loop written by hand, interleaved, as ratios.

python bench/run.py [--quick] [--only loop,together,stream,history,tools,startup,container]
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable

from processes import HERE, Worker, clean_environment, interleaved, service, started, workers
from report import KINDS, Figures, Pairs, Row, table
from scenario import Scenario

IMPORTS = {
    # httpx loads its command line where one is installed, as it is here: the floor is without it.
    "floor": "import sys; sys.modules['click'] = None; import json, httpx",
    "vernal": "from vernal import Application, ChatClient, tool",
}
BOOTED = IMPORTS["vernal"] + "\nwith Application(): pass"
ONE_PLUGIN = {"VERNAL_PLUGINS__ENABLED": "openai"}
"""As an application is installed: with the plugin that it uses."""
OFFLINE = {"VERNAL_CHAT__MODEL": "offline", **ONE_PLUGIN}


def loop(url: str, repetitions: int) -> list[Row]:
    """Three rounds of two calls, one conversation after the other."""
    model = Scenario(rounds=3, calls=2).model
    with workers(url) as pair:
        by_kind = warmed(pair, model)
        pairs = interleaved(repetitions, lambda kind: by_kind[kind]("loop", model, 10))
    return [Row("loop, 3 rounds of 2 calls: CPU", "ms", pairs, "cpu", wanted=0.6)]


def together(url: str, repetitions: int) -> list[Row]:
    """200 conversations at once, each response after 20 ms; connections are first opened, then open."""
    model, count = Scenario(rounds=2, calls=2, delay_ms=20).model, 200
    fresh: Pairs = {kind: [] for kind in KINDS}
    warm: Pairs = {kind: [] for kind in KINDS}
    for _ in range(max(1, repetitions // 4)):
        with workers(url) as pair:
            for worker in pair:
                worker("loop", model, 2)
                fresh[worker.kind].append(worker("together", model, count))
                warm[worker.kind].append(worker("together", model, count))
    return [
        Row("200 at once, connections open", "/s", warm, "rate", wanted=6, more=True),
        Row("200 at once, connections to open", "/s", fresh, "rate", wanted=15, more=True),
        Row("200 at once: memory", "MiB", warm, "peak", wanted=90, absolute=True),
        Row("200 at once: growth of memory", "MiB", warm, "growth", wanted=9, absolute=True),
    ]


def stream(url: str, repetitions: int) -> list[Row]:
    """A streamed answer in one burst, after a tool round; what the length of the answer adds, and its first text."""
    long, short = Scenario(tokens=520).model, Scenario(tokens=20).model

    def measure(worker: Worker) -> Figures:
        some, many = worker("stream", short), worker("stream", long)
        chunks = many["chunks"] - some["chunks"]
        return {"cpu": (many["cpu"] - some["cpu"]) / chunks * 1e3, "first": some["first"]}

    with workers(url) as pair:
        for worker in pair:
            measure(worker)
        by_kind = {worker.kind: worker for worker in pair}
        pairs = interleaved(repetitions * 2, lambda kind: measure(by_kind[kind]))
    return [
        Row("streamed burst: CPU of 1,000 chunks", "ms", pairs, "cpu", wanted=1.0),
        Row("first token after a tool round", "ms", pairs, "first", wanted=0.8),
    ]


def history(url: str, repetitions: int) -> list[Row]:
    """One conversation of 200 rounds."""
    model = Scenario(rounds=200).model
    with workers(url) as pair:
        by_kind = warmed(pair, Scenario().model)
        pairs = interleaved(max(2, repetitions // 2), lambda kind: by_kind[kind]("history", model))
    return [
        Row("200 rounds: CPU", "ms", pairs, "cpu", wanted=0.7),
        Row("200 rounds: last / first", "", pairs, "growth", wanted=2, absolute=True),
    ]


def tools(url: str, repetitions: int) -> list[Row]:
    """What 199 further tools add to a conversation."""
    model = Scenario().model

    def measure(worker: Worker) -> Figures:
        return {"extra": worker("loop", model, 5, 200)["cpu"] - worker("loop", model, 5)["cpu"]}

    with workers(url) as pair:
        for worker in pair:
            measure(worker)
        by_kind = {worker.kind: worker for worker in pair}
        pairs = interleaved(repetitions, lambda kind: measure(by_kind[kind]))
    return [Row("199 more tools: extra CPU", "ms", pairs, "extra", wanted=0.2)]


def startup(url: str, repetitions: int) -> list[Row]:
    """Whole processes: imports, and from the start to the first answer."""
    scenario = Scenario()
    settings = {
        "VERNAL_OPENAI__BASE_URL": url,
        "VERNAL_OPENAI__API_KEY": "key",
        "VERNAL_OPENAI__MODEL": scenario.model,
        **ONE_PLUGIN,
    }
    answer = f"ANSWER {scenario.answer}"
    once = str(HERE / "once.py")

    def measure(kind: str) -> Figures:
        if kind == "floor":
            asked = started([once, kind, url, scenario.model], until=answer)
            imported = started(["-c", IMPORTS[kind]])
            return {"import": imported, "boot": imported, "answer": asked, "offline": asked}
        return {
            "import": started(["-c", IMPORTS[kind]]),
            "boot": started(["-c", BOOTED], **OFFLINE),
            "answer": started([once, kind], until=answer, **settings),
            "offline": started([once, kind], until="ANSWER", **OFFLINE),
        }

    pairs = interleaved(max(3, repetitions), measure)
    return [
        Row("import", "ms", pairs, "import", wanted=1.5),
        Row("import, application booted", "ms", pairs, "boot", wanted=2.5),
        Row("new process to first answer", "ms", pairs, "answer", wanted=2),
        Row("the same, offline model", "ms", pairs, "offline", wanted=2),
    ]


def container(url: str, repetitions: int) -> list[Row]:
    """60 singletons in 7 layers; the floor is dependency-injector by hand."""

    def measure(kind: str) -> Figures:
        command = [sys.executable, str(HERE / "graph.py"), kind]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=clean_environment())
        figures: Figures = json.loads(done.stdout)
        return figures

    pairs = interleaved(max(3, repetitions // 2), measure)
    return [
        Row("container of 60: define, check, link", "ms", pairs, "build", wanted=12),
        Row("container of 60: resolve a singleton", "ns", pairs, "get", wanted=2),
    ]


def warmed(pair: list[Worker], model: str) -> dict[str, Worker]:
    """The workers by kind, after a few conversations."""
    for worker in pair:
        worker("loop", model, 5)
    return {worker.kind: worker for worker in pair}


SECTIONS: dict[str, Callable[[str, int], list[Row]]] = {
    section.__name__: section for section in (loop, together, stream, history, tools, startup, container)
}


def main() -> None:
    """Measure the sections that are asked for, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(SECTIONS), help="sections, separated by commas")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, for a first look")
    arguments = parser.parse_args()
    wanted = arguments.only.split(",")
    if unknown := set(wanted) - set(SECTIONS):
        parser.error(f"there is no section {sorted(unknown)}; the sections are {', '.join(SECTIONS)}")
    rows: list[Row] = []
    with service() as url:
        for name in wanted:
            print(f"{name} …", file=sys.stderr, flush=True)
            rows += SECTIONS[name](url, 4 if arguments.quick else 12)
    print(table(rows))


if __name__ == "__main__":
    main()
