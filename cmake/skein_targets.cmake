# skein_add_library(NAME SOURCES ... [DEPS ...])      a static library `skein_NAME`
# skein_add_test(NAME SOURCES ... [DEPS ...])         a gtest program, registered with ctest
# skein_add_bench(NAME SOURCES ... [DEPS ...])        a Google Benchmark program
include(GoogleTest)

add_library(skein_options INTERFACE)
target_compile_options(skein_options INTERFACE -Wall -Wextra -Werror -Wno-unused-parameter)
target_include_directories(skein_options INTERFACE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src)
if(SKEIN_SANITIZE)
  target_compile_options(skein_options INTERFACE -fsanitize=${SKEIN_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(skein_options INTERFACE -fsanitize=${SKEIN_SANITIZE})
endif()

# Programs are compiled as libraries are, or they could not share the precompiled header.
set(CMAKE_CXX_COMPILE_OPTIONS_PIE -fPIC)

# One precompiled header for the whole tree: duckdb.hpp alone takes 10 s.
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/pch/pch.cpp CONTENT "")
add_library(skein_pch STATIC ${CMAKE_BINARY_DIR}/pch/pch.cpp)
target_link_libraries(skein_pch PUBLIC skein_options duckdb_engine)
target_precompile_headers(skein_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch.hpp)

function(skein_set_up target)
  target_link_libraries(${target} PUBLIC skein_options duckdb_engine Threads::Threads)
  target_precompile_headers(${target} REUSE_FROM skein_pch)
endfunction()

function(skein_add_library NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(skein_${NAME} STATIC ${ARG_SOURCES})
  skein_set_up(skein_${NAME})
  target_link_libraries(skein_${NAME} PUBLIC ${ARG_DEPS})
endfunction()

function(skein_add_test NAME)
  if(NOT SKEIN_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${NAME} ${ARG_SOURCES})
  skein_set_up(${NAME})
  target_link_libraries(${NAME} PRIVATE ${ARG_DEPS} GTest::gtest GTest::gtest_main)
  gtest_discover_tests(${NAME} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300)
endfunction()

function(skein_add_bench NAME)
  if(NOT SKEIN_BUILD_BENCHMARKS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${NAME} ${ARG_SOURCES})
  skein_set_up(${NAME})
  target_link_libraries(${NAME} PRIVATE ${ARG_DEPS} benchmark::benchmark)
  set_target_properties(${NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench/bin)
endfunction()
