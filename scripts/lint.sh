#!/usr/bin/env bash
# Checks the rules of the house that a machine can check. Prints FILE:LINE: what is wrong; exit 1 if anything is.
#
#   scripts/lint.sh             all checks
#   scripts/lint.sh --format    lays out the code instead (clang-format, in place)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

clang_format=.deps/python/bin/clang-format
header_aim=200 header_limit=300
source_aim=500 source_limit=800

# A folder of src uses only itself and the folders before it; worker and coordinator do not use each other.
layers=(engine plan metrics wire transport exchange planner explain worker coordinator extension)

mapfile -t code < <(find src include cli bench test examples fuzz -type f \( -name '*.hpp' -o -name '*.cpp' \) 2>/dev/null | sort)
mapfile -t scripts < <(find Makefile CMakeLists.txt CMakePresets.json cmake scripts .ci deploy -type f 2>/dev/null | sort)
mapfile -t texts < <({
	printf '%s\n' "${code[@]}" "${scripts[@]}"
	find src cli bench test examples fuzz docs -type f \( -name CMakeLists.txt -o -name '*.proto' -o -name '*.md' -o -name '*.sh' -o -name '*.py' \) 2>/dev/null
	find . -maxdepth 1 -name '*.md'
} | grep -v -x -e scripts/lint.sh -e '' | sort -u)

if [[ ${1:-} == --format ]]; then
	((${#code[@]})) && printf '%s\0' "${code[@]}" | xargs -0 "$clang_format" -i
	exit 0
fi

failures=0
fail() { # one finding on each line of stdin; the rule
	local line
	while IFS= read -r line; do
		echo "$line: $1"
		failures=$((failures + 1))
	done
}
# FILE:LINE of each match of a pattern in the files after it.
find_lines() {
	local pattern=$1
	shift
	(($#)) || return 0
	grep -n -H -E -e "$pattern" -- "$@" | cut -d: -f1,2 || true
}
in_folder() { # folder; files of `code` under it
	local file
	for file in "${code[@]}"; do [[ $file == "$1"/* ]] && echo "$file"; done || true
}
mapfile -t src < <(in_folder src)

# ---------------------------------------------------------------- layout
if [[ ! -x $clang_format ]]; then
	echo "lint: error: no $clang_format: run scripts/setup" >&2
	exit 1
fi
if ((${#code[@]})); then
	fail "not laid out as .clang-format says: make format" < <(
		printf '%s\0' "${code[@]}" | xargs -0 "$clang_format" --dry-run -Werror 2>&1 |
			sed -n 's/^\([^:]*:[0-9]*\):[0-9]*: error: .*/\1/p' | sort -u -t: -k1,1
	)
fi

# ---------------------------------------------------------------- length and #pragma once
for file in "${code[@]}"; do
	lines=$(wc -l <"$file")
	if [[ $file == *.hpp ]]; then
		aim=$header_aim limit=$header_limit
		grep -q -m1 '^#pragma once$' "$file" || fail "a header starts with #pragma once" <<<"$file:1"
	else
		aim=$source_aim limit=$source_limit
	fi
	if ((lines > limit)); then
		fail "$lines lines, more than $limit: split it" <<<"$file:$lines"
	elif ((lines > aim)); then
		echo "$file:$lines: warning: $lines lines, the aim is $aim"
	fi
done

# ---------------------------------------------------------------- what a folder may use
# Prints "FILE:LINE WORD" for each #include of src; WORD is the first folder of the path.
includes() {
	(($#)) || return 0
	grep -n -H -E '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]' -- "$@" |
		sed -E 's/^([^:]*:[0-9]+):[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]([^>"]*)[>"].*/\1 \2/' || true
}
declare -A layer_of=()
for i in "${!layers[@]}"; do layer_of[${layers[i]}]=$i; done
while read -r place included; do
	folder=${place#src/}
	folder=${folder%%/*}
	used=${included%%/*}
	if [[ $included =~ ^(grpc|grpcpp|grpc\+\+)/|\.grpc\.pb\.h$ && $place != src/transport/grpc/* ]]; then
		fail "only src/transport/grpc uses gRPC" <<<"$place"
	fi
	# A test may set up what lies below.
	[[ $place == *_test.cpp:* || $included != */* || -z ${layer_of[$used]:-} || -z ${layer_of[$folder]:-} ]] && continue
	if ((layer_of[$used] > layer_of[$folder])); then
		fail "src/$folder lies above src/$used and may not use it" <<<"$place"
	elif [[ $folder == coordinator && $used == worker ]]; then
		fail "coordinator and worker do not use each other" <<<"$place"
	fi
done < <(includes "${src[@]}")

# ---------------------------------------------------------------- words
fail "nothing sleeps to wait: use a condition, a gate or a fake clock" < <(find_lines '\b(sleep_for|sleep_until|usleep|nanosleep)\b' "${src[@]}")
fail "unfinished: finish it or leave it out" < <(find_lines '\b(TODO|FIXME|XXX)\b' "${texts[@]}")
fail "no host of a registry: the clients' own settings name mirrors" < <(
	find_lines '(pypi|pythonhosted|npmjs|yarnpkg|crates|debian|ubuntu|githubusercontent|golang)\.(org|com|io|net)' "${texts[@]}"
)
fail "no address: what is fetched comes through apt, pip and npm" < <(find_lines '(https?|ftp)://' "${scripts[@]}" | grep -v '^scripts/lint.sh:' || true)
fail "no path of one machine" < <(find_lines '(^|[^A-Za-z0-9_.$}-])/(root|home|work|Users)/' "${texts[@]}")

if ((failures)); then
	echo "lint: $failures findings"
	exit 1
fi
echo "lint: ${#code[@]} C++ files and ${#texts[@]} texts are in order"
