// SPDX-License-Identifier: Apache-2.0
// objc/objc-api.h: how the runtime's functions are declared.
#ifndef INGOT_MAC_OBJC_API_H
#define INGOT_MAC_OBJC_API_H
#define OBJC_API_VERSION 2
#ifdef __cplusplus
#define OBJC_EXTERN extern "C"
#else
#define OBJC_EXTERN extern
#endif
#define OBJC_EXPORT OBJC_EXTERN __attribute__((visibility("default")))
#define OBJC_ROOT_CLASS __attribute__((objc_root_class))
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#ifndef NS_ENFORCE_NSOBJECT_DESIGNATED_INITIALIZER
#define NS_ENFORCE_NSOBJECT_DESIGNATED_INITIALIZER 0
#endif
#endif
