// SPDX-License-Identifier: Apache-2.0
// checked.c: see checked.h. Live buffers are copied once in an execution, when somebody asks first.
#include "runtime/command/checked.h"
#include "runtime/memory/spans.h"
#include "runtime/program/render_pipeline.h"

static bool copy_spans(RtExecution *x) {
    if (!x->spans) x->spans = rt_spans_copy(x->buffer->device, &x->n_spans);
    return x->spans != NULL;
}

bool rt_validate_dispatch(RtExecution *x, DevDispatch *d, RtValidated *what) {
    if (!copy_spans(x)) return false;
    what->encoder = x->encoder;
    d->lengths = what->lengths;
    d->spans = x->spans;
    d->n_spans = x->n_spans;
    d->context = what;
    return true;
}

bool rt_find_spans(RtExecution *x) {
    if (copy_spans(x)) return true;
    x->error = x->error ? x->error : rt_error_no_memory();
    return false;
}

bool rt_validate_stage(RtExecution *x, DevArguments *a) {
    if (!copy_spans(x)) return false;
    a->spans = x->spans;
    a->n_spans = x->n_spans;
    return true;
}

uint64_t rt_bytes_behind(RtExecution *x, const void *address) {
    uint64_t at = (uint64_t)address;
    size_t low = 0, high = copy_spans(x) ? x->n_spans : 0;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const AbiSpan *s = &x->spans[middle];
        if (at >= s->start && at < s->end) return s->end - at;
        if (at < s->start)
            high = middle;
        else
            low = middle + 1;
    }
    return 0;
}
