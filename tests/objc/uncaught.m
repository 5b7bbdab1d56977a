// SPDX-License-Identifier: Apache-2.0
// An exception that nobody catches ends the process with its name and reason.
#import <Foundation/Foundation.h>

int main(void) {
    @autoreleasepool {
        [NSException raise:NSRangeException format:@"too far: %d", 7];
    }
    return 0;
}
