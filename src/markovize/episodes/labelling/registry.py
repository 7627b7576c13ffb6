"""All kinds of labels by name, and the order in which ``auto`` tries them. Nothing slow is loaded for it."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from markovize.episodes.labelling.base import Labelling, LabelOn
from markovize.episodes.labelling.function import FunctionLabelling
from markovize.episodes.user_code import function_of_user, is_function_name
from markovize.errors import InputError

AUTO: Final = "auto"

LABELLINGS: Final = (  # where to find each kind; of those that ``auto`` tries, the coarser ones first
    "markovize.episodes.labelling.state:StateLabelling",
    "markovize.episodes.labelling.source:SourceLabelling",
    "markovize.episodes.labelling.choice:ChoiceLabelling",
    "markovize.episodes.labelling.transition:TransitionLabelling",
    "markovize.episodes.labelling.function:FunctionLabelling",
)

_LABELLINGS: dict[str, Labelling] = {}


def register(labelling: Labelling) -> None:
    """Makes a kind known by its name: to machine files, to ``trigger_on`` and to ``reward_on``.

    Of the kinds that ``auto`` tries, the coarser ones must be registered before the finer ones.
    """
    known = _LABELLINGS.get(labelling.kind)
    if labelling.kind == AUTO or (known is not None and known != labelling):
        raise InputError(f"there are labels of the kind {labelling.kind!r} already")
    _LABELLINGS[labelling.kind] = labelling


for _where in LABELLINGS:
    _module, _, _name = _where.partition(":")
    register(getattr(import_module(_module), _name)())


def kind_names() -> tuple[str, ...]:
    """The kinds that a machine's labels may be of.

    >>> "source" in kind_names(), "function" in kind_names(), "auto" in kind_names()
    (True, True, False)
    """
    return tuple(_LABELLINGS)


def named_kinds() -> tuple[str, ...]:
    """The kinds that are chosen by their name alone.

    >>> "source" in named_kinds(), "function" in named_kinds()
    (True, False)
    """
    return tuple(kind for kind, labelling in _LABELLINGS.items() if not labelling.needs_function)


def labelling_named(kind: str) -> Labelling:
    """The labelling of a machine's kind; one for functions without its function.

    >>> labelling_named("transition").describe((0, "up", 1))
    'going from 0 by up to 1'
    """
    if kind not in _LABELLINGS:
        raise InputError(f"kinds of labels are {', '.join(_LABELLINGS)}, not {kind!r}")
    return _LABELLINGS[kind]


def labelling_of(on: LabelOn) -> Labelling:
    """The labelling that a user names.

    >>> labelling_of("state").kind, labelling_of(lambda s, a, t: t > 3).kind, labelling_of("operator:index").kind
    ('state', 'function', 'function')
    """
    on = loaded(on)
    if isinstance(on, Labelling):
        return on
    if callable(on):
        return FunctionLabelling(on)
    if not isinstance(on, str) or on not in named_kinds():
        names = ", ".join(f"'{kind}'" for kind in named_kinds())
        raise InputError(
            f"labels are {names}, 'module:function' or a function of (state, action, next_state), not {on!r}"
        )
    return _LABELLINGS[on]


def loaded(on: LabelOn) -> LabelOn:
    """The same, but the function itself where ``module:function`` names one.

    >>> loaded("state"), loaded("operator:index").__name__
    ('state', 'index')
    """
    return function_of_user(on) if isinstance(on, str) and is_function_name(on) else on


def labelling_for(kind: str, given: LabelOn | None, option: str) -> Labelling:
    """What labels the steps for a machine of this kind; a user's own labels need the user's function.

    >>> labelling_for("function", None, "trigger_on")
    Traceback (most recent call last):
    markovize.errors.InputError: the machine's labels come from a user's function; pass it as trigger_on= \
(--trigger-on module:function)
    """
    known = labelling_named(kind)
    if given is not None:
        own = labelling_of(given)
        if own.kind != kind:
            raise InputError(f"the machine's {option} is {kind!r}; it cannot be run with {own.kind!r} labels")
        return own
    if known.needs_function:
        flag = f"--{option.replace('_', '-')} module:function"
        raise InputError(f"the machine's labels come from a user's function; pass it as {option}= ({flag})")
    return known


def pairs_to_try(trigger_on: LabelOn, reward_on: LabelOn) -> list[tuple[Labelling, Labelling]]:
    """The pairs of (trigger, reward) labels of which ``auto`` takes the first that does, from coarse to fine.

    >>> [(trigger.kind, reward.kind) for trigger, reward in pairs_to_try("auto", "auto")]
    [('state', 'state'), ('state', 'transition'), ('transition', 'transition')]
    """
    return _pairs(trigger_on, reward_on, [labelling for labelling in _LABELLINGS.values() if labelling.automatic])


def pairs_to_compare(trigger_on: LabelOn, reward_on: LabelOn) -> list[tuple[Labelling, Labelling]]:
    """The same and more: all pairs that ``auto`` compares where the machine of the first that does is large.

    >>> [f"{trigger.kind}/{reward.kind}" for trigger, reward in pairs_to_compare("auto", "auto")]
    ['state/state', 'state/transition', 'source/state', 'source/transition', 'transition/transition']
    """
    triggers = [labelling for labelling in _LABELLINGS.values() if labelling.automatic or labelling.compared]
    return _pairs(trigger_on, reward_on, triggers)


def _pairs(trigger_on: LabelOn, reward_on: LabelOn, triggers: list[Labelling]) -> list[tuple[Labelling, Labelling]]:
    if trigger_on != AUTO:
        triggers = [labelling_of(trigger_on)]
    automatic = [labelling for labelling in _LABELLINGS.values() if labelling.automatic]
    rewards = automatic if reward_on == AUTO else [labelling_of(reward_on)]
    for labelling in (*triggers, *rewards):
        if not labelling.exact:
            raise InputError(
                f"no machine can be learned with {labelling.kind!r} labels: they match others than themselves, and the "
                "search compares labels as they are; machines with such labels can only be run"
            )
    pairs = [(trigger, reward) for trigger in triggers for reward in rewards]
    if trigger_on == reward_on == AUTO:  # finer triggers than rewards: the rewards may as well be as fine
        pairs = [(trigger, reward) for trigger, reward in pairs if trigger == reward or not trigger.refines(reward)]
    return pairs


def auto_order() -> tuple[tuple[str, str], ...]:
    """The kinds of (trigger, reward) labels that ``auto`` tries when both are left to it.

    >>> auto_order()
    (('state', 'state'), ('state', 'transition'), ('transition', 'transition'))
    """
    return tuple((trigger.kind, reward.kind) for trigger, reward in pairs_to_try(AUTO, AUTO))
