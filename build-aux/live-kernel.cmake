# Compiles one emitted kernel as WebAssembly; LiveKernel.cmake calls it:
#     cmake -DCLANG= -DFLAGS= -DLINK= -DROOT= -DSOURCE= -DOUTPUT= -P live-kernel.cmake
execute_process(
    COMMAND "${CLANG}" ${FLAGS} -I "${ROOT}" -I "${ROOT}/runtime/include" -DFIT_KERNEL_SYMBOL=fit_kernel_page
            -DFIT_KERNEL_ISA="wasm32" -DFIT_ISA_SUFFIX=_page "${ROOT}/report/kernel/live_kernel.c" "${SOURCE}" ${LINK}
            -o "${OUTPUT}.new"
    RESULT_VARIABLE code)
if(NOT code EQUAL 0)
    message(FATAL_ERROR "${SOURCE}: no WebAssembly could be made of it")
endif()
file(RENAME "${OUTPUT}.new" "${OUTPUT}")
