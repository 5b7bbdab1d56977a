// SPDX-License-Identifier: Apache-2.0
// confine.c: see confine.h. Landlock and seccomp by their system calls, so that nothing hangs on
// the headers and libraries of the machine it was built on.
#include "os/confine.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

// ---- Landlock ----

enum { SYS_RULESET = 444, SYS_RULE = 445, SYS_RESTRICT = 446 }; // the same on every processor
enum { ASK_VERSION = 1, RULE_PATH = 1 };

typedef struct Ruleset {
    uint64_t files, net, scoped; // what is forbidden unless a rule allows it
} Ruleset;

typedef struct __attribute__((packed)) Rule {
    uint64_t allowed;
    int32_t fd;
} Rule;

enum { // rights
    WRITE_FILE = 1 << 1,
    READ_FILE = 1 << 2,
    READ_DIR = 1 << 3,
    REMOVE_FILE = 1 << 5,
    MAKE_FILE = 1 << 8,
    TRUNCATE = 1 << 14,
    OF_FILES = WRITE_FILE | READ_FILE | TRUNCATE,
};

static int version_held; // of Landlock, for the text

static void allow(int rules, const Ruleset *set, const char *path, uint64_t rights) {
    int fd = path ? open(path, O_PATH | O_CLOEXEC) : -1;
    struct stat st;
    if (fd < 0) return;
    if (fstat(fd, &st) == 0) {
        if (!S_ISDIR(st.st_mode)) rights &= OF_FILES;
        Rule rule = {rights & set->files, fd};
        syscall(SYS_RULE, rules, RULE_PATH, &rule, 0);
    }
    close(fd);
}

static bool restrict_files(const OsConfine *how) {
    int version = (int)syscall(SYS_RULESET, NULL, 0, ASK_VERSION);
    if (version < 1) return false;
    if (how->landlock && how->landlock < version) version = how->landlock;
    // Each version knows more rights; one that is not known makes the set invalid.
    Ruleset set = {.files = version >= 5   ? (1u << 16) - 1
                            : version >= 3 ? (1u << 15) - 1
                            : version == 2 ? (1u << 14) - 1
                                           : (1u << 13) - 1,
                   .net = version >= 4 ? 3 : 0,     // bind and connect
                   .scoped = version >= 6 ? 3 : 0}; // named sockets and signals of others
    size_t n = version >= 6 ? sizeof set : version >= 4 ? 16 : 8;
    int rules = (int)syscall(SYS_RULESET, &set, n, 0);
    if (rules < 0) return false;
    const uint64_t read = READ_FILE | READ_DIR;
    for (size_t i = 0; i < how->n_read; i++) allow(rules, &set, how->read[i], read);
    for (size_t i = 0; i < how->n_write; i++)
        allow(rules, &set, how->write[i], read | WRITE_FILE | REMOVE_FILE | MAKE_FILE | TRUNCATE);
    bool ok = syscall(SYS_RESTRICT, rules, 0) == 0;
    version_held = version;
    close(rules);
    return ok;
}

// ---- seccomp ----

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE
// clang-format off: lines by what the calls are for
static const uint16_t allowed[] = {
    // what is open already, and memory
    SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_close, SYS_lseek,
    SYS_fstat, SYS_ftruncate, SYS_fallocate, SYS_fsync, SYS_fdatasync, SYS_flock,
    SYS_dup, SYS_dup3, SYS_pipe2, SYS_ppoll, SYS_pselect6, SYS_sendto, SYS_recvfrom,
    SYS_close_range, SYS_fadvise64, SYS_munmap, SYS_mremap, SYS_madvise, SYS_brk, SYS_msync,
    SYS_mincore, SYS_memfd_create, SYS_membarrier,
    // files by name: Landlock says which. It says nothing of their modes: nobody changes those
    SYS_openat, SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_faccessat2, SYS_readlinkat,
    SYS_getdents64, SYS_getcwd, SYS_chdir, SYS_mkdirat, SYS_unlinkat, SYS_renameat, SYS_renameat2,
    SYS_umask, SYS_statfs, SYS_fstatfs,
    // threads, children, signals, time
    SYS_futex, SYS_set_robust_list, SYS_get_robust_list, SYS_rseq, SYS_set_tid_address, SYS_exit,
    SYS_exit_group, SYS_wait4, SYS_waitid, SYS_rt_sigaction, SYS_rt_sigprocmask,
    SYS_rt_sigreturn, SYS_rt_sigsuspend, SYS_rt_sigtimedwait, SYS_sigaltstack,
    SYS_restart_syscall, SYS_sched_yield, SYS_sched_getaffinity, SYS_getpid, SYS_gettid,
    SYS_getppid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getpgid, SYS_getsid,
    SYS_getrlimit, SYS_setrlimit, SYS_getrusage, SYS_times, SYS_uname, SYS_sysinfo, SYS_getcpu,
    SYS_getrandom, SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep, SYS_nanosleep,
    SYS_gettimeofday, SYS_setitimer, SYS_getitimer,
#ifdef __x86_64__
    SYS_open, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_mkdir, SYS_unlink, SYS_rename,
    SYS_rmdir, SYS_dup2, SYS_pipe, SYS_poll, SYS_select, SYS_fork, SYS_vfork,
    SYS_arch_prctl, SYS_time, SYS_alarm, SYS_pause, SYS_getpgrp,
#endif
};
// clang-format on

enum {
    AT_CALL = offsetof(struct seccomp_data, nr),
    AT_ARCHITECTURE = offsetof(struct seccomp_data, arch),
    AT_ARGUMENTS = offsetof(struct seccomp_data, args), // the lower halves: both are little-endian
    FIRST_NEW_CALL = 424,                               // programs try these and have another way
    NAMESPACES = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
                 CLONE_NEWNET | CLONE_NEWCGROUP,
};

typedef struct Filter {
    struct sock_filter code[COUNT(allowed) * 2 + 64];
    unsigned short n;
} Filter;

static void add_instruction(Filter *f, uint16_t code, uint32_t k, unsigned yes, unsigned no) {
    f->code[f->n++] = (struct sock_filter){code, (uint8_t)yes, (uint8_t)no, k};
}

static void add_load(Filter *f, uint32_t at) {
    add_instruction(f, BPF_LD | BPF_W | BPF_ABS, at, 0, 0);
}

static void add_return(Filter *f, uint32_t how) { add_instruction(f, BPF_RET | BPF_K, how, 0, 0); }

static void add_refusal(Filter *f, int error) {
    add_return(f, SECCOMP_RET_ERRNO | (uint32_t)error);
}

// The call is allowed if its argument has none of the bits.
static void add_without(Filter *f, uint32_t call, unsigned argument, uint32_t bits) {
    add_instruction(f, BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4);
    add_load(f, AT_ARGUMENTS + argument * 8);
    add_instruction(f, BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
    add_refusal(f, EPERM);
    add_return(f, SECCOMP_RET_ALLOW);
}

// The call is allowed unless its argument has one of these values.
static void add_but(Filter *f, uint32_t call, unsigned argument, const uint32_t *values,
                    unsigned n) {
    add_instruction(f, BPF_JMP | BPF_JEQ | BPF_K, call, 0, n + 3);
    add_load(f, AT_ARGUMENTS + argument * 8);
    for (unsigned i = 0; i < n; i++)
        add_instruction(f, BPF_JMP | BPF_JEQ | BPF_K, values[i], n - i, 0);
    add_return(f, SECCOMP_RET_ALLOW);
    add_refusal(f, EPERM);
}

// The call is allowed if its argument has this value.
static void add_with(Filter *f, uint32_t call, unsigned argument, uint32_t value) {
    add_instruction(f, BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4);
    add_load(f, AT_ARGUMENTS + argument * 8);
    add_instruction(f, BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
    add_refusal(f, EPERM);
    add_return(f, SECCOMP_RET_ALLOW);
}

static bool restrict_calls(void) {
    Filter f = {.n = 0};
    add_load(&f, AT_ARCHITECTURE);
    add_instruction(&f, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
    add_return(&f, SECCOMP_RET_KILL_PROCESS);
    add_load(&f, AT_CALL);
    for (size_t i = 0; i < COUNT(allowed); i++) {
        add_instruction(&f, BPF_JMP | BPF_JEQ | BPF_K, allowed[i], 0, 1);
        add_return(&f, SECCOMP_RET_ALLOW);
    }
    add_without(&f, SYS_clone, 0, NAMESPACES);
    add_without(&f, SYS_mmap, 2, PROT_EXEC);
    add_without(&f, SYS_mprotect, 2, PROT_EXEC);
    // No signals to others, in any way: only the newest Landlock says so too.
    add_with(&f, SYS_tgkill, 0, (uint32_t)getpid());
    add_but(&f, SYS_fcntl, 1, (const uint32_t[]){F_SETOWN, F_SETOWN_EX, F_SETSIG}, 3);
    add_with(&f, SYS_prlimit64, 0, 0);
    add_with(&f, SYS_prctl, 0, PR_SET_NAME);
    add_with(&f, SYS_ioctl, 1, 0x5401); // is it a terminal?
    add_instruction(&f, BPF_JMP | BPF_JGE | BPF_K, FIRST_NEW_CALL, 0, 1);
    add_refusal(&f, ENOSYS);
    add_refusal(&f, EPERM);
    struct sock_fprog program = {f.n, f.code};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}
#else
static bool restrict_calls(void) { return false; }
#endif

// ---- both ----

unsigned os_confine(const OsConfine *how) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return 0; // the others ask for it
    unsigned held = OS_CONFINED_PRIVILEGES;
    if (how->files && restrict_files(how)) held |= OS_CONFINED_FILES;
    if (how->calls && restrict_calls()) held |= OS_CONFINED_CALLS;
    return held;
}

void os_confined_text(unsigned held, char *text, size_t n) {
    char files[32] = "";
    if (held & OS_CONFINED_FILES) snprintf(files, sizeof files, "Landlock %d, ", version_held);
    snprintf(text, n, "%s%s%s", files, held & OS_CONFINED_CALLS ? "seccomp, " : "",
             held & OS_CONFINED_PRIVILEGES ? "no new privileges" : "none");
}
