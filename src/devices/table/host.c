// SPDX-License-Identifier: Apache-2.0
// host.c: what a table leaves out, as it is done for memory of the host. One thread of memcpy fills
// the memory bus: two were not faster for 16 MB or 256 MB (measured 2026-11).
#include <stdatomic.h>
#include <string.h>
#include "abi/sparse.h"
#include "devices/table/device.h"

const DevPages *dev_pages;

bool dev_copy(const DevTable *table, DevRun *run, void *to, const void *from, size_t n_bytes) {
    if (table->copy) return table->copy(run, to, from, n_bytes);
    memmove(to, from, n_bytes); // they may overlap: the program's to know
    return true;
}

bool dev_fill(const DevTable *table, DevRun *run, void *to, uint8_t value, size_t n_bytes) {
    if (table->fill) return table->fill(run, to, value, n_bytes);
    memset(to, value, n_bytes);
    return true;
}

static void move_elements(const DevMove *m, const char *from, char *to) {
    for (size_t i = 0; i < m->n_elements; i++) {
        memcpy(to + i * m->to.step, from + i * m->from.step, m->element);
        memset(to + i * m->to.step + m->element, 0, m->fill);
    }
}

// The bits of x and y take turns, y's first; what the longer side has more is above them.
static size_t twiddled_place(size_t x, size_t y, size_t n_columns, size_t n_rows) {
    size_t n = n_columns < n_rows ? n_columns : n_rows, place = 0, shift = 0;
    for (; (size_t)1 << shift < n; shift++)
        place |= (y >> shift & 1) << 2 * shift | (x >> shift & 1) << (2 * shift + 1);
    return place | (n_columns < n_rows ? y : x) >> shift << 2 * shift;
}

// One plane, one of whose sides is twiddled; both numbers of blocks are powers of two.
static void move_twiddled(const DevMove *m, const char *from, char *to) {
    size_t n_bytes = m->row / m->n_elements;
    for (size_t y = 0; y < m->n_rows; y++)
        for (size_t x = 0; x < m->n_elements; x++) {
            size_t place = twiddled_place(x, y, m->n_elements, m->n_rows) * n_bytes;
            size_t a = m->from.twiddled ? place : y * m->from.row + x * n_bytes;
            size_t b = m->to.twiddled ? place : y * m->to.row + x * n_bytes;
            memcpy(to + b, from + a, n_bytes);
        }
}

void dev_host_move(const DevMove *m) {
    if (m->from.twiddled || m->to.twiddled) {
        for (size_t z = 0; z < m->n_planes; z++)
            move_twiddled(m, m->from.at + z * m->from.plane, m->to.at + z * m->to.plane);
        return;
    }
    for (size_t z = 0; z < m->n_planes; z++)
        for (size_t y = 0; y < m->n_rows; y++) {
            const char *from = m->from.at + z * m->from.plane + y * m->from.row;
            char *to = m->to.at + z * m->to.plane + y * m->to.row;
            if (m->element)
                move_elements(m, from, to);
            else
                memcpy(to, from, m->row);
        }
}

bool dev_move(const DevTable *table, DevRun *run, const DevMove *move) {
    const DevSide *to = &move->to;
    if (table->move && !table->move(run, move)) return false;
    if (!table->move) dev_host_move(move);
    if (to->texture && to->texture->sparse)
        abi_sparse_scrub(to->texture, to->level, to->slice + to->z, (uint32_t)move->n_planes);
    return true;
}

bool dev_finish(const DevTable *table, DevRun *run) { return !table->finish || table->finish(run); }

static bool is_address(DevHandle *handle, const void *record, size_t n_bytes) {
    static atomic_uint number;
    *handle = (DevHandle){.value = abi_handle_of(record, atomic_fetch_add(&number, 1)),
                          .n_bytes = (uint32_t)n_bytes};
    return true;
}

bool dev_texture_make(const DevTable *table, void *context, const AbiTexture *record,
                      DevHandle *handle) {
    return table->texture_make ? table->texture_make(context, record, handle)
                               : is_address(handle, record, sizeof *record);
}

bool dev_sampler_make(const DevTable *table, void *context, const AbiSampler *record,
                      DevHandle *handle) {
    return table->sampler_make ? table->sampler_make(context, record, handle)
                               : is_address(handle, record, sizeof *record);
}

bool dev_tensor_make(const DevTable *table, void *context, const AbiTensor *record,
                     DevHandle *handle) {
    return table->tensor_make ? table->tensor_make(context, record, handle)
                              : is_address(handle, record, sizeof *record);
}

void dev_handle_free(const DevTable *table, void *context, DevHandle *handle) {
    if (table->handle_free && handle->value) table->handle_free(context, handle);
    *handle = (DevHandle){0};
}
