"""A cluster in one line: ``8xcpu=64,gpu=8`` is eight nodes of 64 CPUs and 8 GPUs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rlightning.config.quantities import read_bytes, read_count_range, read_share
from rlightning.errors import PlacementError
from rlightning.placement.node import WHOLE, Node
from rlightning.registry import did_you_mean

_NUMBER_OF_NODES = re.compile(r"(?:(\d{1,4})x)?(.+)", re.ASCII)
_KEYS = ("cpu", "gpu", "memory", "type", "label.NAME")
_MAX_GPUS_OF_A_NODE = 1024


def nodes_of_specs(specs: Sequence[str]) -> tuple[Node, ...]:
    """Return the nodes, named ``node-0`` and up in the order of the specifications.

    Args:
        specs: Each ``[<count>x]cpu=<amount>[,gpu=<count>][,memory=<amount>][,type=<name>]
            [,label.<name>=<value>]``, such as ``"2xcpu=64,gpu=8,memory=512GiB,type=A100"``.

    Raises:
        PlacementError: If a specification cannot be read.
    """
    nodes: list[Node] = []
    for spec in specs:
        number, settings = _parts(spec)
        each = _amounts(spec, settings)
        first = len(nodes)
        nodes += [replace(each, node_id=f"node-{first + i}") for i in range(number)]
    return tuple(nodes)


def _parts(spec: str) -> tuple[int, dict[str, str]]:
    match = _NUMBER_OF_NODES.fullmatch(spec.strip())
    number = int(match[1] or 1) if match else 0
    pairs = [text.partition("=") for text in match[2].split(",")] if match else []
    keys = [key.strip() for key, _, _ in pairs]
    if not number or not all(value.strip() for _, _, value in pairs) or len(set(keys)) < len(keys):
        raise PlacementError(
            "expected nodes such as 8xcpu=64,gpu=8, each key once and with a value, "
            f"got {spec!r}; correct it"
        )
    return number, {key: value.strip() for key, (_, _, value) in zip(keys, pairs, strict=True)}


def _amounts(spec: str, settings: dict[str, str]) -> Node:
    """Return a node without a name."""
    for key in settings:
        if key not in _KEYS[:4] and not key.startswith("label."):
            raise PlacementError(
                f"expected one of {', '.join(_KEYS)} in {spec!r}, got {key!r}"
                f"{did_you_mean(key, _KEYS)}; rename or remove it"
            )
    try:
        return Node(
            spec,
            read_share(settings.get("cpu", 0)),
            (WHOLE,) * _num_gpus(settings.get("gpu", "0")),
            read_bytes(settings["memory"]) if "memory" in settings else None,
            settings.get("type"),
            {key.removeprefix("label."): v for key, v in settings.items() if key[:6] == "label."},
        )
    except ValueError as error:
        raise PlacementError(f"in the nodes {spec!r}: {error}; correct it") from error


def _num_gpus(text: str) -> int:
    least, most = read_count_range(text)
    if least != most or most > _MAX_GPUS_OF_A_NODE:
        raise ValueError(f"expected a number of whole GPUs, at most {_MAX_GPUS_OF_A_NODE}")
    return most
