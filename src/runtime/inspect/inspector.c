// SPDX-License-Identifier: Apache-2.0
// inspector.c: the table through which commands tell inspection what they do.
#include "runtime/inspect/inspect_int.h"

const RtInspector rt_inspector = {
    .push = rt_trace_push,
    .pop = rt_trace_pop,
    .signpost = rt_trace_signpost,
    .commit = rt_trace_commit,
    .begin = rt_trace_begin,
    .end = rt_trace_end,
    .before_op = rt_trace_before_op,
    .after_op = rt_trace_after_op,
    .batch = rt_trace_batch,
    .begin_pass = rt_counters_begin_pass,
    .end_pass = rt_counters_end_pass,
    .report = rt_report_from_kernel,
    .deliver_reports = rt_deliver_reports,
    .free_reports = rt_free_reports,
};
