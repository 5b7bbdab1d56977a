# SPDX-License-Identifier: Apache-2.0
# Hashes everything that decides what mslc produces and writes it as C: all of src/compiler and src/abi, and
# what those include of the rest of the tree, with the .c beside each header of src/base. Run by the build:
#   cmake -DSOURCE=<repository> -DOUT=<file.c> -DLLVM=<version> [-DDEPFILE=<file.d>] -P compiler_id.cmake
# A line "<path> <hash>" per file stands in the comment of the file, so that one can ask why an id changed.
cmake_minimum_required(VERSION 3.25)
file(GLOB_RECURSE files RELATIVE ${SOURCE} ${SOURCE}/src/compiler/* ${SOURCE}/src/abi/*)
set(todo ${files})
while(todo)
    list(POP_FRONT todo f)
    if(NOT f MATCHES "\\.(c|h|cpp|def)$" OR f MATCHES "/stdlib/") # those headers see only themselves
        continue()
    endif()
    file(STRINGS ${SOURCE}/${f} includes REGEX "^ *#include [\"<](base|os|ingot)/")
    foreach(line ${includes})
        string(REGEX REPLACE "^ *#include [\"<]([^\">]*)[\">].*" "\\1" name "${line}")
        string(REGEX REPLACE "\\.h$" ".c" code "src/${name}")
        foreach(found src/${name} include/${name} ${code})
            if(EXISTS ${SOURCE}/${found} AND NOT found IN_LIST files)
                list(APPEND files ${found})
                list(APPEND todo ${found})
            endif()
        endforeach()
    endforeach()
endwhile()
list(SORT files)
set(all "llvm ${LLVM}\n")
foreach(f ${files})
    file(SHA256 ${SOURCE}/${f} h)
    string(APPEND all "${f} ${h}\n")
endforeach()
string(SHA256 id "${all}")
string(REPLACE "\n" "\n// " list "// ${all}")
file(CONFIGURE OUTPUT ${OUT} CONTENT "// Made by compiler_id.cmake from
@list@
#include \"abi/compiler_id.h\"
const char *compiler_id(void) { return \"@id@\"; }
" @ONLY)
if(DEPFILE)
    list(TRANSFORM files PREPEND "${SOURCE}/")
    list(JOIN files " " dependencies)
    file(WRITE ${DEPFILE} "${OUT}: ${dependencies}\n")
endif()
