# Packages: `cpack -G DEB` in the build folder, or `make deb`.  The version is that of project(); what the programs
# need at run time is found by dpkg-shlibdeps in the programs themselves.
set(CPACK_PACKAGE_NAME homodyne-gen)
set(CPACK_PACKAGE_VENDOR "the homodyne-gen authors")
set(CPACK_PACKAGE_CONTACT "the homodyne-gen authors <homodyne-gen@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "fits of X-ray photon correlation data, and a compiler for models")
set(CPACK_PACKAGE_DESCRIPTION
    "homodyne fits two-time correlation data of X-ray photon correlation
spectroscopy (XPCS): colloids at rest, under shear, and of two components.
It reads configurations of the Python packages homodyne, heterodyne and
xpcsjax. Least squares with errors for correlated noise, and sampling of the
posterior. homodyne-gen compiles models written in Lua into fitters.")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)

set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gcc, libc6-dev") # homodyne --model FILE.lua
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-numpy, python3-h5py")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/build-aux/prerm")
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/build-aux/CompressMan.cmake")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)

# Debian wants the licences under this name.
configure_file("${PROJECT_SOURCE_DIR}/build-aux/copyright.in" copyright @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/copyright" DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/homodyne-gen)

# The Python package, where Debian looks for it: in packages only (elsewhere: make wheel).
install(CODE "
    if(CMAKE_INSTALL_PREFIX MATCHES \"/usr$\")
        file(INSTALL DESTINATION \"\${CMAKE_INSTALL_PREFIX}/lib/python3/dist-packages\" TYPE DIRECTORY
             FILES \"${PROJECT_SOURCE_DIR}/python/homodyne_gen\" PATTERN __pycache__ EXCLUDE)
    endif()")
include(CPack)
