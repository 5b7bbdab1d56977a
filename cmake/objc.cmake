# Objective-C in this build: clang, which writes the ABI that src/mac/objc runs (gcc does not). Without clang,
# or with INGOT_OBJC=OFF, what is written in Objective-C is left out; the runtime itself is C.
option(INGOT_OBJC "build the Objective-C runtime and Foundation" ON)
if(INGOT_OBJC AND NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|aarch64|arm64")
    message(STATUS "no Objective-C: the runtime knows x86-64 and AArch64 only")
    set(INGOT_OBJC OFF)
endif()
if(INGOT_OBJC)
    enable_language(ASM)
    find_program(INGOT_CLANG NAMES clang-22)
    find_program(INGOT_CLANGXX NAMES clang++-22)
    if(INGOT_CLANG AND INGOT_CLANGXX)
        set(CMAKE_OBJC_COMPILER ${INGOT_CLANG})
        set(CMAKE_OBJCXX_COMPILER ${INGOT_CLANGXX})
        enable_language(OBJC OBJCXX)
        if(CCACHE)
            set(CMAKE_OBJC_COMPILER_LAUNCHER ${CCACHE})
            set(CMAKE_OBJCXX_COMPILER_LAUNCHER ${CCACHE})
        endif()
    else()
        message(STATUS "no Foundation and no tests of Objective-C: clang-22 is not here")
    endif()
endif()

# Installed, the libraries lie in one folder, below libingot's and above what they bring along (portable.cmake).
set(INGOT_MAC_RPATH "$ORIGIN;$ORIGIN/..;$ORIGIN/bundled")

# The flags that files in Objective-C need. ARC: automatic counting.
set(INGOT_OBJC_FLAGS -fobjc-runtime=macosx-10.15 -fblocks -fexceptions -fobjc-exceptions)
function(ingot_objc_target target)
    cmake_parse_arguments(ARG "ARC" "" "" ${ARGN})
    target_compile_options(${target} PRIVATE
        $<$<COMPILE_LANGUAGE:OBJC,OBJCXX>:${INGOT_OBJC_FLAGS}>
        $<$<COMPILE_LANGUAGE:OBJC>:-std=gnu17> $<$<COMPILE_LANGUAGE:OBJC,OBJCXX>:-Wall>
        $<$<COMPILE_LANGUAGE:OBJC,OBJCXX>:-Wextra>)
    # CMake knows no run path for Objective-C on this system: the linker is called as for C or C++.
    get_target_property(sources ${target} SOURCES)
    if(sources MATCHES "\\.mm")
        set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
    else()
        set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
    endif()
    if(ARG_ARC)
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:OBJC,OBJCXX>:-fobjc-arc>)
    endif()
endfunction()
