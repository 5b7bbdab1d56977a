// SPDX-License-Identifier: Apache-2.0
// group.c: processes that work together (ingot/tensor_group.h).
//
// One thread sends and receives; everybody else hands it calls and waits, or does something else
// meanwhile (ig_group_average_gradients). A call owns its memory: whoever stops waiting leaves it
// to the thread, which may be writing there, and the group is broken from then on.
#include "tensor/group.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "tensor/tensor_int.h"

enum { POLL_MS = 50 };

typedef struct Call {
    GroupKind kind;
    IgType type;
    IgGroupOp op;
    int root;
    bool failed;      // GROUP_CLOSE
    int64_t n;        // GROUP_REDUCE, GROUP_SCATTER: elements; of each process
    size_t n_bytes;   // of data
    size_t *begins;   // GROUP_GATHER
    IgTensor *tensor; // not NULL: whose values are to be read into data first
    IgTensor *result; // not NULL: both stay in memory of a GPU, and data is empty
    bool done, ok;    // group.lock
    char why[GROUP_WHY_BYTES];
    struct Call *next;
    _Alignas(16) char data[];
} Call;

struct IgGroup {
    const GroupTransport *transport; // NULL: alone
    int rank, size, local_rank;
    IgGroupPoll *poll;
    void *poll_context;
    pthread_mutex_t lock;
    pthread_cond_t changed; // a call came, or one is done
    pthread_t thread;
    Call *first, **last;                // lock
    bool opened, failed, broken, ended; // lock
    char why[GROUP_WHY_BYTES];          // opening failed, or broken
};

// ---- The thread ----

// Between GPUs: when the kernels that make the tensor are done.
static bool carry_on_gpus(IgGroup *g, Call *c) {
    MTLError *error = NULL;
    MTLBuffer *from, *to;
    size_t from_at, to_at;
    bool ok = ig_buffer(c->tensor, &from, &from_at, &error) &&
              ig_buffer(c->result, &to, &to_at, &error) &&
              ig_device_synchronize(ig_device(c->tensor), &error);
    if (!ok) snprintf(c->why, sizeof c->why, "%s", mtl_error_localized_description(error));
    mtl_release(error);
    if (!ok) return false;
    const uint64_t a = mtl_buffer_gpu_address(from) + from_at,
                   b = mtl_buffer_gpu_address(to) + to_at;
    return group_nccl_open(g->transport, g->rank, g->size, a, c->why) &&
           group_nccl_run(c->kind, a, b, (size_t)c->n, c->type, c->op, c->root, c->why);
}

static bool carry_out(IgGroup *g, Call *c) {
    const GroupTransport *t = g->transport;
    if (c->result) return carry_on_gpus(g, c);
    if (c->tensor) {
        MTLError *error = NULL;
        bool ok = ig_read(c->tensor, c->data, c->n_bytes, &error);
        if (!ok) snprintf(c->why, sizeof c->why, "%s", mtl_error_localized_description(error));
        mtl_release(error);
        if (!ok) return false;
    }
    switch (c->kind) {
    case GROUP_REDUCE: return t->reduce(c->data, c->n, c->type, c->op, c->why);
    case GROUP_BROADCAST: return t->broadcast(c->data, c->n_bytes, c->root, c->why);
    case GROUP_GATHER: return t->gather(c->data, c->begins, c->why);
    case GROUP_SCATTER: return t->scatter(c->data, c->n, c->type, c->op, c->why);
    case GROUP_BARRIER: return t->barrier(c->why);
    case GROUP_CLOSE: break;
    }
    t->close(c->failed);
    return true;
}

static Call *next_call(IgGroup *g) {
    pthread_mutex_lock(&g->lock);
    while (!g->first) pthread_cond_wait(&g->changed, &g->lock);
    Call *c = g->first;
    g->first = c->next;
    if (!g->first) g->last = &g->first;
    pthread_mutex_unlock(&g->lock);
    return c;
}

static void *serve(void *context) {
    IgGroup *g = context;
    char why[GROUP_WHY_BYTES] = "";
    bool ok = g->transport->open(&g->rank, &g->size, why);
    pthread_mutex_lock(&g->lock);
    g->opened = ok, g->failed = !ok;
    memcpy(g->why, why, sizeof why);
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
    for (bool going_on = ok; going_on;) {
        Call *c = next_call(g);
        going_on = c->kind != GROUP_CLOSE;
        bool carried = carry_out(g, c);
        pthread_mutex_lock(&g->lock);
        c->ok = carried, c->done = true;
        pthread_cond_broadcast(&g->changed);
        pthread_mutex_unlock(&g->lock);
    }
    return NULL;
}

// ---- Calls ----

static Call *call_new(GroupKind kind, size_t n_bytes, MTLError **error) {
    Call *c = n_bytes < SIZE_MAX / 2 ? calloc(1, sizeof *c + n_bytes) : NULL;
    if (!c) {
        ig_fail_no_memory(error);
        return NULL;
    }
    c->kind = kind, c->n_bytes = n_bytes;
    return c;
}

static void call_free(Call *c) {
    if (!c) return;
    ig_release(c->tensor);
    ig_release(c->result);
    free(c->begins);
    free(c);
}

static bool post(IgGroup *g, Call *c, MTLError **error) {
    pthread_mutex_lock(&g->lock);
    bool usable = !g->broken && !g->ended;
    if (usable) {
        g->ended = c->kind == GROUP_CLOSE;
        *g->last = c;
        g->last = &c->next;
        pthread_cond_broadcast(&g->changed);
    }
    pthread_mutex_unlock(&g->lock);
    if (usable) return true;
    ig_fail(error, IgErrorGroup, "group: %s", g->ended ? "it was closed" : g->why);
    return false;
}

// Waits for a call. False: it failed; it is then freed, or the thread's for ever.
static bool wait_for(IgGroup *g, Call *c, MTLError **error) {
    bool gave_up = false;
    pthread_mutex_lock(&g->lock);
    while (!c->done && !gave_up) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += POLL_MS * 1000000;
        if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
        int late = pthread_cond_timedwait(&g->changed, &g->lock, &until);
        if (late != ETIMEDOUT || c->done || !g->poll) continue;
        pthread_mutex_unlock(&g->lock);
        gave_up = !g->poll(g->poll_context);
        pthread_mutex_lock(&g->lock);
    }
    bool ok = c->done && c->ok;
    if (!ok) {
        g->broken = true;
        snprintf(g->why, sizeof g->why, "%s",
                 c->done ? c->why : "the wait for the other processes was ended");
    }
    bool mine = c->done;
    pthread_mutex_unlock(&g->lock);
    if (ok) return true;
    ig_fail(error, IgErrorGroup, "group: %s", g->why);
    if (mine) call_free(c);
    return false;
}

// One after the other. NULL: it failed, and was freed.
static Call *carry(IgGroup *g, Call *c, MTLError **error) {
    if (!c) return NULL;
    if (!g->transport) { // alone, and asked to send all the same
        c->ok = carry_out(g, c), c->done = true;
        if (!c->ok) ig_fail(error, IgErrorGroup, "group: %s", c->why);
    }
    if (g->transport ? !post(g, c, error) : !c->ok) {
        call_free(c);
        return NULL;
    }
    return c->done && !g->transport ? c : wait_for(g, c, error) ? c : NULL;
}

// ---- The group ----

static pthread_once_t once = PTHREAD_ONCE_INIT;
static IgGroup world = {.size = 1};

static int number(const char *text, int otherwise) { return text ? atoi(text) : otherwise; }

// A program that returns from main leaves the group; with a status that is not 0 the others end.
static void at_exit(int status, void *context) {
    (void)context;
    world.poll = NULL; // whom it asks may be gone
    ig_group_close(&world, status != 0);
}

static void open_world(void) {
    world.local_rank =
        number(getenv("OMPI_COMM_WORLD_LOCAL_RANK"), number(getenv("LOCAL_RANK"), 0));
    world.last = &world.first;
    pthread_mutex_init(&world.lock, NULL);
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&world.changed, &steady);
    pthread_condattr_destroy(&steady);
    if (!group_mpi_is_around()) {
        world.failed = number(getenv("WORLD_SIZE"), 1) > 1;
        if (world.failed)
            snprintf(
                world.why, sizeof world.why,
                "WORLD_SIZE is %s, but no MPI is around this process; start it with mpirun, or "
                "with python3 -m ingot.distributed",
                getenv("WORLD_SIZE"));
        return;
    }
    world.transport = &group_mpi;
    if (pthread_create(&world.thread, NULL, serve, &world)) {
        world.failed = true;
        snprintf(world.why, sizeof world.why, "no thread can be started");
        return;
    }
    pthread_mutex_lock(&world.lock);
    while (!world.opened && !world.failed) pthread_cond_wait(&world.changed, &world.lock);
    pthread_mutex_unlock(&world.lock);
    if (world.opened) on_exit(at_exit, NULL);
}

IgGroup *ig_group_world(MTLError **error) {
    pthread_once(&once, open_world);
    if (!world.failed) return &world;
    ig_fail(error, IgErrorGroup, "group: %s", world.why);
    return NULL;
}

void ig_group_close(IgGroup *g, bool failed) {
    if (!g || !g->transport) return;
    pthread_mutex_lock(&g->lock);
    const bool ended = g->ended, broken = g->broken;
    pthread_mutex_unlock(&g->lock);
    if (ended) return;
    if (broken) { // its thread waits for others that do not come: nothing can be said to them
        g->ended = true;
        return;
    }
    Call *c = call_new(GROUP_CLOSE, 0, NULL);
    if (!c) return;
    c->failed = failed;
    call_free(carry(g, c, NULL));
}

int ig_group_rank(const IgGroup *g) { return g ? g->rank : 0; }
int ig_group_size(const IgGroup *g) { return g ? g->size : 1; }
int ig_group_local_rank(const IgGroup *g) { return g ? g->local_rank : 0; }
const char *ig_group_transport(const IgGroup *g) {
    return g && g->transport ? g->transport->name : "alone";
}

void ig_group_set_poll(IgGroup *g, IgGroupPoll *poll, void *context) {
    if (!g) return;
    g->poll = poll, g->poll_context = context;
}

// ---- Tensors ----

// The type in which values of a tensor travel.
static IgType wire_type(IgType type) {
    return type == IgFloat16 || type == IgBFloat16 ? IgFloat32 : type == IgBool ? IgUInt8 : type;
}

static bool check(const char *call, IgGroup *g, IgTensor *x, IgGroupOp op, MTLError **error) {
    if (!x || !ig_alive(call, x, error)) return false;
    if (!g) return ig_fail(error, IgErrorArgument, "%s: no group", call);
    if (op > IgGroupMax) return ig_fail(error, IgErrorArgument, "%s: no operation %d", call, op);
    return true;
}

// What is asked of all processes about a tensor. Its values travel through memory of the host's, or
// stay in memory of GPUs (group_nccl.c).
typedef struct Ask {
    GroupKind kind;
    IgGroupOp op;
    int root;
    int64_t rows; // of the result
    int64_t each; // elements of this process: of what it gives, GROUP_SCATTER: of what it gets
} Ask;

static int64_t rows_of(const IgTensor *x) { return ig_rank(x) ? ig_dim(x, 0) : 1; }

static void shape_of(const IgTensor *x, int64_t rows, int64_t shape[IG_MAX_RANK]) {
    memcpy(shape, ig_shape(x), (size_t)ig_rank(x) * sizeof *shape);
    if (ig_rank(x)) shape[0] = rows;
}

// ---- Through the host ----

static bool find_begins(const IgGroup *g, Call *c, size_t size, MTLError **error) {
    if (!(c->begins = calloc((size_t)g->size + 1, sizeof *c->begins)))
        return ig_fail_no_memory(error);
    for (int i = 0; i <= g->size; i++) c->begins[i] = size * (size_t)i;
    return true;
}

// Results that are longer than x have a part for it, which is read here; otherwise the thread reads
// it when it is there.
static Call *host_call(const IgGroup *g, IgTensor *x, const Ask *a, MTLError **error) {
    const bool sums = a->kind == GROUP_REDUCE || a->kind == GROUP_SCATTER;
    const bool gathers = a->kind == GROUP_GATHER;
    const IgType type = sums ? wire_type(ig_type(x)) : ig_type(x);
    const size_t size = (size_t)ig_numel(x) * ig_type_size(type);
    ig_no_grad_begin();
    IgTensor *cast = ig_cast(x, type, error);
    IgTensor *own = cast ? ig_keep(ig_contiguous(cast, error)) : NULL;
    ig_no_grad_end();
    Call *c = own ? call_new(a->kind, gathers ? size * (size_t)g->size : size, error) : NULL;
    if (!c) {
        ig_release(own);
        return NULL;
    }
    c->tensor = own, c->type = type, c->n = a->each, c->root = a->root;
    c->op = a->op == IgGroupMean ? IgGroupSum : a->op;
    if (!gathers) return c;
    bool ok =
        find_begins(g, c, size, error) && ig_read(own, c->data + c->begins[g->rank], size, error);
    ig_release(c->tensor);
    c->tensor = NULL;
    if (ok) return c;
    call_free(c);
    return NULL;
}

static IgTensor *host_result(const IgGroup *g, const Call *c, IgTensor *x, const Ask *a,
                             MTLError **error) {
    int64_t shape[IG_MAX_RANK] = {0};
    shape_of(x, a->rows, shape);
    IgTensor *t = ig_from_data(ig_device(x), c->type, ig_rank(x), shape, c->data, error);
    if (!t || a->op != IgGroupMean) return t;
    return ig_is_float(ig_type(t)) ? ig_div_scalar(t, g->size, error)
                                   : ig_floor_divide_scalar(t, g->size, error);
}

// ---- In memory of GPUs ----

// Whether the tensor's values travel between GPUs. INGOT_NCCL: also in a group of one, and (for
// tests) on a device that is taken for one.
static bool on_gpus(const IgGroup *g, const IgTensor *x) {
    const IgDevice *device = ig_device(x);
    return device->gpu && (getenv("INGOT_NCCL") || (!device->unified && g->size > 1)) &&
           group_nccl_load();
}

// A tensor in memory that nobody else has.
static IgTensor *fresh(IgTensor *x, MTLError **error) {
    IgTensor *t = ig_contiguous(ig_mul_scalar(x, 1, error), error);
    return t && ig_type(t) != ig_type(x) ? ig_cast(t, ig_type(x), error) : t;
}

static Call *gpu_call(IgTensor *x, const Ask *a, MTLError **error) {
    IgScope *scope = ig_scope_begin();
    ig_no_grad_begin();
    const IgType type = group_nccl_has(ig_type(x)) ? ig_type(x) : IgInt32;
    int64_t shape[IG_MAX_RANK] = {0};
    shape_of(x, a->rows, shape);
    IgTensor *from = fresh(ig_cast(x, type, error), error);
    IgTensor *to = fresh(ig_zeros(ig_device(x), type, ig_rank(x), shape, error), error);
    Call *c = from && to ? call_new(a->kind, 0, error) : NULL;
    if (c) {
        c->tensor = ig_keep(from), c->result = ig_keep(to);
        c->type = type, c->op = a->op, c->root = a->root, c->n = a->each;
    }
    ig_no_grad_end();
    ig_scope_end(scope);
    return c;
}

// ---- Calls about tensors ----

static IgTensor *ask(IgGroup *g, IgTensor *x, Ask a, MTLError **error) {
    const bool gpus = on_gpus(g, x);
    if (!gpus && g->size == 1) return ig_clone(x, error); // the caller's own, as results are
    Call *c = carry(g, gpus ? gpu_call(x, &a, error) : host_call(g, x, &a, error), error);
    if (!c) return NULL;
    IgScope *scope = ig_scope_begin();
    IgTensor *t = gpus ? c->result : host_result(g, c, x, &a, error);
    if (t) t = ig_cast(t, ig_type(x), error);
    t = ig_scope_return(scope, t);
    call_free(c);
    return t;
}

IgTensor *ig_all_reduce(IgGroup *g, IgTensor *x, IgGroupOp op, MTLError **error) {
    if (!check("ig_all_reduce", g, x, op, error)) return NULL;
    return ask(g, x, (Ask){GROUP_REDUCE, op, 0, rows_of(x), ig_numel(x)}, error);
}

IgTensor *ig_group_broadcast(IgGroup *g, IgTensor *x, int root, MTLError **error) {
    if (!check("ig_group_broadcast", g, x, IgGroupSum, error)) return NULL;
    if (root < 0 || root >= g->size) {
        ig_fail(error, IgErrorArgument, "ig_group_broadcast: no process %d of %d", root, g->size);
        return NULL;
    }
    return ask(g, x, (Ask){GROUP_BROADCAST, IgGroupSum, root, rows_of(x), ig_numel(x)}, error);
}

IgTensor *ig_all_gather(IgGroup *g, IgTensor *x, MTLError **error) {
    if (!check("ig_all_gather", g, x, IgGroupSum, error)) return NULL;
    if (!ig_rank(x)) {
        ig_fail(error, IgErrorShape,
                "ig_all_gather: a scalar has no first axis; reshape it to (1)");
        return NULL;
    }
    return ask(g, x, (Ask){GROUP_GATHER, IgGroupSum, 0, rows_of(x) * g->size, ig_numel(x)}, error);
}

IgTensor *ig_reduce_scatter(IgGroup *g, IgTensor *x, IgGroupOp op, MTLError **error) {
    if (!check("ig_reduce_scatter", g, x, op, error)) return NULL;
    if (!ig_rank(x) || ig_dim(x, 0) % g->size) {
        ig_fail(error, IgErrorShape,
                "ig_reduce_scatter: the first axis of %s has no %d equal parts",
                ig_shape_text(ig_rank(x), ig_shape(x)), g->size);
        return NULL;
    }
    return ask(g, x, (Ask){GROUP_SCATTER, op, 0, rows_of(x) / g->size, ig_numel(x) / g->size},
               error);
}

bool ig_group_barrier(IgGroup *g, MTLError **error) {
    if (!g) return ig_fail(error, IgErrorArgument, "ig_group_barrier: no group");
    if (g->size == 1) return true;
    Call *c = carry(g, call_new(GROUP_BARRIER, 0, error), error);
    call_free(c);
    return c != NULL;
}

// ---- Memory of the host ----

bool ig_group_reduce_data(IgGroup *g, IgType type, int64_t n, void *data, IgGroupOp op,
                          MTLError **error) {
    if (!g || n < 0 || !ig_is_type(type) || wire_type(type) != type || op > IgGroupMax ||
        op == IgGroupMean)
        return ig_fail(error, IgErrorArgument, "ig_group_reduce_data: no such numbers");
    if (g->size == 1) return true;
    Call *c = call_new(GROUP_REDUCE, (size_t)n * ig_type_size(type), error);
    if (!c) return false;
    c->type = type, c->n = n, c->op = op;
    memcpy(c->data, data, c->n_bytes);
    if (!(c = carry(g, c, error))) return false;
    memcpy(data, c->data, c->n_bytes);
    call_free(c);
    return true;
}

bool ig_group_gather_data(IgGroup *g, void *data, const size_t *begins, MTLError **error) {
    if (!g) return ig_fail(error, IgErrorArgument, "ig_group_gather_data: no group");
    if (g->size == 1) return true;
    for (int i = 0; i < g->size; i++)
        if (begins[i] > begins[i + 1])
            return ig_fail(error, IgErrorArgument, "ig_group_gather_data: parts overlap");
    Call *c = call_new(GROUP_GATHER, begins[g->size], error);
    if (!c) return false;
    const size_t n_begins = ((size_t)g->size + 1) * sizeof *begins;
    if (!(c->begins = malloc(n_begins))) {
        call_free(c);
        return ig_fail_no_memory(error);
    }
    memcpy(c->begins, begins, n_begins);
    const size_t mine = begins[g->rank], size = begins[g->rank + 1] - mine;
    memcpy(c->data + mine, (char *)data + mine, size);
    if (!(c = carry(g, c, error))) return false;
    memcpy(data, c->data, c->n_bytes);
    call_free(c);
    return true;
}

// ---- Training ----

bool ig_group_broadcast_parameters(IgGroup *g, int n, IgTensor *const *parameters, int root,
                                   MTLError **error) {
    if (!g) return ig_fail(error, IgErrorArgument, "ig_group_broadcast_parameters: no group");
    bool ok = true;
    for (int i = 0; ok && g->size > 1 && i < n; i++) {
        IgScope *scope = ig_scope_begin();
        IgTensor *t = ig_group_broadcast(g, parameters[i], root, error);
        ok = t && ig_assign(parameters[i], t, error);
        ig_scope_end(scope);
    }
    return ok;
}

typedef struct Bucket {
    int first, end; // parameters; the bucket goes down from end - 1
    Call *call;
} Bucket;

// Flat and in float: one call for all gradients of the bucket. The kernels that make them start
// here; the thread of the group waits for them.
static bool send_bucket(IgGroup *g, Bucket *b, IgTensor *const *parameters, MTLError **error) {
    const int n = b->end - b->first;
    IgTensor **parts = calloc((size_t)n, sizeof *parts);
    if (!parts) return ig_fail_no_memory(error);
    IgScope *scope = ig_scope_begin();
    ig_no_grad_begin();
    bool ok = true;
    for (int i = 0; ok && i < n; i++) {
        IgTensor *grad = ig_grad(parameters[b->first + i], error);
        IgTensor *cast = grad ? ig_cast(grad, IgFloat32, error) : NULL;
        parts[i] = ig_reshape(cast, 1, (int64_t[]){grad ? ig_numel(grad) : 0}, error);
        ig_release(grad);
        ok = parts[i] != NULL;
    }
    IgTensor *flat = ok ? ig_concat(n, parts, 0, error) : NULL;
    flat = ig_keep(ig_contiguous(ig_mul_scalar(flat, 1.0 / g->size, error), error));
    ig_no_grad_end();
    ig_scope_end(scope);
    free(parts);
    MTLBuffer *buffer;
    size_t offset;
    if (!flat) return false;
    const bool gpus = on_gpus(g, flat);
    Call *c = ig_buffer(flat, &buffer, &offset, error)
                  ? call_new(GROUP_REDUCE, gpus ? 0 : (size_t)ig_numel(flat) * sizeof(float), error)
                  : NULL;
    if (c && gpus) c->result = ig_retain(flat);
    if (!c) {
        ig_release(flat);
        return false;
    }
    c->tensor = flat, c->type = IgFloat32, c->n = ig_numel(flat), c->op = IgGroupSum;
    if (post(g, c, error)) {
        b->call = c;
        return true;
    }
    call_free(c);
    return false;
}

static bool take_bucket(IgGroup *g, Bucket *b, IgTensor *const *parameters, MTLError **error) {
    Call *c = b->call;
    b->call = NULL;
    if (!wait_for(g, c, error)) return false;
    IgScope *scope = ig_scope_begin();
    IgDevice *device = ig_device(parameters[b->first]);
    IgTensor *flat =
        c->result ? c->result : ig_from_data(device, IgFloat32, 1, &c->n, c->data, error);
    bool ok = flat != NULL;
    for (int64_t i = b->first, at = 0; ok && i < b->end; i++) {
        IgTensor *p = parameters[i];
        IgTensor *t = ig_slice(flat, 0, at, at + ig_numel(p), 1, error);
        t = ig_reshape(t, ig_rank(p), ig_shape(p), error);
        ok = t && ig_set_grad(p, ig_cast(t, ig_type(p), error), error);
        at += ig_numel(p);
    }
    ig_scope_end(scope);
    call_free(c);
    return ok;
}

bool ig_group_average_gradients(IgGroup *g, int n, IgTensor *const *parameters, size_t bucket_bytes,
                                MTLError **error) {
    if (!g) return ig_fail(error, IgErrorArgument, "ig_group_average_gradients: no group");
    for (int i = 0; i < n; i++)
        if (!ig_has_grad(parameters[i]))
            return ig_fail(error, IgErrorGradient,
                           "ig_group_average_gradients: parameter %d has no gradient", i);
    if (g->size == 1 || n < 1) return true;
    if (!bucket_bytes) bucket_bytes = (size_t)4 << 20;
    Bucket *buckets = calloc((size_t)n, sizeof *buckets);
    if (!buckets) return ig_fail_no_memory(error);
    bool ok = true;
    int n_buckets = 0;
    for (int end = n; ok && end > 0; n_buckets++) {
        size_t bytes = 0;
        int first = end;
        while (first > 0 && (first == end || bytes < bucket_bytes))
            bytes += (size_t)ig_numel(parameters[--first]) * sizeof(float);
        buckets[n_buckets] = (Bucket){first, end, NULL};
        ok = send_bucket(g, &buckets[n_buckets], parameters, error);
        end = first;
    }
    for (int i = 0; i < n_buckets; i++)
        if (buckets[i].call) ok = take_bucket(g, &buckets[i], parameters, ok ? error : NULL) && ok;
    free(buckets);
    return ok;
}
