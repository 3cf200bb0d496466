"""Holds docs/cluster/kubernetes.yaml against the schemas of Kubernetes, and runs what its pods would run.

    python3 -m venv venv && venv/bin/pip install kubernetes-validate==1.37.0
    venv/bin/python tests/cluster/kubernetes.py [PROGRAM]
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import kubernetes_validate
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The oldest that docs/cluster/README.md promises, and the newest that there are schemas of.
VERSIONS = ["1.29", kubernetes_validate.latest_version()]


def mistake(resource, version):
    """What is wrong with a resource, if anything."""
    try:
        kubernetes_validate.validate(resource, version, strict=True)
    except kubernetes_validate.ValidationError as error:
        return error.message
    return None


def misspelt(value, path=""):
    """All copies with one key misspelt, and where. Resources are not keys but names of their owner's choice."""
    if isinstance(value, dict) and not path.endswith((".requests", ".limits")):
        for key, inner in value.items():
            yield f"{path}.{key}", {(k + "s" if k == key else k): v for k, v in value.items()}
            for where, changed in misspelt(inner, f"{path}.{key}"):
                yield where, {**value, key: changed}
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            for where, changed in misspelt(inner, f"{path}.{index}"):
                yield where, [*value[:index], changed, *value[index + 1 :]]


def check_schema(resources):
    for resource in resources:
        name = f"{resource['kind']} {resource['metadata']['name']}"
        for version in VERSIONS:
            found = mistake(resource, version)
            assert found is None, f"{name}, Kubernetes {version}: {found}"
            # Kind and version choose the schema itself.
            wrong = [(where, w) for where, w in misspelt(resource) if {"kind", "apiVersion"} <= w.keys()]
            for where, changed in wrong:
                assert mistake(changed, version), f"control: {name} passes with {where} misspelt"
            print(f"{name}: valid in Kubernetes {version}; {len(wrong)} misspelt keys are found")


def run_pod(job, program, volume, index=None):
    """Runs what a pod of a job would run, with a folder for the volume."""
    [container] = job["spec"]["template"]["spec"]["containers"]
    command = [*container.get("command", ["torrance"]), *container.get("args", [])]
    environment = {"PATH": f"{program.parent}:{os.environ['PATH']}"}
    if index is not None:
        environment["JOB_COMPLETION_INDEX"] = str(index)
        command = [word.replace("$(JOB_COMPLETION_INDEX)", str(index)) for word in command]
    result = subprocess.run(command, cwd=volume, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def check_run(render, merge, program):
    shards = render["spec"]["completions"]
    [container] = render["spec"]["template"]["spec"]["containers"]
    [samples] = [word for word in container["args"] if word.startswith("--spp")]
    with tempfile.TemporaryDirectory() as volume:

        def torrance(*arguments):
            result = subprocess.run([program, *arguments], cwd=volume, capture_output=True, text=True)
            return result.returncode, result.stdout + result.stderr

        # 16 x 16 pixels.
        shutil.copy(ROOT / "scenes/furnace.toml", f"{volume}/scene.toml")
        for index in range(shards):
            run_pod(render, program, volume, index)
        run_pod(merge, program, volume)
        # Images as small as this are the same but for rounding, which is far below a millionth of the values.
        compare = ["compare", "single.exr", "--threshold=rmse=1e-6"]
        code, text = torrance("render", "scene.toml", samples, "-o", "single.exr")
        assert code == 0, text
        code, text = torrance(*compare, "image.exr")
        assert code == 0, text
        some = [f"shard-{index}.exr" for index in range(shards - 1)]
        code, text = torrance("merge", *some, "-o", "control.exr")
        assert code == 0 and "are missing" in text, text
        code, text = torrance(*compare, "control.exr")
        assert code == 1, f"control: an image without a shard passes for the whole: {text}"
    print(f"{shards} pods and the one that merges: the image is that of one render")


def main():
    program = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/release/torrance").resolve()
    resources = list(yaml.safe_load_all((ROOT / "docs/cluster/kubernetes.yaml").read_text()))
    check_schema(resources)
    jobs = {r["metadata"]["name"]: r for r in resources if r["kind"] == "Job"}
    check_run(jobs["torrance-render"], jobs["torrance-merge"], program)


if __name__ == "__main__":
    main()
