"""Progress as one live panel on a terminal."""

from __future__ import annotations

from rich.console import Console, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from rlightning.metrics.iteration_report import IterationReport, Row
from rlightning.metrics.pace import Pace
from rlightning.metrics.panel_content import PanelContent, draw_panel
from rlightning.metrics.shown_returns import environments_in, return_mean
from rlightning.metrics.sink import Sink
from rlightning.metrics.trail import Trail

REFRESHES_PER_SECOND = 2.0
MAX_WIDTH = 100


class LivePanel(Sink):
    """Shows the newest iteration in place; what others print meanwhile scrolls above it.

    `close` gives the terminal back, also from another thread and more than once.

    Args:
        console: A terminal.
        total_env_steps: Steps at which the run is complete.
        title: Shown on top, such as the name of the run.
    """

    name = "live panel"

    def __init__(self, console: Console, total_env_steps: int, title: str = "") -> None:
        self._console = console
        self._total_env_steps = total_env_steps
        self._title = title or "training"
        self._pace = Pace(total_env_steps)
        self._returns: dict[str, Trail] = {}
        self._content: PanelContent | None = None
        self._live = Live(
            console=console,
            get_renderable=self.render,
            refresh_per_second=REFRESHES_PER_SECOND,
        )

    def start(self) -> None:
        """Take over the last lines of the terminal."""
        self._live.start(refresh=True)

    def record(self, report: IterationReport, row: Row) -> None:
        """Keep this iteration for the next refresh."""
        self._pace.add(report.seconds, report.env_steps)
        for environment in environments_in(row):
            mean = return_mean(row, environment)
            if mean is not None:
                self._returns.setdefault(environment, Trail()).add(mean)
        self._content = PanelContent(
            report=report,
            row=row,
            returns={name: trail.values() for name, trail in self._returns.items()},
            total_env_steps=self._total_env_steps,
            share_done=self._pace.share_done(),
            seconds_left=self._pace.seconds_left(),
        )

    def close(self) -> None:
        """Draw a last time and give the terminal back."""
        self._live.stop()

    def render(self) -> RenderableType:
        """Return what the terminal shows now."""
        content = self._content
        waiting = Text("waiting for the first iteration …", style="dim")
        return Panel(
            waiting if content is None else draw_panel(content),
            title=Text(self._title, style="bold"),
            title_align="left",
            padding=(0, 1),
            width=min(MAX_WIDTH, self._console.width),
        )
