# Run by CPack before it packs: no command that another package of Debian has (ht: tex4ht); manual pages as Debian wants
# them, compressed the same way on every machine.
file(GLOB_RECURSE pages "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*.[1-9]")
list(FILTER pages INCLUDE REGEX "/man/man[1-9]/")
if(pages)
    execute_process(COMMAND gzip -9 -n -f ${pages} COMMAND_ERROR_IS_FATAL ANY)
endif()
file(REMOVE "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/bin/ht")
