"""Modules and functions of users: found beside them, named again, refused in one line."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import pytest

from markovize.episodes.user_code import function_of_user, import_module_of_user, name_of_function
from markovize.errors import InputError


def test_the_current_folder_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beside, elsewhere = tmp_path / "beside", tmp_path / "elsewhere"
    for folder in (beside, elsewhere):
        folder.mkdir()
        (folder / "places_of_test.py").write_text(
            f"class Map:\n    @staticmethod\n    def name(): return {folder.name!r}"
        )
    monkeypatch.syspath_prepend(str(elsewhere))
    monkeypatch.chdir(beside)
    monkeypatch.delitem(sys.modules, "places_of_test", raising=False)
    found = function_of_user("places_of_test:Map.name")
    assert found() == "beside"
    assert name_of_function(found) == "places_of_test:Map.name"


def test_functions_that_no_name_finds_again_go_by_their_own() -> None:
    def local() -> int:
        return 0

    assert "local" in name_of_function(local) and ":" not in name_of_function(local)
    assert name_of_function(partial(max, 1)).startswith("functools.partial(")
    with pytest.raises(InputError, match="like module:function"):
        function_of_user("no module:f")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("def broken(:", "SyntaxError"),
        ("import nothing_of_that_name", "No module named 'nothing_of_that_name'"),
    ],
)
def test_modules_that_cannot_be_imported(text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bad_of_test.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="cannot import bad_of_test") as caught:
        import_module_of_user("bad_of_test")
    assert said in str(caught.value) and "\n" not in str(caught.value)
