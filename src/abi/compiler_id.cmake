# SPDX-License-Identifier: Apache-2.0
# Hashes everything that decides what mslc produces and writes it as C. Run by the build:
#   cmake -DSOURCE=<repository> -DOUT=<file.c> -DLLVM=<version> -P compiler_id.cmake
cmake_minimum_required(VERSION 3.25)
file(GLOB_RECURSE files RELATIVE ${SOURCE} ${SOURCE}/src/compiler/* ${SOURCE}/src/abi/*)
list(SORT files)
set(all "llvm ${LLVM}\n")
foreach(f ${files})
    file(SHA256 ${SOURCE}/${f} h)
    string(APPEND all "${f} ${h}\n")
endforeach()
string(SHA256 id "${all}")
file(CONFIGURE OUTPUT ${OUT} CONTENT "// Made by compiler_id.cmake.
#include \"abi/compiler_id.h\"
const char *compiler_id(void) { return \"@id@\"; }
" @ONLY)
