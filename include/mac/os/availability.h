// SPDX-License-Identifier: Apache-2.0
// os/availability.h: marks of availability; everything that is declared is there.
#ifndef INGOT_MAC_OS_AVAILABILITY_H
#define INGOT_MAC_OS_AVAILABILITY_H
#define API_AVAILABLE(...)
#define API_AVAILABLE_BEGIN(...)
#define API_AVAILABLE_END
#define API_UNAVAILABLE(...)
#define API_UNAVAILABLE_BEGIN(...)
#define API_UNAVAILABLE_END
#define API_DEPRECATED(...)
#define API_DEPRECATED_BEGIN(...)
#define API_DEPRECATED_END
#define API_DEPRECATED_WITH_REPLACEMENT(...)
#define API_TO_BE_DEPRECATED 100000
#endif
