# Runs PROGRAM selfcheck FILES after linking; removes PROGRAM when its kernels are wrong, so that nobody fits
# with it.  FIT_SELFCHECK=0 in the environment leaves the check out.
if("$ENV{FIT_SELFCHECK}" STREQUAL "0")
    return()
endif()
execute_process(COMMAND "${PROGRAM}" selfcheck --quiet ${FILES} RESULT_VARIABLE result)
if(NOT result EQUAL 0)
    file(REMOVE "${PROGRAM}")
    message(FATAL_ERROR "the kernels of ${PROGRAM} failed their check; the program is removed")
endif()
