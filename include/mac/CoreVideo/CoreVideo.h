// SPDX-License-Identifier: Apache-2.0
// CoreVideo/CoreVideo.h: the display's clock.
#ifndef INGOT_MAC_COREVIDEO_COREVIDEO_H
#define INGOT_MAC_COREVIDEO_COREVIDEO_H
#include <CoreVideo/CVDisplayLink.h>
#endif
