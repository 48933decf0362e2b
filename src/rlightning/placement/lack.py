"""What a node lacks to take one more worker."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from rlightning.config.quantities import bytes_text, share_text
from rlightning.placement.node import WHOLE, Node
from rlightning.placement.request import Demand


def what_is_lacking(node: Node, demand: Demand) -> list[str]:
    """Return what is missing on a node for one worker, in words; empty if it has room."""
    return [*_wrong_kind(node, demand), *_too_little(node, demand)]


def free_text(node: Node) -> str:
    """Return what is free on a node in words."""
    texts = [amount_text(node.cpus, "CPU"), amount_text(node.gpus, "GPU")]
    if any(0 < share < WHOLE for share in node.gpu_shares):
        texts[1] += f" (as {' + '.join(share_text(s) for s in node.gpu_shares if s)})"
    if node.memory_bytes is not None:
        texts.append(bytes_text(node.memory_bytes))
    return ", ".join(texts)


def demand_text(demand: Demand) -> str:
    """Return what one worker asks for in words."""
    texts = [amount_text(demand.cpus, "CPU")]
    if demand.gpus:
        texts.append(amount_text(demand.gpus, "GPU"))
    if demand.memory_bytes:
        texts.append(bytes_text(demand.memory_bytes))
    if demand.accelerator_type:
        texts.append(f"accelerator type {demand.accelerator_type}")
    texts.extend(f"label {name}={value}" for name, value in demand.labels.items())
    return ", ".join(texts)


def amount_text(amount: Fraction, unit: str) -> str:
    """Return an amount with its unit: ``1 CPU``, ``1/9 GPU``, ``2.5 CPUs``."""
    return f"{share_text(amount)} {unit}{'' if 0 < amount <= 1 else 's'}"


def _wrong_kind(node: Node, demand: Demand) -> Iterator[str]:
    if demand.accelerator_type not in (None, node.accelerator_type):
        has = node.accelerator_type or "none"
        yield f"accelerator type {demand.accelerator_type} (it has {has})"
    for name, value in demand.labels.items():
        if node.labels.get(name) != value:
            yield f"label {name}={value} (it has {node.labels.get(name, 'none')})"


def _too_little(node: Node, demand: Demand) -> Iterator[str]:
    if node.cpus < demand.cpus:
        yield amount_text(demand.cpus - node.cpus, "CPU")
    gpus = _missing_gpus(node, demand)
    if gpus > 0:
        yield amount_text(gpus, "GPU")
    if node.memory_bytes is not None and node.memory_bytes < demand.memory_bytes:
        yield bytes_text(demand.memory_bytes - node.memory_bytes)


def _missing_gpus(node: Node, demand: Demand) -> Fraction:
    """Return the GPUs that are missing; a part must be free on one, whole ones be untouched."""
    if demand.gpus < 1:
        return demand.gpus - max(node.gpu_shares, default=Fraction(0))
    return demand.gpus - sum(share == WHOLE for share in node.gpu_shares)
