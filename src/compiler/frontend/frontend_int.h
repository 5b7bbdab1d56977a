// SPDX-License-Identifier: Apache-2.0
// frontend_int.h: what the C files of the front end share.
#ifndef INGOT_FRONTEND_INT_H
#define INGOT_FRONTEND_INT_H
#include <stdarg.h>
#include "abi/data_types.h"
#include "abi/reflect.h"
#include "base/arena.h"
#include "base/hash_table.h"
#include "base/text.h"
#include "compiler/compiler.h"
#include "compiler/frontend/bridge.h"

// token_list.c
// printf into the arena; NULL without memory.
char *arena_format(BaseArena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

// A growing array of tokens.
typedef struct TokenList {
    MslToken *at;
    size_t n, capacity;
    bool failed;
} TokenList;
void token_list_push(TokenList *l, MslToken t);
void token_list_insert(TokenList *l, size_t at, MslToken t);
void token_list_free(TokenList *l);

// ---- repair.c: patterns that Clang rejects in this dialect, patched where it reports them ----
typedef enum RepairKind {
    REPAIR_BY_VALUE = 0,
    REPAIR_OPERAND,
    REPAIR_COMPOUND,
    REPAIR_THROUGH_FLOAT,
    REPAIR_CONVERT, // the operand of a cast between vectors that a program made
    REPAIR_OBJECT
} RepairKind;
typedef struct Repair {
    RepairKind kind;
    BridgeRange range;
    uint32_t op;
} Repair;
typedef struct Repairs {
    Repair *at;
    size_t n, capacity;
} Repairs;
// Looks at an error; true if it called for a repair that was not there yet.
bool repairs_learn(Repairs *r, const BridgeDiagnostic *d);
bool repairs_add(Repairs *r, const Repair *x); // true if it was not there yet
// Rewrites the edited tokens. False without memory.
bool repairs_apply(const Repairs *r, TokenList *tokens);

// ---- tokens.c: MSL tokens -> tokens of the dialect. False without memory ----
bool tokens_edit(BridgeJob *job, BaseArena *arena, unsigned version, const MslToken *in, size_t n,
                 TokenList *out);

// token_allow.c: for BridgeClient.
BridgePragma allow_pragma(const char *first, const char *next);

// ---- versions.c: versions of the language are 10 * major + minor ----
enum { VERSION_NEWEST = 40, VERSION_BFLOAT = 31 };
unsigned version_asked(const MslSource *source);      // of a source
unsigned version_of_name(const char *name, size_t n); // that brought it; 0: the first
unsigned version_of_attribute(const char *name);
// What to say instead of "undeclared" when a name is of a later version, malloc'd; else NULL.
char *version_reason(const char *message, unsigned version);

// ---- diagnostic_text.c: Clang's words -> Metal's. NULL without memory ----
char *words_metal(const char *message);

// ---- reflect_build.c ----
typedef struct ReflectBuilder {
    RfLibrary *lib;
    BaseArena *arena;
    BridgeType *infos; // beside lib->types, what the bridge said (strings in the arena)
    uint32_t capacity_types, capacity_functions, capacity_constants, capacity_bindings;
    HashTable names; // of entry points; records in the arena
    bool failed;     // out of memory
} ReflectBuilder;
// An error at a place in the source.
void reflect_report_list(BridgeJob *job, uint32_t at, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
void reflect_report(BridgeJob *job, uint32_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define NO_TYPE UINT32_MAX
// A larger array for one more than n, the rest zero; NULL without memory.
void *reflect_grow(void *at, uint32_t *capacity, uint32_t n, size_t size);
const BridgeAttr *reflect_id(const BridgeDecl *member); // [[id(n)]] or NULL
bool reflect_begin(ReflectBuilder *b, BaseArena *arena);
uint32_t reflect_new_type(ReflectBuilder *b);
void reflect_set_type(ReflectBuilder *b, uint32_t type, const BridgeType *info);
void reflect_variable(ReflectBuilder *b, BridgeJob *job, const BridgeDecl *decl);
// reflect_entry.c
// A parameter of f, or a variable at program scope, as an argument: what it is, where it is bound.
void reflect_argument(ReflectBuilder *b, BridgeJob *job, RfFunction *f, RfArg *arg,
                      const BridgeDecl *p, uint32_t ordinal);
const char *reflect_stage_word(uint8_t stage);          // "vertex"
bool reflect_builtin_in(int builtin, uint8_t stage);    // whether functions of a stage have it
bool reflect_takes_index(const RfArg *a, uint8_t kind); // of RF_ARG_BUFFER, TEXTURE, ...
// The place that an attribute of a function constant says. False without memory.
bool reflect_place(RfPlace *place, const BridgeAttr *a);
void reflect_function(ReflectBuilder *b, BridgeJob *job, const BridgeFunction *f);
void reflect_end(ReflectBuilder *b); // frees what is not lib
// Complains if the function constant with this symbol cannot decide whether something exists.
void reflect_condition(const ReflectBuilder *b, BridgeJob *job, const BridgeAttr *said,
                       const char *symbol);

// ---- reflect_texture.c ----
bool reflect_texture_type(RfType *t, const BridgeType *info); // false: neither texture nor sampler
// Textures, samplers, tensors and arrays of them.
bool reflect_handle_argument(const ReflectBuilder *b, RfArg *arg, uint32_t type);
unsigned reflect_max_index(uint8_t kind);       // of RfArgKind: greatest binding index
const char *reflect_attribute_of(uint8_t kind); // "buffer", "texture", ...

// reflect_tensor.c
// Tensors and what they are made of. False: none of these.
bool reflect_tensor_type(const ReflectBuilder *b, RfType *t, const BridgeType *info, char *name,
                         size_t n_name);

// ---- bindings.c: resources bound to variables at program scope ----
// False: the variable is something else.
bool bindings_reflect(ReflectBuilder *b, BridgeJob *job, const BridgeDecl *decl);
// Variables bound to one place become one in the module.
void bindings_unite(struct LLVMOpaqueModule *module, const RfLibrary *lib);
bool bindings_reached(const RfFunction *f, const RfArg *binding);
// Forgets which bindings the function reaches.
void bindings_drop(RfFunction *f);
// Another argument of the function at the place of a binding, or NULL.
const RfArg *bindings_clash(const RfFunction *f, const RfArg *binding);

// reflect_members.c
// Copies what info says of its members into keep. False without memory.
bool reflect_keep_members(ReflectBuilder *b, BridgeType *keep, const BridgeType *info);
// The buffers, textures and samplers in a structure of nothing else, nested ones too; 0: no such.
uint32_t reflect_count_members(const ReflectBuilder *b, uint32_t type);

// reflect_stage.c
// Whether a parameter of a vertex or fragment function is a stage input, not a resource.
void reflect_kernel_inputs(ReflectBuilder *b, BridgeJob *job, RfFunction *f,
                           const BridgeFunction *from);
bool reflect_is_stage_input(const ReflectBuilder *b, const RfFunction *f, const BridgeDecl *p);
// Inputs and outputs of a vertex or fragment function.
void reflect_stage_values(ReflectBuilder *b, BridgeJob *job, RfFunction *f,
                          const BridgeFunction *from);

// What the vertices and primitives of a mesh are made of, as outputs of the function.
void reflect_mesh_values(ReflectBuilder *b, BridgeJob *job, RfFunction *f, uint32_t vertex,
                         uint32_t primitive, uint32_t at);
bool reflect_is_colors(const ReflectBuilder *b, uint32_t type); // all members are colours
void reflect_imageblock_values(ReflectBuilder *b, BridgeJob *job, RfFunction *f, uint32_t type,
                               uint32_t at);

// reflect_imageblock.c
// The imageblock of a kernel. False: it is something else.
bool reflect_imageblock_argument(ReflectBuilder *b, BridgeJob *job, RfFunction *f, RfArg *arg,
                                 const BridgeDecl *p);
// A value with the attribute [[imageblock_data]]: which bytes of the pixel it is made of, one piece
// for all or, of a view, one for each member. Gives the number of them, at least 1.
#define IMAGEBLOCK_MAX_PIECES 64
typedef struct ImageblockPiece {
    uint32_t offset, from, bytes; // in the value, in the pixel
    bool view;
} ImageblockPiece;
uint32_t reflect_imageblock_data(ReflectBuilder *b, BridgeJob *job, RfFunction *f, uint32_t type,
                                 const BridgeAttr *said, ImageblockPiece *pieces, uint32_t at);

// reflect_mesh.c
// Arguments that only object and mesh functions have: payload, mesh grid, mesh. False: none.
bool reflect_mesh_argument(ReflectBuilder *b, BridgeJob *job, RfFunction *f, RfArg *arg,
                           const BridgeDecl *p);
void reflect_mesh_check(BridgeJob *job, RfFunction *f, const BridgeFunction *from);

// reflect_intersection.c
// Inputs, answers and signature of an intersection function.
void reflect_intersection(ReflectBuilder *b, BridgeJob *job, RfFunction *f,
                          const BridgeFunction *from);
bool reflect_is_intersection_input(const BridgeDecl *p); // not one of its buffers

// ---- diagnose.c: diagnostics of one round, as the user should see them ----
typedef struct Diagnoser {
    MslDiagnostic *list;
    size_t *ends; // of each in the log
    size_t n, n_errors;
    Text log;
    char *pending; // error inside our headers, waiting for a note that names the user's line
    char pending_at[512];
    unsigned version;    // of the language
    bool drop_notes;     // notes that belong to a diagnostic not shown
    bool broken_prelude; // the precompiled headers could not be read
    bool refused_file;   // the next one is about a file that was looked for where nobody may
    bool failed;         // out of memory
} Diagnoser;
void diagnose(Diagnoser *g, BridgeJob *job, const BridgeDiagnostic *d);
void diagnose_end(Diagnoser *g); // settles what is pending
// Adds one, and how it is shown.
void diagnose_take(Diagnoser *g, const MslDiagnostic *d, const char *shown, size_t n_shown);
void diagnose_free(Diagnoser *g);

// ---- files.c: the files of others that #include finds ----
typedef struct FoundFile FoundFile;
typedef struct Found {
    const MslFiles *files; // NULL: there are none
    FoundFile *at;
    size_t n, capacity;
    bool searching, refused; // a file that was not found yet; its first place is a closed one
} Found;
BridgeLent found_ask(Found *f, const char *path);
const Blob *found_bytes(const Found *f, const char *path); // NULL: not among them
bool found_refused(Found *f); // since the last file that was there, or the last question
void found_free(Found *f);

// ---- options.c: Clang's arguments. Strings live in the arena ----
typedef struct Options {
    const char **at;
    size_t n, capacity;
    BaseArena *arena;
    bool failed;
} Options;
void options_push(Options *o, const char *arg);
void options_dialect(Options *o,
                     const MslSource *source); // all that the precompiled headers depend on
void options_source(Options *o, const MslSource *source); // the rest: macros, folders, warnings

// frontend.c: the source and its in-memory headers as files of Clang's file system; NULL: no
// memory.
BridgeFile *frontend_files(const MslSource *source, BaseArena *arena, size_t *n);

// pch.c: path of the precompiled headers for these options, built if need be, in the arena;
// NULL: do without. Damaged files are rebuilt.
const char *pch_find(const MslSource *source, const Options *dialect, bool bare, BaseArena *arena);
void pch_discard(const char *path);
enum { PCH_SOURCES = 2 };                         // the prelude; [1]: bare, the types alone
extern const BridgeFile pch_sources[PCH_SOURCES]; // must exist when an image is read

// divide.c: integer division gets Metal's meaning where LLVM has none, that of halves its rounding.
void module_guard_divisions(struct LLVMOpaqueModule *module);

// module.c: checks that need the call graph, clean-up, bitcode.
// Nothing of it logs: os_log without MTLCompileOptions.enable_logging, as on a Mac. Here, because
// the headers are compiled already.
void module_mute(struct LLVMOpaqueModule *module);
// Reports errors through the job; false after one, or without memory. allow_undefined: functions
// without a body may come from another library. made: the entry points that the module is for, and
// nothing else stays in it; NULL: all.
bool module_finish(struct LLVMOpaqueModule *module, BridgeJob *job, RfLibrary *lib,
                   const bool *made, bool allow_undefined, unsigned char **bitcode,
                   size_t *n_bytes);
// The same for a module linked of finished ones: complaints are lines of the log, and the function
// constants of the entry points are found anew.
bool module_finish_linked(struct LLVMOpaqueModule *module, Text *log, RfLibrary *lib,
                          bool allow_undefined, unsigned char **bitcode, size_t *n_bytes);

#endif
