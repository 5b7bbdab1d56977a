// SPDX-License-Identifier: Apache-2.0
// test_confine.c: what the process of an isolated device can no longer do once it is confined,
// tried by a process that is.
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "devices/isolate/child.h"

static int n_wrong;

static void denied(const char *what, long result) {
    if (result == -1 && (errno == EPERM || errno == EACCES || errno == ENOSYS)) return;
    printf("%s: %ld (%s)\n", what, result, strerror(errno));
    n_wrong++;
}

static void *thread(void *unused) {
    denied("open in another thread", open("/etc/passwd", O_RDONLY));
    return unused;
}

int main(void) {
    char why[256] = "", byte = 0;
    pid_t parent = getppid();
    pthread_t after;
    if (!iso_confine_files(why, sizeof why) || !iso_confine(why, sizeof why)) {
        printf("%s\n", why);
        return 1;
    }
    denied("open", open("/etc/passwd", O_RDONLY));
    denied("open to write", open("/tmp/ingot-confine", O_WRONLY | O_CREAT, 0600));
    denied("openat2", syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", NULL, 0));
    denied("unlink", unlink("/tmp/x"));
    denied("readlink", readlink("/proc/self/exe", &byte, 1));
    denied("socket", socket(AF_INET, SOCK_STREAM, 0));
    denied("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, (int[2]){0}));
    denied("fork", fork());
    denied("exec", execl("/bin/true", "true", (char *)NULL));
    denied("kill", kill(parent, 0));
    denied("tgkill of another process", syscall(SYS_tgkill, parent, parent, 0));
    denied("ptrace", ptrace(PTRACE_ATTACH, parent, NULL, NULL));
    struct iovec local = {&byte, 1}, remote = {&byte, 1};
    denied("process_vm_readv", process_vm_readv(parent, &local, 1, &remote, 1, 0));
    denied("process_vm_writev", process_vm_writev(parent, &local, 1, &remote, 1, 0));
    denied("pidfd_open", syscall(SYS_pidfd_open, parent, 0));
    denied("mount", syscall(SYS_mount, "a", "b", "c", 0, NULL));
    denied("unshare", syscall(SYS_unshare, 0x10000000));
    denied("io_uring", syscall(SYS_io_uring_setup, 1, NULL));
    denied("bpf", syscall(SYS_bpf, 0, NULL, 0));
    denied("userfaultfd", syscall(SYS_userfaultfd, 0));
    denied("perf_event_open", syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
    denied("prctl", syscall(SYS_prctl, 15, "name", 0, 0, 0));
    // What it needs is left.
    if (pthread_create(&after, NULL, thread, NULL) || pthread_join(after, NULL)) {
        printf("no thread\n");
        n_wrong++;
    }
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, 4096, PROT_READ | PROT_EXEC)) {
        printf("no memory\n");
        n_wrong++;
    }
    printf("%d wrong\n", n_wrong);
    fflush(stdout);
    _exit(n_wrong != 0);
}
