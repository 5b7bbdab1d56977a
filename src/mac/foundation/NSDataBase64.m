// SPDX-License-Identifier: Apache-2.0
// NSDataBase64.m: bytes as letters, by base 64.
#include "mac/foundation/foundation_int.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

@implementation NSData (Base64)
- (NSString *)base64EncodedStringWithOptions:(NSDataBase64EncodingOptions)options {
    NSData *data = [self base64EncodedDataWithOptions:options];
    return AUTORELEASED([[NSString alloc] initWithData:data encoding:NSASCIIStringEncoding]);
}
- (NSData *)base64EncodedDataWithOptions:(NSDataBase64EncodingOptions)options {
    const unsigned char *from = self.bytes;
    const NSUInteger n = self.length;
    const NSUInteger line = options & NSDataBase64Encoding64CharacterLineLength   ? 64
                            : options & NSDataBase64Encoding76CharacterLineLength ? 76
                                                                                  : 0;
    // Both ends of a line if neither is asked for, as Apple's do.
    const bool cr = !(options & NSDataBase64EncodingEndLineWithLineFeed) ||
                    options & NSDataBase64EncodingEndLineWithCarriageReturn;
    const bool lf = !(options & NSDataBase64EncodingEndLineWithCarriageReturn) ||
                    options & NSDataBase64EncodingEndLineWithLineFeed;
    NSMutableData *to = [NSMutableData data];
    NSUInteger column = 0;
    for (NSUInteger i = 0; i < n; i += 3) {
        const NSUInteger left = n - i;
        const unsigned v = (unsigned)from[i] << 16 | (left > 1 ? (unsigned)from[i + 1] << 8 : 0) |
                           (left > 2 ? from[i + 2] : 0);
        const char four[4] = {letters[v >> 18], letters[v >> 12 & 63],
                              left > 1 ? letters[v >> 6 & 63] : '=',
                              left > 2 ? letters[v & 63] : '='};
        if (line && column == line) {
            if (cr) [to appendBytes:"\r" length:1];
            if (lf) [to appendBytes:"\n" length:1];
            column = 0;
        }
        [to appendBytes:four length:4];
        column += 4;
    }
    return to;
}
- (instancetype)initWithBase64EncodedString:(NSString *)text
                                    options:(NSDataBase64DecodingOptions)options {
    return [self initWithBase64EncodedData:[text dataUsingEncoding:NSUTF8StringEncoding]
                                   options:options];
}
- (instancetype)initWithBase64EncodedData:(NSData *)data
                                  options:(NSDataBase64DecodingOptions)options {
    const char *from = data.bytes;
    NSMutableData *to = [NSMutableData data];
    unsigned v = 0, n = 0, padding = 0;
    bool ok = true;
    for (NSUInteger i = 0; i < data.length && ok; i++) {
        const char *at = from[i] ? strchr(letters, from[i]) : NULL;
        if (from[i] == '=') {
            padding++;
        } else if (!at) {
            ok = options & NSDataBase64DecodingIgnoreUnknownCharacters;
            continue;
        } else if (padding) {
            ok = false; // a letter after the end
        }
        v = v << 6 | (at ? (unsigned)(at - letters) : 0);
        if (++n % 4) continue;
        const unsigned char three[3] = {(unsigned char)(v >> 16), (unsigned char)(v >> 8),
                                        (unsigned char)v};
        ok = ok && padding <= 2;
        if (ok) [to appendBytes:three length:3 - padding];
        v = 0;
    }
    if (ok && n % 4 == 0) return [self initWithData:to];
    [self release];
    return nil;
}
@end
