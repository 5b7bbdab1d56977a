// SPDX-License-Identifier: Apache-2.0
// read.c: a network's package: network.json and its weights. Nothing in them is trusted.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/files.h"
#include "base/numbers.h"
#include "base/safetensors.h"
#include "runtime/network/network.h"

#define MAX_ELEMENTS ((int64_t)1 << 30)

static const struct {
    const char *name;
    NetForm form;
    uint32_t kind;
} ops[] = {
#define OP(name, form, kind) {#name, form, kind},
#include "runtime/network/ops.def"
#undef OP
};

const char *network_op_name(NetOp op) { return ops[op].name; }
NetForm network_op_form(NetOp op) { return ops[op].form; }
uint32_t network_op_kind(NetOp op) { return ops[op].kind; }

size_t network_type_bytes(MTLTensorDataType type) {
    return type == MTLTensorDataTypeFloat32                                        ? 4
           : type == MTLTensorDataTypeFloat16 || type == MTLTensorDataTypeBFloat16 ? 2
                                                                                   : 0;
}

void network_free(Network *network) {
    if (!network) return;
    const NetMemory *m = network->memory;
    for (size_t i = 0; i < network->n_values; i++) {
        m->free(network->values[i].name);
        m->free(network->values[i].data);
    }
    for (size_t i = 0; i < network->n_steps; i++) m->free(network->steps[i].inputs);
    m->free(network->values);
    m->free(network->steps);
    m->free(network->name);
    m->free(network);
}

typedef struct Reader {
    JsonReader json;
    Network *net;
    const char *folder;
    char weights[200];     // file of constants that name none; "": none
    unsigned char *loaded; // the safetensors file read last, what is in it, and its name
    SafeTensors tensors;
    char loaded_name[200];
    bool no_memory;
} Reader;

static bool no_memory(Reader *r) {
    r->no_memory = true;
    json_fail(&r->json, "out of memory");
    return false;
}

// ---- Values ----

static NetValue *find_value(Network *net, const char *name) {
    for (size_t i = 0; i < net->n_values; i++)
        if (strcmp(net->values[i].name, name) == 0) return &net->values[i];
    return NULL;
}

static NetValue *add_value(Reader *r, const char *name, int kind) {
    Network *net = r->net;
    if (*name && find_value(net, name)) {
        json_fail(&r->json, "there are two values '%s'", name);
        return NULL;
    }
    char *copy = r->net->memory->copy(name);
    if (!copy || !r->net->memory->grow(&net->values, &net->values_capacity, net->n_values + 1,
                                       sizeof *net->values)) {
        r->net->memory->free(copy);
        no_memory(r);
        return NULL;
    }
    NetValue *v = &net->values[net->n_values++];
    *v = (NetValue){.name = copy, .kind = kind};
    return v;
}

static bool read_shape(Reader *r, NetShape *shape) {
    JsonReader *j = &r->json;
    *shape = (NetShape){0};
    for (int i = 0; i < NET_MAX_RANK; i++) shape->n[i] = 1;
    int64_t total = 1;
    if (!json_enter_array(j)) return false;
    while (json_next_item(j)) {
        uint64_t n;
        if (shape->rank == NET_MAX_RANK)
            return json_fail(j, "more than %d dimensions", NET_MAX_RANK);
        if (!json_uint(j, &n, 1, MAX_ELEMENTS)) return false;
        total *= (int64_t)n;
        if (total > MAX_ELEMENTS) return json_fail(j, "more than 2^30 elements");
        shape->n[shape->rank++] = (int64_t)n;
    }
    return json_ok(j);
}

static bool read_type(Reader *r, MTLTensorDataType *type) {
    char name[32];
    if (!json_string_value(&r->json, name, sizeof name)) return false;
    *type = !strcmp(name, "float32")    ? MTLTensorDataTypeFloat32
            : !strcmp(name, "float16")  ? MTLTensorDataTypeFloat16
            : !strcmp(name, "bfloat16") ? MTLTensorDataTypeBFloat16
                                        : MTLTensorDataTypeNone;
    return *type != MTLTensorDataTypeNone ||
           json_fail(&r->json, "the type is float32, float16 or bfloat16, not '%s'", name);
}

static bool read_flag(Reader *r, bool *flag) {
    char c = json_peek(&r->json);
    if (c != 't' && c != 'f') return json_fail(&r->json, "expected true or false");
    *flag = c == 't';
    return json_skip(&r->json);
}

// ---- Numbers of one type to those of another ----

static float to_float(const unsigned char *p, MTLTensorDataType type) {
    uint16_t h;
    float f;
    if (type == MTLTensorDataTypeFloat32) {
        memcpy(&f, p, sizeof f);
        return f;
    }
    memcpy(&h, p, sizeof h);
    return type == MTLTensorDataTypeFloat16 ? float_from_half(h) : float_from_bfloat(h);
}

static void from_float(float f, unsigned char *p, MTLTensorDataType type) {
    uint16_t h = type == MTLTensorDataTypeFloat16 ? half_from_float(f) : bfloat_from_float(f);
    if (type == MTLTensorDataTypeFloat32)
        memcpy(p, &f, sizeof f);
    else
        memcpy(p, &h, sizeof h);
}

// The constant's data in the network's type, from `from`.
static bool take_data(Reader *r, NetValue *v, const unsigned char *from, MTLTensorDataType type) {
    MTLTensorDataType to = r->net->type;
    size_t n = (size_t)network_shape_count(&v->shape), size = network_type_bytes(to);
    r->net->memory->free(v->data);
    // Kernels read whole vectors: a little more than there is.
    v->data = r->net->memory->alloc_aligned((n * size + 127) & ~(size_t)63, 64);
    if (!v->data) return no_memory(r);
    unsigned char *out = v->data;
    memset(out + n * size, 0, ((n * size + 127) & ~(size_t)63) - n * size);
    if (type == to)
        memcpy(out, from, n * size);
    else
        for (size_t i = 0; i < n; i++)
            from_float(to_float(from + i * network_type_bytes(type), type), out + i * size, to);
    return true;
}

// ---- Weights ----

static unsigned char *load(Reader *r, const char *name, size_t *n) {
    if (!*name || strchr(name, '/') || !strcmp(name, "..")) {
        json_fail(&r->json, "'%s' is no file of the package", name);
        return NULL;
    }
    unsigned char *data = file_read_own(r->folder, name, n);
    if (!data && errno == ELOOP)
        json_fail(&r->json, "'%s' is a symbolic link: a package holds its own files", name);
    else if (!data)
        json_fail(&r->json, "'%s': %s", name, strerror(errno));
    return data;
}

static MTLTensorDataType type_of(const SafeTensor *t) {
    return t->kind == 'f' && t->n_bytes == 4   ? MTLTensorDataTypeFloat32
           : t->kind == 'f' && t->n_bytes == 2 ? MTLTensorDataTypeFloat16
           : t->kind == 'B'                    ? MTLTensorDataTypeBFloat16
                                               : MTLTensorDataTypeNone;
}

static void forget_tensors(Reader *r) {
    safetensors_free(&r->tensors);
    free(r->loaded);
    r->loaded = NULL;
    r->loaded_name[0] = 0;
}

static bool load_tensors(Reader *r, const char *file) {
    char message[JSON_MESSAGE_BYTES];
    size_t n;
    if (!strcmp(r->loaded_name, file)) return true;
    forget_tensors(r);
    if (!(r->loaded = load(r, file, &n))) return false;
    snprintf(r->loaded_name, sizeof r->loaded_name, "%s", file);
    if (safetensors_read(&r->tensors, r->loaded, n, file, message)) return true;
    return *message ? json_fail(&r->json, "%s", message) : no_memory(r);
}

static bool from_safetensors(Reader *r, NetValue *v, const char *file, const char *name) {
    JsonReader *j = &r->json;
    if (!load_tensors(r, file)) return false;
    const SafeTensor *t = safetensors_find(&r->tensors, name);
    if (!t) return json_fail(j, "'%s' has no tensor '%s'", file, name);
    if (!type_of(t))
        return json_fail(j, "tensor '%s' of '%s' is not of type F32, F16 or BF16", name, file);
    if (t->n_elements < 1 || t->n_elements > MAX_ELEMENTS)
        return json_fail(j, "tensor '%s' of '%s' is empty or too large", name, file);
    if (v->sized && t->n_elements != network_shape_count(&v->shape))
        return json_fail(j, "tensor '%s' of '%s' has %lld elements, not %lld", name, file,
                         (long long)t->n_elements, (long long)network_shape_count(&v->shape));
    if (!v->sized) {
        v->shape.rank = (uint32_t)t->rank;
        for (uint32_t i = 0; i < NET_MAX_RANK; i++) // innermost first
            v->shape.n[i] = i < t->rank ? t->shape[t->rank - 1 - i] : 1;
    }
    v->sized = true;
    return take_data(r, v, r->tensors.data + t->begin, type_of(t));
}

static bool from_raw(Reader *r, NetValue *v, const char *file, uint64_t offset,
                     MTLTensorDataType type) {
    if (!v->sized) return json_fail_key(&r->json, "dimensions", "raw data needs sizes");
    size_t n, size = (size_t)network_shape_count(&v->shape) * network_type_bytes(type);
    unsigned char *data = load(r, file, &n);
    if (!data) return false;
    bool ok = (offset <= n && size <= n - offset) ||
              json_fail(&r->json, "'%s' has %zu bytes, %zu at %llu are needed", file, n, size,
                        (unsigned long long)offset);
    ok = ok && take_data(r, v, data + offset, type);
    free(data);
    return ok;
}

// "data": [...], which may be nested as deep as it likes: only the order counts.
static bool read_numbers(Reader *r, float **numbers, size_t *n) {
    JsonReader *j = &r->json;
    size_t capacity = 0;
    *n = 0;
    int floor = j->depth;
    if (!json_enter_array(j)) return false;
    while (j->depth > floor) {
        if (!json_next_item(j)) {
            if (!json_ok(j)) return false;
            continue;
        }
        if (json_peek(j) == '[') {
            if (!json_enter_array(j)) return false;
            continue;
        }
        if (!r->net->memory->grow(numbers, &capacity, *n + 1, sizeof **numbers))
            return no_memory(r);
        if (!json_float(j, &(*numbers)[(*n)++])) return false;
    }
    return json_ok(j);
}

typedef struct Constant { // what the JSON says of one
    char name[JSON_KEY_BYTES], tensor[JSON_KEY_BYTES], file[200];
    uint64_t offset;
    MTLTensorDataType type;
    float *numbers;
    size_t n_numbers;
    bool sized, raw;
    NetShape shape;
} Constant;

static bool read_constant_keys(Reader *r, Constant *c) {
    JsonReader *j = &r->json;
    const char *key;
    while (json_next_key(j, &key)) {
        bool ok = true;
        if (!strcmp(key, "name"))
            ok = json_string_value(j, c->name, sizeof c->name);
        else if (!strcmp(key, "tensor"))
            ok = json_string_value(j, c->tensor, sizeof c->tensor);
        else if (!strcmp(key, "file"))
            ok = json_string_value(j, c->file, sizeof c->file);
        else if (!strcmp(key, "offset"))
            ok = c->raw = json_uint(j, &c->offset, 0, INT64_MAX);
        else if (!strcmp(key, "type"))
            ok = read_type(r, &c->type);
        else if (!strcmp(key, "dimensions"))
            ok = c->sized = read_shape(r, &c->shape);
        else if (!strcmp(key, "data"))
            ok = read_numbers(r, &c->numbers, &c->n_numbers);
        else
            return json_fail(j, "constants have no such key");
        if (!ok) return false;
    }
    return json_ok(j);
}

static bool make_constant(Reader *r, const Constant *c) {
    JsonReader *j = &r->json;
    if (!*c->name) return json_fail_key(j, "name", "is missing");
    NetValue *v = add_value(r, c->name, NET_CONSTANT);
    if (!v) return false;
    v->shape = c->shape;
    v->sized = c->sized;
    if (c->numbers) {
        if (!v->sized) {
            v->shape = (NetShape){1, {(int64_t)c->n_numbers, 1, 1, 1, 1, 1, 1, 1}};
            v->sized = true;
        }
        if ((int64_t)c->n_numbers != network_shape_count(&v->shape))
            return json_fail_key(j, "data", "has another number of elements than dimensions");
        return take_data(r, v, (const unsigned char *)c->numbers, MTLTensorDataTypeFloat32);
    }
    const char *file = *c->file ? c->file : r->weights;
    if (!*file) return json_fail_key(j, "data", "is missing, and there is no file of weights");
    size_t n = strlen(file);
    bool safe = n > 12 && !strcmp(file + n - 12, ".safetensors");
    return safe && !c->raw ? from_safetensors(r, v, file, *c->tensor ? c->tensor : c->name)
                           : from_raw(r, v, file, c->offset, c->type ? c->type : r->net->type);
}

static bool read_constants(Reader *r) {
    if (!json_enter_array(&r->json)) return false;
    while (json_next_item(&r->json)) {
        Constant c = {0};
        bool ok = json_enter_object(&r->json) && read_constant_keys(r, &c) && make_constant(r, &c);
        r->net->memory->free(c.numbers);
        if (!ok) return false;
    }
    return json_ok(&r->json);
}

// ---- Inputs, operations, outputs ----

static bool read_inputs(Reader *r) {
    JsonReader *j = &r->json;
    const char *key;
    uint32_t next = 0;
    if (!json_enter_array(j)) return false;
    while (json_next_item(j)) {
        char name[JSON_KEY_BYTES] = "";
        uint64_t index = next;
        NetShape shape = {0};
        bool sized = false;
        if (!json_enter_object(j)) return false;
        while (json_next_key(j, &key)) {
            bool ok = !strcmp(key, "name")         ? json_string_value(j, name, sizeof name)
                      : !strcmp(key, "index")      ? json_uint(j, &index, 0, 30)
                      : !strcmp(key, "dimensions") ? (sized = read_shape(r, &shape))
                                                   : json_fail(j, "inputs have no such key");
            if (!ok) return false;
        }
        if (!json_ok(j)) return false;
        if (!*name) return json_fail_key(j, "name", "is missing");
        NetValue *v = add_value(r, name, NET_INPUT);
        if (!v) return false;
        v->shape = shape;
        v->sized = sized;
        v->index = (uint32_t)index;
        next = (uint32_t)index + 1;
    }
    return json_ok(j);
}

// A value by its name; a number becomes a constant of one element.
static bool read_operand(Reader *r, uint32_t *value) {
    JsonReader *j = &r->json;
    char name[JSON_KEY_BYTES];
    if (json_peek(j) != '"') {
        float number;
        if (!json_float(j, &number)) return false;
        NetValue *v = add_value(r, "", NET_CONSTANT);
        if (!v) return false;
        v->shape = (NetShape){1, {1, 1, 1, 1, 1, 1, 1, 1}};
        v->sized = true;
        *value = (uint32_t)(r->net->n_values - 1);
        return take_data(r, v, (const unsigned char *)&number, MTLTensorDataTypeFloat32);
    }
    if (!json_string_value(j, name, sizeof name)) return false;
    const NetValue *v = *name ? find_value(r->net, name) : NULL;
    if (!v) return json_fail(j, "there is no value '%s' up to here", name);
    *value = (uint32_t)(v - r->net->values);
    return true;
}

static bool read_operands(Reader *r, NetStep *s) {
    JsonReader *j = &r->json;
    if (s->inputs) return json_fail(j, "stands there twice");
    if (!(s->inputs = r->net->memory->alloc(NET_MAX_INPUTS * sizeof *s->inputs)))
        return no_memory(r);
    if (!json_enter_array(j)) return false;
    while (json_next_item(j)) {
        if (s->n_inputs == NET_MAX_INPUTS) return json_fail(j, "too many inputs");
        if (!read_operand(r, &s->inputs[s->n_inputs++])) return false;
    }
    return json_ok(j);
}

static bool read_two(Reader *r, int64_t two[2], uint64_t low) {
    JsonReader *j = &r->json;
    int at = 0;
    if (!json_enter_array(j)) return false;
    while (json_next_item(j)) {
        uint64_t n;
        if (at == 2 || !json_uint(j, &n, low, 65536)) return json_fail(j, "two numbers are needed");
        two[at++] = (int64_t)n;
    }
    return json_ok(j) && (at == 2 || json_fail(j, "two numbers are needed"));
}

// The permutation of transpose may hold 0.
static bool read_permutation(Reader *r, NetShape *shape) {
    JsonReader *j = &r->json;
    *shape = (NetShape){0};
    for (int i = 0; i < NET_MAX_RANK; i++) shape->n[i] = 1; // a reshape may have been given one
    if (!json_enter_array(j)) return false;
    while (json_next_item(j)) {
        uint64_t n;
        if (shape->rank == NET_MAX_RANK || !json_uint(j, &n, 0, NET_MAX_RANK - 1))
            return json_fail(j, "not a permutation");
        shape->n[shape->rank++] = (int64_t)n;
    }
    return json_ok(j);
}

static bool read_step_key(Reader *r, NetStep *s, const char *key, char *output, char *op) {
    JsonReader *j = &r->json;
    uint64_t axis;
    if (!strcmp(key, "op")) return json_string_value(j, op, 32);
    if (!strcmp(key, "output")) return json_string_value(j, output, JSON_KEY_BYTES);
    if (!strcmp(key, "inputs")) return read_operands(r, s);
    if (!strcmp(key, "axis"))
        return json_uint(j, &axis, 0, NET_MAX_RANK - 1) && (s->axis = (int64_t)axis, true);
    if (!strcmp(key, "dimensions")) return read_shape(r, &s->dimensions);
    if (!strcmp(key, "permutation")) return read_permutation(r, &s->dimensions);
    if (!strcmp(key, "transpose_a")) return read_flag(r, &s->transpose_a);
    if (!strcmp(key, "transpose_b")) return read_flag(r, &s->transpose_b);
    if (!strcmp(key, "strides")) return read_two(r, s->strides, 1);
    if (!strcmp(key, "dilations")) return read_two(r, s->dilations, 1);
    if (!strcmp(key, "padding")) return read_two(r, s->padding, 0);
    return json_fail(j, "operations have no such key");
}

static bool read_steps(Reader *r) {
    JsonReader *j = &r->json;
    Network *net = r->net;
    const char *key;
    if (!json_enter_array(j)) return false;
    while (json_next_item(j)) {
        char output[JSON_KEY_BYTES] = "", op[32] = "";
        if (net->n_steps == NET_MAX_STEPS) return json_fail(j, "too many operations");
        if (!r->net->memory->grow(&net->steps, &net->steps_capacity, net->n_steps + 1,
                                  sizeof *net->steps))
            return no_memory(r);
        NetStep *s = &net->steps[net->n_steps++];
        *s = (NetStep){.strides = {1, 1}, .dilations = {1, 1}, .op = NET_N_OPS};
        if (!json_enter_object(j)) return false;
        while (json_next_key(j, &key))
            if (!read_step_key(r, s, key, output, op)) return false;
        if (!json_ok(j)) return false;
        for (int i = 0; i < NET_N_OPS; i++)
            if (!strcmp(op, ops[i].name)) s->op = (NetOp)i;
        if (s->op == NET_N_OPS) return json_fail(j, "there is no operation '%s'", op);
        NetForm form = ops[s->op].form;
        uint32_t n = form == PAIR || form == MATMUL || form == CONV ? 2 : 1;
        if (form == CONCAT ? s->n_inputs < 1 : s->n_inputs != n)
            return json_fail(j, "'%s' has %u inputs, not %u", op, s->n_inputs, n);
        if (!*output) return json_fail_key(j, "output", "is missing");
        if (!add_value(r, output, NET_RESULT)) return false;
        s->output = (uint32_t)(net->n_values - 1);
    }
    return json_ok(j);
}

static bool read_outputs(Reader *r) {
    JsonReader *j = &r->json;
    const char *key;
    uint32_t next = 0;
    for (size_t i = 0; i < r->net->n_values; i++)
        if (r->net->values[i].kind == NET_INPUT && r->net->values[i].index >= next)
            next = r->net->values[i].index + 1;
    if (!json_enter_array(j)) return false;
    while (json_next_item(j)) {
        char name[JSON_KEY_BYTES] = "";
        uint64_t index = next;
        if (!json_enter_object(j)) return false;
        while (json_next_key(j, &key)) {
            bool ok = !strcmp(key, "name")    ? json_string_value(j, name, sizeof name)
                      : !strcmp(key, "index") ? json_uint(j, &index, 0, 30)
                                              : json_fail(j, "outputs have no such key");
            if (!ok) return false;
        }
        if (!json_ok(j)) return false;
        NetValue *v = *name ? find_value(r->net, name) : NULL;
        if (!v || v->kind != NET_RESULT || v->is_output)
            return json_fail(j, "'%s' is not the result of an operation, or stands there twice",
                             name);
        v->is_output = true;
        v->out_index = (uint32_t)index;
        next = (uint32_t)index + 1;
    }
    return json_ok(j);
}

// Each tensor has an index of its own.
static bool check_indices(Reader *r) {
    uint32_t taken = 0, n_outputs = 0;
    for (size_t i = 0; i < r->net->n_values; i++) {
        const NetValue *v = &r->net->values[i];
        if (v->kind != NET_INPUT && !v->is_output) continue;
        uint32_t bit = 1u << (v->is_output ? v->out_index : v->index);
        if (taken & bit) return json_fail(&r->json, "two tensors have the index of '%s'", v->name);
        taken |= bit;
        n_outputs += v->is_output;
    }
    return n_outputs || json_fail(&r->json, "there is no output");
}

static bool read_network(Reader *r) {
    JsonReader *j = &r->json;
    const char *key;
    char name[JSON_KEY_BYTES] = "main";
    int stage = 0; // sections come in this order: what is named is there already
    if (!json_enter_object(j)) return false;
    while (json_next_key(j, &key)) {
        static const char *const order[] = {"name",      "type",       "weights", "inputs",
                                            "constants", "operations", "outputs"};
        int at = 0;
        while (at < 7 && strcmp(key, order[at]) != 0) at++;
        if (at == 7) return json_fail(j, "networks have no such key");
        if (at < 3 ? stage > 3 : at < stage) return json_fail(j, "stands too late");
        stage = at >= 3 ? at + (at == 6) : stage;
        bool ok = at == 0   ? json_string_value(j, name, sizeof name)
                  : at == 1 ? read_type(r, &r->net->type)
                  : at == 2 ? json_string_value(j, r->weights, sizeof r->weights)
                  : at == 3 ? read_inputs(r)
                  : at == 4 ? read_constants(r)
                  : at == 5 ? read_steps(r)
                            : read_outputs(r);
        if (!ok) return false;
    }
    if (!json_finish(j) || !check_indices(r)) return false;
    r->net->name = r->net->memory->copy(name);
    return r->net->name || no_memory(r);
}

Network *network_read(const NetMemory *memory, const char *folder, char *message) {
    Reader r = {.folder = folder, .net = memory->alloc(sizeof *r.net)};
    size_t n = 0;
    message[0] = 0;
    if (!r.net) return NULL;
    r.net->memory = memory;
    r.net->type = MTLTensorDataTypeFloat32;
    char *path = path_join(folder, "network.json");
    unsigned char *text = path ? file_read_own(folder, "network.json", &n) : NULL;
    bool ok = text != NULL;
    if (path && !text) snprintf(message, JSON_MESSAGE_BYTES, "%s: %s", path, strerror(errno));
    if (ok) {
        json_begin(&r.json, (const char *)text, n, path, message);
        ok = read_network(&r);
        if (r.no_memory) message[0] = 0;
    }
    free(text);
    free(path);
    forget_tensors(&r);
    if (ok) return r.net;
    network_free(r.net);
    return NULL;
}
