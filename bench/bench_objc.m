// SPDX-License-Identifier: Apache-2.0
// bench_objc.m: ns for a cached message, retain and release, a weak load, and an object made and released.
#include <objc/NSObject.h>
#include <objc/objc-arc.h>
#include <stdio.h>
#include <time.h>

@interface Thing : NSObject
- (void)nothing;
@end
@interface Below : Thing
@end
@implementation Thing
- (void)nothing {}
@end
@implementation Below
- (void)nothing { [super nothing]; }
@end

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
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

int main(void) {
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
