"""Checks that the C++ code on a page is a source file: `code_of_page_test.py PAGE.md FILE.cpp`, piece by piece."""

import pathlib
import re
import sys


def lines_of(text):
    return [line for line in text.splitlines() if line.strip()]


def main():
    page, source = (pathlib.Path(argument) for argument in sys.argv[1:])
    code = "\n".join(re.findall(r"^```cpp\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL))
    shown, compiled = lines_of(code), lines_of(source.read_text())
    assert len(compiled) < 100, f"{source} has {len(compiled)} lines of code: too long for a first source"
    for number, (left, right) in enumerate(zip(shown, compiled), 1):
        assert left == right, f"line of code {number}: {page} has\n{left}\n{source} has\n{right}"
    assert len(shown) == len(compiled), f"{page} shows {len(shown)} lines of code, {source} has {len(compiled)}"


main()
