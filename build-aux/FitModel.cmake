# fit_add_model(NAME [FILE path.lua] [PARITY] [HESSIAN] [GPU] [VARIANTS name...] [NO_INSTALL])
#
# Makes the program homodyne-NAME and, unless NO_INSTALL, the shared object NAME.so: runs the generator on
# models/NAME.lua, compiles what it emits once per instruction-set level, and links it with the runtime and a table
# of the kernels.  This is the only place
# that knows both the generator and the runtime.
#
# The generator is called as   homodyne-gen FILE -o DIR --variant=fast     -> DIR/NAME.c
#                        and   homodyne-gen FILE -o DIR --variant=parity   -> DIR/NAME_parity.c (with PARITY)
#
# and so on for every other variant of the model named after VARIANTS.  HESSIAN: kernels with second derivatives.
# GPU: also kernels for accelerators, DIR/NAME_gpu.c, of the variant fast; as text, as plain C and, where the build
# finds nvcc, as PTX for cards of compute capability 8.0 and later.
#
# and writes beside it NAME_check.txt (NAME_parity_check.txt), reference values by which the linked program
# checks its kernels; a program that fails is removed.
#
# An emitted file defines   const struct fit_kernel FIT_KERNEL_SYMBOL   and gets from here
#   FIT_KERNEL_SYMBOL   fit_kernel_laminar_fast_v3     name of the descriptor
#   FIT_KERNEL_ISA      "x86-64-v3"                    its isa field
#   FIT_ISA_SUFFIX      _v3                            for other names with external linkage
#
# Of models for pages (pairs of times) the kernels are made as WebAssembly, too, where clang can: LiveKernel.cmake.
#
# FIT_LOADED_FITTERS: homodyne-NAME is a script that runs homodyne-any with NAME.so, not a program that holds all.
#
# fit_add_kernel_program(NAME SOURCES file.c...)  does the same for kernels written by hand (tests); each file
# is a variant, named by what follows NAME_ in its file name, or "fast".

include(embed)

# Levels from best to worst; the program picks the first that the machine supports.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    set(FIT_ISA_LEVELS v4 v3 v2 CACHE STRING "levels of instruction sets that kernels are compiled for, best first")
    set(FIT_ISA_NAME_PREFIX "x86-64-")
elseif(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    # base: NEON, of 128 bits, which every processor has; SVE where its vectors are longer, and not by clang, which has
    # no registers for vectors of 256 bits and more in the assembly of vmath.h
    set(levels sve512 sve256 base)
    if(CMAKE_C_COMPILER_ID MATCHES "Clang")
        set(levels base)
    endif()
    set(FIT_ISA_LEVELS ${levels}
        CACHE STRING "levels of instruction sets that kernels are compiled for, best first")
    set(FIT_ISA_NAME_PREFIX "aarch64-")
else()
    set(FIT_ISA_LEVELS base)
    set(FIT_ISA_NAME_PREFIX "${CMAKE_SYSTEM_PROCESSOR}-")
endif()

# The flags of a level.
function(fit_isa_flags level out)
    set(flags)
    if(level MATCHES "^sve([0-9]+)$") # code for vectors of this length alone
        set(flags -march=armv8.2-a+sve -msve-vector-bits=${CMAKE_MATCH_1})
    elseif(NOT level STREQUAL "base")
        set(flags -march=${FIT_ISA_NAME_PREFIX}${level})
    endif()
    set(${out} ${flags} PARENT_SCOPE)
endfunction()

# What compiles the models: the compiler of this build, or, for another processor, one that runs on this machine.
set(FIT_GENERATOR homodyne-gen CACHE STRING "homodyne-gen, or the path of one that was built before")

include(LiveKernel)

# The optimisation that emitted kernels are written for.  No -ffast-math: strict IEEE apart from the
# contraction of a*b + c; errno and floating-point traps are not used, which frees the vectoriser.
set(FIT_KERNEL_FLAGS -O3 -fno-math-errno -fno-trapping-math -ffp-contract=fast ${FIT_VECTORISED})
if(FIT_SANITIZE) # else gcc takes minutes for each kernel
    list(TRANSFORM FIT_KERNEL_FLAGS REPLACE "^-O3$" "-O1")
endif()

# Compiles one emitted file at one level; appends the objects and the symbol to lists of the caller.
function(fit_compile_kernel model variant level source depends objects_name symbols_name)
    set(target kernel-${model}-${variant}-${level})
    string(REPLACE "-" "_" symbol "fit_kernel_${model}_${variant}_${level}")
    add_library(${target} OBJECT ${source})
    set_target_properties(${target} PROPERTIES C_EXTENSIONS ON POSITION_INDEPENDENT_CODE ON
                          C_VISIBILITY_PRESET hidden)
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/runtime/include")
    fit_isa_flags(${level} flags)
    target_compile_options(${target} PRIVATE ${FIT_KERNEL_FLAGS} ${flags})
    if(level STREQUAL "v4") # full width: the kernels are long loops of arithmetic
        target_compile_options(${target} PRIVATE -mprefer-vector-width=512)
    endif()
    target_compile_definitions(${target} PRIVATE FIT_KERNEL_SYMBOL=${symbol}
        FIT_KERNEL_ISA="${FIT_ISA_NAME_PREFIX}${level}" FIT_ISA_SUFFIX=_${level})
    target_link_libraries(${target} PRIVATE fit_warnings)
    if(depends)
        add_dependencies(${target} ${depends})
    endif()
    set(${objects_name} ${${objects_name}} $<TARGET_OBJECTS:${target}> PARENT_SCOPE)
    set(${symbols_name} ${${symbols_name}} ${symbol} PARENT_SCOPE)
endfunction()

option(FIT_LOADED_FITTERS "the programs homodyne-MODEL load their kernels: a smaller installation" OFF)

# nvcc, else clang alone, makes PTX of the kernels for accelerators; without both they are compiled when loaded.
find_program(FIT_NVCC nvcc HINTS /usr/local/cuda/bin "$ENV{CUDA_HOME}/bin" DOC "nvcc, or OFF: no PTX by it")
if(NOT FIT_NVCC AND NOT DEFINED FIT_NVPTX_CLANG)
    execute_process(COMMAND sh "${CMAKE_CURRENT_LIST_DIR}/nvptx.sh" find OUTPUT_VARIABLE clang ERROR_QUIET
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    set(FIT_NVPTX_CLANG "${clang}" CACHE FILEPATH "a clang that makes PTX where there is no nvcc, or OFF")
endif()
if(NOT FIT_NVCC AND NOT FIT_NVPTX_CLANG)
    message(STATUS
        "Neither nvcc nor a clang that makes PTX: for CUDA cards NVRTC compiles kernels when they are loaded")
endif()

# The kernels for accelerators of one emitted file: objects to objects_name, a line of the table to row_name.
function(fit_compile_gpu model source depends objects_name row_name)
    set(dir "${CMAKE_CURRENT_BINARY_DIR}/${model}")
    set(target gpu-${model})
    string(REPLACE "-" "_" symbol "fit_gpu_${model}")
    set(files "${source}")
    set(ptx "NULL")
    file(GLOB headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/runtime/include/fit/gpu*.h"
         "${PROJECT_SOURCE_DIR}/runtime/include/fit/vmath*.h")
    set(include "${PROJECT_SOURCE_DIR}/runtime/include")
    if(FIT_NVCC)
        set(make sh "${PROJECT_SOURCE_DIR}/build-aux/nvptx.sh" nvcc "${FIT_NVCC}")
    elseif(FIT_NVPTX_CLANG)
        set(make sh "${PROJECT_SOURCE_DIR}/build-aux/nvptx.sh" clang "${FIT_NVPTX_CLANG}")
    endif()
    if(FIT_NVCC OR FIT_NVPTX_CLANG)
        add_custom_command(
            OUTPUT "${dir}/${model}_gpu.ptx"
            COMMAND ${make} "${include}" "${source}" "${dir}/${model}_gpu.ptx"
            DEPENDS "${source}" ${headers} ${depends} "${PROJECT_SOURCE_DIR}/build-aux/nvptx.sh"
            COMMENT "Making PTX of the model ${model}"
            VERBATIM)
        list(APPEND files "${dir}/${model}_gpu.ptx")
        set(ptx "embedded_${model}_gpu_ptx")
    endif()
    fit_embed(OUTPUT "${dir}/${model}_gpu_text.c" FILES ${files})
    add_library(${target} OBJECT "${source}" "${dir}/${model}_gpu_text.c")
    set_target_properties(${target} PROPERTIES C_EXTENSIONS ON POSITION_INDEPENDENT_CODE ON
                          C_VISIBILITY_PRESET hidden)
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/runtime/include")
    target_compile_options(${target} PRIVATE -O2 -fno-math-errno -ffp-contract=off)
    target_compile_definitions(${target} PRIVATE FIT_GPU_SYMBOL=${symbol})
    target_link_libraries(${target} PRIVATE fit_warnings)
    add_dependencies(${target} ${depends})
    set(${objects_name} ${${objects_name}} $<TARGET_OBJECTS:${target}> PARENT_SCOPE)
    set(${row_name} "${symbol} embedded_${model}_gpu_c ${ptx}" PARENT_SCOPE)
endfunction()

# Appends the table fit_gpu_sources[] to a text; gpu: what fit_compile_gpu gave, or nothing.
function(fit_gpu_table gpu text_name)
    set(text "${${text_name}}")
    separate_arguments(gpu)
    set(row "")
    if(gpu)
        list(GET gpu 0 program)
        string(APPEND text "\nextern const struct fit_gpu_program ${program};\n")
        list(GET gpu 1 source)
        list(GET gpu 2 ptx)
        string(APPEND text "extern const unsigned char ${source}[];\n")
        if(NOT ptx STREQUAL "NULL")
            string(APPEND text "extern const unsigned char ${ptx}[];\n")
        endif()
        set(row "    {&${program}, ${source}, ${ptx}},\n")
    endif()
    string(APPEND text "\nconst struct fit_gpu_source fit_gpu_sources[] = {\n${row}    {NULL, NULL, NULL},\n};\n")
    set(${text_name} "${text}" PARENT_SCOPE)
endfunction()

# Writes the tables fit_kernels[] and fit_gpu_sources[]; gpu: what fit_compile_gpu gave, or nothing.
function(fit_write_registry model symbols gpu)
    set(text "/* Kernels of homodyne-${model}, from the best instruction set to the worst.  Made by the build. */\n")
    string(APPEND text "#include \"fit/kernel.h\"\n\n")
    foreach(symbol IN LISTS symbols)
        string(APPEND text "extern const struct fit_kernel ${symbol};\n")
    endforeach()
    string(APPEND text "\nconst struct fit_kernel *const fit_kernels[] = {\n")
    foreach(symbol IN LISTS symbols)
        string(APPEND text "    &${symbol},\n")
    endforeach()
    string(APPEND text "    0,\n};\n")
    string(REPLACE "#include \"fit/kernel.h\"" "#include \"fit/gpu_program.h\"\n#include \"fit/kernel.h\"" text
        "${text}")
    fit_gpu_table("${gpu}" text)
    set(registry "${CMAKE_CURRENT_BINARY_DIR}/registry_${model}.c")
    file(CONFIGURE OUTPUT "${registry}" CONTENT "${text}" @ONLY)
endfunction()

# Links the program homodyne-NAME.
function(fit_link_program model objects symbols gpu)
    fit_write_registry(${model} "${symbols}" "${gpu}")
    set(registry "${CMAKE_CURRENT_BINARY_DIR}/registry_${model}.c")
    add_executable(homodyne-${model} "${PROJECT_SOURCE_DIR}/runtime/commands/fitter.c" "${registry}" ${objects})
    target_link_libraries(homodyne-${model} PRIVATE homodyne-fit fit_warnings)
    target_compile_options(homodyne-${model} PRIVATE -ffp-contract=off)
endfunction()

# The same kernels as a shared object, lib/homodyne-gen/NAME.so, that programs load by fit_api_open (api/).
function(fit_link_module model objects)
    add_library(module-${model} MODULE "${CMAKE_CURRENT_BINARY_DIR}/registry_${model}.c" ${objects})
    set_target_properties(module-${model} PROPERTIES PREFIX "" OUTPUT_NAME ${model} SUFFIX .so
                          LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib/homodyne-gen")
    target_include_directories(module-${model} PRIVATE "${PROJECT_SOURCE_DIR}/runtime/include")
    target_link_libraries(module-${model} PRIVATE fit_warnings m)
endfunction()

# The script homodyne-NAME.
function(fit_write_fitter model)
    set(script "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/homodyne-${model}")
    file(CONFIGURE OUTPUT "${script}" @ONLY CONTENT "#!/bin/sh
here=$(dirname \"$(readlink -f \"$0\")\")
exec \"$here/homodyne-any\" \"$here/../lib/homodyne-gen/${model}.so\" \"$@\"
")
    file(CHMOD "${script}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
         WORLD_EXECUTE)
    add_dependencies(module-${model} homodyne-any)
    install(PROGRAMS "${script}" DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

function(fit_add_model model)
    cmake_parse_arguments(arg "PARITY;HESSIAN;GPU;NO_INSTALL" "FILE" "VARIANTS" ${ARGN})
    if(NOT arg_FILE)
        set(arg_FILE "${CMAKE_CURRENT_SOURCE_DIR}/${model}.lua")
    endif()
    set(dir "${CMAKE_CURRENT_BINARY_DIR}/${model}")
    file(MAKE_DIRECTORY "${dir}")
    set(emit c,check)
    if(arg_HESSIAN)
        set(emit c,check,hessian)
    endif()
    set(gpu)
    set(variants fast)
    if(arg_PARITY)
        list(APPEND variants parity)
    endif()
    list(APPEND variants ${arg_VARIANTS})
    separate_arguments(flags UNIX_COMMAND "${FIT_GENERATE_FLAGS}")

    set(objects)
    set(symbols)
    set(checks)
    foreach(variant IN LISTS variants)
        set(stem "${dir}/${model}")
        if(NOT variant STREQUAL "fast")
            string(APPEND stem "_${variant}")
        endif()
        set(source "${stem}.c")
        set(more)
        set(emitted ${emit})
        if(arg_GPU AND variant STREQUAL "fast")
            set(more "${stem}_gpu.c")
            string(APPEND emitted ",gpu")
        endif()
        list(APPEND checks "${stem}_check.txt")
        add_custom_command(
            OUTPUT "${source}" "${stem}_check.txt" ${more}
            COMMAND ${FIT_GENERATOR} "${arg_FILE}" -o "${dir}" --variant=${variant} --check --emit=${emitted} ${flags}
            DEPENDS ${FIT_GENERATOR} "${arg_FILE}"
            COMMENT "Compiling the model ${model} (${variant})"
            VERBATIM)
        # One target owns the command, so that three compilations do not start three generators.
        add_custom_target(model-${model}-${variant} DEPENDS "${source}")
        foreach(level IN LISTS FIT_ISA_LEVELS)
            fit_compile_kernel(${model} ${variant} ${level} "${source}" model-${model}-${variant}
                               objects symbols)
        endforeach()
        if(NOT arg_NO_INSTALL)
            fit_live_kernel(${model} ${variant} "${source}" model-${model}-${variant})
        endif()
        if(more)
            fit_compile_gpu(${model} "${more}" model-${model}-${variant} objects gpu)
        endif()
    endforeach()
    set(program homodyne-${model})
    set(live)
    foreach(variant IN LISTS variants)
        if(TARGET live-${model}-${variant})
            list(APPEND live live-${model}-${variant})
        endif()
    endforeach()
    if(gpu) # for tests of the kernels
        set(FIT_GPU_OBJECTS_${model} "${CMAKE_CURRENT_BINARY_DIR}/registry_${model}.c" ${objects} CACHE INTERNAL "")
    endif()
    if(NOT arg_NO_INSTALL)
        fit_write_registry(${model} "${symbols}" "${gpu}")
        fit_link_module(${model} "${objects}")
        install(TARGETS module-${model} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/homodyne-gen)
    endif()
    if(FIT_LOADED_FITTERS AND NOT arg_NO_INSTALL)
        set(program module-${model})
        fit_write_fitter(${model})
    else()
        fit_link_program(${model} "${objects}" "${symbols}" "${gpu}")
    endif()
    if(live)
        add_dependencies(${program} ${live})
    endif()
    if(NOT FIT_LOADED_FITTERS AND NOT arg_NO_INSTALL)
        install(TARGETS homodyne-${model} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    endif()
    if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
        add_custom_command(TARGET ${program} POST_BUILD
            COMMAND "${CMAKE_COMMAND}" "-DPROGRAM=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/homodyne-${model}"
                    "-DFILES=${checks}"
                    -P "${PROJECT_SOURCE_DIR}/build-aux/SelfCheck.cmake"
            COMMENT "Checking the kernels of ${model} against the interpreter"
            VERBATIM)
    endif()
endfunction()

# fit_add_functional(NAME FILE path.lua [GPU] [NO_PROGRAM | NO_INSTALL] [IMAGING]): the program homodyne-NAME of an
# objective of arrays (objective "NAME" {...}), which reads arrays by name, or (IMAGING) observations of
# interferometers; GPU: also kernels for accelerators, as in fit_add_model; NO_PROGRAM: its objects alone,
# FIT_FUNCTIONAL_NAME.
# An emitted file defines   const struct fit_functional FIT_KERNEL_SYMBOL
function(fit_add_functional model)
    cmake_parse_arguments(arg "GPU;NO_PROGRAM;NO_INSTALL;IMAGING" "FILE" "" ${ARGN})
    set(dir "${CMAKE_CURRENT_BINARY_DIR}/${model}")
    file(MAKE_DIRECTORY "${dir}")
    set(source "${dir}/${model}.c")
    set(more)
    set(emitted c)
    set(gpu)
    if(arg_GPU)
        set(more "${dir}/${model}_gpu.c")
        set(emitted c,gpu)
    endif()
    add_custom_command(
        OUTPUT "${source}" ${more}
        COMMAND ${FIT_GENERATOR} "${arg_FILE}" -o "${dir}" --emit=${emitted}
        DEPENDS ${FIT_GENERATOR} "${arg_FILE}"
        COMMENT "Compiling the objective ${model}"
        VERBATIM)
    add_custom_target(model-${model}-fast DEPENDS "${source}")
    set(objects)
    set(symbols)
    foreach(level IN LISTS FIT_ISA_LEVELS)
        fit_compile_kernel(${model} fast ${level} "${source}" model-${model}-fast objects symbols)
    endforeach()
    if(arg_GPU)
        fit_compile_gpu(${model} "${more}" model-${model}-fast objects gpu)
    endif()
    set(text "/* The objective ${model}, from the best instruction set to the worst.  Made by the build. */\n")
    string(APPEND text "#include \"fit/gpu_program.h\"\n#include \"functional/functional.h\"\n\n")
    foreach(symbol IN LISTS symbols)
        string(APPEND text "extern const struct fit_functional ${symbol};\n")
    endforeach()
    string(APPEND text "\nconst struct fit_functional *const fit_functionals[] = {\n")
    foreach(symbol IN LISTS symbols)
        string(APPEND text "    &${symbol},\n")
    endforeach()
    string(APPEND text "    0,\n};\n")
    fit_gpu_table("${gpu}" text)
    set(registry "${CMAKE_CURRENT_BINARY_DIR}/registry_${model}.c")
    file(CONFIGURE OUTPUT "${registry}" CONTENT "${text}" @ONLY)
    add_library(functional-${model} OBJECT "${registry}")
    target_include_directories(functional-${model} PRIVATE "${PROJECT_SOURCE_DIR}/runtime"
                               "${PROJECT_SOURCE_DIR}/runtime/include" "${PROJECT_SOURCE_DIR}")
    target_link_libraries(functional-${model} PRIVATE fit_warnings)
    set(FIT_FUNCTIONAL_${model} $<TARGET_OBJECTS:functional-${model}> ${objects} CACHE INTERNAL "")
    if(arg_NO_PROGRAM)
        return()
    endif()
    set(program arrays/program.c)
    if(arg_IMAGING)
        set(program imaging/imager.c)
    endif()
    add_executable(homodyne-${model} "${PROJECT_SOURCE_DIR}/runtime/${program}" ${FIT_FUNCTIONAL_${model}})
    target_link_libraries(homodyne-${model} PRIVATE homodyne-fit fit_warnings)
    target_compile_options(homodyne-${model} PRIVATE -ffp-contract=off)
    if(NOT arg_NO_INSTALL)
        install(TARGETS homodyne-${model} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    endif()
endfunction()

function(fit_add_kernel_program model)
    cmake_parse_arguments(arg "" "" "SOURCES" ${ARGN})
    set(objects)
    set(symbols)
    foreach(source IN LISTS arg_SOURCES)
        cmake_path(GET source STEM variant)
        string(REGEX REPLACE "^${model}_?" "" variant "${variant}")
        if(NOT variant)
            set(variant fast)
        endif()
        foreach(level IN LISTS FIT_ISA_LEVELS)
            fit_compile_kernel(${model} ${variant} ${level} "${source}" "" objects symbols)
        endforeach()
    endforeach()
    fit_link_program(${model} "${objects}" "${symbols}" "")
endfunction()
