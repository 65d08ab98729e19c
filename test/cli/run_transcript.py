#!/usr/bin/env python3
"""Runs the commands of a transcript and compares what they say with what it records.

A transcript is a text of commands and what they print:

    # A line that starts with # is a comment.
    $ skein sql --format csv -c "SELECT 1 AS a"
    a
    1
    $ skein sql -c "SELEC 1"
    ! Parser Error: syntax error at or near "SELEC"
    ! ...
    [exit 1]

Lines after a command are its standard output; those that start with `! ` are its standard error; `[exit N]` is its exit code
where that is not 0. A line `...` stands for any number of lines, `{}` inside a line for any text. A command that
goes over several lines has `> ` before each but the first. Blank lines end what is expected.

All commands of a transcript run in one empty folder, with `skein` on the PATH; $TRANSCRIPT_FOLDER is the transcript's.

    run_transcript.py --skein PROGRAM FILE             compares; exit 1 if anything differs
    run_transcript.py --skein PROGRAM FILE --rewrite   records what the commands say now; wildcards are lost
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile


class Step:
    """One command and what it is to print."""

    def __init__(self, command, line_number):
        self.command = command
        self.line_number = line_number
        self.stdout = []
        self.stderr = []
        self.exit_code = 0


def parse(text):
    """Returns the parts of a transcript in order: a str for a comment or a blank line, a Step for a command."""
    parts = []
    step = None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("$ "):
            step = Step(line[2:], number)
            parts.append(step)
        elif line.startswith("> ") and step is not None:
            step.command += "\n" + line[2:]
        elif step is None or line == "" or line.startswith("#"):
            parts.append(line)
            step = None
        elif re.fullmatch(r"\[exit \d+\]", line):
            step.exit_code = int(line[6:-1])
        elif line == "!" or line.startswith("! "):
            step.stderr.append(line[2:])
        else:
            step.stdout.append(line)
    return parts


def run(step, environment, folder):
    """Returns a Step with what the command really prints."""
    done = subprocess.run(
        ["bash", "-c", step.command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=240,
        check=False,
    )
    result = Step(step.command, step.line_number)
    result.stdout = [line.rstrip() for line in done.stdout.decode().splitlines()]
    result.stderr = [line.rstrip() for line in done.stderr.decode().splitlines()]
    # Blank lines would end a step.
    result.stdout = [line for line in result.stdout if line]
    result.stderr = [line for line in result.stderr if line]
    result.exit_code = done.returncode
    return result


def matches(expected, actual):
    """Whether the lines agree, `...` and `{}` standing for anything."""
    pattern = ""
    for line in expected:
        if line == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*?".join(re.escape(part) for part in line.split("{}")) + r"\n"
    return re.fullmatch(pattern, "".join(line + "\n" for line in actual)) is not None


def render(part):
    """The text of a part of a transcript."""
    if isinstance(part, str):
        return part + "\n"
    lines = ["$ " + part.command.replace("\n", "\n> ")] + part.stdout + ["! " + line for line in part.stderr]
    if part.exit_code != 0:
        lines.append(f"[exit {part.exit_code}]")
    return "".join(line.rstrip() + "\n" for line in lines)


def main():
    parser = argparse.ArgumentParser(description="Runs the commands of a transcript and compares what they print.")
    parser.add_argument("--skein", required=True)
    parser.add_argument("--rewrite", action="store_true")
    parser.add_argument("transcript")
    arguments = parser.parse_args()

    with open(arguments.transcript, encoding="utf-8") as file:
        parts = parse(file.read())
    if not any(isinstance(part, Step) for part in parts):
        sys.exit(f"{arguments.transcript}: no commands")
    environment = dict(os.environ, LC_ALL="C.UTF-8")
    environment["TRANSCRIPT_FOLDER"] = os.path.dirname(os.path.abspath(arguments.transcript))
    environment["PATH"] = os.path.dirname(os.path.abspath(arguments.skein)) + os.pathsep + environment["PATH"]
    failures = 0
    rewritten = ""
    with tempfile.TemporaryDirectory() as folder:
        for part in parts:
            if isinstance(part, str):
                rewritten += render(part)
                continue
            actual = run(part, environment, folder)
            rewritten += render(actual)
            same = (
                matches(part.stdout, actual.stdout)
                and matches(part.stderr, actual.stderr)
                and part.exit_code == actual.exit_code
            )
            if not same and not arguments.rewrite:
                failures += 1
                print(f"{arguments.transcript}:{part.line_number}: expected\n{render(part)}but got\n{render(actual)}")
    if arguments.rewrite:
        with open(arguments.transcript, "w", encoding="utf-8") as file:
            file.write(rewritten)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
