// SPDX-License-Identifier: Apache-2.0
// CoreFoundation.m: functions of Core Foundation on Foundation's objects, and names of colour spaces.
#include "mac/foundation/foundation_int.h"
#import <CoreGraphics/CoreGraphics.h>

CFTypeRef CFRetain(CFTypeRef object) { return objc_retain((id)object); }
void CFRelease(CFTypeRef object) { objc_release((id)object); }
CFTypeRef CFAutorelease(CFTypeRef object) { return objc_autorelease((id)object); }
CFIndex CFGetRetainCount(CFTypeRef object) { return (CFIndex)[(id)object retainCount]; }
Boolean CFEqual(CFTypeRef a, CFTypeRef b) { return a == b || [(id)a isEqual:(id)b]; }
CFHashCode CFHash(CFTypeRef object) { return [(id)object hash]; }
CFStringRef CFCopyDescription(CFTypeRef object) {
    return (CFStringRef)[[(id)object description] copy];
}
void CFShow(CFTypeRef object) { fprintf(stderr, "%s\n", [(id)object description].UTF8String); }

// Strings made of C text at run time (a compiler without constants): one for each text.
CFStringRef __CFStringMakeConstantString(const char *text) {
    static NSMutableDictionary *all;
    static dispatch_once_t once;
    dispatch_once(&once, ^{
      all = [NSMutableDictionary new];
    });
    @synchronized(all) {
        @autoreleasepool {
            NSString *key = [NSString stringWithUTF8String:text];
            if (!all[key]) all[key] = key;
            return (CFStringRef)all[key];
        }
    }
}
static NSStringEncoding encoding_of(CFStringEncoding e) {
    return e == kCFStringEncodingUTF8        ? NSUTF8StringEncoding
           : e == kCFStringEncodingASCII     ? NSASCIIStringEncoding
           : e == kCFStringEncodingUTF16     ? NSUnicodeStringEncoding
           : e == kCFStringEncodingISOLatin1 ? NSISOLatin1StringEncoding
                                             : 0;
}
CFStringRef CFStringCreateWithCString(CFAllocatorRef allocator, const char *text,
                                      CFStringEncoding encoding) {
    (void)allocator;
    return (CFStringRef)[[NSString alloc] initWithCString:text encoding:encoding_of(encoding)];
}
CFStringRef CFStringCreateCopy(CFAllocatorRef allocator, CFStringRef string) {
    (void)allocator;
    return (CFStringRef)[(NSString *)string copy];
}
CFIndex CFStringGetLength(CFStringRef string) { return (CFIndex)((NSString *)string).length; }
UniChar CFStringGetCharacterAtIndex(CFStringRef string, CFIndex index) {
    return [(NSString *)string characterAtIndex:(NSUInteger)index];
}
Boolean CFStringGetCString(CFStringRef string, char *buffer, CFIndex room,
                           CFStringEncoding encoding) {
    @autoreleasepool {
        return [(NSString *)string getCString:buffer
                                    maxLength:(NSUInteger)room
                                     encoding:encoding_of(encoding)];
    }
}
const char *CFStringGetCStringPtr(CFStringRef string, CFStringEncoding encoding) {
    return [(NSString *)string cStringUsingEncoding:encoding_of(encoding)];
}
CFComparisonResult CFStringCompare(CFStringRef a, CFStringRef b, CFOptionFlags options) {
    return (CFComparisonResult)[(NSString *)a compare:(NSString *)b options:options];
}
CFIndex CFArrayGetCount(CFArrayRef array) { return (CFIndex)((NSArray *)array).count; }
const void *CFArrayGetValueAtIndex(CFArrayRef array, CFIndex index) {
    return [(NSArray *)array objectAtIndex:(NSUInteger)index];
}
CFIndex CFDictionaryGetCount(CFDictionaryRef dictionary) {
    return (CFIndex)((NSDictionary *)dictionary).count;
}
const void *CFDictionaryGetValue(CFDictionaryRef dictionary, const void *key) {
    return [(NSDictionary *)dictionary objectForKey:(id)key];
}
CFIndex CFDataGetLength(CFDataRef data) { return (CFIndex)((NSData *)data).length; }
const uint8_t *CFDataGetBytePtr(CFDataRef data) { return ((NSData *)data).bytes; }
CFAbsoluteTime CFAbsoluteTimeGetCurrent(void) { return NSDate.timeIntervalSinceReferenceDate; }

// ---- Core Graphics ----

const CFStringRef kCGColorSpaceSRGB = CFSTR("kCGColorSpaceSRGB");
const CFStringRef kCGColorSpaceLinearSRGB = CFSTR("kCGColorSpaceLinearSRGB");
const CFStringRef kCGColorSpaceExtendedSRGB = CFSTR("kCGColorSpaceExtendedSRGB");
const CFStringRef kCGColorSpaceExtendedLinearSRGB = CFSTR("kCGColorSpaceExtendedLinearSRGB");
const CFStringRef kCGColorSpaceDisplayP3 = CFSTR("kCGColorSpaceDisplayP3");
const CFStringRef kCGColorSpaceExtendedLinearDisplayP3 =
    CFSTR("kCGColorSpaceExtendedLinearDisplayP3");
const CFStringRef kCGColorSpaceITUR_2020 = CFSTR("kCGColorSpaceITUR_2020");
const CFStringRef kCGColorSpaceGenericGrayGamma2_2 = CFSTR("kCGColorSpaceGenericGrayGamma2_2");

@interface CGColorSpaceObject : NSObject {
  @public
    NSString *name;
}
@end
@implementation CGColorSpaceObject
- (void)dealloc {
    [name release];
    [super dealloc];
}
- (BOOL)isEqual:(id)other {
    return [other isKindOfClass:[CGColorSpaceObject class]] &&
           [name isEqual:((CGColorSpaceObject *)other)->name];
}
- (NSUInteger)hash {
    return name.hash;
}
@end
static CGColorSpaceRef new_space(NSString *name) {
    CGColorSpaceObject *space = [CGColorSpaceObject new];
    space->name = [name copy];
    return (CGColorSpaceRef)space;
}
CGColorSpaceRef CGColorSpaceCreateWithName(CFStringRef name) {
    return [(NSString *)name hasPrefix:@"kCGColorSpace"] ? new_space((NSString *)name) : NULL;
}
CGColorSpaceRef CGColorSpaceCreateDeviceRGB(void) { return new_space(@"kCGColorSpaceDeviceRGB"); }
CGColorSpaceRef CGColorSpaceCreateDeviceGray(void) { return new_space(@"kCGColorSpaceDeviceGray"); }
CFStringRef CGColorSpaceCopyName(CGColorSpaceRef space) {
    return space ? (CFStringRef)[((CGColorSpaceObject *)space)->name copy] : NULL;
}
CGColorSpaceRef CGColorSpaceRetain(CGColorSpaceRef space) {
    return (CGColorSpaceRef)objc_retain((id)space);
}
void CGColorSpaceRelease(CGColorSpaceRef space) { objc_release((id)space); }
