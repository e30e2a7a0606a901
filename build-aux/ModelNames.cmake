# The table of runtime/config/model_names.h: name, mode and aliases of each model, as homodyne-gen reads them.
#
#   cmake -DGENERATOR=homodyne-gen -DMODEL=a.lua -DOUT=a.row -P ModelNames.cmake         one model: two lines of C
#   cmake "-DROWS=a.row;b.row" -DOUT=model_names.c -P ModelNames.cmake                   the table
#
# A file that is no model has no row: the build of its own program says what is wrong.
cmake_minimum_required(VERSION 3.25)

if(DEFINED MODEL)
    cmake_path(GET MODEL STEM LAST_ONLY name)
    cmake_path(GET OUT PARENT_PATH dir)
    execute_process(COMMAND "${GENERATOR}" "${MODEL}" --emit=json -o "${dir}"
                    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(failed OR NOT EXISTS "${dir}/${name}.json")
        file(WRITE "${OUT}" "")
        return()
    endif()
    file(READ "${dir}/${name}.json" json)
    string(JSON mode GET "${json}" mode)
    set(mode "\"${mode}\"")
    if(mode STREQUAL "\"\"")
        set(mode NULL)
    endif()
    set(aliases "")
    string(JSON n LENGTH "${json}" alias)
    while(n GREATER 0)
        math(EXPR n "${n} - 1")
        string(JSON alias GET "${json}" alias ${n})
        string(PREPEND aliases "\"${alias}\", ")
    endwhile()
    file(WRITE "${OUT}" "static const char *const alias_${name}[] = {${aliases}NULL};\n"
                        "    {\"${name}\", ${mode}, alias_${name}},\n")
    return()
endif()

set(arrays "")
set(rows "")
foreach(file IN LISTS ROWS)
    file(STRINGS "${file}" line)
    if(line)
        list(GET line 0 array)
        list(GET line 1 row)
        string(APPEND arrays "${array}\n")
        string(APPEND rows "${row}\n")
    endif()
endforeach()
file(CONFIGURE OUTPUT "${OUT}" @ONLY CONTENT "/* Made by build-aux/ModelNames.cmake. */
#include \"config/model_names.h\"

#include <stddef.h>

@arrays@
const struct fit_model_name fit_model_names[] = {
@rows@    {NULL, NULL, NULL}};
")
