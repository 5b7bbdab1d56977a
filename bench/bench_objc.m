// SPDX-License-Identifier: Apache-2.0
// bench_objc.m: ns for a cached message, retain and release, a weak load, and an object made and released.
// usage: bench_objc [threads]    threads: as in a process that has had more than one
#include <objc/NSObject.h>
#include <objc/objc-arc.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

@interface Thing : NSObject
- (void)nothing;
@end
@interface Below : Thing
@end
@implementation Thing
- (void)nothing {
}
@end
@implementation Below
- (void)nothing {
    [super nothing];
}
@end

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); // others may be at work on this machine
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
#define MEASURE(what, n, statement)                                                                \
    do {                                                                                           \
        double best = 1e30;                                                                        \
        for (int round = 0; round < 5; round++) {                                                  \
            double start = now();                                                                  \
            for (long i = 0; i < (n); i++) statement;                                              \
            double ns = (now() - start) / (double)(n);                                             \
            best = ns < best ? ns : best;                                                          \
        }                                                                                          \
        printf("%-28s %6.2f ns\n", what, best);                                                    \
    } while (0)

static void *nothing(void *unused) { return unused; }

int main(int argc, char **argv) {
    pthread_t thread;
    if (argc > 1 && !strcmp(argv[1], "threads") && !pthread_create(&thread, NULL, nothing, NULL))
        pthread_join(thread, NULL); // from now on counting is atomic
    Thing *thing = [Thing new];
    Below *below = [Below new];
    id weak;
    objc_initWeak(&weak, thing);
    MEASURE("message", 20000000, [thing nothing]);
    MEASURE("message and one to super", 20000000, [below nothing]);
    MEASURE("objc_retain + objc_release", 20000000, (objc_retain(thing), objc_release(thing)));
    MEASURE("[retain] + [release]", 20000000, ([thing retain], [thing release]));
    MEASURE("weak load + release", 5000000, objc_release(objc_loadWeakRetained(&weak)));
    MEASURE("new + release", 5000000, [[Thing new] release]);
    objc_destroyWeak(&weak);
    [thing release], [below release];
    return 0;
}
