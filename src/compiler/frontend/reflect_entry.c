// SPDX-License-Identifier: Apache-2.0
// reflect_entry.c: entry points in reflection, and Metal's rules for them: attributes, types of
// arguments, indices. Arguments that the host binds get consecutive slots in order of declaration,
// and an index where the source gives none: the first that is free.
#include "compiler/frontend/frontend_int.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_INDEX = 30 };

// Positions and sizes may be vectors; indices and counts are scalars.
static bool builtin_takes_vector(int builtin) {
    switch (builtin) {
    case RF_THREAD_POSITION_IN_GRID:
    case RF_THREAD_POSITION_IN_THREADGROUP:
    case RF_THREADGROUP_POSITION_IN_GRID:
    case RF_THREADS_PER_THREADGROUP:
    case RF_DISPATCH_THREADS_PER_THREADGROUP:
    case RF_THREADS_PER_GRID:
    case RF_THREADGROUPS_PER_GRID:
    case RF_GRID_ORIGIN:
    case RF_GRID_SIZE: return true;
    default: return false;
    }
}

static void set_builtin(ReflectBuilder *b, BridgeJob *job, RfArg *arg, const BridgeDecl *p,
                        int builtin, uint32_t at) {
    const RfType *t = &b->lib->types[p->type];
    arg->kind = RF_ARG_BUILTIN;
    arg->builtin = (uint8_t)builtin;
    arg->type = p->type;
    unsigned last = builtin_takes_vector(builtin) ? 2 : 0;
    bool ok = (t->data_type >= DT_UINT && t->data_type <= DT_UINT + last) ||
              (t->data_type >= DT_USHORT && t->data_type <= DT_USHORT + last);
    ok = ok && strncmp(t->name, "packed_", 7) != 0;
    if (!ok)
        reflect_report(job, at, "type '%s' is not valid for attribute '%s'", t->name,
                       rf_builtin_name((unsigned)builtin));
}

// What decides whether an argument or value exists is a bool.
void reflect_condition(const ReflectBuilder *b, BridgeJob *job, const BridgeAttr *said,
                       const char *symbol) {
    for (uint32_t i = 0; i < b->lib->n_constants; i++) {
        const RfConstant *c = &b->lib->constants[i];
        if (strcmp(c->symbol, symbol) == 0 && b->lib->types[c->type].data_type != DT_BOOL)
            reflect_report(job, said->location,
                           "function constant '%s' must be a bool to be a condition", c->name);
    }
}

// A table of functions or an array of them: what they hold is read only.
static bool set_table(ReflectBuilder *b, RfArg *arg, const BridgeDecl *p) {
    const RfType *t = &b->lib->types[p->type];
    bool array = t->data_type == DT_ARRAY && t->element != NO_TYPE && t->n_elements >= 1 &&
                 t->n_elements <= MAX_INDEX + 1;
    uint32_t type = array ? t->element : p->type;
    if (b->lib->types[type].data_type != DT_FUNCTION_TABLE &&
        b->lib->types[type].data_type != DT_INTERSECTION_TABLE)
        return false;
    arg->kind = RF_ARG_FUNCTION_TABLE;
    arg->count = array ? t->n_elements : 1;
    arg->type = type;
    return true;
}

// Places of the members of an argument buffer.
static void check_ids(BridgeJob *job, const BridgeType *info) {
    for (size_t i = 0; info->kind == BRIDGE_TYPE_RECORD && i < info->n_members; i++) {
        const BridgeAttr *id = reflect_id(&info->members[i]);
        if (!id) continue;
        if (id->n_args != 1 || id->args[0].is_string || id->args[0].value < 0)
            reflect_report(job, id->location, "'id' attribute takes a number that is not negative");
        for (size_t k = 0; k < i; k++) {
            const BridgeAttr *other = reflect_id(&info->members[k]);
            if (other && other->args[0].value == id->args[0].value)
                reflect_report(job, id->location, "'id(%lld)' is used twice in '%s'",
                               (long long)id->args[0].value, info->name);
        }
    }
}

// The memory a parameter points to: pointer, reference, or array of pointers.
static bool set_memory(ReflectBuilder *b, BridgeJob *job, RfArg *arg, const BridgeDecl *p) {
    uint32_t type = p->type;
    const RfType *t = &b->lib->types[type];
    BridgeTypeKind kind = b->infos[type].kind;
    if (t->data_type == DT_ARRAY && t->element != NO_TYPE &&
        b->infos[t->element].kind == BRIDGE_TYPE_POINTER) {
        if (t->n_elements < 1 || t->n_elements > MAX_INDEX + 1) {
            reflect_report(job, p->location,
                           "parameter '%s' needs %u resource locations: there are %d", p->name,
                           t->n_elements, MAX_INDEX + 1);
            return false;
        }
        arg->count = t->n_elements;
        type = t->element;
        t = &b->lib->types[type];
        kind = BRIDGE_TYPE_POINTER;
    }
    if (kind != BRIDGE_TYPE_POINTER && kind != BRIDGE_TYPE_REFERENCE) {
        reflect_report(
            job, p->location,
            "invalid type '%s' for parameter '%s' of an entry point: use a pointer or reference "
            "in the "
            "device, constant or threadgroup address space",
            t->name, p->name);
        return false;
    }
    arg->space = t->space, arg->access = t->access;
    arg->type = t->element;
    if (t->space == RF_SPACE_NONE || t->space == RF_THREAD) {
        reflect_report(
            job, p->location,
            t->space == RF_THREAD
                ? "%s parameter '%s' of an entry point cannot be in the thread address space"
                : "%s type of parameter '%s' must have explicit address space qualifier",
            kind == BRIDGE_TYPE_POINTER ? "pointer" : "reference", p->name);
        return false;
    }
    arg->kind = t->space == RF_THREADGROUP ? RF_ARG_THREADGROUP : RF_ARG_BUFFER;
    if (t->element != NO_TYPE) check_ids(job, &b->infos[t->element]);
    return true;
}

bool reflect_place(RfPlace *place, const BridgeAttr *a) {
    place->constant = strdup(a->args[0].constant);
    place->scale = (int32_t)a->args[0].scale, place->offset = (int32_t)a->args[0].value;
    return place->constant;
}

static void set_binding(BridgeJob *job, RfArg *arg, const BridgeAttr *a, bool *failed) {
    const char *expected = reflect_attribute_of(arg->kind);
    unsigned max_index = reflect_max_index(arg->kind);
    if (strcmp(a->name, expected) != 0 &&
        (arg->kind == RF_ARG_TEXTURE || arg->kind == RF_ARG_SAMPLER))
        reflect_report(job, a->location, "'%s' attribute cannot be applied to a %s", a->name,
                       expected);
    else if (strcmp(a->name, "texture") == 0 && arg->kind != RF_ARG_TEXTURE)
        reflect_report(job, a->location,
                       "'texture' attribute only applies to textures and arrays of them");
    else if (strcmp(a->name, "sampler") == 0 && arg->kind != RF_ARG_SAMPLER)
        reflect_report(job, a->location,
                       "'sampler' attribute only applies to samplers and arrays of them");
    else if (strcmp(a->name, expected) != 0)
        reflect_report(job, a->location,
                       "'%s' attribute cannot be applied to a parameter in the %s address space",
                       a->name,
                       arg->space == RF_THREADGROUP ? "threadgroup"
                       : arg->space == RF_CONSTANT  ? "constant"
                                                    : "device");
    else if (a->n_args != 1 || a->args[0].is_string)
        reflect_report(job, a->location, "'%s' attribute takes one argument", a->name);
    else if (a->args[0].constant)
        arg->index = 0, *failed |= !reflect_place(&arg->given, a);
    else if (a->args[0].value < 0 || a->args[0].value + arg->count - 1 > max_index)
        reflect_report(job, a->location,
                       "'%s' attribute parameter is out of bounds: must be between 0 and %u",
                       a->name, max_index);
    else
        arg->index = (uint32_t)a->args[0].value;
}

const char *reflect_stage_word(uint8_t stage) {
    return stage == RF_VERTEX         ? "vertex"
           : stage == RF_FRAGMENT     ? "fragment"
           : stage == RF_OBJECT       ? "object"
           : stage == RF_MESH         ? "mesh"
           : stage == RF_INTERSECTION ? "intersection"
                                      : "kernel";
}

// Of the positions of compute, those in a SIMD-group or quad are there in fragment functions.
static bool builtin_in_stages(int builtin) {
    return builtin == RF_THREAD_INDEX_IN_SIMDGROUP || builtin == RF_THREAD_INDEX_IN_QUADGROUP ||
           builtin == RF_THREADS_PER_SIMDGROUP || builtin == RF_THREAD_EXECUTION_WIDTH;
}

bool reflect_builtin_in(int builtin, uint8_t stage) {
    if (builtin == RF_VIEW || builtin == RF_N_VIEWS) return stage == RF_OBJECT || stage == RF_MESH;
    return stage == RF_KERNEL || stage == RF_OBJECT || stage == RF_MESH ||
           (stage == RF_FRAGMENT && builtin_in_stages(builtin));
}

void reflect_argument(ReflectBuilder *b, BridgeJob *job, RfFunction *f, RfArg *arg,
                      const BridgeDecl *p, uint32_t ordinal) {
    uint8_t stage = f->stage;
    bool compute = stage == RF_KERNEL || stage == RF_OBJECT || stage == RF_MESH;
    const BridgeAttr *binding = NULL, *condition = NULL;
    bool refused = false;
    int builtin = -1;
    uint32_t builtin_at = 0;
    *arg = (RfArg){.name = strdup(strncmp(p->name, "__unnamed_", 10) == 0 ? "" : p->name),
                   .condition = NULL,
                   .symbol = strdup(""),
                   .param = ordinal,
                   .index = UINT32_MAX,
                   .count = 1,
                   .slot = UINT32_MAX,
                   .type = p->type};
    for (size_t i = 0; i < p->n_attrs; i++) {
        const BridgeAttr *a = &p->attrs[i];
        int which = rf_builtin_from_name(a->name);
        bool place = strcmp(a->name, "buffer") == 0 || strcmp(a->name, "threadgroup") == 0 ||
                     strcmp(a->name, "texture") == 0 || strcmp(a->name, "sampler") == 0;
        if ((place || which >= 0) && (binding || builtin >= 0))
            reflect_report(job, a->location,
                           "parameter '%s' has more than one attribute that says what it is",
                           p->name);
        if (which >= 0 && reflect_builtin_in(which, stage))
            builtin = which, builtin_at = a->location;
        else if (place)
            binding = a;
        else if (strcmp(a->name, "function_constant") == 0)
            condition = a;
        else if (strcmp(a->name, "raster_order_group") == 0 && stage == RF_FRAGMENT)
            ; // fragments of a pixel run one after the other anyway
        else if (strcmp(a->name, "user") != 0 &&
                 (strcmp(a->name, "payload") != 0 || !compute || stage == RF_KERNEL)) {
            reflect_report(job, a->location,
                           "'%s' attribute cannot be applied to a parameter of %s %s function",
                           a->name, stage == RF_OBJECT || stage == RF_INTERSECTION ? "an" : "a",
                           reflect_stage_word(stage));
            refused = true;
        }
    }
    if (builtin >= 0)
        set_builtin(b, job, arg, p, builtin, builtin_at);
    else if (reflect_mesh_argument(b, job, f, arg, p) ||
             reflect_imageblock_argument(b, job, f, arg, p))
        ; // done
    else if (!refused &&
             (reflect_handle_argument(b, arg, p->type) || set_table(b, arg, p) ||
              set_memory(b, job, arg, p)) &&
             binding)
        set_binding(job, arg, binding, &b->failed);
    if ((stage == RF_VERTEX || stage == RF_INTERSECTION) && arg->kind == RF_ARG_THREADGROUP)
        reflect_report(job, p->location,
                       "parameter '%s' of a %s function cannot be in the threadgroup address space",
                       p->name, reflect_stage_word(stage));
    if (stage == RF_INTERSECTION && !refused && arg->kind != RF_ARG_BUFFER &&
        arg->kind != RF_ARG_THREADGROUP && arg->kind != RF_ARG_FUNCTION_TABLE)
        reflect_report(job, p->location,
                       "parameter '%s': an intersection function takes buffers and visible "
                       "function tables; others are members of its buffers",
                       p->name);
    if (condition && condition->n_args == 1 && condition->args[0].is_string) {
        arg->condition = bridge_find_variable(job, condition->args[0].text);
        if (!arg->condition)
            reflect_report(job, condition->location, "use of undeclared function constant '%s'",
                           condition->args[0].text);
        else
            reflect_condition(b, job, condition, arg->condition);
    }
    if (!arg->condition) arg->condition = strdup("");
    b->failed |= !arg->name || !arg->condition || !arg->symbol;
}

// A parameter; of a structure of resources, every member of its own.
static void add_arguments(ReflectBuilder *b, BridgeJob *job, RfFunction *f, const BridgeDecl *p,
                          uint32_t ordinal, bool member, uint32_t offset) {
    const BridgeType *info = &b->infos[p->type];
    if (reflect_count_members(b, p->type)) {
        for (size_t i = 0; i < info->n_members; i++)
            add_arguments(b, job, f, &info->members[i], ordinal, true,
                          offset + info->members[i].offset);
        return;
    }
    RfArg *arg = &f->args[f->n_args++];
    reflect_argument(b, job, f, arg, p, ordinal);
    arg->member = member, arg->offset = offset;
}

// Tables of functions, tensors and acceleration structures take the places of buffers.
bool reflect_takes_index(const RfArg *a, uint8_t kind) {
    return a->kind == kind ||
           (kind == RF_ARG_BUFFER && (a->kind == RF_ARG_FUNCTION_TABLE ||
                                      a->kind == RF_ARG_TENSOR || a->kind == RF_ARG_ACCELERATION));
}

// Explicit indices may not overlap; the rest take the first that is free, in order of declaration.
// Arguments under function constants may share an index: only one of them exists at a time. What is
// bound at program scope is not free: which entry points reach it is not known yet.
static void assign_indices(const ReflectBuilder *b, BridgeJob *job, RfFunction *f,
                           const BridgeFunction *from, uint8_t kind) {
    enum { MAX_INDICES = 128 };
    const char *what = reflect_attribute_of(kind);
    unsigned n = reflect_max_index(kind) + 1;
    bool taken[MAX_INDICES] = {false};
    for (uint32_t i = 0; i < f->n_args; i++) {
        RfArg *a = &f->args[i];
        if (!reflect_takes_index(a, kind) || a->index == UINT32_MAX || a->given.constant) continue;
        bool clash = false;
        for (uint32_t k = a->index; k < a->index + a->count && k < n; k++) {
            clash |= taken[k];
            taken[k] = true;
        }
        if (clash && !*a->condition)
            reflect_report(job, from->params[a->param].location,
                           "cannot reserve '%s' resource location%s at index %u", what,
                           a->count > 1 ? "s" : "", a->index);
    }
    for (uint32_t i = 0; i < b->lib->n_bindings; i++) {
        const RfArg *a = &b->lib->bindings[i];
        for (uint32_t k = 0; reflect_takes_index(a, kind) && k < a->count && a->index + k < n; k++)
            taken[a->index + k] = true;
    }
    for (uint32_t i = 0; i < f->n_args; i++) {
        RfArg *a = &f->args[i];
        if (!reflect_takes_index(a, kind) || a->index != UINT32_MAX) continue;
        for (uint32_t at = 0; (uint64_t)at + a->count <= n && a->index == UINT32_MAX; at++) {
            uint32_t k = 0;
            while (k < a->count && !taken[at + k]) k++;
            if (k < a->count) continue;
            a->index = at;
            memset(taken + at, true, a->count);
        }
        if (a->index == UINT32_MAX)
            reflect_report(job, from->params[a->param].location,
                           "no '%s' resource location is left for parameter '%s'", what, a->name);
    }
}

// Attributes that say what kind of function it is: one of them, but visible and stitchable go
// together.
static void check_kinds(BridgeJob *job, const BridgeFunction *from) {
    static const char *const kinds[] = {"kernel", "vertex", "fragment",
                                        "object", "mesh",   "intersection"};
    const char *first = NULL;
    for (size_t i = 0; i < from->decl.n_attrs; i++) {
        const BridgeAttr *a = &from->decl.attrs[i];
        bool visible = strcmp(a->name, "visible") == 0 || strcmp(a->name, "stitchable") == 0;
        bool kind = visible;
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            kind |= strcmp(a->name, kinds[k]) == 0;
        if (!kind) continue;
        const char *name = visible ? "visible" : a->name;
        if (first && strcmp(first, name) != 0)
            reflect_report(job, from->decl.location,
                           "'%s' is more than one kind of function: %s and %s", from->decl.name,
                           first, a->name);
        first = name;
    }
}

// Attributes that belong to some stages only.
static void check_attribute_stages(BridgeJob *job, const RfFunction *f,
                                   const BridgeFunction *from) {
    static const struct {
        const char *name, *whose;
        unsigned stages;
    } table[] = {
        {"max_total_threads_per_threadgroup", "kernel, object and mesh",
         1 << RF_KERNEL | 1 << RF_OBJECT | 1 << RF_MESH},
        {"required_threads_per_threadgroup", "kernel, object and mesh",
         1 << RF_KERNEL | 1 << RF_OBJECT | 1 << RF_MESH},
        {"early_fragment_tests", "fragment", 1 << RF_FRAGMENT},
        {"patch", "vertex", 1 << RF_VERTEX},
    };
    for (size_t i = 0; i < from->decl.n_attrs; i++)
        for (size_t k = 0; k < sizeof table / sizeof *table; k++)
            if (strcmp(table[k].name, from->decl.attrs[i].name) == 0 &&
                !(table[k].stages >> f->stage & 1))
                reflect_report(job, from->decl.attrs[i].location,
                               "'%s' attribute only applies to %s functions", table[k].name,
                               table[k].whose);
}

static void set_function_attributes(BridgeJob *job, RfFunction *f, const BridgeFunction *from) {
    check_kinds(job, from);
    for (size_t i = 0; i < from->decl.n_attrs; i++) {
        const BridgeAttr *a = &from->decl.attrs[i];
        if (strcmp(a->name, "vertex") == 0) {
            f->stage = RF_VERTEX;
        } else if (strcmp(a->name, "fragment") == 0) {
            f->stage = RF_FRAGMENT;
        } else if (strcmp(a->name, "object") == 0) {
            f->stage = RF_OBJECT;
        } else if (strcmp(a->name, "mesh") == 0) {
            f->stage = RF_MESH;
        } else if (strcmp(a->name, "intersection") == 0) {
            f->stage = RF_INTERSECTION;
        } else if (strcmp(a->name, "stitchable") == 0) { // visible too
            f->stage = RF_STITCHABLE;
        } else if (strcmp(a->name, "visible") == 0) {
            f->stage = f->stage == RF_STITCHABLE ? RF_STITCHABLE : RF_VISIBLE;
        } else if (strcmp(a->name, "host_name") == 0) {
            if (a->n_args != 1 || !a->args[0].is_string || !*a->args[0].text) {
                reflect_report(job, a->location, "'host_name' attribute takes a name in quotes");
                continue;
            }
            free(f->name);
            f->name = strdup(a->args[0].text);
        } else if (strcmp(a->name, "max_total_threads_per_threadgroup") == 0) {
            if (a->n_args != 1 || a->args[0].value < 1 || a->args[0].value > 1024)
                reflect_report(
                    job, a->location,
                    "'%s' attribute parameter is out of bounds: must be between 1 and 1024",
                    a->name);
            else
                f->max_total_threads = (uint32_t)a->args[0].value;
        } else if (strcmp(a->name, "required_threads_per_threadgroup") == 0) {
            uint64_t total = 1;
            for (uint32_t k = 0; k < 3; k++) {
                int64_t v = k < a->n_args ? a->args[k].value : 1;
                f->required_threads[k] = v < 1 || v > 1024 ? 0 : (uint32_t)v;
                total *= f->required_threads[k];
            }
            if (!a->n_args || a->n_args > 3 || total < 1 || total > 1024)
                reflect_report(
                    job, a->location,
                    "'%s' attribute needs one to three sizes with a product between 1 and 1024",
                    a->name);
        }
    }
    check_attribute_stages(job, f, from);
}

// Vectors of positions and sizes have one number of components in a function.
static void check_positions(ReflectBuilder *b, BridgeJob *job, const RfFunction *f,
                            const BridgeFunction *from) {
    const RfArg *first = NULL;
    unsigned n_first = 0;
    for (uint32_t i = 0; i < f->n_args; i++) {
        const RfArg *a = &f->args[i];
        if (a->kind != RF_ARG_BUILTIN || !builtin_takes_vector(a->builtin)) continue;
        uint32_t type = b->lib->types[a->type].data_type;
        unsigned n =
            1 + (type >= DT_UINT && type <= DT_UINT + 2 ? type - DT_UINT : type - DT_USHORT);
        if (n < 2 || n > 3) continue;
        if (!first) first = a, n_first = n;
        if (n != n_first)
            reflect_report(job, from->params[a->param].location,
                           "'%s' is declared with %u components, '%s' with %u: they must match",
                           rf_builtin_name(a->builtin), n, rf_builtin_name(first->builtin),
                           n_first);
    }
}

// Remembers the name of an entry point.
static bool is_new_name(ReflectBuilder *b, const char *name) {
    typedef struct Name {
        HashNode node;
        const char *text;
    } Name;
    uint64_t hash = hash_text(name);
    for (HashNode *n = hash_chain(&b->names, hash); n; n = n->next)
        if (n->hash == hash && strcmp(((Name *)n)->text, name) == 0) return false;
    Name *added = base_arena_alloc(b->arena, 1, sizeof *added);
    if (added) *added = (Name){{.hash = hash}, base_arena_str(b->arena, name, strlen(name))};
    if (!added || !added->text || !hash_add(&b->names, &added->node)) b->failed = true;
    return true;
}

void reflect_function(ReflectBuilder *b, BridgeJob *job, const BridgeFunction *from) {
    RfLibrary *lib = b->lib;
    uint32_t capacity = b->capacity_functions, slot = 0;
    RfFunction *functions =
        reflect_grow(lib->functions, &capacity, lib->n_functions, sizeof *functions);
    if (!functions) {
        b->failed = true;
        return;
    }
    lib->functions = functions;
    b->capacity_functions = capacity;
    RfFunction *f = &lib->functions[lib->n_functions++];
    *f = (RfFunction){.name = strdup(from->decl.name),
                      .symbol = strdup(from->decl.symbol),
                      .signature = strdup(from->signature),
                      .stage = RF_KERNEL};
    size_t n_args = 1;
    for (size_t i = 0; i < from->n_params; i++) {
        uint32_t n = reflect_count_members(b, from->params[i].type);
        n_args += n ? n : 1;
    }
    f->args = calloc(n_args, sizeof *f->args);
    if (!f->name || !f->symbol || !f->signature || !f->args) {
        b->failed = true;
        return;
    }
    static const char hidden[] = "(anonymous namespace)::";
    for (char *at; (at = strstr(f->name, hidden));)
        memmove(at, at + sizeof hidden - 1, strlen(at + sizeof hidden - 1) + 1);
    set_function_attributes(job, f, from);
    if (!is_new_name(b, f->name))
        reflect_report(job, from->decl.location, "there is already an entry point called '%s'",
                       f->name);
    bool graphics = f->stage == RF_VERTEX || f->stage == RF_FRAGMENT;
    bool compute = f->stage == RF_KERNEL || f->stage == RF_OBJECT || f->stage == RF_MESH;
    bool intersection = f->stage == RF_INTERSECTION;
    if (!compute && !graphics && !intersection) return; // listed by name and stage
    if (intersection)
        reflect_intersection(b, job, f, from);
    else if (graphics)
        reflect_stage_values(b, job, f, from);
    else if (f->stage == RF_KERNEL)
        reflect_kernel_inputs(b, job, f, from);
    if (compute && b->infos[from->decl.type].kind != BRIDGE_TYPE_VOID)
        reflect_report(job, from->decl.location, "%s function '%s' must have void return type",
                       reflect_stage_word(f->stage), f->name);
    for (uint32_t i = 0; i < from->n_params; i++)
        if (intersection ? !reflect_is_intersection_input(&from->params[i])
                         : !reflect_is_stage_input(b, f, &from->params[i]))
            add_arguments(b, job, f, &from->params[i], i, false, 0);
    if (compute) check_positions(b, job, f, from);
    reflect_mesh_check(job, f, from);
    assign_indices(b, job, f, from, RF_ARG_BUFFER);
    assign_indices(b, job, f, from, RF_ARG_THREADGROUP);
    assign_indices(b, job, f, from, RF_ARG_TEXTURE);
    assign_indices(b, job, f, from, RF_ARG_SAMPLER);
    for (uint32_t i = 0; i < f->n_args; i++)
        if (f->args[i].kind != RF_ARG_BUILTIN) {
            f->args[i].slot = slot;
            slot += f->args[i].count;
        }
    f->n_slots = slot;
}
