// SPDX-License-Identifier: Apache-2.0
// wide_lapack.c: has the names of the LAPACK functions that Ingot calls, and integers of 64 bits.
// It computes nothing: such a library is to be refused before anything is asked of it.
#include <stdint.h>

#define NAME(name)                                                                                 \
    void name(void);                                                                               \
    void name(void) {}
NAME(dgetrf_)
NAME(dgetrs_)
NAME(dgelqf_)
NAME(dorglq_)
NAME(dgesdd_)
NAME(dsyevd_)

void dpotrf_(const char *uplo, const int64_t *n, double *a, const int64_t *lda, int64_t *info);
void dpotrf_(const char *uplo, const int64_t *n, double *a, const int64_t *lda, int64_t *info) {
    *info = *n == 0 && *lda == 1 && *uplo == 'U' && a ? 0 : -1;
}
