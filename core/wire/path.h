/* SPDX-License-Identifier: MIT */
/*
 * Request paths as text: ss_path_clean of the public header, a check of
 * REQUEST_URI that can only refuse, and what a page's name tells.
 */
#ifndef SS_WIRE_PATH_H
#define SS_WIRE_PATH_H

#include "base/base.h"
#include "base/error.h"

#define PATH_BYTES_MAX 4096

/*
 * statespace-protocol(7), PATHS: cut at the first '?', scheme and host
 * stripped, decoded once; "..", a leading "//", a broken escape, a control byte
 * or bad UTF-8 refuses.  Never compared with the path, never opens a file.
 */
enum ss_err path_check_uri(const char *uri, struct ss_error *err);
/* Ends in .md or .markdown? */
bool path_is_page(const char *path);
/* Length of the directory part: 4 for "docs/a.md", 0 for "a.md". */
size_t path_dir_len(const char *path);
/* Is ".." a component of the word, or of what follows a '=' in it? */
bool path_word_climbs(struct ss_text word);

#endif
