// SPDX-License-Identifier: Apache-2.0
// IOSurface.m: memory for pictures: zeroed pages, cut into up to four planes, known by a number.
#import <IOSurface/IOSurface.h>
#import <objc/objc-arc.h>
#include <pthread.h>
#include <sys/mman.h>

#define SHOWN __attribute__((visibility("default")))
#define KEY(name) SHOWN const CFStringRef kIOSurface##name = (CFStringRef) @"IOSurface" #name
KEY(AllocSize);
KEY(Width);
KEY(Height);
KEY(BytesPerRow);
KEY(BytesPerElement);
KEY(ElementWidth);
KEY(ElementHeight);
KEY(Offset);
KEY(PixelFormat);
KEY(PlaneInfo);
KEY(PlaneWidth);
KEY(PlaneHeight);
KEY(PlaneBytesPerRow);
KEY(PlaneBytesPerElement);
KEY(PlaneOffset);
KEY(PlaneSize);

enum { MAX_PLANES = 4, ROW_ALIGNMENT = 64, PAGE = 16384 };
static const size_t most_bytes = (size_t)1 << 40, most_texels = (size_t)1 << 20;

typedef struct Plane {
    size_t width, height, row, element, offset;
} Plane;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static IOSurface *first;    // under lock: all that live
static IOSurfaceID last_id; // likewise

SHOWN @implementation IOSurface {
  @public
    char *memory;
    size_t n_bytes, n_planes;
    Plane whole, planes[MAX_PLANES];
    uint32_t format;
    _Atomic uint32_t changes;
    _Atomic int32_t uses;
    IOSurfaceID number;
    IOSurface *next;
}

static size_t number_of(NSDictionary *d, CFStringRef key, size_t otherwise) {
    NSNumber *n = d[(NSString *)key];
    return [n isKindOfClass:[NSNumber class]] ? (size_t)n.unsignedLongLongValue : otherwise;
}
static size_t rounded(size_t n, size_t to) { return (n + to - 1) / to * to; }

// What the properties say of one plane, at `offset` unless they say where. False: it cannot be.
static bool read_plane(NSDictionary *d, bool planar, size_t offset, Plane *p) {
    p->width = number_of(d, planar ? kIOSurfacePlaneWidth : kIOSurfaceWidth, 0);
    p->height = number_of(d, planar ? kIOSurfacePlaneHeight : kIOSurfaceHeight, 0);
    p->element =
        number_of(d, planar ? kIOSurfacePlaneBytesPerElement : kIOSurfaceBytesPerElement, 1);
    if (p->width > most_texels || p->height > most_texels || !p->element || p->element > 64)
        return false;
    p->row = number_of(d, planar ? kIOSurfacePlaneBytesPerRow : kIOSurfaceBytesPerRow,
                       rounded(p->width * p->element, ROW_ALIGNMENT));
    p->offset = number_of(d, planar ? kIOSurfacePlaneOffset : kIOSurfaceOffset, offset);
    return p->row >= p->width * p->element && p->row < most_bytes && p->offset < most_bytes;
}

- (bool)readPlanes:(NSDictionary *)properties {
    NSArray *list = properties[(NSString *)kIOSurfacePlaneInfo];
    if (!read_plane(properties, false, 0, &whole)) return false;
    size_t end = list.count ? 0 : whole.offset + whole.row * whole.height;
    if (list.count > MAX_PLANES) return false;
    for (NSDictionary *d in list) {
        Plane *p = &planes[n_planes++];
        if (!read_plane(d, true, rounded(end, PAGE), p)) return false;
        if (p->offset + p->row * p->height > end) end = p->offset + p->row * p->height;
    }
    n_bytes = number_of(properties, kIOSurfaceAllocSize, end);
    return n_bytes >= end && n_bytes > 0 && n_bytes < most_bytes;
}
- (instancetype)initWithProperties:(NSDictionary *)properties {
    if (!(self = [super init])) return nil;
    format = (uint32_t)number_of(properties, kIOSurfacePixelFormat, 0);
    void *pages = MAP_FAILED;
    if ([self readPlanes:properties])
        pages = mmap(NULL, rounded(n_bytes, PAGE), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
        [self release];
        return nil;
    }
    memory = pages;
    pthread_mutex_lock(&lock);
    number = ++last_id, next = first, first = self;
    pthread_mutex_unlock(&lock);
    return self;
}
- (void)dealloc {
    pthread_mutex_lock(&lock);
    for (IOSurface **at = &first; *at; at = &(*at)->next)
        if (*at == self) {
            *at = next;
            break;
        }
    pthread_mutex_unlock(&lock);
    if (memory) munmap(memory, rounded(n_bytes, PAGE));
    [super dealloc];
}
- (int32_t)lockWithOptions:(IOSurfaceLockOptions)options seed:(uint32_t *)seed {
    return IOSurfaceLock((IOSurfaceRef)self, options, seed);
}
- (int32_t)unlockWithOptions:(IOSurfaceLockOptions)options seed:(uint32_t *)seed {
    return IOSurfaceUnlock((IOSurfaceRef)self, options, seed);
}
- (IOSurfaceID)surfaceID {
    return number;
}
- (uint32_t)seed {
    return changes;
}
- (NSInteger)allocationSize {
    return (NSInteger)n_bytes;
}
- (NSInteger)width {
    return (NSInteger)whole.width;
}
- (NSInteger)height {
    return (NSInteger)whole.height;
}
- (NSInteger)bytesPerRow {
    return (NSInteger)whole.row;
}
- (NSInteger)bytesPerElement {
    return (NSInteger)whole.element;
}
- (void *)baseAddress {
    return memory + (n_planes ? 0 : whole.offset);
}
- (uint32_t)pixelFormat {
    return format;
}
- (NSUInteger)planeCount {
    return n_planes;
}
- (NSInteger)widthOfPlaneAtIndex:(NSUInteger)plane {
    return (NSInteger)IOSurfaceGetWidthOfPlane((IOSurfaceRef)self, plane);
}
- (NSInteger)heightOfPlaneAtIndex:(NSUInteger)plane {
    return (NSInteger)IOSurfaceGetHeightOfPlane((IOSurfaceRef)self, plane);
}
- (NSInteger)bytesPerRowOfPlaneAtIndex:(NSUInteger)plane {
    return (NSInteger)IOSurfaceGetBytesPerRowOfPlane((IOSurfaceRef)self, plane);
}
- (void *)baseAddressOfPlaneAtIndex:(NSUInteger)plane {
    return IOSurfaceGetBaseAddressOfPlane((IOSurfaceRef)self, plane);
}
@end

static IOSurface *of(IOSurfaceRef surface) { return (IOSurface *)surface; }

SHOWN IOSurfaceRef IOSurfaceCreate(CFDictionaryRef properties) {
    return (IOSurfaceRef)[[IOSurface alloc] initWithProperties:(NSDictionary *)properties];
}
SHOWN IOSurfaceRef IOSurfaceLookup(IOSurfaceID surface) {
    pthread_mutex_lock(&lock);
    IOSurface *s = first;
    while (s && s->number != surface) s = s->next;
    [s retain];
    pthread_mutex_unlock(&lock);
    return (IOSurfaceRef)s;
}
SHOWN IOSurfaceID IOSurfaceGetID(IOSurfaceRef surface) { return surface ? of(surface)->number : 0; }
SHOWN int32_t IOSurfaceLock(IOSurfaceRef surface, IOSurfaceLockOptions options, uint32_t *seed) {
    (void)options;
    if (!surface) return -1;
    if (seed) *seed = of(surface)->changes;
    return 0;
}
SHOWN int32_t IOSurfaceUnlock(IOSurfaceRef surface, IOSurfaceLockOptions options, uint32_t *seed) {
    if (!surface) return -1;
    if (!(options & kIOSurfaceLockReadOnly)) of(surface)->changes++;
    if (seed) *seed = of(surface)->changes;
    return 0;
}
SHOWN uint32_t IOSurfaceGetSeed(IOSurfaceRef surface) { return surface ? of(surface)->changes : 0; }
SHOWN size_t IOSurfaceGetAllocSize(IOSurfaceRef surface) {
    return surface ? of(surface)->n_bytes : 0;
}
SHOWN size_t IOSurfaceGetWidth(IOSurfaceRef s) { return s ? of(s)->whole.width : 0; }
SHOWN size_t IOSurfaceGetHeight(IOSurfaceRef s) { return s ? of(s)->whole.height : 0; }
SHOWN size_t IOSurfaceGetBytesPerElement(IOSurfaceRef s) { return s ? of(s)->whole.element : 0; }
SHOWN size_t IOSurfaceGetBytesPerRow(IOSurfaceRef s) { return s ? of(s)->whole.row : 0; }
SHOWN void *IOSurfaceGetBaseAddress(IOSurfaceRef s) { return [of(s) baseAddress]; }
SHOWN uint32_t IOSurfaceGetPixelFormat(IOSurfaceRef s) { return s ? of(s)->format : 0; }
SHOWN size_t IOSurfaceGetPlaneCount(IOSurfaceRef s) { return s ? of(s)->n_planes : 0; }

// A surface that is not planar is its plane 0.
static const Plane *plane_of(IOSurfaceRef surface, size_t plane) {
    static const Plane none;
    if (!surface) return &none;
    IOSurface *s = of(surface);
    return plane < s->n_planes ? &s->planes[plane] : !s->n_planes && !plane ? &s->whole : &none;
}
SHOWN size_t IOSurfaceGetWidthOfPlane(IOSurfaceRef s, size_t plane) {
    return plane_of(s, plane)->width;
}
SHOWN size_t IOSurfaceGetHeightOfPlane(IOSurfaceRef s, size_t plane) {
    return plane_of(s, plane)->height;
}
SHOWN size_t IOSurfaceGetBytesPerElementOfPlane(IOSurfaceRef s, size_t plane) {
    return plane_of(s, plane)->element;
}
SHOWN size_t IOSurfaceGetBytesPerRowOfPlane(IOSurfaceRef s, size_t plane) {
    return plane_of(s, plane)->row;
}
SHOWN void *IOSurfaceGetBaseAddressOfPlane(IOSurfaceRef s, size_t plane) {
    const Plane *p = plane_of(s, plane);
    return p->element ? of(s)->memory + p->offset : NULL;
}
SHOWN void IOSurfaceIncrementUseCount(IOSurfaceRef surface) {
    if (surface) of(surface)->uses++;
}
SHOWN void IOSurfaceDecrementUseCount(IOSurfaceRef surface) {
    if (surface) of(surface)->uses--;
}
SHOWN int32_t IOSurfaceGetUseCount(IOSurfaceRef surface) { return surface ? of(surface)->uses : 0; }
SHOWN Boolean IOSurfaceIsInUse(IOSurfaceRef surface) { return IOSurfaceGetUseCount(surface) > 0; }
SHOWN size_t IOSurfaceAlignProperty(CFStringRef property, size_t value) {
    NSString *name = (NSString *)property;
    if ([name hasSuffix:@"BytesPerRow"]) return rounded(value, ROW_ALIGNMENT);
    return [name hasSuffix:@"AllocSize"] || [name hasSuffix:@"Offset"] ? rounded(value, PAGE)
                                                                       : value;
}
