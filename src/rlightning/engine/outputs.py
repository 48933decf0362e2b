"""Where the metrics of a run go: its folder, the screen, and services."""

from __future__ import annotations

from rich.console import Console

from rlightning.config.run_config import RunConfig
from rlightning.engine.ray_extra import needs_ray
from rlightning.engine.run_folder import RunFolder
from rlightning.metrics.console_sink import choose_console_sink
from rlightning.metrics.json_lines import JsonLines
from rlightning.metrics.recorder import Recorder
from rlightning.metrics.sink import Sink
from rlightning.metrics.tensorboard_sink import TensorBoardSink
from rlightning.metrics.wandb_sink import WandbSink


def create_recorder(
    config: RunConfig,
    folder: RunFolder,
    console: Console,
    resumed_at_env_steps: int | None = None,
) -> Recorder:
    """Return the recorder with every sink that the configuration asks for.

    Args:
        config: Of the run.
        folder: Of the run.
        console: Where progress is shown.
        resumed_at_env_steps: Steps of the checkpoint that a resumed run goes on from.

    Raises:
        MissingExtraError: If Weights & Biases or Ray is asked for and not installed.
    """
    sinks: list[Sink] = [JsonLines(folder.metrics_path)]
    if config.logging.tensorboard:
        sinks.append(TensorBoardSink(folder.tensorboard_path, resumed_at_env_steps))
    if config.logging.wandb:
        settings = config.model_dump(mode="json")
        sinks.append(WandbSink(config.logging.wandb_project, folder.path, settings))
    if config.cluster.backend == "ray":
        with needs_ray():
            from rlightning.runtime.ray.metrics_sink import (  # noqa: PLC0415 - an extra
                RayMetricsSink,
            )
        sinks.append(RayMetricsSink(folder.path.name))
    screen = choose_console_sink(
        config.logging.live,
        console,
        config.engine.total_env_steps,
        folder.path.name,
        config.logging.seconds_between_lines,
    )
    return Recorder([*sinks, screen] if screen else sinks)
