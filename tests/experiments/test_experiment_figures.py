"""Tables, figures and drawings of machines: right numbers, equal bytes, nothing hidden."""

from __future__ import annotations

import csv
import io
import statistics
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from finished import beach, breakfast, cumulative, lake, office, two_tasks
from PIL import Image

from markovize.errors import InputError
from markovize.experiments.paper import EXPERIMENT_1, EXPERIMENT_3, PaperValues
from markovize.experiments.records import Finished
from markovize.experiments.report.ablation_figure import ablation_figure
from markovize.experiments.report.comparison import compare, table_md
from markovize.experiments.report.csv_files import curves_csv, results_csv, solve_curves_csv, timings_csv
from markovize.experiments.report.files import write_report
from markovize.experiments.report.learning_figure import learning_figure
from markovize.experiments.report.machine_diff import machine_diff
from markovize.experiments.report.page import report_page
from markovize.machine.machine import RewardMachine, Trigger
from markovize.pictures.curves import DARK
from markovize.pictures.machine_svg import draw_machine

SVG = "{http://www.w3.org/2000/svg}"
PAPER = {"b full": PaperValues(5.0, 6.2, 4.4, 3.2, 0.0, 1.1, 3.3, 0.0)}


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def with_variants() -> list[Finished]:
    """One run under two names; a seed of the second never found the machine."""
    states = [(replace(r, variant="states"), t) for r, t in (breakfast(0), breakfast(1))]
    triggers = [(replace(r, variant="triggers", episodes_to_machine=None if r.seed else 3), t) for r, t in states]
    return [*states, *triggers]


# --- tables ---------------------------------------------------------------------------------------------------------


def test_results_have_a_row_per_trial_and_no_clock() -> None:
    rows = read(results_csv(two_tasks()))
    assert [(row["task"], row["seed"]) for row in rows] == [
        ("b full", "0"),
        ("b full", "1"),
        ("b cumulative", "0"),
        ("b cumulative", "1"),
    ]
    first = breakfast(0)[0]
    assert (rows[0]["states"], rows[0]["exemplars"], rows[0]["key"]) == ("5", str(first.exemplars), first.key)
    assert (rows[0]["final_return"], rows[0]["optimal"], rows[0]["missing_triggers"]) == ("3.2", "true", "0")
    assert not any("second" in name for name in rows[0])
    slower = [(record, replace(timings, seconds=1e6, solve_seconds=1e5)) for record, timings in two_tasks()]
    assert results_csv(slower) == results_csv(two_tasks())
    assert curves_csv(slower) == curves_csv(two_tasks())
    assert timings_csv(slower) != timings_csv(two_tasks())


def test_what_is_unknown_stays_empty() -> None:
    (row,) = read(results_csv([lake()]))
    assert row["optimal"] == row["optimal_return"] == row["missing_triggers"] == row["episodes_to_machine"] == ""


def test_rows_come_in_the_same_order_whoever_finished_first() -> None:
    shuffled = [breakfast(1), breakfast(0), cumulative(1), cumulative(0)]
    assert results_csv(shuffled) == results_csv(two_tasks())
    assert curves_csv(shuffled) == curves_csv(two_tasks())


def test_curves_are_means_over_seeds() -> None:
    members = [cumulative(0)[0].curve, cumulative(1)[0].curve]
    rows = {(r["task"], r["series"], int(r["episode"])): r for r in read(curves_csv(two_tasks()))}
    for place, point in enumerate(members[0].episode):
        for series in ("mean_return", "states", "exemplars", "triggers"):
            values = [getattr(curve, series)[place] for curve in members]
            row = rows["b cumulative", series, point]
            assert float(row["mean"]) == pytest.approx(statistics.fmean(values))
            assert float(row["std"]) == pytest.approx(statistics.pstdev(values), abs=1e-8)
            assert (float(row["min"]), float(row["max"])) == pytest.approx((min(values), max(values)))
    solving = read(solve_curves_csv(two_tasks()))
    assert {row["series"] for row in solving} == {"solve_seconds"}
    assert float(solving[-1]["max"]) == pytest.approx(max(t.solve_seconds for _, t in two_tasks()[2:]), rel=1e-4)


@pytest.mark.parametrize(
    ("paper", "verdict", "agrees"),
    [
        (PaperValues(5.0, None, None, 3.2), "yes", True),
        (PaperValues(5.5, None, None, 3.2), "yes", True),
        (PaperValues(5.6, None, None, 3.2), "no: |U| differs", False),
        (PaperValues(5.0, 900.0, None, 3.2, exemplars_sd=1.0), "yes (|T_o| differs)", True),
        (PaperValues(solved=False, note="unsolved in a year"), "solved, the paper was not", True),
        (None, "2 of 2", None),
    ],
)
def test_agreement(paper: PaperValues | None, verdict: str, agrees: bool | None) -> None:
    trials = [breakfast(0), breakfast(1)]
    (row,) = compare(trials, {"b full": paper} if paper else None)
    assert (row.verdict, row.agrees) == (verdict, agrees)


def test_one_bad_seed_is_no_agreement() -> None:
    bad = (replace(breakfast(1)[0], final_return=1.8), breakfast(1)[1])
    (row,) = compare([breakfast(0), bad], {"b full": PaperValues(solved=False)})
    assert (row.verdict, row.agrees) == ("no: optimal in 1 of 2 seeds", False)


def test_the_table_has_ours_and_theirs_and_says_what_agreement_is() -> None:
    text = table_md(two_tasks(), PAPER)
    head, rule, first, *_ = text.splitlines()
    assert head.count("paper's") == 4
    assert head.replace("\\|", "").count("|") == rule.count("|") == first.replace("\\|", "").count("|")
    assert "| 5 ± 0 | 5 ± 0 |" in first and "4.4 ± 3.3" in first
    assert "Agreement: every seed's final greedy return is optimal" in text
    plain = table_md(with_variants())
    assert "paper" not in plain and "| variant |" in plain


def test_the_papers_values_are_those_of_its_worlds() -> None:
    assert [EXPERIMENT_1[task].states for task in "bcde"] == [2.0, 2.0, 3.2, 4.0]
    assert list(EXPERIMENT_3) == ["b full", "b cumulative", "c full", "c cumulative"]


# --- figures --------------------------------------------------------------------------------------------------------

FIGURES: list[tuple[Callable[..., bytes], Callable[[], list[Finished]]]] = [
    (learning_figure, two_tasks),
    (ablation_figure, with_variants),
]


@pytest.mark.parametrize(("draw", "trials"), FIGURES)
def test_equal_records_give_equal_bytes(draw: Callable[..., bytes], trials: Callable[[], list[Finished]]) -> None:
    import matplotlib

    pictures = {kind: draw(trials(), PAPER, kind=kind) for kind in ("png", "svg")}
    with matplotlib.rc_context({"font.size": 30, "svg.hashsalt": "x", "savefig.bbox": "tight", "axes.grid": True}):
        assert {kind: draw(trials(), PAPER, kind=kind) for kind in ("png", "svg")} == pictures
    ET.fromstring(pictures["svg"])
    assert b"date" not in pictures["svg"].lower()
    image = Image.open(io.BytesIO(pictures["png"]))
    assert image.width > 900
    assert len(image.convert("RGB").getcolors(1 << 24) or []) > 50


def test_dark_figures_are_dark() -> None:
    for theme, low, high in ((DARK, 0, 60), (None, 250, 255)):
        data = learning_figure(two_tasks(), theme=theme) if theme else learning_figure(two_tasks())
        corner = Image.open(io.BytesIO(data)).convert("RGB").getpixel((2, 2))
        assert isinstance(corner, tuple)
        assert all(low <= part <= high for part in corner)


def test_single_trials_without_an_optimum_can_be_drawn() -> None:
    assert learning_figure([lake()])[:4] == b"\x89PNG"
    nobody = [(replace(r, episodes_to_machine=None), t) for r, t in with_variants()]
    assert ablation_figure(nobody)[:4] == b"\x89PNG"


# --- machines -------------------------------------------------------------------------------------------------------


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize("make", [breakfast, cumulative, office, beach, lake])
def test_drawings_are_whole_and_inside_their_frame(make: Callable[[], Finished]) -> None:
    diff = machine_diff(make()[0])
    svg = diff.svg("a & b")
    assert svg == machine_diff(make()[0]).svg("a & b")
    for drawing in (diff.learned, *([diff.true] if diff.true else [])):
        root = ET.fromstring(drawing.svg())
        for circle in root.iter(f"{SVG}circle"):
            assert 0 < float(circle.get("cx", "")) < drawing.width
            assert 0 < float(circle.get("cy", "")) < drawing.height
        for text in root.iter(f"{SVG}text"):
            assert 0 < float(text.get("y", "")) < drawing.height
    states = {g.get("data-state") for g in ET.fromstring(diff.learned.svg()).iter(f"{SVG}g")} - {None}
    assert states == {str(u) for u in range(make()[0].states)}


def test_the_true_machine_has_no_marks() -> None:
    diff = machine_diff(breakfast()[0])
    assert (diff.summary, diff.differences) == ("the true machine", ())
    assert 'class="extra"' not in diff.svg() and 'class="missing"' not in diff.svg()
    assert "cook (1, 4): −0.1" in texts(diff.svg())


def test_differences_are_marked_and_told() -> None:
    record = breakfast()[0]
    first, *others = record.machine.triggers
    wrong = replace(record.machine, triggers=(replace(first, on=(0, 1)), *others))
    diff = machine_diff(replace(record, machine=wrong))
    assert diff.summary.endswith("differences")
    assert f"extra: in state {first.source}, (0, 1) → state {first.target}" in diff.differences
    assert "missing: in state 0, cook (1, 4) → state 1 (numbers of the true machine)" in diff.differences
    assert 'class="extra"' in diff.learned.body and 'class="missing"' not in diff.learned.body
    assert diff.true is not None
    assert 'class="missing"' in diff.true.body and 'class="extra"' not in diff.true.body


def test_an_alternative_that_lists_the_true_label_counts_as_the_same() -> None:
    record = breakfast()[0]
    first, *others = record.machine.triggers
    wide = replace(record.machine, triggers=(Trigger(0, (0, 1), first.target, ((1, 4),)), *others))
    diff = machine_diff(replace(record, machine=wide))
    assert diff.differences == ()
    assert any(text.startswith("(0, 1) ≈ cook (1, 4)") for text in texts(diff.svg()))


def test_machines_without_truth_stand_alone() -> None:
    diff = machine_diff(lake()[0])
    assert (diff.true, diff.summary) == (None, "the true machine is not known")
    assert "true" not in texts(diff.svg())


def test_many_triggers_on_one_arrow_are_cut() -> None:
    machine = RewardMachine("state", "state", 2, tuple(Trigger(0, n, 1) for n in range(20)))
    assert "… +16" in texts(draw_machine(machine).svg())


# --- all files ------------------------------------------------------------------------------------------------------


def test_a_report_is_a_folder_of_files(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "report"
    folder.mkdir(parents=True)
    (folder / "results.csv").write_text("older")
    write_report(folder, with_variants(), title="Mine", paper=PAPER)
    names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert names == {
        "results.csv",
        "timings.csv",
        "curves.csv",
        "solve_curves.csv",
        "table.md",
        "report.html",
        "figures/learning.png",
        "figures/learning.svg",
        "figures/ablation.png",
        "figures/ablation.svg",
        *(f"machines/b-full-{v}-seed-{s}.svg" for v in ("states", "triggers") for s in (0, 1)),
    }
    assert (folder / "results.csv").read_text() == results_csv(with_variants())
    assert (folder / "figures" / "learning.png").read_bytes() == learning_figure(with_variants(), PAPER)


def test_reports_of_nothing_and_in_no_place_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least one finished trial"):
        write_report(tmp_path, [])
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be made"):
        write_report(tmp_path / "file", [breakfast()])


def test_names_cannot_break_the_page() -> None:
    record, timings = breakfast()
    nasty = replace(record, task='</script><b a="', variant="{{data}}")
    page = report_page([(nasty, timings)], title="<i>&")
    assert "<title>&lt;i&gt;&amp;</title>" in page
    assert '</script><b a="' not in page
    assert page.count("</script>") == 2
