"""Forms that texts in the configuration must have, and what they are in words."""

from __future__ import annotations

RUN_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
IMPORT_PATH = r"^[\w.]+:\w+$"
DEVICE = r"^(auto|cpu|cuda(:\d+)?)$"

TEXT_FORMS = {
    RUN_NAME: "a name of letters, digits, '.', '_' and '-'",
    IMPORT_PATH: "an import path 'package.module:Name'",
    DEVICE: "auto, cpu, cuda or cuda:<index>",
}
