// SPDX-License-Identifier: Apache-2.0
// requests.h: what the compiler is asked, and the diagnostics it answers with. libingot fills these
// in, protocol.h carries them, compiler/compiler.h takes them: nothing here needs a compiler.
#ifndef INGOT_ABI_REQUESTS_H
#define INGOT_ABI_REQUESTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "abi/reflect.h"

// language.c: "metal3.1" or "macos-metal2.4" as MTLLanguageVersion; false: there is no such
// version.
bool msl_language_version(const char *text, uint32_t *version);
#define MSL_NO_LANGUAGE_VERSION                                                                    \
    "'%s' is not a language version (metal1.0 to 1.2, 2.0 to 2.4, 3.0 to 3.2, 4.0; macos- or "     \
    "ios- "                                                                                        \
    "may stand before it)"

typedef enum MslMathMode {
    MSL_MATH_SAFE = 0,
    MSL_MATH_RELAXED = 1,
    MSL_MATH_FAST = 2
} MslMathMode; // = MTLMathMode

typedef enum MslDebug { // what code says about its source
    MSL_DEBUG_NONE = 0,
    MSL_DEBUG_LINES = 1, // which lines it comes from: for reports and profiles
    MSL_DEBUG_FULL = 2,  // variables and types too: for debuggers
} MslDebug;

typedef enum MslTier { // of code; both compute the same
    TIER_OPTIMISED = 0,
    TIER_BASELINE = 1, // soon there rather than fast, and for any shape
} MslTier;

typedef struct MslHeader {
    const char *name, *text;
    size_t n_bytes;
} MslHeader;

// What #include finds beside our own headers and those in memory: asked of whoever may read files.
typedef struct Blob Blob;
typedef enum MslFound {
    MSL_FILE_NONE,
    MSL_FILE_REFUSED, // outside of the folders that the source may see
    MSL_FILE_FOLDER,
    MSL_FILE_FOUND
} MslFound;
typedef struct MslFile {
    MslFound found;
    uint64_t id; // of the file, whatever the path
    Blob *bytes; // the caller's, with a zero behind them
} MslFile;
typedef struct MslFiles {
    void *context;
    MslFile (*find)(void *context, const char *path);
} MslFiles;

typedef struct MslSource {
    const char *name; // shown in diagnostics: "program_source" or a path
    const char *text;
    size_t n_bytes;
    const char *const *macros; // "NAME" or "NAME=VALUE"
    size_t n_macros;
    const char *const *include_dirs;
    size_t n_include_dirs;
    const MslHeader *headers; // in memory, found by #include before the folders
    size_t n_headers;
    uint32_t language_version; // 0: newest; else (major << 16) | minor, Apple's MTLLanguageVersion
    MslMathMode math_mode;
    bool warnings_as_errors;
    bool enable_logging;      // os_log logs
    uint32_t library_type;    // 1: dynamic (MTLLibraryType), called install_name
    const char *install_name; // NULL or "": none
    const char *const *links; // install names of the dynamic libraries to link against
    size_t n_links;
    bool allow_undefined;        // functions without a body may come from a dynamic library
    const char *stdlib_dir;      // our Metal headers
    const char *pch_dir;         // folder for the precompiled headers; NULL: none
    const char *pch_shipped_dir; // a folder of them made with the compiler, only read; NULL: none
    MslDebug debug;
    bool check_only;       // diagnostics only
    const MslFiles *files; // NULL: there are none. Not carried by protocol.h
    // A large library may be made by several processes: the program has no other threads that do
    // anything. Not carried by protocol.h either.
    bool processes;
    // Further options for Clang's -cc1, behind all others. Of the command line only: protocol.h
    // does not carry them.
    const char *const *extra;
    size_t n_extra;
} MslSource;

typedef struct MslDiagnostic {
    int severity; // 1 note, 2 warning, 3 error, 4 fatal
    const char *file;
    uint32_t line, column;
    const char *message; // one line, in Metal's words
} MslDiagnostic;

typedef struct MslConstantValue { // by name if name is not NULL, else by index
    const char *name;
    uint32_t index;
    uint32_t data_type; // MTLDataType of the value given
    const void *data;
    size_t n_bytes;
} MslConstantValue;

typedef struct MslPart { // another library, code of which may be needed
    const unsigned char *bitcode;
    size_t bitcode_bytes;
    const RfLibrary *reflection;
} MslPart;

typedef struct MslLinkedFunction { // a visible function of the pipeline
    uint32_t library;              // 0: the kernel's own; n: parts[n - 1]
    const char *function;          // host name
    const MslConstantValue *constants;
    size_t n_constants;
    bool by_name_only; // a private function: tables cannot hold it
    uint32_t key;      // of one that is independent of pipelines: another number of its; 0: none
} MslLinkedFunction;

typedef enum MslVertexStep { // MTLStepFunction
    MSL_STEP_CONSTANT = 0,
    MSL_STEP_PER_VERTEX = 1,
    MSL_STEP_PER_INSTANCE = 2,
    MSL_STEP_PER_PATCH = 3,
    MSL_STEP_PER_CONTROL_POINT = 4,
    // Of kernels:
    MSL_STEP_THREAD_X = 5,
    MSL_STEP_THREAD_Y = 6,
    MSL_STEP_THREAD_X_INDEXED = 7,
    MSL_STEP_THREAD_Y_INDEXED = 8,
} MslVertexStep;
typedef enum MslVertexFormat {
#define V(name, value, n, bits, kind) MSL_VERTEX_##name = value,
#include "abi/vertex_formats.def"
#undef V
} MslVertexFormat;

// Where the attributes of a vertex function or kernel come from. Numbers are Apple's:
// MTLVertexFormat, MTLStepFunction.
enum { MSL_MAX_VERTEX = 31 };
#define MSL_STRIDE_DYNAMIC UINT32_MAX
typedef struct MslVertexAttribute {
    uint32_t format, offset, buffer;
} MslVertexAttribute; // format 0: none
typedef struct MslVertexLayout {
    uint32_t stride, step, rate;
} MslVertexLayout;
typedef struct MslVertexDescriptor {
    MslVertexAttribute attributes[MSL_MAX_VERTEX];
    MslVertexLayout layouts[MSL_MAX_VERTEX]; // by buffer index
    uint32_t flat[4]; // fragment functions: bit r: the input in row r is a value of primitives
    uint32_t index_buffer, index_bytes; // kernels: of the steps that are indexed; 2 or 4, 0: none
} MslVertexDescriptor;

enum { MSL_REACH = 32 };
#define MSL_TARGET_HOST "host" // the processor that the compiler runs on, or `cpu` names
#define MSL_TARGET_X86_64 "x86_64"
#define MSL_TARGET_AARCH64 "aarch64"
#define MSL_TARGET_NVPTX "sm_" // and a number: a GPU of NVIDIA's and its successors
#if defined(__aarch64__)
#define MSL_TARGET_SELF MSL_TARGET_AARCH64 // the processor that this was built for
#else
#define MSL_TARGET_SELF MSL_TARGET_X86_64
#endif
enum {                   // MslKernelRequest.watch
    MSL_WATCH_RACES = 1, // threads that get into each other's way, and undefined behaviour
    MSL_WATCH_NAN = 2,   // NaNs made of numbers
    MSL_WATCH_ORDER = 4, // SIMD-groups run one by one, in an order that the launch gives
    MSL_WATCH_NOTES = 8, // of MSL_WATCH_RACES what a thread does by itself
    // Which lanes run which lines (abi/cpu_count.h). Needs no `validate`, and lines.
    MSL_WATCH_COUNTS = 16,
};
typedef struct MslKernelRequest {
    const unsigned char *bitcode;
    size_t bitcode_bytes;
    const RfLibrary *reflection;
    const char *function; // host name
    const MslConstantValue *constants;
    size_t n_constants;
    const MslPart *parts;
    size_t n_parts;
    const MslLinkedFunction *linked;
    size_t n_linked; // tables know the first as 1
    const uint32_t *dynamic;
    size_t n_dynamic;    // numbers as MslLinkedFunction.library: where
                         // functions without a body are looked for, in this order
    uint32_t call_depth; // of calls through tables inside visible functions; 0: the default, 1
    const MslVertexDescriptor *vertex; // of vertex functions, of kernels with stage inputs, of
                                       // fragment functions behind a mesh function; NULL: none
    uint32_t shape[3];                 // threadgroup size to specialise for; 0,0,0: any
    const char *target;                // what the code is for; NULL: MSL_TARGET_HOST
    const char *cpu;                   // LLVM CPU name, e.g. "x86-64-v3"; NULL: this machine
    const char *features;              // LLVM feature string; NULL: those of cpu
    uint32_t width;                    // 0: choose; 32, 16 or 8; 1: lane-by-lane reference
    MslMathMode math_mode;
    bool validate; // compile in bounds and null checks
    uint8_t watch; // MSL_WATCH_*; RACES, NAN and NOTES with `validate` only
    uint8_t reach; // no buffer has 2^reach bytes; 0: MSL_REACH
    MslTier tier;
    // Of a library that has as much: MSL_DEBUG_FULL is reference code (width 1) that is not
    // optimised, so that a debugger finds every variable (codegen/debug.c).
    MslDebug debug;
    // NULL: code object; "ll": vectorised IR text; "scalar-ll": before; "asm"; "ptx" for GPUs
    const char *emit;
    const char *dump_after; // NULL or a pass name: IR text after it, appended to log
    // Not NULL: gets remarks (passes/remarks.c), malloc'd. Of the command line only: protocol.h
    // does not carry it.
    char **remarks;
} MslKernelRequest;

// A function made from a graph of calls. Nodes stand in the order they run: arguments name earlier
// ones.
typedef struct MslStitchNode {
    uint32_t function; // n: functions[n - 1]; 0: an input
    uint32_t argument; // inputs: number of the parameter
    const uint32_t *arguments;
    size_t n_arguments; // nodes
} MslStitchNode;

typedef struct MslStitchGraph {
    const char *name; // of the new function
    const MslStitchNode *nodes;
    size_t n_nodes;
    uint32_t output; // n: the value of nodes[n - 1]; 0: none
} MslStitchGraph;

typedef struct MslStitchRequest {
    const MslPart *parts;
    size_t n_parts; // MslLinkedFunction.library counts them from 1
    const MslLinkedFunction *functions;
    size_t n_functions;
    const MslStitchGraph *graphs;
    size_t n_graphs;
} MslStitchRequest;
#endif
