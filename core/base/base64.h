/* SPDX-License-Identifier: MIT */
/* Base64 with padding (RFC 4648 section 4).  Pure. */
#ifndef SS_BASE_BASE64_H
#define SS_BASE_BASE64_H

#include "base/buf.h"

bool base64_write(struct buf *out, const char *data, size_t len);
/* False for anything that base64_write would not have written. */
bool base64_read(struct buf *out, const char *text, size_t len);

#endif
