// SPDX-License-Identifier: Apache-2.0
// foundation_int.h: what the files of Foundation share. They count by hand (no ARC).
#ifndef INGOT_FOUNDATION_INT_H
#define INGOT_FOUNDATION_INT_H
#import <Foundation/Foundation.h>
#import <objc/objc-arc.h>
#include "mac/foundation/string_buffer.h"

#pragma GCC visibility push(hidden)
// Every string's memory: the compiler's constants end before room.
typedef struct StringBody {
    Class isa;
    StringBuffer buffer;
} StringBody;

// The characters of a string. Of a subclass that is not ours: a copy that the pool holds.
StringBuffer string_view(NSString *string);
// A string that takes over the buffer.
NSString *string_taking(StringBuffer *buffer) NS_RETURNS_RETAINED;
void string_format(StringBuffer *to, NSString *format, va_list arguments);
bool string_decode(StringBuffer *to, const void *bytes, NSUInteger n, NSStringEncoding encoding);

// Objects with an autoreleased result.
#define AUTORELEASED(object) ((__typeof(object))[(id)(object) autorelease])
// Throws NSRangeException with the method's name.
void range_check(id self, SEL name, NSUInteger index, NSUInteger bound);
void range_check_range(id self, SEL name, NSRange range, NSUInteger bound);
void nil_check(id self, SEL name, id object);

// Errors of the system: domain NSCocoaErrorDomain by errno, with the path.
NSError *posix_error(int number, NSString *path, bool writing);

#pragma GCC visibility pop

// Objects until the list ends.
#define COLLECT(first, list, n)                                                                    \
    id *list = NULL;                                                                               \
    NSUInteger n = 0;                                                                              \
    do {                                                                                           \
        va_list collect_arguments;                                                                 \
        va_start(collect_arguments, first);                                                        \
        for (id item = (first); item; item = va_arg(collect_arguments, id)) {                      \
            list = realloc(list, (n + 1) * sizeof *list);                                          \
            list[n++] = item;                                                                      \
        }                                                                                          \
        va_end(collect_arguments);                                                                 \
    } while (0)

// ---- Methods that many classes have in the same words; each stands in an @implementation ----

// Archives are promised by the headers, as Apple's are, and there is no coder to ask for one.
#define CODES_NOTHING                                                                              \
    +(BOOL)supportsSecureCoding {                                                                  \
        return YES;                                                                                \
    }                                                                                              \
    -(instancetype)initWithCoder : (NSCoder *)coder {                                              \
        (void)coder;                                                                               \
        [self doesNotRecognizeSelector:_cmd];                                                      \
        return nil;                                                                                \
    }                                                                                              \
    -(void)encodeWithCoder : (NSCoder *)coder {                                                    \
        (void)coder;                                                                               \
        [self doesNotRecognizeSelector:_cmd];                                                      \
    }

// What never changes is its own copy.
#define COPIES_ITSELF                                                                              \
    -(id)copyWithZone : (NSZone *)zone {                                                           \
        (void)zone;                                                                                \
        return [self retain];                                                                      \
    }

// Of two classes, the second can change: copies are made by the method make from what source says.
#define COPIES_AS(fixed, changing, make, source)                                                   \
    -(id)copyWithZone : (NSZone *)zone {                                                           \
        (void)zone;                                                                                \
        return [self isKindOfClass:[changing class]] ? [[fixed alloc] make:source]                 \
                                                     : [self retain];                              \
    }                                                                                              \
    -(id)mutableCopyWithZone : (NSZone *)zone {                                                    \
        (void)zone;                                                                                \
        return [[changing alloc] make:source];                                                     \
    }

// The class method that gives a program's only object of the class.
#define ONE_OBJECT(cls, method)                                                                    \
    +(cls *)method {                                                                               \
        static cls *one;                                                                           \
        static dispatch_once_t once;                                                               \
        dispatch_once(&once, ^{                                                                    \
          one = [cls new];                                                                         \
        });                                                                                        \
        return one;                                                                                \
    }
#endif
