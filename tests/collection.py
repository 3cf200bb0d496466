#!/usr/bin/env python3
"""What becomes of a collection of other people's files: a table of each scene or model in a folder.

    python3 tests/collection.py FOLDER [--program target/release/torrance] [--table table.tsv] [--images FOLDER]

Each file is rendered, small, with a limit of time. The table has, separated by tabs: what became of it (read, warned, black,
refused, failed), the mean luminance of its picture, the part of its pixels that are black, seconds, its name, and the first line of
what the program said. At the end are counts. Needs nothing but Python and the program.
"""

import argparse
import struct
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

EXTENSIONS = {".gltf", ".glb", ".obj", ".ply", ".xml", ".toml"}
# Luminance below which a picture is black, when white is 1.
BLACK = 1e-3


def luminances(pfm):
    """Luminance of each pixel of a PFM file."""
    kind, size, scale, data = pfm.split(b"\n", 3)
    count = 3 if kind == b"PF" else 1
    width, height = map(int, size.split())
    floats = struct.unpack(("<" if float(scale) < 0 else ">") + f"{width * height * count}f", data)
    if count == 1:
        return list(floats)
    return [
        0.2126 * r + 0.7152 * g + 0.0722 * b
        for r, g, b in zip(floats[0::3], floats[1::3], floats[2::3])
    ]


def attempt(file, options):
    """One line of the table."""
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder) / "image.pfm"
        command = [options.program, "render", file, "--size", options.size, "--spp", str(options.spp)]
        command += ["--max-depth", "8", "--device", "cpu", "-o", image, *options.option]
        if options.images:
            name = "_".join(file.relative_to(options.folder).parts)
            command += ["-o", Path(options.images) / f"{name}.png"]
        start = time.monotonic()
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout)
            code, said = done.returncode, done.stderr.strip().splitlines()
        except subprocess.TimeoutExpired:
            code, said = None, [f"error: took longer than {options.timeout} s"]
        seconds = time.monotonic() - start
        errors = [line for line in said if line.startswith("error")]
        warnings = [line for line in said if line.startswith("warning")]
        outcome = {0: "warned" if warnings else "read", 2: "refused"}.get(code, "failed")
        mean = black = float("nan")
        if code == 0:
            pixels = luminances(image.read_bytes())
            mean = sum(pixels) / len(pixels)
            black = sum(pixel < BLACK for pixel in pixels) / len(pixels)
            if mean < BLACK:
                outcome = "black"
        notes = [line for line in said if str(file) in line]
        first = (errors or warnings or notes or [""])[0]
        return outcome, mean, black, seconds, file.relative_to(options.folder), first


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--program", default="target/release/torrance")
    parser.add_argument("--table", type=argparse.FileType("w"), default=sys.stdout)
    parser.add_argument("--images", help="a folder for the pictures, as PNG")
    parser.add_argument("--size", default="96x96")
    parser.add_argument("--spp", type=int, default=8)
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--option", action="append", default=[], help="one more option of torrance render")
    options = parser.parse_args()
    if options.images:
        Path(options.images).mkdir(parents=True, exist_ok=True)
    files = sorted(
        file for file in options.folder.rglob("*") if file.suffix.lower() in EXTENSIONS and file.name != "Cargo.toml"
    )
    counts = {}
    with ThreadPoolExecutor(options.jobs) as pool:
        for row in pool.map(lambda file: attempt(file, options), files):
            outcome, mean, black, seconds, name, first = row
            counts[outcome] = counts.get(outcome, 0) + 1
            line = [outcome, f"{mean:.4f}", f"{black:.2f}", f"{seconds:.2f}", str(name), first]
            print("\t".join(line), file=options.table, flush=True)
    total = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
    print(f"{len(files)} files: {total}", file=sys.stderr)


if __name__ == "__main__":
    main()
