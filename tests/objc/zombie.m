// SPDX-License-Identifier: Apache-2.0
// A message to an object that is gone is reported (NSZombieEnabled=YES).
#include <objc/NSObject.h>

@interface Gone : NSObject
- (void)hello;
@end
@implementation Gone
- (void)hello {
}
@end

int main(void) {
    Gone *gone = [Gone new];
    [gone release];
    [gone hello];
    return 0;
}
