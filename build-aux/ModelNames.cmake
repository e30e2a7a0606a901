# cmake -DGENERATOR=homodyne-gen -DMODELS=a.lua;b.lua -DOUT=model_names.c -P ModelNames.cmake
#
# Writes the table of runtime/config/model_names.h: name, mode and aliases of each model, as homodyne-gen reads them.  A file
# that is no model is left out: the build of its own program says what is wrong.
cmake_minimum_required(VERSION 3.25)
cmake_path(GET OUT PARENT_PATH dir)
set(arrays "")
set(rows "")
foreach(file IN LISTS MODELS)
    cmake_path(GET file STEM LAST_ONLY name)
    execute_process(COMMAND "${GENERATOR}" "${file}" --emit=json -o "${dir}/model_names"
                    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(failed OR NOT EXISTS "${dir}/model_names/${name}.json")
        continue()
    endif()
    file(READ "${dir}/model_names/${name}.json" json)
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
    string(APPEND arrays "static const char *const alias_${name}[] = {${aliases}NULL};\n")
    string(APPEND rows "    {\"${name}\", ${mode}, alias_${name}},\n")
endforeach()
file(CONFIGURE OUTPUT "${OUT}" @ONLY CONTENT "/* Made by build-aux/ModelNames.cmake. */
#include \"config/model_names.h\"

#include <stddef.h>

@arrays@
const struct fit_model_name fit_model_names[] = {
@rows@    {NULL, NULL, NULL}};
")
