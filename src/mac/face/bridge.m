// SPDX-License-Identifier: Apache-2.0
// bridge.m: Foundation's objects for the C files (bridge.h).
#import <Foundation/Foundation.h>
#include "mac/face/bridge.h"

const char *face_utf8(NSString *string) { return string ? [string UTF8String] : NULL; }

const char *face_path(NSURL *url) { return url ? [[url path] UTF8String] : NULL; }

id face_string(const char *text) { return text ? [NSString stringWithUTF8String:text] : nil; }

id face_label(const char *text) { return text && *text ? face_string(text) : nil; }

id face_url(const char *path) {
    return path && *path ? [NSURL fileURLWithPath:face_string(path)] : nil;
}

size_t face_count(NSArray *array) { return [array count]; }

id *face_items(FaceArena *arena, NSArray *array) {
    size_t n = [array count];
    id *items = face_alloc(arena, (n + 1) * sizeof *items);
    for (size_t i = 0; i < n; i++) items[i] = [array objectAtIndex:i];
    return items;
}

const char **face_strings(FaceArena *arena, NSArray *array) {
    size_t n = [array count];
    const char **items = face_alloc(arena, (n + 1) * sizeof *items);
    for (size_t i = 0; i < n; i++) items[i] = [[array objectAtIndex:i] UTF8String];
    return items;
}

id face_array(id const *items, size_t n) { return [NSArray arrayWithObjects:items count:n]; }

id face_dictionary(id const *keys, id const *values, size_t n) {
    return [NSDictionary dictionaryWithObjects:values forKeys:keys count:n];
}

FacePair *face_pairs(FaceArena *arena, NSDictionary *dictionary, size_t *n) {
    FacePair *pairs = face_alloc(arena, ([dictionary count] + 1) * sizeof *pairs);
    size_t i = 0;
    for (id key in dictionary) {
        id value = [dictionary objectForKey:key];
        id text = [value isKindOfClass:[NSString class]] ? value : [value description];
        pairs[i++] = (FacePair){[key UTF8String], [text UTF8String], value};
    }
    *n = i;
    return pairs;
}

const void *face_bytes(id data) {
    if (!data) return NULL;
    if ([data isKindOfClass:[NSData class]]) return [(NSData *)data bytes];
    const void *bytes = NULL;
    size_t length;
    dispatch_data_t flat = dispatch_data_create_map(data, &bytes, &length);
    [(id)flat autorelease];
    return bytes;
}

size_t face_length(id data) {
    if (!data) return 0;
    return [data isKindOfClass:[NSData class]] ? [(NSData *)data length]
                                               : dispatch_data_get_size(data);
}

id face_data(const void *bytes, size_t n) { return [NSData dataWithBytes:bytes length:n]; }

id face_zeros(size_t n) { return [NSMutableData dataWithLength:n]; }

const char *face_bundle_resource(NSBundle *bundle, const char *name, const char *type) {
    return [[bundle pathForResource:face_string(name) ofType:face_string(type)] UTF8String];
}

void face_dispatch(id queue, void (*work)(void *), void *item) {
    dispatch_queue_t any = dispatch_get_global_queue(QOS_CLASS_DEFAULT, 0);
    dispatch_async_f(queue ? (dispatch_queue_t)queue : any, item, work);
}

id face_float(float value) { return [NSNumber numberWithFloat:value]; }

float face_float_value(id number) { return [number floatValue]; }

id face_number(unsigned long value) { return [NSNumber numberWithUnsignedLong:value]; }

id face_dictionary_put(NSDictionary *dictionary, id key, id value) {
    NSMutableDictionary *copy =
        dictionary ? [[dictionary mutableCopy] autorelease] : [NSMutableDictionary dictionary];
    if (value)
        [copy setObject:value forKey:key];
    else
        [copy removeObjectForKey:key];
    return copy;
}

id face_dictionary_get(NSDictionary *dictionary, id key) { return [dictionary objectForKey:key]; }
