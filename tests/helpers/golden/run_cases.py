"""Golden runs of ``run`` and ``reproduce``: all files but those that tell times."""

from __future__ import annotations

from typing import Final

from golden.case import Case, lines

OFFICE, BREAKFAST, BEACH = (f"markovize/{name}World-v0" for name in ("Office", "Breakfast", "Beach"))


def run(name: str, env_id: str, options: str, *, long: bool = False) -> Case:
    """An active run into a folder, its machine drawn and replayed on its own exemplars."""
    return Case(
        f"run-{name}",
        (
            f"run {env_id} {options} --out out",
            "replay out/machine.json out/exemplars.jsonl",
            "run --resume out",
            "run --resume out --json",
        ),
        long=long,
    )


RUNS: Final = [
    run("office-c", OFFICE, "--env-arg task=c --episodes 150"),
    run("office-b-paper", OFFICE, "--env-arg task=b --mode paper --episodes 2000 --seed 3"),
    run("office-e-q", OFFICE, "--env-arg task=e --mode q-learning --episodes 3000 --acyclic --set crm=true"),
    run("breakfast-b", BREAKFAST, "--env-arg task=b --episodes 200"),
    run(
        "breakfast-b-states",
        BREAKFAST,
        "--env-arg task=b --env-arg rewards=cumulative --episodes 150 --objective states --acyclic --json",
    ),
    run(
        "breakfast-c-q",
        BREAKFAST,
        "--env-arg task=c --mode q-learning --episodes 400 --acyclic --set shaping=true --set transfer=false "
        "--epsilon 0.3 --alpha 0.2 --gamma 0.9 --max-steps 60",
    ),
    run("breakfast-ilp", BREAKFAST, "--mode paper --episodes 100 --engine ilp --set max_wait=200", long=True),
    run("beach", BEACH, "--env-arg levels=4 --episodes 60"),
    run(
        "beach-labels",
        BEACH,
        "--env-arg levels=3 --episodes 40 --trigger-on transition --reward-on transition --set "
        "explain=reward+termination --set keep=10 --set greedy_tail=5",
    ),
    run("little-effort", OFFICE, "--env-arg task=d --episodes 80 --set effort=20 --seed 1"),
    run("frozen-lake", "FrozenLake-v1", "--env-arg is_slippery=false --env-arg map_name=4x4 --episodes 150"),
    run("cliff", "CliffWalking-v1", "--mode q-learning --episodes 60 --max-steps 100"),
    Case(
        "run-without-folder",
        lines(f"""
        run {BREAKFAST} --episodes 50
        run {BREAKFAST} --episodes 50 --json
        run {BREAKFAST} --episodes 50 --seed 1 --mode q-learning
        run {OFFICE} --env-arg task=e --episodes 30
    """),
    ),
    Case(
        "run-own-module",
        lines("""
        run Stamps-v0 --import stamps --episodes 60 --out out
        replay out/machine.json out/exemplars.jsonl --json
        run Stamps-v0 --import stamps --episodes 60 --mode q-learning --json
        run Stamps-v0 --import stamps --env-arg noise=true --episodes 50 --out noisy
    """),
        more_inputs=("stamps.py",),
    ),
    Case(
        "run-refused",
        lines(f"""
        run NoSuchWorld-v0 --out new
        run a:b:c
        run no_such_module:World-v0
        run World-v0 --import no_such_module
        run {OFFICE} --env-arg task
        run {OFFICE} --env-arg =c
        run {OFFICE} --env-arg task=b --env-arg task=c
        run {OFFICE} --env-arg task=z
        run CartPole-v1
        run {OFFICE} --epsilon 2
        run {OFFICE} --gamma 1
        run {OFFICE} --set mode=paper
        run {OFFICE} --set max_steps=3
        run {OFFICE} --set keep=many
        run {OFFICE} --set colour=red
        run {OFFICE} --episodes 0
        run {BREAKFAST} --episodes 20 --out twice --json
        run {BREAKFAST} --episodes 20 --out twice
        run --resume twice --episodes 30
        run --resume no/such/run
        run {BREAKFAST} --out coffee.jsonl
    """),
        more_inputs=("coffee.jsonl",),
    ),
    run("office-d", OFFICE, "--env-arg task=d --episodes 400 --acyclic --seed 2", long=True),
    run("office-e", OFFICE, "--env-arg task=e --episodes 1000", long=True),
    run("office-e-paper", OFFICE, "--env-arg task=e --mode paper --episodes 20000 --seed 1", long=True),
    run("breakfast-c", BREAKFAST, "--env-arg task=c --env-arg rewards=cumulative --episodes 200 --acyclic", long=True),
]

REPRODUCING: Final = [
    Case(
        "reproduce-exp1",
        lines("""
        reproduce exp1 --preset smoke --task c --jobs 1 --out out
        reproduce exp1 --preset smoke --task c --jobs 1 --out out --resume --json
        reproduce exp1 --preset smoke --task c --jobs 1 --out out
        reproduce exp3 --preset smoke --jobs 1 --out out --resume
    """),
    ),
    Case("reproduce-exp3", ("reproduce exp3 --preset smoke --task 'b cumulative' --episodes 600 --jobs 1",)),
    Case(
        "reproduce-ablation",
        lines("""
        reproduce ablation --preset smoke --task 'b full' --seeds 2 --episodes 600 --jobs 1 --out a --engine sat
    """),
    ),
    *(
        Case(
            f"reproduce-{name}-smoke",
            (f"reproduce {name} --preset smoke", f"reproduce {name} --preset smoke --resume --json"),
            long=True,
            own_process=True,
        )
        for name in ("exp1", "exp3", "ablation")
    ),
    Case(
        "reproduce-exp2-smoke",
        lines("""
        reproduce exp2 --preset smoke --jobs 1
        reproduce exp2 --preset smoke --resume --json
    """),
        long=True,
        own_process=True,
        bound=True,
        needs=("torch", "safetensors"),
    ),
]
