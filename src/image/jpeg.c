// SPDX-License-Identifier: Apache-2.0
// jpeg.c: JPEG by libjpeg-turbo (see image.h). libjpeg goes on after damage with a warning
// and grey pixels; here damage is an error. Errors come back by longjmp, as in png.c.
#include "image/image_int.h"
#include <setjmp.h>
#include <stdio.h> // jpeglib.h needs FILE
#include <stdlib.h>
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>

enum { MAX_SCANS = 200 }; // a progressive file of a few bytes per scan would keep us for hours

typedef struct Jpeg {
    struct jpeg_error_mgr error; // first: libjpeg hands back a pointer to it
    jmp_buf back;
    Reason *reason;
    struct jpeg_progress_mgr progress;
    unsigned char *rgb, *row;
    unsigned char *encoded; // of the encoder; malloc'd by libjpeg
    unsigned long n_encoded;
} Jpeg;

static void on_error(j_common_ptr common) {
    Jpeg *j = (Jpeg *)common->err;
    char text[JMSG_LENGTH_MAX];
    common->err->format_message(common, text);
    snprintf(j->reason->text, sizeof j->reason->text, "%s", text);
    longjmp(j->back, 1);
}

static void on_message(j_common_ptr common, int level) {
    if (level >= 0) return; // traces
    switch (common->err->msg_code) {
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE: on_error(common); break;
    default: // oddities that lose no pixel
        break;
    }
}

static void on_progress(j_common_ptr common) {
    Jpeg *j = (Jpeg *)common->err;
    if (!common->is_decompressor || ((j_decompress_ptr)common)->input_scan_number <= MAX_SCANS)
        return;
    snprintf(j->reason->text, sizeof j->reason->text, "more than %d scans", MAX_SCANS);
    longjmp(j->back, 1);
}

static void begin(Jpeg *j, Reason *reason) {
    *j = (Jpeg){.reason = reason};
    jpeg_std_error(&j->error);
    j->error.error_exit = on_error;
    j->error.emit_message = on_message;
    j->progress.progress_monitor = on_progress;
}

static int find_orientation(const struct jpeg_decompress_struct *d) {
    for (jpeg_saved_marker_ptr m = d->marker_list; m; m = m->next)
        if (m->marker == JPEG_APP0 + 1 && m->data_length > 6 && !memcmp(m->data, "Exif\0", 6))
            return exif_orientation(m->data + 6, m->data_length - 6);
    return 1;
}

// Ink to light. Adobe's files hold it inverted, and nearly all CMYK files are Adobe's.
static void from_cmyk(unsigned char *rgb, const unsigned char *cmyk, size_t n, bool inverted) {
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < 3; c++) {
            unsigned ink = cmyk[i * 4 + c], black = cmyk[i * 4 + 3];
            if (!inverted) ink = 255 - ink, black = 255 - black;
            rgb[i * 3 + c] = (unsigned char)((ink * black + 127) / 255);
        }
}

static bool read_rows(Jpeg *j, struct jpeg_decompress_struct *d, const unsigned char *data,
                      size_t n, int *orientation) {
    if (setjmp(j->back)) return false;
    jpeg_create_decompress(d);
    d->progress = &j->progress;
    jpeg_mem_src(d, data, (unsigned long)n);
    jpeg_save_markers(d, JPEG_APP0 + 1, 0xffff);
    jpeg_read_header(d, TRUE);
    if (!image_size_allowed(d->image_width, d->image_height, j->reason)) return false;
    *orientation = find_orientation(d);
    const bool ink = d->jpeg_color_space == JCS_CMYK || d->jpeg_color_space == JCS_YCCK;
    d->out_color_space = ink ? JCS_CMYK : JCS_RGB;
    d->dct_method = JDCT_ISLOW;
    jpeg_start_decompress(d);
    const size_t width = d->output_width, height = d->output_height;
    j->rgb = malloc(width * height * 3);
    j->row = malloc(width * 4);
    if (!j->rgb || !j->row) {
        snprintf(j->reason->text, sizeof j->reason->text, "out of memory");
        return false;
    }
    while (d->output_scanline < height) {
        unsigned char *to = j->rgb + d->output_scanline * width * 3;
        JSAMPROW row = ink ? j->row : to;
        jpeg_read_scanlines(d, &row, 1);
        if (ink) from_cmyk(to, j->row, width, d->saw_Adobe_marker);
    }
    jpeg_finish_decompress(d);
    return true;
}

bool image_read_jpeg(Image *image, const unsigned char *data, size_t n, int *orientation,
                     Reason *reason) {
    struct jpeg_decompress_struct d = {0};
    Jpeg j;
    begin(&j, reason);
    d.err = &j.error;
    bool ok = read_rows(&j, &d, data, n, orientation);
    if (ok) {
        *image = (Image){d.output_width, d.output_height, j.rgb};
        j.rgb = NULL;
    }
    jpeg_destroy_decompress(&d);
    free(j.rgb);
    free(j.row);
    return ok;
}

static bool write_rows(Jpeg *j, struct jpeg_compress_struct *c, const Image *image, int quality) {
    if (setjmp(j->back)) return false;
    jpeg_create_compress(c);
    jpeg_mem_dest(c, &j->encoded, &j->n_encoded);
    c->image_width = image->width;
    c->image_height = image->height;
    c->input_components = 3;
    c->in_color_space = JCS_RGB;
    jpeg_set_defaults(c);
    jpeg_set_quality(c, quality, TRUE);
    c->optimize_coding = TRUE;
    jpeg_start_compress(c, TRUE);
    while (c->next_scanline < c->image_height) {
        JSAMPROW row = image->rgb + (size_t)c->next_scanline * image->width * 3;
        jpeg_write_scanlines(c, &row, 1);
    }
    jpeg_finish_compress(c);
    return true;
}

unsigned char *image_write_jpeg(const Image *image, int quality, size_t *n_bytes, Reason *reason) {
    struct jpeg_compress_struct c = {0};
    Jpeg j;
    begin(&j, reason);
    c.err = &j.error;
    bool ok = write_rows(&j, &c, image, quality);
    jpeg_destroy_compress(&c);
    if (!ok) {
        free(j.encoded);
        return NULL;
    }
    *n_bytes = j.n_encoded;
    return j.encoded;
}
