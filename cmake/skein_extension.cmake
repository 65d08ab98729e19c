# skein_add_loadable_extension(TARGET NAME skein)
#   Makes a DuckDB extension of a MODULE library: build/NAME.duckdb_extension, installed beside the engine.
#
# In src/extension/CMakeLists.txt:
#     add_library(skein_loadable MODULE entry.cpp)
#     skein_set_up(skein_loadable)
#     target_link_libraries(skein_loadable PUBLIC skein_extension)
#     skein_add_loadable_extension(skein_loadable NAME skein)
# and in entry.cpp, where the first word is the NAME:
#     #include "duckdb/main/extension/extension_loader.hpp"
#     extern "C" {
#     DUCKDB_CPP_EXTENSION_ENTRY(skein, loader) {
#     	skein::Attach(loader.GetDatabaseInstance());
#     }
#     }
#
# The file is linked with libduckdb.so and finds it beside itself ($ORIGIN); a host that has the engine inside must be of exactly the
# same version. It is not signed: the host has to open its database with allow_unsigned_extensions
# (`duckdb -unsigned`, Python `duckdb.connect(config={"allow_unsigned_extensions": "true"})`).
find_package(Python3 REQUIRED COMPONENTS Interpreter)

function(skein_add_loadable_extension TARGET)
  cmake_parse_arguments(ARG "" "NAME" "" ${ARGN})
  if(NOT ARG_NAME)
    message(FATAL_ERROR "skein_add_loadable_extension(${TARGET}) needs a NAME")
  endif()
  set(script ${PROJECT_SOURCE_DIR}/scripts/append_extension_footer.py)
  skein_set_product(${TARGET} ${ARG_NAME})
  set_target_properties(${TARGET} PROPERTIES PREFIX "" SUFFIX .duckdb_extension LINK_DEPENDS ${script})
  # The engine stays in the list of needed libraries even where the linker is told to drop those without direct use.
  target_link_options(${TARGET} PRIVATE -Wl,--no-as-needed)
  add_custom_command(TARGET ${TARGET} POST_BUILD
    COMMAND ${Python3_EXECUTABLE} ${script} $<TARGET_FILE:${TARGET}> ${SKEIN_ENGINE_FILE} v${PROJECT_VERSION}
    VERBATIM)
  # As a file, not as a target: stripping would cut the footer off.
  install(FILES $<TARGET_FILE:${TARGET}> DESTINATION ${SKEIN_INSTALL_LIBDIR})
endfunction()
