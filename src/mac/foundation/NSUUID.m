// SPDX-License-Identifier: Apache-2.0
// NSUUID.m: identifiers of 128 bits.
#include "mac/foundation/foundation_int.h"
#include <sys/random.h>

@implementation NSUUID {
    uuid_t _bytes;
}
COPIES_ITSELF
+ (instancetype)UUID {
    return AUTORELEASED([[self alloc] init]);
}
- (instancetype)init {
    uuid_t bytes;
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) abort();
    bytes[6] = (bytes[6] & 0x0f) | 0x40; // version 4: random
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    return [self initWithUUIDBytes:bytes];
}
- (instancetype)initWithUUIDBytes:(const uuid_t)bytes {
    if ((self = [super init])) memcpy(_bytes, bytes, sizeof _bytes);
    return self;
}
- (instancetype)initWithUUIDString:(NSString *)text {
    const char *at = text.UTF8String;
    uuid_t bytes;
    bool ok = at && strlen(at) == 36;
    for (int i = 0; i < 16 && ok; i++) {
        unsigned v = 0;
        if (i == 4 || i == 6 || i == 8 || i == 10) ok = *at++ == '-';
        ok = ok && isxdigit((unsigned char)at[0]) && isxdigit((unsigned char)at[1]) &&
             sscanf(at, "%2x", &v) == 1;
        bytes[i] = (unsigned char)v, at += 2;
    }
    if (ok) return [self initWithUUIDBytes:bytes];
    [self release];
    return nil;
}
- (void)getUUIDBytes:(uuid_t)bytes {
    memcpy(bytes, _bytes, sizeof _bytes);
}
- (NSString *)UUIDString {
    NSMutableString *text = [NSMutableString string];
    for (int i = 0; i < 16; i++)
        [text appendFormat:i == 4 || i == 6 || i == 8 || i == 10 ? @"-%02X" : @"%02X", _bytes[i]];
    return text;
}
- (NSString *)description {
    return self.UUIDString;
}
- (BOOL)isEqual:(id)other {
    return [other isKindOfClass:NSUUID.class] &&
           !memcmp(_bytes, ((NSUUID *)other)->_bytes, sizeof _bytes);
}
- (NSUInteger)hash {
    NSUInteger h;
    memcpy(&h, _bytes, sizeof h);
    return h;
}
@end
