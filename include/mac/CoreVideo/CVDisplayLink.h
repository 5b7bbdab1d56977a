// SPDX-License-Identifier: Apache-2.0
// CoreVideo/CVDisplayLink.h: a thread that calls once for each picture of the display, which shows
// 60 a second.
#ifndef INGOT_MAC_COREVIDEO_CVDISPLAYLINK_H
#define INGOT_MAC_COREVIDEO_CVDISPLAYLINK_H
#include <CoreFoundation/CoreFoundation.h>
typedef int32_t CVReturn;
enum {
    kCVReturnSuccess = 0,
    kCVReturnError = -6660,
    kCVReturnInvalidArgument = -6661,
    kCVReturnAllocationFailed = -6662,
    kCVReturnDisplayLinkAlreadyRunning = -6671,
    kCVReturnDisplayLinkNotRunning = -6672,
    kCVReturnDisplayLinkCallbacksNotSet = -6673,
};
typedef uint64_t CVOptionFlags;
typedef uint32_t CGDirectDisplayID;
#define kCGDirectMainDisplay ((CGDirectDisplayID)1)
CF_EXPORT CGDirectDisplayID CGMainDisplayID(void);
typedef struct CVSMPTETime {
    int16_t subframes, subframeDivisor;
    uint32_t counter, type, flags;
    int16_t hours, minutes, seconds, frames;
} CVSMPTETime;
typedef struct CVTimeStamp {
    uint32_t version;
    int32_t videoTimeScale;     // units of videoTime a second
    int64_t videoTime;          // of the picture
    uint64_t hostTime;          // in nanoseconds, as mach_absolute_time
    double rateScalar;          // 1
    int64_t videoRefreshPeriod; // of a picture, in units of videoTime
    CVSMPTETime smpteTime;      // 0
    uint64_t flags, reserved;
} CVTimeStamp;
enum {
    kCVTimeStampVideoTimeValid = 1 << 0,
    kCVTimeStampHostTimeValid = 1 << 1,
    kCVTimeStampVideoRefreshPeriodValid = 1 << 3,
    kCVTimeStampRateScalarValid = 1 << 4,
};
enum { kCVTimeIsIndefinite = 1 };
typedef struct CVTime {
    int64_t timeValue;
    int32_t timeScale, flags;
} CVTime;
typedef struct __CVDisplayLink *CVDisplayLinkRef;
typedef CVReturn (*CVDisplayLinkOutputCallback)(CVDisplayLinkRef link, const CVTimeStamp *now,
                                                const CVTimeStamp *outputTime, CVOptionFlags in,
                                                CVOptionFlags *out, void *context);
CF_EXPORT CVReturn CVDisplayLinkCreateWithActiveCGDisplays(CVDisplayLinkRef *link);
CF_EXPORT CVReturn CVDisplayLinkCreateWithCGDisplay(CGDirectDisplayID display,
                                                    CVDisplayLinkRef *link);
CF_EXPORT CVReturn CVDisplayLinkSetCurrentCGDisplay(CVDisplayLinkRef link,
                                                    CGDirectDisplayID display);
CF_EXPORT CGDirectDisplayID CVDisplayLinkGetCurrentCGDisplay(CVDisplayLinkRef link);
CF_EXPORT CVReturn CVDisplayLinkSetOutputCallback(CVDisplayLinkRef link,
                                                  CVDisplayLinkOutputCallback callback,
                                                  void *context);
#ifdef __BLOCKS__
typedef CVReturn (^CVDisplayLinkOutputHandler)(CVDisplayLinkRef link, const CVTimeStamp *now,
                                               const CVTimeStamp *outputTime, CVOptionFlags in,
                                               CVOptionFlags *out);
CF_EXPORT CVReturn CVDisplayLinkSetOutputHandler(CVDisplayLinkRef link,
                                                 CVDisplayLinkOutputHandler handler);
#endif
CF_EXPORT CVReturn CVDisplayLinkStart(CVDisplayLinkRef link);
CF_EXPORT CVReturn CVDisplayLinkStop(CVDisplayLinkRef link); // no call is under way afterwards
CF_EXPORT Boolean CVDisplayLinkIsRunning(CVDisplayLinkRef link);
CF_EXPORT CVTime CVDisplayLinkGetNominalOutputVideoRefreshPeriod(CVDisplayLinkRef link);
CF_EXPORT double CVDisplayLinkGetActualOutputVideoRefreshPeriod(CVDisplayLinkRef link);
CF_EXPORT CVDisplayLinkRef CVDisplayLinkRetain(CVDisplayLinkRef link);
CF_EXPORT void CVDisplayLinkRelease(CVDisplayLinkRef link);
CF_EXPORT uint64_t CVGetCurrentHostTime(void);
CF_EXPORT double CVGetHostClockFrequency(void);
#endif
