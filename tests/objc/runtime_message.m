// SPDX-License-Identifier: Apache-2.0
// Messages: arguments and results of every kind, nil, super, categories, methods made on demand, forwarding.
#include <objc/NSObject.h>
#include <objc/message.h>
#include <stdarg.h>
#include "check.h"
#pragma clang diagnostic ignored "-Wmissing-selector-name" // the formatter's a:(int)b

typedef struct {
    double a, b, c;
} Big;
typedef struct {
    float x, y;
} Small;
typedef struct {
    long i;
    double d;
} Mixed;

// More arguments than registers for them.
#define FLOATS                                                                                     \
    -(double)floats : (double)a : (double)b : (double)c : (double)d : (double)e : (double)f        \
        : (double)g : (double)h : (double)i

@interface Base : NSObject
- (int)number;
- (float)half;
- (double)sum:(double)a:(float)b:(int)c:(double)d:(long)e;
- (long double)wide;
- (Big)big:(double)x;
- (Small)small:(float)x;
- (Mixed)mixed;
- (int)count:(int)n, ...;
- (long)nine:(long)a:(long)b:(long)c:(long)d:(long)e:(long)f:(long)g:(long)h:(long)i;
FLOATS;
+ (int)number;
@end
@implementation Base
- (int)number {
    return 7;
}
- (float)half {
    return 0.5f;
}
- (double)sum:(double)a:(float)b:(int)c:(double)d:(long)e {
    return a + b + c + d + (double)e;
}
- (long double)wide {
    return 1.25L;
}
- (Big)big:(double)x {
    return (Big){x, x + 1, x + 2};
}
- (Small)small:(float)x {
    return (Small){x, -x};
}
- (Mixed)mixed {
    return (Mixed){3, 4.5};
}
- (int)count:(int)n, ... {
    va_list list;
    va_start(list, n);
    double sum = 0;
    for (int i = 0; i < n; i++) sum += va_arg(list, double);
    va_end(list);
    return (int)sum;
}
- (long)nine:(long)a:(long)b:(long)c:(long)d:(long)e:(long)f:(long)g:(long)h:(long)i {
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
}
FLOATS { return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i; }
+ (int)number {
    return 70;
}
@end

@interface Derived : Base
@end
@implementation Derived
- (int)number {
    return [super number] * 2;
}
- (Big)big:(double)x {
    Big b = [super big:x];
    b.c = 100;
    return b;
}
- (long double)wide {
    return [super wide] * 2;
}
+ (int)number {
    return [super number] + 1;
}
@end

@interface Base (Added)
- (int)added;
@end
@implementation Base (Added)
- (int)added {
    return 12;
}
@end

// Methods that are made when they are asked for.
@interface Lazy : NSObject
@end
@interface Lazy (Declared)
- (int)made;
+ (int)classMade;
- (int)never;
@end
static int made(id self, SEL name) {
    (void)self;
    return (int)strlen(sel_getName(name));
}
static int asked;
@implementation Lazy
+ (BOOL)resolveInstanceMethod:(SEL)name {
    asked++;
    if (name != @selector(made)) return NO;
    return class_addMethod(self, name, (IMP)made, "i16@0:8");
}
+ (BOOL)resolveClassMethod:(SEL)name {
    if (name != @selector(classMade)) return NO;
    return class_addMethod(object_getClass(self), name, (IMP)made, "i16@0:8");
}
@end

// Messages that another object answers.
@interface Forwarder : NSObject {
    Base *target;
}
@end
@implementation Forwarder
- (instancetype)init {
    target = [Base new];
    return self;
}
- (void)dealloc {
    [target release];
    [super dealloc];
}
- (id)forwardingTargetForSelector:(SEL)name {
    return [target respondsToSelector:name] ? target : nil;
}
@end

static void values(Base *o) {
    CHECK_NUMBER([o half], 0.5);
    CHECK_NUMBER([o sum:1:2:3:4:5], 15);
    CHECK_NUMBER([o small:2].y, -2);
    CHECK_NUMBER([o mixed].i, 3);
    CHECK_NUMBER([o mixed].d, 4.5);
    CHECK_NUMBER([o big:1].b, 2);
    CHECK_NUMBER(([o count:3, 1.0, 2.0, 3.0]), 6);
    CHECK_NUMBER(([o nine:1:2:3:4:5:6:7:8:9]), 285);
    CHECK_NUMBER(([o floats:1:2:3:4:5:6:7:8:9]), 285);
    CHECK_NUMBER([o added], 12);
}

static void nil_receiver(void) {
    Base *o = nil;
    CHECK_NUMBER([o number], 0);
    CHECK_NUMBER([o half], 0);
    CHECK_NUMBER([o big:1].b, 0);
    CHECK_NUMBER([o mixed].d, 0);
    for (int i = 0; i < 20; i++) CHECK_NUMBER([o wide], 0); // the x87 stack stays right
    CHECK([(id)o self] == nil);
}

static void on_demand(void) {
    Lazy *o = [Lazy new];
    CHECK([o respondsToSelector:@selector(made)]);
    CHECK_NUMBER([o made], 4);
    int before = asked;
    CHECK_NUMBER([o made], 4);
    CHECK_NUMBER(asked, before);
    CHECK_NUMBER([Lazy classMade], 9);
    CHECK(![o respondsToSelector:@selector(never)]);
    CHECK(class_getMethodImplementation([Lazy class], @selector(never)) == (IMP)_objc_msgForward);
    [o release];
}

int main(void) {
    Base *base = [Base new];
    Derived *derived = [[Derived alloc] init];
    for (int i = 0; i < 3; i++) { // the second round comes from the caches
        values(base), values(derived);
        CHECK_NUMBER([base number], 7);
        CHECK_NUMBER([derived number], 14);
        CHECK_NUMBER([Derived number], 71);
        CHECK_NUMBER([derived big:1].c, 100);
        CHECK_NUMBER([derived wide], 2.5);
    }
    nil_receiver();
    on_demand();
    Base *forwarder = (Base *)[Forwarder new];
    for (int i = 0; i < 2; i++) values(forwarder);
    CHECK_NUMBER([forwarder wide], 1.25);
    CHECK_NUMBER([(id)base performSelector:@selector(number)] == (id)7, 1);
    CHECK(sel_registerName("number") == @selector(number));
    CHECK_TEXT(sel_getName(@selector(sum:: :: :)), "sum:::::");
    [base release], [derived release], [forwarder release];
    return check_result();
}
