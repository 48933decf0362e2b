from __future__ import annotations

from rich.console import Console

from rlightning.metrics.share_bar import ShareBar


def drawn(amounts, width=40):
    console = Console(width=width, record=True, quiet=False, file=None, color_system=None)
    with console.capture() as capture:
        console.print(ShareBar(amounts))
    return capture.get().replace("\u00a0", " ").splitlines()


def test_parts_are_as_wide_as_their_share_and_differ_without_colors():
    bar, legend = drawn({"environments": 3.0, "update": 1.0})

    assert bar == "█" * 30 + "▓" * 10
    assert legend.split("  ") == ["█ environments 75%", "▓ update 25%"]


def test_many_parts_are_shown_as_the_largest_and_the_others():
    text = " ".join(drawn({f"eval-{index}": 1.0 + (index == 11) for index in range(12)}, 300))

    assert "eval-11 15%" in text
    assert "5 others 38%" in text


def test_without_any_amount_it_says_so():
    assert drawn({}) == ["nothing yet"]
    assert drawn({"update": 0.0}) == ["nothing yet"]
