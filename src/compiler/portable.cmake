# portable.cmake: mslc with Clang, LLVM and lld inside, linked from their archives. It needs libc and libm, starts
# in 3 ms (20 ms with the shared libraries, whose addresses are put in at every start) and has the code generators of
# INGOT_TARGETS alone.
set(INGOT_TARGETS X86 AArch64 NVPTX CACHE STRING "code generators in a portable mslc")
set(LEFT_OUT ${LLVM_TARGETS_TO_BUILD})
list(REMOVE_ITEM LEFT_OUT ${INGOT_TARGETS})
list(TRANSFORM LEFT_OUT REPLACE "(.+)" "X(\\1)")
list(JOIN LEFT_OUT " " LEFT_OUT)
set_source_files_properties(portable.c PROPERTIES COMPILE_DEFINITIONS "MSL_TARGETS_LEFT_OUT=${LEFT_OUT}")
target_sources(mslc PRIVATE portable.c)

# All of LLVM's: the linker takes what is asked for. Of Clang's those that come with the front end.
file(GLOB ARCHIVES ${LLVM_ROOT}/lib/libLLVM*.a)
foreach(name Frontend CodeGen Parse Sema Serialization Driver Options Analysis AnalysisLifetimeSafety AST ASTMatchers
        Edit Lex APINotes Support Basic)
    list(APPEND ARCHIVES ${LLVM_ROOT}/lib/libclang${name}.a)
endforeach()
# Addresses are fixed when linking: nothing is left to be done at the start, of which there is one for each program
# that compiles a kernel.
target_link_options(mslc PRIVATE -fuse-ld=lld -B${LLVM_ROOT}/bin -static-libgcc -static-libstdc++
    -Wl,--gc-sections,--icf=safe,-O2,--as-needed,-s,-w)
target_link_libraries(mslc PRIVATE msl_compiler msl_bridge ingot_os ${LLVM_ROOT}/lib/liblldELF.a
    ${LLVM_ROOT}/lib/liblldCommon.a ${ARCHIVES} ${INGOT_ZLIB_A} ${INGOT_ZSTD_A} Threads::Threads ${CMAKE_DL_LIBS} m)
