// SPDX-License-Identifier: Apache-2.0
// apple_metallib.c: see apple_metallib.h. Every offset is compared with what is left before it is
// added to anything, so that none can overflow.
#include "abi/apple_metallib.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEADER_BYTES = 88,
    KNOWN_MAJOR = 2,
    SECTIONS_AT = 24,
    FAT_HEADER = 8,
    FAT_ENTRY = 20,
    WRAPPER_HEADER = 20,
    CPU_AIR64 = 0x1000017,
};
typedef enum Section { FUNCTIONS, PUBLIC_METADATA, PRIVATE_METADATA, BITCODE, N_SECTIONS } Section;

static const unsigned char ours[8] = {'M', 'T', 'L', 'B', 'I', 'N', 'G', 'T'};
static const unsigned char fat_magic[4] = {0xbe, 0xba, 0xfe, 0xcb};
static const unsigned char mach_fat_magic[4] = {0xca, 0xfe, 0xba, 0xbe}; // big-endian numbers
static const unsigned char wrapper_magic[4] = {0xde, 0xc0, 0x17, 0x0b};
static const unsigned char bitcode_magic[4] = {'B', 'C', 0xc0, 0xde};

static uint64_t number(const unsigned char *at, unsigned n_bytes) {
    uint64_t v = 0;
    for (unsigned i = n_bytes; i-- > 0;) v = v << 8 | at[i];
    return v;
}
static uint16_t u16(const unsigned char *at) { return (uint16_t)number(at, 2); }
static uint32_t u32(const unsigned char *at) { return (uint32_t)number(at, 4); }
static uint64_t u64(const unsigned char *at) { return number(at, 8); }

static bool begins(AppleBytes b, const void *magic, size_t n) {
    return b.n_bytes >= n && !memcmp(b.data, magic, n);
}

// A part of some bytes. False: it is not all inside.
static bool part(AppleBytes whole, uint64_t offset, uint64_t n, AppleBytes *out) {
    if (offset > whole.n_bytes || n > whole.n_bytes - offset) return false;
    *out = (AppleBytes){whole.data + offset, (size_t)n};
    return true;
}

// ---- Other formats ----

static bool is_ours(AppleBytes b) {
    return begins(b, ours, sizeof ours) || begins(b, "INGOTLIB", 8);
}

typedef struct Foreign {
    const char *magic;
    size_t n;
    const char *what;
} Foreign;
static const Foreign foreigners[] = {
    {"\x03\x02\x23\x07", 4, "SPIR-V, as Vulkan uses it"},
    {"\x07\x23\x02\x03", 4, "SPIR-V, as Vulkan uses it"},
    {"DXBC", 4, "a shader for Direct3D (DXBC or DXIL)"},
    {"\x7f"
     "ELF",
     4, "an ELF file"},
    {"\xcf\xfa\xed\xfe", 4, "a Mach-O file"},
    {"INGOTARC", 8, "a binary archive of Ingot's"},
    {"PK\x03\x04", 4, "a zip file"},
};

static bool fail(AppleProblem *why, const char *text) {
    snprintf(why->text, sizeof why->text, "%s", text);
    return false;
}

static bool say_foreign(AppleBytes b, AppleProblem *why) {
    for (size_t i = 0; i < sizeof foreigners / sizeof *foreigners; i++)
        if (begins(b, foreigners[i].magic, foreigners[i].n)) {
            snprintf(why->text, sizeof why->text, "it is no metallib but %s", foreigners[i].what);
            return false;
        }
    return fail(why, b.n_bytes ? "it is no metallib" : "it is empty");
}

bool apple_metallib_recognised(const void *data, size_t n) {
    const AppleBytes b = {data, n};
    return (begins(b, "MTLB", 4) && !is_ours(b)) || begins(b, fat_magic, sizeof fat_magic) ||
           begins(b, wrapper_magic, sizeof wrapper_magic) ||
           begins(b, bitcode_magic, sizeof bitcode_magic);
}

// ---- Tags ----

bool apple_tag_next(AppleBytes *tags, AppleTag *tag) {
    enum { HEAD = 6 };
    if (tags->n_bytes < HEAD || !memcmp(tags->data, "ENDT", 4)) return false;
    const size_t n = u16(tags->data + 4);
    if (n > tags->n_bytes - HEAD) return false;
    memcpy(tag->name, tags->data, 4);
    tag->name[4] = 0;
    tag->value = (AppleBytes){tags->data + HEAD, n};
    *tags = (AppleBytes){tags->data + HEAD + n, tags->n_bytes - HEAD - n};
    return true;
}

// Metadata of a function: u32 bytes, then tags. Of files that have none it is empty.
static AppleBytes metadata(AppleBytes section, uint64_t offset) {
    AppleBytes head, tags = {0};
    if (!part(section, offset, 4, &head) || !part(section, offset + 4, u32(head.data), &tags))
        return (AppleBytes){0};
    return tags;
}

// ---- Functions ----

// Bytes of bitcode that nothing but its wrapper knows. 0: it has none.
static uint64_t wrapped_bytes(AppleBytes b) {
    if (b.n_bytes < WRAPPER_HEADER || !begins(b, wrapper_magic, sizeof wrapper_magic)) return 0;
    return (uint64_t)u32(b.data + 8) + u32(b.data + 12);
}

typedef struct Raw { // of a function, before it is checked
    uint64_t offsets[3], bitcode_bytes;
    bool has_offsets;
} Raw;

static bool take_name(AppleBytes value, AppleFunction *f) {
    const size_t n = value.n_bytes;
    if (!n || memchr(value.data, 0, n) != value.data + n - 1) return false;
    f->name = (const char *)value.data;
    return true;
}

// False: it has not the size that it must have.
static bool take_tag(const AppleTag *t, AppleFunction *f, Raw *raw) {
    const unsigned char *at = t->value.data;
    const size_t n = t->value.n_bytes;
    if (!strcmp(t->name, "NAME")) return take_name(t->value, f);
    if (!strcmp(t->name, "TYPE")) {
        if (n < 1) return false;
        f->stage = *at;
    } else if (!strcmp(t->name, "HASH")) {
        if (n < SHA256_BYTES) return false;
        f->hash = at;
    } else if (!strcmp(t->name, "MDSZ")) {
        if (n < 8) return false;
        raw->bitcode_bytes = u64(at);
    } else if (!strcmp(t->name, "OFFT")) {
        if (n < 24) return false;
        for (unsigned i = 0; i < 3; i++) raw->offsets[i] = u64(at + 8 * (size_t)i);
        raw->has_offsets = true;
    } else if (!strcmp(t->name, "VERS")) {
        if (n < 8) return false;
        f->air_major = u16(at), f->air_minor = u16(at + 2);
        f->language_major = u16(at + 4), f->language_minor = u16(at + 6);
    }
    return true;
}

static bool read_function(AppleBytes tags, const AppleBytes sections[N_SECTIONS],
                          AppleFunction *f) {
    Raw raw = {0};
    AppleBytes rest = {0};
    for (AppleTag t; apple_tag_next(&tags, &t);)
        if (!take_tag(&t, f, &raw)) return false;
    if (!f->name || !raw.has_offsets || tags.n_bytes < 4 || memcmp(tags.data, "ENDT", 4))
        return false;
    const AppleBytes code = sections[BITCODE];
    if (raw.offsets[2] > code.n_bytes) return false;
    part(code, raw.offsets[2], code.n_bytes - raw.offsets[2], &rest);
    if (!raw.bitcode_bytes) raw.bitcode_bytes = wrapped_bytes(rest);
    if (!raw.bitcode_bytes || !part(rest, 0, raw.bitcode_bytes, &f->bitcode)) return false;
    f->public_metadata = metadata(sections[PUBLIC_METADATA], raw.offsets[0]);
    f->private_metadata = metadata(sections[PRIVATE_METADATA], raw.offsets[1]);
    return true;
}

static bool damaged_function(uint32_t i, uint32_t n, AppleProblem *why) {
    snprintf(why->text, sizeof why->text, "it is damaged: function %u of %u cannot be read", i + 1,
             n);
    return false;
}

// `list` begins behind the count.
static bool read_functions(AppleMetallib *lib, AppleBytes list,
                           const AppleBytes sections[N_SECTIONS], AppleProblem *why) {
    for (uint32_t i = 0; i < lib->n_functions; i++) {
        AppleBytes tags;
        const uint32_t n = list.n_bytes < 4 ? 0 : u32(list.data);
        if (n < 4 || !part(list, 4, n - 4, &tags) ||
            !read_function(tags, sections, &lib->functions[i]))
            return damaged_function(i, lib->n_functions, why);
        list = (AppleBytes){list.data + n, list.n_bytes - n};
    }
    return true;
}

static bool read_list(AppleMetallib *lib, const AppleBytes sections[N_SECTIONS],
                      AppleProblem *why) {
    enum { LEAST = 4 + 4 + 6 + 1 + 6 + 24 }; // sizes, ENDT, NAME, OFFT
    const AppleBytes list = sections[FUNCTIONS];
    const uint32_t n = list.n_bytes < 4 ? 0 : u32(list.data);
    if (list.n_bytes < 4 || n > (list.n_bytes - 4) / LEAST)
        return fail(why, "it is damaged: its list of functions has no room for them");
    lib->functions = calloc(n ? n : 1, sizeof *lib->functions);
    if (!lib->functions) return fail(why, "out of memory");
    lib->n_functions = n;
    return read_functions(lib, (AppleBytes){list.data + 4, list.n_bytes - 4}, sections, why);
}

// ---- The container ----

static bool read_header(AppleMetallib *lib, AppleBytes all, AppleProblem *why) {
    if (all.n_bytes < HEADER_BYTES) return fail(why, "it is truncated: its header is not whole");
    const unsigned char *at = all.data;
    lib->is_macos = u16(at + 4) >> 15;
    lib->major = u16(at + 6), lib->minor = u16(at + 8);
    lib->type = at[10], lib->os = at[11];
    lib->os_major = u16(at + 12), lib->os_minor = u16(at + 14);
    if (lib->major > KNOWN_MAJOR) {
        snprintf(why->text, sizeof why->text,
                 "it has version %u.%u of Apple's format; versions up to %d are known", lib->major,
                 lib->minor, KNOWN_MAJOR);
        return false;
    }
    const uint64_t bytes = u64(at + 16);
    if (bytes < HEADER_BYTES) return fail(why, "it is damaged: its size cannot be right");
    if (!part(all, 0, bytes, &lib->file)) {
        snprintf(why->text, sizeof why->text, "it is truncated: %zu of %llu bytes are there",
                 all.n_bytes, (unsigned long long)bytes);
        return false;
    }
    return true;
}

static bool open_container(AppleMetallib *lib, AppleBytes all, AppleProblem *why) {
    AppleBytes sections[N_SECTIONS];
    if (!read_header(lib, all, why)) return false;
    for (int i = 0; i < N_SECTIONS; i++) {
        const unsigned char *at = lib->file.data + SECTIONS_AT + 16 * i;
        const uint64_t offset = u64(at), n = u64(at + 8), count = i == FUNCTIONS ? 4 : 0;
        if (n > UINT64_MAX - count || !part(lib->file, offset, n + count, &sections[i]))
            return fail(why, "it is damaged: its sections reach beyond its end");
    }
    const unsigned char *behind = sections[FUNCTIONS].data + sections[FUNCTIONS].n_bytes;
    const unsigned char *next = sections[PUBLIC_METADATA].data;
    if (next > behind) lib->file_tags = (AppleBytes){behind, (size_t)(next - behind)};
    return read_list(lib, sections, why);
}

// ---- Objects and universal files ----

static bool open_object(AppleMetallib *lib, AppleBytes all, AppleProblem *why) {
    lib->is_object = true;
    if (begins(all, bitcode_magic, sizeof bitcode_magic)) {
        lib->file = all;
        return true;
    }
    const uint64_t n = wrapped_bytes(all);
    AppleBytes inside;
    if (!n || !part(all, 0, n, &lib->file))
        return fail(why, "it is truncated: its bitcode is not whole");
    if (!part(lib->file, u32(all.data + 8), u32(all.data + 12), &inside) ||
        !begins(inside, bitcode_magic, sizeof bitcode_magic))
        return fail(why, "it is damaged: there is no bitcode in its wrapper");
    return true;
}

static uint32_t fat_number(const unsigned char *at, bool big) {
    return big ? (uint32_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3] : u32(at);
}

// Entries: architecture, its kind, offset, bytes, alignment. That with AIR, or the first metallib.
static bool open_universal(AppleMetallib *lib, AppleBytes all, bool big, AppleProblem *why) {
    AppleBytes chosen = {0};
    if (all.n_bytes < FAT_HEADER) return fail(why, "it is truncated: its header is not whole");
    const uint32_t n = fat_number(all.data + 4, big);
    if (n > (all.n_bytes - FAT_HEADER) / FAT_ENTRY)
        return fail(why, "it is damaged: a universal file without room for its architectures");
    for (uint32_t i = 0; i < n; i++) {
        const unsigned char *at = all.data + FAT_HEADER + (size_t)FAT_ENTRY * i;
        AppleBytes slice;
        if (!part(all, fat_number(at + 8, big), fat_number(at + 12, big), &slice))
            return fail(why, "it is truncated: an architecture of it is not whole");
        if (begins(slice, "MTLB", 4) && (!chosen.data || fat_number(at, big) == CPU_AIR64))
            chosen = slice;
    }
    if (!chosen.data) return fail(why, "it is a universal file without a metallib");
    return open_container(lib, chosen, why);
}

bool apple_metallib_open(const void *data, size_t n, AppleMetallib *lib, AppleProblem *why) {
    const AppleBytes all = {data, n};
    const bool big = begins(all, mach_fat_magic, sizeof mach_fat_magic);
    bool ok = false;
    *lib = (AppleMetallib){0};
    if (is_ours(all))
        fail(why, "it is a metallib of Ingot's, not of Apple's");
    else if (begins(all, "MTLB", 4))
        ok = open_container(lib, all, why);
    else if (big || begins(all, fat_magic, sizeof fat_magic))
        ok = open_universal(lib, all, big, why);
    else if (begins(all, wrapper_magic, 4) || begins(all, bitcode_magic, 4))
        ok = open_object(lib, all, why);
    else
        say_foreign(all, why);
    if (!ok) apple_metallib_close(lib);
    return ok;
}

void apple_metallib_close(AppleMetallib *lib) {
    free(lib->functions);
    *lib = (AppleMetallib){0};
}

bool apple_function_intact(const AppleFunction *f) {
    unsigned char hash[SHA256_BYTES];
    if (!f->hash) return true;
    sha256(f->bitcode.data, f->bitcode.n_bytes, hash);
    return !memcmp(hash, f->hash, SHA256_BYTES);
}

// ---- Words ----

static const char *word(const char *const *words, size_t n, size_t i) {
    return i < n ? words[i] : "unknown";
}
#define WORD(WORDS, I) word(WORDS, sizeof(WORDS) / sizeof *(WORDS), I)

const char *apple_stage_name(uint8_t stage) {
    static const char *const names[] = {"vertex",       "fragment", "kernel",
                                        "unqualified",  "visible",  "extern",
                                        "intersection", "mesh",     "object"};
    return WORD(names, stage);
}

const char *apple_type_name(uint8_t type) {
    static const char *const names[] = {"executable", "Core Image", "dynamic", "symbol companion"};
    return WORD(names, type);
}

const char *apple_system_name(const AppleMetallib *lib) {
    static const char *const systems[] = {
        "unknown",  "macOS",        "iOS",           "tvOS",           "watchOS",
        "bridgeOS", "Mac Catalyst", "iOS simulator", "tvOS simulator", "watchOS simulator"};
    if (!(lib->os & 0x7f)) return lib->is_macos ? "macOS" : "iOS"; // files before that field
    return WORD(systems, lib->os & 0x7fU);
}
