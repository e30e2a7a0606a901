# fit_live_kernel(MODEL VARIANT SOURCE DEPENDS): an emitted kernel as WebAssembly for pages,
# share/homodyne-gen/live/MODEL.wasm or MODEL_VARIANT.wasm; homodyne-report puts it into reports (report/kernel/).
#
# Needs clang with the target wasm32-wasi, wasm-ld and a C library for it (Debian: clang lld wasi-libc
# libclang-rt-dev-wasm32).  Where one of them is missing, nothing is made, and pages have no sliders.
#
# Products and sums stay apart (-ffp-contract=off) and there are no vectors: WebAssembly has no fused multiplication, so
# that a page gives the same numbers on every processor.
find_program(FIT_LIVE_CLANG NAMES clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14
             DOC "clang for WebAssembly; empty: none")
set(FIT_LIVE_FLAGS --target=wasm32-wasi -std=gnu11 -Os -flto -ffp-contract=off -fno-math-errno)
set(FIT_LIVE_LINK -nostartfiles -Wl,--no-entry,--gc-sections,--strip-all,-z,stack-size=262144 -lm)

# Can it?  Asked once for a compiler.
if(FIT_LIVE_CLANG AND NOT FIT_LIVE_ASKED STREQUAL FIT_LIVE_CLANG)
    set(probe "${CMAKE_BINARY_DIR}/CMakeFiles/live-probe")
    file(WRITE "${probe}.c" "#include <math.h>\n__attribute__((export_name(\"f\"))) double f(double x)\n"
                            "{\n    return exp(x) + fma(x, x, x);\n}\n")
    execute_process(COMMAND "${FIT_LIVE_CLANG}" ${FIT_LIVE_FLAGS} "${probe}.c" ${FIT_LIVE_LINK} -o "${probe}.wasm"
                    RESULT_VARIABLE code OUTPUT_QUIET ERROR_QUIET)
    if(code EQUAL 0)
        set(FIT_LIVE ON CACHE INTERNAL "kernels can be made as WebAssembly")
    else()
        set(FIT_LIVE OFF CACHE INTERNAL "")
    endif()
    set(FIT_LIVE_ASKED "${FIT_LIVE_CLANG}" CACHE INTERNAL "")
endif()
if(NOT FIT_LIVE)
    message(STATUS "No clang for WebAssembly: reports will have no sliders")
endif()

function(fit_live_kernel model variant source depends)
    if(NOT FIT_LIVE)
        return()
    endif()
    set(name ${model})
    if(NOT variant STREQUAL "fast")
        string(APPEND name _${variant})
    endif()
    set(folder "${CMAKE_BINARY_DIR}/share/homodyne-gen/live")
    file(MAKE_DIRECTORY "${folder}")
    set(files "${PROJECT_SOURCE_DIR}/report/kernel/live_kernel.c" "${PROJECT_SOURCE_DIR}/report/kernel/live_kernel.h")
    file(GLOB headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/runtime/include/fit/*.h")
    add_custom_command(
        OUTPUT "${folder}/${name}.wasm"
        COMMAND "${CMAKE_COMMAND}" "-DCLANG=${FIT_LIVE_CLANG}" "-DFLAGS=${FIT_LIVE_FLAGS}" "-DLINK=${FIT_LIVE_LINK}"
                "-DROOT=${PROJECT_SOURCE_DIR}" "-DSOURCE=${source}" "-DOUTPUT=${folder}/${name}.wasm"
                -P "${PROJECT_SOURCE_DIR}/build-aux/live-kernel.cmake"
        DEPENDS "${source}" ${files} ${headers} "${PROJECT_SOURCE_DIR}/build-aux/live-kernel.cmake"
        COMMENT "The kernel of ${name} for pages"
        VERBATIM)
    add_custom_target(live-${model}-${variant} ALL DEPENDS "${folder}/${name}.wasm")
    add_dependencies(live-${model}-${variant} ${depends})
    install(FILES "${folder}/${name}.wasm" DESTINATION share/homodyne-gen/live)
endfunction()
