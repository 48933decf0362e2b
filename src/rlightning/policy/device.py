"""Which device a name of the configuration means on this machine."""

from __future__ import annotations

import torch

from rlightning.errors import ConfigError


def resolve_device(name: str) -> torch.device:
    """Return the device of a name: ``auto``, ``cpu``, ``cuda`` or ``cuda:<index>``.

    ``auto`` is cuda where there is one, the cpu otherwise.

    Raises:
        ConfigError: If the name means nothing, or the machine has no such device.
    """
    has_cuda = torch.cuda.is_available()
    if name == "auto":
        return torch.device("cuda" if has_cuda else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ConfigError(
            f"expected device auto, cpu, cuda or cuda:<index>, got {name!r}; set policy.device"
        ) from error
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise ConfigError(
            f"expected a device of this machine, got {name!r} with {torch.cuda.device_count()} "
            "cuda devices; set policy.device=auto"
        )
    return device
