"""Prints two reports of one benchmark program side by side: every counter, or the time of those without counters.

    bench_compare.py A.json B.json
"""

import json
import sys

#: What Google Benchmark writes about a benchmark that is no result of it.
OTHER = {"iterations", "repetitions", "repetition_index", "family_index", "per_family_instance_index", "threads"}


def results(path):
    """The figures of a report, by benchmark and counter."""
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    figures = {}
    for benchmark in report["benchmarks"]:
        if benchmark.get("error_occurred"):
            continue
        counters = {
            name: value
            for name, value in benchmark.items()
            if isinstance(value, (int, float)) and name not in OTHER | {"real_time", "cpu_time"}
        }
        if not counters:
            counters = {"real_time " + benchmark["time_unit"]: benchmark["real_time"]}
        for name, value in counters.items():
            figures[benchmark["name"], name] = value
    return figures


def main():
    before, after = (results(path) for path in sys.argv[1:])
    shared = [key for key in before if key in after]
    if not shared:
        sys.exit("bench: the two reports share no benchmark")
    width = max(len(name) for name, _ in shared)
    print(f"{'benchmark':<{width}} {'counter':<20} {'A':>12} {'B':>12} {'B/A':>8}")
    for key in shared:
        ratio = f"{after[key] / before[key]:8.3f}" if before[key] else "       -"
        print(f"{key[0]:<{width}} {key[1]:<20} {before[key]:12.4g} {after[key]:12.4g} {ratio}")
    for key in sorted(before.keys() ^ after.keys()):
        print(f"only in {'A' if key in before else 'B'}: {key[0]} {key[1]}")


if __name__ == "__main__":
    main()
