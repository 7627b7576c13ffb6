"""How commands read a log of episodes: options that belong together are one parameter, ``log``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from markovize.cli import files, options
from markovize.cli.choices import ExecutorChoice

if TYPE_CHECKING:
    from markovize.episodes.stream import EpisodeStream
    from markovize.episodes.traces import Traces


@dataclass(frozen=True)
class Log:
    """What may be said about a log, beside its name."""

    columns: options.ColumnsOption = None
    executor: options.ExecutorOption = ExecutorChoice.local
    address: options.AddressOption = None

    def read(self, path: Path, reward_decimals: int | None) -> Traces | EpisodeStream:
        """Its episodes, as a stream where the format can be read so: memory does not grow with the log."""
        from markovize.errors import InputError
        from markovize.io import EPISODES, stream_episodes

        files.check_address(self.executor, self.address)
        format = EPISODES.recognise(path)
        if format is None or format.stream is None:
            if self.executor is ExecutorChoice.ray:
                what = "--executor ray reads Parquet files, one on each node; convert the log"
                raise InputError(what, where=str(path))
            return files.read(path, self.columns, reward_decimals)
        return stream_episodes(
            path,
            columns=files.table_columns(self.columns),
            reward_decimals=reward_decimals,
            executor=self.executor.value,
            address=self.address,
        )

    def read_whole(self, path: Path, reward_decimals: int | None) -> Traces:
        """All its episodes as they are."""
        from markovize.episodes.stream import EpisodeStream

        found = self.read(path, reward_decimals)
        return found.read() if isinstance(found, EpisodeStream) else found


PLAIN: Final = Log()
