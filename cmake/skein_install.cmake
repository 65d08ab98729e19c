# The rest of `cmake --install`: the engine, the headers and a relocatable CMake package (find_package(Skein), target Skein::skein).
include(CMakePackageConfigHelpers)
set(SKEIN_INSTALL_INCLUDEDIR include)
set(SKEIN_INSTALL_ENGINE_INCLUDEDIR include/skein/engine) # the engine's headers of exactly this version
set(SKEIN_INSTALL_CMAKEDIR ${SKEIN_INSTALL_LIBDIR}/cmake/Skein)

install(PROGRAMS ${SKEIN_ENGINE_FILE} DESTINATION ${SKEIN_INSTALL_LIBDIR} RENAME libduckdb.so)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${SKEIN_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY ${DUCKDB_ROOT}/source/src/include/ DESTINATION ${SKEIN_INSTALL_ENGINE_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/SkeinConfig.cmake.in ${CMAKE_BINARY_DIR}/SkeinConfig.cmake
  INSTALL_DESTINATION ${SKEIN_INSTALL_CMAKEDIR}
  PATH_VARS SKEIN_INSTALL_LIBDIR SKEIN_INSTALL_INCLUDEDIR SKEIN_INSTALL_ENGINE_INCLUDEDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/SkeinConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/SkeinConfig.cmake ${CMAKE_BINARY_DIR}/SkeinConfigVersion.cmake
        DESTINATION ${SKEIN_INSTALL_CMAKEDIR})
