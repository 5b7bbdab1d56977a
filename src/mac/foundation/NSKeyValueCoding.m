// SPDX-License-Identifier: Apache-2.0
// NSKeyValueCoding.m: values by keys over collections and along paths; one object's keys are in
// NSObject.m.
#include "mac/foundation/foundation_int.h"

static id or_null(id value) { return value ? value : NSNull.null; }

// @sum.key and its like, over all that is in a collection.
static id operate(id collection, NSString *name, NSString *key) {
    NSUInteger n = 0;
    double sum = 0;
    id best = nil;
    if ([name isEqualToString:@"@count"]) return @([collection count]);
    for (id item in collection) {
        id value = key.length ? [item valueForKeyPath:key] : item;
        if (!value || value == NSNull.null) continue;
        const bool greatest = [name isEqualToString:@"@max"],
                   least = [name isEqualToString:@"@min"];
        if (greatest || least) {
            const NSComparisonResult order = best ? [best compare:value] : NSOrderedSame;
            if (!best || order == (greatest ? NSOrderedAscending : NSOrderedDescending))
                best = value;
        } else {
            sum += [value doubleValue];
        }
        n++;
    }
    if ([name isEqualToString:@"@sum"]) return @(sum);
    if ([name isEqualToString:@"@avg"]) return @(n ? sum / (double)n : 0);
    if ([name isEqualToString:@"@max"] || [name isEqualToString:@"@min"]) return best;
    [NSException raise:NSInvalidArgumentException
                format:@"[%@ valueForKeyPath:]: %@ is no operator here", [collection class], name];
    return nil;
}

@implementation NSObject (KeyPaths)
- (id)valueForKeyPath:(NSString *)path {
    const NSRange dot = [path rangeOfString:@"."];
    NSString *first = dot.location == NSNotFound ? path : [path substringToIndex:dot.location];
    NSString *rest = dot.location == NSNotFound ? @"" : [path substringFromIndex:dot.location + 1];
    if ([first hasPrefix:@"@"] && [self respondsToSelector:@selector(count)])
        return operate(self, first, rest);
    id value = [self valueForKey:first];
    return rest.length ? [value valueForKeyPath:rest] : value;
}
- (void)setValue:(id)value forKeyPath:(NSString *)path {
    const NSRange dot = [path rangeOfString:@"." options:NSBackwardsSearch];
    if (dot.location == NSNotFound)
        [self setValue:value forKey:path];
    else [[self valueForKeyPath:[path substringToIndex:dot.location]]
        setValue:value
          forKey:[path substringFromIndex:dot.location + 1]]
        ;
}
- (NSDictionary *)dictionaryWithValuesForKeys:(NSArray *)keys {
    NSMutableDictionary *all = [NSMutableDictionary dictionary];
    for (NSString *key in keys) all[key] = or_null([self valueForKey:key]);
    return all;
}
@end

@implementation NSArray (KeyValueCoding)
- (id)valueForKey:(NSString *)key {
    NSMutableArray *all = [NSMutableArray arrayWithCapacity:self.count];
    for (id item in self) [all addObject:or_null([item valueForKey:key])];
    return all;
}
- (void)setValue:(id)value forKey:(NSString *)key {
    for (id item in self) [item setValue:value forKey:key];
}
@end

@implementation NSSet (KeyValueCoding)
- (id)valueForKey:(NSString *)key {
    NSMutableSet *all = [NSMutableSet set];
    for (id item in self) {
        id value = [item valueForKey:key];
        if (value) [all addObject:value];
    }
    return all;
}
- (void)setValue:(id)value forKey:(NSString *)key {
    for (id item in self) [item setValue:value forKey:key];
}
@end
