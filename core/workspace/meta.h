/* SPDX-License-Identifier: MIT */
/*
 * Lines of text in which any bytes but NUL can be a value: "name value\n", with
 * a line break, "%" and blanks of the value as "%" and two hexadecimal digits.
 * The files of a session are made of them.
 */
#ifndef SS_WORKSPACE_META_H
#define SS_WORKSPACE_META_H

#include "base/buf.h"
#include "workspace/workspace.h"

/* Appends one word of a line. */
bool meta_put_word(struct buf *out, const char *bytes, size_t len);
/* The next line, its line break made a NUL; NULL: no whole line is left. */
char *meta_line(char **at);
/*
 * The next word of a line, unescaped in place and with a NUL; *at is then behind
 * it.  NULL at the line's end.
 */
char *meta_word(char **at);
/* A word of decimal digits, perhaps with a minus; false: none. */
bool meta_number(char **at, int64_t *out);

/* The file `meta` of a session.  0 or errno. */
int meta_write(int dir, const struct workspace_meta *meta);
/* EPROTO: it is not one that meta_write wrote. */
int meta_read(int dir, struct arena *arena, struct workspace_meta *out);

#endif
