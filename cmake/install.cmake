# What `cmake --install` gives: headers, the library, the command, a pkg-config file and a CMake package. All of it may be moved.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/kiln DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${ops_header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kiln)
install(TARGETS kiln EXPORT kiln_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET kiln_command)
    install(TARGETS kiln_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    if(TARGET kiln_command_texts)
        set(texts ${CMAKE_BINARY_DIR}/generated/command)
        install(FILES ${texts}/kiln.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
        install(FILES ${texts}/kiln.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME kiln)
        install(FILES ${texts}/_kiln DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
        install(FILES ${texts}/kiln.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
    endif()
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kiln)
install(EXPORT kiln_targets NAMESPACE kiln:: FILE kiln-targets.cmake DESTINATION ${package_dir})
file(CONFIGURE OUTPUT generated/kiln-config.cmake
     CONTENT "include(\"\${CMAKE_CURRENT_LIST_DIR}/kiln-targets.cmake\")\n" @ONLY)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/kiln-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/generated/kiln-config.cmake ${CMAKE_BINARY_DIR}/generated/kiln-config-version.cmake
        DESTINATION ${package_dir})

# From the .pc file's own folder up to the prefix, however many folders the library's is deep.
file(RELATIVE_PATH KILN_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/kiln.pc.in generated/kiln.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/generated/kiln.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
