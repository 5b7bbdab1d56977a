# harden.cmake: what a fault in our own code shall not become. Addresses are random in programs too (PIE), every symbol
# is bound before the first line runs and its table read-only (-z now, relro), buffers on the stack have a guard, calls
# of libc know the sizes they write to, and a shadow stack (CET) or signed return addresses (AArch64) watch returns where
# the system keeps one. tests/hostile/test_binaries.py reads all of it back from the files.
include(CheckPIESupported)
check_pie_supported(LANGUAGES C CXX)
option(INGOT_HARDENED "guards of the stack, of returns and of symbol tables" ON)
if(NOT INGOT_HARDENED OR INGOT_SANITIZE)
    return()
endif()
set(COMPILED "$<COMPILE_LANGUAGE:C,CXX,OBJC,OBJCXX>")
add_compile_options($<${COMPILED}:-fstack-protector-strong>)
if(CMAKE_BUILD_TYPE MATCHES "Rel")
    add_compile_options($<${COMPILED}:-U_FORTIFY_SOURCE> $<${COMPILED}:-D_FORTIFY_SOURCE=2>)
endif()
add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    add_compile_options(-fcf-protection=full)
    # Said to the linker: Debian's start files, which carry no mark, would take it from all that is linked with them.
    # Only of the shadow stack: their entry points have no landing pads (IBT).
    add_link_options(-Wl,-z,shstk)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    add_compile_options(-mbranch-protection=standard)
endif()
