// SPDX-License-Identifier: Apache-2.0
// codec.c: events as bytes (codec_int.h). Commands are records of the device table, which
// devices/table/records.c describes; here are the others.
#include "devices/capture/codec_int.h"
#include <string.h>
#include "devices/table/records.h"
#include "devices/table/schema_rows.h"

typedef struct CapHash CapHash;
typedef unsigned char Block[SHA256_BYTES];
typedef uint64_t CapNumber; // of memory, or a handle

static bool check_contents(const void *record) {
    const CapContents *c = record;
    return c->offset % CAP_BLOCK == 0 && c->n_bytes;
}

static bool check_library(const void *record) {
    const CapLibrary *l = record;
    return (l->n_bytes + CAP_BLOCK - 1) / CAP_BLOCK == l->n_blocks;
}

// ---- What there is ----

static SCHEMA(Block, .plain = true,
              {.kind = SCHEMA_RAW, .n = SHA256_BYTES, .n_bytes = SHA256_BYTES});
static SCHEMA(CapNumber, .plain = true,
              {.kind = SCHEMA_U64, .n = 1, .n_bytes = 8, .most = UINT64_MAX});
static SCHEMA(CapInfo, .check = NULL, TEXT(version), TEXT(program), TEXT(device),
              TEXT(architecture), TEXT(target), U64(zeros));
static SCHEMA(CapMemory, .plain = true, U64(id), U64(address), U64(n_bytes),
              U8(storage, DEV_ARGUMENTS));
static SCHEMA(CapContents, .check = check_contents, U64(memory), U64(offset),
              U32(n_bytes, CAP_BLOCK), FLAG(zeros), RAW(hash));
static SCHEMA(CapLibrary, .check = check_library, RAW(hash), TEXT(name), U64(n_bytes),
              WORD(n_blocks), LIST(blocks, Block, n_blocks));
static SCHEMA(CapSource, .check = NULL, RAW(hash), TEXT(name), TEXT(text));
static SCHEMA(CapCode, .check = NULL, U64(id), TEXT(name), RAW(library), U8(stage, 255),
              U64(request_bytes), BYTES(request, request_bytes));
static SCHEMA(CapTexture, .check = NULL, U64(id), U64(handle), FLAG(sparse),
              RECORD(record, AbiTexture));
static SCHEMA(CapSampler, .plain = true, U64(handle), RECORD(record, AbiSampler));
#define DIMENSION(i) U64(record.extents[i]), U64(record.strides[i])
static SCHEMA(CapTensor, .check = NULL, U64(handle), ADDRESS(record.data), U32(record.type, 255),
              U32(record.rank, ABI_TENSOR_MAX_RANK), DIMENSION(0), DIMENSION(1), DIMENSION(2),
              DIMENSION(3), DIMENSION(4), DIMENSION(5), DIMENSION(6), DIMENSION(7), DIMENSION(8),
              DIMENSION(9), DIMENSION(10), DIMENSION(11), DIMENSION(12), DIMENSION(13),
              DIMENSION(14), DIMENSION(15));
_Static_assert(ABI_TENSOR_MAX_RANK == 16, "a DIMENSION for each");
static SCHEMA(CapResource, .check = NULL, U64(id), U8(kind, CAP_ACCELERATION_STRUCTURE),
              TEXT(label), U64(address), U64(n_bytes), U64(handle));

// ---- What the program said, and what came of it ----

static SCHEMA(CapBegin, .check = NULL, U64(serial), TEXT(label), U64(queue), TEXT(queue_label),
              FLAG(resumed));
static SCHEMA(CapUse, .plain = true, U64(memory), FLAG(writes));
static SCHEMA(CapEncoder, .check = NULL, TEXT(label), TEXT(class_name), FLAG(concurrent));
static SCHEMA(CapOperation, .check = NULL, TEXT(name), TEXT(title), TEXT(json));
static SCHEMA(CapHash, .plain = true, WORD(block), U64(hash));
static SCHEMA(CapResult, .check = NULL, U64(memory), WORD(n), LIST(blocks, CapHash, n));
static SCHEMA(CapEnd, .plain = true, U32(fault, DEV_FAULT_SIZE), U64(ns));
static SCHEMA(CapStatus, .check = NULL, U64(serial), U32(status, 16), TEXT(error));

// ---- Commands ----

static SCHEMA(CapRender, .check = NULL, RECORD(dev, DevPass), WORD(n_draws));
static SCHEMA(CapCopy, .check = NULL, U64(to), U64(from), U64(n_bytes),
              MAYBE_BYTES(bytes, n_bytes));
static SCHEMA(CapFill, .plain = true, U64(to), U64(n_bytes), U8(value, 255));
static SCHEMA(CapBuild, .check = NULL, U64(to), U64(from), RECORD(dev, DevRayBuild));
static SCHEMA_AS(schema_CapBuildCopy, CapBuild, .check = NULL, U64(to), U64(from), KEPT(dev));

// ---- Events ----

static const Schema *schema_nothing(void) {
    static const Schema nothing = {.name = "nothing", .plain = true};
    return &nothing;
}

static const struct {
    SchemaOf *of;
    const char *name; // of a command
} kinds[] = {[CAP_INFO] = {.of = schema_CapInfo},
             [CAP_MEMORY] = {.of = schema_CapMemory},
             [CAP_FREE] = {.of = schema_CapNumber},
             [CAP_CONTENTS] = {.of = schema_CapContents},
             [CAP_LIBRARY] = {.of = schema_CapLibrary},
             [CAP_SOURCE] = {.of = schema_CapSource},
             [CAP_CODE] = {.of = schema_CapCode},
             [CAP_TEXTURE] = {.of = schema_CapTexture},
             [CAP_SAMPLER] = {.of = schema_CapSampler},
             [CAP_TENSOR] = {.of = schema_CapTensor},
             [CAP_GONE] = {.of = schema_CapNumber},
             [CAP_RESOURCE] = {.of = schema_CapResource},
             [CAP_BEGIN] = {.of = schema_CapBegin},
             [CAP_USE] = {.of = schema_CapUse},
             [CAP_ENCODER] = {.of = schema_CapEncoder},
             [CAP_ENCODER_END] = {.of = schema_nothing},
             [CAP_PUSH] = {.of = schema_CapOperation},
             [CAP_POP] = {.of = schema_nothing},
             [CAP_SIGNPOST] = {.of = schema_CapOperation},
             [CAP_OPERATION] = {.of = schema_CapOperation},
             [CAP_UNKNOWN] = {.of = schema_CapOperation},
             [CAP_RESULT] = {.of = schema_CapResult},
             [CAP_END] = {.of = schema_CapEnd},
             [CAP_STATUS] = {.of = schema_CapStatus},
             [CAP_RAYS] = {.of = schema_CapNumber},
             [CAP_DISPATCH] = {schema_DevDispatch, "dispatch"},
             [CAP_RENDER] = {schema_CapRender, "render pass"},
             [CAP_DRAW] = {schema_DevDraw, "draw"},
             [CAP_COPY] = {schema_CapCopy, "copy"},
             [CAP_FILL] = {schema_CapFill, "fill"},
             [CAP_MOVE] = {schema_DevMove, "copy texels"},
             [CAP_HOST] = {schema_CapOperation, "host"},
             [CAP_RAYS_BUILD] = {schema_CapBuild, "build acceleration structure"},
             [CAP_RAYS_REFIT] = {schema_CapBuild, "refit acceleration structure"},
             [CAP_RAYS_COPY] = {schema_CapBuildCopy, "copy acceleration structure"}};
static const size_t n_kinds = sizeof kinds / sizeof *kinds;

SchemaOf *cap_schema(CapKind kind) { return kind < n_kinds ? kinds[kind].of : NULL; }

const char *cap_kind_name(CapKind kind) {
    return kind < n_kinds && kinds[kind].name ? kinds[kind].name : "event";
}

void cap_put_event(WireOut *out, const CapEvent *event) {
    wire_u8(out, (uint8_t)event->kind);
    size_t at = out->n_bytes;
    wire_u32(out, 0);
    schema_put(cap_schema(event->kind), &event->info, out); // all of the union begin there
    if (out->failed) return;
    size_t n = out->n_bytes - at - 4;
    for (int i = 0; i < 4; i++) out->data[at + (size_t)i] = (unsigned char)(n >> 8 * i);
}

bool cap_get_event(WireIn *in, uint32_t version, BaseArena *arena, CapEvent *event) {
    memset(event, 0, sizeof *event);
    event->kind = (CapKind)wire_get_u8(in);
    size_t n = wire_get_u32(in);
    SchemaOf *of = cap_schema(event->kind);
    if (in->failed || n > (size_t)(in->end - in->at) || !of) return false;
    WireIn part = {in->at, in->at + n, false};
    in->at += n;
    schema_get(of, &event->info, &part, version, arena);
    return !part.failed && part.at == part.end;
}
