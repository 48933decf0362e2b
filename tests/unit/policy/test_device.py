"""Names of devices mean a device of this machine or an error."""

from __future__ import annotations

import pytest
import torch

from rlightning.errors import ConfigError
from rlightning.policy.device import resolve_device


def test_auto_takes_cuda_only_where_there_is_one(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert resolve_device("auto") == torch.device("cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert resolve_device("auto") == torch.device("cuda")


def test_the_cpu_is_always_there():
    assert resolve_device("cpu") == torch.device("cpu")


def test_a_cuda_device_that_the_machine_lacks_is_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert resolve_device("cuda:0") == torch.device("cuda:0")
    with pytest.raises(ConfigError, match="got 'cuda:1' with 1 cuda devices"):
        resolve_device("cuda:1")


def test_a_name_without_meaning_is_refused():
    with pytest.raises(ConfigError, match="expected device auto.*got 'gpu'"):
        resolve_device("gpu")
