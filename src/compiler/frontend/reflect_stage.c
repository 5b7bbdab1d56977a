// SPDX-License-Identifier: Apache-2.0
// reflect_stage.c: what goes into and out of vertex, fragment and mesh functions, by Metal's rules:
// parameters with attributes of built-in values, [[stage_in]] structures and results, taken apart
// into scalars and vectors (RfValue). Values that go from stage to stage get rows in order of
// declaration: how the two stages fit is decided when a pipeline is made.
#include "compiler/frontend/frontend_int.h"
#include "abi/cpu_stage.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ATTRIBUTE = 30, MAX_VALUES = 256, MAX_DEPTH = 16 };

enum { // where a role may stand
    VERTEX_IN = 1,
    VERTEX_OUT = 2,
    FRAGMENT_IN = 4,
    FRAGMENT_OUT = 8,
    MESH_VERTEX = 16,
    MESH_PRIMITIVE = 32,
    KERNEL_IN = 64,
};
typedef enum Shape { // types a role may have
    ANY,             // scalar or vector, none of 64 bits, no bool
    FLOAT4,
    FLOAT1,
    FLOATS, // float or an array of them
    UINT1,  // uint, ushort or uchar
    WORD,   // uint
    BOOL1,
    COORD, // float2 or half2
    FLOAT123,
    FLOAT23,
    UINT2, // uint2 or ushort2
    STRUCTURE,
    BETWEEN, // stages: ANY, or a bool
} Shape;

static const struct {
    const char *name;
    uint8_t role, where, shape;
} roles[] = {
    {"attribute", RF_ATTRIBUTE, VERTEX_IN | KERNEL_IN, ANY},
    {"position", RF_POSITION, VERTEX_OUT | MESH_VERTEX | FRAGMENT_IN, FLOAT4},
    {"point_size", RF_POINT_SIZE, VERTEX_OUT | MESH_VERTEX | FRAGMENT_IN, FLOAT1},
    {"clip_distance", RF_CLIP_DISTANCE, VERTEX_OUT | MESH_VERTEX | FRAGMENT_IN, FLOATS},
    {"render_target_array_index", RF_LAYER, VERTEX_OUT | MESH_PRIMITIVE | FRAGMENT_IN, UINT1},
    {"viewport_array_index", RF_VIEWPORT, VERTEX_OUT | MESH_PRIMITIVE | FRAGMENT_IN, UINT1},
    {"color", RF_COLOR, FRAGMENT_IN | FRAGMENT_OUT, ANY},
    {"depth", RF_DEPTH, FRAGMENT_OUT, FLOAT1},
    {"stencil", RF_STENCIL, FRAGMENT_OUT, WORD},
    {"sample_mask", RF_SAMPLE_MASK, FRAGMENT_IN | FRAGMENT_OUT, WORD},
    {"vertex_id", RF_VERTEX_ID, VERTEX_IN, UINT1},
    {"instance_id", RF_INSTANCE_ID, VERTEX_IN, UINT1},
    {"base_vertex", RF_BASE_VERTEX, VERTEX_IN, UINT1},
    {"base_instance", RF_BASE_INSTANCE, VERTEX_IN, UINT1},
    {"amplification_id", RF_AMPLIFICATION_ID, VERTEX_IN | FRAGMENT_IN, UINT1},
    {"amplification_count", RF_AMPLIFICATION_COUNT, VERTEX_IN | FRAGMENT_IN, UINT1},
    {"front_facing", RF_FRONT_FACING, FRAGMENT_IN, BOOL1},
    {"point_coord", RF_POINT_COORD, FRAGMENT_IN, COORD},
    {"primitive_id", RF_PRIMITIVE_ID, FRAGMENT_IN | MESH_PRIMITIVE, UINT1},
    {"sample_id", RF_SAMPLE_ID, FRAGMENT_IN, UINT1},
    {"barycentric_coord", RF_BARYCENTRIC, FRAGMENT_IN, FLOAT123},
    {"patch_id", RF_PATCH_ID, VERTEX_IN, UINT1},
    {"position_in_patch", RF_POSITION_IN_PATCH, VERTEX_IN, FLOAT23},
    {"primitive_culled", RF_CULLED, MESH_PRIMITIVE | FRAGMENT_IN, BOOL1},
    {"imageblock_data", RF_IMAGEBLOCK, FRAGMENT_IN | FRAGMENT_OUT, STRUCTURE},
    {"pixel_position_in_tile", RF_PIXEL_IN_TILE, FRAGMENT_IN, UINT2},
    {"pixels_per_tile", RF_PIXELS_PER_TILE, FRAGMENT_IN, UINT2},
    {"tile_index", RF_TILE_INDEX, FRAGMENT_IN, UINT1},
};
enum { N_ROLES = sizeof roles / sizeof *roles };

// Attributes that say more about a value, but not what it is.
static const char *const hints[] = {"user",  "function_constant",  "invariant",          "shared",
                                    "index", "raster_order_group", "post_depth_coverage"};
static const struct {
    const char *name;
    uint8_t interpolation, place;
} qualifiers[] = {
    {"flat", ABI_FLAT, ABI_AT_CENTER},
    {"center_perspective", ABI_PERSPECTIVE, ABI_AT_CENTER},
    {"center_no_perspective", ABI_LINEAR, ABI_AT_CENTER},
    {"centroid_perspective", ABI_PERSPECTIVE, ABI_AT_CENTROID},
    {"centroid_no_perspective", ABI_LINEAR, ABI_AT_CENTROID},
    {"sample_perspective", ABI_PERSPECTIVE, ABI_AT_SAMPLE},
    {"sample_no_perspective", ABI_LINEAR, ABI_AT_SAMPLE},
};
enum { N_QUALIFIERS = sizeof qualifiers / sizeof *qualifiers };

// The values of one side of a function while they are collected.
typedef struct Side {
    ReflectBuilder *b;
    BridgeJob *job;
    RfFunction *f;
    unsigned where;
    bool result; // of the function, else a parameter
    RfValue *values;
    uint32_t n, rows;
    uint32_t location;       // of the parameter or function: members have one of their own
    uint32_t points, stride; // inside a patch_control_point<T>: its points, the bytes of T
} Side;

static const char *stage_name(const Side *s) {
    return s->where & (VERTEX_IN | VERTEX_OUT)         ? "vertex"
           : s->where & (MESH_VERTEX | MESH_PRIMITIVE) ? "mesh"
           : s->where == KERNEL_IN                     ? "kernel"
                                                       : "fragment";
}

static const char *thing(const Side *s) { return s->result ? "the result" : "an input"; }

static int role_named(const char *name) {
    for (int i = 0; i < N_ROLES; i++)
        if (strcmp(roles[i].name, name) == 0) return i;
    return -1;
}

static bool is_hint(const char *name) {
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (strcmp(hints[i], name) == 0) return true;
    for (size_t i = 0; i < N_QUALIFIERS; i++)
        if (strcmp(qualifiers[i].name, name) == 0) return true;
    return false;
}

static bool fits(uint8_t shape, uint32_t scalar, uint32_t n, bool array) {
    bool small = scalar == DT_UINT || scalar == DT_USHORT || scalar == DT_UCHAR;
    if (array != (shape == FLOATS && array)) return false;
    switch (shape) {
    case ANY:
        return scalar && scalar != DT_BOOL && scalar != DT_LONG && scalar != DT_ULONG &&
               scalar != DT_BFLOAT;
    case BETWEEN: return scalar == DT_BOOL || fits(ANY, scalar, n, array);
    case FLOAT4: return scalar == DT_FLOAT && n == 4;
    case FLOAT1:
    case FLOATS: return scalar == DT_FLOAT && n == 1;
    case UINT1: return small && n == 1;
    case WORD: return scalar == DT_UINT && n == 1;
    case BOOL1: return scalar == DT_BOOL && n == 1;
    case COORD: return (scalar == DT_FLOAT || scalar == DT_HALF) && n == 2;
    case FLOAT123: return (scalar == DT_FLOAT || scalar == DT_HALF) && n <= 3;
    case UINT2: return (scalar == DT_UINT || scalar == DT_USHORT) && n == 2;
    case FLOAT23: return scalar == DT_FLOAT && (n == 2 || n == 3);
    default: return false;
    }
}

static void set_index(Side *s, RfValue *v, const BridgeAttr *a, unsigned max) {
    if (a->n_args != 1 || a->args[0].is_string)
        reflect_report(s->job, a->location, "'%s' attribute takes one argument", a->name);
    else if (a->args[0].constant && v->role == RF_COLOR)
        s->b->failed |= !reflect_place(&v->given, a);
    else if (a->args[0].value < 0 || a->args[0].value > max)
        reflect_report(s->job, a->location,
                       "'%s' attribute parameter is out of bounds: must be between 0 and %u",
                       a->name, max);
    else
        v->index = (uint32_t)a->args[0].value;
}

// A hint or qualifier of a value.
static void set_hint(Side *s, RfValue *v, const BridgeAttr *a) {
    for (size_t i = 0; i < N_QUALIFIERS; i++)
        if (strcmp(qualifiers[i].name, a->name) == 0) {
            v->interpolation = qualifiers[i].interpolation;
            v->place = qualifiers[i].place;
        }
    const char *text = a->n_args && a->args[0].is_string ? a->args[0].text : NULL;
    if (strcmp(a->name, "user") == 0 && text) {
        free(v->name);
        v->name = strdup(text);
        v->user = 1;
    } else if (strcmp(a->name, "invariant") == 0) {
        v->invariant = 1;
    } else if (strcmp(a->name, "index") == 0 && a->n_args == 1 && !a->args[0].is_string) {
        if (a->args[0].value < 0 || a->args[0].value > 1)
            reflect_report(s->job, a->location,
                           "'index' attribute parameter is out of bounds: must be between 0 and 1");
        v->source = a->args[0].value == 1;
    } else if (strcmp(a->name, "function_constant") == 0 && text) {
        free(v->condition);
        v->condition = bridge_find_variable(s->job, text);
        if (!v->condition)
            reflect_report(s->job, a->location, "use of undeclared function constant '%s'", text);
        else
            reflect_condition(s->b, s->job, a, v->condition);
    }
}

static void set_role(Side *s, RfValue *v, int k, const BridgeAttr *a) {
    const char *text = a->n_args && a->args[0].is_string ? a->args[0].text : NULL;
    v->role = roles[k].role;
    if (v->role == RF_ATTRIBUTE) set_index(s, v, a, MAX_ATTRIBUTE);
    if (v->role == RF_COLOR) set_index(s, v, a, ABI_MAX_COLORS - 1);
    if (v->role != RF_DEPTH) return;
    if (!text || strcmp(text, "any") == 0)
        v->qualifier = 0;
    else if (strcmp(text, "greater") == 0)
        v->qualifier = 1;
    else if (strcmp(text, "less") == 0)
        v->qualifier = 2;
    else
        reflect_report(s->job, a->location,
                       "'depth' attribute takes any, greater or less, not '%s'", text);
}

// Twice the same built-in value, attribute or colour in one structure.
static void check_twice(Side *s, const RfValue *v, uint32_t at, const char *name) {
    for (uint32_t i = 0; i < s->n; i++) {
        const RfValue *o = &s->values[i];
        if (o == v || o->role != v->role || o->index != v->index || o->source != v->source)
            continue;
        if (*o->condition || *v->condition) continue;         // perhaps one of them at a time
        if (o->given.constant || v->given.constant) continue; // known when they have values
        if (v->role == RF_VALUE && (o->user != v->user || strcmp(o->name, v->name) != 0)) continue;
        if (v->role == RF_VALUE)
            reflect_report(s->job, at, "two values of %s function '%s' are called '%s'",
                           stage_name(s), s->f->name, v->name);
        else if (v->role == RF_ATTRIBUTE || (v->role == RF_COLOR && s->result))
            reflect_report(s->job, at, "'%s(%u)' is used twice in %s function '%s'", name, v->index,
                           stage_name(s), s->f->name);
        else if (s->result)
            reflect_report(s->job, at, "'%s' is used twice in %s function '%s'", name,
                           stage_name(s), s->f->name);
        else
            continue;
        return;
    }
}

// Interpolation: one way of it, and none but flat for integers; invariant: of positions.
static void check_hints(const Side *s, const BridgeDecl *d, const RfValue *v, uint32_t scalar) {
    const BridgeAttr *way = NULL;
    for (size_t i = 0; i < d->n_attrs; i++) {
        const BridgeAttr *a = &d->attrs[i];
        if (strcmp(a->name, "invariant") == 0 && v->role != RF_POSITION && s->where != FRAGMENT_IN)
            reflect_report(s->job, a->location, "'invariant' attribute only applies to positions");
        for (size_t k = 0; k < N_QUALIFIERS; k++) {
            if (strcmp(qualifiers[k].name, a->name) != 0) continue;
            if (way)
                reflect_report(s->job, a->location,
                               "'%s' is interpolated in two ways: '%s' and '%s'", v->name,
                               way->name, a->name);
            way = a;
            if (qualifiers[k].interpolation != ABI_FLAT && scalar && scalar != DT_FLOAT &&
                scalar != DT_HALF)
                reflect_report(s->job, a->location,
                               "'%s' of type '%s' cannot be interpolated: it can only be flat",
                               v->name, s->b->lib->types[d->type].name);
        }
    }
}

// A member of a fragment function's result that says nothing is a colour, the next one that is
// free: older translators of GLSL write `struct Out { half4 gl_FragColor; };`.
static void take_color(Side *s, RfValue *v, uint32_t at) {
    v->role = RF_COLOR;
    for (uint32_t i = 0; i < s->n; i++) {
        const RfValue *o = &s->values[i];
        if (o == v || o->role != RF_COLOR || o->index != v->index) continue;
        v->index++;
        i = UINT32_MAX; // from the first again
    }
    if (v->index >= ABI_MAX_COLORS)
        reflect_report(s->job, at, "the result of fragment function '%s' has more than %d colours",
                       s->f->name, ABI_MAX_COLORS);
}

// A structure of an imageblock, or the members of a view of one.
static void add_pieces(Side *s, RfValue *v, uint32_t type, const BridgeAttr *said, uint32_t at) {
    ImageblockPiece pieces[IMAGEBLOCK_MAX_PIECES];
    const uint32_t n = reflect_imageblock_data(s->b, s->job, s->f, type, said, pieces, at);
    const RfValue whole = *v;
    for (uint32_t i = 0; i < n && s->n < MAX_VALUES; i++) {
        RfValue *piece = i ? &s->values[s->n++] : v;
        *piece = whole;
        if (i) piece->name = strdup(whole.name), piece->condition = strdup(whole.condition);
        s->b->failed |= !piece->name || !piece->condition;
        piece->data_type = DT_UINT, piece->n = 1;
        piece->offset += pieces[i].offset;
        piece->row = pieces[i].from, piece->stride = pieces[i].bytes;
        piece->source = pieces[i].view;
    }
}

// One scalar or vector (or array of clip distances) becomes a value.
static void add_leaf(Side *s, const BridgeDecl *d, uint32_t type, uint32_t param, uint32_t offset,
                     const char *name, uint8_t bare) {
    const RfType *t = &s->b->lib->types[type];
    uint32_t at = d->location ? d->location : s->location, n, count = 1;
    const BridgeAttr *said = NULL;
    bool refused = false;
    int k = -1;
    if (s->n >= MAX_VALUES) {
        reflect_report(s->job, at, "%s of %s function '%s' has too many members", thing(s),
                       stage_name(s), s->f->name);
        return;
    }
    RfValue *v = &s->values[s->n];
    *v = (RfValue){.name = strdup(strncmp(name, "__unnamed_", 10) == 0 ? "" : name),
                   .param = param,
                   .offset = offset,
                   .role = bare,
                   .points = s->points,
                   .stride = s->stride,
                   .primitive = s->where == MESH_PRIMITIVE};
    s->n++;
    for (size_t i = 0; i < d->n_attrs; i++) {
        const BridgeAttr *a = &d->attrs[i];
        int which = role_named(a->name);
        if (which >= 0 && (roles[which].where & s->where)) {
            k = which, said = a;
            set_role(s, v, which, a);
        } else if (is_hint(a->name)) {
            set_hint(s, v, a);
        } else if (which < 0 || roles[which].role != RF_ATTRIBUTE ||
                   !(s->where & (VERTEX_OUT | FRAGMENT_IN))) {
            reflect_report(s->job, a->location,
                           "'%s' attribute cannot be applied to %s of a %s function", a->name,
                           thing(s), stage_name(s));
            refused = true;
        }
    }
    if (!v->condition) v->condition = strdup("");
    if (!v->name || !v->condition) {
        s->b->failed = true;
        return;
    }
    bool array = t->data_type == DT_ARRAY;
    if (array && t->element != UINT32_MAX) {
        count = t->n_elements;
        t = &s->b->lib->types[t->element];
    }
    uint32_t scalar = rf_scalar_of(t->data_type, &n);
    if (v->role == RF_VALUE && s->where == FRAGMENT_OUT) {
        take_color(s, v, at);
        bare = RF_COLOR;
    }
    for (int i = 0; k < 0 && bare && i < N_ROLES; i++)
        if (roles[i].role == bare) k = i;
    const char *role_name = k >= 0 ? roles[k].name : "stage_in";
    if (v->role == RF_VALUE && (s->where & (VERTEX_IN | KERNEL_IN))) {
        if (!refused)
            reflect_report(s->job, at,
                           "member '%s' of the stage_in structure of %s function '%s' must have "
                           "the attribute 'attribute(n)'",
                           d->name, stage_name(s), s->f->name);
        s->n--;
        free(v->name);
        free(v->condition);
        return;
    }
    if (v->role == RF_IMAGEBLOCK) {
        check_twice(s, v, said ? said->location : at, role_name);
        add_pieces(s, v, type, said, at);
        return;
    }
    check_hints(s, d, v, scalar);
    bool ok = fits(k >= 0 ? roles[k].shape : BETWEEN, scalar, n, array);
    if (ok && v->role == RF_CLIP_DISTANCE) ok = count >= 1 && count <= ABI_MAX_CLIP;
    if (!ok) {
        if (k < 0)
            reflect_report(s->job, at, "type '%s' of '%s' is not valid for a value between stages",
                           s->b->lib->types[type].name, v->name);
        else
            reflect_report(s->job, said ? said->location : at,
                           "type '%s' is not valid for attribute '%s'", s->b->lib->types[type].name,
                           role_name);
        n = scalar ? n : 1;
    }
    v->data_type = scalar ? t->data_type : DT_FLOAT;
    v->n = v->role == RF_CLIP_DISTANCE ? count : n;
    if (v->role == RF_VALUE) {
        if (scalar != DT_FLOAT && scalar != DT_HALF) v->interpolation = ABI_FLAT;
        v->row = s->rows;
        s->rows += v->n;
    }
    check_twice(s, v, said ? said->location : at, role_name);
}

static void add_value(Side *s, const BridgeDecl *d, uint32_t type, uint32_t param, uint32_t offset,
                      const char *name, uint8_t bare, int depth);

static bool is_control_points(const BridgeType *info) {
    return info->kind == BRIDGE_TYPE_METAL && info->n_args == 1 &&
           strcmp(info->template_name, "patch_control_point") == 0;
}

// The array itself, then what a point of it is made of.
static void add_control_points(Side *s, const BridgeDecl *d, const BridgeType *info, uint32_t param,
                               uint32_t offset, const char *name, int depth) {
    uint32_t element = info->arg_types[0], at = d->location ? d->location : s->location;
    if (!s->f->patch || s->points || element >= s->b->lib->n_types || s->n >= MAX_VALUES) {
        reflect_report(s->job, at,
                       "'%s': control points are for stage inputs of functions with "
                       "the attribute 'patch'",
                       name);
        return;
    }
    RfValue *v = &s->values[s->n++];
    s->points = s->f->patch_points ? s->f->patch_points : ABI_MAX_CONTROL_POINTS;
    uint32_t align = s->b->lib->types[element].align ? s->b->lib->types[element].align : 1;
    s->stride = (s->b->lib->types[element].size + align - 1) / align * align;
    *v = (RfValue){.name = strdup(name),
                   .condition = strdup(""),
                   .role = RF_CONTROL_POINTS,
                   .param = param,
                   .offset = offset,
                   .data_type = DT_UINT,
                   .n = 1,
                   .points = s->points,
                   .stride = s->stride};
    s->b->failed |= !v->name || !v->condition;
    const BridgeType *of = &s->b->infos[element];
    if (of->kind != BRIDGE_TYPE_RECORD)
        reflect_report(s->job, at,
                       "type '%s' is not valid for a control point: it must be a "
                       "structure",
                       s->b->lib->types[element].name);
    for (size_t i = 0; of->kind == BRIDGE_TYPE_RECORD && i < of->n_members; i++)
        add_value(s, &of->members[i], of->members[i].type, param, of->members[i].offset,
                  of->members[i].name, RF_VALUE, depth + 1);
    s->points = s->stride = 0;
}

static bool is_interpolant(const BridgeType *info) {
    return info->kind == BRIDGE_TYPE_METAL && info->n_args == 2 &&
           strcmp(info->template_name, "interpolant") == 0;
}

// interpolant<T, P>: a value of type T whose planes the function gets.
static void add_interpolant(Side *s, const BridgeDecl *d, const BridgeType *info, uint32_t param,
                            uint32_t offset, const char *name) {
    uint32_t n, scalar = 0, before = s->n, type = info->arg_types[0];
    if (type < s->b->lib->n_types) scalar = rf_scalar_of(s->b->lib->types[type].data_type, &n);
    if (scalar != DT_FLOAT && scalar != DT_HALF) {
        reflect_report(s->job, d->location ? d->location : s->location,
                       "'%s': an interpolant is made of float or half", name);
        return;
    }
    add_leaf(s, d, type, param, offset, name, RF_VALUE);
    if (s->n == before) return;
    s->values[before].pull = 1;
    s->values[before].place = ABI_AT_CENTER;
    s->values[before].interpolation = info->arg_values[1] ? ABI_LINEAR : ABI_PERSPECTIVE;
}

// Structures are taken apart, arrays too unless they are clip distances.
static void add_value(Side *s, const BridgeDecl *d, uint32_t type, uint32_t param, uint32_t offset,
                      const char *name, uint8_t bare, int depth) {
    const BridgeType *info = &s->b->infos[type];
    const RfType *t = &s->b->lib->types[type];
    bool has_role = false;
    for (size_t i = 0; i < d->n_attrs; i++) has_role |= role_named(d->attrs[i].name) >= 0;
    if (depth > MAX_DEPTH) return;
    if (is_control_points(info) && s->where == VERTEX_IN) {
        add_control_points(s, d, info, param, offset, name, depth);
        return;
    }
    if (is_interpolant(info) && s->where == FRAGMENT_IN) {
        add_interpolant(s, d, info, param, offset, name);
        return;
    }
    if (info->kind == BRIDGE_TYPE_RECORD && !has_role) {
        for (size_t i = 0; i < info->n_members; i++) {
            const BridgeDecl *m = &info->members[i];
            add_value(s, m, m->type, param, offset + m->offset, m->name, RF_VALUE, depth + 1);
        }
        return;
    }
    if (t->data_type == DT_ARRAY && !has_role && t->element != UINT32_MAX && t->n_elements <= 32) {
        for (uint32_t i = 0; i < t->n_elements; i++) {
            const char *element = arena_format(s->b->arena, "%s[%u]", name, i);
            if (element)
                add_value(s, d, t->element, param, offset + i * t->stride, element, bare,
                          depth + 1);
        }
        return;
    }
    add_leaf(s, d, type, param, offset, name, bare);
}

static bool open_side(Side *s) {
    s->values = calloc(MAX_VALUES, sizeof *s->values);
    s->b->failed |= !s->values;
    return s->values != NULL;
}

static void check_rows(const Side *s, uint32_t at) {
    if (s->rows > ABI_MAX_VARYINGS)
        reflect_report(s->job, at,
                       "%s function '%s' has %u components between stages: there may be %u",
                       stage_name(s), s->f->name, s->rows, ABI_MAX_VARYINGS);
}

static bool has_role(const BridgeDecl *d, unsigned where) {
    for (size_t i = 0; i < d->n_attrs; i++) {
        int k = role_named(d->attrs[i].name);
        if (k >= 0 && (roles[k].where & where)) return true;
    }
    return false;
}

// A structure of built-in values, such as the colours of the framebuffer, needs no [[stage_in]].
static bool is_structure_of_roles(const ReflectBuilder *b, uint32_t type, unsigned where,
                                  int depth) {
    const BridgeType *info = &b->infos[type];
    if (info->kind != BRIDGE_TYPE_RECORD || !info->n_members || depth > MAX_DEPTH) return false;
    for (size_t i = 0; i < info->n_members; i++)
        if (!has_role(&info->members[i], where) &&
            !is_structure_of_roles(b, info->members[i].type, where, depth + 1))
            return false;
    return true;
}

// Resources may carry [[user(...)]] too: cross-compilers give those without an index such names.
bool reflect_is_stage_input(const ReflectBuilder *b, const RfFunction *f, const BridgeDecl *p) {
    uint32_t n;
    bool graphics = f->stage == RF_VERTEX || f->stage == RF_FRAGMENT;
    bool number = graphics && rf_scalar_of(b->lib->types[p->type].data_type, &n) != 0;
    unsigned where = f->stage == RF_VERTEX ? VERTEX_IN : graphics ? FRAGMENT_IN : 0;
    if (has_role(p, where)) return true;
    if (!graphics && f->stage != RF_KERNEL) return false;
    for (size_t i = 0; i < p->n_attrs; i++) {
        if (strcmp(p->attrs[i].name, "stage_in") == 0) return true;
        if (strcmp(p->attrs[i].name, "user") == 0 && number) return true;
    }
    return graphics && is_structure_of_roles(b, p->type, where, 0);
}

static void add_parameter(Side *s, const BridgeDecl *p, uint32_t ordinal, uint32_t *stage_ins) {
    const BridgeAttr *stage_in = NULL;
    for (size_t i = 0; i < p->n_attrs; i++)
        if (strcmp(p->attrs[i].name, "stage_in") == 0) stage_in = &p->attrs[i];
    s->location = p->location;
    if (!stage_in) {
        add_value(s, p, p->type, ordinal, 0, p->name, RF_VALUE, 0);
        return;
    }
    if ((*stage_ins)++)
        reflect_report(s->job, stage_in->location, "%s function '%s' has more than one 'stage_in'",
                       stage_name(s), s->f->name);
    uint32_t n;
    bool one = s->where == FRAGMENT_IN && rf_scalar_of(s->b->lib->types[p->type].data_type, &n);
    if (s->b->infos[p->type].kind != BRIDGE_TYPE_RECORD &&
        !is_control_points(&s->b->infos[p->type]) && !one) {
        reflect_report(s->job, stage_in->location,
                       "type '%s' is not valid for attribute 'stage_in': it must be a structure",
                       s->b->lib->types[p->type].name);
        return;
    }
    BridgeDecl plain = *p; // what follows describes members
    plain.attrs = NULL, plain.n_attrs = 0;
    add_value(s, &plain, p->type, ordinal, 0, p->name, RF_VALUE, 0);
}

static void add_result(Side *s, const BridgeFunction *from) {
    BridgeDecl d = from->decl;
    BridgeAttr *attrs = d.n_attrs ? base_arena_alloc(s->b->arena, d.n_attrs, sizeof *attrs) : NULL;
    BridgeTypeKind kind = s->b->infos[d.type].kind;
    size_t n = 0;
    if (kind == BRIDGE_TYPE_VOID) return;
    for (size_t i = 0; attrs && i < d.n_attrs;
         i++) // those of the function itself are not its result's
        if (role_named(d.attrs[i].name) >= 0 || is_hint(d.attrs[i].name)) attrs[n++] = d.attrs[i];
    d.attrs = attrs, d.n_attrs = n;
    s->location = d.location;
    add_value(s, &d, d.type, UINT32_MAX, 0, "", s->where == VERTEX_OUT ? RF_POSITION : RF_COLOR, 0);
    bool position = false;
    for (uint32_t i = 0; i < s->n; i++) position |= s->values[i].role == RF_POSITION;
    if (s->where == VERTEX_OUT && !position)
        reflect_report(
            s->job, d.location,
            "vertex function '%s' returns no position: a member of '%s' must have the attribute "
            "'position'",
            s->f->name, s->b->lib->types[d.type].name);
}

static void set_patch(BridgeJob *job, RfFunction *f, const BridgeAttr *a) {
    const char *type = a->n_args && a->args[0].is_string ? a->args[0].text : "";
    f->patch = strcmp(type, "triangle") == 0 ? 1 : strcmp(type, "quad") == 0 ? 2 : 0;
    if (!f->patch)
        reflect_report(job, a->location,
                       "'patch' attribute takes triangle or quad and a number of control points");
    if (a->n_args < 2) return;
    char *end = NULL;
    long n = a->args[1].is_string ? strtol(a->args[1].text, &end, 0) : (long)a->args[1].value;
    if (n < 0 || n > (long)ABI_MAX_CONTROL_POINTS || (end && *end && strcmp(end, "u") != 0))
        reflect_report(job, a->location,
                       "'patch' attribute parameter is out of bounds: must be between 0 and %u",
                       ABI_MAX_CONTROL_POINTS);
    else
        f->patch_points = (uint32_t)n;
}

// What does not go with patches, or not without.
static void check_patch(const Side *in) {
    for (uint32_t i = 0; i < in->n; i++) {
        const RfValue *v = &in->values[i];
        bool patch = v->role == RF_PATCH_ID || v->role == RF_POSITION_IN_PATCH;
        if ((patch && !in->f->patch) || (v->role == RF_VERTEX_ID && in->f->patch) ||
            (v->role == RF_POSITION_IN_PATCH && v->n != (in->f->patch == 1 ? 3u : 2u)))
            reflect_report(in->job, in->location,
                           "input '%s' of vertex function '%s' does not go with %s patches",
                           v->name, in->f->name,
                           in->f->patch == 1   ? "triangle"
                           : in->f->patch == 2 ? "quad"
                                               : "no");
    }
}

// Vertices and primitives of a mesh, in one list: their rows follow each other.
void reflect_mesh_values(ReflectBuilder *b, BridgeJob *job, RfFunction *f, uint32_t vertex,
                         uint32_t primitive, uint32_t at) {
    Side s = {.b = b, .job = job, .f = f, .where = MESH_VERTEX, .result = true, .location = at};
    BridgeDecl none = {.name = "", .location = at};
    if (!open_side(&s)) return;
    bool position = false;
    add_value(&s, &none, vertex, UINT32_MAX, 0, "", RF_VALUE, 0);
    for (uint32_t i = 0; i < s.n; i++) position |= s.values[i].role == RF_POSITION;
    if (!position)
        reflect_report(job, at,
                       "the vertices of mesh function '%s' have no position: a member of '%s' must "
                       "have the attribute 'position'",
                       f->name, b->lib->types[vertex].name);
    s.where = MESH_PRIMITIVE;
    if (primitive < b->lib->n_types && b->infos[primitive].kind != BRIDGE_TYPE_VOID)
        add_value(&s, &none, primitive, UINT32_MAX, 0, "", RF_VALUE, 0);
    check_rows(&s, at);
    f->outputs = s.values, f->n_outputs = s.n, f->output_rows = s.rows;
}

bool reflect_is_colors(const ReflectBuilder *b, uint32_t type) {
    return is_structure_of_roles(b, type, FRAGMENT_OUT, 0);
}

// The colours of an implicit imageblock.
void reflect_imageblock_values(ReflectBuilder *b, BridgeJob *job, RfFunction *f, uint32_t type,
                               uint32_t at) {
    Side s = {.b = b, .job = job, .f = f, .where = FRAGMENT_OUT, .result = true, .location = at};
    BridgeDecl none = {.name = "", .location = at};
    if (!open_side(&s)) return;
    add_value(&s, &none, type, UINT32_MAX, 0, "", RF_VALUE, 0);
    for (uint32_t i = 0; i < s.n; i++)
        if (s.values[i].role != RF_COLOR)
            reflect_report(job, at, "member '%s' of the imageblock of '%s' is not a color(n)",
                           s.values[i].name, f->name);
    f->outputs = s.values, f->n_outputs = s.n;
}

void reflect_stage_values(ReflectBuilder *b, BridgeJob *job, RfFunction *f,
                          const BridgeFunction *from) {
    bool is_vertex = f->stage == RF_VERTEX;
    Side in = {.b = b, .job = job, .f = f, .where = is_vertex ? VERTEX_IN : FRAGMENT_IN};
    Side out = {
        .b = b, .job = job, .f = f, .where = is_vertex ? VERTEX_OUT : FRAGMENT_OUT, .result = true};
    uint32_t stage_ins = 0;
    for (size_t i = 0; i < from->decl.n_attrs; i++) {
        const BridgeAttr *a = &from->decl.attrs[i];
        if (strcmp(a->name, "early_fragment_tests") == 0) f->early_tests = 1;
        if (strcmp(a->name, "patch") == 0) set_patch(job, f, a);
    }
    if (!open_side(&in) || !open_side(&out)) {
        free(in.values);
        return;
    }
    for (uint32_t i = 0; i < from->n_params; i++)
        if (reflect_is_stage_input(b, f, &from->params[i]))
            add_parameter(&in, &from->params[i], i, &stage_ins);
    in.location = from->decl.location;
    check_patch(&in);
    add_result(&out, from);
    check_rows(&in, from->decl.location);
    check_rows(&out, from->decl.location);
    f->inputs = in.values, f->n_inputs = in.n, f->input_rows = in.rows;
    f->outputs = out.values, f->n_outputs = out.n, f->output_rows = out.rows;
}

// A structure without a member that is none itself; what it is derived from counts as one.
static bool is_empty(const ReflectBuilder *b, uint32_t type) {
    const RfType *t = &b->lib->types[type];
    if (b->infos[type].kind != BRIDGE_TYPE_RECORD) return false;
    for (uint32_t i = 0; i < t->n_members; i++)
        if (!is_empty(b, t->members[i].type)) return false;
    return true;
}

// Attributes of a kernel; how they lie in buffers is said by the pipeline's descriptor.
void reflect_kernel_inputs(ReflectBuilder *b, BridgeJob *job, RfFunction *f,
                           const BridgeFunction *from) {
    Side in = {.b = b, .job = job, .f = f, .where = KERNEL_IN};
    uint32_t stage_ins = 0;
    for (uint32_t i = 0; i < from->n_params; i++) {
        if (!reflect_is_stage_input(b, f, &from->params[i])) continue;
        if (!in.values && !open_side(&in)) return;
        const uint32_t before = in.n;
        add_parameter(&in, &from->params[i], i, &stage_ins);
        if (in.n == before &&
            is_empty(b, from->params[i].type)) // of others it was said what is wrong
            reflect_report(job, from->params[i].location,
                           "the stage_in structure of kernel '%s' has no members", f->name);
    }
    f->inputs = in.values, f->n_inputs = in.n;
}
