// SPDX-License-Identifier: Apache-2.0
// checked.c: see checked.h. The table of live objects is copied once per execution, on first use.
#include "runtime/command/checked.h"
#include "runtime/memory/spans.h"
#include "runtime/program/render_pipeline.h"

static bool copy_live(RtExecution *x) {
    if (!x->live) x->live = rt_live_copy(x->buffer->device);
    return x->live != NULL;
}

bool rt_validate_dispatch(RtExecution *x, DevDispatch *d, RtValidated *what) {
    if (!copy_live(x)) return false;
    what->encoder = x->encoder;
    d->lengths = what->lengths;
    d->live = x->live;
    d->context = what;
    return true;
}

bool rt_find_spans(RtExecution *x) {
    if (copy_live(x)) return true;
    x->error = x->error ? x->error : rt_error_no_memory();
    return false;
}

bool rt_validate_stage(RtExecution *x, DevArguments *a) {
    if (!copy_live(x)) return false;
    a->live = x->live;
    return true;
}

uint64_t rt_bytes_behind(RtExecution *x, const void *address) {
    uint64_t at = (uint64_t)address;
    size_t low = 0, high = copy_live(x) ? x->live->n_spans : 0;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const AbiSpan *s = &x->live->spans[middle];
        if (at >= s->start && at < s->end) return s->end - at;
        if (at < s->start)
            high = middle;
        else
            low = middle + 1;
    }
    return 0;
}
