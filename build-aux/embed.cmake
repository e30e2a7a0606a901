# Files -> C byte arrays.
#
# Included (include(embed)) it defines
#     fit_embed(OUTPUT out.c FILES a.tmpl b.lua ...)
# a rule that makes out.c, in which each file FILE.EXT becomes
#     const unsigned char embedded_FILE_EXT[];  const size_t embedded_FILE_EXT_size;
# (characters that are not letters or digits become _); a NUL follows the text and is not counted.
#
# Run as a script it does the conversion:  cmake -DOUTPUT=out.c -DFILES=a;b -P embed.cmake

if(CMAKE_SCRIPT_MODE_FILE)
    set(text "/* Made by embed.cmake; do not edit. */\n#include <stddef.h>\n")
    foreach(file IN LISTS FILES)
        cmake_path(GET file FILENAME name)
        string(MAKE_C_IDENTIFIER "${name}" name)
        file(READ "${file}" hex HEX)
        string(LENGTH "${hex}" length)
        math(EXPR size "${length} / 2")
        string(REGEX REPLACE "(................................)" "\\1\n    " hex "${hex}")
        string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
        string(APPEND text "\nextern const unsigned char embedded_${name}[];\n"
                           "extern const size_t embedded_${name}_size;\n"
                           "const unsigned char embedded_${name}[] = {\n    ${hex}0x00\n};\n"
                           "const size_t embedded_${name}_size = ${size};\n")
    endforeach()
    file(WRITE "${OUTPUT}" "${text}")
    return()
endif()

function(fit_embed)
    cmake_parse_arguments(arg "" "OUTPUT" "FILES" ${ARGN})
    set(files)
    foreach(file IN LISTS arg_FILES)
        cmake_path(ABSOLUTE_PATH file NORMALIZE)
        list(APPEND files "${file}")
    endforeach()
    add_custom_command(
        OUTPUT "${arg_OUTPUT}"
        COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${arg_OUTPUT}" "-DFILES=${files}"
                -P "${PROJECT_SOURCE_DIR}/build-aux/embed.cmake"
        DEPENDS ${files} "${PROJECT_SOURCE_DIR}/build-aux/embed.cmake"
        COMMENT "Embedding templates"
        VERBATIM)
endfunction()
