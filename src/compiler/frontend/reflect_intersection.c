// SPDX-License-Identifier: Apache-2.0
// reflect_intersection.c: intersection functions in reflection. What stands in the attribute
// [[intersection(...)]] becomes a signature that tables and intersectors are compared with; inputs
// and answers become values that name words of a candidate (abi/candidate.h). Buffers, which the
// function table holds, are arguments as those of other functions are.
#include "compiler/frontend/frontend_int.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/candidate.h"
#include "abi/cpu_rays.h"
#include "abi/data_types.h"

enum { MAX_VALUES = 96, MAX_PAYLOAD = 16384 };
enum { // what an input may look at
    TRIANGLE = 1 << CPU_HIT_TRIANGLE,
    BOX = 1 << CPU_HIT_BOX,
    CURVE = 1 << CPU_HIT_CURVE,
    ALL = TRIANGLE | BOX | CURVE,
};
typedef enum Shape {
    FLOAT1,
    FLOAT2,
    FLOAT3,
    UINT1, // uint or ushort
    IDS,   // the same, or array_ref<uint> where there are levels
    BOOL1,
    MATRIX, // float4x3
    ADDRESS,
    PAYLOAD,
} Shape;

static const struct {
    const char *name;
    uint8_t word, shape, primitives;
    uint16_t tags; // all of them are needed
} inputs[] =
    {
        {"origin", ABI_CAND_ORIGIN, FLOAT3, ALL, 0},
        {"direction", ABI_CAND_DIRECTION, FLOAT3, ALL, 0},
        {"min_distance", ABI_CAND_MIN, FLOAT1, ALL, 0},
        {"max_distance", ABI_CAND_MAX, FLOAT1, ALL, 0},
        {"payload", 0, PAYLOAD, ALL, 0},
        {"geometry_id", ABI_CAND_GEOMETRY, UINT1, ALL, 0},
        {"primitive_id", ABI_CAND_PRIMITIVE, UINT1, ALL, 0},
        {"instance_id", ABI_CAND_INSTANCE, IDS, ALL, ABI_TAG_INSTANCING},
        {"user_instance_id", ABI_CAND_USER, IDS, ALL, ABI_TAG_INSTANCING},
        {"world_space_origin", ABI_CAND_WORLD_ORIGIN, FLOAT3, ALL, ABI_TAG_WORLD_SPACE_DATA},
        {"world_space_direction", ABI_CAND_WORLD_DIRECTION, FLOAT3, ALL, ABI_TAG_WORLD_SPACE_DATA},
        {"barycentric_coord", ABI_CAND_U, FLOAT2, TRIANGLE, ABI_TAG_TRIANGLE_DATA},
        {"front_facing", ABI_CAND_FRONT, BOOL1, TRIANGLE, ABI_TAG_TRIANGLE_DATA},
        {"distance", ABI_CAND_DISTANCE, FLOAT1, TRIANGLE | CURVE, 0},
        {"opaque", ABI_CAND_OPAQUE, BOOL1, BOX, 0},
        {"instance_intersection_function_table_offset", ABI_CAND_INSTANCE_OFFSET, UINT1, ALL, 0},
        {"geometry_intersection_function_table_offset", ABI_CAND_GEOMETRY_OFFSET, UINT1, ALL, 0},
        {"time", ABI_CAND_TIME, FLOAT1, ALL, ABI_TAG_PRIMITIVE_MOTION},
        {"motion_start_time", ABI_CAND_START, FLOAT1, ALL, ABI_TAG_PRIMITIVE_MOTION},
        {"motion_end_time", ABI_CAND_START + 1, FLOAT1, ALL, ABI_TAG_PRIMITIVE_MOTION},
        {"key_frame_count", ABI_CAND_KEYFRAMES, UINT1, ALL, ABI_TAG_PRIMITIVE_MOTION},
        {"object_to_world_transform", ABI_CAND_TO_WORLD, MATRIX, ALL,
         ABI_TAG_INSTANCING | ABI_TAG_WORLD_SPACE_DATA},
        {"world_to_object_transform", ABI_CAND_TO_OBJECT, MATRIX, ALL,
         ABI_TAG_INSTANCING | ABI_TAG_WORLD_SPACE_DATA},
        {"primitive_data", ABI_CAND_DATA, ADDRESS, ALL, 0},
        {"curve_parameter", ABI_CAND_U, FLOAT1, CURVE, ABI_TAG_CURVE_DATA},
        {"function_id", ABI_CAND_FUNCTION, UINT1, ALL, ABI_TAG_FUNCTION_BUFFER},
        {"user_data_buffer", ABI_CAND_USER_DATA, ADDRESS, ALL,
         ABI_TAG_FUNCTION_BUFFER | ABI_TAG_USER_DATA},
},
  answers[] = {
      {"accept_intersection", ABI_CAND_ACCEPT, BOOL1, ALL, 0},
      {"continue_search", ABI_CAND_CONTINUE, BOOL1, ALL, 0},
      {"distance", ABI_CAND_DISTANCE, FLOAT1, BOX, 0},
};
enum { N_INPUTS = sizeof inputs / sizeof *inputs, N_ANSWERS = sizeof answers / sizeof *answers };

typedef struct Intersection {
    ReflectBuilder *b;
    BridgeJob *job;
    RfFunction *f;
    unsigned tags, primitive;
} Intersection;

// ---- primitive and tags ----

static const char *last_word(const char *text) {
    for (const char *at; (at = strstr(text, "::"));) text = at + 2;
    return text;
}

static unsigned tag_named(const char *text) {
    static const char *const names[] = {
        "instancing",      "triangle_data",    "world_space_data",
        "instance_motion", "primitive_motion", "extended_limits",
        "max_levels",      "curve_data",       "intersection_function_buffer",
        "user_data"};
    const char *name = last_word(text);
    size_t n = strcspn(name, "<");
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == n && strncmp(names[i], name, n) == 0) return 1u << i;
    return 0;
}

static void read_attribute(Intersection *x, const BridgeAttr *a) {
    static const char *const primitives[] = {
        [CPU_HIT_TRIANGLE] = "triangle", [CPU_HIT_BOX] = "bounding_box", [CPU_HIT_CURVE] = "curve"};
    const char *first = a->n_args && a->args[0].is_string ? last_word(a->args[0].text) : "";
    for (unsigned k = CPU_HIT_TRIANGLE; k <= CPU_HIT_CURVE; k++)
        if (strcmp(primitives[k], first) == 0) x->primitive = k;
    if (!x->primitive)
        reflect_report(x->job, a->location,
                       "'intersection' attribute takes triangle, bounding_box or curve first");
    for (size_t i = 1; i < a->n_args; i++) {
        unsigned tag = a->args[i].is_string ? tag_named(a->args[i].text) : 0;
        if (!tag)
            reflect_report(x->job, a->location, "'%s' is not a tag of intersection functions",
                           a->args[i].is_string ? a->args[i].text : "a number");
        x->tags |= tag;
    }
    if (x->tags & ABI_TAG_USER_DATA && !(x->tags & ABI_TAG_FUNCTION_BUFFER))
        reflect_report(x->job, a->location, "'user_data' needs 'intersection_function_buffer'");
    if (x->tags & ABI_TAG_MAX_LEVELS && !(x->tags & ABI_TAG_INSTANCING))
        reflect_report(x->job, a->location, "'max_levels' needs 'instancing'");
}

// ---- values ----

static int input_named(const char *name) {
    for (int i = 0; i < N_INPUTS; i++)
        if (strcmp(inputs[i].name, name) == 0) return i;
    return -1;
}

static void push(Intersection *x, bool answer, const BridgeDecl *d, RfValue v) {
    RfFunction *f = x->f;
    uint32_t *n = answer ? &f->n_outputs : &f->n_inputs;
    RfValue **list = answer ? &f->outputs : &f->inputs;
    if (!*list) *list = calloc(MAX_VALUES, sizeof **list);
    if (!*list || *n == MAX_VALUES) {
        x->b->failed |= !*list;
        return;
    }
    v.name = strdup(d->name), v.condition = strdup("");
    x->b->failed |= !v.name || !v.condition;
    (*list)[(*n)++] = v;
}

static bool is_list(const BridgeType *info) {
    return info->kind == BRIDGE_TYPE_METAL && strcmp(info->template_name, "array_ref") == 0;
}

static void add_payload(Intersection *x, const BridgeDecl *p, RfValue v) {
    const BridgeType *info = &x->b->infos[p->type];
    bool reference = info->kind == BRIDGE_TYPE_REFERENCE || info->kind == BRIDGE_TYPE_POINTER;
    if (!reference || info->space != BRIDGE_SPACE_THREAD || info->element >= x->b->lib->n_types) {
        reflect_report(x->job, p->location,
                       "the payload '%s' of '%s' must be a reference in the ray_data address space",
                       p->name, x->f->name);
        return;
    }
    x->f->payload_bytes = x->b->infos[info->element].size;
    if (x->f->payload_bytes > MAX_PAYLOAD) {
        reflect_report(x->job, p->location, "the payload '%s' takes %u bytes: there may be %d",
                       p->name, x->f->payload_bytes, MAX_PAYLOAD);
        x->f->payload_bytes = 0;
    }
    v.role = RF_RAY_PAYLOAD;
    push(x, false, p, v);
}

// Whether a scalar or vector has the shape.
static bool fits(uint8_t shape, uint32_t scalar, uint32_t n) {
    switch (shape) {
    case FLOAT1:
    case FLOAT2:
    case FLOAT3: return scalar == DT_FLOAT && n == shape - FLOAT1 + 1u;
    case IDS:
    case UINT1: return (scalar == DT_UINT || scalar == DT_USHORT) && n == 1;
    case BOOL1: return scalar == DT_BOOL && n == 1;
    default: return false;
    }
}

// One input or answer of a type at an offset of its parameter or of the result.
static void add_value(Intersection *x, const BridgeDecl *d, const char *attribute, uint8_t word,
                      uint8_t shape, RfValue v, bool answer) {
    const BridgeType *info = &x->b->infos[d->type];
    const RfType *t = &x->b->lib->types[d->type];
    uint32_t n, scalar = rf_scalar_of(t->data_type, &n);
    v.role = RF_CANDIDATE, v.row = word, v.data_type = DT_UINT, v.n = 1;
    if (shape == PAYLOAD) {
        add_payload(x, d, v);
        return;
    }
    bool pointer = info->kind == BRIDGE_TYPE_POINTER || info->kind == BRIDGE_TYPE_REFERENCE;
    if (shape == ADDRESS && pointer && info->space == BRIDGE_SPACE_DEVICE && info->is_const) {
        v.role = RF_CANDIDATE_ADDRESS;
        push(x, answer, d, v);
    } else if (shape == IDS && x->tags & ABI_TAG_MAX_LEVELS && is_list(info)) {
        v.role = RF_CANDIDATE_LIST;
        v.row = word == ABI_CAND_INSTANCE ? ABI_CAND_INSTANCES : ABI_CAND_USERS;
        push(x, answer, d, v);
    } else if (shape == MATRIX && t->data_type == DT_FLOAT2X2 + 2 * 3 + 1) { // 4 columns, 3 rows
        v.data_type = DT_FLOAT + 2, v.n = 3;
        for (uint32_t c = 0; c < 4; c++, v.row += 3, v.offset += t->size / 4) push(x, answer, d, v);
    } else if (fits(shape, scalar, n)) {
        v.data_type = t->data_type, v.n = n;
        push(x, answer, d, v);
    } else {
        reflect_report(x->job, d->location, "type '%s' is not valid for attribute '%s'", t->name,
                       attribute);
    }
}

static void check_needs(const Intersection *x, const BridgeAttr *a, uint8_t primitives,
                        unsigned tags) {
    if (x->primitive && !(primitives >> x->primitive & 1))
        reflect_report(x->job, a->location, "'%s' attribute does not go with what '%s' looks at",
                       a->name, x->f->name);
    else if ((x->tags & tags) != tags)
        reflect_report(x->job, a->location,
                       "'%s' attribute needs a tag that 'intersection' of '%s' does not have",
                       a->name, x->f->name);
}

bool reflect_is_intersection_input(const BridgeDecl *p) {
    for (size_t i = 0; i < p->n_attrs; i++)
        if (input_named(p->attrs[i].name) >= 0) return true;
    return false;
}

static void add_answers(Intersection *x, const BridgeFunction *from) {
    const BridgeType *info = &x->b->infos[from->decl.type];
    bool accept = false, distance = false;
    if (info->kind == BRIDGE_TYPE_BOOL && x->primitive != CPU_HIT_BOX) {
        add_value(x, &from->decl, answers[0].name, answers[0].word, answers[0].shape,
                  (RfValue){.param = UINT32_MAX}, true);
        return;
    }
    for (size_t i = 0; info->kind == BRIDGE_TYPE_RECORD && i < info->n_members; i++) {
        const BridgeDecl *m = &info->members[i];
        for (size_t k = 0; k < m->n_attrs; k++)
            for (size_t w = 0; w < N_ANSWERS; w++) {
                if (strcmp(answers[w].name, m->attrs[k].name) != 0) continue;
                check_needs(x, &m->attrs[k], answers[w].primitives, 0);
                add_value(x, m, answers[w].name, answers[w].word, answers[w].shape,
                          (RfValue){.param = UINT32_MAX, .offset = m->offset}, true);
                accept |= answers[w].word == ABI_CAND_ACCEPT;
                distance |= answers[w].word == ABI_CAND_DISTANCE;
            }
    }
    if (!accept || (!distance && x->primitive == CPU_HIT_BOX))
        reflect_report(x->job, from->decl.location, "intersection function '%s' must return %s",
                       x->f->name,
                       x->primitive == CPU_HIT_BOX
                           ? "a structure with members 'accept_intersection' and 'distance'"
                           : "a bool, or a structure with a member 'accept_intersection'");
}

void reflect_intersection(ReflectBuilder *b, BridgeJob *job, RfFunction *f,
                          const BridgeFunction *from) {
    Intersection x = {.b = b, .job = job, .f = f};
    for (size_t i = 0; i < from->decl.n_attrs; i++)
        if (strcmp(from->decl.attrs[i].name, "intersection") == 0)
            read_attribute(&x, &from->decl.attrs[i]);
    for (uint32_t p = 0; p < from->n_params; p++) {
        const BridgeDecl *d = &from->params[p];
        for (size_t i = 0; i < d->n_attrs; i++) {
            int k = input_named(d->attrs[i].name);
            if (k < 0) continue;
            check_needs(&x, &d->attrs[i], inputs[k].primitives, inputs[k].tags);
            add_value(&x, d, inputs[k].name, inputs[k].word, inputs[k].shape, (RfValue){.param = p},
                      false);
        }
    }
    add_answers(&x, from);
    char signature[64];
    snprintf(signature, sizeof signature, RF_INTERSECTION_SIGNATURE, x.tags, x.primitive);
    free(f->signature);
    f->signature = strdup(signature);
    b->failed |= !f->signature;
}
