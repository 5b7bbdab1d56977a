# embed.cmake: texts (kernels, scripts) as constants of a library, so that it needs no folder of
# sources at run time. Used in two ways: included, it gives ingot_embed(); run with -P, it writes the
# two files for it.
#
#   ingot_embed(target prefix files...)
#
# makes a static library. Who links it finds <prefix>s.h, which declares for a file softmax.metal
# `extern const char <prefix>_softmax_metal[]`, and the table of all of them, <prefix>s
# (base/embedded.h).
if(NOT CMAKE_SCRIPT_MODE_FILE)
    set(INGOT_EMBED ${CMAKE_CURRENT_LIST_FILE})
    function(ingot_embed TARGET PREFIX)
        set(FILE ${CMAKE_CURRENT_BINARY_DIR}/${PREFIX}s)
        add_custom_command(OUTPUT ${FILE}.c ${FILE}.h
            COMMAND ${CMAKE_COMMAND} -DOUT=${FILE} -DPREFIX=${PREFIX} "-DFILES=${ARGN}"
                    -P ${INGOT_EMBED}
            WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
            DEPENDS ${ARGN} ${INGOT_EMBED} COMMENT "Embedding ${PREFIX}s" VERBATIM)
        add_library(${TARGET} STATIC ${FILE}.c ${FILE}.h)
        target_include_directories(${TARGET} PUBLIC ${CMAKE_CURRENT_BINARY_DIR})
    endfunction()
    return()
endif()

set(HEAD "// Made by embed.cmake.\n#pragma once\n#include \"base/embedded.h\"\n\n")
set(TEXTS "")
set(TABLE "")
foreach(file ${FILES})
    get_filename_component(name ${file} NAME)
    string(MAKE_C_IDENTIFIER ${PREFIX}_${name} id)
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    if(bytes MATCHES "0x[89a-f]")
        message(FATAL_ERROR "${file}: only ASCII can be embedded")
    endif()
    string(APPEND HEAD "extern const char ${id}[];\n")
    string(APPEND TEXTS "const char ${id}[] = {${bytes}0};\n")
    string(APPEND TABLE "    {\"${name}\", ${id}},\n")
endforeach()
string(APPEND HEAD "extern const EmbeddedText ${PREFIX}s[]; // ends with a NULL name\n")
get_filename_component(header ${OUT}.h NAME)
file(WRITE ${OUT}.c "// Made by embed.cmake.\n#include \"${header}\"\n\n${TEXTS}"
    "const EmbeddedText ${PREFIX}s[] = {\n${TABLE}    {0, 0},\n};\n")
file(WRITE ${OUT}.h "${HEAD}")
