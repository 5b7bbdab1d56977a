// SPDX-License-Identifier: Apache-2.0
// sparse.c: tiles of sparse textures. The texels have addresses of their own from the start, which
// the system gives memory to when they are written; mapping a tile takes a page from the heap's
// count, and from then on writes get there. A placement heap's page keeps what was in a tile when
// it is unmapped, and gives it to the tile that is mapped to it next.
#include "runtime/memory/sparse.h"
#include "runtime/memory/heap.h"

size_t rt_sparse_page_bytes(MTLSparsePageSize size) {
    switch (size) {
    case MTLSparsePageSize16: return (size_t)16 << 10;
    case MTLSparsePageSize64: return (size_t)64 << 10;
    case MTLSparsePageSize256: return (size_t)256 << 10;
    }
    return 0;
}

bool rt_sparse_tile(uint32_t type, uint32_t format, size_t n_samples, MTLSparsePageSize size,
                    uint32_t tile[3]) {
    const AbiPixelFormat *f = abi_pixel_format(format);
    bool deep = type == ABI_TEXTURE_3D;
    bool flat = type == ABI_TEXTURE_2D || type == ABI_TEXTURE_2D_ARRAY ||
                type == ABI_TEXTURE_CUBE || type == ABI_TEXTURE_CUBE_ARRAY;
    size_t n_bytes = rt_sparse_page_bytes(size);
    if (!f || abi_format_is_pvrtc(f) || !f->block_bytes ||
        (f->block_bytes & (f->block_bytes - 1)) || n_samples > 1 || (!deep && !flat) || !n_bytes)
        return false;
    // A page has 2^k blocks: cubes, or squares that are wider than high; what is left over goes to
    // x first.
    uint32_t n = (uint32_t)(n_bytes / f->block_bytes), k = 0, log2[3] = {0, 0, 0};
    while (n >> (k + 1)) k++;
    for (uint32_t i = 0; i < k; i++) log2[i % (deep ? 3 : 2)]++;
    tile[0] = f->block_width << log2[0];
    tile[1] = f->block_height << log2[1];
    tile[2] = 1u << log2[2];
    return true;
}

// ---- Making ----

static uint32_t pieces(uint32_t size, uint32_t of) { return (size + of - 1) / of; }

static size_t level_bytes(const AbiTexture *t, uint32_t level) { // of a slice, packed
    const AbiTextureLevel *l = &t->levels[level];
    return (size_t)pieces(l->width, t->format->block_width) *
           pieces(l->height, t->format->block_height) * l->depth * t->format->block_bytes;
}

static void number_tiles(RtSparse *s, const AbiTexture *t) {
    AbiSparse *abi = &s->abi;
    uint32_t n_slices = abi_texture_n_slices(t), next = 0;
    abi->tail_level = t->n_levels;
    for (uint32_t i = 0; i < t->n_levels; i++) {
        const AbiTextureLevel *l = &t->levels[i];
        bool small = l->width < abi->tile[0] || l->height < abi->tile[1] || l->depth < abi->tile[2];
        if (small && i && abi->tail_level == t->n_levels) abi->tail_level = i;
        if (i >= abi->tail_level) {
            s->tail_bytes += level_bytes(t, i);
            continue;
        }
        abi->levels[i] =
            (AbiSparseLevel){next, pieces(l->width, abi->tile[0]), pieces(l->height, abi->tile[1]),
                             pieces(l->depth, abi->tile[2])};
        next += abi->levels[i].columns * abi->levels[i].rows * abi->levels[i].planes * n_slices;
    }
    abi->tail_first = next;
    abi->n_tiles = next + (abi->tail_level < t->n_levels ? n_slices : 0);
    s->tail_pages = (uint32_t)((s->tail_bytes + s->page_bytes - 1) / s->page_bytes);
}

RtSparse *rt_sparse_new(const AbiTexture *t, MTLSparsePageSize size, bool placement) {
    RtSparse *s = rt_alloc(sizeof *s);
    if (!s) return NULL;
    pthread_mutex_init(&s->lock, NULL);
    s->page_size = size;
    s->page_bytes = rt_sparse_page_bytes(size);
    s->placement = placement;
    if (!rt_sparse_tile(t->type, t->pixel_format, t->n_samples, size, s->abi.tile)) goto fail;
    number_tiles(s, t);
    s->abi.bits = rt_alloc((s->abi.n_tiles + 31) / 32 * sizeof *s->abi.bits);
    if (placement) s->homes = rt_alloc(s->abi.n_tiles * sizeof *s->homes);
    if (s->abi.bits && (s->homes || !placement)) return s;
fail:
    rt_sparse_free(s, NULL);
    return NULL;
}

static uint32_t pages_of(const RtSparse *s, uint32_t tile) {
    return tile >= s->abi.tail_first ? s->tail_pages : 1;
}

void rt_sparse_free(RtSparse *s, MTLHeap *heap) {
    if (!s) return;
    for (uint32_t i = 0; heap && s->abi.bits && !s->placement && i < s->abi.n_tiles; i++)
        if (abi_sparse_mapped(&s->abi, i)) rt_heap_give_pages(heap, pages_of(s, i));
    for (uint32_t i = 0; s->homes && i < s->abi.n_tiles; i++) mtl_release(s->homes[i].heap);
    rt_free(s->abi.bits);
    rt_free(s->homes);
    pthread_mutex_destroy(&s->lock);
    rt_free(s);
}

// ---- Places ----

bool rt_sparse_valid(const RtSite *site, const MTLTexture *texture, MTLRegion region, size_t level,
                     size_t slice, bool placement, RtTiles *tiles) {
    char name[RT_TEXTURE_NAME];
    if (!rt_is_texture(site, texture, "texture")) return false;
    const RtSparse *s = texture->sparse;
    if (!s || s->placement != placement) {
        rt_misuse_at(site, RT_RULE_sparse_texture, "texture %s%s", rt_texture_name(texture, name),
                     s ? placement ? " lies in a sparse heap" : " is placement sparse"
                       : " is not sparse");
        return false;
    }
    const AbiTexture *t = &texture->record;
    const AbiSparseLevel *l = level < t->n_levels ? &s->abi.levels[level] : NULL;
    bool tail = level >= s->abi.tail_level;
    MTLOrigin o = region.origin;
    MTLSize n = region.size;
    size_t most[3] = {tail || !l ? 1 : l->columns, tail || !l ? 1 : l->rows,
                      tail || !l ? 1 : l->planes};
    size_t depth = n.depth ? n.depth : 1;
    if (l && slice < abi_texture_n_slices(t) &&
        (tail || (n.width <= most[0] && o.x <= most[0] - n.width && n.height <= most[1] &&
                  o.y <= most[1] - n.height && depth <= most[2] && o.z <= most[2] - depth))) {
        *tiles = (RtTiles){(uint32_t)level,
                           (uint32_t)slice,
                           tail ? 0 : (uint32_t)o.x,
                           tail ? 0 : (uint32_t)o.y,
                           tail ? 0 : (uint32_t)o.z,
                           tail ? 1 : (uint32_t)n.width,
                           tail ? 1 : (uint32_t)n.height,
                           tail ? 1 : (uint32_t)depth};
        return true;
    }
    rt_misuse_at(site, RT_RULE_sparse_region,
                 "%zu x %zu x %zu tiles at %zu, %zu, %zu of level %zu, slice %zu: texture %s",
                 n.width, n.height, n.depth, o.x, o.y, o.z, level, slice,
                 rt_texture_name(texture, name));
    return false;
}

static void cut(uint32_t *at, uint32_t *n, uint32_t most) {
    if (*at > most) *at = most;
    if (*n > most - *at) *n = most - *at;
}

RtTiles rt_sparse_cut(const MTLTexture *texture, const MTLMapIndirectArguments *a) {
    const RtSparse *s = texture->sparse;
    RtTiles r = {a->mip_map_level,      a->slice_id,         a->region_origin_x,
                 a->region_origin_y,    a->region_origin_z,  a->region_size_width,
                 a->region_size_height, a->region_size_depth};
    if (r.level >= texture->record.n_levels || r.slice >= abi_texture_n_slices(&texture->record))
        return (RtTiles){0};
    if (r.level >= s->abi.tail_level)
        return (RtTiles){r.level, r.slice, 0, 0, 0, r.width != 0, r.height != 0, r.depth != 0};
    const AbiSparseLevel *l = &s->abi.levels[r.level];
    cut(&r.x, &r.width, l->columns);
    cut(&r.y, &r.height, l->rows);
    cut(&r.z, &r.depth, l->planes);
    return r;
}

static uint32_t count(const RtTiles *t) { return t->width * t->height * t->depth; }

// Tile i of them.
typedef struct Place {
    uint32_t x, y, z, number;
} Place;

static Place place_of(const RtSparse *s, const RtTiles *t, uint32_t i) {
    Place p = {t->x + i % t->width, t->y + i / t->width % t->height,
               t->z + i / (t->width * t->height), 0};
    p.number = abi_sparse_tile(&s->abi, t->level, t->slice, p.x, p.y, p.z);
    return p;
}

// The texels of a tile to packed memory or back, or to zeros; of the tail: those of all its levels.
static void copy_tile(const MTLTexture *texture, const RtTiles *t, Place p, unsigned char *packed,
                      bool to_texture) {
    const AbiTexture *cpu = &texture->record;
    const AbiSparse *abi = &texture->sparse->abi;
    uint32_t first = t->level < abi->tail_level ? t->level : abi->tail_level;
    uint32_t last = t->level < abi->tail_level ? t->level : cpu->n_levels - 1;
    for (uint32_t level = first; level <= last; level++)
        packed = abi_sparse_copy(cpu, level, t->slice, abi_sparse_box(cpu, level, p.x, p.y, p.z),
                                 packed, to_texture);
}

// ---- Sparse heaps ----

bool rt_sparse_map(MTLTexture *texture, const RtTiles *tiles) {
    RtSparse *s = texture->sparse;
    bool enough = true;
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < count(tiles); i++) {
        Place p = place_of(s, tiles, i);
        if (abi_sparse_mapped(&s->abi, p.number)) continue;
        if (rt_heap_take_pages(texture->resource.heap, pages_of(s, p.number)))
            abi_sparse_set(&s->abi, p.number, true);
        else
            enough = false;
    }
    pthread_mutex_unlock(&s->lock);
    return enough;
}

void rt_sparse_unmap(MTLTexture *texture, const RtTiles *tiles) {
    RtSparse *s = texture->sparse;
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < count(tiles); i++) {
        Place p = place_of(s, tiles, i);
        if (!abi_sparse_mapped(&s->abi, p.number)) continue;
        abi_sparse_set(&s->abi, p.number, false);
        copy_tile(texture, tiles, p, NULL, true);
        rt_heap_give_pages(texture->resource.heap, pages_of(s, p.number));
    }
    pthread_mutex_unlock(&s->lock);
}

// Memory for the texels of one tile, of the tail if that is larger; NULL: none.
static unsigned char *new_scratch(const RtSparse *a) {
    return rt_alloc(a->tail_bytes > a->page_bytes ? a->tail_bytes : a->page_bytes);
}

void rt_sparse_move(MTLTexture *from, const RtTiles *tiles, MTLTexture *to, const RtTiles *places) {
    unsigned char *scratch = new_scratch(from->sparse);
    for (uint32_t i = 0; scratch && i < count(tiles); i++) {
        Place a = place_of(from->sparse, tiles, i), b = place_of(to->sparse, places, i);
        RtTiles one = *tiles, other = *places;
        one.x = a.x, one.y = a.y, one.z = a.z, one.width = one.height = one.depth = 1;
        other.x = b.x, other.y = b.y, other.z = b.z, other.width = other.height = other.depth = 1;
        bool mapped = abi_sparse_mapped(&from->sparse->abi, a.number);
        if (mapped) copy_tile(from, tiles, a, scratch, false);
        rt_sparse_unmap(from, &one);
        rt_sparse_unmap(to, &other);
        if (mapped && rt_sparse_map(to, &other)) copy_tile(to, places, b, scratch, true);
    }
    rt_free(scratch);
}

// ---- Placement heaps ----

static unsigned char *page_at(const RtSparse *s, RtHome home) {
    return (unsigned char *)home.heap->resource.own.host + home.page * s->page_bytes;
}

// The texture's lock is held: what is in the tile goes home, and the tile has none.
static void send_home(MTLTexture *texture, const RtTiles *tiles, Place p) {
    RtSparse *s = texture->sparse;
    RtHome home = s->homes[p.number];
    if (home.heap) copy_tile(texture, tiles, p, page_at(s, home), false);
    mtl_release(home.heap);
    s->homes[p.number] = (RtHome){0};
    abi_sparse_set(&s->abi, p.number, false);
    copy_tile(texture, tiles, p, NULL, true);
}

void rt_sparse_place(MTLTexture *texture, MTLHeap *heap, const RtTiles *tiles, size_t first_page) {
    RtSparse *s = texture->sparse;
    size_t page = first_page;
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < count(tiles); i++) {
        Place p = place_of(s, tiles, i);
        send_home(texture, tiles, p);
        if (!heap) continue;
        uint32_t n = pages_of(s, p.number);
        if ((page + n) * s->page_bytes > heap->resource.allocated_bytes) break;
        s->homes[p.number] = (RtHome){.heap = mtl_retain(heap), .page = page};
        copy_tile(texture, tiles, p, page_at(s, s->homes[p.number]), true);
        abi_sparse_set(&s->abi, p.number, true);
        page += n;
    }
    pthread_mutex_unlock(&s->lock);
}

void rt_sparse_share(MTLTexture *from, const RtTiles *tiles, MTLTexture *to,
                     const RtTiles *places) {
    for (uint32_t i = 0; i < count(tiles); i++) {
        RtSparse *s = from->sparse;
        Place a = place_of(s, tiles, i), b = place_of(to->sparse, places, i);
        RtTiles one = *places;
        one.x = b.x, one.y = b.y, one.z = b.z, one.width = one.height = one.depth = 1;
        pthread_mutex_lock(&s->lock);
        RtHome home = s->homes[a.number];
        mtl_retain(home.heap);
        if (home.heap) copy_tile(from, tiles, a, page_at(s, home), false); // as it is now
        pthread_mutex_unlock(&s->lock);
        rt_sparse_place(to, home.heap, &one, home.page);
        mtl_release(home.heap);
    }
}
