// SPDX-License-Identifier: Apache-2.0
// NSDateFormatter.m: dates as text, by the letters of Unicode's patterns, in English and local
// time.
#include "mac/foundation/foundation_int.h"

@implementation NSDateFormatter
- (void)dealloc {
    [_dateFormat release];
    [super dealloc];
}
// n letters c, as text. What strftime writes is in English: nobody has set a locale.
static NSString *field(unichar c, int n, const struct tm *t, double seconds) {
    char text[64] = "";
    const char *name = NULL;
    int number = -1;
    switch (c) {
    case 'y': number = n == 2 ? t->tm_year % 100 : t->tm_year + 1900; break;
    case 'M':
        if (n >= 3)
            name = n == 3 ? "%b" : "%B";
        else
            number = t->tm_mon + 1;
        break;
    case 'd': number = t->tm_mday; break;
    case 'E': name = n >= 4 ? "%A" : "%a"; break;
    case 'H': number = t->tm_hour; break;
    case 'h': number = t->tm_hour % 12 ? t->tm_hour % 12 : 12; break;
    case 'm': number = t->tm_min; break;
    case 's': number = t->tm_sec; break;
    case 'a': name = "%p"; break;
    case 'Z':
    case 'z': name = c == 'Z' ? "%z" : "%Z"; break;
    case 'S': {
        double part = seconds - floor(seconds);
        for (int i = 0; i < n; i++) part *= 10;
        number = (int)part;
        break;
    }
    default: return [NSString stringWithFormat:@"%C", c]; // of no pattern here
    }
    if (name)
        strftime(text, sizeof text, name, t);
    else
        snprintf(text, sizeof text, "%0*d", n < 10 ? n : 10, number);
    return [NSString stringWithUTF8String:text];
}
- (NSString *)stringFromDate:(NSDate *)date {
    if (!date) return nil;
    const double seconds = date.timeIntervalSince1970;
    const time_t whole = (time_t)floor(seconds);
    struct tm t;
    localtime_r(&whole, &t);
    NSMutableString *text = [NSMutableString string];
    bool quoted = false;
    for (NSUInteger i = 0; i < _dateFormat.length;) {
        const unichar c = [_dateFormat characterAtIndex:i];
        NSUInteger end = i + 1;
        while (end < _dateFormat.length && [_dateFormat characterAtIndex:end] == c) end++;
        const int n = (int)(end - i);
        if (c == '\'') {
            for (int k = 0; k < n / 2; k++) [text appendString:@"'"]; // '' is one of them
            if (n % 2) quoted = !quoted;
        } else if (quoted || !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) {
            [text appendString:[_dateFormat substringWithRange:NSMakeRange(i, end - i)]];
        } else {
            [text appendString:field(c, n, &t, seconds)];
        }
        i = end;
    }
    return text;
}
@end
