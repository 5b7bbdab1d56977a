// SPDX-License-Identifier: Apache-2.0
// +load (superclasses first, then categories) and +initialize (once, superclass first, at the first message).
#include <objc/NSObject.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "check.h"

static char order[256];
static void note(const char *what) { strcat(order, what); }

@interface Child : NSObject
@end // stands before its superclass in the list below
@interface Parent : NSObject
@end
@interface GrandChild : Parent
@end
@interface GrandChild (More)
@end

@implementation GrandChild (More)
+ (void)load {
    note("more ");
}
@end
@implementation GrandChild
+ (void)load {
    note("grandchild ");
}
@end
@implementation Parent
+ (void)load {
    note("parent ");
}
@end
@implementation Child
+ (void)load {
    note("child ");
}
@end

@interface First : NSObject
@end
@implementation First
+ (void)initialize {
    note(self == [First class] ? "First " : "inherited ");
}
+ (int)value {
    return 1;
}
@end
@interface Second : First
@end // no +initialize of its own: the superclass's runs for it
@implementation Second
@end

static atomic_int running, finished, too_early;
@interface Slow : NSObject
@end
@implementation Slow
+ (void)initialize {
    atomic_fetch_add(&running, 1);
    [self value]; // its own messages pass
    usleep(50000);
    atomic_fetch_add(&finished, 1);
}
+ (int)value {
    return 5;
}
@end
static void *use_slow(void *unused) {
    (void)unused;
    if ([Slow value] != 5 || !atomic_load(&finished)) atomic_fetch_add(&too_early, 1);
    return NULL;
}

int main(void) {
    CHECK_TEXT(order, "parent grandchild child more ");
    order[0] = 0;
    [Second value];
    [First value];
    CHECK_TEXT(order, "First inherited ");
    pthread_t threads[8];
    for (int i = 0; i < 8; i++) pthread_create(&threads[i], NULL, use_slow, NULL);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    CHECK_NUMBER(running, 1);
    CHECK_NUMBER(too_early, 0);
    return check_result();
}
