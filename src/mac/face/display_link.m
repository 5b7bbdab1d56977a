// SPDX-License-Identifier: Apache-2.0
// display_link.m: what fires once for each picture of the display: timers of a run loop
// (CADisplayLink, CAMetalDisplayLink) and a thread (CVDisplayLink). No display is asked: it shows
// 60 pictures a second.
#import <CoreVideo/CoreVideo.h>
#import <QuartzCore/QuartzCore.h>
#import <objc/objc-arc.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#define SHOWN __attribute__((visibility("default")))
enum { RATE = 60, NS = 1000000000 };

// ---- On a run loop ----

// A timer in every loop and mode it was added to; `fire` is told.
@interface IngotLinkTimers : NSObject {
    NSMutableArray *places; // of {loop, mode, timer}
  @public
    void (^fire)(void);
    NSInteger rate; // 0: the display's
    BOOL paused, over;
}
@end
@implementation IngotLinkTimers
- (void)dealloc {
    [places release], [fire release];
    [super dealloc];
}
- (NSTimer *)timer {
    const NSInteger n = rate > 0 && rate < RATE ? rate : RATE;
    __block IngotLinkTimers *me = self; // the link, which holds this, ends its timers
    return [NSTimer timerWithTimeInterval:1.0 / (double)n
                                  repeats:YES
                                    block:^(NSTimer *timer) {
                                      (void)timer;
                                      if (!me->paused && !me->over) me->fire();
                                    }];
}
- (void)add:(NSRunLoop *)loop mode:(NSRunLoopMode)mode {
    if (over || !loop || !mode) return;
    if (!places) places = [NSMutableArray new];
    for (NSArray *place in places)
        if (place[0] == loop && [place[1] isEqual:mode]) return;
    NSTimer *timer = [self timer];
    [places addObject:@[ loop, mode, timer ]];
    [loop addTimer:timer forMode:mode];
}
- (void)remove:(NSRunLoop *)loop mode:(NSRunLoopMode)mode {
    for (NSUInteger i = places.count; i-- > 0;) {
        NSArray *place = places[i];
        if (loop && (place[0] != loop || ![place[1] isEqual:mode])) continue;
        [place[2] invalidate];
        [places removeObjectAtIndex:i];
    }
}
- (void)setRate:(NSInteger)n {
    if (n == rate) return;
    rate = n;
    NSArray *before = [[places copy] autorelease];
    [self remove:nil mode:nil];
    for (NSArray *place in before) [self add:place[0] mode:place[1]];
}
- (void)end {
    over = YES;
    [self remove:nil mode:nil];
}
@end

static NSInteger rate_of(CAFrameRateRange range) {
    const float wanted = range.preferred > 0 ? range.preferred : range.maximum;
    return wanted > 0 ? (NSInteger)lroundf(wanted) : 0;
}

#define ON_RUN_LOOPS                                                                               \
    -(void)addToRunLoop : (NSRunLoop *)loop forMode : (NSRunLoopMode)mode {                        \
        [timers add:loop mode:mode];                                                               \
    }                                                                                              \
    -(void)removeFromRunLoop : (NSRunLoop *)loop forMode : (NSRunLoopMode)mode {                   \
        if (loop) [timers remove:loop mode:mode];                                                  \
    }                                                                                              \
    -(BOOL)isPaused {                                                                              \
        return timers->paused;                                                                     \
    }                                                                                              \
    -(void)setPaused : (BOOL)paused {                                                              \
        timers->paused = paused;                                                                   \
    }                                                                                              \
    -(CAFrameRateRange)preferredFrameRateRange {                                                   \
        return range;                                                                              \
    }                                                                                              \
    -(void)setPreferredFrameRateRange : (CAFrameRateRange)value {                                  \
        range = value;                                                                             \
        [timers setRate:rate_of(value)];                                                           \
    }

SHOWN @implementation CADisplayLink {
    IngotLinkTimers *timers;
    CAFrameRateRange range;
    id target; // retained until the link is invalid
    SEL selector;
    CFTimeInterval shown;
}
+ (CADisplayLink *)displayLinkWithTarget:(id)target selector:(SEL)selector {
    CADisplayLink *link = [[self new] autorelease];
    link->target = [target retain], link->selector = selector;
    __block CADisplayLink *me = link;
    link->timers = [IngotLinkTimers new];
    link->timers->fire = [^{
      [me fire];
    } copy];
    return link;
}
- (void)dealloc {
    [self invalidate];
    [timers release];
    [super dealloc];
}
- (void)fire {
    [[self retain] autorelease]; // the target may drop it
    shown = CACurrentMediaTime();
    if (target)
        ((void (*)(id, SEL, id))[target methodForSelector:selector])(target, selector, self);
}
ON_RUN_LOOPS
- (void)invalidate {
    [timers end];
    [target autorelease];
    target = nil;
}
- (CFTimeInterval)timestamp {
    return shown;
}
- (CFTimeInterval)duration {
    return 1.0 / RATE;
}
- (CFTimeInterval)targetTimestamp {
    return shown + 1.0 / (double)(timers->rate > 0 && timers->rate < RATE ? timers->rate : RATE);
}
- (NSInteger)preferredFramesPerSecond {
    return timers->rate;
}
- (void)setPreferredFramesPerSecond:(NSInteger)n {
    [timers setRate:n];
}
@end

SHOWN @implementation CAMetalDisplayLinkUpdate {
  @public
    id<CAMetalDrawable> drawable;
    CFTimeInterval target;
}
- (void)dealloc {
    [(id)drawable release];
    [super dealloc];
}
- (id<CAMetalDrawable>)drawable {
    return drawable;
}
- (CFTimeInterval)targetTimestamp {
    return target;
}
- (CFTimeInterval)targetPresentationTimestamp {
    return target + 1.0 / RATE;
}
@end

SHOWN @implementation CAMetalDisplayLink {
    IngotLinkTimers *timers;
    CAFrameRateRange range;
    CAMetalLayer *layer;
    id delegate; // weak
    float latency;
}
- (instancetype)initWithMetalLayer:(CAMetalLayer *)given {
    if ((self = [super init])) {
        layer = [given retain], latency = 2;
        __block CAMetalDisplayLink *me = self;
        timers = [IngotLinkTimers new];
        timers->fire = [^{
          [me fire];
        } copy];
    }
    return self;
}
- (void)dealloc {
    [timers end];
    [timers release], [layer release];
    objc_destroyWeak(&delegate);
    [super dealloc];
}
- (void)fire {
    [[self retain] autorelease];
    id<CAMetalDisplayLinkDelegate> told = self.delegate;
    id<CAMetalDrawable> drawable = told ? [layer nextDrawable] : nil;
    if (!drawable) return;
    CAMetalDisplayLinkUpdate *update = [[CAMetalDisplayLinkUpdate new] autorelease];
    update->drawable = [(id)drawable retain];
    update->target = CACurrentMediaTime() + 1.0 / RATE;
    [told metalDisplayLink:self needsUpdate:update];
}
ON_RUN_LOOPS
- (void)invalidate {
    [timers end];
}
- (id<CAMetalDisplayLinkDelegate>)delegate {
    return objc_loadWeak(&delegate);
}
- (void)setDelegate:(id<CAMetalDisplayLinkDelegate>)value {
    objc_storeWeak(&delegate, value);
}
- (float)preferredFrameLatency {
    return latency;
}
- (void)setPreferredFrameLatency:(float)value {
    latency = value;
}
@end

// ---- On a thread ----

@interface IngotVideoLink : NSObject {
  @public
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    BOOL running, calling;
    uint64_t round; // of the thread that may call: others end
    CVDisplayLinkOutputCallback callback;
    void *context;
    CVDisplayLinkOutputHandler handler;
    CGDirectDisplayID display;
}
@end
@implementation IngotVideoLink
- (instancetype)init {
    if ((self = [super init])) {
        pthread_mutex_init(&lock, NULL);
        pthread_cond_init(&changed, NULL);
        display = kCGDirectMainDisplay;
    }
    return self;
}
- (void)dealloc {
    pthread_mutex_destroy(&lock);
    pthread_cond_destroy(&changed);
    [handler release];
    [super dealloc];
}
@end

SHOWN uint64_t CVGetCurrentHostTime(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS + (uint64_t)now.tv_nsec;
}
SHOWN double CVGetHostClockFrequency(void) { return NS; }
SHOWN CGDirectDisplayID CGMainDisplayID(void) { return kCGDirectMainDisplay; }

static CVTimeStamp stamp(uint64_t host) {
    return (CVTimeStamp){.videoTimeScale = NS,
                         .videoTime = (int64_t)host,
                         .hostTime = host,
                         .rateScalar = 1,
                         .videoRefreshPeriod = NS / RATE,
                         .flags = kCVTimeStampVideoTimeValid | kCVTimeStampHostTimeValid |
                                  kCVTimeStampVideoRefreshPeriodValid |
                                  kCVTimeStampRateScalarValid};
}

// One call, with the lock held; it is open meanwhile.
static void call(IngotVideoLink *link) {
    link->calling = YES;
    CVDisplayLinkOutputCallback callback = link->callback;
    void *context = link->context;
    CVDisplayLinkOutputHandler handler = [[link->handler retain] autorelease];
    pthread_mutex_unlock(&link->lock);
    const uint64_t time = CVGetCurrentHostTime();
    const CVTimeStamp now = stamp(time), then = stamp(time + NS / RATE);
    CVOptionFlags out = 0;
    if (handler)
        handler((CVDisplayLinkRef)link, &now, &then, 0, &out);
    else if (callback)
        callback((CVDisplayLinkRef)link, &now, &then, 0, &out, context);
    pthread_mutex_lock(&link->lock);
    link->calling = NO;
    pthread_cond_broadcast(&link->changed);
}

static void *display_thread(void *given) {
    IngotVideoLink *link = given; // retained by CVDisplayLinkStart
    pthread_mutex_lock(&link->lock);
    const uint64_t round = link->round;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    while (link->running && link->round == round) {
        @autoreleasepool {
            call(link);
        }
        next.tv_nsec += NS / RATE;
        if (next.tv_nsec >= NS) next.tv_nsec -= NS, next.tv_sec++;
        pthread_mutex_unlock(&link->lock);
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL) == EINTR) {
        }
        pthread_mutex_lock(&link->lock);
    }
    pthread_mutex_unlock(&link->lock);
    [link release];
    return NULL;
}

SHOWN CVReturn CVDisplayLinkCreateWithActiveCGDisplays(CVDisplayLinkRef *link) {
    if (!link) return kCVReturnInvalidArgument;
    *link = (CVDisplayLinkRef)[IngotVideoLink new];
    return *link ? kCVReturnSuccess : kCVReturnAllocationFailed;
}
SHOWN CVReturn CVDisplayLinkCreateWithCGDisplay(CGDirectDisplayID display, CVDisplayLinkRef *link) {
    CVReturn result = CVDisplayLinkCreateWithActiveCGDisplays(link);
    if (result == kCVReturnSuccess) CVDisplayLinkSetCurrentCGDisplay(*link, display);
    return result;
}
SHOWN CVReturn CVDisplayLinkSetCurrentCGDisplay(CVDisplayLinkRef link, CGDirectDisplayID display) {
    if (!link) return kCVReturnInvalidArgument;
    ((IngotVideoLink *)link)->display = display;
    return kCVReturnSuccess;
}
SHOWN CGDirectDisplayID CVDisplayLinkGetCurrentCGDisplay(CVDisplayLinkRef link) {
    return link ? ((IngotVideoLink *)link)->display : 0;
}
SHOWN CVReturn CVDisplayLinkSetOutputCallback(CVDisplayLinkRef ref,
                                              CVDisplayLinkOutputCallback callback, void *context) {
    IngotVideoLink *link = (IngotVideoLink *)ref;
    if (!link || !callback) return kCVReturnInvalidArgument;
    pthread_mutex_lock(&link->lock);
    link->callback = callback, link->context = context;
    pthread_mutex_unlock(&link->lock);
    return kCVReturnSuccess;
}
SHOWN CVReturn CVDisplayLinkSetOutputHandler(CVDisplayLinkRef ref,
                                             CVDisplayLinkOutputHandler handler) {
    IngotVideoLink *link = (IngotVideoLink *)ref;
    if (!link || !handler) return kCVReturnInvalidArgument;
    pthread_mutex_lock(&link->lock);
    [link->handler autorelease];
    link->handler = [handler copy];
    pthread_mutex_unlock(&link->lock);
    return kCVReturnSuccess;
}
SHOWN CVReturn CVDisplayLinkStart(CVDisplayLinkRef ref) {
    IngotVideoLink *link = (IngotVideoLink *)ref;
    if (!link) return kCVReturnInvalidArgument;
    CVReturn result = kCVReturnSuccess;
    pthread_mutex_lock(&link->lock);
    if (link->running) {
        result = kCVReturnDisplayLinkAlreadyRunning;
    } else if (!link->callback && !link->handler) {
        result = kCVReturnDisplayLinkCallbacksNotSet;
    } else {
        link->running = YES, link->round++;
        if (pthread_create(&link->thread, NULL, display_thread, [link retain]) == 0) {
            pthread_detach(link->thread);
        } else {
            link->running = NO;
            [link release];
            result = kCVReturnError;
        }
    }
    pthread_mutex_unlock(&link->lock);
    return result;
}
SHOWN CVReturn CVDisplayLinkStop(CVDisplayLinkRef ref) {
    IngotVideoLink *link = (IngotVideoLink *)ref;
    if (!link) return kCVReturnInvalidArgument;
    pthread_mutex_lock(&link->lock);
    const BOOL before = link->running;
    link->running = NO;
    while (link->calling && !pthread_equal(link->thread, pthread_self()))
        pthread_cond_wait(&link->changed, &link->lock);
    pthread_mutex_unlock(&link->lock);
    return before ? kCVReturnSuccess : kCVReturnDisplayLinkNotRunning;
}
SHOWN Boolean CVDisplayLinkIsRunning(CVDisplayLinkRef ref) {
    IngotVideoLink *link = (IngotVideoLink *)ref;
    if (!link) return 0;
    pthread_mutex_lock(&link->lock);
    const BOOL is = link->running;
    pthread_mutex_unlock(&link->lock);
    return is;
}
SHOWN CVTime CVDisplayLinkGetNominalOutputVideoRefreshPeriod(CVDisplayLinkRef link) {
    return link ? (CVTime){1, RATE, 0} : (CVTime){0, 0, kCVTimeIsIndefinite};
}
SHOWN double CVDisplayLinkGetActualOutputVideoRefreshPeriod(CVDisplayLinkRef link) {
    return CVDisplayLinkIsRunning(link) ? 1.0 / RATE : 0;
}
SHOWN CVDisplayLinkRef CVDisplayLinkRetain(CVDisplayLinkRef link) {
    return (CVDisplayLinkRef)objc_retain((id)link);
}
// The thread holds the link too: letting go of the last other reference stops it.
SHOWN void CVDisplayLinkRelease(CVDisplayLinkRef ref) {
    IngotVideoLink *link = (IngotVideoLink *)ref;
    if (!link) return;
    if (CVDisplayLinkIsRunning(ref) && [link retainCount] == 2) CVDisplayLinkStop(ref);
    objc_release(link);
}
