// SPDX-License-Identifier: Apache-2.0
// CoreFoundation/CFAvailability.h: how enumerations are declared.
#ifndef INGOT_MAC_CFAVAILABILITY_H
#define INGOT_MAC_CFAVAILABILITY_H
#include <TargetConditionals.h>
#include <Availability.h>
#define CF_ENUM_GET(a, b, name, ...) name
#if defined(__cplusplus) // an enumeration's name is a type: the typedef names another
#define CF_ENUM_NAMED(type, name)                                                                  \
    type name##_values;                                                                            \
    enum name : type
#define CF_OPTIONS(type, name)                                                                     \
    type name;                                                                                     \
    enum : type
#elif defined(__OBJC__)
#define CF_ENUM_NAMED(type, name)                                                                  \
    enum name : type name;                                                                         \
    enum __attribute__((enum_extensibility(open))) name : type
#define CF_OPTIONS(type, name)                                                                     \
    enum name : type name;                                                                         \
    enum __attribute__((flag_enum, enum_extensibility(open))) name : type
#else
#define CF_ENUM_NAMED(type, name)                                                                  \
    type name;                                                                                     \
    enum
#define CF_OPTIONS(type, name)                                                                     \
    type name;                                                                                     \
    enum
#endif
#define CF_ENUM_PLAIN(type) enum : type
#define CF_ENUM(...) CF_ENUM_GET(__VA_ARGS__, CF_ENUM_NAMED, CF_ENUM_PLAIN)(__VA_ARGS__)
#define CF_CLOSED_ENUM(type, name) CF_ENUM(type, name)
#define CF_AVAILABLE(...)
#define CF_SWIFT_NAME(...)
#define CF_RETURNS_RETAINED
#define CF_ASSUME_NONNULL_BEGIN
#define CF_ASSUME_NONNULL_END
#endif
