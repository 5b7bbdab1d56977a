// SPDX-License-Identifier: Apache-2.0
// function.c: a function of a library for a command, its constants set from the command line.
#include "base/numbers.h"
#include "base/text.h"
#include "apps/tools/tools.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MTLFunction *plain_function(MTLLibrary *library, const FunctionQuery *q,
                                   const char *command) {
    MTLFunction *plain = mtl_library_new_function(library, q->name);
    if (plain) return plain;
    Text names = {0};
    for (size_t i = 0; i < mtl_library_function_name_count(library); i++)
        text_printf(&names, "%s%s", i ? ", " : "", mtl_library_function_name(library, i));
    char *list = text_take(&names);
    complain(EXIT_INPUT, command, "'%s' has no %s '%s'; it has: %s", q->path, q->what, q->name,
             list && *list ? list : "none");
    free(list);
    return NULL;
}

// The constant a key (a name or an index, `length` bytes long) means.
static const MTLFunctionConstant *find_constant(const MTLFunction *f, const char *key,
                                                size_t length) {
    for (size_t k = 0; k < mtl_function_function_constant_count(f); k++) {
        const MTLFunctionConstant *c = mtl_function_function_constant(f, k);
        const char *name = mtl_function_constant_name(c);
        char index[24];
        snprintf(index, sizeof index, "%zu", mtl_function_constant_index(c));
        if ((strlen(name) == length && !memcmp(key, name, length)) ||
            (strlen(index) == length && !memcmp(key, index, length)))
            return c;
    }
    return NULL;
}

static bool set_constant(const MTLFunction *f, const FunctionQuery *q, const char *text,
                         MTLFunctionConstantValues *values, const char *command) {
    size_t length = strcspn(text, "=");
    const MTLFunctionConstant *c = find_constant(f, text, length);
    if (!c) {
        complain(EXIT_INPUT, command, "'%s' has no function constant '%.*s'", q->name, (int)length,
                 text);
        return false;
    }
    unsigned char value[32];
    MTLDataType type = mtl_function_constant_type(c);
    if (!constant_parse((uint32_t)type, text + length + 1, value)) {
        complain(EXIT_INPUT, command, "'%s' is not a value of the function constant '%s'",
                 text + length + 1, mtl_function_constant_name(c));
        return false;
    }
    mtl_function_constant_values_set_constant_value(values, value, type,
                                                    mtl_function_constant_index(c));
    return true;
}

MTLFunction *get_function(MTLLibrary *library, const FunctionQuery *q, const char *command) {
    MTLFunction *plain = plain_function(library, q, command);
    if (!plain || !q->constants->n) return plain;
    MTLFunctionConstantValues *values = mtl_function_constant_values_new();
    MTLFunction *special = NULL;
    MTLError *error = NULL;
    bool ok = true;
    for (size_t i = 0; ok && i < q->constants->n; i++) {
        const char *text = q->constants->items[i];
        // Of two functions that are drawn with, each takes the constants it has.
        if (q->optional && !find_constant(plain, text, strcspn(text, "="))) continue;
        ok = set_constant(plain, q, text, values, command);
    }
    if (ok)
        special = mtl_library_new_function_with_constant_values(library, q->name, values, &error);
    if (ok && !special)
        complain(EXIT_INPUT, command, "'%s': %s", q->name, mtl_error_localized_description(error));
    mtl_release(error);
    mtl_release(values);
    mtl_release(plain);
    return special;
}
