// SPDX-License-Identifier: Apache-2.0
// Foundation/NSEnumerator.h: enumeration.
#ifndef INGOT_MAC_FOUNDATION_NSENUMERATOR_H
#define INGOT_MAC_FOUNDATION_NSENUMERATOR_H
#include <Foundation/NSObject.h>
#ifdef __OBJC__
@class NSArray<ObjectType>;
typedef struct {
    unsigned long state;
    id __unsafe_unretained *itemsPtr;
    unsigned long *mutationsPtr;
    unsigned long extra[5];
} NSFastEnumerationState;
@protocol NSFastEnumeration
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState *)state
                                  objects:(id __unsafe_unretained[])buffer
                                    count:(NSUInteger)n;
@end
@interface NSEnumerator<ObjectType> : NSObject <NSFastEnumeration>
- (ObjectType)nextObject;
@property(readonly, copy) NSArray<ObjectType> *allObjects;
@end
#endif
#endif
