// SPDX-License-Identifier: Apache-2.0
// Foundation/NSDateFormatter.h: dates as text, by patterns such as yyyy-MM-dd HH:mm:ss.SSS.
#ifndef INGOT_MAC_FOUNDATION_NSDATEFORMATTER_H
#define INGOT_MAC_FOUNDATION_NSDATEFORMATTER_H
#include <Foundation/NSObject.h>
#ifdef __OBJC__
@class NSDate, NSString;
@interface NSDateFormatter : NSObject
@property(copy) NSString *dateFormat; // letters y M d E H h m s S a Z and 'text'; in local time
- (NSString *)stringFromDate:(NSDate *)date;
@end
#endif
#endif
