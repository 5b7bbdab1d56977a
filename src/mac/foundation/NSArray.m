// SPDX-License-Identifier: Apache-2.0
// NSArray.m: arrays and their enumerators.
#include "mac/foundation/foundation_int.h"
#include "mac/foundation/collection_int.h"

typedef struct ArrayBody {
    Class isa;
    id *items;
    NSUInteger count, room;
    unsigned long changes;
} ArrayBody;
static ArrayBody *body(NSArray *self) { return (ArrayBody *)self; }

static void reserve(ArrayBody *a, NSUInteger n) {
    if (n <= a->room) return;
    a->room = a->room * 2 > n ? a->room * 2 : n < 4 ? 4 : n;
    a->items = realloc(a->items, a->room * sizeof *a->items);
    if (!a->items) abort();
}
static void insert(ArrayBody *a, NSUInteger at, id object) {
    reserve(a, a->count + 1);
    memmove(a->items + at + 1, a->items + at, (a->count - at) * sizeof *a->items);
    a->items[at] = [object retain];
    a->count++, a->changes++;
}
static void delete_range(ArrayBody *a, NSRange r) {
    if (!r.length) return;
    id *gone = malloc((r.length + 1) * sizeof *gone);
    memcpy(gone, a->items + r.location, r.length * sizeof *gone);
    memmove(a->items + r.location, a->items + NSMaxRange(r),
            (a->count - NSMaxRange(r)) * sizeof *a->items);
    a->count -= r.length, a->changes++;
    for (NSUInteger i = 0; i < r.length; i++)
        [gone[i] release]; // their dealloc may look at the array
    free(gone);
}

@implementation NSArray {
    id *_items;
    NSUInteger _count, _room;
    unsigned long _changes; // for enumerations
}
MADE_OF_OBJECTS(array, arrayWithObject, arrayWithObjects)
+ (instancetype)arrayWithArray:(NSArray *)array {
    return AUTORELEASED([[self alloc] initWithArray:array]);
}
- (instancetype)initWithObjects:(const id[])objects count:(NSUInteger)n {
    reserve(body(self), n);
    for (NSUInteger i = 0; i < n; i++) {
        nil_check(self, _cmd, objects[i]);
        insert(body(self), i, objects[i]);
    }
    return self;
}
- (instancetype)initWithObjects:(id)first, ... {
    COLLECT(first, list, n);
    self = [self initWithObjects:list count:n];
    free(list);
    return self;
}
- (instancetype)initWithArray:(NSArray *)array {
    return [self initWithArray:array copyItems:NO];
}
- (instancetype)initWithArray:(NSArray *)array copyItems:(BOOL)copy {
    reserve(body(self), array.count);
    for (id item in array) {
        id kept = copy ? [item copy] : [item retain];
        insert(body(self), _count, kept);
        [kept release];
    }
    return self;
}
CODES_NOTHING
- (void)dealloc {
    for (NSUInteger i = 0; i < _count; i++) [_items[i] release];
    free(_items);
    [super dealloc];
}
COPIES_AS(NSArray, NSMutableArray, initWithArray, self)

- (NSUInteger)count {
    return _count;
}
- (id)objectAtIndex:(NSUInteger)index {
    range_check(self, _cmd, index, self.count);
    return _items[index];
}
- (id)objectAtIndexedSubscript:(NSUInteger)index {
    return [self objectAtIndex:index];
}
- (id)firstObject {
    return self.count ? [self objectAtIndex:0] : nil;
}
- (id)lastObject {
    return self.count ? [self objectAtIndex:self.count - 1] : nil;
}
- (NSUInteger)indexOfObject:(id)object {
    NSUInteger i = 0;
    for (id item in self) {
        if (item == object || [item isEqual:object]) return i;
        i++;
    }
    return NSNotFound;
}
- (NSUInteger)indexOfObjectIdenticalTo:(id)object {
    for (NSUInteger i = 0; i < self.count; i++)
        if ([self objectAtIndex:i] == object) return i;
    return NSNotFound;
}
- (NSUInteger)indexOfObjectPassingTest:(BOOL (^)(id object, NSUInteger index, BOOL *stop))test {
    BOOL stop = NO;
    for (NSUInteger i = 0; i < self.count && !stop; i++)
        if (test([self objectAtIndex:i], i, &stop)) return i;
    return NSNotFound;
}
- (BOOL)containsObject:(id)object {
    return [self indexOfObject:object] != NSNotFound;
}
- (void)getObjects:(id __unsafe_unretained[])objects range:(NSRange)range {
    range_check_range(self, _cmd, range, self.count);
    for (NSUInteger i = 0; i < range.length; i++)
        objects[i] = [self objectAtIndex:range.location + i];
}
- (BOOL)isEqual:(id)other {
    return self == other || ([other isKindOfClass:[NSArray class]] && [self isEqualToArray:other]);
}
- (BOOL)isEqualToArray:(NSArray *)other {
    if (self.count != other.count) return NO;
    for (NSUInteger i = 0; i < self.count; i++)
        if (![[self objectAtIndex:i] isEqual:[other objectAtIndex:i]]) return NO;
    return YES;
}
- (NSUInteger)hash {
    return self.count;
}
- (NSString *)componentsJoinedByString:(NSString *)separator {
    NSMutableString *text = [NSMutableString string];
    for (NSUInteger i = 0; i < self.count; i++)
        [text appendFormat:@"%@%@", i ? separator : @"", [self objectAtIndex:i]];
    return text;
}
- (NSString *)description {
    NSMutableString *text = [NSMutableString stringWithString:@"(\n"];
    for (NSUInteger i = 0; i < self.count; i++)
        [text appendFormat:@"    %@%s\n", described([self objectAtIndex:i]),
                           i + 1 < self.count ? "," : ""];
    [text appendString:@")"];
    return text;
}
- (NSArray *)arrayByAddingObject:(id)object {
    NSMutableArray *made = [NSMutableArray arrayWithArray:self];
    [made addObject:object];
    return made;
}
- (NSArray *)arrayByAddingObjectsFromArray:(NSArray *)other {
    NSMutableArray *made = [NSMutableArray arrayWithArray:self];
    [made addObjectsFromArray:other];
    return made;
}
- (NSArray *)subarrayWithRange:(NSRange)range {
    range_check_range(self, _cmd, range, self.count);
    return [NSArray arrayWithObjects:_items + range.location count:range.length];
}
- (NSArray *)sortedArrayUsingComparator:(NSComparator)compare {
    NSMutableArray *made = [NSMutableArray arrayWithArray:self];
    [made sortUsingComparator:compare];
    return made;
}
- (NSArray *)sortedArrayUsingSelector:(SEL)compare {
    NSMutableArray *made = [NSMutableArray arrayWithArray:self];
    [made sortUsingSelector:compare];
    return made;
}
- (NSEnumerator *)objectEnumerator {
    return list_enumerator(self, false);
}
- (NSEnumerator *)reverseObjectEnumerator {
    return list_enumerator(self, true);
}
- (void)makeObjectsPerformSelector:(SEL)selector {
    for (id item in self) [item performSelector:selector];
}
- (void)makeObjectsPerformSelector:(SEL)selector withObject:(id)argument {
    for (id item in self) [item performSelector:selector withObject:argument];
}
- (void)enumerateObjectsUsingBlock:(void (^)(id object, NSUInteger index, BOOL *stop))block {
    [self enumerateObjectsWithOptions:0 usingBlock:block];
}
- (void)enumerateObjectsWithOptions:(NSEnumerationOptions)options
                         usingBlock:(void (^)(id object, NSUInteger index, BOOL *stop))block {
    BOOL stop = NO;
    for (NSUInteger i = 0; i < self.count && !stop; i++) {
        NSUInteger at = options & NSEnumerationReverse ? self.count - 1 - i : i;
        block([self objectAtIndex:at], at, &stop);
    }
}
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState *)state
                                  objects:(id __unsafe_unretained[])buffer
                                    count:(NSUInteger)n {
    (void)buffer, (void)n;
    if (state->state) return 0;
    state->state = 1, state->itemsPtr = _items, state->mutationsPtr = &_changes;
    return _count;
}
@end

@implementation NSMutableArray
+ (instancetype)arrayWithCapacity:(NSUInteger)capacity {
    return AUTORELEASED([[self alloc] initWithCapacity:capacity]);
}
- (instancetype)initWithCapacity:(NSUInteger)capacity {
    if ((self = [self init])) reserve(body(self), capacity);
    return self;
}
- (void)addObject:(id)object {
    nil_check(self, _cmd, object);
    insert(body(self), body(self)->count, object);
}
- (void)insertObject:(id)object atIndex:(NSUInteger)index {
    nil_check(self, _cmd, object);
    range_check(self, _cmd, index, self.count + 1);
    insert(body(self), index, object);
}
- (void)removeLastObject {
    if (self.count) delete_range(body(self), NSMakeRange(self.count - 1, 1));
}
- (void)removeObjectAtIndex:(NSUInteger)index {
    range_check(self, _cmd, index, self.count);
    delete_range(body(self), NSMakeRange(index, 1));
}
- (void)replaceObjectAtIndex:(NSUInteger)index withObject:(id)object {
    nil_check(self, _cmd, object);
    range_check(self, _cmd, index, self.count);
    id old = body(self)->items[index];
    body(self)->items[index] = [object retain];
    [old release];
}
- (void)addObjectsFromArray:(NSArray *)array {
    for (NSUInteger i = 0, n = array.count; i < n; i++) [self addObject:[array objectAtIndex:i]];
}
- (void)exchangeObjectAtIndex:(NSUInteger)a withObjectAtIndex:(NSUInteger)b {
    range_check(self, _cmd, a > b ? a : b, self.count);
    id one = body(self)->items[a];
    body(self)->items[a] = body(self)->items[b], body(self)->items[b] = one;
}
- (void)removeAllObjects {
    delete_range(body(self), NSMakeRange(0, self.count));
}
- (void)removeObject:(id)object {
    [[object retain] autorelease];
    for (NSUInteger i = self.count; i-- > 0;)
        if (body(self)->items[i] == object || [body(self)->items[i] isEqual:object])
            [self removeObjectAtIndex:i];
}
- (void)removeObjectIdenticalTo:(id)object {
    for (NSUInteger i = self.count; i-- > 0;)
        if (body(self)->items[i] == object) [self removeObjectAtIndex:i];
}
- (void)removeObjectsInRange:(NSRange)range {
    range_check_range(self, _cmd, range, self.count);
    delete_range(body(self), range);
}
- (void)removeObjectsInArray:(NSArray *)array {
    for (id item in array) [self removeObject:item];
}
- (void)setArray:(NSArray *)array {
    if (array == self) return;
    [self removeAllObjects];
    [self addObjectsFromArray:array];
}
- (void)setObject:(id)object atIndexedSubscript:(NSUInteger)index {
    if (index == self.count)
        [self addObject:object];
    else
        [self replaceObjectAtIndex:index withObject:object];
}

// Stable: equal objects keep their order.
static void merge_sort(id *items, id *space, NSUInteger n, NSComparator compare) {
    if (n < 2) return;
    NSUInteger half = n / 2, i = 0, k = half, to = 0;
    merge_sort(items, space, half, compare), merge_sort(items + half, space, n - half, compare);
    while (i < half && k < n)
        space[to++] = compare(items[i], items[k]) != NSOrderedDescending ? items[i++] : items[k++];
    while (i < half) space[to++] = items[i++];
    memcpy(items, space, to * sizeof *items);
}
- (void)sortUsingComparator:(NSComparator)compare {
    id *space = malloc((self.count + 1) * sizeof *space);
    merge_sort(body(self)->items, space, self.count, compare);
    body(self)->changes++;
    free(space);
}
- (void)sortUsingSelector:(SEL)selector {
    [self sortUsingComparator:^(id a, id b) {
      return ((NSComparisonResult (*)(id, SEL, id))objc_msgSend)(a, selector, b);
    }];
}
@end
