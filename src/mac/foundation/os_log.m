// SPDX-License-Identifier: Apache-2.0
// os_log.m: the system's log, on standard error, by way of NSLog.
#include "mac/foundation/foundation_int.h"
#import <os/log.h>

__attribute__((visibility("default")))
@interface OS_os_log : NSObject {
  @public
    NSString *subsystem, *category;
}
@end
@implementation OS_os_log
- (void)dealloc {
    [subsystem release], [category release];
    [super dealloc];
}
@end

// A null pointer is OS_LOG_DISABLED; the default log is any other, and never looked into.
static const char the_default;
const void *const ingot_os_log_default = &the_default;

os_log_t os_log_create(const char *subsystem, const char *category) {
    OS_os_log *log = [OS_os_log new];
    log->subsystem = [[NSString alloc] initWithUTF8String:subsystem ? subsystem : ""];
    log->category = [[NSString alloc] initWithUTF8String:category ? category : ""];
    return log;
}

static bool enabled(const void *log, os_log_type_t type) {
    if (!log) return false;
    if (type != OS_LOG_TYPE_INFO && type != OS_LOG_TYPE_DEBUG) return true;
    const char *mode = getenv("OS_ACTIVITY_MODE");
    return mode && (!strcmp(mode, "debug") || (!strcmp(mode, "info") && type == OS_LOG_TYPE_INFO));
}
bool os_log_type_enabled(os_log_t log, os_log_type_t type) { return enabled(log, type); }

void ingot_os_log(const void *log, os_log_type_t type, const char *format, ...) {
    if (!enabled(log, type)) return;
    NSMutableString *plain = [[NSMutableString alloc] initWithUTF8String:format];
    for (NSUInteger i = 0; i + 1 < plain.length; i++) { // "%{public}s" is "%s"
        if ([plain characterAtIndex:i] != '%') continue;
        if ([plain characterAtIndex:++i] != '{') continue;
        NSRange end = [plain rangeOfString:@"}" options:0 range:NSMakeRange(i, plain.length - i)];
        if (end.location != NSNotFound)
            [plain deleteCharactersInRange:NSMakeRange(i, end.location + 1 - i)];
    }
    if (log != ingot_os_log_default) {
        const OS_os_log *named = log;
        NSString *from = [NSString stringWithFormat:@"[%@:%@] ", named->subsystem, named->category];
        [plain insertString:[from stringByReplacingOccurrencesOfString:@"%" withString:@"%%"]
                    atIndex:0];
    }
    va_list list;
    va_start(list, format);
    NSLogv(plain, list);
    va_end(list);
    [plain release];
}
