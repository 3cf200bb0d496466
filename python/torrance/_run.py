"""What became of the checks of a run, perhaps by several processes."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Dict, List, Optional


@dataclass
class Case:
    """What became of a check, for reports."""

    name: str
    #: The test that made the check.
    test: str
    #: ``passed``, ``unresolved``, ``failed``, ``error`` or ``blessed``.
    status: str = "error"
    #: What was found, in sentences.
    words: List[str] = field(default_factory=list)
    p: Optional[float] = None
    #: The level of the look that p belongs to.
    level: Optional[float] = None
    #: The relative difference of the whole image that would have been found; ``None`` if none would.
    resolution: Optional[float] = None
    passes: int = 0
    seconds: float = 0.0
    metrics: Dict[str, Optional[float]] = field(default_factory=dict)
    #: Paths by what they are.
    files: Dict[str, str] = field(default_factory=dict)
    #: PNG files in base 64, by what they show.
    pictures: Dict[str, str] = field(default_factory=dict)


class Run:
    """A run of tests, whose processes share a folder."""

    def __init__(self, folder: Path):
        self._folder = folder

    def claim(self, key: str, test: str) -> Optional[str]:
        """Takes a name for a test. If another test has it, says which."""
        path = self._path(key, "claim")
        try:
            with open(path, "x", encoding="utf-8") as file:
                file.write(test)
        except FileExistsError:
            owner = path.read_text(encoding="utf-8")
            # A test that is run again may use its names again.
            return None if owner == test else owner or "another test"
        return None

    def put(self, key: str, case: Case) -> None:
        """Keeps a case: all of it, or nothing."""
        with tempfile.NamedTemporaryFile("w", dir=self._folder, delete=False, encoding="utf-8") as file:
            json.dump(asdict(case), file)
        os.replace(file.name, self._path(key, "json"))

    def cases(self) -> List[Case]:
        """All cases, by test and name."""
        cases = (Case(**json.loads(path.read_text(encoding="utf-8"))) for path in self._folder.glob("*.json"))
        return sorted(cases, key=lambda case: (case.test, case.name))

    def _path(self, key: str, extension: str) -> Path:
        return self._folder / f"{sha256(key.encode()).hexdigest()}.{extension}"
