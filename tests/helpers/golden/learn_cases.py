"""Golden runs of ``learn``: every setting on small episodes, random ones, and walks through the paper's worlds."""

from __future__ import annotations

from itertools import product
from typing import Final

from golden.case import BAD_EPISODES, NAMED, Case, each, lines, words
from golden.inputs import RANDOM

OBJECTIVES: Final = ("triggers", "states")
ENGINES: Final = ("sat", "ilp", "exhaustive")
LEARNABLE: Final = words("""
    coffee.jsonl words.jsonl two-coffees.jsonl patrol.jsonl markov.jsonl actions.jsonl sun.jsonl endings.jsonl
    kinds.jsonl [marked].jsonl empty-ones.jsonl log.csv log.tsv families.csv
""")
SLOWER: Final = ("walks-e.jsonl", "breakfast-c-full.jsonl", "sunny.jsonl")
PLAIN_SETTINGS: Final = ("", "--acyclic", "--objective states", "--objective states --acyclic")


def learn_random(seed: int) -> Case:
    """A random instance in every setting, by each engine in one of them."""
    name = f"random-{seed}.jsonl"
    engines = [ENGINES[seed % 3], ENGINES[(seed + 1) % 3]]
    settings = [*PLAIN_SETTINGS, *(f"{PLAIN_SETTINGS[(seed + n) % 4]} --engine {e}" for n, e in enumerate(engines))]
    learn = [f"learn {name} -o {n}.json --json {options}".strip() for n, options in enumerate(settings)]
    commands = f"check {name} --json", *learn, f"replay 0.json {name} --json"
    return Case(f"learn-random-{seed}", commands, long=seed == RANDOM[-1])


def learn_world(name: str, *settings: str, more: str = "", long: bool = False) -> Case:
    """Walks through a world, learned in several settings."""
    learn = [f"learn {name} -o {n}.json {options}".strip() for n, options in enumerate(settings)]
    stem = name.partition(".")[0]
    return Case(f"learn-{stem}{more}", (f"check {name}", *learn, f"replay 0.json {name}"), long=long)


LEARNING: Final = [
    *(
        Case(
            f"learn-{'-'.join(setting.replace('--', '').split()) or 'default'}",
            each(f"learn {{}} -o {{}}.json {setting}".strip(), LEARNABLE),
        )
        for setting in PLAIN_SETTINGS
    ),
    Case("learn-json", each("learn {} --json", LEARNABLE)),
    *(
        Case(
            f"learn-by-{engine}",
            tuple(
                f"learn {name} -o {n}-{objective}.json --json --acyclic --engine {engine} --objective {objective}"
                for (n, name), objective in product(
                    enumerate(("coffee.jsonl", "two-coffees.jsonl", "words.jsonl", "sun.jsonl")), OBJECTIVES
                )
            ),
        )
        for engine in ENGINES
    ),
    Case(
        "learn-labels",
        tuple(
            f"learn {name} --trigger-on {trigger} --reward-on {reward}"
            for name, trigger, reward in product(
                ("actions.jsonl", "sun.jsonl", "coffee.jsonl"),
                ("auto", "state", "transition"),
                ("auto", "state", "transition"),
            )
        ),
    ),
    Case(
        "learn-endings",
        lines("""
        learn endings.jsonl -o a.json
        learn endings.jsonl -o b.json --explain reward+termination
        learn endings.jsonl --json --explain reward+termination
        learn [marked].jsonl -o [c].json --explain reward+termination
        learn noise.jsonl --explain reward+termination
    """),
    ),
    Case(
        "learn-unrealisable",
        lines("""
        learn noise.jsonl -o a.json
        learn noise.jsonl --json
        learn late-noise.jsonl
        learn late-noise.jsonl --json --engine ilp
        learn actions.jsonl --trigger-on state --reward-on state
        learn actions.jsonl --trigger-on state --reward-on state --json
        learn odd.jsonl
        learn odd.jsonl --json
        learn tenths.jsonl --json
        learn tenths.jsonl --json --reward-decimals 9
    """),
    ),
    Case(
        "learn-refused",
        (
            *each("learn {} -o m.json", BAD_EPISODES),
            "learn coffee.jsonl -o .",
            "learn coffee.jsonl -o no/such/m.json",
        ),
    ),
    Case(
        "learn-options",
        lines(f"""
        learn coffee.jsonl --time-limit 1000 --json
        learn named.csv --json --columns {NAMED}
        learn named.csv --json --columns {NAMED} --reward-decimals 1
        learn coffee.jsonl -o machine.txt
        learn coffee.jsonl -o machine
        learn semicolons.csv -o table.json
    """),
    ),
    *(learn_random(seed) for seed in RANDOM),
    Case(
        "learn-samples",
        lines("""
        learn office-e.jsonl -o e.json
        learn office-e.jsonl -o e-acyclic.json --acyclic --objective states --json
        replay e.json office-e.jsonl
        check office-e.jsonl --machine e.json --exit-code
        learn beach.jsonl -o b.json
        learn beach.jsonl -o b-acyclic.json --acyclic --objective states
        replay b.json beach.jsonl --json
        draw e.json -o e.svg
        draw b.json -o b.svg
        convert e.json e.dot
        convert office-e.jsonl e.csv
        convert e.csv e-again.jsonl
        learn e.csv -o e-again.json --json
    """),
    ),
    *(
        learn_world(
            name, "", "--acyclic", "--acyclic --objective states --json", "--json --engine sat", long=name in SLOWER
        )
        for name in words("""
            office-b.jsonl office-c.jsonl walks-e.jsonl breakfast-b-full.jsonl breakfast-b-cumulative.jsonl
            breakfast-c-full.jsonl office-loop.jsonl sunny.jsonl
        """)
    ),
    learn_world("office-d.jsonl", "--acyclic", "--acyclic --objective states --json"),
    learn_world("office-d.jsonl", "", "--explain reward+termination --acyclic", more="-cycles", long=True),
    learn_world("breakfast-c-cumulative.jsonl", "--acyclic", "--acyclic --objective states --json", long=True),
    learn_world(
        "breakfast-b-full.jsonl",
        "--acyclic --engine ilp",
        "--acyclic --objective states --engine ilp --json",
        more="-ilp",
        long=True,
    ),
    learn_world(
        "office-c.jsonl", "--engine ilp --acyclic", "--engine exhaustive --acyclic", more="-engines", long=True
    ),
]
