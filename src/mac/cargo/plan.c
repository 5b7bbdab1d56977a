// SPDX-License-Identifier: Apache-2.0
// plan.c: see plan.h. A crate is a Mac's if it is a binding of Apple's frameworks, if it is of the
// workspace, if it uses a binding of the Objective-C runtime, or if it uses, directly or through
// others, one of Metal. All others, and procedural macros, stay this system's: std, libc, mio,
// rustix never see a Mac.
#include "mac/cargo/plan.h"
#include "base/array.h"
#include <stdlib.h>
#include <string.h>

// ---- Names ----

// A name may end in `*`. Bindings: declarations of what is in a Mac's libraries.
static const char *const bindings[] = {
    "metal",          "objc",        "objc-*",          "objc_*",
    "objc2",          "objc2-*",     "block",           "block2",
    "block-sys",      "block_*",     "dispatch",        "dispatch2",
    "cocoa",          "cocoa-*",     "icrate",          "core-foundation*",
    "core-graphics*", "core-video*", "io-surface",      "icrate-*",
    "fruity*",        "naga",        "raw-window-metal"};
// Who uses one of these is a Mac's; who uses that one is not, unless it is Metal's.
static const char *const runtime[] = {"objc", "objc2", "objc2-foundation", "icrate", "cocoa"};
static const char *const of_metal[] = {"metal", "objc2-metal", "objc2-metal-*", "objc2-mps*"};
// Use Objective-C for windows, clipboards and the like, and have a way of their own on this system.
static const char *const exceptions[] = {"accesskit_*",
                                         "arboard",
                                         "clipboard",
                                         "copypasta",
                                         "cpal",
                                         "glutin*",
                                         "keyring",
                                         "mac-notification-sys",
                                         "muda",
                                         "notify-rust",
                                         "native-dialog",
                                         "open",
                                         "rfd",
                                         "rodio",
                                         "security-framework*",
                                         "softbuffer",
                                         "sysinfo",
                                         "tao",
                                         "trash",
                                         "tray-icon",
                                         "webbrowser",
                                         "winit*",
                                         "wry"};
#define N(list) (sizeof(list) / sizeof *(list))

static bool matches(const char *pattern, const char *name) {
    size_t n = strlen(pattern);
    bool open = n && pattern[n - 1] == '*';
    return open ? strncmp(pattern, name, n - 1) == 0 : strcmp(pattern, name) == 0;
}
static bool is_one_of(const char *const *list, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (matches(list[i], name)) return true;
    return false;
}
static bool holds(const Strings *list, size_t from, size_t to, const char *name) {
    return from < to && is_one_of((const char *const *)list->items + from, to - from, name);
}

void cargo_plan_ask(CargoPlan *plan, const char *mac, const char *linux_, const char *frameworks) {
    Strings *lists[] = {&plan->mac, &plan->linux_, &plan->frameworks};
    const char *texts[] = {mac, linux_, frameworks};
    for (int i = 0; i < 3; i++) {
        for (const char *at = texts[i]; at && *at;) {
            size_t n = strcspn(at, ", ");
            if (n) strings_add(lists[i], strndup(at, n));
            at += n;
            at += strspn(at, ", ");
        }
        if (i < 2) plan->n_of_environment[i] = lists[i]->n;
    }
}

// ---- Reading ----

enum { ID_BYTES = 1024 };

static char *read_text(JsonReader *r) {
    char text[ID_BYTES];
    return json_string_value(r, text, sizeof text) ? strdup(text) : NULL;
}

static void read_names(JsonReader *r, Strings *to) {
    if (!json_enter_array(r)) return;
    while (json_next_item(r)) strings_add(to, read_text(r));
}

// `ingot = { mac = [...], linux = [...], frameworks = [...], system = "..." }` among the metadata
// that a manifest has for tools.
static void read_settings(JsonReader *r, CargoPlan *plan, CargoCrate *crate) {
    const char *key;
    char system[16];
    if (!json_enter_object(r)) return;
    while (json_next_key(r, &key)) {
        if (!strcmp(key, "mac")) {
            read_names(r, &plan->mac);
        } else if (!strcmp(key, "linux")) {
            read_names(r, &plan->linux_);
        } else if (!strcmp(key, "frameworks")) {
            read_names(r, &plan->frameworks);
        } else if (crate && !strcmp(key, "system")) {
            if (!json_string_value(r, system, sizeof system)) return;
            crate->said = !strcmp(system, "mac") ? 1 : !strcmp(system, "linux") ? 2 : 0;
            if (!crate->said) json_fail(r, "'%s' is neither \"mac\" nor \"linux\"", system);
        } else {
            json_fail_key(r, key, "is not one of mac, linux, frameworks, system");
        }
    }
}

static void read_metadata(JsonReader *r, CargoPlan *plan, CargoCrate *crate) {
    const char *key;
    if (json_null(r)) return;
    if (json_peek(r) != '{') {
        json_skip(r);
        return;
    }
    if (!json_enter_object(r)) return;
    while (json_next_key(r, &key))
        if (!strcmp(key, "ingot"))
            read_settings(r, plan, crate);
        else
            json_skip(r);
}

// Whether one of a crate's targets is a procedural macro.
static bool read_targets(JsonReader *r) {
    bool is_macro = false;
    const char *key;
    char kind[32];
    if (!json_enter_array(r)) return false;
    while (json_next_item(r)) {
        if (!json_enter_object(r)) return false;
        while (json_next_key(r, &key)) {
            if (strcmp(key, "kind") != 0) {
                json_skip(r);
                continue;
            }
            if (!json_enter_array(r)) return false;
            while (json_next_item(r))
                is_macro |= json_string_value(r, kind, sizeof kind) && !strcmp(kind, "proc-macro");
        }
    }
    return is_macro;
}

static CargoCrate *add_crate(CargoPlan *plan) {
    if (!array_reserve(&plan->crates, &plan->capacity, plan->n + 1)) return NULL;
    CargoCrate *crate = &plan->crates[plan->n++];
    *crate = (CargoCrate){0};
    return crate;
}

static void read_package(JsonReader *r, CargoPlan *plan) {
    const char *key;
    char *manifest = NULL;
    bool is_local = false;
    CargoCrate *crate = add_crate(plan);
    if (!crate) {
        json_fail(r, "out of memory");
        return;
    }
    if (!json_enter_object(r)) return;
    while (json_next_key(r, &key)) {
        if (!strcmp(key, "name") && !crate->name)
            crate->name = read_text(r);
        else if (!strcmp(key, "version") && !crate->version)
            crate->version = read_text(r);
        else if (!strcmp(key, "id") && !crate->id)
            crate->id = read_text(r);
        else if (!strcmp(key, "manifest_path") && !manifest)
            manifest = read_text(r);
        else if (!strcmp(key, "source") && json_null(r))
            is_local = true;
        else if (!strcmp(key, "targets"))
            crate->is_proc_macro = read_targets(r);
        else if (!strcmp(key, "metadata"))
            read_metadata(r, plan, crate);
        else
            json_skip(r);
    }
    if (json_ok(r) && (!crate->name || !crate->version || !crate->id))
        json_fail(r, "a package without name, version or id");
    if (!manifest || !is_local || !strings_add(&plan->manifests, manifest)) free(manifest);
}

static CargoCrate *crate_of(const CargoPlan *plan, const char *id) {
    const uint64_t hash = hash_text(id);
    for (HashNode *n = hash_chain(&plan->by_id, hash); n; n = n->next)
        if (n->hash == hash && !strcmp(((CargoCrate *)n)->id, id)) return (CargoCrate *)n;
    return NULL;
}

// First pass: the packages, what the workspace says, where the target folder is.
static void read_packages(JsonReader *r, CargoPlan *plan) {
    const char *key;
    if (!json_enter_object(r)) return;
    while (json_next_key(r, &key)) {
        if (!strcmp(key, "packages")) {
            if (!json_enter_array(r)) return;
            while (json_next_item(r)) read_package(r, plan);
        } else if (!strcmp(key, "target_directory") && !plan->target_folder) {
            plan->target_folder = read_text(r);
        } else if (!strcmp(key, "workspace_root") && !plan->workspace_root) {
            plan->workspace_root = read_text(r);
        } else if (!strcmp(key, "metadata")) {
            read_metadata(r, plan, NULL);
        } else {
            json_skip(r);
        }
    }
}

// A dependency that is for the build script alone does not count. True: another one.
static bool read_kinds(JsonReader *r) {
    const char *key;
    char kind[16];
    bool counts = false;
    if (!json_enter_array(r)) return false;
    while (json_next_item(r)) {
        if (!json_enter_object(r)) return false;
        while (json_next_key(r, &key))
            if (strcmp(key, "kind") != 0)
                json_skip(r);
            else if (json_null(r))
                counts = true;
            else
                counts |= json_string_value(r, kind, sizeof kind) && strcmp(kind, "build") != 0;
    }
    return counts;
}

static void add_use(JsonReader *r, CargoCrate *crate, size_t used) {
    if (array_reserve(&crate->uses, &crate->capacity_uses, crate->n_uses + 1))
        crate->uses[crate->n_uses++] = used;
    else
        json_fail(r, "out of memory");
}

static void read_uses(JsonReader *r, const CargoPlan *plan, size_t of) {
    const char *key;
    char id[ID_BYTES];
    if (!json_enter_array(r)) return;
    while (json_next_item(r)) {
        bool counts = true;
        *id = 0;
        if (!json_enter_object(r)) return;
        while (json_next_key(r, &key))
            if (!strcmp(key, "pkg"))
                json_string_value(r, id, sizeof id);
            else if (!strcmp(key, "dep_kinds"))
                counts = read_kinds(r);
            else
                json_skip(r);
        const CargoCrate *used = crate_of(plan, id);
        if (used && counts && of < plan->n)
            add_use(r, &plan->crates[of], (size_t)(used - plan->crates));
    }
}

static void read_nodes(JsonReader *r, const CargoPlan *plan) {
    const char *key;
    char id[ID_BYTES];
    if (json_null(r) || !json_enter_object(r)) return;
    while (json_next_key(r, &key)) {
        if (strcmp(key, "nodes") != 0) {
            json_skip(r);
            continue;
        }
        if (!json_enter_array(r)) return;
        while (json_next_item(r)) {
            size_t of = plan->n; // `id` stands before `deps`
            if (!json_enter_object(r)) return;
            while (json_next_key(r, &key))
                if (!strcmp(key, "id") && json_string_value(r, id, sizeof id)) {
                    const CargoCrate *crate = crate_of(plan, id);
                    if (crate) of = (size_t)(crate - plan->crates);
                } else if (!strcmp(key, "deps")) {
                    read_uses(r, plan, of);
                } else {
                    json_skip(r);
                }
        }
    }
}

// Second pass: who is of the workspace, and who uses whom.
static void read_graph(JsonReader *r, const CargoPlan *plan) {
    const char *key;
    char id[ID_BYTES];
    if (!json_enter_object(r)) return;
    while (json_next_key(r, &key)) {
        if (!strcmp(key, "workspace_members")) {
            if (!json_enter_array(r)) return;
            while (json_next_item(r)) {
                CargoCrate *crate = json_string_value(r, id, sizeof id) ? crate_of(plan, id) : NULL;
                if (crate) crate->is_member = true;
            }
        } else if (!strcmp(key, "resolve")) {
            read_nodes(r, plan);
        } else {
            json_skip(r);
        }
    }
}

// ---- Deciding ----

static bool settle(CargoCrate *crate, bool is_mac, const char *why) {
    crate->is_mac = is_mac;
    crate->why = why;
    return true;
}

// What is known of a crate by itself. False: it depends on what it uses.
static bool decide_alone(const CargoPlan *plan, CargoCrate *c) {
    const Strings *mac = &plan->mac, *linux_ = &plan->linux_;
    const size_t m = plan->n_of_environment[0], l = plan->n_of_environment[1];
    if (c->is_proc_macro) return settle(c, false, "a procedural macro");
    if (holds(mac, 0, m, c->name)) return settle(c, true, "INGOT_CARGO_MAC");
    if (holds(linux_, 0, l, c->name)) return settle(c, false, "INGOT_CARGO_LINUX");
    if (holds(mac, m, mac->n, c->name) || holds(linux_, l, linux_->n, c->name))
        return settle(c, holds(mac, m, mac->n, c->name), "metadata.ingot of the workspace");
    if (c->said) return settle(c, c->said == 1, "its own metadata.ingot");
    if (is_one_of(exceptions, N(exceptions), c->name))
        return settle(c, false, "has a way of its own here");
    if (is_one_of(bindings, N(bindings), c->name)) return settle(c, true, "a binding");
    if (c->is_member) return settle(c, true, "of the workspace");
    return false;
}

// Whether it uses the Objective-C runtime, or Metal through whomever.
static bool decide_by_uses(const CargoPlan *plan, CargoCrate *c, const bool *spreads) {
    for (size_t i = 0; i < c->n_uses; i++) {
        const CargoCrate *used = &plan->crates[c->uses[i]];
        if (spreads[c->uses[i]]) return settle(c, true, "uses Metal");
        if (used->is_mac && is_one_of(runtime, N(runtime), used->name))
            return settle(c, true, "uses Objective-C");
    }
    return false;
}

static bool decide(CargoPlan *plan) {
    bool *settled = calloc(plan->n + 1, 1), *spreads = calloc(plan->n + 1, 1), more = true;
    for (size_t i = 0; settled && spreads && i < plan->n; i++) {
        CargoCrate *c = &plan->crates[i];
        settled[i] = decide_alone(plan, c);
        spreads[i] = settled[i] && c->is_mac && is_one_of(of_metal, N(of_metal), c->name);
        if (!settled[i]) settle(c, false, "uses nothing of a Mac");
    }
    while (settled && spreads && more) { // until nothing more is found
        more = false;
        for (size_t i = 0; i < plan->n; i++) {
            CargoCrate *c = &plan->crates[i];
            if (settled[i] || !decide_by_uses(plan, c, spreads)) continue;
            settled[i] = more = true;
            spreads[i] = !strcmp(c->why, "uses Metal");
        }
    }
    bool ok = settled && spreads;
    free(settled);
    free(spreads);
    return ok;
}

// What was asked for must be there, and be possible.
static bool check_asked(const CargoPlan *plan, char *message) {
    const Strings *lists[] = {&plan->mac, &plan->linux_};
    static const char *const variables[] = {"INGOT_CARGO_MAC", "INGOT_CARGO_LINUX"};
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < lists[k]->n; i++) {
            const CargoCrate *found = NULL;
            for (size_t j = 0; j < plan->n && !found; j++)
                if (matches(lists[k]->items[i], plan->crates[j].name)) found = &plan->crates[j];
            const char *where =
                i < plan->n_of_environment[k] ? variables[k] : "[package.metadata.ingot]";
            if (!found)
                return json_message(message, "%s names '%s', which is no crate of this build",
                                    where, lists[k]->items[i]);
            if (k == 0 && found->is_proc_macro)
                return json_message(message,
                                    "%s names '%s', a procedural macro: it runs on this machine "
                                    "and cannot be a Mac's",
                                    where, found->name);
        }
    return true;
}

bool cargo_plan_make(CargoPlan *plan, const char *metadata, size_t n_bytes, char *message) {
    JsonReader *r = malloc(sizeof *r);
    if (!r) return json_message(message, "out of memory");
    json_begin(r, metadata, n_bytes, "cargo metadata", message);
    read_packages(r, plan);
    bool ok = json_finish(r);
    for (size_t i = 0; ok && i < plan->n; i++) {
        plan->crates[i].node.hash = hash_text(plan->crates[i].id);
        ok =
            hash_add(&plan->by_id, &plan->crates[i].node) || json_message(message, "out of memory");
    }
    if (ok) {
        json_begin(r, metadata, n_bytes, "cargo metadata", message);
        read_graph(r, plan);
        ok = json_finish(r);
    }
    free(r);
    if (!ok) return false;
    if (!plan->target_folder) return json_message(message, "cargo metadata: no target_directory");
    if (!decide(plan)) return json_message(message, "out of memory");
    return check_asked(plan, message);
}

void cargo_plan_write(const CargoPlan *plan, Text *to) {
    for (size_t i = 0; i < plan->n; i++) {
        const CargoCrate *c = &plan->crates[i];
        text_printf(to, "%s %s %s %s\n", c->name, c->version, c->is_mac ? "mac" : "linux", c->why);
    }
}

bool cargo_plan_is_mac(const char *text, const char *name, const char *version) {
    const size_t n = strlen(name), v = strlen(version);
    for (const char *at = text; at && *at;) {
        if (!strncmp(at, name, n) && at[n] == ' ' && !strncmp(at + n + 1, version, v) &&
            at[n + 1 + v] == ' ')
            return !strncmp(at + n + v + 2, "mac ", 4);
        at = strchr(at, '\n');
        if (at) at++;
    }
    return false;
}

static void free_items(Strings *s) {
    for (size_t i = 0; i < s->n; i++) free(s->items[i]);
    strings_free(s);
}

static void keep_node(HashNode *node) { (void)node; } // it is in the array

void cargo_plan_free(CargoPlan *plan) {
    hash_clear(&plan->by_id, keep_node);
    for (size_t i = 0; i < plan->n; i++) {
        CargoCrate *c = &plan->crates[i];
        free(c->id), free(c->name), free(c->version), free(c->uses);
    }
    free(plan->crates);
    free(plan->target_folder);
    free(plan->workspace_root);
    free_items(&plan->manifests);
    free_items(&plan->mac), free_items(&plan->linux_), free_items(&plan->frameworks);
    *plan = (CargoPlan){0};
}
