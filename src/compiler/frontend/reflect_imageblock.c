// SPDX-License-Identifier: Apache-2.0
// reflect_imageblock.c: imageblocks in reflection: arguments of tile functions, which are kernels,
// one of each layout at most, and [[imageblock_data]] of fragment functions. Whether an imageblock
// is implicit is said by its second template argument, else by its members: all of them are
// colours, or they are not. A fragment function may have a view of its imageblock, a structure of
// some of its members: [[imageblock_data(T)]] (section 5.6.1 of the specification).
#include "compiler/frontend/frontend_int.h"
#include <string.h>

enum { MAX_PIXEL = 256, MAX_PIECES = IMAGEBLOCK_MAX_PIECES };

static bool set_size(BridgeJob *job, const RfFunction *f, const BridgeType *info, uint32_t *bytes,
                     uint32_t at) {
    if (info->size < 1 || info->size > MAX_PIXEL) {
        reflect_report(job, at, "an imageblock of '%s' takes %u bytes for a pixel: there may be %d",
                       f->name, info->size, MAX_PIXEL);
        return false;
    }
    if (info->size > *bytes) *bytes = info->size;
    return true;
}

bool reflect_imageblock_argument(ReflectBuilder *b, BridgeJob *job, RfFunction *f, RfArg *arg,
                                 const BridgeDecl *p) {
    const BridgeType *info = &b->infos[p->type];
    if (info->kind != BRIDGE_TYPE_METAL || info->n_args != 2 ||
        strcmp(info->template_name, "imageblock") != 0)
        return false;
    arg->kind = RF_ARG_IMAGEBLOCK;
    arg->access = RF_READ_WRITE;
    arg->index = 0;
    if (f->stage != RF_KERNEL) {
        reflect_report(job, p->location,
                       "'%s' of '%s': an imageblock is an argument of kernels; fragment functions "
                       "have 'imageblock_data'",
                       p->name, f->name);
        return true;
    }
    uint32_t type = info->arg_types[0], layout = info->arg_types[1];
    if (type >= b->lib->n_types || b->infos[type].kind != BRIDGE_TYPE_RECORD) {
        reflect_report(job, p->location, "'%s': the pixels of an imageblock are structures",
                       p->name);
        return true;
    }
    const char *name = layout < b->lib->n_types ? b->infos[layout].template_name : NULL;
    bool is_explicit = name && strcmp(name, "imageblock_layout_explicit") == 0;
    bool colors = !is_explicit && reflect_is_colors(b, type);
    if (!is_explicit && !colors && name && strcmp(name, "imageblock_layout_implicit") == 0)
        reflect_report(job, p->location,
                       "'%s': every member of an imageblock with implicit layout needs the "
                       "attribute 'color(n)'",
                       p->name);
    uint32_t *bytes = colors ? &f->color_block_bytes : &f->imageblock_bytes;
    if (*bytes) {
        reflect_report(job, p->location, "'%s': function '%s' has more than one imageblock%s",
                       p->name, f->name, colors ? " of colors" : "");
        return true;
    }
    arg->index = colors;
    if (set_size(job, f, &b->infos[type], bytes, p->location) && colors)
        reflect_imageblock_values(b, job, f, type, p->location);
    return true;
}

// ---- views: structures of some of the members of another, the master ----

// The name given by [[user(name)]]; NULL: none.
static const char *user_name(const BridgeDecl *member) {
    for (size_t i = 0; i < member->n_attrs; i++)
        if (strcmp(member->attrs[i].name, "user") == 0 && member->attrs[i].n_args == 1)
            return member->attrs[i].args[0].text;
    return NULL;
}

// The member of the master that one of a view stands for: of its [[user(name)]] at any depth, else
// of its own name at the top. *offset: in the master.
static const BridgeDecl *find_member(const ReflectBuilder *b, uint32_t master, const BridgeDecl *of,
                                     bool nested, uint32_t *offset) {
    const BridgeType *info = &b->infos[master];
    const char *user = user_name(of);
    for (size_t i = 0; info->kind == BRIDGE_TYPE_RECORD && i < info->n_members; i++) {
        const BridgeDecl *m = &info->members[i], *inner;
        const char *its = user_name(m);
        uint32_t deeper = 0;
        if (user ? its && strcmp(its, user) == 0 : !nested && !its && !strcmp(m->name, of->name)) {
            *offset = m->offset;
            return m;
        }
        if (user && (inner = find_member(b, m->type, of, true, &deeper))) {
            *offset = m->offset + deeper;
            return inner;
        }
    }
    return NULL;
}

// The members of a view as pieces of the pixel. Complains and gives 0 if one has no place there.
static uint32_t view_pieces(const ReflectBuilder *b, BridgeJob *job, uint32_t master, uint32_t view,
                            ImageblockPiece *pieces, uint32_t at) {
    const BridgeType *info = &b->infos[view];
    const char *name = b->lib->types[master].name;
    uint32_t n = 0;
    for (size_t i = 0; i < info->n_members && n < MAX_PIECES; i++) {
        const BridgeDecl *m = &info->members[i];
        uint32_t where = m->location ? m->location : at, offset = 0, bytes = b->infos[m->type].size;
        const BridgeDecl *its = find_member(b, master, m, false, &offset);
        if (!its || its->type != m->type) {
            reflect_report(job, where,
                           its ? "'%s' has another type in the imageblock '%s'"
                               : "'%s' is no member of the imageblock '%s'",
                           m->name, name);
            return 0;
        }
        for (uint32_t k = 0; k < n; k++)
            if (pieces[k].from < offset + bytes && offset < pieces[k].from + pieces[k].bytes) {
                reflect_report(job, where,
                               "'%s' and another member of the view are the same member of the "
                               "imageblock '%s'",
                               m->name, name);
                return 0;
            }
        pieces[n++] =
            (ImageblockPiece){.offset = m->offset, .from = offset, .bytes = bytes, .view = true};
    }
    return n;
}

uint32_t reflect_imageblock_data(ReflectBuilder *b, BridgeJob *job, RfFunction *f, uint32_t type,
                                 const BridgeAttr *said, ImageblockPiece *pieces, uint32_t at) {
    const BridgeType *info = &b->infos[type];
    uint32_t master = said && said->n_args == 2 ? said->args[1].type : type;
    pieces[0] = (ImageblockPiece){0};
    if (info->kind != BRIDGE_TYPE_RECORD) {
        reflect_report(job, at,
                       "type '%s' is not valid for attribute 'imageblock_data': it must "
                       "be a structure",
                       b->lib->types[type].name);
        return 1;
    }
    if (master >= b->lib->n_types || b->infos[master].kind != BRIDGE_TYPE_RECORD) {
        reflect_report(job, said->location, "'imageblock_data' attribute takes a structure");
        return 1;
    }
    if (!set_size(job, f, &b->infos[master], &f->imageblock_bytes, at)) return 1;
    pieces[0].bytes = info->size;
    uint32_t n = master == type ? 1 : view_pieces(b, job, master, type, pieces, at);
    return n ? n : 1;
}
