# The commands of a working day. Each does what is missing first, so `make demo` is enough on a fresh checkout.
#
#   make demo              TPC-H through four worker processes, every answer checked against DuckDB alone
#   make test              all tests; ends with the summary
#   make build             build/skein, build/skein.duckdb_extension, build/skein-sqltest, build/libskein.so, build/libduckdb.so
#   make fuzz              random queries, distributed, against DuckDB alone: SEED=1 COUNT=20000 FUZZ="--seconds 600 ..."
#   make bench             the programs of bench/, as text and as JSON (build/bench/*.json)
#   make install PREFIX=   the products, the headers and a CMake package
#   make lint | format     check the rules of the house | lay out the code
#   make clean             removes what was built; .deps (downloads) and data stay
#
# JOBS=N: compilers and tests at a time. DUCKDB_ROOT=DIR: a DuckDB from elsewhere.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
SEED ?= 1
COUNT ?= 20000
configure = cmake --preset release $(if $(DUCKDB_ROOT),-DDUCKDB_ROOT=$(DUCKDB_ROOT))

.PHONY: build demo test fuzz bench install lint format clean setup configure
.NOTPARALLEL:

build: configure
	@cmake --build build -j $(JOBS) --target skein_products

demo: build
	@scripts/demo

test: configure
	@cmake --build build -j $(JOBS)
	@ctest --test-dir build --output-on-failure --parallel $(JOBS)

fuzz: configure
	@cmake --build build -j $(JOBS) --target skein_fuzz_command
	@build/skein-fuzz --jobs $(JOBS) --seed $(SEED) --count $(COUNT) $(FUZZ)

bench: setup
	@$(configure) -DSKEIN_BUILD_BENCHMARKS=ON
	@cmake --build build -j $(JOBS)
	@scripts/bench

install: build
	@cmake --install build --prefix $(PREFIX)

lint: setup
	@scripts/lint.sh

format: setup
	@scripts/lint.sh --format

clean:
	rm -rf build build-dev build-tsan

setup:
	@scripts/setup

# Ninja calls cmake by itself when a CMakeLists.txt has changed; this is for what it does not see.
configure: setup
	@if [ ! -f build/build.ninja ] || [ CMakePresets.json -nt build/build.ninja ] || [ -n "$(DUCKDB_ROOT)" ]; then $(configure); fi
