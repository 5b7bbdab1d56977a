// SPDX-License-Identifier: Apache-2.0
// picture.c: PNG and JPEG files, the chunks of a PNG with checksums made right.
#include "fuzz.h"
#include "image/image.h"
#include "base/message.h"
#include <zlib.h>

static void read_picture(const uint8_t *data, size_t n) {
    Image image;
    char message[MESSAGE_BYTES];
    if (image_decode(&image, data, n, "file", message))
        fuzz_keep(fuzz_touch(image.rgb, (size_t)image.width * image.height * 3));
    else if (image.rgb)
        abort(); // empty on failure
    image_free(&image);
}

static uint32_t be32(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

// True: something was changed.
static bool mend_checksums(uint8_t *data, size_t n) {
    bool changed = false;
    for (size_t at = 8; n >= 12 && at <= n - 12;) {
        size_t length = be32(data + at);
        if (length > n - 12 - at) break;
        uint32_t sum = (uint32_t)crc32(0, data + at + 4, (uInt)(length + 4));
        uint8_t *to = data + at + 8 + length;
        changed |= be32(to) != sum;
        for (int i = 0; i < 4; i++) to[i] = (uint8_t)(sum >> (24 - 8 * i));
        at += 12 + length;
    }
    return changed;
}

// Pictures that are mostly a claim about their size cost time and find nothing.
static bool is_huge(const uint8_t *data, size_t n) {
    return n >= 24 && !memcmp(data + 12, "IHDR", 4) &&
           (uint64_t)be32(data + 16) * be32(data + 20) > 1 << 20;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    if (is_huge(data, n)) return 0;
    read_picture(data, n);
    uint8_t *copy = n > 8 && data[0] == 0x89 ? malloc(n) : NULL;
    if (!copy) return 0;
    memcpy(copy, data, n);
    if (mend_checksums(copy, n)) read_picture(copy, n);
    free(copy);
    return 0;
}
