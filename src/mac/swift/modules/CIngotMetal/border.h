// SPDX-License-Identifier: Apache-2.0
// border.h: what Swift calls of libIngotFace. Swift on Linux has a libdispatch, a BlocksRuntime and
// a Foundation of its own, so nothing of ours but these functions and those of calls.h is seen
// outside of the library, and nothing of Swift's comes in but bytes, closures and its objects'
// addresses.
//
// Pointers are Objective-C objects where nothing else is said. Those that are given back own a
// reference, and so do those that are stored through a pointer.
#ifndef INGOT_SWIFT_BORDER_H
#define INGOT_SWIFT_BORDER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    unsigned long location, length;
} C_NSRange;
typedef struct {
    double width, height;
} C_CGSize;

void *ingot_retain(void *object);
void ingot_release(void *object);
void *ingot_new(const char *cls); // [[cls alloc] init]
void *ingot_copy(void *object);
void *ingot_pool_push(void);
void ingot_pool_pop(void *pool);
const char *ingot_class_name(void *object, int above); // of the class so many steps up; NULL: none

// ---- Swift's objects ----

// One Swift object stands for an object as long as it lives. try_retain is Swift's, which takes a
// reference unless the object is about to go.
void ingot_begin(void *(*try_retain)(void *swift));
void *ingot_known(void *object); // its Swift object, with a reference, or NULL
// From now on, unless another is known, which is given then, with a reference.
void *ingot_know(void *object, void *swift);
void ingot_forget(void *object, void *swift);

// ---- Values ----

// UTF-8 that stays as it is while the string does, and how long that is.
const char *ingot_text(void *string, size_t *n_bytes);
void *ingot_url_path(void *url); // a string
void *ingot_data(const void *bytes, size_t n);
const void *ingot_bytes(void *data, size_t *n);
void *ingot_array(void *const *items, size_t n);
void *ingot_strings(const char *const *items, size_t n); // an array
size_t ingot_count(void *array);
void *ingot_item(void *array, size_t i);
void *ingot_dictionary(void *const *keys, void *const *values, size_t n);
void *ingot_keys(void *dictionary); // an array
void *ingot_value(void *dictionary, void *key);
void *ingot_text_object(const char *utf8); // a string
void *ingot_number(double value, bool whole);
bool ingot_is_number(void *object);
double ingot_number_value(void *number);
void *ingot_error_domain(void *error);
long ingot_error_code(void *error);
void *ingot_error_text(void *error);
// A block whose body is call(box, a, b, c, d); drop(box) when the block goes.
void *ingot_block(void *box, void (*call)(void *, uintptr_t, uintptr_t, uintptr_t, uintptr_t),
                  void (*drop)(void *));

// ---- Functions of Metal's, and members that the table has by hand ----

void *ingot_create_device(void);
void *ingot_copy_devices(void); // an array
void *ingot_capture_object(void *descriptor);
void ingot_set_capture_object(void *descriptor, void *object);
void *ingot_macros(void *compile_options); // a dictionary, or NULL
void ingot_set_macros(void *compile_options, void *dictionary);
void *ingot_groups(void *linked); // a dictionary of arrays, or NULL
void ingot_set_groups(void *linked, void *dictionary);
void *ingot_constants(void *function); // a dictionary
float ingot_rate(void *samples, size_t i);
void ingot_set_rate(void *samples, size_t i, float value);
void *ingot_rate_map(C_CGSize size, void *const *layers, size_t n);
void ingot_notify(void *event, void *listener, uint64_t value, void *block);
long ingot_extent(void *extents, long dimension);
// MetalKit's loader: of a file or of data. The name of an option or origin gives its constant.
void *ingot_load_texture(void *device, const char *path, void *data, void *options, void **error);
void *ingot_texture_option(const char *name);
void *ingot_extents(const long *values, size_t n); // NULL: not possible
#endif
