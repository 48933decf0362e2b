from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlightning.env_id import EnvId, format_env_id, parse_env_id, worker_index_of
from rlightning.errors import RoutingTypeError, RoutingValueError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("env-7", EnvId("env", 7)),
        (
            "1b4e28ba-2fa1-11d2-883f-0016d3cca427-3",
            EnvId("1b4e28ba-2fa1-11d2-883f-0016d3cca427", 3),
        ),
        ("env-7/2", EnvId("env", 7, "2")),
        ("arm-3/robot-0", EnvId("arm", 3, "robot-0")),
        ("env--1", EnvId("env-", 1)),
        ("-4", EnvId("", 4)),
        ("env-007", EnvId("env", 7)),
        ("env-7/", EnvId("env", 7, "")),
        ("env-7/a\n", EnvId("env", 7, "a\n")),
        ("two\nlines-7", EnvId("two\nlines", 7)),
        ("env-999999999999999999", EnvId("env", 999_999_999_999_999_999)),
        ("env-000000000000000001", EnvId("env", 1)),
    ],
)
def test_an_env_id_is_read(text: str, expected: EnvId) -> None:
    assert parse_env_id(text) == expected
    assert worker_index_of(text) == expected.worker_index


@pytest.mark.parametrize(
    "text",
    [
        "7",
        "env7",
        "env-1_0",
        "env- 5",
        "env-+2",
        "env-٣",
        "env-2.0",
        "a/b-7",
        "env-7\n",
        "",
        "-",
        "env-",
        "/7",
        "env-7 ",
        "env-²",
        "env-1000000000000000000",
        "env-0000000000000000001",
    ],
)
def test_anything_else_is_no_env_id(text: str) -> None:
    assert parse_env_id(text) is None
    assert worker_index_of(text) is None


@given(
    prefix=st.text().filter(lambda text: "/" not in text),
    worker_index=st.integers(0, 10**18 - 1),
    rest=st.none() | st.text(),
)
def test_B59_what_is_written_is_read_back(prefix: str, worker_index: int, rest: str | None) -> None:
    env_id = EnvId(prefix, worker_index, rest)
    assert parse_env_id(format_env_id(env_id)) == env_id


def test_B59_two_workers_of_four_sub_environments_have_eight_ids() -> None:
    ids = {
        format_env_id(EnvId("env", worker_index, str(sub_index)))
        for worker_index in range(2)
        for sub_index in range(4)
    }
    assert len(ids) == 8
    assert [worker_index_of(env_id) for env_id in sorted(ids)] == [0] * 4 + [1] * 4


@pytest.mark.parametrize(
    "env_id", [EnvId("a/b", 1), EnvId("env", -1), EnvId("env", 10**18)], ids=repr
)
def test_an_id_that_could_not_be_read_back_is_not_written(env_id: EnvId) -> None:
    with pytest.raises(RoutingValueError, match="expected"):
        format_env_id(env_id)


@pytest.mark.parametrize(
    "env_id",
    [EnvId(1, 1), EnvId("env", "1"), EnvId("env", True), EnvId("env", 1, 2)],  # type: ignore[arg-type]
    ids=repr,
)
def test_a_part_of_the_wrong_type_is_refused(env_id: EnvId) -> None:
    with pytest.raises(RoutingTypeError, match="expected"):
        format_env_id(env_id)


def test_reading_anything_but_a_string_is_refused() -> None:
    with pytest.raises(RoutingTypeError, match="of type int"):
        parse_env_id(7)  # type: ignore[arg-type]
