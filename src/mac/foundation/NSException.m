// SPDX-License-Identifier: Apache-2.0
// NSException.m: exceptions, errors, and what the other files raise.
#include "mac/foundation/foundation_int.h"
#import <objc/objc-exception.h>
#include <execinfo.h>

NSExceptionName const NSGenericException = @"NSGenericException";
NSExceptionName const NSRangeException = @"NSRangeException";
NSExceptionName const NSInvalidArgumentException = @"NSInvalidArgumentException";
NSExceptionName const NSInternalInconsistencyException = @"NSInternalInconsistencyException";
NSExceptionName const NSMallocException = @"NSMallocException";
NSExceptionName const NSObjectInaccessibleException = @"NSObjectInaccessibleException";
NSExceptionName const NSUndefinedKeyException = @"NSUnknownKeyException";
NSErrorDomain const NSCocoaErrorDomain = @"NSCocoaErrorDomain";
NSErrorDomain const NSPOSIXErrorDomain = @"NSPOSIXErrorDomain";
NSErrorDomain const NSOSStatusErrorDomain = @"NSOSStatusErrorDomain";
NSErrorUserInfoKey const NSLocalizedDescriptionKey = @"NSLocalizedDescription";
NSErrorUserInfoKey const NSLocalizedFailureReasonErrorKey = @"NSLocalizedFailureReason";
NSErrorUserInfoKey const NSLocalizedRecoverySuggestionErrorKey = @"NSLocalizedRecoverySuggestion";
NSErrorUserInfoKey const NSUnderlyingErrorKey = @"NSUnderlyingError";
NSErrorUserInfoKey const NSFilePathErrorKey = @"NSFilePath";
NSErrorUserInfoKey const NSURLErrorKey = @"NSURL";

// ---- Blocks that fail ----

static void guard(dispatch_function_t call, void *context, const char *where) {
    @try {
        call(context);
    } @catch (NSException *e) {
        NSLog(@"*** uncaught exception '%@', reason: '%@' in a block (%s), which ends here", e.name,
              e.reason, where ? where : "");
    } @catch (...) {
        NSLog(@"*** uncaught exception in a block (%s), which ends here", where ? where : "");
    }
}

__attribute__((constructor)) static void set_guard(void) { dispatch_ingot_set_guard(guard); }

@implementation NSException {
    NSString *_name, *_reason;
    NSDictionary *_userInfo;
    void *_stack[64];
    int _n_stack;
}
@synthesize name = _name, reason = _reason, userInfo = _userInfo;
+ (NSException *)exceptionWithName:(NSExceptionName)name
                            reason:(NSString *)reason
                          userInfo:(NSDictionary *)info {
    return AUTORELEASED([[self alloc] initWithName:name reason:reason userInfo:info]);
}
- (instancetype)initWithName:(NSExceptionName)name
                      reason:(NSString *)reason
                    userInfo:(NSDictionary *)info {
    if ((self = [super init]))
        _name = [name copy], _reason = [reason copy], _userInfo = [info copy];
    return self;
}
CODES_NOTHING
- (void)dealloc {
    [_name release], [_reason release], [_userInfo release];
    [super dealloc];
}
COPIES_ITSELF
+ (void)raise:(NSExceptionName)name format:(NSString *)format, ... {
    va_list list;
    va_start(list, format);
    NSString *reason = AUTORELEASED([[NSString alloc] initWithFormat:format arguments:list]);
    va_end(list);
    [[self exceptionWithName:name reason:reason userInfo:nil] raise];
    abort();
}
+ (void)raise:(NSExceptionName)name format:(NSString *)format arguments:(va_list)arguments {
    NSString *reason = AUTORELEASED([[NSString alloc] initWithFormat:format arguments:arguments]);
    [[self exceptionWithName:name reason:reason userInfo:nil] raise];
    abort();
}
- (void)raise {
    if (!_n_stack) _n_stack = backtrace(_stack, 64);
    @throw self;
}
- (NSArray<NSNumber *> *)callStackReturnAddresses {
    NSMutableArray *list = [NSMutableArray array];
    for (int i = 0; i < _n_stack; i++)
        [list addObject:[NSNumber numberWithUnsignedLong:(unsigned long)_stack[i]]];
    return list;
}
- (NSArray<NSString *> *)callStackSymbols {
    NSMutableArray *list = [NSMutableArray array];
    char **names = backtrace_symbols(_stack, _n_stack);
    for (int i = 0; names && i < _n_stack; i++)
        [list addObject:[NSString stringWithUTF8String:names[i]]];
    free(names);
    return list;
}
- (NSString *)description {
    return _reason ? _reason : _name;
}
@end

static NSUncaughtExceptionHandler *handler;
NSUncaughtExceptionHandler *NSGetUncaughtExceptionHandler(void) { return handler; }
void NSSetUncaughtExceptionHandler(NSUncaughtExceptionHandler *h) { handler = h; }
static void uncaught(id exception) {
    bool ours = [exception isKindOfClass:[NSException class]];
    if (handler && ours) handler(exception);
    fprintf(stderr, "*** Terminating app due to uncaught exception '%s', reason: '%s'\n",
            ours ? [exception name].UTF8String : object_getClassName(exception),
            ours ? [exception reason].UTF8String : [exception description].UTF8String);
}
static void changed_while_enumerated(id collection) {
    [NSException raise:NSGenericException
                format:@"*** Collection <%s: %p> was mutated while being enumerated.",
                       object_getClassName(collection), (void *)collection];
}
__attribute__((constructor(103))) static void start(void) {
    objc_setUncaughtExceptionHandler(uncaught);
    objc_setEnumerationMutationHandler(changed_while_enumerated);
}

void NSAssertionFailed(const char *function, const char *file, int line, NSString *format, ...) {
    va_list list;
    va_start(list, format);
    NSString *text = AUTORELEASED([[NSString alloc] initWithFormat:format arguments:list]);
    va_end(list);
    NSLog(@"*** Assertion failure in %s, %s:%d", function, file, line);
    [NSException raise:NSInternalInconsistencyException format:@"%@", text];
    abort();
}

static const char *class_text(id self) {
    return object_isClass(self) ? class_getName((Class)self) : object_getClassName(self);
}
void range_check(id self, SEL name, NSUInteger index, NSUInteger bound) {
    if (index < bound) return;
    if (bound)
        [NSException raise:NSRangeException
                    format:@"*** -[%s %s]: index %lu beyond bounds [0 .. %lu]", class_text(self),
                           sel_getName(name), index, bound - 1];
    [NSException raise:NSRangeException
                format:@"*** -[%s %s]: index %lu beyond bounds for empty %s", class_text(self),
                       sel_getName(name), index, class_text(self)];
}
void range_check_range(id self, SEL name, NSRange r, NSUInteger bound) {
    if (r.location <= bound && r.length <= bound - r.location) return;
    [NSException raise:NSRangeException
                format:@"*** -[%s %s]: Range {%lu, %lu} out of bounds; length %lu",
                       class_text(self), sel_getName(name), r.location, r.length, bound];
}
void nil_check(id self, SEL name, id object) {
    if (!object)
        [NSException raise:NSInvalidArgumentException
                    format:@"*** -[%s %s]: nil argument", class_text(self), sel_getName(name)];
}

// ---- Errors ----

@implementation NSError {
    NSString *_domain;
    NSInteger _code;
    NSDictionary *_userInfo;
}
@synthesize domain = _domain, code = _code;
+ (instancetype)errorWithDomain:(NSErrorDomain)domain
                           code:(NSInteger)code
                       userInfo:(NSDictionary *)info {
    return AUTORELEASED([[self alloc] initWithDomain:domain code:code userInfo:info]);
}
- (instancetype)initWithDomain:(NSErrorDomain)domain
                          code:(NSInteger)code
                      userInfo:(NSDictionary *)info {
    nil_check(self, _cmd, domain);
    if ((self = [super init]))
        _domain = [domain copy], _code = code, _userInfo = info ? [info copy] : [NSDictionary new];
    return self;
}
CODES_NOTHING
- (void)dealloc {
    [_domain release], [_userInfo release];
    [super dealloc];
}
COPIES_ITSELF
- (NSDictionary *)userInfo {
    return _userInfo;
}
- (NSString *)localizedDescription {
    NSString *text = self.userInfo[NSLocalizedDescriptionKey];
    if (text) return text;
    NSString *reason = self.localizedFailureReason;
    if (reason)
        return [NSString stringWithFormat:@"The operation couldn\u2019t be completed. %@", reason];
    return [NSString stringWithFormat:@"The operation couldn\u2019t be completed. (%@ error %ld.)",
                                      self.domain, self.code];
}
- (NSString *)localizedFailureReason {
    NSString *text = self.userInfo[NSLocalizedFailureReasonErrorKey];
    if (!text && [self.domain isEqualToString:NSPOSIXErrorDomain])
        text = [NSString stringWithUTF8String:strerror((int)self.code)];
    return text;
}
- (NSString *)localizedRecoverySuggestion {
    return self.userInfo[NSLocalizedRecoverySuggestionErrorKey];
}
- (NSArray *)localizedRecoveryOptions {
    return nil;
}
- (BOOL)isEqual:(id)other {
    return self == other || ([other isKindOfClass:[NSError class]] && self.code == [other code] &&
                             [self.domain isEqual:[other domain]] &&
                             [self.userInfo isEqual:[(NSError *)other userInfo]]);
}
- (NSUInteger)hash {
    return self.domain.hash ^ (NSUInteger)self.code;
}
- (NSString *)description {
    return [NSString stringWithFormat:@"Error Domain=%@ Code=%ld \"%@\"%@%@", self.domain,
                                      self.code, self.localizedDescription,
                                      self.userInfo.count ? @" UserInfo=" : @"",
                                      self.userInfo.count ? self.userInfo.description : @""];
}
@end

NSError *posix_error(int number, NSString *path, bool writing) {
    NSInteger code = number == ENOENT
                         ? (writing ? NSFileNoSuchFileError : NSFileReadNoSuchFileError)
                     : number == EACCES || number == EPERM
                         ? (writing ? NSFileWriteNoPermissionError : NSFileReadNoPermissionError)
                     : number == EEXIST ? NSFileWriteFileExistsError
                     : writing          ? NSFileWriteUnknownError
                                        : NSFileReadUnknownError;
    NSError *cause = [NSError errorWithDomain:NSPOSIXErrorDomain code:number userInfo:nil];
    NSString *text = [NSString stringWithFormat:@"The file \u201c%@\u201d couldn\u2019t be %s: %s.",
                                                path.lastPathComponent,
                                                writing ? "written" : "opened", strerror(number)];
    return [NSError errorWithDomain:NSCocoaErrorDomain
                               code:code
                           userInfo:@{
                               NSLocalizedDescriptionKey : text,
                               NSUnderlyingErrorKey : cause,
                               NSFilePathErrorKey : path ? path : @""
                           }];
}
