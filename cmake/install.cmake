# What `cmake --install` gives, in four components: library, development, command, documentation. All of it may be moved.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kiln)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(man_dir ${CMAKE_INSTALL_MANDIR}/man1)
set(bash_dir ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
set(zsh_dir ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
set(fish_dir ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# The folders of what follows: the first script notes which of them an installation makes, the last one what came into them.
set(KILN_RECORD ${PROJECT_BINARY_DIR}/installed.txt)
set(KILN_FOLDERS ${CMAKE_INSTALL_INCLUDEDIR}/kiln ${package_dir} ${pkgconfig_dir} ${CMAKE_INSTALL_DOCDIR}/docs ${CMAKE_INSTALL_DOCDIR}/examples
    ${CMAKE_INSTALL_DOCDIR}/bench
    ${CMAKE_INSTALL_DOCDIR}/bench/models ${CMAKE_INSTALL_DOCDIR}/bench/results
    ${CMAKE_INSTALL_BINDIR} ${man_dir} ${bash_dir} ${zsh_dir} ${fish_dir})
foreach(script install_begin install_end uninstall)
    configure_file(cmake/${script}.cmake.in generated/${script}.cmake @ONLY)
endforeach()
install(SCRIPT ${PROJECT_BINARY_DIR}/generated/install_begin.cmake ALL_COMPONENTS)

install(TARGETS kiln EXPORT kiln_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library)

if(kiln_bundle)
    install(FILES ${kiln_bundle} DESTINATION ${CMAKE_INSTALL_LIBDIR}/kiln COMPONENT library)
endif()

install(TARGETS kiln_static EXPORT kiln_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(DIRECTORY include/kiln DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES ${ops_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kiln COMPONENT development)

# With all that their links lead to.
install(FILES README.md CHANGELOG.md ARCHITECTURE.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation)
install(DIRECTORY bench/results DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench COMPONENT documentation FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")
install(FILES bench/models/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench/models COMPONENT documentation)
install(FILES bench/README.md bench/narrow.py DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench COMPONENT documentation)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation FILES_MATCHING PATTERN "*.md")
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation
        FILES_MATCHING PATTERN "*.c" PATTERN "*.cpp" PATTERN "*.h" PATTERN "*.npy")

if(TARGET kiln_command)
    install(TARGETS kiln_command kiln_bench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
    if(TARGET kiln_command_texts)
        set(texts ${PROJECT_BINARY_DIR}/generated/command)
        install(FILES ${texts}/kiln.1 DESTINATION ${man_dir} COMPONENT command)
        install(FILES ${texts}/kiln.bash DESTINATION ${bash_dir} RENAME kiln COMPONENT command)
        install(FILES ${texts}/_kiln DESTINATION ${zsh_dir} COMPONENT command)
        install(FILES ${texts}/kiln.fish DESTINATION ${fish_dir} COMPONENT command)
    endif()
endif()

install(EXPORT kiln_targets NAMESPACE kiln:: FILE kiln-targets.cmake DESTINATION ${package_dir} COMPONENT development)
file(CONFIGURE OUTPUT generated/kiln-config.cmake
     CONTENT "# The shared library has what it needs within; the static one is there where that is found, too.
include(CMakeFindDependencyMacro)
find_package(SQLite3 QUIET)
find_package(Threads QUIET)
if(NOT TARGET SQLite::SQLite3)
    add_library(SQLite::SQLite3 INTERFACE IMPORTED)
    target_link_libraries(SQLite::SQLite3 INTERFACE sqlite3)
endif()
include(\"\${CMAKE_CURRENT_LIST_DIR}/kiln-targets.cmake\")
" @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/kiln-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/kiln-config.cmake ${PROJECT_BINARY_DIR}/generated/kiln-config-version.cmake
        DESTINATION ${package_dir} COMPONENT development)

# From the .pc file's own folder up to the prefix, however many folders the library's is deep. Where a folder is absolute it stays where it is,
# and the prefix is known when it is installed (install_begin.cmake).
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR} OR IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
    set(KILN_PC_PREFIX "@CMAKE_INSTALL_PREFIX@")
else()
    file(RELATIVE_PATH KILN_PC_PREFIX /prefix/${pkgconfig_dir} /prefix)
    string(REGEX REPLACE "/$" "" KILN_PC_PREFIX "\${pcfiledir}/${KILN_PC_PREFIX}")
endif()
foreach(folder LIBDIR INCLUDEDIR)
    cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_${folder} BASE_DIRECTORY "/prefix" OUTPUT_VARIABLE KILN_PC_${folder})
    string(REGEX REPLACE "^/prefix/" "\${prefix}/" KILN_PC_${folder} "${KILN_PC_${folder}}")
endforeach()
configure_file(cmake/kiln.pc.in generated/kiln.pc.in @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/kiln.pc DESTINATION ${pkgconfig_dir} COMPONENT development)

install(SCRIPT ${PROJECT_BINARY_DIR}/generated/install_end.cmake ALL_COMPONENTS)
if(PROJECT_IS_TOP_LEVEL)
    add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -P ${PROJECT_BINARY_DIR}/generated/uninstall.cmake VERBATIM)
endif()

# A Python wheel of what is installed, without the documentation.
if(PROJECT_IS_TOP_LEVEL)
    add_custom_target(wheel COMMAND ${PROJECT_SOURCE_DIR}/tools/wheel ${PROJECT_BINARY_DIR} VERBATIM)
    add_dependencies(wheel kiln kiln_static kiln_ops_header)
    foreach(target kiln_command kiln_command_texts)
        if(TARGET ${target})
            add_dependencies(wheel ${target})
        endif()
    endforeach()
endif()

# cpack -G DEB: a package for each component, named as Debian names them.
set(packages_library libkiln${KILN_ABI})
set(packages_development libkiln-dev)
set(packages_command kiln)
set(packages_documentation kiln-doc)
set(same_library "${packages_library} (= ${PROJECT_VERSION})")
set(CPACK_PACKAGE_NAME kiln)
set(CPACK_PACKAGE_VENDOR kiln)
set(CPACK_PACKAGE_CONTACT "the kiln authors <kiln@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL library development command documentation)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}) # the command's own library is no package yet
foreach(component ${CPACK_COMPONENTS_ALL})
    string(TOUPPER ${component} upper)
    set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${packages_${component}})
    set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS ${same_library})
    set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION libs)
endforeach()
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "The shared library.")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Headers, the static library, and files for pkg-config and CMake.")
set(CPACK_COMPONENT_COMMAND_DESCRIPTION "The command kiln, kiln-bench, their manual page and completion for bash, zsh and fish.")
set(CPACK_COMPONENT_DOCUMENTATION_DESCRIPTION "The guide, the manual of the kernels' language, and examples.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "")
# The host target's compiler: with bundles a program needs none, and an image that runs it should not be given eighty packages.
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS "g++ | clang")
set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS "g++ | clang")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${same_library}, libsqlite3-dev") # which the static library needs
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_ARCHITECTURE all)
include(CPack)
