"""A fault is told with its path, what was expected, what came, and the nearest name."""

from __future__ import annotations

import pytest

from rlightning.config.loading import load_config
from rlightning.errors import ConfigError


def _faults(*overrides: str, source: object = "cartpole-ppo") -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load_config(source, overrides)  # type: ignore[arg-type]
    return [line.strip() for line in str(caught.value).splitlines()[1:-1]]


@pytest.mark.parametrize(
    ("override", "fault"),
    [
        ("routing.tpye=1", "routing.tpye: unknown key (did you mean 'type'?)"),
        ("algorithm.lerning_rate=1", "unknown key (did you mean 'learning_rate'?)"),
        ("engin.type=sync", "engin: unknown key (did you mean 'engine'?)"),
        ("learning_rate=1", "learning_rate: unknown key (did you mean 'algorithm.learning_rate'?)"),
        ("zzz=1", "zzz: unknown key; expected one of name, seed, env"),
        ("engine.type=snyc", "engine.type: expected 'sync', got 'snyc' (did you mean 'sync'?)"),
        ("cluster.mode=inlin", "cluster.mode: expected 'inline' or 'threads', got 'inlin'"),
        ("cluster.mode=thread", "'inline' or 'threads', got 'thread' (did you mean 'threads'?)"),
        ("seed=-1", "seed: expected a number of at least 0, got -1"),
        ("seed=2.5", "seed: expected a whole number, got 2.5"),
        ("seed=[1]", "seed: expected a whole number, got [1]"),
        ("env.num_envs=true", "env.num_envs: expected a number or a text, got true"),
        ("algorithm.discount=1.5", "algorithm.discount: expected a number of at most 1.0, got 1.5"),
        ("algorithm.learning_rate=0", "expected a number greater than 0.0, got 0"),
        ("algorithm.learning_rate=.inf", "expected a finite number, got inf"),
        ("algorithm.learning_rate=fast", "expected a number, got 'fast'"),
        ("env.id=", "env.id: expected a text, got nothing"),
        ("env.id=''", "env.id: expected a text that is not empty, got ''"),
        ("env=3", "env: expected a block of settings as key: value, got 3"),
        ("env.kwargs=3", "env.kwargs: expected settings as key: value, got 3"),
        ("policy.hidden_sizes=64", "policy.hidden_sizes: expected a list, got 64"),
        ("policy.hidden_sizes=[64, 0]", "policy.hidden_sizes.1: expected a number greater"),
        ("logging.wandb=perhaps", "logging.wandb: expected true or false, got 'perhaps'"),
        ("name=a/b", "name: expected a name of letters, digits, '.', '_' and '-', got 'a/b'"),
        ("policy.device=gpu", "policy.device: expected auto, cpu, cuda or cuda:<index>, got"),
        ("env.wrappers=[Limit]", "env.wrappers.0: expected an import path 'package.module:Name'"),
        ("algorithm=3", "algorithm: expected a block of settings as key: value, got 3"),
        ("routing.spill_margin=1", "routing: spill_margin 1 has no effect"),
        ("algorithm.minibatch_size=257", "expected algorithm.minibatch_size of at most 256"),
    ],
)  # fmt: skip
def test_a_fault_is_one_line_that_helps(override: str, fault: str) -> None:
    faults = _faults(override)
    assert len(faults) == 1
    assert fault in faults[0]


def test_all_faults_are_told_at_once() -> None:
    faults = _faults("foo", "routing.tpye=1", "seed=-1", "algorithm.clip=2", "engine.type=async")
    assert len(faults) == 5


def test_a_fault_in_a_list_of_environments_has_its_number() -> None:
    blocks = {"env": [{"id": "A"}, {"id": "B", "num_env": 2}]}
    assert _faults(source=blocks) == ["env.1.num_env: unknown key (did you mean 'num_envs'?)"]


def test_an_environment_that_is_not_given_is_asked_for() -> None:
    assert _faults(source={"seed": 1}) == [
        "env: expected a value, got none; it has no default, so set it"
    ]


def test_a_long_value_is_shortened() -> None:
    fault = _faults(f"seed={'x' * 500}")[0]
    assert fault.endswith("...")
    assert len(fault) < 120


def test_settings_of_an_unknown_algorithm_are_not_judged() -> None:
    settings = {"env": {"id": "A"}, "algorithm": {"name": "sac", "tau": 1}, "tau": 2}
    faults = _faults(source=settings)
    assert len(faults) == 2
    assert "unknown algorithm 'sac'" in faults[0]
    assert faults[1].startswith("tau: unknown key; expected one of")
