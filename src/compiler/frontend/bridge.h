// SPDX-License-Identifier: Apache-2.0
// bridge.h: the C face of bridge.cpp, the project's only C++ file. Everything that needs Clang's or
// lld's C++ API happens behind these calls; everything that can be decided in C is decided in the
// callbacks of BridgeClient: the token pass (tokens.c), diagnostics (diagnose.c), reflection
// (reflect_build.c), and what becomes of the finished module (module.c).
#ifndef INGOT_FRONTEND_BRIDGE_H
#define INGOT_FRONTEND_BRIDGE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct LLVMOpaqueModule;

// One token after macro expansion. `kind` is Clang's tok::TokenKind (token_kinds.h has the names).
// A token with an origin is a copy of input token origin - 1, whatever its other fields say; a
// token with origin 0 is new: an identifier, keyword or number by its text, a string literal by its
// content, or punctuation by its kind, at `location`.
typedef struct MslToken {
    uint16_t kind;
    uint32_t origin, location;
    uint32_t n_text;
    const char *text; // identifiers and keywords (NUL-terminated) and literals (not); else NULL
} MslToken;

typedef struct BridgeRange {
    uint32_t begin, end;
} BridgeRange; // locations of first and last token

// What the repair rounds (repair.c) look for; everything else is BRIDGE_DIAG_OTHER.
typedef enum BridgeDiagKind {
    BRIDGE_DIAG_OTHER = 0,
    BRIDGE_DIAG_COND_OPERANDS, // operands of ?: do not meet
    BRIDGE_DIAG_BAD_CAST,
    BRIDGE_DIAG_VECTOR_CAST,  // of vectors that a program made, of different sizes
    BRIDGE_DIAG_BAD_OPERANDS, // of a built-in binary operator
    BRIDGE_DIAG_BAD_OPERAND,  // of a built-in unary operator or subscript
    BRIDGE_DIAG_AMBIGUOUS_OPERATOR,
    BRIDGE_DIAG_AMBIGUOUS_MEMBER,
    BRIDGE_DIAG_NO_FILE, // of #include or #embed
} BridgeDiagKind;

typedef struct BridgeDiagnostic {
    int severity; // as MslDiagnostic
    BridgeDiagKind kind;
    const char *message; // Clang's words
    uint32_t location;   // 0: none
    bool in_system;      // inside our own headers
    const char *file;
    uint32_t line, column; // where the user sees it (macros: the expansion)
    const char *option;    // "unused-variable" for a warning -W controls, else ""
    const BridgeRange *ranges;
    size_t n_ranges;
    const void *raw; // Clang's own object, for bridge_render
} BridgeDiagnostic;

// Reflection. Types are numbered by the client; a record is announced before its members.
typedef enum BridgeTypeKind {
    BRIDGE_TYPE_OTHER = 0,
    BRIDGE_TYPE_VOID,
    BRIDGE_TYPE_BOOL,
    BRIDGE_TYPE_INT,
    BRIDGE_TYPE_HALF,
    BRIDGE_TYPE_BFLOAT,
    BRIDGE_TYPE_FLOAT,
    BRIDGE_TYPE_RECORD,
    BRIDGE_TYPE_METAL,
    BRIDGE_TYPE_ARRAY,
    BRIDGE_TYPE_POINTER,
    BRIDGE_TYPE_REFERENCE,
} BridgeTypeKind;
typedef enum BridgeSpace {
    BRIDGE_SPACE_NONE = 0,
    BRIDGE_SPACE_DEVICE,
    BRIDGE_SPACE_CONSTANT,
    BRIDGE_SPACE_THREADGROUP,
    BRIDGE_SPACE_THREAD,
} BridgeSpace;

typedef struct BridgeAttr { // [[name(args...)]]
    const char *name;
    uint32_t location, n_args;
    struct {
        bool is_string;
        int64_t value;
        const char *text;
        uint32_t type; // of `(T *)0`: T, as numbered by the client; else UINT32_MAX
        // An integer that a function constant gives: scale * it + value. NULL: it is `value`.
        const char *constant; // its symbol
        int64_t scale;
    } args[4];
} BridgeAttr;

typedef struct BridgeDecl {    // function, parameter, member or variable
    const char *name, *symbol; // symbol: functions and variables
    uint32_t type, location;   // type: as numbered by the client; a function's return type
    uint32_t offset;           // members, bytes
    const BridgeAttr *attrs;
    size_t n_attrs;
} BridgeDecl;

#define BRIDGE_MAX_ARGS 17 // an index type and 16 extents
typedef struct BridgeType {
    BridgeTypeKind kind;
    const char *name;     // as written by Clang
    uint32_t size, align; // bytes; 0 if incomplete
    bool is_signed;       // BRIDGE_TYPE_INT
    // BRIDGE_TYPE_METAL: a class of namespace metal: its template and arguments
    const char *template_name;
    uint32_t n_args;
    uint32_t arg_types[BRIDGE_MAX_ARGS];
    int64_t arg_values[BRIDGE_MAX_ARGS]; // type UINT32_MAX: a value
    uint32_t element;                    // array element, pointee
    uint64_t n_elements;
    BridgeSpace space;
    bool is_const; // both of the pointee, or of the first argument of a template
    const BridgeDecl *members;
    size_t n_members; // BRIDGE_TYPE_RECORD
} BridgeType;

typedef struct BridgeFunction {
    BridgeDecl decl;
    bool defined;          // its code is in the module of this run
    const char *signature; // visible functions: the symbol of __ingot_table_entry<type>; else ""
    const BridgeDecl *params;
    size_t n_params;
} BridgeFunction;

typedef struct BridgeJob BridgeJob; // a running job, for the calls below that callbacks may make

typedef struct BridgeShare { // of kernels that are made of templates, in the order of the source
    size_t from, to;
    bool part; // another run makes everything else
} BridgeShare;

// What becomes of `#pragma first next` in a program. Ignored: Clang does not see it.
typedef enum BridgePragma {
    BRIDGE_PRAGMA_TAKE,
    BRIDGE_PRAGMA_IGNORE,
    BRIDGE_PRAGMA_REFUSE
} BridgePragma;

typedef struct BridgeLent { // a file of the client's
    bool found, is_folder;
    uint64_t id;      // of the file, whatever the path
    const char *text; // stays where it is until the job ends, with a zero behind it
    size_t n_bytes;
} BridgeLent;

// Our headers have the same name wherever they lie, so that an image of them is good anywhere.
#define BRIDGE_STDLIB "/ingot-headers"

typedef struct BridgeClient {
    void *context;
    unsigned version;   // of the language, 10 * major + minor
    const char *stdlib; // folder of our own headers, which Clang knows as BRIDGE_STDLIB, and their
    const char *image;  // image (NULL: none): all that is read without asking
    // Any other file that Clang looks for, by the path that it tries. NULL: there are none.
    BridgeLent (*find)(void *context, const char *path);
    // Edits the tokens of the translation unit. The result must live until the job ends; NULL
    // stops.
    const MslToken *(*tokens)(void *context, BridgeJob *job, const MslToken *in, size_t n,
                              size_t *n_out);
    void (*diagnostic)(void *context, BridgeJob *job, const BridgeDiagnostic *d);
    // Whether the run will be repeated whatever follows: templates, most of the work, are then not
    // instantiated. May be NULL.
    bool (*in_vain)(void *context);
    // After the source, before n kernels are made of templates: which of them this run makes. May
    // be NULL: all.
    BridgeShare (*divide)(void *context, size_t n);
    BridgePragma (*pragma)(const char *first, const char *next);
    // A file read by #include; system: from a folder of system headers, ours or another.
    void (*file)(void *context, const char *path, bool system);
    // Reflection, after a translation unit without errors.
    uint32_t (*new_type)(void *context);
    void (*set_type)(void *context, uint32_t type, const BridgeType *info);
    void (*variable)(void *context, BridgeJob *job, const BridgeDecl *decl);  // function constants
    void (*function)(void *context, BridgeJob *job, const BridgeFunction *f); // entry points
    // The module, owned by the bridge: the client checks, cleans and writes it.
    void (*module)(void *context, BridgeJob *job, struct LLVMOpaqueModule *module);
    // BRIDGE_PREPROCESS: the text.
    void (*text)(void *context, const char *text, size_t n);
} BridgeClient;

typedef struct BridgeFile {
    const char *path, *text;
    size_t n_bytes;
} BridgeFile; // in memory

typedef enum BridgeMode { BRIDGE_COMPILE = 0, BRIDGE_PCH, BRIDGE_PREPROCESS } BridgeMode;

// Called where LLVM and Clang get no memory: does not return. Without it the process aborts.
void bridge_on_no_memory(void (*then)(void));

// Runs Clang once. args: cc1 arguments, the input file last. False after an error.
bool bridge_run(BridgeMode mode, const char *const *args, size_t n_args, const BridgeFile *files,
                size_t n_files, bool fast_math, const BridgeClient *client);

// For callbacks. Severity as MslDiagnostic; location 0: none.
void bridge_report(BridgeJob *job, int severity, uint32_t location, const char *message);
// The diagnostic as Clang prints it (file, line, column, caret), with another text and severity.
char *bridge_render(BridgeJob *job, const BridgeDiagnostic *d, int severity, const char *message);
// Whether the location lies in our own headers (for a macro: where it is used); by the file itself,
// whatever the source says about lines, files and system headers.
bool bridge_in_system(BridgeJob *job, uint32_t location);
// The same for the text at the location: for a macro where it is defined.
bool bridge_is_ours(BridgeJob *job, uint32_t location);
bool bridge_is_builtin(BridgeJob *job, const char *name); // of Clang's
// Symbol of the variable called `name` as seen from the function being reflected, malloc'd; or
// NULL.
char *bridge_find_variable(BridgeJob *job, const char *name);
// Location of the function with this symbol; 0 if unknown. Its name as the user wrote it
// (malloc'd).
uint32_t bridge_function_location(BridgeJob *job, const char *symbol, char **name);

// Whether the source declares the function with this symbol `extern` or visible: another library
// may define it.
bool bridge_function_is_extern(BridgeJob *job, const char *symbol);

// Functions of our headers lose what they say about their source: for debuggers and profiles their
// code is then that of the line which calls them.
void bridge_forget_headers(struct LLVMOpaqueModule *module);

void bridge_drop_variables(
    struct LLVMOpaqueModule *module); // of its notes for debuggers: lines stay

// From now on LLVM puts machine instructions in an order of its own where it does so by itself, or
// nowhere.
void bridge_schedule(bool yes);

struct LLVMOpaqueBasicBlock;
struct LLVMOpaqueValue;
// `first` and all that follows it become a block of their own; the old one is left without an end.
// (With LLVM-C alone the phis behind it would be made anew, and whoever knows them be deceived.)
struct LLVMOpaqueBasicBlock *bridge_split_before(struct LLVMOpaqueValue *first);

struct LLVMOpaqueMetadata;
// What adds to the notes for debuggers of the compile unit that a function is of (LLVM-C makes new
// units only).
struct LLVMOpaqueDIBuilder *bridge_debug_builder(struct LLVMOpaqueModule *module,
                                                 struct LLVMOpaqueMetadata *subprogram,
                                                 struct LLVMOpaqueMetadata **unit);

// Links relocatable ELF objects of one architecture into a shared object, in process, with what of
// them is reached. Undefined symbols are left to the loader (memcpy, memset). On success *so is
// malloc'd; on failure *error is (one or more lines). Calls from several threads are serialised:
// lld keeps global state.
typedef struct MslElf {
    const void *bytes;
    size_t n_bytes;
} MslElf;
bool msl_link_shared(const MslElf *objects, size_t n, unsigned char **so, size_t *so_bytes,
                     char **error);

// A symbol as the source would write it, malloc'd; NULL without memory.
char *msl_demangle(const char *symbol);

#ifdef __cplusplus
}
#endif
#endif
