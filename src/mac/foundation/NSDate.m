// SPDX-License-Identifier: Apache-2.0
// NSDate.m: points in time: seconds since the first moment of 2001.
#include "mac/foundation/foundation_int.h"

@implementation NSDate {
    NSTimeInterval _time;
}
static NSTimeInterval now(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec - NSTimeIntervalSince1970 + (double)t.tv_nsec * 1e-9;
}
+ (NSTimeInterval)timeIntervalSinceReferenceDate {
    return now();
}
+ (instancetype)date {
    return AUTORELEASED([[self alloc] init]);
}
+ (NSDate *)now {
    return [self date];
}
+ (instancetype)dateWithTimeIntervalSinceNow:(NSTimeInterval)s {
    return AUTORELEASED([[self alloc] initWithTimeIntervalSinceNow:s]);
}
+ (instancetype)dateWithTimeIntervalSince1970:(NSTimeInterval)s {
    return AUTORELEASED([[self alloc] initWithTimeIntervalSince1970:s]);
}
+ (instancetype)dateWithTimeIntervalSinceReferenceDate:(NSTimeInterval)s {
    return AUTORELEASED([[self alloc] initWithTimeIntervalSinceReferenceDate:s]);
}
+ (NSDate *)distantFuture {
    return [self dateWithTimeIntervalSinceReferenceDate:63113904000.0];
}
+ (NSDate *)distantPast {
    return [self dateWithTimeIntervalSinceReferenceDate:-63114076800.0];
}
- (instancetype)init {
    return [self initWithTimeIntervalSinceNow:0];
}
- (instancetype)initWithTimeIntervalSinceNow:(NSTimeInterval)s {
    return [self initWithTimeIntervalSinceReferenceDate:now() + s];
}
- (instancetype)initWithTimeIntervalSince1970:(NSTimeInterval)s {
    return [self initWithTimeIntervalSinceReferenceDate:s - NSTimeIntervalSince1970];
}
- (instancetype)initWithTimeIntervalSinceReferenceDate:(NSTimeInterval)s {
    if ((self = [super init])) _time = s;
    return self;
}
CODES_NOTHING
COPIES_ITSELF
- (NSTimeInterval)timeIntervalSinceReferenceDate {
    return _time;
}
- (NSTimeInterval)timeIntervalSinceNow {
    return _time - now();
}
- (NSTimeInterval)timeIntervalSince1970 {
    return _time + NSTimeIntervalSince1970;
}
- (NSTimeInterval)timeIntervalSinceDate:(NSDate *)other {
    return _time - other.timeIntervalSinceReferenceDate;
}
- (instancetype)dateByAddingTimeInterval:(NSTimeInterval)s {
    return [NSDate dateWithTimeIntervalSinceReferenceDate:_time + s];
}
- (NSComparisonResult)compare:(NSDate *)other {
    double t = other.timeIntervalSinceReferenceDate;
    return _time < t ? NSOrderedAscending : _time > t ? NSOrderedDescending : NSOrderedSame;
}
- (BOOL)isEqual:(id)other {
    return [other isKindOfClass:[NSDate class]] && [self isEqualToDate:other];
}
- (BOOL)isEqualToDate:(NSDate *)other {
    return other && _time == other.timeIntervalSinceReferenceDate;
}
- (NSUInteger)hash {
    return (NSUInteger)(long)_time;
}
- (NSDate *)earlierDate:(NSDate *)other {
    return [self compare:other] == NSOrderedDescending ? other : self;
}
- (NSDate *)laterDate:(NSDate *)other {
    return [self compare:other] == NSOrderedAscending ? other : self;
}
- (NSString *)description {
    time_t seconds = (time_t)floor(self.timeIntervalSince1970);
    struct tm utc;
    char text[64];
    gmtime_r(&seconds, &utc);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S +0000", &utc);
    return [NSString stringWithUTF8String:text];
}
@end
