// SPDX-License-Identifier: Apache-2.0
// reflect.h: what the front end learnt about a library. Written by the compiler's reflection
// (frontend), carried inside every metallib and cache entry, read by the back end (to build the
// entry of a kernel) and by the runtime (bindings, validation, MTLFunction, pipeline reflection).
// Data type numbers are Apple's MTLDataType values.
#ifndef INGOT_ABI_REFLECT_H
#define INGOT_ABI_REFLECT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "abi/stage.h"
#include "base/wire.h"

typedef enum RfStage { // stored: never renumber
    RF_KERNEL = 0,
    RF_VERTEX,
    RF_FRAGMENT,
    RF_OBJECT,
    RF_MESH,
    RF_VISIBLE,
    RF_INTERSECTION,
    RF_STITCHABLE,
} RfStage;

// How a parameter of an entry point is fed.
typedef enum RfArgKind {
    RF_ARG_BUFFER =
        0, // device/constant pointer or reference (also array<device T *, N>: `count` slots)
    RF_ARG_THREADGROUP,    // threadgroup pointer parameter, [[threadgroup(n)]]
    RF_ARG_TEXTURE,        // [[texture(n)]]; an array of textures takes `count` indices and slots
    RF_ARG_SAMPLER,        // [[sampler(n)]]; arrays likewise
    RF_ARG_STRIDE,         // of the buffer at this index: a number in a slot (stage_in.h)
    RF_ARG_BUILTIN,        // thread position and friends: `builtin` says which
    RF_ARG_FUNCTION_TABLE, // visible_function_table<...>, [[buffer(n)]]
    RF_ARG_TENSOR, // tensor<...>, [[buffer(n)]]; arrays: `count` indices. A slot holds the handle
    // Of object and mesh functions: memory that the rasteriser makes, an address in a slot.
    RF_ARG_PAYLOAD,      // object_data T &, [[payload]]
    RF_ARG_MESH_GRID,    // mesh_grid_properties: three uints
    RF_ARG_MESH,         // mesh<V, P, NV, NP, topology>: laid out as RfMesh says
    RF_ARG_IMAGEBLOCK,   // kernels: imageblock<T, L>; index 0: explicit, 1: implicit
    RF_ARG_ACCELERATION, // acceleration_structure<...>, [[buffer(n)]]; as RF_ARG_TENSOR
} RfArgKind;

typedef enum RfBuiltin { // order is that of rf_builtin_name()
    RF_THREAD_POSITION_IN_GRID = 0,
    RF_THREAD_POSITION_IN_THREADGROUP,
    RF_THREAD_INDEX_IN_THREADGROUP,
    RF_THREADGROUP_POSITION_IN_GRID,
    RF_THREADS_PER_THREADGROUP,          // actual size: smaller in groups cut by the grid's edge
    RF_DISPATCH_THREADS_PER_THREADGROUP, // the size asked for
    RF_THREADS_PER_GRID,
    RF_THREADGROUPS_PER_GRID,
    RF_GRID_ORIGIN,
    RF_GRID_SIZE,
    RF_THREAD_INDEX_IN_SIMDGROUP,
    RF_SIMDGROUP_INDEX_IN_THREADGROUP,
    RF_THREADS_PER_SIMDGROUP,
    RF_THREAD_EXECUTION_WIDTH,
    RF_SIMDGROUPS_PER_THREADGROUP,
    RF_DISPATCH_SIMDGROUPS_PER_THREADGROUP,
    RF_THREAD_INDEX_IN_QUADGROUP,
    RF_QUADGROUP_INDEX_IN_THREADGROUP,
    RF_QUADGROUPS_PER_THREADGROUP,
    RF_DISPATCH_QUADGROUPS_PER_THREADGROUP,
    RF_VIEW,    // of object and mesh functions: amplification_id,
    RF_N_VIEWS, // and amplification_count
    RF_N_BUILTINS
} RfBuiltin;

typedef enum RfAccess {
    RF_READ_ONLY = 0,
    RF_READ_WRITE = 1,
    RF_WRITE_ONLY = 2
} RfAccess; // = MTLBindingAccess
typedef enum RfSpace {
    RF_SPACE_NONE = 0,
    RF_DEVICE,
    RF_CONSTANT,
    RF_THREADGROUP,
    RF_THREAD
} RfSpace;

#define RF_MAX_RANK 16

// A type, referred to by its index in RfLibrary.types.
typedef struct RfMember {
    char *name;
    uint32_t type;   // index in types
    uint32_t offset; // bytes
    int32_t id;      // [[id(n)]] or -1
} RfMember;
typedef struct RfType {
    uint32_t data_type;          // MTLDataType: Struct = 1, Array = 2, Float = 3, ..., Pointer = 60
    char *name;                  // as Metal spells it: "float4", "Params"
    uint32_t size, align;        // bytes
    uint32_t n_elements, stride; // arrays
    uint32_t element;      // array element, pointee, component of a texture or element of a tensor:
                           // index in types; UINT32_MAX if none
    uint8_t space, access; // pointers, tensors: RfSpace, RfAccess; textures: RfAccess (sample: read
                           // only)
    uint8_t texture_type;  // textures (data_type Texture = 58): MTLTextureType
    uint8_t depth;         // textures: 1 for the depth types
    uint8_t samples;       // textures: 1 if access::sample
    uint8_t rank;          // tensors (data_type Tensor = 140)
    uint32_t index_type;   // tensors: MTLDataType of their indices
    uint32_t extents[RF_MAX_RANK]; // tensors: UINT32_MAX where only the tensor knows
    uint32_t n_members;
    RfMember *members; // structs
} RfType;

// A place that a function constant gives, when there is a value for it: scale * it + offset.
typedef struct RfPlace {
    char *constant; // its symbol; "": the place is known
    int32_t scale, offset;
} RfPlace;

#define RF_PROGRAM_SCOPE (UINT32_MAX - 1) // RfArg.param of what is bound to a variable there

typedef struct RfArg {
    char *name;
    uint8_t kind;    // RfArgKind
    uint8_t space;   // RfSpace of a pointer or reference
    uint8_t access;  // RfAccess
    uint8_t builtin; // RfBuiltin
    uint8_t member;  // 1: a member of a structure that is passed by value
    uint32_t param;  // ordinal of the parameter in the IR function, or RF_PROGRAM_SCOPE
    uint32_t offset; // members: bytes from the beginning of the parameter
    uint32_t index;  // binding index; UINT32_MAX for built-ins
    uint32_t count;  // indices taken: > 1 for arrays of pointers
    uint32_t slot;   // first slot in CpuLaunch.args; UINT32_MAX for built-ins
    uint32_t type;   // pointee type of a pointer/reference, the type itself otherwise
    char *condition; // symbol of the function constant this argument depends on, "" if none
    char *symbol;    // the variable at program scope that this is, in the bitcode; "": a parameter
    RfPlace given;   // of index
} RfArg;

// What a value that goes into or out of a vertex or fragment function is.
typedef enum RfRole { // stored: never renumber
    RF_VALUE = 0,     // from stage to stage, matched by name
    RF_ATTRIBUTE,     // [[attribute(index)]]
    RF_POSITION,
    RF_POINT_SIZE,
    RF_CLIP_DISTANCE,
    RF_LAYER,    // render_target_array_index
    RF_VIEWPORT, // viewport_array_index
    RF_COLOR,    // [[color(index), index(source)]]
    RF_DEPTH,    // qualifier: 0 any, 1 greater, 2 less
    RF_STENCIL,
    RF_SAMPLE_MASK,
    RF_VERTEX_ID,
    RF_INSTANCE_ID,
    RF_BASE_VERTEX,
    RF_BASE_INSTANCE,
    RF_AMPLIFICATION_ID,
    RF_AMPLIFICATION_COUNT,
    RF_FRONT_FACING,
    RF_POINT_COORD,
    RF_PRIMITIVE_ID,
    RF_SAMPLE_ID,
    RF_BARYCENTRIC,
    RF_PATCH_ID,
    RF_POSITION_IN_PATCH,
    RF_CULLED,         // primitive_culled
    RF_CONTROL_POINTS, // a patch_control_point<T>; the values of T follow, with points
    // Fragment functions: [[imageblock_data]], `stride` bytes of the pixel from byte `row` on. With
    // `source` a member of a view: the rest of the pixel stays as it is.
    RF_IMAGEBLOCK,
    RF_PIXEL_IN_TILE, // pixel_position_in_tile
    RF_PIXELS_PER_TILE,
    RF_TILE_INDEX,
    // Of intersection functions: `row` is a word of the candidate (abi/candidate.h).
    RF_CANDIDATE,         // words
    RF_CANDIDATE_ADDRESS, // a pointer or reference to what two words name
    RF_CANDIDATE_LIST,    // array_ref<uint>: as many words as the candidate has levels
    RF_RAY_PAYLOAD,       // a reference to the payload
    RF_N_ROLES
} RfRole;

// A scalar or vector that a stage takes or gives: a parameter, the result, or a member of one.
// A vertex output feeds the fragment input of role RF_VALUE with the same name, `user` and
// data_type.
typedef struct RfValue {
    char *name;      // of [[user(name)]] if user is 1; else the member's or parameter's
    char *condition; // as RfArg.condition
    uint8_t role;    // RfRole
    uint8_t user;
    uint8_t interpolation, place; // fragment inputs: AbiInterpolation, AbiSamplePlace (abi/stage.h)
    uint8_t qualifier;            // depth
    uint8_t invariant;            // position
    uint32_t param;     // inputs: ordinal of the parameter in the source; outputs: UINT32_MAX
    uint32_t offset;    // bytes from the beginning of the parameter or result
    uint32_t data_type; // MTLDataType of scalar or vector; clip distances: of one
    uint32_t n;         // components; clip distances: how many
    uint32_t row;       // RF_VALUE: first row (vertex output) or plane (fragment input)
    uint32_t index, source;
    uint32_t points, stride; // members of patch_control_point<T>: how many there are, bytes of T
    uint8_t primitive;       // mesh functions: of a primitive, not of a vertex
    uint8_t pull;            // fragment inputs: an interpolant<T, P>
    RfPlace given;           // of index, of colours
} RfValue;

// The row that a vertex or mesh function writes the value to.
static inline uint32_t rf_vertex_row(const RfValue *v) {
    switch (v->role) {
    case RF_POSITION: return ABI_VERTEX_POSITION;
    case RF_POINT_SIZE: return ABI_VERTEX_POINT_SIZE;
    case RF_LAYER: return ABI_VERTEX_LAYER;
    case RF_VIEWPORT: return ABI_VERTEX_VIEWPORT;
    case RF_CLIP_DISTANCE: return ABI_VERTEX_CLIP;
    default: return ABI_VERTEX_FIRST + v->row;
    }
}

// What a mesh function writes, in bytes from the beginning: count (uint), indices (uchar),
// vertices, primitives.
typedef struct RfMesh {
    uint8_t topology;                  // points, lines, triangles: 0, 1, 2
    uint32_t n_vertices, n_primitives; // at most
    uint32_t index_offset, vertex_offset, vertex_stride, primitive_offset, primitive_stride,
        n_bytes;
} RfMesh;

typedef struct RfFunction {
    char *name;      // as the host asks for it (host_name)
    char *symbol;    // mangled name in the bitcode
    char *signature; // visible functions: names the type, the same for equal types; "": any;
                     // intersection functions: for rf_intersection
    uint8_t stage;   // RfStage
    uint32_t max_total_threads;   // 0: not given
    uint32_t required_threads[3]; // 0: not given
    uint32_t n_slots;             // entries of CpuLaunch.args
    uint32_t n_args;
    RfArg *args;
    uint32_t n_inputs, n_outputs; // vertex and fragment functions; kernels: attributes
    RfValue *inputs, *outputs;
    uint32_t input_rows, output_rows; // planes of a fragment function, rows of a vertex function
    uint8_t early_tests;              // [[early_fragment_tests]]
    uint8_t patch;                    // [[patch(triangle or quad, points)]]: 1 or 2; 0: none
    uint32_t patch_points;            // control points; 0: not given
    RfMesh mesh;                      // mesh functions
    uint32_t payload_bytes;           // object, mesh, intersection functions; 0: no [[payload]]
    uint32_t max_mesh_groups;         // [[max_total_threadgroups_per_mesh_grid(n)]]; 0: not given
    uint32_t imageblock_bytes;  // kernels, fragment functions: of an explicit imageblock; 0: none
    uint32_t color_block_bytes; // kernels: of an implicit one, whose colours are `outputs`; 0: none
    // function constants this entry point can reach: indices in RfLibrary.constants
    uint32_t n_constants;
    uint32_t *constants;
} RfFunction;

typedef struct RfConstant { // [[function_constant(n)]]
    char *name, *symbol;    // symbol: the external global in the bitcode
    uint32_t index;
    uint32_t type;    // index in types
    uint8_t optional; // the source asks is_function_constant_defined
} RfConstant;

typedef struct RfLibrary {
    uint32_t n_types, n_functions, n_constants;
    RfType *types;
    RfFunction *functions;
    RfConstant *constants;
    // Resources bound to variables at program scope. Entry points that reach one have it among
    // their arguments as well, behind those that are parameters.
    uint32_t n_bindings;
    RfArg *bindings;
} RfLibrary;

#ifdef __cplusplus
extern "C" {
#endif
void rf_encode(const RfLibrary *lib, WireOut *w);
// A checked copy (all indices in range), or NULL if the bytes are damaged or memory is out.
RfLibrary *rf_decode(WireIn *r);
void rf_free(RfLibrary *lib);
void rf_free_arg(RfArg *a); // what it holds
// Adds a binding of the library to the arguments of one of its functions. False without memory.
bool rf_bind(RfFunction *f, const RfArg *binding);
const RfFunction *rf_find_function(const RfLibrary *lib, const char *name);
// ---- argument_index.c: indices that function constants give ----
bool rf_is_placed(const RfFunction *f); // it has none, or they are known
// The value of a function constant of an integer type. False: of another.
bool rf_integer(const void *data, size_t n_bytes, uint32_t data_type, int64_t *value);
// f with these indices; one allocation, for free(), what is not new belongs to f. value: that of a
// constant, false if it has none. NULL: no memory, or *wrong names an argument whose index is not
// known or there twice.
typedef bool RfValueOf(void *context, const RfConstant *c, int64_t *value);
RfFunction *rf_place(const RfLibrary *lib, const RfFunction *f, RfValueOf *value, void *context,
                     const char **wrong);
// What an intersection function's signature says: bits of abi/candidate.h, CPU_HIT_TRIANGLE ... of
// what it looks at. False: it is no such function.
#define RF_INTERSECTION_SIGNATURE "intersection %u %u"
bool rf_intersection(const RfFunction *f, unsigned *tags, unsigned *primitive);
// "kernel", ...
const char *rf_stage_name(RfStage stage);
// "thread_position_in_grid"; NULL out of range. The inverse gives -1 for an unknown name.
const char *rf_builtin_name(unsigned builtin);
int rf_builtin_from_name(const char *name);
// Scalar type (MTLDataType of one component) and number of components of a scalar or vector;
// 0 of another type.
uint32_t rf_scalar_of(uint32_t data_type, uint32_t *n);
#ifdef __cplusplus
}
#endif
#endif
