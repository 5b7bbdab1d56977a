// SPDX-License-Identifier: Apache-2.0
// chaos.c: makes rare orders of events common. Loaded in front of a program (LD_PRELOAD), it lets a
// thread sleep for up to 8 ms now and then, right after it woke others or gave back a lock: the
// moments in which a test or the library may wrongly believe that this thread is done. `make chaos`
// runs the tests under it.
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// Sleeps once in `odds` calls.
static void nap(unsigned odds) {
    static _Thread_local uint64_t state;
    struct timespec t;
    if (state == 0) {
        clock_gettime(CLOCK_MONOTONIC, &t);
        state = ((uint64_t)t.tv_nsec * 2654435761u + (uintptr_t)&state) | 1;
    }
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    if (state % odds != 0) return;
    t = (struct timespec){0, (long)(state >> 20) % 8000000};
    nanosleep(&t, NULL);
}

#define REAL(type, name) (*(type *)(void *)&(void *){dlsym(RTLD_NEXT, name)})

typedef int ConditionFn(pthread_cond_t *);
typedef int MutexFn(pthread_mutex_t *);
typedef long SyscallFn(long, ...);

int pthread_cond_broadcast(pthread_cond_t *condition) {
    int result = REAL(ConditionFn *, "pthread_cond_broadcast")(condition);
    nap(4);
    return result;
}

int pthread_cond_signal(pthread_cond_t *condition) {
    int result = REAL(ConditionFn *, "pthread_cond_signal")(condition);
    nap(4);
    return result;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    static MutexFn *real; // this one is called often
    if (!real) real = REAL(MutexFn *, "pthread_mutex_unlock");
    int result = real(mutex);
    nap(400);
    return result;
}

long syscall(long number, ...) { // the library wakes through the futex call
    long a[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(arguments, long);
    va_end(arguments);
    long result = REAL(SyscallFn *, "syscall")(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (number == SYS_futex && (a[1] & FUTEX_CMD_MASK) == FUTEX_WAKE) nap(3);
    return result;
}
