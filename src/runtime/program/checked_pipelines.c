// SPDX-License-Identifier: Apache-2.0
// checked_pipelines.c: which pipelines are checked (MTL_SHADER_VALIDATION).
#include <stdlib.h>
#include <string.h>
#include "runtime/object/device.h"
#include "runtime/program/stage.h"

// Is the label in a list like "blur,sharpen"?
static bool lists(const char *variable, const char *label) {
    const char *at = getenv(variable);
    size_t n = label ? strlen(label) : 0;
    while (at && *at && n) {
        size_t length = strcspn(at, ",");
        if (length == n && memcmp(at, label, n) == 0) return true;
        at += length + (at[length] == ',');
    }
    return false;
}

bool rt_wants_validation(const MTLDevice *device, const char *label, MTLShaderValidation wish) {
    if (!rt_device_has(device, DEV_VALIDATION)) return false;
    if (device->debug == MSL_DEBUG_FULL) return false; // checks follow values, debuggers see memory
    if (lists("MTL_SHADER_VALIDATION_ENABLE_PIPELINES", label)) return true;
    if (lists("MTL_SHADER_VALIDATION_DISABLE_PIPELINES", label)) return false;
    if (wish == MTLShaderValidationDefault) return device->shader_validation;
    return wish == MTLShaderValidationEnabled;
}

// Code for a debugger runs thread by thread, and what a profile is about is the code as it is:
// nothing is watched then. Pixels and vertices run in no order that anybody promises, and barriers
// have none: what is left for them is what a thread does by itself.
uint8_t rt_watch(const MTLDevice *device, bool validate, bool draws) {
    if (device->debug) return device->counted ? MSL_WATCH_COUNTS : 0;
    uint8_t watch = validate ? device->watch : 0;
    if (draws)
        return (uint8_t)((watch & MSL_WATCH_NAN) | (watch & MSL_WATCH_RACES ? MSL_WATCH_NOTES : 0));
    return (uint8_t)(watch | (device->schedule ? MSL_WATCH_ORDER : 0));
}
