// SPDX-License-Identifier: Apache-2.0
// window_x11.c: windows by XCB, which is loaded when the first one is opened: neither building nor
// running Ingot needs it. XCB and not Xlib, since its errors are values: a display that goes away
// must not end the program. Pictures go through shared memory where the server is on this machine
// (MIT-SHM), else through the connection in strips.
//
// The declarations below are the part of XCB's interface that is used; its layouts are those of the
// X11 protocol and do not change.
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include "runtime/layer/window.h"
#include "runtime/object/error.h"
#include "runtime/object/object.h"

// ---- XCB ----

typedef struct xcb_connection_t xcb_connection_t;
typedef struct Cookie {
    unsigned sequence;
} Cookie;
typedef struct Screen { // xcb_screen_t
    uint32_t root, default_colormap, white_pixel, black_pixel, current_input_masks;
    uint16_t width, height, width_mm, height_mm, min_maps, max_maps;
    uint32_t root_visual;
    uint8_t backing_stores, save_unders, root_depth, n_depths;
} Screen;
typedef struct ScreenIterator {
    Screen *data;
    int rem, index;
} ScreenIterator;
typedef struct AtomReply {
    uint8_t response_type, pad;
    uint16_t sequence;
    uint32_t length, atom;
} AtomReply;
typedef struct KeysReply { // the keysyms follow
    uint8_t response_type, per_key;
    uint16_t sequence;
    uint32_t length, pad[6];
} KeysReply;
typedef struct Setup { // the beginning of xcb_setup_t
    uint8_t before[34], min_key, max_key;
} Setup;
typedef struct Event { // of every kind: 32 bytes, and XCB's own sequence
    uint8_t response_type, format;
    uint16_t sequence;
    union {
        uint32_t words[7];
        struct { // ConfigureNotify
            uint32_t event, window, above;
            int16_t x, y;
            uint16_t width, height;
        } configure;
        struct { // KeyPress, ButtonPress, MotionNotify and their like; `format` is key or button
            uint32_t time, root, event, child;
            int16_t root_x, root_y, x, y;
            uint16_t state;
        } input;
        struct { // ClientMessage
            uint32_t window, type, data[5];
        } message;
    };
    uint32_t full_sequence;
} Event;
enum {
    KEY_PRESS = 2,
    KEY_RELEASE = 3,
    BUTTON_PRESS = 4,
    BUTTON_RELEASE = 5,
    MOTION_NOTIFY = 6,
    MAPPING_NOTIFY = 34,
    EVENT_MASK_INPUT = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 3 | 1 << 6, // keys, buttons, the pointer
    CONFIGURE_NOTIFY = 22,
    CLIENT_MESSAGE = 33,
    EXPOSE = 12,
    EVENT_MASK_EXPOSURE = 1 << 15,
    EVENT_MASK_STRUCTURE = 1 << 17,
    CW_BACK_PIXEL = 1 << 1,
    CW_EVENT_MASK = 1 << 11,
    ATOM_ATOM = 4,
    ATOM_STRING = 31,
    ATOM_WM_NAME = 39,
    FORMAT_Z_PIXMAP = 2,
    INPUT_OUTPUT = 1,
    GC_GRAPHICS_EXPOSURES = 1 << 16,
    MAX_INPUTS = 256,
};

#define XCB_CALLS(X)                                                                               \
    X(xcb_connect, xcb_connection_t *, (const char *, int *))                                      \
    X(xcb_disconnect, void, (xcb_connection_t *))                                                  \
    X(xcb_connection_has_error, int, (xcb_connection_t *))                                         \
    X(xcb_get_setup, const Setup *, (xcb_connection_t *))                                          \
    X(xcb_get_keyboard_mapping, Cookie, (xcb_connection_t *, uint8_t, uint8_t))                    \
    X(xcb_get_keyboard_mapping_reply, KeysReply *, (xcb_connection_t *, Cookie, void **))          \
    X(xcb_setup_roots_iterator, ScreenIterator, (const void *))                                    \
    X(xcb_generate_id, uint32_t, (xcb_connection_t *))                                             \
    X(xcb_create_window, Cookie,                                                                   \
      (xcb_connection_t *, uint8_t, uint32_t, uint32_t, int16_t, int16_t, uint16_t, uint16_t,      \
       uint16_t, uint16_t, uint32_t, uint32_t, const void *))                                      \
    X(xcb_destroy_window, Cookie, (xcb_connection_t *, uint32_t))                                  \
    X(xcb_map_window, Cookie, (xcb_connection_t *, uint32_t))                                      \
    X(xcb_intern_atom, Cookie, (xcb_connection_t *, uint8_t, uint16_t, const char *))              \
    X(xcb_intern_atom_reply, AtomReply *, (xcb_connection_t *, Cookie, void **))                   \
    X(xcb_change_property, Cookie,                                                                 \
      (xcb_connection_t *, uint8_t, uint32_t, uint32_t, uint32_t, uint8_t, uint32_t,               \
       const void *))                                                                              \
    X(xcb_create_gc, Cookie, (xcb_connection_t *, uint32_t, uint32_t, uint32_t, const void *))     \
    X(xcb_put_image, Cookie,                                                                       \
      (xcb_connection_t *, uint8_t, uint32_t, uint32_t, uint16_t, uint16_t, int16_t, int16_t,      \
       uint8_t, uint8_t, uint32_t, const uint8_t *))                                               \
    X(xcb_get_maximum_request_length, uint32_t, (xcb_connection_t *))                              \
    X(xcb_request_check, void *, (xcb_connection_t *, Cookie))                                     \
    X(xcb_get_input_focus, Cookie, (xcb_connection_t *))                                           \
    X(xcb_get_input_focus_reply, void *, (xcb_connection_t *, Cookie, void **))                    \
    X(xcb_poll_for_event, Event *, (xcb_connection_t *))                                           \
    X(xcb_flush, int, (xcb_connection_t *))
#define SHM_CALLS(X)                                                                               \
    X(xcb_shm_query_version, Cookie, (xcb_connection_t *))                                         \
    X(xcb_shm_query_version_reply, void *, (xcb_connection_t *, Cookie, void **))                  \
    X(xcb_shm_attach_checked, Cookie, (xcb_connection_t *, uint32_t, uint32_t, uint8_t))           \
    X(xcb_shm_detach, Cookie, (xcb_connection_t *, uint32_t))                                      \
    X(xcb_shm_put_image, Cookie,                                                                   \
      (xcb_connection_t *, uint32_t, uint32_t, uint16_t, uint16_t, uint16_t, uint16_t, uint16_t,   \
       uint16_t, int16_t, int16_t, uint8_t, uint8_t, uint8_t, uint32_t, uint32_t))

#define DECLARE(name, result, parameters) result(*name) parameters;
static struct {
    bool ok, shm;
    XCB_CALLS(DECLARE)
    SHM_CALLS(DECLARE)
} x;
#undef DECLARE

// dlsym gives a data pointer; POSIX says that it holds the function.
static bool find_symbol(void *library, const char *name, void *to) {
    void *found = dlsym(library, name);
    memcpy(to, &found, sizeof found);
    return found != NULL;
}

static void load(void) {
    void *base = dlopen("libxcb.so.1", RTLD_NOW | RTLD_LOCAL);
    void *shm = base ? dlopen("libxcb-shm.so.0", RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!base) return;
    x.ok = true;
    x.shm = shm != NULL;
#define FIND(name, result, parameters) x.ok = find_symbol(base, #name, &x.name) && x.ok;
    XCB_CALLS(FIND)
#undef FIND
#define FIND(name, result, parameters) x.shm = shm && find_symbol(shm, #name, &x.name) && x.shm;
    SHM_CALLS(FIND)
#undef FIND
}

// ---- Windows ----

struct RtWindow {
    xcb_connection_t *connection;
    uint32_t window, gc, protocols, delete_window;
    uint8_t depth;
    bool shm, dead;
    uint32_t width, height; // as the server last said
    // The picture: shared with the server (segment) or only ours.
    unsigned char *pixels;
    size_t n_bytes;
    uint32_t segment, picture_width, picture_height;
    uint32_t keys[256][2];            // keysyms of each key, without shift and with it
    CAWindowInput inputs[MAX_INPUTS]; // what was not asked for yet: a ring
    size_t first_input, n_inputs;
    uint8_t released; // the key of the last input, if that is its release
};

static uint32_t atom(RtWindow *w, const char *name) {
    AtomReply *reply = x.xcb_intern_atom_reply(
        w->connection, x.xcb_intern_atom(w->connection, 0, (uint16_t)strlen(name), name), NULL);
    uint32_t found = reply ? reply->atom : 0;
    free(reply);
    return found;
}

// Waits until the server has done all that was asked: shared pixels may then be written again.
static void settle(RtWindow *w) {
    void *reply =
        x.xcb_get_input_focus_reply(w->connection, x.xcb_get_input_focus(w->connection), NULL);
    if (!reply || x.xcb_connection_has_error(w->connection)) w->dead = true;
    free(reply);
}

static void drop_pixels(RtWindow *w) {
    if (w->segment) {
        x.xcb_shm_detach(w->connection, w->segment);
        settle(w);
        shmdt(w->pixels);
    } else {
        rt_free(w->pixels);
    }
    w->pixels = NULL;
    w->segment = 0;
    w->n_bytes = 0;
}

// A segment that the server can see; false: it cannot (another machine, a sandbox).
static bool share_pixels(RtWindow *w, size_t n_bytes) {
    if (!w->shm) return false;
    int id = shmget(IPC_PRIVATE, n_bytes, IPC_CREAT | 0600);
    if (id < 0) return false;
    void *at = shmat(id, NULL, 0);
    uint32_t segment = x.xcb_generate_id(w->connection);
    void *wrong = NULL;
    bool ok = at != (void *)-1;
    if (ok) {
        wrong = x.xcb_request_check(
            w->connection, x.xcb_shm_attach_checked(w->connection, segment, (uint32_t)id, 0));
        ok = !wrong && !x.xcb_connection_has_error(w->connection);
        free(wrong);
    }
    shmctl(id, IPC_RMID, NULL); // it lives as long as somebody has it attached
    if (!ok) {
        if (at != (void *)-1) shmdt(at);
        w->shm = false;
        return false;
    }
    w->pixels = at;
    w->segment = segment;
    return true;
}

void *rt_window_pixels(RtWindow *w, uint32_t width, uint32_t height) {
    size_t need = (size_t)width * height * 4;
    if (w->dead || x.xcb_connection_has_error(w->connection)) return NULL;
    if (need > w->n_bytes) {
        drop_pixels(w);
        if (!share_pixels(w, need) && !(w->pixels = rt_alloc(need))) return NULL;
        w->n_bytes = need;
    }
    w->picture_width = width;
    w->picture_height = height;
    return w->pixels;
}

static void put_strips(RtWindow *w) {
    size_t row = (size_t)w->picture_width * 4;
    size_t most = (size_t)x.xcb_get_maximum_request_length(w->connection) * 4 - 64;
    size_t rows = most / row ? most / row : 1;
    for (size_t y = 0; y < w->picture_height; y += rows) {
        size_t n = w->picture_height - y < rows ? w->picture_height - y : rows;
        x.xcb_put_image(w->connection, FORMAT_Z_PIXMAP, w->window, w->gc,
                        (uint16_t)w->picture_width, (uint16_t)n, 0, (int16_t)y, 0, w->depth,
                        (uint32_t)(n * row), w->pixels + y * row);
    }
}

void rt_window_show(RtWindow *w) {
    if (!w->pixels || w->dead) return;
    uint16_t width = (uint16_t)w->picture_width, height = (uint16_t)w->picture_height;
    if (w->segment)
        x.xcb_shm_put_image(w->connection, w->window, w->gc, width, height, 0, 0, width, height, 0,
                            0, w->depth, FORMAT_Z_PIXMAP, 0, w->segment, 0);
    else
        put_strips(w);
    settle(w);
}

// ---- Mouse and keyboard ----

static void read_keys(RtWindow *w) {
    const Setup *setup = x.xcb_get_setup(w->connection);
    const int n = setup->max_key - setup->min_key + 1;
    KeysReply *reply = x.xcb_get_keyboard_mapping_reply(
        w->connection, x.xcb_get_keyboard_mapping(w->connection, setup->min_key, (uint8_t)n), NULL);
    if (!reply) return;
    const uint32_t *symbols = (const uint32_t *)(reply + 1);
    for (int i = 0; i < n && (size_t)(i + 1) * reply->per_key <= reply->length; i++)
        for (int k = 0; k < 2; k++) {
            const uint32_t symbol = k < reply->per_key ? symbols[i * reply->per_key + k] : 0;
            w->keys[setup->min_key + i][k] = symbol ? symbol : w->keys[setup->min_key + i][0];
        }
    free(reply);
}

static uint32_t modifiers(uint16_t state) {
    static const struct {
        uint16_t x11;
        uint32_t ours;
    } pairs[] = {{1, CAWindowModifierShift},
                 {2, CAWindowModifierCapsLock},
                 {4, CAWindowModifierControl},
                 {8, CAWindowModifierOption},
                 {64, CAWindowModifierCommand}};
    uint32_t all = 0;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (state & pairs[i].x11) all |= pairs[i].ours;
    return all;
}

// False: it is a button of the wheel let go, which says nothing new.
static bool set_button(CAWindowInput *in, int button, bool down) {
    if (button >= 4 && button <= 7) { // the wheel: up, down, left, right
        in->kind = CAWindowInputScrolled;
        in->scroll_y = button == 4 ? 1 : button == 5 ? -1 : 0;
        in->scroll_x = button == 6 ? 1 : button == 7 ? -1 : 0;
        return down;
    }
    in->kind = down ? CAWindowInputButtonDown : CAWindowInputButtonUp;
    in->button = button == 1 ? 0 : button == 3 ? 1 : button == 2 ? 2 : (uint32_t)button - 5;
    return true;
}

static void set_key(RtWindow *w, CAWindowInput *in, uint8_t key, uint16_t state, bool down) {
    in->kind = down ? CAWindowInputKeyDown : CAWindowInputKeyUp;
    in->key = w->keys[key][0];
    bool letter = in->key >= 'a' && in->key <= 'z', caps = state & 2;
    in->text = w->keys[key][(state & 1) ^ (letter && caps)];
    // A key that is held is let go and pressed at once by the server: that is one more press.
    CAWindowInput *last =
        w->n_inputs ? &w->inputs[(w->first_input + w->n_inputs - 1) % MAX_INPUTS] : NULL;
    if (down && last && w->released == key && last->time == in->time)
        in->repeats = true, w->n_inputs--;
}

static void take_input(RtWindow *w, const Event *e, int kind) {
    CAWindowInput in = {.x = e->input.x,
                        .y = e->input.y,
                        .modifiers = modifiers(e->input.state),
                        .time = e->input.time / 1e3};
    if (kind == KEY_PRESS || kind == KEY_RELEASE)
        set_key(w, &in, e->format, e->input.state, kind == KEY_PRESS);
    else if (kind == MOTION_NOTIFY)
        in.kind = CAWindowInputMoved;
    else if (!set_button(&in, e->format, kind == BUTTON_PRESS))
        return;
    w->released = kind == KEY_RELEASE ? e->format : 0;
    if (w->n_inputs == MAX_INPUTS) w->first_input++, w->n_inputs--;
    w->inputs[(w->first_input + w->n_inputs++) % MAX_INPUTS] = in;
}

bool rt_window_next_input(RtWindow *w, CAWindowInput *input) {
    if (!w->n_inputs) return false;
    *input = w->inputs[w->first_input++ % MAX_INPUTS];
    w->first_input %= MAX_INPUTS;
    w->n_inputs--;
    return true;
}

RtWindowEvents rt_window_poll(RtWindow *w) {
    RtWindowEvents events = {0};
    bool again = false;
    for (Event *e; (e = x.xcb_poll_for_event(w->connection)); free(e)) {
        int kind = e->response_type & 0x7f;
        if (kind == CONFIGURE_NOTIFY &&
            (e->configure.width != w->width || e->configure.height != w->height)) {
            events.resized = true;
            w->width = events.width = e->configure.width;
            w->height = events.height = e->configure.height;
        }
        again |= kind == EXPOSE;
        if (kind >= KEY_PRESS && kind <= MOTION_NOTIFY) take_input(w, e, kind);
        if (kind == MAPPING_NOTIFY) read_keys(w);
        if (kind == CLIENT_MESSAGE && e->message.type == w->protocols &&
            e->message.data[0] == w->delete_window)
            events.close_wanted = true;
    }
    if (again && !events.resized) rt_window_show(w); // a part was hidden: the picture once more
    if (w->dead || x.xcb_connection_has_error(w->connection)) events.gone = w->dead = true;
    return events;
}

uint32_t rt_window_number(const RtWindow *w) { return w ? w->window : 0; }

void rt_window_close(RtWindow *w) {
    if (!w) return;
    drop_pixels(w);
    if (w->window) x.xcb_destroy_window(w->connection, w->window);
    x.xcb_flush(w->connection);
    x.xcb_disconnect(w->connection);
    rt_free(w);
}

static void make_window(RtWindow *w, const Screen *screen, const char *title) {
    w->window = x.xcb_generate_id(w->connection);
    w->gc = x.xcb_generate_id(w->connection);
    uint32_t values[] = {screen->black_pixel,
                         EVENT_MASK_EXPOSURE | EVENT_MASK_STRUCTURE | EVENT_MASK_INPUT};
    x.xcb_create_window(w->connection, w->depth, w->window, screen->root, 0, 0, (uint16_t)w->width,
                        (uint16_t)w->height, 0, INPUT_OUTPUT, screen->root_visual,
                        CW_BACK_PIXEL | CW_EVENT_MASK, values);
    x.xcb_create_gc(w->connection, w->gc, w->window, GC_GRAPHICS_EXPOSURES, &(uint32_t){0});
    uint32_t utf8 = atom(w, "UTF8_STRING"), name = atom(w, "_NET_WM_NAME");
    uint32_t n = (uint32_t)strlen(title);
    x.xcb_change_property(w->connection, 0, w->window, ATOM_WM_NAME, ATOM_STRING, 8, n, title);
    if (utf8 && name) x.xcb_change_property(w->connection, 0, w->window, name, utf8, 8, n, title);
    w->protocols = atom(w, "WM_PROTOCOLS");
    w->delete_window = atom(w, "WM_DELETE_WINDOW");
    x.xcb_change_property(w->connection, 0, w->window, w->protocols, ATOM_ATOM, 32, 1,
                          &w->delete_window);
    read_keys(w);
    x.xcb_map_window(w->connection, w->window);
    settle(w);
}

RtWindow *rt_window_open(const char *title, uint32_t width, uint32_t height, MTLError **error) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    const char *display = getenv("DISPLAY"), *why = NULL;
    long code = CAMetalLayerErrorNoDisplay;
    RtWindow *w = rt_alloc(sizeof *w);
    int number = 0;
    if (!w)
        why = "out of memory";
    else if (!x.ok)
        why = "libxcb.so.1 is not installed";
    else if (!display || !*display)
        why = "the environment variable DISPLAY is not set";
    else if (!(w->connection = x.xcb_connect(NULL, &number)) ||
             x.xcb_connection_has_error(w->connection))
        why = "the display does not answer";
    if (why) goto fail;
    ScreenIterator screens = x.xcb_setup_roots_iterator(x.xcb_get_setup(w->connection));
    const Screen *screen = screens.data;
    if (!screen || screen->root_depth < 24) {
        code = CAMetalLayerErrorUnsupported;
        why = "the display has no 24 bits of true colour";
        goto fail;
    }
    w->depth = screen->root_depth;
    w->width = width, w->height = height;
    if (x.shm) {
        void *version = x.xcb_shm_query_version_reply(w->connection,
                                                      x.xcb_shm_query_version(w->connection), NULL);
        w->shm = version != NULL;
        free(version);
    }
    make_window(w, screen, title);
    if (!w->dead) return w;
    why = "the display does not answer";
fail:
    if (error)
        *error = rt_error_new(CAMetalLayerErrorDomain, code, "no window can be opened: %s%s%s%s",
                              why, display && *display ? " (DISPLAY=" : "",
                              display && *display ? display : "", display && *display ? ")" : "");
    if (w && w->connection) x.xcb_disconnect(w->connection);
    rt_free(w);
    return NULL;
}
