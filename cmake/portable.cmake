# portable.cmake: what is installed runs on any Linux with glibc 2.35. INGOT_PORTABLE links Clang, LLVM and libstdc++
# into mslc (src/compiler/portable.cmake); shared libraries that are not part of every system (libpng, libjpeg, Embree)
# are installed along with what uses them, in lib/ingot/bundled (packaging/CMakeLists.txt). It is how Ingot is built
# wherever the archives are there: what is tested is what is shipped.
set(PORTABLE ON)
if(INGOT_SANITIZE)
    set(PORTABLE OFF)
endif()
option(INGOT_PORTABLE "link mslc from LLVM's archives, install the other libraries that are used" ${PORTABLE})
find_library(INGOT_ZLIB_A libz.a)
find_library(INGOT_ZSTD_A libzstd.a)
mark_as_advanced(INGOT_ZLIB_A INGOT_ZSTD_A)
set(INGOT_PORTABLE_COMPILER OFF)
if(INGOT_PORTABLE AND INGOT_COMPILER)
    if(INGOT_ZLIB_A AND INGOT_ZSTD_A AND EXISTS ${LLVM_ROOT}/lib/libclangFrontend.a
            AND EXISTS ${LLVM_ROOT}/lib/libLLVMCore.a AND EXISTS ${LLVM_ROOT}/bin/ld.lld)
        set(INGOT_PORTABLE_COMPILER ON)
    else()
        message(STATUS "mslc will need LLVM's shared libraries: archives of Clang and LLVM (llvm-22-dev, "
            "libclang-22-dev), ld.lld (lld-22), libz.a or libzstd.a are not here")
    endif()
endif()

# Where a target that is installed looks for libraries. The build tree is laid out like an installation and takes the
# same path: where CMake has to rewrite one it fills it up with colons, and the loader reads an empty entry as the
# current folder.
function(ingot_run_path target)
    set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "${ARGN}")
endfunction()

# A target whose shared libraries are installed along with it. Its run path is of the kind (DT_RPATH) that counts for
# the libraries of its libraries too: those are another's, and have none.
function(ingot_brings_along target)
    if(INGOT_PORTABLE)
        target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
        set_property(GLOBAL APPEND PROPERTY INGOT_BUNDLING ${target})
    endif()
endfunction()
