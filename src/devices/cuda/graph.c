// SPDX-License-Identifier: Apache-2.0
// graph.c: commands of a run on their way to the driver, as CUDA graphs. A launch costs the driver
// two microseconds, in a graph half of that. Programs that repeat commands (reusable command
// buffers, indirect command buffers, training steps) need not say so: the commands of a run are
// recorded as bytes, and a sequence that occurs a second time becomes a graph. From then on, a run
// that begins like a graph is held back as long as it matches, and becomes one launch if it matches
// to the end. Constants may differ each time: they are recorded separately, and the graph nodes
// whose constants changed are updated.
//
// In a graph a command waits only for those whose memory it accesses (dependencies.h), as far as
// kernels declare what they reach. If memory was allocated or freed since, the dependencies are
// checked again.
#include "devices/cuda/cuda_int.h"
#include "base/array.h"
#include "devices/cuda/dependencies.h"
#include <stdlib.h>
#include <string.h>

enum {
    MIN_COMMANDS = 8,        // fewer are not worth it
    MAX_GRAPHS = 16,         // of a device
    MAX_LOG_BYTES = 4 << 20, // of a sequence
    MAX_ORDERED = 2048,      // commands; of more the order stays as it is
    AT_ONCE = 4,             // of a sequence: these go by themselves, so that the device begins
    MANY = 64,               // from here on, more go together
    BEFORE_TRAINS = 256,     // a device that got so many one by one is worth the preparation
    N_SEEN = sizeof((CudaDevice *)0)->seen / sizeof(uint64_t),
};

typedef struct CudaGraph {
    struct CudaGraph *next;
    char *log, *constants;
    size_t n_bytes, n_constant_bytes;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode *nodes; // a command each; NULL: not known
    bool is_ordered;    // not a chain any more:
    uint64_t order;     // cuda_dependencies_hash
    uint64_t time;      // cuda_memory_time when that was seen to be right
} CudaGraph;

typedef enum Kind { LAUNCH, COPY, FILL } Kind;
typedef struct Command {      // and then the parameters of a launch, up to a multiple of 8
    uint32_t kind, constants; // where its constants begin among all
    union {
        CudaLaunch launch;
        struct {
            CUdeviceptr to, from;
            uint64_t n_bytes, value;
        } copy; // or fill
    };
} Command;

// ---- One command ----

static size_t command_bytes(const Command *c) {
    size_t n = c->kind == LAUNCH ? c->launch.n_bytes : 0;
    return sizeof *c + ((n + 7) & ~(size_t)7);
}

static CUresult fill(const CudaDriver *driver, const Command *c, CUstream stream) {
    bool words = c->copy.to % 4 == 0 && c->copy.n_bytes % 4 == 0;
    uint32_t value = (uint32_t)c->copy.value;
    return words
               ? driver->cuMemsetD32Async(c->copy.to, value * 0x01010101u, c->copy.n_bytes / 4,
                                          stream)
               : driver->cuMemsetD8Async(c->copy.to, (unsigned char)value, c->copy.n_bytes, stream);
}

// The parameters of a launch with its constants, in `room`.
static void *with_constants(const Command *c, const char *constants, char *room) {
    size_t n_bytes = c->launch.n_constants * sizeof(uint32_t);
    memcpy(room, c + 1, c->launch.n_bytes);
    if (n_bytes) memcpy(room + c->launch.n_bytes - n_bytes, constants + c->constants, n_bytes);
    return room;
}
enum { MAX_PARAMETER_BYTES = (CUDA_MAX_SLOTS + CUDA_GRID_WORDS + CUDA_MAX_CONSTANTS + 2) * 8 };

static CUresult issue(const CudaFlow *flow, const Command *c) {
    const CudaDriver *driver = flow->device->driver;
    if (c->kind == COPY)
        return driver->cuMemcpyAsync(c->copy.to, c->copy.from, c->copy.n_bytes, flow->stream);
    if (c->kind == FILL) return fill(driver, c, flow->stream);
    const CudaLaunch *l = &c->launch;
    size_t n_bytes = l->n_bytes;
    char room[MAX_PARAMETER_BYTES];
    void *extra[] = {(void *)1, with_constants(c, flow->constants.data, room), (void *)2, &n_bytes,
                     NULL};
    return driver->cuLaunchKernel(l->function, l->grid[0], l->grid[1], l->grid[2], l->block[0],
                                  l->block[1], l->block[2], l->shared_bytes, flow->stream, NULL,
                                  extra);
}

static bool give_train(CudaFlow *flow, size_t n, size_t *at) {
    CUkernelNode kernels[CUDA_LAUNCH_BATCH_LONG];
    void *extra[CUDA_LAUNCH_BATCH_LONG][5];
    size_t n_bytes[CUDA_LAUNCH_BATCH_LONG], next = *at, n_room = 0;
    char *room = NULL, *rooms = NULL;
    for (size_t i = 0; i < n; i++) { // all of them launches
        const Command *c = (const Command *)(const void *)(flow->log.data + next);
        if (next >= flow->log.n_bytes || c->kind != LAUNCH) return false;
        n_room += command_bytes(c);
        next += command_bytes(c);
    }
    if (!(rooms = malloc(n_room))) return false;
    next = *at, room = rooms;
    for (size_t i = 0; i < n; i++) {
        const Command *c = (const Command *)(const void *)(flow->log.data + next);
        const CudaLaunch *l = &c->launch;
        n_bytes[i] = l->n_bytes;
        void *of[] = {(void *)1, with_constants(c, flow->constants.data, room), (void *)2,
                      &n_bytes[i], NULL};
        memcpy(extra[i], of, sizeof of);
        kernels[i] = (CUkernelNode){.function = l->function,
                                    .grid = {l->grid[0], l->grid[1], l->grid[2]},
                                    .block = {l->block[0], l->block[1], l->block[2]},
                                    .shared_bytes = l->shared_bytes,
                                    .extra = extra[i]};
        room += command_bytes(c);
        next += command_bytes(c);
    }
    bool ok = cuda_launch_batch(flow, kernels, n);
    free(rooms);
    if (ok) *at = next;
    return ok;
}

// All that is in the log and not with the driver.
static CUresult give_rest(CudaFlow *flow) {
    CudaDevice *d = flow->device;
    CUresult result = CUDA_SUCCESS;
    size_t at = flow->n_given, left = flow->n_left;
    while (left && !result) {
        size_t n =
            left >= CUDA_LAUNCH_BATCH_LONG ? CUDA_LAUNCH_BATCH_LONG : CUDA_LAUNCH_BATCH_SHORT;
        bool may = left >= n && !atomic_load_explicit(&d->no_trains, memory_order_relaxed) &&
                   atomic_load_explicit(&d->n_single, memory_order_relaxed) >= BEFORE_TRAINS;
        if (may && give_train(flow, n, &at)) {
            left -= n;
            continue;
        }
        const Command *c = (const Command *)(const void *)(flow->log.data + at);
        result = issue(flow, c);
        atomic_fetch_add_explicit(&d->n_single, 1, memory_order_relaxed);
        at += command_bytes(c);
        left--;
    }
    flow->n_given = flow->log.n_bytes;
    flow->n_left = 0;
    return result;
}

// ---- Sequences ----

// A graph that begins with these bytes. The device's graph_lock is held; a graph that is used stays
// as long as it is.
static CudaGraph *find_graph(const CudaDevice *d, const CudaBytes *log) {
    for (CudaGraph *g = d->graphs; g; g = g->next)
        if (g->n_bytes >= log->n_bytes && !memcmp(g->log, log->data, log->n_bytes)) return g;
    return NULL;
}

static void free_graph(CudaDevice *d, CudaGraph *g) { // graph_lock held
    d->graph_time++;
    d->driver->cuGraphExecDestroy(g->exec);
    d->driver->cuGraphDestroy(g->graph);
    free(g->nodes);
    free(g->constants);
    free(g->log);
    free(g);
}

static void drop_graph(CudaDevice *d, CudaGraph *g) { // likewise
    CudaGraph **at = &d->graphs;
    while (*at != g) at = &(*at)->next;
    *at = g->next;
    free_graph(d, g);
}

// Room for more bytes; NULL: none.
static char *grow(CudaBytes *b, size_t n_bytes) {
    if (!array_reserve(&b->data, &b->capacity, b->n_bytes + n_bytes)) return NULL;
    b->n_bytes += n_bytes;
    return b->data + b->n_bytes - n_bytes;
}

static Command *append(CudaFlow *flow, size_t n_bytes) {
    Command *c = (Command *)(void *)grow(&flow->log, n_bytes);
    if (!c) return NULL;
    memset(c, 0, n_bytes);
    flow->n_logged++;
    return c;
}

static void start_over(CudaFlow *flow) {
    flow->log.n_bytes = flow->constants.n_bytes = 0;
    flow->n_logged = flow->n_given = flow->n_left = 0;
    flow->holding = false;
    flow->match = NULL;
}

// Whether the log is still the beginning of a graph, now that it has the command c more.
static bool begins_a_graph(CudaFlow *flow, const Command *c) {
    CudaDevice *d = flow->device;
    const CudaBytes *log = &flow->log;
    size_t before = (size_t)((const char *)c - log->data), n_bytes = log->n_bytes - before;
    pthread_mutex_lock(&d->graph_lock);
    CudaGraph *match = flow->match_time == d->graph_time ? flow->match : NULL;
    if (match && (match->n_bytes < log->n_bytes || memcmp(match->log + before, c, n_bytes) != 0))
        match = NULL;
    if (!match) match = find_graph(d, log);
    flow->match = match;
    flow->match_time = d->graph_time;
    pthread_mutex_unlock(&d->graph_lock);
    return match != NULL;
}

// The last command of the log is new: held back, issued, or left until there are more.
static CUresult go_on(CudaFlow *flow, const Command *c) {
    flow->busy = true;
    flow->seen_done = false;
    flow->n_left++;
    bool decided = flow->n_logged > 1 && !flow->holding;
    flow->holding = !decided && begins_a_graph(flow, c);
    if (flow->holding) return CUDA_SUCCESS;
    size_t wait_for = flow->n_logged <= AT_ONCE ? 1
                      : flow->n_logged <= MANY  ? CUDA_LAUNCH_BATCH_SHORT
                                                : CUDA_LAUNCH_BATCH_LONG;
    return c->kind == LAUNCH && flow->n_left < wait_for ? CUDA_SUCCESS : give_rest(flow);
}

CUresult cuda_launch(CudaFlow *flow, const CudaLaunch *launch, const void *parameters) {
    Command *c = append(flow, sizeof *c + ((launch->n_bytes + 7u) & ~7u));
    if (!c) return CUDA_ERROR_OUT_OF_MEMORY;
    size_t n_bytes = launch->n_constants * sizeof(uint32_t), fixed = launch->n_bytes - n_bytes;
    c->kind = LAUNCH;
    c->constants = (uint32_t)flow->constants.n_bytes;
    c->launch = *launch;
    memcpy(c + 1, parameters, fixed);
    char *constants = n_bytes ? grow(&flow->constants, n_bytes) : NULL;
    if (n_bytes && !constants) return CUDA_ERROR_OUT_OF_MEMORY;
    if (n_bytes) memcpy(constants, (const char *)parameters + fixed, n_bytes);
    return go_on(flow, c);
}

static CUresult enqueue(CudaFlow *flow, Kind kind, const Command *command) {
    Command *c = append(flow, sizeof *c);
    if (!c) return CUDA_ERROR_OUT_OF_MEMORY;
    c->kind = kind;
    c->copy = command->copy;
    return go_on(flow, c);
}

CUresult cuda_enqueue_copy(CudaFlow *flow, CUdeviceptr to, CUdeviceptr from, size_t n_bytes) {
    return enqueue(flow, COPY, &(Command){.copy = {.to = to, .from = from, .n_bytes = n_bytes}});
}

CUresult cuda_enqueue_fill(CudaFlow *flow, CUdeviceptr to, uint8_t value, size_t n_bytes) {
    return enqueue(flow, FILL, &(Command){.copy = {.to = to, .n_bytes = n_bytes, .value = value}});
}

// ---- Who waits for whom ----

enum { MAX_TOUCHES = 64 };

// What an address of an argument stands for. False: it may be anything.
static bool touch(const CudaDevice *d, CUdeviceptr address, bool writes, CudaTouch *touches,
                  int *n) {
    const CudaMemory *m = cuda_memory_at((const void *)(uintptr_t)address);
    bool zeros = d->zeros && address - d->zeros < CUDA_ZEROS_BYTES;
    if (m || zeros) touches[(*n)++] = (CudaTouch){m ? (uintptr_t)m : d->zeros, writes};
    // Constants in memory of the command buffer's are there before.
    return m || zeros || (!writes && cuda_pinned_from(d, address));
}

static int touches_of(const CudaFlow *flow, const Command *c, CudaTouch touches[MAX_TOUCHES]) {
    int n = 0;
    if (c->kind != LAUNCH) {
        bool known = touch(flow->device, c->copy.to, true, touches, &n) &&
                     (c->kind == FILL || touch(flow->device, c->copy.from, false, touches, &n));
        return known ? n : -1;
    }
    const CudaCode *code = c->launch.code;
    const uint64_t *slots = (const uint64_t *)(const void *)(c + 1);
    if (!(code->flags & CUDA_KERNEL_KNOWN)) return -1;
    for (uint64_t all = code->slots_read | code->slots_written; all; all &= all - 1) {
        int i = __builtin_ctzll(all);
        bool writes = code->slots_written >> i & 1;
        bool own = !slots[i] || (i < 32 && c->launch.copied >> i & 1); // constants, of its own
        if (own ? writes : !touch(flow->device, slots[i], writes, touches, &n)) return -1;
    }
    return n;
}

// The order of the flow's commands; cuda_dependencies_end in any case. False: not known.
static bool find_order(const CudaFlow *flow, CudaDependencies *order) {
    if (!cuda_dependencies_begin(order, flow->n_logged) || cuda_memory_overlaps()) return false;
    for (size_t at = 0; at < flow->log.n_bytes;) {
        const Command *c = (const Command *)(const void *)(flow->log.data + at);
        CudaTouch touches[MAX_TOUCHES];
        cuda_dependencies_add(order, touches, touches_of(flow, c, touches));
        at += command_bytes(c);
    }
    return !order->failed;
}

// From the chain of nodes to what must be.
static CUresult replace_edges(const CudaDriver *driver, const CudaGraph *g,
                              const CudaDependencies *o) {
    size_t n = o->n_commands - 1, most = o->n_edges > n ? o->n_edges : n;
    CUgraphNode *from = malloc((most + 1) * sizeof *from), *to = malloc((most + 1) * sizeof *to);
    CUresult result = from && to ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    if (!result) {
        memcpy(from, g->nodes, n * sizeof *from);
        memcpy(to, g->nodes + 1, n * sizeof *to);
        result = driver->cuGraphRemoveDependencies(g->graph, from, to, n);
    }
    for (size_t i = 0; i < o->n_edges && !result; i++) {
        from[i] = g->nodes[o->edges[i].from];
        to[i] = g->nodes[o->edges[i].to];
    }
    if (!result && o->n_edges)
        result = driver->cuGraphAddDependencies(g->graph, from, to, o->n_edges);
    free(from);
    free(to);
    return result;
}

static CUresult loosen(const CudaFlow *flow, CudaGraph *g) {
    const CudaDriver *driver = flow->device->driver;
    if (!g->nodes || flow->n_logged > MAX_ORDERED || !driver->cuGraphAddDependencies ||
        !driver->cuGraphRemoveDependencies)
        return CUDA_SUCCESS;
    CudaDependencies order;
    uint64_t time = cuda_memory_time();
    CUresult result = CUDA_SUCCESS;
    if (find_order(flow, &order)) {
        bool chain = order.n_edges == order.n_commands - 1;
        for (size_t i = 0; i < order.n_edges; i++)
            chain = chain && order.edges[i].from + 1 == order.edges[i].to;
        if (!chain) {
            g->is_ordered = true;
            g->order = cuda_dependencies_hash(&order);
            g->time = time;
            result = replace_edges(driver, g, &order);
        }
    }
    cuda_dependencies_end(&order);
    return result;
}

// Whether the graph's order is that of the flow's commands, which are the same.
static bool is_right_order(const CudaFlow *flow, CudaGraph *g) {
    uint64_t time = cuda_memory_time();
    if (!g->is_ordered || g->time == time) return true;
    CudaDependencies order;
    bool right = find_order(flow, &order) && cuda_dependencies_hash(&order) == g->order;
    cuda_dependencies_end(&order);
    if (right) g->time = time;
    return right;
}

// ---- A graph in their place ----

static bool has_constants(const CudaGraph *g, const CudaFlow *flow) {
    return !g->n_constant_bytes || !memcmp(g->constants, flow->constants.data, g->n_constant_bytes);
}

// The graph with the constants of these commands. Launches of it that are under way keep theirs.
static CUresult tell_constants(const CudaFlow *flow, CudaGraph *g) {
    const char *now = flow->constants.data;
    CUresult result = CUDA_SUCCESS;
    size_t n = 0;
    for (size_t at = 0; at < g->n_bytes && !result; n++) {
        const Command *c = (const Command *)(const void *)(g->log + at);
        const CudaLaunch *l = &c->launch;
        at += command_bytes(c);
        size_t n_bytes = c->kind == LAUNCH ? l->n_constants * sizeof(uint32_t) : 0;
        if (!n_bytes || !memcmp(g->constants + c->constants, now + c->constants, n_bytes)) continue;
        char room[MAX_PARAMETER_BYTES];
        size_t n_parameters = l->n_bytes;
        void *extra[] = {(void *)1, with_constants(c, now, room), (void *)2, &n_parameters, NULL};
        CUkernelNode node = {.function = l->function,
                             .grid = {l->grid[0], l->grid[1], l->grid[2]},
                             .block = {l->block[0], l->block[1], l->block[2]},
                             .shared_bytes = l->shared_bytes,
                             .extra = extra};
        result = flow->device->driver->cuGraphExecKernelNodeSetParams(g->exec, g->nodes[n], &node);
        if (!result) memcpy(g->constants + c->constants, now + c->constants, n_bytes);
    }
    return result;
}

CUresult cuda_flush(CudaFlow *flow) {
    CudaDevice *d = flow->device;
    if (!flow->holding) return give_rest(flow);
    flow->holding = false;
    pthread_mutex_lock(&d->graph_lock);
    CudaGraph *g = find_graph(d, &flow->log);
    bool whole = g && g->n_bytes == flow->log.n_bytes && (g->nodes || has_constants(g, flow));
    if (whole && !is_right_order(flow, g)) {
        drop_graph(d, g);
        whole = false;
    }
    // The lock is held: nobody frees the graph meanwhile.
    CUresult result = whole && !has_constants(g, flow) ? tell_constants(flow, g) : CUDA_SUCCESS;
    if (whole && !result) result = d->driver->cuGraphLaunch(g->exec, flow->stream);
    pthread_mutex_unlock(&d->graph_lock);
    if (!whole) return give_rest(flow);
    start_over(flow);
    return result;
}

// ---- What came again ----

static uint64_t hash(const CudaBytes *log) { // FNV-1a on words
    uint64_t h = 0xcbf29ce484222325u, word;
    for (size_t i = 0; i < log->n_bytes; i += sizeof word) {
        memcpy(&word, log->data + i, sizeof word);
        h = (h ^ word) * 0x100000001b3u;
        h ^= h >> 29;
    }
    return h;
}

static bool came_before(CudaDevice *d, uint64_t h) { // graph_lock held
    for (unsigned i = 0; i < N_SEEN; i++)
        if (d->seen[i] == h) return true;
    d->seen[d->n_seen++ % N_SEEN] = h;
    return false;
}

// Commands of a stream are a chain: a node each, if all is as it should be.
static CUgraphNode *nodes_of(const CudaDriver *driver, CUgraph graph, size_t n) {
    CUgraphNode *nodes = malloc(n * sizeof *nodes);
    size_t one = 1, none = 0;
    bool ok = nodes && !driver->cuGraphGetRootNodes(graph, nodes, &one) && one == 1;
    for (size_t i = 1; ok && i < n; i++, one = 1)
        ok = !driver->cuGraphNodeGetDependentNodes(nodes[i - 1], &nodes[i], &one) && one == 1;
    ok = ok && !driver->cuGraphNodeGetDependentNodes(nodes[n - 1], NULL, &none) && none == 0;
    if (ok) return nodes;
    free(nodes);
    return NULL;
}

static CudaGraph *create_graph(CudaFlow *flow) {
    const CudaDriver *driver = flow->device->driver;
    CudaGraph *g = calloc(1, sizeof *g);
    if (!g || !(g->log = malloc(flow->log.n_bytes)) ||
        !(g->constants = malloc(flow->constants.n_bytes + 1)))
        goto fail;
    memcpy(g->log, flow->log.data, g->n_bytes = flow->log.n_bytes);
    g->n_constant_bytes = flow->constants.n_bytes;
    if (g->n_constant_bytes) memcpy(g->constants, flow->constants.data, g->n_constant_bytes);
    if (driver->cuStreamBeginCapture_v2(flow->stream, CU_STREAM_CAPTURE_MODE_RELAXED)) goto fail;
    CUresult result = CUDA_SUCCESS;
    for (size_t at = 0; at < flow->log.n_bytes && !result;) {
        const Command *c = (const Command *)(const void *)(flow->log.data + at);
        result = issue(flow, c);
        at += command_bytes(c);
    }
    CUresult ended = driver->cuStreamEndCapture(flow->stream, &g->graph);
    if (!result) result = ended;
    if (!result) g->nodes = nodes_of(driver, g->graph, flow->n_logged);
    if (!result) result = loosen(flow, g);
    if (!result) result = driver->cuGraphInstantiateWithFlags(&g->exec, g->graph, 0);
    if (!result) return g;
fail:
    if (g && g->graph) driver->cuGraphDestroy(g->graph);
    if (g) {
        free(g->nodes);
        free(g->constants);
        free(g->log);
    }
    free(g);
    return NULL;
}

void cuda_remember(CudaFlow *flow) {
    CudaDevice *d = flow->device;
    if (flow->n_logged >= MIN_COMMANDS && flow->log.n_bytes <= MAX_LOG_BYTES) {
        uint64_t h = hash(&flow->log);
        pthread_mutex_lock(&d->graph_lock);
        const CudaGraph *there = find_graph(d, &flow->log);
        bool again = came_before(d, h) && !(there && there->n_bytes == flow->log.n_bytes);
        CudaGraph *g = again ? create_graph(flow) : NULL;
        if (g) {
            g->next = d->graphs;
            d->graphs = g;
            CudaGraph **at = &d->graphs;
            for (unsigned n = 0; *at && n < MAX_GRAPHS; n++) at = &(*at)->next;
            if (*at) {
                free_graph(d, *at);
                *at = NULL;
            }
        }
        pthread_mutex_unlock(&d->graph_lock);
    }
    start_over(flow);
}

static bool mentions(const CudaGraph *g, CUfunction function) {
    for (size_t at = 0; at < g->n_bytes;) {
        const Command *c = (const Command *)(const void *)(g->log + at);
        if (c->kind == LAUNCH && c->launch.function == function) return true;
        at += command_bytes(c);
    }
    return false;
}

void cuda_graphs_forget(CudaDevice *d, CUfunction function) {
    pthread_mutex_lock(&d->graph_lock);
    for (CudaGraph **at = &d->graphs; *at;) {
        CudaGraph *g = *at;
        if (function && !mentions(g, function)) {
            at = &g->next;
            continue;
        }
        *at = g->next;
        free_graph(d, g);
    }
    cuda_launch_batches_forget(d, function);
    memset(d->seen, 0, sizeof d->seen); // another function may get its place
    pthread_mutex_unlock(&d->graph_lock);
}
