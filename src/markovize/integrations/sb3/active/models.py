"""Models of Stable-Baselines3 for S×U, and what of an earlier one they begin with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from markovize.episodes.features import FeatureFunction
from markovize.episodes.traces import Episode
from markovize.errors import InputError, UnsupportedError
from markovize.extras import load
from markovize.integrations.sb3.active.encoding import Encoder
from markovize.integrations.sb3.active.environments import AnyEnv, Playback, product_env
from markovize.integrations.sb3.active.gated import Gated
from markovize.integrations.sb3.active.settings import TrainingSettings
from markovize.integrations.sb3.replay import CounterfactualReplayBuffer
from markovize.machine.machine import RewardMachine

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

Weights: TypeAlias = Mapping[str, npt.NDArray[Any]]
BUFFER = 100_000  # steps, times the machine's states
AT_ONCE = 50  # updates of DQN towards the same target
N_STEPS = 128  # of each environment, between two updates of PPO
WHAT = "training with DQN or PPO"


@contextmanager
def single_thread() -> Iterator[None]:
    """Networks as small as these are faster on one thread than on several that wait for each other."""
    torch = load("torch", WHAT, "sb3")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@contextmanager
def drawing_apart(seed: int) -> Iterator[None]:
    """What is drawn in here depends on the seed alone, and changes nothing that is drawn later."""
    torch = load("torch", WHAT, "sb3")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def build_model(settings: TrainingSettings, envs: Sequence[AnyEnv], machine: RewardMachine) -> BaseAlgorithm:
    """A new model for these environments."""
    sb3 = load("stable_baselines3", WHAT, "sb3")
    vectors = load("stable_baselines3.common.vec_env", WHAT, "sb3")
    together = vectors.DummyVecEnv([lambda env=env: env for env in envs])
    common: dict[str, Any] = {
        "learning_rate": settings.learning_rate,
        "gamma": settings.gamma,
        "seed": settings.seed,
        "device": "cpu",
        "policy_kwargs": {
            "net_arch": [settings.hidden, settings.hidden],
            "features_extractor_class": Gated,
            "features_extractor_kwargs": {"states": machine.states},
        },
    }
    try:
        if settings.agent == "ppo":
            return sb3.PPO(  # type: ignore[no-any-return]
                "MlpPolicy",
                together,
                n_steps=N_STEPS,
                batch_size=min(256, N_STEPS * len(envs)),
                n_epochs=4,
                ent_coef=settings.entropy,
                **common,
            )
        return sb3.DQN(  # type: ignore[no-any-return]
            "MlpPolicy",
            together,
            replay_buffer_class=CounterfactualReplayBuffer,
            replay_buffer_kwargs={"machine": machine},
            buffer_size=BUFFER * machine.states,
            learning_starts=0,
            target_update_interval=1_000,
            batch_size=64,
            exploration_fraction=0.4,
            **common,
        )
    except AssertionError:  # how Stable-Baselines3 refuses spaces
        action_space = envs[0].action_space
        raise UnsupportedError(
            f"{settings.agent.upper()} cannot take actions of {action_space}; wrap the environment, or try --agent ppo"
        ) from None


def weights_of(model: BaseAlgorithm) -> dict[str, npt.NDArray[Any]]:
    """A policy's weights, as arrays."""
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in model.policy.state_dict().items()}


def carry_over(model: BaseAlgorithm, weights: Weights, inputs: int) -> None:
    """Gives a model the weights of an earlier one, which saw the same ``inputs`` but another machine.

    The weights of each machine state begin as the mean of the old states' weights: from one state to several, the
    policy does in each of them what it did before.
    """
    torch = load("torch", WHAT, "sb3")
    ours = model.policy.state_dict()
    if {*ours} != {*weights}:
        raise InputError("these weights are of another agent")
    out = {}
    for name, tensor in ours.items():
        old, shape = weights[name], tuple(tensor.shape)
        if old.shape != shape:
            block = inputs + 1  # see Gated
            if old.ndim != 2 or old.shape[0] != shape[0] or old.shape[1] % block or shape[1] % block:
                raise InputError(f"these weights are of another network: {name} is {old.shape}, not {shape}")
            mean = old.reshape(shape[0], -1, block).mean(1)
            old = np.tile(mean, (1, shape[1] // block))
        out[name] = torch.as_tensor(old, dtype=tensor.dtype)
    model.policy.load_state_dict(out)


def fill_buffer(
    model: BaseAlgorithm,
    episodes: Sequence[Episode],
    env: AnyEnv,
    encoder: Encoder,
    machine: RewardMachine,
    features: FeatureFunction | None,
    check: Callable[[], None],
) -> int:
    """Gives DQN all that was recorded, in every state of the machine; returns how many steps.

    ``check`` raises where that is to end early.
    """
    buffer: Any = getattr(model, "replay_buffer", None)
    if buffer is None:
        return 0
    playback = Playback(env)
    product = product_env(playback, encoder, machine, features, crm=True)
    steps = 0
    for episode in episodes[-BUFFER:]:
        check()
        if encoder.image and not {*episode.observations} <= {*encoder.frames}:
            continue  # recorded before the run was resumed: its images are gone
        playback.episode = episode
        before, _ = product.reset()
        for action in episode.actions:
            after, _, _, _, info = product.step(action)
            buffer.add(before[None], after[None], np.atleast_1d(np.asarray(action))[None], None, None, [info])
            before, steps = after, steps + 1
    return steps


def train_on_buffer(model: BaseAlgorithm, check: Callable[[], None], updates: int = 5_000) -> None:
    """Lets DQN learn from what its buffer holds, before it takes a step itself; ``check`` as above."""
    logger, polyak = (
        load("stable_baselines3.common.logger", WHAT, "sb3"),
        load("stable_baselines3.common.utils", WHAT, "sb3"),
    )
    dqn: Any = model
    dqn.set_logger(logger.Logger(None, []))
    for _ in range(updates // AT_ONCE):
        check()
        dqn.train(gradient_steps=AT_ONCE, batch_size=dqn.batch_size)
        polyak.polyak_update(dqn.q_net.parameters(), dqn.q_net_target.parameters(), 1.0)
