#!/usr/bin/env python3
"""Checks that the differential tester finds faults: plants one at a time in a copy of the source, builds, runs skein-fuzz.

    fuzz/plant_faults.py                      all faults, in a copy of this tree (build/plants)
    fuzz/plant_faults.py NAME...              only these
    fuzz/plant_faults.py --check              only says whether each fault still fits the source
    fuzz/plant_faults.py --here               in this tree, which must have no changes; they are taken back

A fault is a file fuzz/faults/NAME.fault: a sentence, `file: PATH`, and the text to replace between lines of <<<<, ====
and >>>>. Exit code: 0 if every fault was found, 1 if one was not, 2 if something could not be done.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FAULTS = ROOT / "fuzz" / "faults"


class Fault:
    def __init__(self, path):
        text = path.read_text()
        match = re.fullmatch(r"(.*?)\nfile: (\S+)\n<<<<\n(.*?)\n====\n(.*?)\n?>>>>\n", text, re.DOTALL)
        if not match:
            raise SystemExit(f"plant_faults: malformed: {path}")
        self.name = path.stem
        self.sentence, self.file, self.old, self.new = match.groups()

    def fits(self, tree):
        return (tree / self.file).read_text().count(self.old) == 1

    def plant(self, tree):
        path = tree / self.file
        path.write_text(path.read_text().replace(self.old, self.new))


def copy_tree(tree):
    """A copy of what git knows, with changes; files that are the same keep their time, so that builds are incremental."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
    for name in listed.decode().split("\0"):
        source, target = ROOT / name, tree / name
        if not name or not source.is_file():
            continue
        if target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        target.chmod(source.stat().st_mode)


def build(tree, jobs):
    """Returns whether it could be built."""
    if not (tree / "build" / "build.ninja").exists():
        configure = ["cmake", "--preset", "release", f"-DDUCKDB_ROOT={ROOT / '.deps' / 'duckdb'}"]
        subprocess.run(configure, cwd=tree, check=True, stdout=subprocess.DEVNULL)
    command = ["cmake", "--build", "build", "-j", str(jobs), "--target", "skein_fuzz_command"]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stdout[-3000:], done.stderr[-3000:], file=sys.stderr)
    return done.returncode == 0


def fuzz(tree, arguments):
    """Runs until something is found; returns what, or nothing, and the line of numbers."""
    command = ["build/skein-fuzz", "--processes", "0", "--no-shrink", "--until-found", "--count", "10000000"]
    command += ["--seed", str(arguments.seed), "--seconds", str(arguments.seconds), "--jobs", str(arguments.jobs)]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    if not lines or done.returncode == 2:
        raise SystemExit(f"plant_faults: skein-fuzz does not run: {done.stdout}{done.stderr}")
    findings = [line for line in lines if line.startswith("===")]
    return (findings[0] if findings else None), lines[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--here", action="store_true")
    parser.add_argument("--seconds", type=int, default=120, help="longest time to find a fault")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    paths = [FAULTS / f"{name}.fault" for name in arguments.names] or sorted(FAULTS.glob("*.fault"))
    faults = [Fault(path) for path in paths]
    stale = [fault.name for fault in faults if not fault.fits(ROOT)]
    for name in stale:
        print(f"{name}: does not fit the source any more")
    if stale or arguments.check:
        print(f"{len(faults) - len(stale)} of {len(faults)} faults fit the source")
        return 2 if stale else 0
    tree = ROOT
    if arguments.here:
        if subprocess.run(["git", "diff", "--quiet", "HEAD", "--", "src"], cwd=ROOT).returncode != 0:
            print("plant_faults: there are changes in src", file=sys.stderr)
            return 2
    else:
        tree = ROOT / "build" / "plants"
        copy_tree(tree)
    return plant_all(tree, faults, arguments)


def plant_all(tree, faults, arguments):
    if not build(tree, arguments.jobs):
        return 2
    finding, numbers = fuzz(tree, arguments)
    print(f"without a fault: {finding or 'nothing found'}: {numbers}", flush=True)
    if finding:
        return 2
    missed = 0
    for fault in faults:
        path = tree / fault.file
        original = path.read_text()
        try:
            fault.plant(tree)
            if not build(tree, arguments.jobs):
                print(f"{fault.name}: does not compile", flush=True)
                missed += 1
                continue
            start = time.monotonic()
            finding, numbers = fuzz(tree, arguments)
            seconds = time.monotonic() - start
        finally:
            path.write_text(original)
        queries = numbers.split(" ")[0]
        missed += finding is None
        verdict = "found" if finding else "NOT FOUND"
        print(f"{fault.name}: {verdict} in {queries} queries, {seconds:.0f} s: {finding or numbers}", flush=True)
    print(f"{len(faults) - missed} of {len(faults)} faults found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
