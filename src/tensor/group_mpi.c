// SPDX-License-Identifier: Apache-2.0
// group_mpi.c: messages through Open MPI, opened at first use: no package needs one, and nothing is
// linked. All calls come from the one thread that opened it (MPI_THREAD_FUNNELED).
//
// Open MPI's handles are addresses of objects of its own, so they are found by name as functions
// are. Other MPIs have other handles and are refused.
#include "tensor/group.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *Handle;
enum { FUNNELED = 1, AT_ONCE = 1 << 28 }; // AT_ONCE: elements of one call, whose counts are int
#define IN_PLACE ((void *)1)

static struct Functions {
    int (*init)(int *argc, char ***argv, int required, int *provided);
    int (*finalize)(void);
    int (*abort)(Handle comm, int code);
    int (*comm_rank)(Handle comm, int *rank);
    int (*comm_size)(Handle comm, int *size);
    int (*set_errhandler)(Handle comm, Handle handler);
    int (*error_string)(int code, char *text, int *n);
    int (*allreduce)(const void *from, void *to, int n, Handle type, Handle op, Handle comm);
    int (*bcast)(void *data, int n, Handle type, int root, Handle comm);
    int (*allgatherv)(const void *from, int n, Handle type, void *to, const int *counts,
                      const int *begins, Handle to_type, Handle comm);
    int (*reduce_scatter)(const void *from, void *to, int n, Handle type, Handle op, Handle comm);
    int (*barrier)(Handle comm);
} mpi;
static const char *const names[] = {"MPI_Init_thread",
                                    "MPI_Finalize",
                                    "MPI_Abort",
                                    "MPI_Comm_rank",
                                    "MPI_Comm_size",
                                    "MPI_Comm_set_errhandler",
                                    "MPI_Error_string",
                                    "MPI_Allreduce",
                                    "MPI_Bcast",
                                    "MPI_Allgatherv",
                                    "MPI_Reduce_scatter_block",
                                    "MPI_Barrier"};
#define N_NAMES (sizeof names / sizeof *names)
_Static_assert(sizeof mpi == N_NAMES * sizeof(void *), "a name for each function");

static Handle world, byte, errors_return;
static Handle ops[4], types[9]; // by IgGroupOp and IgType; NULL: it has none
static int n_processes, this_rank;

bool group_mpi_is_around(void) {
    const char *size = getenv("OMPI_COMM_WORLD_SIZE");
    return (size && atoi(size) > 1) || (getenv("PMIX_RANK") && getenv("PMIX_NAMESPACE"));
}

// ---- Finding it ----

static bool find_symbol(void *library, const char *name, Handle *to, char *why) {
    *to = dlsym(library, name);
    if (*to) return true;
    snprintf(why, GROUP_WHY_BYTES, "the MPI library has no %s: only Open MPI is known", name);
    return false;
}

static bool load(char *why) {
    const char *wanted = getenv("INGOT_MPI");
    const char *const tried[] = {wanted && *wanted ? wanted : "libmpi.so.40", "libmpi.so"};
    // Its plug-ins want its symbols.
    void *library = dlopen(tried[0], RTLD_NOW | RTLD_GLOBAL);
    if (!library && !wanted) library = dlopen(tried[1], RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        const char *text = dlerror();
        snprintf(why, GROUP_WHY_BYTES, "Open MPI is not there: %s", text ? text : tried[0]);
        return false;
    }
    for (size_t i = 0; i < N_NAMES; i++) {
        Handle function;
        if (!find_symbol(library, names[i], &function, why)) return false;
        memcpy((char *)&mpi + i * sizeof function, &function, sizeof function);
    }
    return find_symbol(library, "ompi_mpi_comm_world", &world, why) &&
           find_symbol(library, "ompi_mpi_byte", &byte, why) &&
           find_symbol(library, "ompi_mpi_op_sum", &ops[IgGroupSum], why) &&
           find_symbol(library, "ompi_mpi_op_min", &ops[IgGroupMin], why) &&
           find_symbol(library, "ompi_mpi_op_max", &ops[IgGroupMax], why) &&
           find_symbol(library, "ompi_mpi_float", &types[IgFloat32], why) &&
           find_symbol(library, "ompi_mpi_int8_t", &types[IgInt8], why) &&
           find_symbol(library, "ompi_mpi_int16_t", &types[IgInt16], why) &&
           find_symbol(library, "ompi_mpi_int32_t", &types[IgInt32], why) &&
           find_symbol(library, "ompi_mpi_int64_t", &types[IgInt64], why) &&
           find_symbol(library, "ompi_mpi_uint8_t", &types[IgUInt8], why) &&
           find_symbol(library, "ompi_mpi_errors_return", &errors_return, why);
}

static bool check(int code, const char *call, char *why) {
    if (!code) return true;
    char text[256] = "";
    int n = 0;
    mpi.error_string(code, text, &n);
    snprintf(why, GROUP_WHY_BYTES, "%s: %s", call, text);
    return false;
}

static bool open_world(int *rank, int *size, char *why) {
    if (!load(why)) return false;
    int provided = 0;
    if (!check(mpi.init(NULL, NULL, FUNNELED, &provided), "MPI_Init_thread", why)) return false;
    mpi.set_errhandler(world, errors_return);
    if (!check(mpi.comm_rank(world, &this_rank), "MPI_Comm_rank", why) ||
        !check(mpi.comm_size(world, &n_processes), "MPI_Comm_size", why))
        return false;
    *rank = this_rank, *size = n_processes;
    return true;
}

// ---- Messages ----

static bool reduce(void *data, int64_t n, IgType type, IgGroupOp op, char *why) {
    const size_t size = ig_type_size(type);
    for (int64_t at = 0; at < n; at += AT_ONCE) {
        int now = n - at < AT_ONCE ? (int)(n - at) : AT_ONCE;
        if (!check(mpi.allreduce(IN_PLACE, (char *)data + (size_t)at * size, now, types[type],
                                 ops[op], world),
                   "MPI_Allreduce", why))
            return false;
    }
    return true;
}

static bool broadcast(void *data, size_t n_bytes, int root, char *why) {
    for (size_t at = 0; at < n_bytes; at += AT_ONCE) {
        int now = n_bytes - at < AT_ONCE ? (int)(n_bytes - at) : AT_ONCE;
        if (!check(mpi.bcast((char *)data + at, now, byte, root, world), "MPI_Bcast", why))
            return false;
    }
    return true;
}

static bool gather(void *data, const size_t *begins, char *why) {
    if (begins[n_processes] > INT_MAX) { // places are int: one process after the other
        for (int i = 0; i < n_processes; i++)
            if (!broadcast((char *)data + begins[i], begins[i + 1] - begins[i], i, why))
                return false;
        return true;
    }
    int *counts = malloc((size_t)n_processes * 2 * sizeof *counts), *places = counts + n_processes;
    if (!counts) {
        snprintf(why, GROUP_WHY_BYTES, "out of memory");
        return false;
    }
    for (int i = 0; i < n_processes; i++)
        counts[i] = (int)(begins[i + 1] - begins[i]), places[i] = (int)begins[i];
    bool ok = check(mpi.allgatherv(IN_PLACE, 0, byte, data, counts, places, byte, world),
                    "MPI_Allgatherv", why);
    free(counts);
    return ok;
}

// The sums come to the beginning of `data`.
static bool scatter(void *data, int64_t n, IgType type, IgGroupOp op, char *why) {
    const size_t size = ig_type_size(type);
    if (n > INT_MAX / n_processes) {
        if (!reduce(data, n * n_processes, type, op, why)) return false;
        memmove(data, (char *)data + (size_t)n * size * (size_t)this_rank, (size_t)n * size);
        return true;
    }
    return check(mpi.reduce_scatter(IN_PLACE, data, (int)n, types[type], ops[op], world),
                 "MPI_Reduce_scatter_block", why);
}

static bool barrier(char *why) { return check(mpi.barrier(world), "MPI_Barrier", why); }

static void close_world(bool failed) {
    if (failed)
        mpi.abort(world, EXIT_FAILURE);
    else
        mpi.finalize();
}

const GroupTransport group_mpi = {.name = "mpi",
                                  .open = open_world,
                                  .reduce = reduce,
                                  .broadcast = broadcast,
                                  .gather = gather,
                                  .scatter = scatter,
                                  .barrier = barrier,
                                  .close = close_world};
