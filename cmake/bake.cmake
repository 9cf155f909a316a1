# A bundle of the registered operations, installed in the folder kiln beside the library, where the library finds it: programs that call these
# operations load no compiler. Off unless targets are named: a kernel takes 25 to 250 ms of a processor for each target.
set(KILN_BAKE_ARCHS "" CACHE STRING "CUDA targets of the installed bundle of operations: sm_80;sm_90;ptx")
set(KILN_BAKE_HOSTS "" CACHE STRING "Host targets of it: x86-64-v2;x86-64-v3;x86-64-v4")
set(KILN_BAKE_DTYPES "?ilfd" CACHE STRING "Dtypes of it, by NumPy's letters: variants that have others are left out; empty: all")
set(KILN_BAKE_OPERATIONS "" CACHE STRING "Names of the operations in it; empty: all")

set(kiln_bundle)
if(NOT KILN_BAKE_ARCHS AND NOT KILN_BAKE_HOSTS)
    return()
endif()
if(NOT TARGET kiln_command OR CMAKE_CROSSCOMPILING)
    message(FATAL_ERROR "KILN_BAKE_ARCHS and KILN_BAKE_HOSTS need the command, built for this machine (KILN_BUILD_COMMAND=ON)")
endif()
set(kiln_bundle ${PROJECT_BINARY_DIR}/generated/bundle/operations.kiln)
set(record ${PROJECT_BINARY_DIR}/generated/bundle/operations.record)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/generated/bundle)
list(JOIN KILN_BAKE_OPERATIONS "," names)
set(targets)
foreach(kind arch host)
    string(TOUPPER ${kind} upper)
    if(KILN_BAKE_${upper}S)
        list(JOIN KILN_BAKE_${upper}S "," words)
        list(APPEND targets --${kind} ${words})
    endif()
endforeach()
add_custom_command(
    OUTPUT ${kiln_bundle}
    COMMAND kiln_operation_records ${record} "${KILN_BAKE_DTYPES}" "${names}"
    COMMAND kiln_command bake ${record} ${targets} -o ${kiln_bundle}
    DEPENDS kiln_operation_records kiln_command kiln VERBATIM)
add_custom_target(kiln_operations_bundle ALL DEPENDS ${kiln_bundle})
