"""Files are read with clear errors and written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from markovize.errors import InputError, one_line
from markovize.io.files import atomic_open, atomic_write, read_text, readable


def test_writes_text_and_bytes_and_leaves_nothing_else(tmp_path: Path) -> None:
    atomic_write(tmp_path / "a", "ü")
    atomic_write(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"new"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_failure_keeps_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "a"
    target.write_text("old")
    with pytest.raises(RuntimeError), atomic_open(target) as file:
        file.write(b"half")
        raise RuntimeError
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_an_error_of_the_system_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written: no space"), atomic_open(tmp_path / "a"):
        raise OSError(28, "No space left on device")
    assert not list(tmp_path.iterdir())


def test_missing_folder_and_folder_as_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.txt: the folder .* does not exist"):
        atomic_write(tmp_path / "no" / "a.txt", "")
    with pytest.raises(InputError, match="is a folder; give a file name"):
        atomic_write(tmp_path, "")
    with pytest.raises(InputError, match="cannot be written"):
        atomic_write(tmp_path / ("x" * 300), "")


def test_folder_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may write anywhere, so the refusal is the operating system's answer, given by hand."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(InputError, match="cannot be written: permission denied"):
        atomic_write(tmp_path / "a", "")


def test_a_link_keeps_pointing(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    atomic_write(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_device_is_written_to_and_not_replaced() -> None:
    atomic_write(os.devnull, "gone")
    assert not Path(os.devnull).is_file()


def test_new_files_have_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    atomic_write(tmp_path / "ours", "")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_readable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="is a folder, not a file"):
        readable(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        readable(tmp_path / "none")
    with pytest.raises(InputError):
        readable("a\0b")
    with pytest.raises(InputError):
        readable("x" * 5000)
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfhi")
    assert readable(tmp_path / "a") == tmp_path / "a"
    assert read_text(tmp_path / "a") == "hi"
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError, match="no permission to read"):
        readable(tmp_path / "a")


def test_binary_is_not_text(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8 text"):
        read_text(tmp_path / "a")


def test_one_line_is_short_and_flat() -> None:
    assert one_line("a\r\n\tb") == "a   b"
    assert len(one_line("y" * 10_000)) <= 160
