// SPDX-License-Identifier: Apache-2.0
// test_confine.c: what a confined process cannot do, each tried by a child that is confined as the
// compiler is. What it needs still works. Where the kernel has no Landlock or no seccomp the tests
// of that half are skipped.
#include "../unit.h"
#include "os/confine.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char readable[] = "/tmp/ingot-read-XXXXXX", writable[] = "/tmp/ingot-write-XXXXXX";
static char outside[] = "/tmp/ingot-outside-XXXXXX";

typedef struct Attempt {
    const char *what;
    int (*run)(void); // 0: it worked; else errno
    unsigned part;    // what forbids it; 0: it is allowed
} Attempt;

static const char *in(const char *folder, const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int done(long result) { return result < 0 ? errno : 0; }
static int opens(const char *path, int flags) { return done(open(path, flags, 0600)); }

static int read_given(void) { return opens(in(readable, "file"), O_RDONLY); }
static int list_given(void) { return opens(readable, O_RDONLY | O_DIRECTORY); }
static int write_given(void) { return opens(in(readable, "file"), O_WRONLY); }
static int make_in_given(void) { return opens(in(readable, "new"), O_WRONLY | O_CREAT); }
static int remove_given(void) { return done(unlink(in(readable, "file"))); }
static int make_cache(void) { return opens(in(writable, "new"), O_RDWR | O_CREAT | O_TRUNC); }
static int rename_cache(void) {
    char from[4096];
    snprintf(from, sizeof from, "%s", in(writable, "new"));
    return opens(from, O_WRONLY | O_CREAT) || done(rename(from, in(writable, "named")));
}
static int remove_cache(void) {
    int e = opens(in(writable, "gone"), O_WRONLY | O_CREAT);
    return e ? e : done(unlink(in(writable, "gone")));
}
static int read_password(void) { return opens("/etc/passwd", O_RDONLY); }
static int read_environment(void) { return opens("/proc/self/environ", O_RDONLY); }
static int read_parent(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", getppid());
    return opens(path, O_RDWR);
}
static int list_root(void) { return opens("/", O_RDONLY | O_DIRECTORY); }
static int write_outside(void) { return opens(in(outside, "new"), O_WRONLY | O_CREAT); }
static int read_outside(void) { return opens(in(outside, "file"), O_RDONLY); }
static int through_link(void) { return opens(in(readable, "link"), O_RDONLY); }
static int up(void) { return opens(in(readable, "../../etc/passwd"), O_RDONLY); }
static int make_link(void) { return done(symlinkat("/etc/passwd", AT_FDCWD, in(writable, "l"))); }
static int change_mode(void) { return done(chmod(in(outside, "file"), 0777)); }
static int change_mode_at(void) { return done(fchmodat(AT_FDCWD, in(outside, "file"), 0777, 0)); }
static int change_mode_of_open(void) {
    return done(fchmod(open(in(readable, "file"), O_RDONLY), 0777));
}
static int change_owner(void) { return done(chown(in(outside, "file"), getuid(), getgid())); }
static int change_time(void) { return done(utimensat(AT_FDCWD, in(outside, "file"), NULL, 0)); }
static int set_attribute(void) {
    return done(syscall(SYS_setxattr, in(outside, "file"), "user.a", "b", 1, 0));
}
static int make_folder(void) { return done(mkdir(in(writable, "folder"), 0700)); }

static int network(void) { return done(socket(AF_INET, SOCK_STREAM, 0)); }
static int local_socket(void) { return done(socket(AF_UNIX, SOCK_STREAM, 0)); }
static int pair_of_sockets(void) {
    int pair[2];
    return done(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
}
static int program(void) {
    char *argv[] = {(char *)(uintptr_t)"true", NULL};
    execv("/bin/true", argv);
    return errno;
}
static int program_at(void) {
    char *argv[] = {(char *)(uintptr_t)"true", NULL};
    return done(syscall(SYS_execveat, AT_FDCWD, "/bin/true", argv, NULL, 0));
}
static int trace(void) { return done(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL)); }
static int read_memory(void) {
    char byte;
    struct iovec own = {&byte, 1}, other = {&byte, 1};
    return done(process_vm_readv(getppid(), &own, 1, &other, 1, 0));
}
static int write_memory(void) {
    char byte = 0;
    struct iovec own = {&byte, 1}, other = {&byte, 1};
    return done(process_vm_writev(getppid(), &own, 1, &other, 1, 0));
}
static int new_user(void) { return done(unshare(CLONE_NEWUSER)); }
static int new_space(void) { return done(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0)); }
static int mounts(void) { return done(mount("none", "/tmp", "tmpfs", 0, NULL)); }
static int ring(void) {
    char params[256] = {0};
    return done(syscall(425 /* io_uring_setup */, 4, params));
}
static int bpf(void) { return done(syscall(SYS_bpf, 0, NULL, 0)); }
static int keys(void) { return done(syscall(SYS_add_key, "user", "a", "b", 1, -3)); }
static int new_code(void) {
    void *p =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? errno : 0;
}
static int turned_code(void) {
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return done(mprotect(p, 4096, PROT_READ | PROT_EXEC));
}
static int limits_of_others(void) {
    struct rlimit none = {0, 0};
    return done(prlimit(getppid(), RLIMIT_CORE, &none, NULL));
}
static int descriptor_of_others(void) { return done(syscall(438 /* pidfd_getfd */, 0, 0, 0)); }

static int kill_parent(void) { return done(kill(getppid(), 0)); }
static int kill_all(void) { return done(kill(-1, 0)); }
static int kill_thread(void) { return done(syscall(SYS_tkill, getppid(), 0)); }
static int kill_of_group(void) { return done(syscall(SYS_tgkill, getppid(), getppid(), 0)); }
static int queue_signal(void) { return done(sigqueue(getppid(), 0, (union sigval){0})); }
static int signal_by_pipe(void) {
    int pair[2];
    return done(pipe(pair)) || done(fcntl(pair[0], F_SETOWN, getppid()));
}
static int signal_by_pipe_as(void) {
    int pair[2];
    return done(pipe(pair)) || done(fcntl(pair[0], F_SETSIG, SIGKILL));
}
static int raise_own(void) {
    signal(SIGUSR1, SIG_IGN);
    return done(raise(SIGUSR1));
}
static int flags_of_descriptor(void) {
    int pair[2];
    return done(pipe(pair)) || done(fcntl(pair[0], F_SETFD, FD_CLOEXEC));
}

static int forks(void) {
    pid_t pid = fork();
    int status = 0;
    if (!pid) _exit(network() ? 7 : 0);
    if (pid < 0 || waitpid(pid, &status, 0) != pid) return errno;
    return WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 0 : -1; // it is confined too
}
static void *nothing(void *p) { return p; }
static int threads(void) {
    pthread_t t;
    int e = pthread_create(&t, NULL, nothing, NULL);
    return e ? e : pthread_join(t, NULL);
}
static int memory_file(void) {
    int fd = memfd_create("m", MFD_CLOEXEC);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return fd < 0 ? errno : opens(path, O_RDWR | O_TRUNC);
}
static int pipes(void) {
    int pair[2];
    return done(pipe(pair));
}

static const Attempt attempts[] = {
    {"read a file that was given", read_given, 0},
    {"list a folder that was given", list_given, 0},
    {"make a file in the cache", make_cache, 0},
    {"rename a file in the cache", rename_cache, 0},
    {"remove a file in the cache", remove_cache, 0},
    {"fork", forks, 0},
    {"start a thread", threads, 0},
    {"make a file in memory", memory_file, 0},
    {"make a pipe", pipes, 0},
    {"send itself a signal", raise_own, 0},
    {"close a descriptor in programs", flags_of_descriptor, 0},
    {"write to what is to be read", write_given, OS_CONFINED_FILES},
    {"make a file where there is only reading", make_in_given, OS_CONFINED_FILES},
    {"remove a file where there is only reading", remove_given, OS_CONFINED_FILES},
    {"read /etc/passwd", read_password, OS_CONFINED_FILES},
    {"read the environment", read_environment, OS_CONFINED_FILES},
    {"open the parent's memory", read_parent, OS_CONFINED_FILES},
    {"list /", list_root, OS_CONFINED_FILES},
    {"write elsewhere", write_outside, OS_CONFINED_FILES},
    {"read elsewhere", read_outside, OS_CONFINED_FILES},
    {"read through a link", through_link, OS_CONFINED_FILES},
    {"read upwards", up, OS_CONFINED_FILES},
    {"make a link in the cache", make_link, OS_CONFINED_CALLS},
    {"make a folder in the cache", make_folder, OS_CONFINED_FILES},
    {"change the mode of a file", change_mode, OS_CONFINED_CALLS},
    {"change the mode of a file by its folder", change_mode_at, OS_CONFINED_CALLS},
    {"change the mode of a file that was given", change_mode_of_open, OS_CONFINED_CALLS},
    {"change the owner of a file", change_owner, OS_CONFINED_CALLS},
    {"change the time of a file", change_time, OS_CONFINED_CALLS},
    {"set an attribute of a file", set_attribute, OS_CONFINED_CALLS},
    {"open a network socket", network, OS_CONFINED_CALLS},
    {"open a local socket", local_socket, OS_CONFINED_CALLS},
    {"make a pair of sockets", pair_of_sockets, OS_CONFINED_CALLS},
    {"start a program", program, OS_CONFINED_CALLS},
    {"start a program by its folder", program_at, OS_CONFINED_CALLS},
    {"trace another process", trace, OS_CONFINED_CALLS},
    {"read another process", read_memory, OS_CONFINED_CALLS},
    {"write another process", write_memory, OS_CONFINED_CALLS},
    {"make a namespace", new_user, OS_CONFINED_CALLS},
    {"start in a namespace", new_space, OS_CONFINED_CALLS},
    {"mount", mounts, OS_CONFINED_CALLS},
    {"make a ring", ring, OS_CONFINED_CALLS},
    {"load a filter", bpf, OS_CONFINED_CALLS},
    {"add a key", keys, OS_CONFINED_CALLS},
    {"make new code", new_code, OS_CONFINED_CALLS},
    {"turn data to code", turned_code, OS_CONFINED_CALLS},
    {"limit another process", limits_of_others, OS_CONFINED_CALLS},
    {"take another's descriptor", descriptor_of_others, OS_CONFINED_CALLS},
    {"signal the parent", kill_parent, OS_CONFINED_CALLS},
    {"signal everyone", kill_all, OS_CONFINED_CALLS},
    {"signal a thread", kill_thread, OS_CONFINED_CALLS},
    {"signal a thread of the parent", kill_of_group, OS_CONFINED_CALLS},
    {"queue a signal", queue_signal, OS_CONFINED_CALLS},
    {"have a pipe signal the parent", signal_by_pipe, OS_CONFINED_CALLS},
    {"choose the signal of a pipe", signal_by_pipe_as, OS_CONFINED_CALLS},
};

enum { NO_LANDLOCK = -1, NEWEST = 0, OLDEST = 1, LAST_KNOWN = 7 };

// In a child: confined, with Landlock as a system of that version has it, then the attempt. errno
// of the attempt, 200 if the part does not hold here, 201 if it died.
static int outcome(const Attempt *a, int landlock) {
    pid_t pid = fork();
    int status = 0;
    if (!pid) {
        signal(SIGSEGV, SIG_DFL); // cmocka's own would go on with the tests
        const char *const read[] = {readable, NULL}, *const write[] = {writable};
        const OsConfine how = {.files = landlock != NO_LANDLOCK,
                               .read = read,
                               .n_read = 2,
                               .write = write,
                               .n_write = 1,
                               .landlock = landlock,
                               .calls = true};
        unsigned held = os_confine(&how);
        _exit(a->part & ~held ? 200 : a->run());
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 201;
}

static int wrong_outcomes(int landlock) {
    int n_wrong = 0;
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        const Attempt *a = &attempts[i];
        int e = outcome(a, landlock);
        bool refused = e == EPERM || e == EACCES || e == ENOSYS;
        if (e == 200 ? false : a->part ? !refused : e != 0) {
            print_error("Landlock %d: %s: %s\n", landlock, a->what, strerror(e));
            n_wrong++;
        }
    }
    return n_wrong;
}

TEST(attempts_of_a_confined_process) { assert_int_equal(wrong_outcomes(NEWEST), 0); }

// What Landlock of newer kernels forbids too (signals, devices, sockets) is forbidden without it.
TEST(attempts_on_older_systems) {
    int n_wrong = wrong_outcomes(NO_LANDLOCK);
    for (int version = OLDEST; version <= LAST_KNOWN; version++) n_wrong += wrong_outcomes(version);
    assert_int_equal(n_wrong, 0);
}

// What the refused attempts do without: else they would prove nothing.
TEST(the_same_unconfined) {
    int (*const free_ones[])(void) = {read_given,       read_password,       list_root,
                                      read_outside,     through_link,        up,
                                      network,          local_socket,        new_code,
                                      turned_code,      pair_of_sockets,     change_mode,
                                      change_mode_at,   change_mode_of_open, change_owner,
                                      change_time,      kill_parent,         kill_thread,
                                      kill_of_group,    queue_signal,        signal_by_pipe,
                                      signal_by_pipe_as};
    for (size_t i = 0; i < sizeof free_ones / sizeof *free_ones; i++)
        assert_int_equal(free_ones[i](), 0);
}

static int set_up(void **state) {
    (void)state;
    if (!mkdtemp(readable) || !mkdtemp(writable) || !mkdtemp(outside)) return 1;
    return opens(in(readable, "file"), O_CREAT | O_WRONLY) ||
           opens(in(outside, "file"), O_CREAT | O_WRONLY) ||
           done(symlink("/etc/passwd", in(readable, "link")));
}

static int tear_down(void **state) {
    (void)state;
    char command[256];
    snprintf(command, sizeof command, "rm -r %s %s %s", readable, writable, outside);
    return system(command);
}

int main(void) { return unit_run(set_up, tear_down); }
