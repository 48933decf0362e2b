"""Training steps per second beside Stable-Baselines3, with equal network, batch and epochs.

PPO on CartPole-v1, 64 sub-environments, 128 steps each per iteration, minibatches of 2,048, four
epochs, two hidden layers of 64, one thread each. The peer is installed into a virtual environment
of its own, `.venv/peers`. Both run as processes that take turns, iteration by iteration:

    python -m benchmarks.peers [--check] [--json PATH]
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import venv
from pathlib import Path

from benchmarks.harness import Figure, report, seconds_of
from benchmarks.overhead import ROLLOUT_LENGTH, SETTINGS, routed_loop
from rlightning.config.loading import load_config
from rlightning.engine.assembly import AssemblyPlan, assemble

ROOT = Path(__file__).parent.parent
PEERS = ROOT / ".venv" / "peers"
REQUIREMENTS = ["stable-baselines3==2.9.2"]
NUM_STEPS = 64 * ROLLOUT_LENGTH
NUM_TURNS = 25
BAR = 1.5


def main(arguments: list[str]) -> int:
    """Let both take turns and report the ratio, the median over the pairs of iterations."""
    ours_command = [sys.executable, "-m", "benchmarks.peers", "--ours"]
    peer_command = [str(installed_peers()), str(ROOT / "benchmarks" / "peer_sb3.py")]
    with started(ours_command) as ours, started(peer_command) as peer:
        pairs = [(one_iteration(ours), one_iteration(peer)) for _ in range(NUM_TURNS)][1:]
    own, other = (statistics.median(seconds) for seconds in zip(*pairs, strict=True))
    ratio = statistics.median(theirs / ours_seconds for ours_seconds, theirs in pairs)
    print(f"steps per second: {NUM_STEPS / own:,.0f}, peer {NUM_STEPS / other:,.0f}")
    name = f"iteration of {NUM_STEPS:,} steps, ours / Stable-Baselines3"
    return report([Figure(name, own, other, ratio, BAR)], arguments)


def installed_peers() -> Path:
    """Make the peers' environment if it is not there, and return its interpreter."""
    python = PEERS / "bin" / "python"
    stamp = PEERS / "installed"
    if not stamp.exists():
        venv.create(PEERS, with_pip=True)
        pins = ["--constraint", str(ROOT / "constraints.txt")]
        install = [str(python), "-m", "pip", "install", "--quiet", *pins, "torch", *REQUIREMENTS]
        subprocess.run(install, check=True)
        stamp.touch()
    return python


def started(command: list[str]) -> subprocess.Popen[str]:
    """Start a process that runs one iteration for each line it reads."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, text=True, bufsize=1
    )


def one_iteration(process: subprocess.Popen[str]) -> float:
    """Let the process run one iteration, and return the seconds it prints."""
    if process.stdin is None or process.stdout is None:
        raise ValueError("expected a process with pipes; start it with 'started'")
    process.stdin.write("go\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def measure_ours() -> None:
    """Run one iteration of the synchronous engine for each line read."""
    config = load_config("cartpole-ppo", SETTINGS)
    with assemble(
        config, AssemblyPlan(config.env_configs, ROLLOUT_LENGTH, config.seed)
    ) as assembly:
        _, train = routed_loop(assembly)
        for _ in sys.stdin:
            print(seconds_of(train), flush=True)


if __name__ == "__main__":
    if "--ours" in sys.argv:
        measure_ours()
    else:
        sys.exit(main(sys.argv[1:]))
