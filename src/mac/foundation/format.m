// SPDX-License-Identifier: Apache-2.0
// format.m: formats of strings: those of C, %@ for objects, %C and %S for characters of UTF-16, and
// arguments by place (%2$@).
#include "mac/foundation/foundation_int.h"

typedef struct Spec { // one conversion: the flags and numbers go on to C's printf
    char text[48];
    size_t n;
    int width, precision; // -1: none
    char length[3], conversion;
    unsigned place; // 0: the next argument
} Spec;

static bool digit(uint16_t c) { return c >= '0' && c <= '9'; }

// A format may be a stranger's: no number in it asks for more than this, and no place for arguments
// that lie far from those that a caller can have given.
enum { MOST_CHARACTERS = 1 << 20, MOST_PLACES = 64 };

static int bounded(int v) {
    return v > MOST_CHARACTERS ? MOST_CHARACTERS : v < -MOST_CHARACTERS ? -MOST_CHARACTERS : v;
}

static int number(const StringBuffer *f, size_t *i) {
    int v = 0;
    while (*i < f->length && digit(buffer_at(f, *i)))
        v = bounded(v * 10 + (buffer_at(f, (*i)++) - '0'));
    return v;
}

static size_t parse(const StringBuffer *f, size_t i, Spec *s, va_list *list) {
    *s = (Spec){.width = -1, .precision = -1};
    size_t after = i;
    int place = number(f, &after);
    if (place && after < f->length && buffer_at(f, after) == '$')
        s->place = (unsigned)place, i = after + 1;
    s->text[s->n++] = '%';
    while (i < f->length && strchr("-+ #0'", (char)buffer_at(f, i)) && buffer_at(f, i) && s->n < 8)
        s->text[s->n++] = (char)buffer_at(f, i++);
    if (i < f->length && buffer_at(f, i) == '*') {
        s->width = bounded(va_arg(*list, int)), i++;
        if (s->width < 0) s->text[s->n++] = '-', s->width = -s->width;
    } else if (i < f->length && digit(buffer_at(f, i)))
        s->width = number(f, &i);
    if (i < f->length && buffer_at(f, i) == '.') {
        i++;
        if (i < f->length && buffer_at(f, i) == '*')
            s->precision = bounded(va_arg(*list, int)), i++;
        else
            s->precision = number(f, &i);
    }
    for (size_t k = 0;
         i < f->length && k < 2 && buffer_at(f, i) && strchr("hlqjztL", (char)buffer_at(f, i)); k++)
        s->length[k] = (char)buffer_at(f, i++);
    if (i < f->length) s->conversion = (char)buffer_at(f, i++);
    if (s->width >= 0) s->n += (size_t)sprintf(s->text + s->n, "%d", s->width);
    if (s->precision >= 0) s->n += (size_t)sprintf(s->text + s->n, ".%d", s->precision);
    return i;
}

static void pad(StringBuffer *to, const Spec *s, size_t n) {
    for (size_t k = n; s->width > 0 && k < (size_t)s->width; k++) buffer_append_ascii(to, " ", 1);
}

// Text with the conversion's width and precision, counted in characters.
static void put_text(StringBuffer *to, const StringBuffer *text, const Spec *s) {
    size_t n = s->precision >= 0 && (size_t)s->precision < text->length ? (size_t)s->precision
                                                                        : text->length;
    bool left = memchr(s->text, '-', s->n) != NULL;
    if (!left) pad(to, s, n);
    buffer_append(to, text, 0, n);
    if (left) pad(to, s, n);
}

static void put_object(StringBuffer *to, id object, const Spec *s) {
    StringBuffer null = {0};
    if (!object) {
        buffer_append_ascii(&null, "(null)", 6);
        put_text(to, &null, s);
        buffer_free(&null);
        return;
    }
    NSString *text = [object isKindOfClass:[NSString class]] ? object : [object description];
    StringBuffer view = string_view(text);
    put_text(to, &view, s);
}

static void put_c_text(StringBuffer *to, const char *text, const Spec *s) {
    StringBuffer decoded = {0};
    size_t n = text ? s->precision >= 0 ? strnlen(text, (size_t)s->precision) : strlen(text) : 6;
    if (!buffer_append_utf8(&decoded, text ? text : "(null)", n))
        buffer_append_latin1(&decoded, (const uint8_t *)text, n);
    put_text(to, &decoded, s);
    buffer_free(&decoded);
}

#define PRINT(type)                                                                                \
    do {                                                                                           \
        char small[512], *text = small;                                                            \
        type value = va_arg(*list, type);                                                          \
        int n = snprintf(small, sizeof small, s->text, value);                                     \
        if (n >= (int)sizeof small)                                                                \
            text = malloc((size_t)n + 1), snprintf(text, (size_t)n + 1, s->text, value);           \
        if (n > 0) buffer_append_ascii(to, text, (size_t)n);                                       \
        if (text != small) free(text);                                                             \
    } while (0)

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-nonliteral"
static void put_number(StringBuffer *to, Spec *s, va_list *list) {
    bool floating = strchr("fFeEgGaA", s->conversion) != NULL;
    bool wide = s->length[0] == 'l' || s->length[0] == 'q' || s->length[0] == 'j' ||
                s->length[0] == 'z' || s->length[0] == 't';
    const char *length = floating ? s->length[0] == 'L' ? "L" : "" : wide ? "ll" : s->length;
    snprintf(s->text + s->n, sizeof s->text - s->n, "%s%c", length,
             s->conversion == 'D'   ? 'd'
             : s->conversion == 'U' ? 'u'
             : s->conversion == 'O' ? 'o'
                                    : s->conversion);
    if (s->conversion == 'p')
        PRINT(void *);
    else if (floating && s->length[0] == 'L')
        PRINT(long double);
    else if (floating)
        PRINT(double);
    else if (wide)
        PRINT(long long);
    else
        PRINT(int);
}
#pragma clang diagnostic pop

static void format_spec(StringBuffer *to, Spec *s, va_list *list) {
    switch (s->conversion) {
    case '%': buffer_append_ascii(to, "%", 1); break;
    case '@': put_object(to, va_arg(*list, id), s); break;
    case 's': put_c_text(to, va_arg(*list, const char *), s); break;
    case 'C': buffer_append_code(to, (uint32_t)va_arg(*list, int) & 0xffff); break;
    case 'c': buffer_append_code(to, (uint32_t)va_arg(*list, int) & 0xff); break;
    case 'S': {
        const unichar *units = va_arg(*list, const unichar *);
        size_t n = 0;
        while (units && units[n]) n++;
        if (units) buffer_append_wide(to, units, n);
        break;
    }
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
    case 'D':
    case 'U':
    case 'O':
    case 'p':
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A': put_number(to, s, list); break;
    default: buffer_append_code(to, (uint8_t)s->conversion); // as it stands
    }
}

// Passes over the arguments before the place; all of them are taken for words or, after their own
// conversion in the format, for doubles.
static void skip_to(const StringBuffer *f, unsigned place, va_list *list) {
    for (unsigned wanted = 1; wanted < place; wanted++) {
        char conversion = 'd';
        for (size_t i = 0; i < f->length;) {
            if (buffer_at(f, i++) != '%') continue;
            Spec s;
            i = parse(f, i, &s, list);
            if (s.place == wanted) conversion = s.conversion;
        }
        if (strchr("fFeEgGaA", conversion))
            (void)va_arg(*list, double);
        else
            (void)va_arg(*list, void *);
    }
}

void string_format(StringBuffer *to, NSString *format, va_list arguments) {
    StringBuffer f = string_view(format);
    va_list list;
    va_copy(list, arguments);
    buffer_reserve(to, f.length);
    buffer_append_ascii(to, "", 0);
    for (size_t i = 0, start = 0; i < f.length; start = i) {
        while (i < f.length && buffer_at(&f, i) != '%') i++;
        buffer_append(to, &f, start, i - start);
        if (i++ >= f.length) break;
        Spec s;
        i = parse(&f, i, &s, &list);
        if (s.place > MOST_PLACES) {
            buffer_append_code(to, (uint8_t)s.conversion); // there is no such argument
        } else if (s.place) {
            va_list placed;
            va_copy(placed, arguments);
            skip_to(&f, s.place, &placed);
            format_spec(to, &s, &placed);
            va_end(placed);
        } else if (s.conversion)
            format_spec(to, &s, &list);
    }
    va_end(list);
}
