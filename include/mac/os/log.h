// SPDX-License-Identifier: Apache-2.0
// os/log.h: messages of the system's log, which go to standard error. Formats are those of NSLog,
// with marks of privacy ("%{public}s"), which hide nothing. Information and debugging are left out
// unless OS_ACTIVITY_MODE=info or debug.
#ifndef INGOT_MAC_OS_LOG_H
#define INGOT_MAC_OS_LOG_H
#include <objc/objc-api.h>
#include <stdbool.h>
#include <stdint.h>
#ifdef __OBJC__
@class OS_os_log;
typedef OS_os_log *os_log_t;
#else
typedef struct os_log_s *os_log_t;
#endif
typedef uint8_t os_log_type_t;
enum {
    OS_LOG_TYPE_DEFAULT = 0x00,
    OS_LOG_TYPE_INFO = 0x01,
    OS_LOG_TYPE_DEBUG = 0x02,
    OS_LOG_TYPE_ERROR = 0x10,
    OS_LOG_TYPE_FAULT = 0x11,
};
#ifdef __cplusplus
extern "C" {
#endif
#ifdef __OBJC__
__attribute__((ns_returns_retained))
#endif
OBJC_EXPORT os_log_t os_log_create(const char *subsystem, const char *category);
OBJC_EXPORT bool os_log_type_enabled(os_log_t log, os_log_type_t type);
OBJC_EXPORT void ingot_os_log(const void *log, os_log_type_t type, const char *format, ...);
OBJC_EXPORT const void *const ingot_os_log_default;
#ifdef __cplusplus
}
#endif
#ifdef __OBJC__
#define __INGOT_LOG(log) ((__bridge const void *)(log))
#define OS_LOG_DEFAULT ((__bridge os_log_t)ingot_os_log_default)
#else
#define __INGOT_LOG(log) ((const void *)(log))
#define OS_LOG_DEFAULT ((os_log_t)ingot_os_log_default)
#endif
#define OS_LOG_DISABLED ((os_log_t)0)
#define os_log_with_type(log, type, ...) ingot_os_log(__INGOT_LOG(log), type, __VA_ARGS__)
#define os_log(log, ...) os_log_with_type(log, OS_LOG_TYPE_DEFAULT, __VA_ARGS__)
#define os_log_info(log, ...) os_log_with_type(log, OS_LOG_TYPE_INFO, __VA_ARGS__)
#define os_log_debug(log, ...) os_log_with_type(log, OS_LOG_TYPE_DEBUG, __VA_ARGS__)
#define os_log_error(log, ...) os_log_with_type(log, OS_LOG_TYPE_ERROR, __VA_ARGS__)
#define os_log_fault(log, ...) os_log_with_type(log, OS_LOG_TYPE_FAULT, __VA_ARGS__)
#endif
