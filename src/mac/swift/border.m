// SPDX-License-Identifier: Apache-2.0
// border.m: values and objects of Foundation's for Swift (border.h).
#import <Metal/Metal.h>
#import <MetalKit/MetalKit.h>
#include "border.h"
#include "mac/swift/border_objc.h"
#include <pthread.h>

void *ingot_retain(void *object) { return objc_retain(object); }
void ingot_release(void *object) { objc_release(object); }
void *ingot_new(const char *cls) { return [[objc_getClass(cls) alloc] init]; }
void *ingot_copy(void *object) { return [(id)object copy]; }
void *ingot_pool_push(void) { return objc_autoreleasePoolPush(); }
void ingot_pool_pop(void *pool) { objc_autoreleasePoolPop(pool); }

const char *ingot_class_name(void *object, int above) {
    Class cls = object_getClass((id)object);
    while (cls && above-- > 0) cls = class_getSuperclass(cls);
    return cls ? class_getName(cls) : NULL;
}

// What was got without owning it, kept beyond the pool.
#define KEEP(expression)                                                                           \
    void *pool = objc_autoreleasePoolPush();                                                       \
    id got = objc_retain(expression);                                                              \
    objc_autoreleasePoolPop(pool);                                                                 \
    return got

// ---- Objects for one call ----

// Programs give the same labels again and again: the last string of each hash is kept.
enum { KEPT = 64, LONGEST = 48 };
static struct {
    pthread_mutex_t lock;
    NSString *string;
    char text[LONGEST];
} kept[KEPT] = {[0 ... KEPT - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

NSString *ingot_string(const char *utf8) {
    size_t n = utf8 ? strnlen(utf8, LONGEST) : 0;
    if (!utf8 || n == LONGEST) return utf8 ? [[NSString alloc] initWithUTF8String:utf8] : nil;
    unsigned hash = 0;
    for (size_t i = 0; i < n; i++) hash = hash * 31 + (unsigned char)utf8[i];
    __typeof__(&kept[0]) at = &kept[hash % KEPT];
    pthread_mutex_lock(&at->lock);
    if (!at->string || memcmp(at->text, utf8, n + 1)) {
        NSString *made = [[NSString alloc] initWithUTF8String:utf8];
        if (made) {
            [at->string release];
            at->string = made;
            memcpy(at->text, utf8, n + 1);
        } else { // not UTF-8
            pthread_mutex_unlock(&at->lock);
            return nil;
        }
    }
    NSString *string = [at->string retain];
    pthread_mutex_unlock(&at->lock);
    return string;
}

NSURL *ingot_url(const char *path) {
    if (!path) return nil;
    NSString *text = ingot_string(path);
    NSURL *url = [[NSURL alloc] initFileURLWithPath:text];
    [text release];
    return url;
}

NSBundle *ingot_bundle(const char *path) {
    if (!path) return nil;
    NSString *text = ingot_string(path);
    NSBundle *bundle = [[NSBundle alloc] initWithPath:text];
    [text release];
    return bundle;
}

// ---- Values ----

const char *ingot_text(void *string, size_t *n_bytes) {
    const char *text = [(NSString *)string UTF8String];
    *n_bytes = strlen(text);
    return text;
}
void *ingot_url_path(void *url) { KEEP([(NSURL *)url path]); }
void *ingot_data(const void *bytes, size_t n) {
    return [[NSData alloc] initWithBytes:bytes length:n];
}
const void *ingot_bytes(void *data, size_t *n) {
    *n = [(NSData *)data length];
    return [(NSData *)data bytes];
}
void *ingot_array(void *const *items, size_t n) {
    return [[NSArray alloc] initWithObjects:(id const *)(const void *)items count:n];
}
void *ingot_strings(const char *const *items, size_t n) {
    NSMutableArray *array = [[NSMutableArray alloc] init];
    for (size_t i = 0; i < n; i++) {
        NSString *text = ingot_string(items[i]);
        [array addObject:text];
        [text release];
    }
    return array;
}
size_t ingot_count(void *array) { return [(NSArray *)array count]; }
void *ingot_item(void *array, size_t i) { KEEP([(NSArray *)array objectAtIndex:i]); }
void *ingot_dictionary(void *const *keys, void *const *values, size_t n) {
    return [[NSDictionary alloc] initWithObjects:(id const *)(const void *)values
                                         forKeys:(id const *)(const void *)keys
                                           count:n];
}
void *ingot_keys(void *dictionary) { KEEP([(NSDictionary *)dictionary allKeys]); }
void *ingot_value(void *dictionary, void *key) {
    KEEP([(NSDictionary *)dictionary objectForKey:(id)key]);
}
void *ingot_text_object(const char *utf8) { return ingot_string(utf8); }
void *ingot_number(double value, bool whole) {
    return whole ? [[NSNumber alloc] initWithLongLong:(long long)value]
                 : [[NSNumber alloc] initWithDouble:value];
}
bool ingot_is_number(void *object) { return [(id)object isKindOfClass:[NSNumber class]]; }
double ingot_number_value(void *number) { return [(NSNumber *)number doubleValue]; }
void *ingot_error_domain(void *error) { KEEP([(NSError *)error domain]); }
long ingot_error_code(void *error) { return [(NSError *)error code]; }
void *ingot_error_text(void *error) { KEEP([(NSError *)error localizedDescription]); }

// ---- Blocks: Swift's closures, in the layout of the Block ABI ----

typedef struct ClosureBlock {
    void *isa;
    int flags, reserved;
    void (*invoke)(struct ClosureBlock *, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
    const void *descriptor;
    void *box;
    void (*call)(void *, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
    void (*drop)(void *);
} ClosureBlock;

static void invoke(ClosureBlock *b, uintptr_t p, uintptr_t q, uintptr_t r, uintptr_t s) {
    b->call(b->box, p, q, r, s);
}
static void copied(void *to, const void *from) {
    (void)to, (void)from;
} // the only copy takes the box
static void disposed(const void *b) {
    ((const ClosureBlock *)b)->drop(((const ClosureBlock *)b)->box);
}
static const struct {
    unsigned long reserved, size;
    void (*copy)(void *, const void *);
    void (*dispose)(const void *);
} descriptor = {0, sizeof(ClosureBlock), copied, disposed};

void *ingot_block(void *box, void (*call)(void *, uintptr_t, uintptr_t, uintptr_t, uintptr_t),
                  void (*drop)(void *)) {
    enum { HAS_COPY_DISPOSE = 1 << 25 };
    ClosureBlock b = {
        _NSConcreteStackBlock, HAS_COPY_DISPOSE, 0, invoke, &descriptor, box, call, drop};
    return _Block_copy(&b);
}

// ---- Functions of Metal's, and members that the table has by hand ----

void *ingot_create_device(void) { return MTLCreateSystemDefaultDevice(); }
void *ingot_copy_devices(void) { return MTLCopyAllDevices(); }
void *ingot_capture_object(void *descriptor_) {
    KEEP([(MTLCaptureDescriptor *)descriptor_ captureObject]);
}
void ingot_set_capture_object(void *descriptor_, void *object) {
    [(MTLCaptureDescriptor *)descriptor_ setCaptureObject:(id)object];
}
void *ingot_macros(void *options) { KEEP([(MTLCompileOptions *)options preprocessorMacros]); }
void ingot_set_macros(void *options, void *dictionary) {
    [(MTLCompileOptions *)options setPreprocessorMacros:(NSDictionary *)dictionary];
}
void *ingot_groups(void *linked) { KEEP([(MTLLinkedFunctions *)linked groups]); }
void ingot_set_groups(void *linked, void *dictionary) {
    [(MTLLinkedFunctions *)linked setGroups:(NSDictionary *)dictionary];
}
void *ingot_constants(void *function) {
    KEEP([(id<MTLFunction>)function functionConstantsDictionary]);
}
float ingot_rate(void *samples, size_t i) {
    void *pool = objc_autoreleasePoolPush();
    float value =
        [[(MTLRasterizationRateSampleArray *)samples objectAtIndexedSubscript:i] floatValue];
    objc_autoreleasePoolPop(pool);
    return value;
}
void ingot_set_rate(void *samples, size_t i, float value) {
    NSNumber *number = [[NSNumber alloc] initWithFloat:value];
    [(MTLRasterizationRateSampleArray *)samples setObject:number atIndexedSubscript:i];
    [number release];
}
void *ingot_rate_map(C_CGSize size, void *const *layers, size_t n) {
    MTLSize screen = {(NSUInteger)size.width, (NSUInteger)size.height, 0};
    KEEP([MTLRasterizationRateMapDescriptor
        rasterizationRateMapDescriptorWithScreenSize:screen
                                          layerCount:n
                                              layers:(void *)layers]);
}
void *ingot_extents(const long *values, size_t n) {
    return [[MTLTensorExtents alloc] initWithRank:n values:(void *)values];
}
long ingot_extent(void *extents, long dimension) {
    return [(MTLTensorExtents *)extents extentAtDimensionIndex:(NSUInteger)dimension];
}
void ingot_notify(void *event, void *listener, uint64_t value, void *block) {
    [(id<MTLSharedEvent>)event notifyListener:(MTLSharedEventListener *)listener
                                      atValue:value
                                        block:(MTLSharedEventNotificationBlock)block];
}

// ---- MetalKit ----

void *ingot_load_texture(void *device, const char *path, void *data, void *options, void **error) {
    void *pool = objc_autoreleasePoolPush();
    NSError *why = nil;
    MTKTextureLoader *loader = [[MTKTextureLoader alloc] initWithDevice:(id<MTLDevice>)device];
    NSURL *url = ingot_url(path);
    id texture = url ? [loader newTextureWithContentsOfURL:url options:options error:&why]
                     : [loader newTextureWithData:data options:options error:&why];
    *error = [why retain];
    [url release];
    [loader release];
    objc_autoreleasePoolPop(pool);
    return texture;
}

void *ingot_texture_option(const char *name) {
    const struct {
        const char *name;
        NSString *constant;
    } all[] = {
        {"MTKTextureLoaderOptionAllocateMipmaps", MTKTextureLoaderOptionAllocateMipmaps},
        {"MTKTextureLoaderOptionGenerateMipmaps", MTKTextureLoaderOptionGenerateMipmaps},
        {"MTKTextureLoaderOptionSRGB", MTKTextureLoaderOptionSRGB},
        {"MTKTextureLoaderOptionTextureUsage", MTKTextureLoaderOptionTextureUsage},
        {"MTKTextureLoaderOptionTextureStorageMode", MTKTextureLoaderOptionTextureStorageMode},
        {"MTKTextureLoaderOptionTextureCPUCacheMode", MTKTextureLoaderOptionTextureCPUCacheMode},
        {"MTKTextureLoaderOptionOrigin", MTKTextureLoaderOptionOrigin},
        {"MTKTextureLoaderOriginTopLeft", MTKTextureLoaderOriginTopLeft},
        {"MTKTextureLoaderOriginBottomLeft", MTKTextureLoaderOriginBottomLeft},
        {"MTKTextureLoaderOriginFlippedVertically", MTKTextureLoaderOriginFlippedVertically},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(all[i].name, name)) return [all[i].constant retain];
    return ingot_string(name);
}
