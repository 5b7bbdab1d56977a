// SPDX-License-Identifier: Apache-2.0
// @try, @catch, @finally, @throw: by class, in order, through frames, thrown again. With ARC and without.
#include <objc/NSObject.h>
#include <objc/objc-exception.h>
#include "check.h"

static int deaths, cleanups;
@interface Trouble : NSObject
@end
@implementation Trouble
COUNT_DEATHS
@end
@interface Deep : Trouble
@end
@implementation Deep
@end
@interface Other : NSObject
@end
@implementation Other
@end

#if __has_feature(objc_arc)
#define NEW(cls) [cls new]
#else
#define NEW(cls) [[cls new] autorelease]
#endif

__attribute__((noinline)) static void throw_it(id what) {
    @try {
        if (what) @throw what;
    } @finally {
        cleanups++;
    }
}

static const char *kind(id what) {
    @try {
        throw_it(what);
    } @catch (Deep *d) {
        return "deep";
    } @catch (Trouble *t) {
        return "trouble";
    } @catch (id any) {
        return "any";
    } @finally {
        cleanups++;
    }
    return "none";
}

static int again(int depth) {
    @try {
        if (!depth) @throw NEW(Deep);
        return again(depth - 1);
    } @catch (Trouble *t) {
        if (depth == 3) return 100;
        @throw;
    } @finally {
        cleanups++;
    }
}

static int inside(void) {
    int order = 0;
    @try {
        @try {
            @throw NEW(Other);
        } @catch (Trouble *t) {
            order = -1;
        } @finally {
            order = order * 10 + 1;
        }
    } @catch (...) {
        order = order * 10 + 2;
        @try {
            @throw NEW(Deep); // in a handler
        } @catch (Deep *d) {
            order = order * 10 + 3;
        }
    }
    return order;
}

static int locked(id lock) {
    @try {
        @synchronized(lock) {
            @throw NEW(Other);
        }
    } @catch (Other *o) {
        @synchronized(lock) {
            return 1;
        } // was unlocked on the way
    }
    return 0;
}

int main(void) {
    @autoreleasepool {
        CHECK_TEXT(kind(NEW(Deep)), "deep");
        CHECK_TEXT(kind(NEW(Trouble)), "trouble");
        CHECK_TEXT(kind(NEW(Other)), "any");
        CHECK_TEXT(kind(nil), "none");
        CHECK_NUMBER(cleanups, 8);
        cleanups = 0;
        CHECK_NUMBER(again(3), 100);
        CHECK_NUMBER(cleanups, 4);
        CHECK_NUMBER(inside(), 123);
        CHECK_NUMBER(locked(NEW(Other)), 1);
    }
#if !__has_feature(objc_arc) // whose code lets go of nothing on the way of an exception
    CHECK_NUMBER(deaths, 4);
#endif
    return check_result();
}
