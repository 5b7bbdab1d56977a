// SPDX-License-Identifier: Apache-2.0
// Objective-C++: exceptions of both languages pass through frames of both; fields with constructors.
#include <objc/NSObject.h>
#include <stdexcept>
#include <string>
#include "check.h"

static int destroyed, finals;
struct Guard {
    ~Guard() { destroyed++; }
};
struct Value {
    int number = 17;
    std::string text = "made";
    ~Value() { destroyed++; }
};

@interface Holder : NSObject {
  @public
    Value value;
}
@end
@implementation Holder
@end

static void throw_object(id what) {
    Guard guard;
    @throw what;
}
static void throw_cxx() {
    Guard guard;
    @try {
        throw std::runtime_error("plain");
    } @finally {
        finals++;
    }
}

int main() {
    @autoreleasepool {
        Holder *h = [Holder new];
        CHECK_NUMBER(h->value.number, 17);
        CHECK_TEXT(h->value.text.c_str(), "made");
        bool caught = false;
        @try {
            throw_object(h);
        } @catch (Holder *back) {
            caught = back == h;
        }
        CHECK(caught);
        CHECK_NUMBER(destroyed, 1);
        caught = false;
        try {
            throw_cxx();
        } catch (const std::exception &e) {
            caught = !strcmp(e.what(), "plain");
        }
        CHECK(caught);
        CHECK_NUMBER(finals, 1);
        CHECK_NUMBER(destroyed, 2);
        caught = false;
        try {
            throw_object(h);
        } catch (...) {
            caught = true;
        }
        CHECK(caught);
        [h release];
        CHECK_NUMBER(destroyed, 4);
    }
    return check_result();
}
