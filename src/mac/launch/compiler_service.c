// SPDX-License-Identifier: Apache-2.0
// compiler_service.c: libMTLCompiler, the private library of macOS that compiles Metal source to a
// library without a device: the functions that programs outside Apple call, on libingot.
//
// Request of type 13: u64 bytes of the source, u64 bytes of the options (both with zeros behind the
// text), source, options as on the command line of `metal`. Reply: u64 0, u32 bytes of this header,
// u32 bytes of the warnings, warnings, library (abi/mtlb.h). The block is called once, before the
// function returns, and never copied: of the blocks that Python makes only `invoke` is valid.
#include "abi/mtlb.h"
#include "abi/requests.h"
#include "base/text.h"
#include "ingot/metal.h"
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef struct Service {
    MTLDevice *device;
} Service;

typedef struct Block {
    void *isa;
    int flags, reserved;
    void (*invoke)(void *block, int32_t error, const void *reply, size_t n_bytes,
                   const char *message);
} Block;

enum { COMPILE = 13, HEADER_BYTES = 16 };
enum { FINE = 0, WRONG_SOURCE = 1, WRONG_REQUEST = 2 }; // what the block is told

EXPORT void *MTLCodeGenServiceCreate(const char *name);
EXPORT void MTLCodeGenServiceDestroy(void *service);
EXPORT void MTLCodeGenServiceBuildRequest(void *service, void *unused, int32_t type,
                                          const void *request, size_t n_bytes, void *block);

EXPORT void *MTLCodeGenServiceCreate(const char *name) {
    Service *s = calloc(1, sizeof *s);
    (void)name;
    if (s) s->device = mtl_create_system_default_device();
    return s;
}

EXPORT void MTLCodeGenServiceDestroy(void *service) {
    Service *s = service;
    if (s) mtl_release(s->device);
    free(s);
}

// The next word of the options; quotation marks hold words together. NULL: the end.
static char *next_word(char **at) {
    while (**at == ' ') ++*at;
    if (!**at) return NULL;
    char *word = *at, *to = word;
    for (bool quoted = false; **at && (quoted || **at != ' '); ++*at)
        if (**at == '"')
            quoted = !quoted;
        else
            *to++ = **at;
    if (**at) ++*at;
    *to = 0;
    return word;
}

static bool starts(const char *text, const char *with) {
    return !strncmp(text, with, strlen(with));
}

// The options that change the meaning of a source; the word that is not known, or NULL.
static const char *read_options(char *text, MTLCompileOptions *o) {
    static const char *const idle[] = {
        "--driver-mode=",  "-fmodules-cache-path=", "-fno-caret-", "-O", "-W", "-w", "-g",
        "-frecord-sources"};
    for (char *word; (word = next_word(&text));) {
        uint32_t version;
        bool known = false;
        if (!strcmp(word, "-fno-fast-math")) {
            o->math_mode_is_set = true, o->math_mode = MTLMathModeSafe;
        } else if (!strcmp(word, "-ffast-math")) {
            o->math_mode_is_set = true, o->math_mode = MTLMathModeFast;
        } else if (starts(word, "-std=") && msl_language_version(word + 5, &version)) {
            o->language_version = (MTLLanguageVersion)version;
        } else if (!strcmp(word, "-x")) {
            next_word(&text);
        } else {
            for (size_t i = 0; i < sizeof idle / sizeof *idle; i++) known |= starts(word, idle[i]);
            if (!known) return word;
        }
    }
    return NULL;
}

static void answer(const Block *b, void *block, const MTLLibrary *library, const Mtlb *how,
                   const char *warnings) {
    Mtlb parts = *how;
    size_t n_wrapped = 0, n_warnings = *warnings ? strlen(warnings) + 1 : 0;
    void *data = mtl_library_copy_data((MTLLibrary *)(uintptr_t)library, &parts.library_bytes);
    parts.library = data;
    char *wrapped = data ? mtlb_wrap(&parts, &n_wrapped) : NULL;
    char *reply = wrapped ? malloc(HEADER_BYTES + n_warnings + n_wrapped) : NULL;
    if (reply) {
        const uint32_t head[4] = {0, 0, HEADER_BYTES, (uint32_t)n_warnings};
        memcpy(reply, head, HEADER_BYTES);
        memcpy(reply + HEADER_BYTES, warnings, n_warnings);
        memcpy(reply + HEADER_BYTES + n_warnings, wrapped, n_wrapped);
        b->invoke(block, FINE, reply, HEADER_BYTES + n_warnings + n_wrapped, NULL);
    } else {
        b->invoke(block, WRONG_REQUEST, NULL, 0, "error: out of memory");
    }
    free(reply), free(wrapped);
    mtl_free_data(data);
}

static void compile(Service *s, const Block *b, void *block, const char *source, size_t n,
                    char *options) {
    MTLCompileOptions o = {0};
    const char *unknown = read_options(options, &o);
    if (unknown) {
        char *why = text_format("error: the option '%s' is not known", unknown);
        b->invoke(block, WRONG_REQUEST, NULL, 0, why ? why : "error: out of memory");
        free(why);
        return;
    }
    MTLError *error = NULL;
    MTLLibrary *library =
        mtl_device_new_library_with_source_bytes(s->device, source, n, &o, &error);
    const char *said = error ? mtl_error_localized_description(error) : "";
    Mtlb how = {.math_mode = o.math_mode_is_set ? (uint32_t)o.math_mode : MTLMathModeFast,
                .language_version = (uint32_t)o.language_version,
                .source = source,
                .source_bytes = n};
    if (library)
        answer(b, block, library, &how, said);
    else
        b->invoke(block, WRONG_SOURCE, NULL, 0, said);
    mtl_release(error);
    mtl_release(library);
}

EXPORT void MTLCodeGenServiceBuildRequest(void *service, void *unused, int32_t type,
                                          const void *request, size_t n_bytes, void *block) {
    Service *s = service;
    const Block *b = block;
    uint64_t n[2] = {0, 0};
    (void)unused;
    if (!b) return;
    if (request && n_bytes >= sizeof n) memcpy(n, request, sizeof n);
    const size_t room = n_bytes >= sizeof n ? n_bytes - sizeof n : 0;
    const char *wrong = !s || !s->device  ? "error: there is no device"
                        : type != COMPILE ? "error: requests of this type are not known"
                        : n_bytes < sizeof n || n[0] > room || n[1] > room - n[0]
                            ? "error: the request is damaged"
                            : NULL;
    const char *source = (const char *)request + sizeof n;
    char *options = wrong ? NULL : strndup(source + n[0], n[1]);
    if (!wrong && !options) wrong = "error: out of memory";
    if (wrong)
        b->invoke(block, WRONG_REQUEST, NULL, 0, wrong);
    else
        compile(s, b, block, source, strnlen(source, n[0]), options);
    free(options);
}
