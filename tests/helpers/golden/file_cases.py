"""Golden runs that read and write files: check, replay, draw, convert; and bad usage."""

from __future__ import annotations

from typing import Final

from golden.case import BAD_EPISODES, BAD_MACHINES, NAMED, Case, each, lines, words

READABLE: Final = words("""
    coffee.jsonl words.jsonl two-coffees.jsonl patrol.jsonl markov.jsonl kinds.jsonl sun.jsonl
    empty-ones.jsonl odd.jsonl log.csv log.tsv semicolons.csv families.csv
""")

LOOKING: Final = [
    Case("check", each("check {} --exit-code", READABLE)),
    Case("check-json", each("check {} --json", READABLE)),
    Case(
        "check-samples",
        lines("""
        check office-e.jsonl --exit-code
        check office-e.jsonl --json
        check beach.jsonl
        check beach.jsonl --json --exit-code
    """),
    ),
    Case("check-narrow", each("check {}", ("coffee.jsonl", "odd.jsonl", "beach.jsonl")), env={"COLUMNS": "46"}),
    Case(
        "check-options",
        lines(f"""
        check tenths.jsonl --exit-code
        check tenths.jsonl --exit-code --reward-decimals 9
        check named.csv --columns {NAMED} --json
        check named.csv --columns {NAMED} --reward-decimals 1
        check named.csv --columns colour=x
        check named.csv
        learn coffee.jsonl -o m.json
        check coffee.jsonl --machine m.json --exit-code
        check two-coffees.jsonl --machine m.json --exit-code
        check two-coffees.jsonl --machine m.json --json
        check coffee.jsonl --machine one.json
        check coffee.jsonl --machine nothing.json
    """),
    ),
    Case(
        "evidence-check",
        lines("""
        check office-e.jsonl
        check markov.jsonl
        check markov.jsonl --json
        check empty-ones.jsonl
    """),
        whole=True,
    ),
    Case(
        "evidence-replay",
        lines("""
        learn coffee.jsonl -o m.json
        replay m.json coffee.jsonl --json --exit-code
        replay m.json patrol.jsonl
        replay m.json two-coffees.jsonl --exit-code
        replay m.json two-coffees.jsonl --json
        learn office-e.jsonl --holdout 0.2 -o e.json
        learn office-e.jsonl --holdout 0.2 --json
        learn coffee.jsonl --holdout 1
    """),
        whole=True,
    ),
    Case("check-refused", each("check {}", BAD_EPISODES)),
    Case("stdin", ("learn - --json < patrol.jsonl", "check - < cut.jsonl"), own_process=True),
    Case(
        "ascii",
        lines("""
        learn words.jsonl
        check odd.jsonl
    """),
        own_process=True,
        env={"PYTHONIOENCODING": "ascii"},
    ),
    Case(
        "replay",
        lines("""
        learn coffee.jsonl -o m.json --json
        replay m.json coffee.jsonl
        replay m.json coffee.jsonl --json
        replay m.json two-coffees.jsonl
        replay m.json two-coffees.jsonl --json
        replay m.json words.jsonl
        replay one.json coffee.jsonl --json
        learn kinds.jsonl -o kinds-machine.json --json
        replay kinds-machine.json kinds.jsonl --json
        learn families.csv -o families-machine.json --json
        replay families-machine.json families.csv --json
        replay cycle.json coffee.jsonl
        replay m.json cut.jsonl
        replay m.json missing.jsonl
    """),
    ),
    Case("replay-refused", each("replay {} coffee.jsonl", BAD_MACHINES)),
    Case(
        "usage",
        lines("""
        --version
        chekc
        check
        check coffee.jsonl --nope
        check coffee.jsonl words.jsonl
        learn coffee.jsonl --objective fun
        learn coffee.jsonl --engine steam
        learn coffee.jsonl --explain all
        learn coffee.jsonl --time-limit 0
        learn coffee.jsonl --reward-decimals -1
        replay one.json
        draw one.json
        convert one.json
        run
        run markovize/OfficeWorld-v0 --mode clever
        run markovize/OfficeWorld-v0 --episodes many
        reproduce
        reproduce exp7
        reproduce exp1 --preset huge
        reproduce exp1 --seeds 0
        reproduce exp1 --address here:1
        reproduce exp1 --task loop --out new
    """),
    ),
    Case(
        "minari",
        lines("""
        check minari:golden/coffee-v0
        learn minari:golden/coffee-v0 -o m.json --json
        replay m.json minari:golden/coffee-v0
        check minari:golden/no-such-v0
        check minari:nonsense
    """),
        needs=("minari", "h5py"),
        more_inputs=("golden",),
        env={"MINARI_DATASETS_PATH": "{folder}"},
    ),
]

MACHINES: Final = words("""
    one.json chain.json cycle.json moves.json two-labels.json marked.json literature.txt aalpy.dot
""")
CONVERTED: Final = (*MACHINES, "slash.json", "two-rewards.json")

FILES: Final = [
    *(Case(f"draw-{kind}", each(f"draw {{}} -o {{stem}}.{kind}", MACHINES)) for kind in ("svg", "png")),
    Case("draw-text", (*each("draw {} -o {stem}-drawn.dot", MACHINES), *each("draw {} -o {stem}.mmd", MACHINES))),
    Case(
        "draw-refused",
        (
            *each("draw {} -o out.svg", BAD_MACHINES),
            "draw one.json -o picture.gif",
            "draw one.json -o picture",
            "draw one.json -o no/such/picture.svg",
            "draw one.json -o picture.mmd --json",
        ),
    ),
    *(
        Case(f"convert-to-{kind}", each(f"convert {{}} {{stem}}-new.{kind}", CONVERTED))
        for kind in ("json", "txt", "dot", "mmd")
    ),
    Case(
        "convert-round",
        lines("""
        convert chain.json a.dot
        convert a.dot b.json
        convert b.json c.txt
        convert c.txt d.json
        convert d.json e.gv
        convert e.gv f.txt
        convert f.txt g.mermaid
        convert cycle.json cycle-a.txt
        convert cycle-a.txt cycle-b.dot
        convert cycle-b.dot cycle-c.json --json
        convert chain.json plain --to dot
        convert plain again.json --from dot
        convert chain.json upper.JSON
        draw a.dot -o a.mmd
    """),
    ),
    Case(
        "convert-episodes",
        lines(f"""
        convert coffee.jsonl coffee-a.csv
        convert coffee-a.csv coffee-b.tsv
        convert coffee-b.tsv coffee-c.ndjson --json
        convert coffee-c.ndjson coffee-d.tab
        convert families.csv families-a.jsonl
        convert families-a.jsonl families-b.csv
        convert words.jsonl words-a.csv
        convert semicolons.csv semi.jsonl
        convert log.csv plain --to tsv
        convert plain plain.jsonl --from tsv
        convert named.csv named-a.jsonl --columns {NAMED}
        convert kinds.jsonl kinds-a.jsonl
        convert odd.jsonl odd-a.jsonl
    """),
    ),
    Case(
        "convert-refused",
        (
            *each("convert {} new.txt", BAD_MACHINES),
            *each("convert {} new.jsonl", BAD_EPISODES),
            *lines("""
        convert coffee.jsonl m.json
        convert chain.json m.csv
        convert coffee.jsonl e.xyz
        convert coffee.jsonl e
        convert coffee.jsonl e.csv --to klingon
        convert coffee.jsonl no/such/e.csv
        convert mixed.jsonl mixed.csv
        convert numeric-text.jsonl numeric.csv
        convert empty-ones.jsonl empty.csv
        convert kinds.jsonl kinds.csv
        convert chain.json chain.mmd
        convert chain.mmd chain-again.json
    """),
        ),
    ),
]
