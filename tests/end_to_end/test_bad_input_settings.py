"""Settings that mean nothing are refused before anything is made."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("setting", "code", "message"),
    [
        ("engine.totl_env_steps=5", 2, "unknown key (did you mean 'total_env_steps'?)"),
        ("learning_rate=1", 2, "unknown key (did you mean 'algorithm.learning_rate'?)"),
        ("engine.total_env_steps=many", 2, "expected a whole number, got 'many'"),
        ("engine.total_env_steps=-5", 2, "expected a number of at least 1, got -5"),
        ("algorithm.learning_rate=fast", 2, "expected a number, got 'fast'"),
        ("env=[]", 2, "env: expected at least one environment block, got an empty list"),
        ("policy.device=gpu", 2, "expected auto, cpu, cuda or cuda:<index>, got 'gpu'"),
        ("env.wrappers=[Limit]", 2, "expected an import path 'package.module:Name', got 'Limit'"),
        ("algorithm.name=pop", 2, "unknown algorithm 'pop' (did you mean 'ppo'?)"),
        ("cluster.backend=rai", 2, "cluster.backend: expected 'in_process' or 'ray', got 'rai'"),
        ("cluster.mode=thread", 2, "got 'thread' (did you mean 'threads'?)"),
        ("algorithm.minibatch_size=1000", 2, "at most 32 (4 sub-environments x engine.rollout"),
        ("routing.type=simpel", 2, "got 'simpel' (did you mean 'simple'?)"),
        ("policy.network=mpl", 2, "policy.network: unknown network 'mpl' (did you mean 'mlp'?)"),
        ("policy.network=numpy:pi", 2, "expected a class or function as network 'numpy:pi', got 3"),
        ("policy.network=nowhere:Net", 2, "No module named 'nowhere'; install it or put"),
        ("env.wrappers=[gymnasium.wrappers:TimeLimt]", 2, "did you mean 'TimeLimit'?"),
        ("env.wrappers=[gymnasium.wrapers:TimeLimit]", 2, "No module named 'gymnasium.wrapers'"),
        ("env.wrappers=[numpy:pi]", 2, "env.wrappers.0: expected wrapper 'numpy:pi' to be a call"),
        ("env.wrappers=[gymnasium.wrappers:TimeLimit]", 1, "missing 1 required positional argumen"),
        ("env.kwargs.nothing=1", 1, "'CartPole-v1' to be made with kwargs {'nothing': 1}"),
        ("env.id=CartPol-v1", 1, "env.id: expected the id of an environment, got 'CartPol-v1', wh"),
        ("env.id=nowhere:Boat-v0", 1, "No module named 'nowhere'; install what it names"),
        ("env.id=numpy:Boat-v0", 1, "let module 'numpy' register it with gymnasium.register"),
    ],
)
def test_a_setting_is_refused_and_no_run_is_left(
    refused_training: Callable[..., Any], folder: Path, setting: str, code: int, message: str
) -> None:
    failure = refused_training(setting)
    assert failure.code == code
    assert message in failure.message
    assert not list(folder.glob("runs/*"))


@pytest.mark.parametrize(
    ("settings", "extra", "module"),
    [
        (("env.id=ALE/Pong-v5",), "atari", "ale_py"),
        (("env.id=Ant-v5",), "mujoco", "mujoco"),
        (("env.id=envpool:Pong-v5",), "envpool", "envpool"),
        (("logging.wandb=true",), "wandb", "wandb"),
    ],
)
def test_a_missing_extra_is_named_with_the_command_that_installs_it(
    refused_training: Callable[..., Any],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: tuple[str, ...],
    extra: str,
    module: str,
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    failure = refused_training(*settings)
    assert failure.code == 2
    assert f"pip install 'rlightning[{extra}]'" in failure.message
    assert failure.message.count("pip install") == 1
    assert not list(folder.glob("runs/*"))


def test_a_device_that_the_machine_has_not_is_refused(
    refused_training: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    failure = refused_training("policy.device=cuda")
    assert failure.code == 2
    assert "got 'cuda' with 0 cuda devices; set policy.device=auto" in failure.message


def test_all_faults_of_the_configuration_are_told_at_once(
    refused_training: Callable[..., Any],
) -> None:
    failure = refused_training("engine.total_env_steps=many", "routing.tpye=x", "seed=-1", "loud")
    assert failure.code == 2
    assert failure.message.startswith("error: 4 faults in the configuration of cartpole-ppo:\n")
    for part in ("total_env_steps:", "routing.tpye:", "seed:", "'loud':"):
        assert part in failure.message


def test_all_names_that_mean_nothing_are_told_at_once(
    refused_training: Callable[..., Any], folder: Path
) -> None:
    failure = refused_training(
        "env.id=CartPol-v1", "policy.network=mpl", "routing.type=simpel",
        "env.wrappers=[gymnasium.wrappers:TimeLimt]",
    )  # fmt: skip
    assert failure.code == 2
    assert failure.message.startswith("error: 4 faults in the configuration:\n")
    for name in ("'CartPole-v1'", "'mlp'", "'simple'", "'TimeLimit'"):
        assert f"did you mean {name}" in failure.message
    assert not list(folder.glob("runs/*"))


@pytest.mark.parametrize(
    ("setting", "code"),
    [
        ("env.id=crooked:Boat-v0", 1),
        ("env.wrappers=[crooked:Wrapper]", 2),
        ("policy.network=crooked:Net", 2),
        ("algorithm.name=crooked:Method", 2),
    ],
)
def test_a_module_that_raises_when_it_is_imported_is_named(
    refused_training: Callable[..., Any], folder: Path, setting: str, code: int
) -> None:
    (folder / "crooked.py").write_text("1 / 0\n")
    failure = refused_training(setting)
    assert failure.code == code
    assert "module 'crooked'" in failure.message
    assert "ZeroDivisionError: division by zero; correct the module" in failure.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("env: {id: CartPole-v1\n", "cannot read run.yaml as YAML: expected ',' or '}'"),
        ("- 1\n", "expected blocks such as 'env:' and 'engine:' in run.yaml, got a list"),
        ("seed: 1\n", "env: expected a value, got none; it has no default, so set it"),
        ("env: {id: CartPole-v1}\nenginee: {}\n", "enginee: unknown key (did you mean 'engine'?)"),
    ],
)
def test_a_faulty_file_is_refused_with_its_name(
    refused: Callable[..., Any], folder: Path, text: str, message: str
) -> None:
    (folder / "run.yaml").write_text(text)
    failure = refused("train", "run.yaml")
    assert failure.code == 2
    assert "run.yaml" in failure.message
    assert message in failure.message


@pytest.mark.parametrize("setting", ["engine.totl_env_steps=5", "env.id=CartPol-v1"])
def test_a_traceback_is_shown_when_it_is_asked_for(
    failed_with_debug: Callable[..., str], setting: str
) -> None:
    printed = failed_with_debug(setting)
    assert "Traceback (most recent call last):\n" in printed
    assert printed.count("\nerror: ") == 1
