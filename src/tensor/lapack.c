// SPDX-License-Identifier: Apache-2.0
// lapack.c: the machine's LAPACK, opened at first use: no package needs one, and nothing is linked.
//
// LAPACK's matrices are column by column, ours row by row: it sees each one transposed. So the
// functions here ask for the factors of the transposed matrix, which in memory are the factors that
// are wanted: L' Q' for Q R, V S U' for U S V'. Scalars are passed by address; behind the arguments
// of a Fortran function stand the lengths of its strings, which C callers easily forget.
#include "tensor/lapack.h"
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int32_t Int;    // LAPACK's INTEGER; libraries where it is 64 bits wide are refused
typedef size_t Strings; // length of a string

static struct Functions {
    void (*dgetrf)(const Int *m, const Int *n, double *a, const Int *lda, Int *pivots, Int *info);
    void (*dgetrs)(const char *trans, const Int *n, const Int *k, const double *a, const Int *lda,
                   const Int *pivots, double *b, const Int *ldb, Int *info, Strings);
    void (*dpotrf)(const char *uplo, const Int *n, double *a, const Int *lda, Int *info, Strings);
    void (*dgelqf)(const Int *m, const Int *n, double *a, const Int *lda, double *tau, double *work,
                   const Int *n_work, Int *info);
    void (*dorglq)(const Int *m, const Int *n, const Int *k, double *a, const Int *lda,
                   const double *tau, double *work, const Int *n_work, Int *info);
    void (*dgesdd)(const char *job, const Int *m, const Int *n, double *a, const Int *lda,
                   double *s, double *u, const Int *ldu, double *vt, const Int *ldvt, double *work,
                   const Int *n_work, Int *ints, Int *info, Strings);
    void (*dsyevd)(const char *job, const char *uplo, const Int *n, double *a, const Int *lda,
                   double *values, double *work, const Int *n_work, Int *ints, const Int *n_ints,
                   Int *info, Strings, Strings);
} lapack; // filled in once
static const char *const names[] = {"dgetrf_", "dgetrs_", "dpotrf_", "dgelqf_",
                                    "dorglq_", "dgesdd_", "dsyevd_"};
#define N_NAMES (sizeof names / sizeof *names)
_Static_assert(sizeof lapack == N_NAMES * sizeof(void *), "a name for each function");

// ---- Finding it ----

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool found;
static char complaint[512];

// A library with wide integers says 0 in 64 bits. Sizes of 0 and 1 are the same to both kinds.
static bool has_wide_integers(void) {
    int64_t n = 0, lda = 1, info = -1;
    Int seen;
    double a = 1;
    lapack.dpotrf("U", (Int *)(void *)&n, &a, (Int *)(void *)&lda, (Int *)(void *)&info, 1);
    memcpy(&seen, (char *)&info + sizeof seen, sizeof seen);
    return seen == 0;
}

static bool try(const char *name) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        snprintf(complaint, sizeof complaint, "%s", why ? why : name);
        return false;
    }
    for (size_t i = 0; i < N_NAMES; i++) {
        void *function = dlsym(library, names[i]);
        memcpy((char *)&lapack + i * sizeof function, &function, sizeof function);
        if (function) continue;
        snprintf(complaint, sizeof complaint, "%s has no function %s", name, names[i]);
        dlclose(library);
        return false;
    }
    if (!has_wide_integers()) return true; // it stays open
    snprintf(complaint, sizeof complaint, "%s has integers of 64 bits, 32 are needed", name);
    return false;
}

// The library that the user wants; NULL: any.
static const char *wanted(void) {
    const char *name = getenv("INGOT_LAPACK");
    return name && *name ? name : NULL;
}

static void find_libraries(void) {
    const char *name = wanted();
    if (name && strcmp(name, "none") == 0) return;
    found = name ? try(name) : try("libopenblas.so.0") || try("liblapack.so.3");
}

const char *lapack_complaint(void) {
    if (!wanted()) return NULL;
    pthread_once(&once, find_libraries);
    return !found && complaint[0] ? complaint : NULL;
}

bool lapack_takes(int64_t m, int64_t n) {
    // Below LEAST our own code is faster: ten times for matrices of 3 rows. LAPACK's work, up to
    // 4 LESSER^2 and 64 GREATER numbers, must be an Int.
    enum { LEAST = 32, LESSER = 20000, GREATER = INT32_MAX / 64 };
    int64_t lesser = m < n ? m : n, greater = m < n ? n : m;
    if (lesser < LEAST || lesser > LESSER || greater > GREATER) return false;
    pthread_once(&once, find_libraries);
    return found;
}

// ---- Equations ----

void lapack_lu(int64_t n, double *a, int32_t *pivots, double *sign) {
    Int size = (Int)n, info;
    lapack.dgetrf(&size, &size, a, &size, pivots, &info);
    *sign = 1;
    for (Int i = 0; i < size; i++)
        if (pivots[i] != i + 1) *sign = -*sign;
}

static void transpose(int64_t m, int64_t n, const double *a, double *out) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) out[j * m + i] = a[i * n + j];
}

bool lapack_lu_solve(int64_t n, const double *lu, const int32_t *pivots, int64_t k, double *b) {
    Int size = (Int)n, sides = (Int)k, info = 0;
    double *columns = malloc((size_t)(n * k + 1) * sizeof *columns);
    if (!columns) return false;
    transpose(n, k, b, columns);
    lapack.dgetrs("T", &size, &sides, lu, &size, pivots, columns, &size, &info, 1);
    transpose(k, n, columns, b);
    free(columns);
    return info == 0;
}

// ---- Factors ----

bool lapack_cholesky(int64_t n, double *a) {
    Int size = (Int)n, info = 0;
    lapack.dpotrf("U", &size, a, &size, &info, 1);
    bool good = info == 0;
    for (int64_t i = 0; good && i < n; i++) {
        good = isfinite(a[i * n + i]); // not all libraries see those that are not
        memset(a + i * n + i + 1, 0, (size_t)(n - i - 1) * sizeof *a);
    }
    return good;
}

// A function is called once with n_work -1 and says in *work how many numbers it needs.
static double *workspace(double asked, Int *n_work) {
    *n_work = (Int)asked;
    return malloc(((size_t)*n_work + 1) * sizeof(double));
}

bool lapack_qr(int64_t m, int64_t n, double *a, int64_t columns, double *q) {
    Int rows = (Int)m, wide = (Int)n, of_q = (Int)columns, k = rows < wide ? rows : wide;
    Int ask = -1, n_work = 0, info = 0, info_q = 0;
    double asked[2] = {0, 0}, *tau = malloc((size_t)k * sizeof *tau);
    lapack.dgelqf(&wide, &rows, a, &wide, tau, &asked[0], &ask, &info);
    lapack.dorglq(&of_q, &rows, &k, q, &of_q, tau, &asked[1], &ask, &info_q);
    double *work = workspace(fmax(asked[0], asked[1]), &n_work);
    bool ok = tau && work && info == 0 && info_q == 0;
    if (ok) lapack.dgelqf(&wide, &rows, a, &wide, tau, work, &n_work, &info);
    for (int64_t i = 0; ok && i < m; i++) { // reflections are below the diagonal
        memset(q + i * columns, 0, (size_t)columns * sizeof *q);
        memcpy(q + i * columns, a + i * n, (size_t)k * sizeof *q);
        memset(a + i * n, 0, (size_t)(i < n ? i : n) * sizeof *a);
    }
    if (ok) lapack.dorglq(&of_q, &rows, &k, q, &of_q, tau, work, &n_work, &info_q);
    free(work);
    free(tau);
    return ok && info == 0 && info_q == 0;
}

bool lapack_eigh(int64_t n, double *a, double *values, double *v) {
    Int size = (Int)n, ask = -1, n_work = 0, n_ints = 0, info = 0;
    double asked = 0;
    lapack.dsyevd("V", "U", &size, a, &size, values, &asked, &ask, &n_ints, &ask, &info, 1, 1);
    double *work = workspace(asked, &n_work);
    Int *ints = malloc(((size_t)n_ints + 1) * sizeof *ints);
    bool ok = work && ints && info == 0;
    if (ok)
        lapack.dsyevd("V", "U", &size, a, &size, values, work, &n_work, ints, &n_ints, &info, 1, 1);
    if (ok) transpose(n, n, a, v);
    free(ints);
    free(work);
    return ok && info == 0;
}

bool lapack_svd(int64_t m, int64_t n, double *a, bool full, double *u, double *s, double *vh) {
    Int rows = (Int)m, wide = (Int)n, k = rows < wide ? rows : wide, of_u = full ? rows : k;
    Int ask = -1, n_work = 0, info = 0, *ints = malloc((size_t)k * 8 * sizeof *ints);
    const char *job = full ? "A" : "S";
    double asked = 0;
    lapack.dgesdd(job, &wide, &rows, a, &wide, s, vh, &wide, u, &of_u, &asked, &ask, ints, &info,
                  1);
    double *work = workspace(asked, &n_work);
    bool ok = work && ints && info == 0;
    if (ok)
        lapack.dgesdd(job, &wide, &rows, a, &wide, s, vh, &wide, u, &of_u, work, &n_work, ints,
                      &info, 1);
    free(ints);
    free(work);
    return ok && info == 0;
}
