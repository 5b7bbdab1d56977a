// SPDX-License-Identifier: Apache-2.0
// answers.c: what the child writes for the host, as schemas: the host fetches a record once, and
// then holds it against its rows (iso_take). KEPT: what is the host's own, or a place that whoever
// uses it looks up first.
#include "devices/isolate/isolate_int.h"
#include "devices/table/schema_rows.h"

enum { MAX_THREADGROUP_BYTES = 1 << 24 }; // of any device there is

SCHEMA(DevFacts, .plain = true, CHARS(name), CHARS(architecture), CHARS(target), WORD(features),
       U64(memory_bytes), U64(max_buffer_bytes), WORD(max_threads), WORD(max_threadgroup_bytes),
       WORD(n_workers), FLAG(unified_memory), FLAG(is_host), FLAG(is_apart), KEPT(families));
SCHEMA(IsoCopy, .plain = true, KEPT(to), KEPT(from), KEPT(n_bytes), FLAG(ok));
SCHEMA(IsoFill, .plain = true, KEPT(to), KEPT(n_bytes), KEPT(value), FLAG(ok));
SCHEMA(IsoMove, .plain = true, KEPT(move), FLAG(ok));
SCHEMA(IsoLoad, .plain = true, KEPT(bytes), KEPT(n_bytes), KEPT(function), FLAG(has_cache),
       U64(code), WORD(n_slots), U32(threadgroup_bytes, MAX_THREADGROUP_BYTES), U64(stack_bytes),
       CHARS(why));
SCHEMA(IsoMemory, .plain = true, U32(what, ISO_MODIFIED), KEPT(memory), U32(storage, DEV_ARGUMENTS),
       KEPT(from), KEPT(n_bytes), FLAG(ok));
SCHEMA(IsoHandle, .plain = true, U32(what, ISO_HANDLE_FREE), KEPT(record), KEPT(handle), FLAG(ok));
SCHEMA(IsoViews, .plain = true, U32(what, ISO_VIEW_SET), U64(id), U64(n), KEPT(record), FLAG(ok));

static SCHEMA(AbiReport, .plain = true, U32(access, ABI_N_BAD - 1), U32(space, ABI_SPACE_HANDLE),
              WORD(slot), WORD(n_bytes), U64(offset), U64(length), WORDS(thread, 3), WORD(line),
              WORD(column), U64(count), U32(other.access, ABI_N_BAD - 1), WORD(other.n_bytes),
              WORDS(other.thread, 3), WORD(other.line), WORD(other.column), CHARS(name));
SCHEMA(IsoNote, .plain = true, U32(is_report, 1), WORD(command), U64(context),
       RECORD(report, AbiReport), WORD(type), U32(n_args, ISO_NOTE_ARGS),
       U64S(args, 2 * ISO_NOTE_ARGS), CHARS(text));
