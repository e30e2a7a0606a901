# Warnings and sanitizers: one interface target, linked by every target of the project.
option(FIT_WERROR "treat warnings as errors" OFF)
option(FIT_FUZZ "build the targets of tests/fuzz with libFuzzer (clang)" OFF)

add_library(fit_warnings INTERFACE)
target_compile_options(fit_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes)
if(FIT_WERROR)
    target_compile_options(fit_warnings INTERFACE -Werror)
endif()
if(FIT_SANITIZE)
    target_compile_options(fit_warnings INTERFACE
        -fsanitize=${FIT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(fit_warnings INTERFACE -fsanitize=${FIT_SANITIZE})
endif()

# At the end of a directory with tests: sanitized programs are slow.
function(fit_stretch_timeouts)
    get_property(tests DIRECTORY PROPERTY TESTS)
    foreach(test IN LISTS tests)
        get_test_property(${test} TIMEOUT seconds)
        if(FIT_SANITIZE AND seconds)
            math(EXPR seconds "${seconds} * 10")
            set_tests_properties(${test} PROPERTIES TIMEOUT ${seconds})
        endif()
    endforeach()
endfunction()

if(FIT_FUZZ)
    target_compile_options(fit_warnings INTERFACE -fsanitize=fuzzer-no-link)
    target_compile_definitions(fit_warnings INTERFACE FIT_FUZZ) # checksums are not looked at
endif()
