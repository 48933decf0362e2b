"""Training steps per second beside Stable-Baselines3, with equal network, batch and epochs.

PPO on CartPole-v1, 64 sub-environments, 128 steps each per iteration, minibatches of 2,048, four
epochs, two hidden layers of 64, one thread each. The peer is installed into a virtual environment
of its own, `.venv/peers`. Both run as processes in turns:

    python -m benchmarks.peers [--check] [--json PATH]
"""

from __future__ import annotations

import json
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
NUM_TURNS = 5
NUM_ITERATIONS = 6
BAR = 1.5


def main(arguments: list[str]) -> int:
    """Measure both in turns and report the ratio of their median iterations."""
    python = installed_peers()
    ours: list[float] = []
    peers: list[float] = []
    for _ in range(NUM_TURNS):
        ours += run([sys.executable, "-m", "benchmarks.peers", "--ours"])
        peers += run([str(python), str(ROOT / "benchmarks" / "peer_sb3.py"), str(NUM_ITERATIONS)])
    own, peer = statistics.median(ours), statistics.median(peers)
    name = f"iteration of {NUM_STEPS:,} steps, ours / Stable-Baselines3"
    print(f"steps per second: {NUM_STEPS / own:,.0f}, peer {NUM_STEPS / peer:,.0f}")
    return report([Figure(name, own, peer, peer / own, BAR)], arguments)


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


def run(command: list[str]) -> list[float]:
    """Run a process with one thread and return the seconds it prints."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    )
    seconds: list[float] = json.loads(done.stdout.splitlines()[-1])
    return seconds


def measure_ours() -> list[float]:
    """Return the seconds of each iteration of the synchronous engine, the first left out."""
    config = load_config("cartpole-ppo", SETTINGS)
    assembly = assemble(config, AssemblyPlan(config.env_configs, ROLLOUT_LENGTH, config.seed))
    with assembly.runtime:
        _, train = routed_loop(assembly)
        return [seconds_of(train) for _ in range(NUM_ITERATIONS + 1)][1:]


if __name__ == "__main__":
    if "--ours" in sys.argv:
        print(json.dumps(measure_ours()))
    else:
        sys.exit(main(sys.argv[1:]))
