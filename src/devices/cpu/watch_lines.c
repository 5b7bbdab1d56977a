// SPDX-License-Identifier: Apache-2.0
// watch_lines.c: accesses to threadgroup memory: a fast conservative check per 64-byte line, with a
// log to replay on a possible conflict.
//
// A program without races touches the same bytes twice between two barriers only to read them, or
// by the same thread. So each 64 bytes have a line that says which bytes were written and read in
// this epoch, and accesses go into a log. A line whose bytes meet an earlier access that may be
// another thread's is a suspicion: then the log is played to the shadow (watch_shadow.c), which
// knows threads and places, and so goes all that follows in this epoch. At the next epoch the log
// is empty again and lines are of the past: nothing is ever cleared.
//
// Lines also know which bytes the threadgroup has written at all.
#include <stdlib.h>
#include <string.h>
#include "devices/cpu/watch_int.h"

#define NO_LIST UINT32_MAX
#define ALWAYS inline __attribute__((always_inline)) // into code of this processor
enum { MANY = 255 };                                 // Line.simd
enum { CONFLICT = 1, UNWRITTEN = 2 };

enum { ATOMIC = 0xfffe, SEVERAL = 0xffff }; // Line.who: an atomic function; several threads

bool cpu_lines_reserve(CpuWatcher *w) {
    size_t n = (w->n_memory + LINE_BYTES - 1) >> LINE_BITS;
    if (n > w->max_lines) {
        Line *more = aligned_alloc(_Alignof(Line), n * sizeof *more);
        if (!more) return false;
        memset(more, 0, n * sizeof *more);
        free(w->lines);
        w->lines = more;
        w->max_lines = n;
    }
    if (!w->log) w->log = malloc(MAX_LOGGED * sizeof *w->log);
    if (!w->lists) w->lists = malloc(MAX_LISTS * sizeof *w->lists);
    return w->log && w->lists;
}

void cpu_lines_clear(CpuWatcher *w) {
    if (w->lines) memset(w->lines, 0, w->max_lines * sizeof *w->lines);
    memset(w->seen, 0, sizeof w->seen);
}

void cpu_lines_free(CpuWatcher *w) {
    free(w->lines);
    free(w->log);
    free(w->lists);
}

// ---- Lines ----

typedef struct Access {
    CpuWatcher *w;
    const Toucher *t;
    bool reads, writes, relaxed;
    uint32_t found;     // CONFLICT, UNWRITTEN
    uint64_t unwritten; // offset of the first such byte
} Access;

enum { HALF = LINE_WORDS / 2 };

// A bit for each word of which a byte is touched.
static ALWAYS uint32_t words_of(uint64_t bytes) {
    if (!~bytes) return (1 << LINE_WORDS) - 1;
    uint64_t b = bytes | bytes >> 1;
    b = (b | b >> 2) & 0x1111111111111111;
    b = (b | b >> 3) & 0x0303030303030303;
    b = (b | b >> 6) & 0x000f000f000f000f;
    b = (b | b >> 12) & 0x000000ff000000ff;
    return (uint16_t)(b | b >> 24);
}

// All bits of the words of a half.
static ALWAYS Threads spread(uint32_t words, int half) {
    static const Threads bit = {1, 2, 4, 8, 16, 32, 64, 128};
    return (Threads)((bit & (uint16_t)(words >> half * HALF)) != 0);
}

static ALWAYS bool any_of(Threads t) {
    typedef uint64_t Words __attribute__((vector_size(sizeof(Threads))));
    Words w = (Words)t;
    return (w[0] | w[1]) != 0;
}

// The line as it is in this threadgroup, this epoch, for this SIMD-group.
static ALWAYS void turn(Line *l, const Access *a) {
    const Toucher *t = a->t;
    uint8_t simd = (uint8_t)(t->first / ABI_SIMD_WIDTH), sub = (uint8_t)t->sub;
    if (l->base != a->w->group_base) {
        l->base = a->w->group_base;
        l->ever = 0;
    }
    if (l->epoch != t->epoch) {
        l->epoch = t->epoch;
        l->written = l->read = l->several = l->was_written = l->was_read = 0;
        l->simd = simd;
        l->sub = sub;
    } else if (l->simd == simd) {
        if (l->sub == sub) return;
        l->was_written |= l->written;
        l->was_read |= l->read;
        l->written = l->read = l->several = 0;
        l->sub = sub;
    } else if (l->simd != MANY) {
        uint64_t was = l->was_written | l->was_read;
        for (int h = 0; h < 2; h++) l->who.half[h] |= spread(words_of(was), h); // SEVERAL
        l->written |= l->was_written;
        l->read |= l->was_read;
        l->was_written = l->was_read = 0;
        l->simd = MANY;
    }
}

static ALWAYS void look_for_unwritten(Access *a, const Line *l, uint64_t bytes) {
    if (!(bytes & ~l->ever) || a->found & UNWRITTEN) return;
    a->found |= UNWRITTEN;
    a->unwritten =
        (uint64_t)(l - a->w->lines) * LINE_BYTES + (uint64_t)__builtin_ctzll(bytes & ~l->ever);
}

static ALWAYS void note(Access *a, Line *l, uint64_t bytes) {
    if (a->reads) l->read |= bytes;
    if (!a->writes) return;
    l->written |= bytes;
    l->ever |= bytes;
}

// One more reader of what several threads have read changes nothing.
static ALWAYS bool is_known(const Access *a, const Line *l, uint64_t bytes) {
    return !a->writes && l->epoch == a->t->epoch && !(bytes & ~l->several) &&
           (l->simd == MANY || (l->simd == a->t->first / ABI_SIMD_WIDTH && l->sub == a->t->sub));
}

// These bytes of a line, its words by these threads: it was touched in this epoch, or not.
WIDE_BITS static void mark_again(Access *a, Line *l, uint64_t bytes, const Threads *who) {
    turn(l, a);
    if (a->reads) look_for_unwritten(a, l, bytes);
    uint64_t touched = l->written | l->read, met = l->written | (a->writes ? l->read : 0);
    uint32_t words = words_of(bytes), again = words_of(bytes & touched),
             bad = words_of(bytes & met);
    bool same = false;
    for (int h = 0; h < 2; h++) {
        Threads mine = spread(words, h), both = spread(again, h),
                other = both & (Threads)((l->who.half[h] != who[h]) | (who[h] == SEVERAL));
        same |= any_of(both & ~other);
        if (bad && any_of(other & spread(bad, h))) a->found |= CONFLICT;
        l->who.half[h] = (mine & (who[h] | other)) | (~mine & l->who.half[h]);
    }
    if (!same) l->several |= bytes & l->read;
    note(a, l, bytes);
}

static ALWAYS void mark(Access *a, Line *l, uint64_t bytes, const Threads *who, bool several) {
    if (l->epoch == a->t->epoch) {
        mark_again(a, l, bytes, who);
    } else {
        turn(l, a);
        if (a->reads) look_for_unwritten(a, l, bytes);
        l->who.half[0] = who[0], l->who.half[1] = who[1];
        note(a, l, bytes);
    }
    if (several) l->several |= bytes & l->read;
}

// These bytes of a word.
static inline void mark_word(Access *a, Line *l, uint64_t bytes, uint32_t word, uint32_t thread) {
    turn(l, a);
    if (a->reads) look_for_unwritten(a, l, bytes);
    uint64_t touched = l->written | l->read, met = l->written | (a->writes ? l->read : 0);
    if (!(touched >> 4 * word & 15)) {
        l->who.word[word] = (uint16_t)thread;
    } else if (l->who.word[word] != thread) {
        if (bytes & met) a->found |= CONFLICT;
        l->who.word[word] = SEVERAL;
    }
    note(a, l, bytes);
}

// Bytes `from` to `end` of the memory. The thread of byte b: first + ((b - from) >> shift), or
// this one for all of them if there is no shift.
enum { NO_SHIFT = 0 };
static ALWAYS void mark_run(Access *a, uint64_t from, uint64_t end, uint32_t first,
                            uint32_t shift) {
    typedef int16_t Words __attribute__((vector_size(sizeof(Threads))));
    static const Words word = {0, 1, 2, 3, 4, 5, 6, 7};
    if (end > a->w->n_memory) return;
    for (uint64_t at = from, next; at < end; at = next) {
        uint64_t line = at >> LINE_BITS;
        next = (line + 1) << LINE_BITS;
        uint64_t bytes = ~UINT64_C(0) << (at & (LINE_BYTES - 1));
        if (next > end) bytes &= ~UINT64_C(0) >> (next - end);
        if (is_known(a, &a->w->lines[line], bytes)) continue;
        Words who[2] = {{0}};
        int16_t ahead = (int16_t)(((int64_t)(line << LINE_BITS) - (int64_t)from) / 4);
        for (int h = 0; h < 2; h++) {
            if (shift) who[h] = word + (int16_t)(ahead + h * HALF); // those before do not count
            if (shift > 2) who[h] >>= (int16_t)(shift - 2);
            who[h] += (int16_t)first;
        }
        mark(a, &a->w->lines[line], bytes, (Threads *)who, first == SEVERAL);
    }
}

// `by` bytes behind each.
static void mark_lanes(Access *a, uint32_t mask, const uint64_t *at, uint64_t by) {
    uint64_t memory = (uint64_t)(uintptr_t)a->w->memory;
    uint32_t n = a->t->site->n_bytes;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left), thread = a->relaxed ? ATOMIC : a->t->first + l;
        uint64_t from = at[l] + by - memory, place = from & (LINE_BYTES - 1);
        if (n && (place & 3) + n <= 4 && from < a->w->n_memory)
            mark_word(a, &a->w->lines[from >> LINE_BITS], (((uint64_t)1 << n) - 1) << place,
                      (uint32_t)place / 4, thread);
        else
            mark_run(a, from, from + (n ? n : a->w->n_bytes[l]), thread, NO_SHIFT);
    }
}

static bool covers(const CpuWatcher *w, const CpuSite *s, uint32_t lane, uint64_t at,
                   uint64_t address) {
    for (uint32_t r = 0; r <= s->repeat; r++, at += s->pitch)
        if (address - at < (s->n_bytes ? s->n_bytes : w->n_bytes[lane])) return true;
    return false;
}

static void report_unwritten(const Access *a, uint32_t mask, const uint64_t *at) {
    CpuWatcher *w = a->w;
    const Toucher *t = a->t;
    uint64_t address = (uint64_t)(uintptr_t)w->memory + a->unwritten;
    uint32_t lane = (uint32_t)__builtin_ctz(mask);
    AbiReport *r = cpu_watch_find(w, ABI_UNWRITTEN, t->site, NULL);
    if (!r) return;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        if (!covers(w, t->site, l, at[l], address)) continue;
        lane = l;
        break;
    }
    cpu_watch_address(w, t->site, address, r);
    cpu_watch_thread(w, t->epoch, t->first + lane, r->thread);
}

// ---- The log ----

// An access to the shadow, with all that follow it.
static void touch_all(CpuWatcher *w, const Toucher *t, uint32_t mask, uint64_t *at) {
    for (uint32_t r = 0; r <= t->site->repeat; r++) {
        cpu_touch_lanes(w, t, mask, at);
        for (uint32_t l = 0; l < ABI_SIMD_WIDTH; l++) at[l] += t->site->pitch;
    }
}

static void touch_all_of_line(CpuWatcher *w, const Toucher *t, uint32_t mask, uint64_t base,
                              int64_t stride) {
    for (uint32_t r = 0; r <= t->site->repeat; r++, base += t->site->pitch)
        cpu_touch_line(w, t, mask, base, stride);
}

static void play(CpuWatcher *w) {
    uint64_t memory = (uint64_t)(uintptr_t)w->memory, at[ABI_SIMD_WIDTH];
    for (uint32_t i = 0; i < w->n_logged; i++) {
        const Logged *g = &w->log[i];
        Toucher t = {&w->sites[g->site], MEMORY_GROUP, g->first, w->log_epoch, g->sub};
        if (g->list == NO_LIST) {
            touch_all_of_line(w, &t, g->mask, memory + (uint64_t)(int64_t)g->at, g->stride);
            continue;
        }
        for (uint32_t l = 0; l < ABI_SIMD_WIDTH; l++) at[l] = memory + w->lists[g->list][l];
        touch_all(w, &t, g->mask, at);
    }
    w->n_logged = w->n_lists = 0;
}

// Room for one more, in the epoch of the access. False: it goes to the shadow.
static inline bool keeps_log(CpuWatcher *w, const Toucher *t) {
    if (t->epoch > w->log_epoch) {
        w->log_epoch = t->epoch;
        w->n_logged = w->n_lists = 0;
        w->exact = false;
    }
    if (w->n_logged == MAX_LOGGED || w->n_lists == MAX_LISTS) play(w);
    return !w->exact && t->epoch == w->log_epoch;
}

static void suspect(CpuWatcher *w, const Toucher *t) {
    if (t->epoch != w->log_epoch || w->exact) return;
    play(w);
    w->exact = true;
}

static Access begin(CpuWatcher *w, const Toucher *t) {
    const CpuSite *s = t->site;
    return (Access){.w = w,
                    .t = t,
                    .reads = s->kind != CPU_SITE_WRITE,
                    .writes = s->kind != CPU_SITE_READ,
                    .relaxed = s->flags & CPU_SITE_RELAXED};
}

// ---- Accesses ----

WIDE_BITS void cpu_lines_lanes(CpuWatcher *w, const Toucher *t, uint32_t mask, const uint64_t *at) {
    Access a = begin(w, t);
    uint64_t memory = (uint64_t)(uintptr_t)w->memory;
    const CpuSite *s = t->site;
    bool logged = keeps_log(w, t) && s->n_bytes;
    for (uint32_t r = 0; r <= s->repeat; r++) mark_lanes(&a, mask, at, (uint64_t)r * s->pitch);
    if (a.found & UNWRITTEN) report_unwritten(&a, mask, at);
    if (logged && !(a.found & CONFLICT)) {
        w->log[w->n_logged++] = (Logged){
            .site = s->id, .first = t->first, .mask = mask, .sub = t->sub, .list = w->n_lists};
        uint32_t *list = w->lists[w->n_lists++];
        for (uint32_t l = 0; l < ABI_SIMD_WIDTH; l++) list[l] = (uint32_t)(at[l] - memory);
        return;
    }
    suspect(w, t);
    uint64_t moving[ABI_SIMD_WIDTH];
    memcpy(moving, at, sizeof moving);
    touch_all(w, t, mask, moving);
}

// Lanes side by side, n bytes each.
static void mark_row(Access *a, uint32_t mask, uint64_t at, uint32_t n) {
    for (uint32_t left = mask; left;) { // runs of lanes
        uint32_t l = (uint32_t)__builtin_ctz(left), rest = ~(left >> l),
                 many = rest ? (uint32_t)__builtin_ctz(rest) : ABI_SIMD_WIDTH;
        uint64_t from = at + l * n, end = from + many * n;
        if (a->relaxed)
            mark_run(a, from, end, ATOMIC, NO_SHIFT);
        else
            mark_run(a, from, end, a->t->first + l, (uint32_t)__builtin_ctz(n));
        left &= ~(lanes_from(many) << l);
    }
}

static ALWAYS Seen *seen_at(CpuWatcher *w, const Toucher *t, uint64_t at) {
    return &w->seen[((uint32_t)at / 4 + t->site->id * 37) % N_SEEN];
}

// Whether a read changes nothing; else it is remembered.
static ALWAYS bool was_seen(CpuWatcher *w, const Toucher *t, uint32_t mask, uint64_t at,
                            int64_t stride) {
    uint32_t lane = (uint32_t)__builtin_ctz(mask), run = mask >> lane;
    if (run & (run + 1) || w->exact || t->site->flags & CPU_SITE_RELAXED) return false;
    uint8_t simd = (uint8_t)(t->first / ABI_SIMD_WIDTH);
    uint32_t n = (uint32_t)__builtin_popcount(mask), from = (uint32_t)at + lane * (uint32_t)stride;
    Seen *s = seen_at(w, t, from);
    if (s->epoch == t->epoch && s->site == t->site->id && s->at == (int32_t)from && s->n == n &&
        s->stride == (int32_t)stride) {
        if (s->twice || (s->simd == simd && s->sub == t->sub && s->lane == lane)) return true;
        s->twice = s->simd != simd;
        return false;
    }
    *s = (Seen){.epoch = t->epoch,
                .site = t->site->id,
                .at = (int32_t)from,
                .stride = (int32_t)stride,
                .n = (uint8_t)n,
                .lane = (uint8_t)lane,
                .simd = simd,
                .sub = (uint8_t)t->sub};
    return false;
}

static void fill_lanes(uint64_t *lanes, uint64_t base, int64_t stride) {
    for (uint32_t l = 0; l < ABI_SIMD_WIDTH; l++) lanes[l] = base + l * (uint64_t)stride;
}

static void mark_line(Access *a, uint32_t mask, uint64_t at, int64_t stride) {
    const CpuSite *s = a->t->site;
    uint32_t n = s->n_bytes;
    uint64_t lanes[ABI_SIMD_WIDTH], pitch = s->pitch;
    if (n >= 4 && stride == (int64_t)n && !(n & (n - 1)) && at % 4 == 0) {
        for (uint32_t r = 0; r <= s->repeat; r++) mark_row(a, mask, at + r * pitch, n);
    } else {
        fill_lanes(lanes, at + (uint64_t)(uintptr_t)a->w->memory, stride);
        for (uint32_t r = 0; r <= s->repeat; r++) mark_lanes(a, mask, lanes, r * pitch);
    }
}

// Lanes one behind the other, at one place or side by side: the usual. False: they are not.
static ALWAYS bool mark_even_line(Access *a, uint32_t mask, uint64_t at, int64_t stride) {
    const CpuSite *s = a->t->site;
    uint32_t n = s->n_bytes, repeat = s->repeat, lane = (uint32_t)__builtin_ctz(mask),
             run = mask >> lane, first = a->t->first + lane, shift = NO_SHIFT;
    uint64_t bytes = n, pitch = s->pitch;
    if (!n || (n < 4 && stride)) return false;
    if (!stride) {
        bool alone = run == 1;
        if (a->writes && !alone && !a->relaxed) a->found |= CONFLICT;
        if (!alone) first = SEVERAL;
        if (pitch == n) bytes *= repeat + 1, repeat = 0;
    } else {
        if (stride != (int64_t)n || n & (n - 1) || at % 4 || run & (run + 1)) return false;
        bytes *= (uint32_t)__builtin_popcount(run);
        at += lane * n;
        shift = (uint32_t)__builtin_ctz(n);
    }
    if (a->relaxed) first = ATOMIC, shift = NO_SHIFT;
    for (uint32_t r = 0; r <= repeat; r++, at += pitch) mark_run(a, at, at + bytes, first, shift);
    return true;
}

static ALWAYS void log_line(CpuWatcher *w, const Toucher *t, uint32_t mask, uint64_t at,
                            int64_t stride) {
    w->log[w->n_logged++] = (Logged){.site = t->site->id,
                                     .first = t->first,
                                     .mask = mask,
                                     .sub = t->sub,
                                     .at = (int32_t)at,
                                     .stride = (int32_t)stride,
                                     .list = NO_LIST};
}

static ALWAYS void lines_line(CpuWatcher *w, const Toucher *t, uint32_t mask, uint64_t base,
                              int64_t stride) {
    const CpuSite *s = t->site;
    uint64_t at = base - (uint64_t)(uintptr_t)w->memory, lanes[ABI_SIMD_WIDTH];
    if ((int64_t)at != (int32_t)at || stride != (int32_t)stride) { // lane 0 is off, and far away
        fill_lanes(lanes, base, stride);
        cpu_lines_lanes(w, t, mask, lanes);
        return;
    }
    bool logged = keeps_log(w, t) && s->n_bytes;
    if (logged && s->kind == CPU_SITE_READ && was_seen(w, t, mask, at, stride)) return;
    Access a = begin(w, t);
    if (!mark_even_line(&a, mask, at, stride)) mark_line(&a, mask, at, stride);
    if (a.found & UNWRITTEN) {
        seen_at(w, t, at + (uint32_t)__builtin_ctz(mask) * (uint64_t)stride)->epoch = 0;
        fill_lanes(lanes, base, stride);
        report_unwritten(&a, mask, lanes);
    }
    if (logged && !(a.found & CONFLICT)) {
        log_line(w, t, mask, at, stride);
        return;
    }
    suspect(w, t);
    touch_all_of_line(w, t, mask, base, stride);
}

WIDE_BITS void cpu_lines_line(CpuWatcher *w, const Toucher *t, uint32_t mask, uint64_t base,
                              int64_t stride) {
    lines_line(w, t, mask, base, stride);
}

WIDE_BITS void cpu_observe_group(const CpuLaunch *launch, uint32_t site, uint32_t first,
                                 uint32_t mask, uint64_t base, int64_t stride) {
    CpuWatcher *w = watcher_of(launch);
    if (!mask) return;
    Toucher t = toucher(w, &w->sites[site], MEMORY_GROUP, first);
    lines_line(w, &t, mask, base, stride);
}

// ---- Rows ----

// All rows read the same bytes: as if one did, but several threads each. False: not so.
static ALWAYS bool read_one_row(CpuWatcher *w, const Toucher *t, const uint64_t *bases,
                                int32_t stride, uint32_t lanes) {
    const CpuSite *s = t->site;
    uint32_t n = s->n_bytes, n_rows = ABI_SIMD_WIDTH / lanes;
    uint64_t at = bases[0] - (uint64_t)(uintptr_t)w->memory, row = stride ? lanes * n : n;
    if (!n || s->kind != CPU_SITE_READ || s->flags & CPU_SITE_RELAXED ||
        (stride && stride != (int32_t)n) || at >= w->n_memory)
        return false;
    for (uint32_t r = 1; r < n_rows; r++)
        if (bases[r] != bases[0]) return false;
    if (!keeps_log(w, t) || w->n_logged + n_rows > MAX_LOGGED) return false;
    if (was_seen(w, t, lanes_from(lanes), at, stride)) return true;
    Access a = begin(w, t);
    for (uint32_t r = 0; r <= s->repeat; r++)
        mark_run(&a, at + r * s->pitch, at + r * s->pitch + row, SEVERAL, NO_SHIFT);
    if (a.found) { // row by row: who is to blame
        seen_at(w, t, at)->epoch = 0;
        return false;
    }
    for (uint32_t r = 0; r < n_rows; r++)
        log_line(w, t, lanes_from(lanes) << r * lanes, at - r * lanes * (uint64_t)(int64_t)stride,
                 stride);
    return true;
}

WIDE_BITS void cpu_observe_rows(const CpuLaunch *launch, uint32_t site, uint32_t first,
                                uint32_t mask, const uint64_t *bases, uint64_t stride_and_lanes) {
    CpuWatcher *w = watcher_of(launch);
    if (!mask) return;
    Toucher t = toucher(w, &w->sites[site], MEMORY_GROUP, first);
    int32_t stride = (int32_t)(uint32_t)stride_and_lanes;
    uint32_t lanes = (uint32_t)(stride_and_lanes >> CPU_ROWS_LANES);
    if (mask == UINT32_MAX && read_one_row(w, &t, bases, stride, lanes)) return;
    for (uint32_t at = 0; at < ABI_SIMD_WIDTH; at += lanes) {
        uint32_t on = mask & lanes_from(lanes) << at; // the base is that of lane 0
        if (on) lines_line(w, &t, on, bases[at / lanes] - at * (uint64_t)(int64_t)stride, stride);
    }
}
