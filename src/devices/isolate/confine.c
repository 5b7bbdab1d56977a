// SPDX-License-Identifier: Apache-2.0
// confine.c: what is left to the child when kernels begin to run in it: its memory, its threads,
// and the pipe that tells of the host's end. A list of system calls that it may make; all others
// fail, in every thread and for good. Code is mapped from anonymous files (devices/cpu/elf.c), so
// that nothing is ever opened; Landlock says the same of files. Other descriptors are closed
// before.
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "devices/isolate/child.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

static const int allowed[] = {
    // memory and code
    SYS_mmap, SYS_munmap, SYS_mprotect, SYS_mremap, SYS_madvise, SYS_brk, SYS_memfd_create,
    SYS_ftruncate, SYS_close, SYS_fstat, SYS_lseek, SYS_pread64, SYS_read, SYS_write, SYS_writev,
    // threads
    SYS_futex, SYS_set_robust_list, SYS_sched_yield, SYS_sched_getaffinity, SYS_gettid, SYS_getpid,
    SYS_exit, SYS_exit_group, SYS_restart_syscall,
#ifdef SYS_rseq
    SYS_rseq,
#endif
    // signals of kernels
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack,
    // time
    SYS_clock_gettime, SYS_clock_getres, SYS_nanosleep, SYS_clock_nanosleep,
#ifdef SYS_poll
    SYS_poll,
#endif
    SYS_ppoll, SYS_getrandom};

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF_EQUAL(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, value)
#define ALLOW ANSWER(SECCOMP_RET_ALLOW)
#define DENY(error) ANSWER(SECCOMP_RET_ERRNO | (error))

enum { N_ALLOWED = sizeof allowed / sizeof *allowed, N_FILTER = 2 * N_ALLOWED + 32 };

// Signals go to threads of this process, and new threads are of it too.
static size_t make_filter(struct sock_filter *f) {
    const struct sock_filter head[] = {
        LOAD(arch),
        IF_EQUAL(ARCHITECTURE, 1, 0),
        ANSWER(SECCOMP_RET_KILL_PROCESS),
        LOAD(nr),
        IF_EQUAL(SYS_tgkill, 1, 0),
        IF_EQUAL(SYS_rt_tgsigqueueinfo, 0, 4),
        LOAD(args[0]),
        IF_EQUAL((unsigned)getpid(), 0, 1),
        ALLOW,
        DENY(EPERM),
        IF_EQUAL(SYS_clone, 0, 4),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
        ALLOW,
        DENY(EPERM),
        IF_EQUAL(SYS_clone3, 0, 1),
        DENY(ENOSYS), // its flags are in memory: libraries take the other one then
    };
    size_t n = sizeof head / sizeof *head;
    memcpy(f, head, sizeof head);
    for (size_t i = 0; i < N_ALLOWED; i++) {
        f[n++] = (struct sock_filter)IF_EQUAL((unsigned)allowed[i], 0, 1);
        f[n++] = (struct sock_filter)ALLOW;
    }
    f[n++] = (struct sock_filter)DENY(EPERM);
    return n;
}

static bool limit(int what, rlim_t most) {
    struct rlimit now;
    if (getrlimit(what, &now)) return false;
    if (now.rlim_max != RLIM_INFINITY && now.rlim_max < most) most = now.rlim_max;
    return !setrlimit(what, &(struct rlimit){most, most});
}

bool iso_confine_files(char *why, size_t why_bytes) {
    // All accesses that the system's version of it knows, and nothing that is excepted.
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    struct landlock_ruleset_attr all = {.handled_access_fs = (1u << 13) - 1};
    if (version >= 2) all.handled_access_fs |= 1u << 13; // refer
    if (version >= 3) all.handled_access_fs |= 1u << 14; // truncate
    if (version >= 5) all.handled_access_fs |= 1u << 15; // ioctl of devices
    int rules = version < 1 ? -1
                            : (int)syscall(SYS_landlock_create_ruleset, &all,
                                           sizeof all.handled_access_fs, 0);
    bool ok = rules >= 0 && !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
              !syscall(SYS_landlock_restrict_self, rules, 0);
    if (!ok)
        snprintf(why, why_bytes, "the system's Landlock cannot confine it: %s", strerror(errno));
    if (rules >= 0) close(rules);
    return ok;
}

bool iso_confine(char *why, size_t why_bytes) {
    struct sock_filter filter[N_FILTER];
    struct sock_fprog program = {(unsigned short)make_filter(filter), filter};
    // Memory of its own: what it shares with the host is as long as the host made it.
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    rlim_t half = (rlim_t)pages / 2 * (rlim_t)page;
    if (limit(RLIMIT_CORE, 0) && limit(RLIMIT_DATA, half + ((rlim_t)1 << 34)) &&
        limit(RLIMIT_FSIZE, (rlim_t)1 << 30) && limit(RLIMIT_NOFILE, 64) &&
        !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
        !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program))
        return true;
    snprintf(why, why_bytes, "it cannot be confined: %s", strerror(errno));
    return false;
}
