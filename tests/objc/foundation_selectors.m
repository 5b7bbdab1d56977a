// SPDX-License-Identifier: Apache-2.0
// Every message that the Foundation part of metal-cpp sends finds a method, and its class is there by name.
#import <Foundation/Foundation.h>
#include "check.h"

static const char *const messages[] = {
    "NSArray "
    "+array +arrayWithObject: +arrayWithObjects:count: -count -initWithObjects:count: "
    "-objectAtIndex: -objectEnumerator",
    "NSAutoreleasePool "
    "+showPools -addObject: -drain",
    "NSBundle "
    "+allBundles +allFrameworks +alloc +bundleWithPath: +bundleWithURL: +mainBundle "
    "-URLForAuxiliaryExecutable: -appStoreReceiptURL -builtInPlugInsPath -builtInPlugInsURL "
    "-bundleIdentifier -bundlePath -bundleURL -executablePath -executableURL -infoDictionary "
    "-initWithPath: -initWithURL: -isLoaded -load -loadAndReturnError: "
    "-localizedInfoDictionary -localizedStringForKey:value:table: "
    "-objectForInfoDictionaryKey: -pathForAuxiliaryExecutable: -preflightAndReturnError: "
    "-privateFrameworksPath -privateFrameworksURL -resourcePath -resourceURL "
    "-sharedFrameworksPath -sharedFrameworksURL -sharedSupportPath -sharedSupportURL -unload",
    "NSCondition "
    "-broadcast -lock -signal -unlock -wait -waitUntilDate:",
    "NSData "
    "-length",
    "NSDate "
    "+dateWithTimeIntervalSinceNow:",
    "NSDictionary "
    "+dictionary +dictionaryWithObject:forKey: +dictionaryWithObjects:forKeys:count: -count "
    "-initWithObjects:forKeys:count: -keyEnumerator -objectForKey:",
    "NSEnumerator "
    "-allObjects -countByEnumeratingWithState:objects:count: -nextObject",
    "NSError "
    "+errorWithDomain:code:userInfo: -code -domain -initWithDomain:code:userInfo: "
    "-localizedDescription -localizedFailureReason -localizedRecoveryOptions "
    "-localizedRecoverySuggestion -userInfo",
    "NSLock "
    "-lock -unlock",
    "NSMutableData "
    "-mutableBytes",
    "NSNotification "
    "-name -object -userInfo",
    "NSNotificationCenter "
    "+defaultCenter -addObserverForName:object:queue:usingBlock: -removeObserver:",
    "NSNumber "
    "+numberWithBool: +numberWithChar: +numberWithDouble: +numberWithFloat: +numberWithInt: "
    "+numberWithLong: +numberWithLongLong: +numberWithShort: +numberWithUnsignedChar: "
    "+numberWithUnsignedInt: +numberWithUnsignedLong: +numberWithUnsignedLongLong: "
    "+numberWithUnsignedShort: -boolValue -charValue -compare: -descriptionWithLocale: "
    "-doubleValue -floatValue -initWithBool: -initWithChar: -initWithDouble: -initWithFloat: "
    "-initWithInt: -initWithLong: -initWithLongLong: -initWithShort: -initWithUnsignedChar: "
    "-initWithUnsignedInt: -initWithUnsignedLong: -initWithUnsignedLongLong: "
    "-initWithUnsignedShort: -intValue -integerValue -isEqualToNumber: -longLongValue "
    "-longValue -shortValue -stringValue -unsignedCharValue -unsignedIntValue "
    "-unsignedIntegerValue -unsignedLongLongValue -unsignedLongValue -unsignedShortValue",
    "NSObject "
    "+alloc -autorelease -copy -debugDescription -description -hash -init -isEqual: "
    "-methodSignatureForSelector: -release -respondsToSelector: -retain -retainCount",
    "NSProcessInfo "
    "+processInfo -activeProcessorCount -arguments -automaticTerminationSupportEnabled "
    "-beginActivityWithOptions:reason: -disableAutomaticTermination: "
    "-disableSuddenTermination -enableAutomaticTermination: -enableSuddenTermination "
    "-endActivity: -environment -fullUserName -globallyUniqueString -hasPerformanceProfile: "
    "-hostName -isDeviceCertifiedFor: -isLowPowerModeEnabled -isMacCatalystApp "
    "-isOperatingSystemAtLeastVersion: -isiOSAppOnMac -operatingSystem "
    "-operatingSystemVersion -operatingSystemVersionString "
    "-performActivityWithOptions:reason:usingBlock: "
    "-performExpiringActivityWithReason:usingBlock: -physicalMemory -processIdentifier "
    "-processName -processorCount -setAutomaticTerminationSupportEnabled: -setProcessName: "
    "-systemUptime -thermalState -userName",
    "NSSet "
    "-count -initWithObjects:count: -objectEnumerator",
    "NSString "
    "+string +stringWithCString:encoding: +stringWithString: -UTF8String "
    "-cStringUsingEncoding: -caseInsensitiveCompare: -characterAtIndex: "
    "-fileSystemRepresentation -initWithBytesNoCopy:length:encoding:freeWhenDone: "
    "-initWithCString:encoding: -initWithString: -isEqualToString: -length "
    "-lengthOfBytesUsingEncoding: -maximumLengthOfBytesUsingEncoding: -rangeOfString:options: "
    "-stringByAppendingString:",
    "NSURL "
    "+fileURLWithPath: -fileSystemRepresentation -initFileURLWithPath: -initWithString:",
    "NSValue "
    "+valueWithBytes:objCType: +valueWithPointer: -getValue:size: -initWithBytes:objCType: "
    "-isEqualToValue: -objCType -pointerValue",
};

int main(void) {
    @autoreleasepool {
        for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
            NSArray<NSString *> *words = [@(messages[i]) componentsSeparatedByString:@" "];
            Class cls = NSClassFromString(words[0]);
            CHECK(cls != Nil);
            for (NSUInteger k = 1; k < words.count; k++) {
                SEL selector = NSSelectorFromString([words[k] substringFromIndex:1]);
                Class asked = [words[k] hasPrefix:@"+"] ? object_getClass(cls) : cls;
                if (class_respondsToSelector(asked, selector)) continue;
                fprintf(stderr, "%s: no %s\n", words[0].UTF8String, words[k].UTF8String);
                check_failures++;
            }
        }
    }
    return check_result();
}
