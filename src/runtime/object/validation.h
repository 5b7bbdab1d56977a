// SPDX-License-Identifier: Apache-2.0
// validation.h: reporting misuse of the API. A report never changes control flow: the caller
// returns.
#ifndef INGOT_RUNTIME_VALIDATION_H
#define INGOT_RUNTIME_VALIDATION_H
#include "runtime/object/object.h"

typedef enum RtRule {
#define RULE(id, text) RT_RULE_##id,
#include "runtime/object/validation.def"
#undef RULE
    RT_N_RULES
} RtRule;

// Whether the rule is a LAYER of validation.def and the debug layer is off: reports of it are then
// dropped, and the caller does what the hardware would, inside the resource.
bool rt_tolerates(const MTLDevice *device, RtRule rule);

// Tells the device's log callback (NULL device: the default one's, if there is one). `detail` adds
// the values that broke the rule; NULL: nothing to add. True: the rule is tolerated, go on.
bool rt_misuse(MTLDevice *device, RtRule rule, const char *call, const char *detail, ...)
    __attribute__((format(printf, 4, 5)));
// Whether a call has both its object, of this device, and an argument. If not, a message:
// null_object (then the device is NULL, too), or null_argument with the argument's name.
bool rt_given(MTLDevice *device, const void *argument, const char *name, const char *call);
// The same, with an error for the caller: "The path is NULL." *error is NULL first.
bool rt_given_or_error(MTLDevice *device, const void *argument, const char *name, const char *call,
                       const char *domain, long code, MTLError **error);
// A kernel broke the rule shader_validation: `detail` is the sentence.
void rt_misuse_by_kernel(MTLDevice *device, const char *kernel, const char *detail, ...)
    __attribute__((format(printf, 3, 4)));
// What messages say about a command buffer that is being recorded, and do to it: known to those who
// make them.
typedef struct RtRecordingHooks {
    MTLDevice *(*device)(const MTLCommandBuffer *buffer);
    // " in encoder 'blur' of command buffer 'frame 7'", of what has a label.
    void (*describe)(const MTLCommandBuffer *buffer, char *text, size_t n_bytes);
    // It will end in error; the first one counts.
    void (*fail)(MTLCommandBuffer *buffer, const char *rule, const char *text);
} RtRecordingHooks;
extern const RtRecordingHooks rt_recording_hooks; // command/command_buffer.c
// The same as rt_misuse, with the labels of the command buffer and of its open encoder.
void rt_misuse_in(MTLCommandBuffer *buffer, RtRule rule, const char *call, const char *detail, ...)
    __attribute__((format(printf, 4, 5)));
// And the command buffer will end in error, except by rules that the debug layer alone minds while
// that is off. True as rt_misuse.
bool rt_misuse_encoding(MTLCommandBuffer *buffer, RtRule rule, const char *call, const char *detail,
                        ...) __attribute__((format(printf, 4, 5)));
#endif
