// SPDX-License-Identifier: Apache-2.0
// NSProcessInfo.m: the process, its bundle, its settings.
#include "mac/foundation/foundation_int.h"
#include <dlfcn.h>

NSString *const NSProcessInfoThermalStateDidChangeNotification =
    @"NSProcessInfoThermalStateDidChangeNotification";
NSString *const NSProcessInfoPowerStateDidChangeNotification =
    @"NSProcessInfoPowerStateDidChangeNotification";
NSString *const NSBundleDidLoadNotification = @"NSBundleDidLoadNotification";
extern char **environ;

// The version of macOS whose Metal this is.
static const NSOperatingSystemVersion system_version = {26, 0, 0};

@implementation NSProcessInfo {
    NSString *_processName;
    BOOL _automaticTermination;
}
@synthesize processName = _processName, automaticTerminationSupportEnabled = _automaticTermination;
ONE_OBJECT(NSProcessInfo, processInfo)
- (instancetype)init {
    if ((self = [super init])) _processName = [self.arguments.firstObject.lastPathComponent copy];
    return self;
}
- (NSArray<NSString *> *)arguments {
    NSData *text = [NSData dataWithContentsOfFile:@"/proc/self/cmdline"];
    NSMutableArray *list = [NSMutableArray array];
    const char *at = text.bytes, *end = at + text.length;
    for (; at < end; at += strlen(at) + 1)
        [list addObject:[NSString stringWithUTF8String:at] ?: @""];
    return list;
}
- (NSDictionary<NSString *, NSString *> *)environment {
    NSMutableDictionary *all = [NSMutableDictionary dictionary];
    for (char **e = environ; e && *e; e++) {
        const char *equals = strchr(*e, '=');
        NSString *name =
            equals ? AUTORELEASED([[NSString alloc] initWithBytes:*e
                                                           length:(NSUInteger)(equals - *e)
                                                         encoding:NSUTF8StringEncoding])
                   : nil;
        NSString *value =
            equals ? AUTORELEASED([[NSString alloc] initWithUTF8String:equals + 1]) : nil;
        if (name && value) all[name] = value;
    }
    return all;
}
- (NSString *)hostName {
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    return [NSString stringWithUTF8String:name];
}
- (int)processIdentifier {
    return getpid();
}
- (NSString *)globallyUniqueString {
    static _Atomic unsigned long n;
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return [NSString stringWithFormat:@"%016lX-%08X-%09ld-%08lX", (unsigned long)t.tv_sec, getpid(),
                                      t.tv_nsec, n++];
}
- (NSString *)operatingSystemVersionString {
    return [NSString stringWithFormat:@"Version %ld.%ld (Ingot)", system_version.majorVersion,
                                      system_version.minorVersion];
}
- (NSOperatingSystemVersion)operatingSystemVersion {
    return system_version;
}
- (NSUInteger)operatingSystem {
    return 5;
}
- (BOOL)isOperatingSystemAtLeastVersion:(NSOperatingSystemVersion)v {
    if (v.majorVersion != system_version.majorVersion)
        return v.majorVersion < system_version.majorVersion;
    if (v.minorVersion != system_version.minorVersion)
        return v.minorVersion < system_version.minorVersion;
    return v.patchVersion <= system_version.patchVersion;
}
- (NSUInteger)processorCount {
    return (NSUInteger)sysconf(_SC_NPROCESSORS_CONF);
}
- (NSUInteger)activeProcessorCount {
    return (NSUInteger)sysconf(_SC_NPROCESSORS_ONLN);
}
- (unsigned long long)physicalMemory {
    return (unsigned long long)sysconf(_SC_PHYS_PAGES) * (unsigned long long)sysconf(_SC_PAGESIZE);
}
- (NSTimeInterval)systemUptime {
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
- (NSProcessInfoThermalState)thermalState {
    return NSProcessInfoThermalStateNominal;
}
- (BOOL)isLowPowerModeEnabled {
    return NO;
}
- (BOOL)isiOSAppOnMac {
    return NO;
}
- (BOOL)isMacCatalystApp {
    return NO;
}
- (id<NSObject>)beginActivityWithOptions:(NSActivityOptions)options reason:(NSString *)reason {
    (void)options;
    return AUTORELEASED([reason copy]);
}
- (void)endActivity:(id<NSObject>)activity {
    (void)activity;
}
- (void)performActivityWithOptions:(NSActivityOptions)options
                            reason:(NSString *)reason
                        usingBlock:(void (^)(void))block {
    (void)options, (void)reason;
    block();
}
- (void)performExpiringActivityWithReason:(NSString *)reason
                               usingBlock:(void (^)(BOOL expired))block {
    (void)reason;
    block(NO);
}
- (NSString *)userName {
    return NSUserName();
}
- (NSString *)fullUserName {
    return NSUserName();
}
- (BOOL)hasPerformanceProfile:(NSInteger)profile {
    (void)profile;
    return NO;
}
- (BOOL)isDeviceCertifiedFor:(NSInteger)tier {
    (void)tier;
    return NO;
}
- (void)disableAutomaticTermination:(NSString *)reason {
    (void)reason;
}
- (void)enableAutomaticTermination:(NSString *)reason {
    (void)reason;
}
- (void)disableSuddenTermination {
}
- (void)enableSuddenTermination {
}
@end

// ---- The bundle: a folder; the main one is the program's own, resources lie beside it ----

@implementation NSBundle {
    NSString *_path, *_executable;
}
static NSString *program_path(void) {
    return [NSFileManager.defaultManager destinationOfSymbolicLinkAtPath:@"/proc/self/exe"
                                                                   error:NULL];
}
+ (NSBundle *)mainBundle {
    static NSBundle *one;
    static dispatch_once_t once;
    dispatch_once(&once, ^{
      NSString *program = program_path();
      one = [[NSBundle alloc] initWithPath:program.stringByDeletingLastPathComponent];
      one->_executable = [program copy];
    });
    return one;
}
+ (NSArray<NSBundle *> *)allBundles {
    return @[ self.mainBundle ];
}
+ (NSArray<NSBundle *> *)allFrameworks {
    return @[];
}
+ (NSBundle *)bundleForClass:(Class)cls { // the folder of the file that holds the class
    const char *file = class_getImageName(cls);
    NSString *path =
        file ? [NSString stringWithUTF8String:file].stringByResolvingSymlinksInPath : nil;
    if (!path || [path isEqualToString:program_path()]) return self.mainBundle;
    NSBundle *bundle = [self bundleWithPath:path.stringByDeletingLastPathComponent];
    if (bundle) [bundle->_executable release], bundle->_executable = [path copy];
    return bundle ?: self.mainBundle;
}
+ (instancetype)bundleWithPath:(NSString *)path {
    return AUTORELEASED([[self alloc] initWithPath:path]);
}
+ (instancetype)bundleWithURL:(NSURL *)url {
    return [self bundleWithPath:url.path];
}
+ (NSBundle *)bundleWithIdentifier:(NSString *)identifier {
    (void)identifier;
    return nil;
}
- (instancetype)initWithPath:(NSString *)path {
    BOOL folder;
    if ([NSFileManager.defaultManager fileExistsAtPath:path isDirectory:&folder] && folder &&
        (self = [super init])) {
        _path = [path copy];
        return self;
    }
    [self release];
    return nil;
}
- (instancetype)initWithURL:(NSURL *)url {
    return [self initWithPath:url.path];
}
- (void)dealloc {
    [_path release], [_executable release];
    [super dealloc];
}
- (NSString *)bundlePath {
    return _path;
}
- (NSString *)resourcePath { // as in a Mac's bundle, if it looks like one
    NSString *inside = [_path stringByAppendingPathComponent:@"Contents/Resources"];
    return [NSFileManager.defaultManager fileExistsAtPath:inside] ? inside : _path;
}
- (NSString *)executablePath {
    return _executable;
}
- (NSString *)bundleIdentifier {
    return nil;
}
static NSString *folder_path(NSBundle *self, NSString *name) { // nil: it has no such folder
    NSString *path = [self->_path stringByAppendingPathComponent:name];
    return [NSFileManager.defaultManager fileExistsAtPath:path] ? path : nil;
}
static NSURL *folder_url(NSString *path) {
    return path ? [NSURL fileURLWithPath:path isDirectory:YES] : nil;
}
- (NSString *)builtInPlugInsPath {
    return folder_path(self, @"Contents/PlugIns");
}
- (NSString *)privateFrameworksPath {
    return folder_path(self, @"Contents/Frameworks");
}
- (NSString *)sharedFrameworksPath {
    return folder_path(self, @"Contents/SharedFrameworks");
}
- (NSString *)sharedSupportPath {
    return folder_path(self, @"Contents/SharedSupport");
}
- (NSURL *)builtInPlugInsURL {
    return folder_url(self.builtInPlugInsPath);
}
- (NSURL *)privateFrameworksURL {
    return folder_url(self.privateFrameworksPath);
}
- (NSURL *)sharedFrameworksURL {
    return folder_url(self.sharedFrameworksPath);
}
- (NSURL *)sharedSupportURL {
    return folder_url(self.sharedSupportPath);
}
- (NSURL *)appStoreReceiptURL {
    return nil;
}
- (NSDictionary<NSString *, id> *)localizedInfoDictionary {
    return self.infoDictionary;
}
- (NSURL *)bundleURL {
    return [NSURL fileURLWithPath:_path isDirectory:YES];
}
- (NSURL *)resourceURL {
    return [NSURL fileURLWithPath:self.resourcePath isDirectory:YES];
}
- (NSURL *)executableURL {
    return _executable ? [NSURL fileURLWithPath:_executable] : nil;
}
- (NSDictionary<NSString *, id> *)infoDictionary {
    return _executable ? @{
        @"CFBundleName" : _executable.lastPathComponent,
        @"CFBundleExecutable" : _executable.lastPathComponent
    }
                       : @{};
}
- (id)objectForInfoDictionaryKey:(NSString *)key {
    return self.infoDictionary[key];
}
- (BOOL)load {
    return YES;
}
- (BOOL)loadAndReturnError:(NSError **)error {
    if (error) *error = nil;
    return YES;
}
- (BOOL)preflightAndReturnError:(NSError **)error {
    return [self loadAndReturnError:error];
}
- (BOOL)unload {
    return NO;
}
- (BOOL)isLoaded {
    return YES;
}
- (NSString *)pathForResource:(NSString *)name ofType:(NSString *)type {
    return [self pathForResource:name ofType:type inDirectory:nil];
}
- (NSString *)pathForResource:(NSString *)name
                       ofType:(NSString *)type
                  inDirectory:(NSString *)folder {
    if (!name) return nil;
    NSString *file = type.length ? [name stringByAppendingPathExtension:type] : name;
    for (NSString *base in
         @[ self.resourcePath, _path, [_path stringByAppendingPathComponent:@"Resources"] ]) {
        NSString *path = [folder.length ? [base stringByAppendingPathComponent:folder] : base
            stringByAppendingPathComponent:file];
        if ([NSFileManager.defaultManager fileExistsAtPath:path]) return path;
    }
    return nil;
}
- (NSString *)pathForAuxiliaryExecutable:(NSString *)name {
    return [self pathForResource:name ofType:nil];
}
static NSURL *file_url(NSString *path) { return path ? [NSURL fileURLWithPath:path] : nil; }
- (NSURL *)URLForResource:(NSString *)name withExtension:(NSString *)type {
    return file_url([self pathForResource:name ofType:type]);
}
- (NSURL *)URLForResource:(NSString *)name
            withExtension:(NSString *)type
             subdirectory:(NSString *)folder {
    return file_url([self pathForResource:name ofType:type inDirectory:folder]);
}
- (NSURL *)URLForAuxiliaryExecutable:(NSString *)name {
    return file_url([self pathForAuxiliaryExecutable:name]);
}
- (NSString *)localizedStringForKey:(NSString *)key
                              value:(NSString *)value
                              table:(NSString *)table {
    (void)table;
    return value.length ? value : key ?: @"";
}
- (Class)classNamed:(NSString *)name {
    return NSClassFromString(name);
}
- (NSString *)description {
    return [NSString stringWithFormat:@"NSBundle <%@> (loaded)", _path];
}
@end

// ---- Settings ----

@implementation NSUserDefaults {
    NSMutableDictionary *_set, *_registered;
    NSLock *_lock;
}
ONE_OBJECT(NSUserDefaults, standardUserDefaults)
- (instancetype)init {
    if ((self = [super init]))
        _set = [NSMutableDictionary new], _registered = [NSMutableDictionary new],
        _lock = [NSLock new];
    return self;
}
- (void)dealloc {
    [_set release], [_registered release], [_lock release];
    [super dealloc];
}
- (id)objectForKey:(NSString *)key {
    const char *environment = key ? getenv(key.UTF8String) : NULL;
    [_lock lock];
    id value =
        key ? [[_set[key]
                      ?: (environment
                              ? AUTORELEASED([[NSString alloc] initWithUTF8String:environment])
                              : _registered[key]) retain] autorelease]
            : nil;
    [_lock unlock];
    return value;
}
- (NSString *)stringForKey:(NSString *)key {
    id value = [self objectForKey:key];
    return [value isKindOfClass:[NSNumber class]]   ? [value stringValue]
           : [value isKindOfClass:[NSString class]] ? value
                                                    : nil;
}
- (NSInteger)integerForKey:(NSString *)key {
    return [[self objectForKey:key] integerValue];
}
- (float)floatForKey:(NSString *)key {
    return [[self objectForKey:key] floatValue];
}
- (double)doubleForKey:(NSString *)key {
    return [[self objectForKey:key] doubleValue];
}
- (BOOL)boolForKey:(NSString *)key {
    return [[self objectForKey:key] boolValue];
}
- (void)setObject:(id)value forKey:(NSString *)key {
    nil_check(self, _cmd, key);
    [_lock lock];
    _set[key] = value;
    [_lock unlock];
}
- (void)setInteger:(NSInteger)value forKey:(NSString *)key {
    [self setObject:@(value) forKey:key];
}
- (void)setFloat:(float)value forKey:(NSString *)key {
    [self setObject:@(value) forKey:key];
}
- (void)setDouble:(double)value forKey:(NSString *)key {
    [self setObject:@(value) forKey:key];
}
- (void)setBool:(BOOL)value forKey:(NSString *)key {
    [self setObject:[NSNumber numberWithBool:value] forKey:key];
}
- (void)removeObjectForKey:(NSString *)key {
    [self setObject:nil forKey:key];
}
- (void)registerDefaults:(NSDictionary *)defaults {
    [_lock lock];
    [_registered addEntriesFromDictionary:defaults];
    [_lock unlock];
}
- (BOOL)synchronize {
    return YES;
}
@end
