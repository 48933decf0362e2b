"""All parameters of a module side by side in one tensor, and all gradients in another."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rlightning.errors import WeightsError


class FlatParameters:
    """Lets an optimiser and gradient clipping work on one tensor instead of dozens.

    The module's parameters become views of `weights`, their gradients views of its gradient:
    `backward` adds into it. The module works as before, but must not be moved any more.

    Args:
        module: Where the parameters are; those that need no gradient are left out.

    Attributes:
        weights: One parameter with a gradient that is never None.

    Raises:
        WeightsError: If there are no parameters, or they differ in type or device.
    """

    def __init__(self, module: nn.Module) -> None:
        parameters = [part for part in module.parameters() if part.requires_grad]
        places = {(part.dtype, part.device) for part in parameters}
        if len(places) != 1:
            found = ", ".join(sorted(f"{dtype} on {device}" for dtype, device in places)) or "none"
            raise WeightsError(
                f"expected trainable parameters of one type on one device, got {found}; "
                "use one type for the whole network"
            )
        self.weights = nn.Parameter(torch.cat([part.detach().reshape(-1) for part in parameters]))
        self._gradient = torch.zeros_like(self.weights)
        self.weights.grad = self._gradient
        self._attach(parameters)

    def zero_gradient(self) -> None:
        """Set the gradient to 0."""
        self._gradient.zero_()

    def clip_gradient(self, max_norm: float | None) -> Tensor:
        """Scale the gradient to the largest Euclidean norm allowed; return the norm it had."""
        norm: Tensor = torch.linalg.vector_norm(self._gradient)
        if max_norm is not None:
            self._gradient.mul_((max_norm / (norm + 1e-6)).clamp_(max=1.0))
        return norm

    def _attach(self, parameters: list[nn.Parameter]) -> None:
        sizes = [part.numel() for part in parameters]
        weights = torch.split(self.weights.detach(), sizes)
        gradients = torch.split(self._gradient, sizes)
        for part, weight, gradient in zip(parameters, weights, gradients, strict=True):
            part.data = weight.view(part.shape)
            part.grad = gradient.view(part.shape)
