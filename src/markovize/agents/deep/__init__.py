"""Deep agents on worlds whose reward depends on history: with a learned machine (ADQN), with memory, with neither.

- :mod:`~markovize.agents.deep.dqn` is DQN on S and, with a machine, ADQN on S×U;
- :mod:`~markovize.agents.deep.recurrent` is DQN on S with an RNN, a GRU or an LSTM;
- :mod:`~markovize.agents.deep.agent` is what they share, :mod:`~markovize.agents.deep.training` the loop;
- :class:`DeepSettings` says how, :mod:`~markovize.agents.deep.checkpoints` keeps trained agents.

All but the settings need PyTorch, the extra ``deep``; it is imported when something is that needs it.
"""

from typing import TYPE_CHECKING, Any

from markovize.agents.deep.settings import MODELS, RECURRENT, DeepSettings
from markovize.extras import lazy_names, missing

if TYPE_CHECKING:
    from markovize.agents.deep.checkpoints import load_agent, save_agent
    from markovize.agents.deep.training import Trained, go_on, train

__all__ = ["MODELS", "RECURRENT", "DeepSettings", "Trained", "go_on", "load_agent", "save_agent", "train"]

_load_name, __dir__ = lazy_names(
    __name__,
    {
        "Trained": "training",
        "go_on": "training",
        "train": "training",
        "load_agent": "checkpoints",
        "save_agent": "checkpoints",
    },
)


def __getattr__(name: str) -> Any:
    try:
        return _load_name(name)
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "safetensors"):
            raise
        raise missing("deep agents", "deep", verb="need") from None
