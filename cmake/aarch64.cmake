# aarch64.cmake: a toolchain file, to build for AArch64 on another machine with Debian's cross compiler:
#     cmake -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64.cmake -DINGOT_COMPILER=OFF -DINGOT_MSLC=<this machine's mslc> ...
# INGOT_SYSROOT is a folder with what there is of libpng, libjpeg and cmocka for arm64 (scripts/sysroot makes it).
# Programs run under qemu, where there is one; the compiler they start is this machine's own.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(INGOT_SYSROOT "" CACHE PATH "folder of further libraries for arm64")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES INGOT_SYSROOT)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
foreach(language OBJC OBJCXX)
    set(CMAKE_${language}_COMPILER_TARGET aarch64-linux-gnu)
endforeach()
set(CMAKE_FIND_ROOT_PATH ${INGOT_SYSROOT} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
foreach(kind EXE SHARED MODULE)
    set(CMAKE_${kind}_LINKER_FLAGS_INIT -L${INGOT_SYSROOT}/usr/lib/aarch64-linux-gnu)
endforeach()
find_program(QEMU_AARCH64 NAMES qemu-aarch64 qemu-aarch64-static)
if(QEMU_AARCH64)
    set(libraries lib/aarch64-linux-gnu)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${QEMU_AARCH64} -L /usr/aarch64-linux-gnu
        -E LD_LIBRARY_PATH=${INGOT_SYSROOT}/usr/${libraries}:${INGOT_SYSROOT}/${libraries})
endif()
