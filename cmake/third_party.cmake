# Everything that is not ours, found once. Exact versions: scripts/versions.env.

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_PCH_EXTSUM=true ${CCACHE_PROGRAM})
  # Hundreds of megabytes of precompiled header would be hashed for every file; this stands for its contents.
  file(READ ${CMAKE_SOURCE_DIR}/cmake/pch.hpp pch_text)
  file(READ ${CMAKE_SOURCE_DIR}/scripts/versions.env versions_text)
  string(SHA256 pch_sum "${pch_text}${versions_text}${CMAKE_CXX_COMPILER_VERSION}${CMAKE_BUILD_TYPE}${CMAKE_CXX_FLAGS}\
${CMAKE_CXX_FLAGS_RELWITHDEBINFO}${CMAKE_CXX_FLAGS_DEBUG}${SKEIN_SANITIZE}${DUCKDB_ROOT}")
  file(WRITE ${CMAKE_BINARY_DIR}/CMakeFiles/skein_pch.dir/cmake_pch.hxx.gch.sum ${pch_sum})
endif()

set(DUCKDB_ROOT "${CMAKE_SOURCE_DIR}/.deps/duckdb"
    CACHE PATH "A DuckDB: lib/libduckdb.so, source/ (its source tree), extensions/")
if(NOT EXISTS ${DUCKDB_ROOT}/lib/libduckdb.so)
  message(FATAL_ERROR "No DuckDB in ${DUCKDB_ROOT}: run scripts/setup, or set DUCKDB_ROOT")
endif()

add_library(duckdb_engine SHARED IMPORTED GLOBAL)
set_target_properties(duckdb_engine PROPERTIES IMPORTED_LOCATION ${DUCKDB_ROOT}/lib/libduckdb.so
                                               IMPORTED_NO_SONAME ON)
target_include_directories(duckdb_engine SYSTEM INTERFACE
  ${DUCKDB_ROOT}/source/src/include)

# The engine's Parquet reader, for src/engine and src/planner/leaf only.
add_library(duckdb_parquet INTERFACE)
target_link_libraries(duckdb_parquet INTERFACE duckdb_engine)
target_include_directories(duckdb_parquet SYSTEM INTERFACE
  ${DUCKDB_ROOT}/source/extension/parquet/include
  ${DUCKDB_ROOT}/source/third_party/parquet
  ${DUCKDB_ROOT}/source/third_party/thrift
  ${DUCKDB_ROOT}/source/third_party/snappy
  ${DUCKDB_ROOT}/source/third_party/brotli/include
  ${DUCKDB_ROOT}/source/third_party/lz4
  ${DUCKDB_ROOT}/source/third_party/zstd/include
  ${DUCKDB_ROOT}/source/third_party/mbedtls/include
  ${DUCKDB_ROOT}/source/third_party/fastpforlib
  ${DUCKDB_ROOT}/source/third_party/fsst
  ${DUCKDB_ROOT}/source/third_party/fmt/include
  ${DUCKDB_ROOT}/source/third_party/utf8proc/include
  ${DUCKDB_ROOT}/source/third_party/concurrentqueue)

# The engine's JSON reader, for src/engine only.
add_library(duckdb_json INTERFACE)
target_link_libraries(duckdb_json INTERFACE duckdb_engine)
target_include_directories(duckdb_json SYSTEM INTERFACE
  ${DUCKDB_ROOT}/source/extension/json/include
  ${DUCKDB_ROOT}/source/third_party/yyjson/include)

find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(GRPCPP REQUIRED IMPORTED_TARGET grpc++)
pkg_check_modules(PROMETHEUS REQUIRED IMPORTED_TARGET GLOBAL prometheus-cpp-pull)
pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET GLOBAL liblz4)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET GLOBAL libzstd)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
if(SKEIN_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
if(SKEIN_BUILD_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
