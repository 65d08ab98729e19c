# What users run and link: lies in the top of the build folder, finds its neighbours by $ORIGIN, is installed.
#
# skein_add_program(TARGET NAME skein SOURCES ... [DEPS ...])
#   an executable build/NAME, installed as bin/NAME
# skein_add_shared_library(TARGET NAME skein WHOLE target... [DEPS ...])
#   build/libNAME.so, installed in lib; holds all of the static libraries in WHOLE, and what these use of others
# The target skein_products builds all of them, and build/libduckdb.so, a copy of the engine.

set(SKEIN_INSTALL_LIBDIR lib) # one place for libraries, extension and engine, whatever the distribution does
set(SKEIN_RPATH "$ORIGIN;$ORIGIN/../${SKEIN_INSTALL_LIBDIR}")

get_target_property(SKEIN_ENGINE_FILE duckdb_engine IMPORTED_LOCATION)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/libduckdb.so
  COMMAND ${CMAKE_COMMAND} -E copy ${SKEIN_ENGINE_FILE} ${CMAKE_BINARY_DIR}/libduckdb.so
  DEPENDS ${SKEIN_ENGINE_FILE}
  COMMENT "Copying the engine to libduckdb.so")
add_custom_target(skein_engine_copy ALL DEPENDS ${CMAKE_BINARY_DIR}/libduckdb.so)
add_custom_target(skein_products DEPENDS skein_engine_copy)

function(skein_set_product TARGET NAME)
  set_target_properties(${TARGET} PROPERTIES
    OUTPUT_NAME ${NAME}
    DEFINE_SYMBOL "" # a macro more, and the precompiled header would not fit
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}
    BUILD_WITH_INSTALL_RPATH ON
    INSTALL_RPATH "${SKEIN_RPATH}")
  if(NOT SKEIN_SANITIZE) # whose symbols come from the program
    target_link_options(${TARGET} PRIVATE -Wl,--no-undefined)
  endif()
  add_dependencies(skein_products ${TARGET})
endfunction()

function(skein_add_program TARGET)
  cmake_parse_arguments(ARG "" "NAME" "SOURCES;DEPS" ${ARGN})
  add_executable(${TARGET} ${ARG_SOURCES})
  skein_set_up(${TARGET})
  target_link_libraries(${TARGET} PUBLIC ${ARG_DEPS})
  skein_set_product(${TARGET} ${ARG_NAME})
  install(TARGETS ${TARGET} RUNTIME DESTINATION bin)
endfunction()

function(skein_add_shared_library TARGET)
  cmake_parse_arguments(ARG "" "NAME" "WHOLE;DEPS" ${ARGN})
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${TARGET}.cpp CONTENT "// ${TARGET} has no source of its own.\n")
  add_library(${TARGET} SHARED ${CMAKE_CURRENT_BINARY_DIR}/${TARGET}.cpp)
  target_link_libraries(${TARGET} PRIVATE -Wl,--whole-archive)
  foreach(whole ${ARG_WHOLE})
    target_link_libraries(${TARGET} PRIVATE $<TARGET_FILE:${whole}>)
    add_dependencies(${TARGET} ${whole})
  endforeach()
  target_link_libraries(${TARGET} PRIVATE -Wl,--no-whole-archive ${ARG_WHOLE} ${ARG_DEPS})
  skein_set_product(${TARGET} ${ARG_NAME})
  install(TARGETS ${TARGET} LIBRARY DESTINATION ${SKEIN_INSTALL_LIBDIR})
endfunction()
