"""Labels of an active run: refined where the coarse ones do not do."""

from __future__ import annotations

from other_worlds import TwelveCells

from markovize.agents.tabular import ActiveLearner, Settings


def test_where_the_start_matters_labels_are_refined() -> None:
    """Triggers on what is entered cannot see the start: the run goes on with labels that can."""
    result = ActiveLearner(TwelveCells(), Settings.of(episodes=400, seed=1)).run()
    assert (result.status, result.machine.states) == ("optimal", 2)
    assert result.machine.trigger_on in ("transition", "source")
    assert all(trigger.source == 0 for trigger in result.machine.triggers)
    assert result.greedy_return == 1.0


def test_a_label_function_for_triggers_and_rewards_on_auto() -> None:
    """Rewards that need the transition do not explode into states where only the triggers were given."""
    result = ActiveLearner(
        TwelveCells(), Settings.of(episodes=300, trigger_on=lambda s, _a, t: 0 in (s, t), seed=0)
    ).run()
    assert (result.machine.states, len(result.machine.triggers)) == (2, 1)
