/* SPDX-License-Identifier: MIT */
/*
 * Messages of the programs themselves: whole lines on standard error, one
 * write(2) each, so that lines of several processes never mix.
 */
#ifndef FCGI_SAY_H
#define FCGI_SAY_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "statespace.h"

/*
 * How many bytes at the start of text are a control character, or one that
 * changes the direction of text: a terminal is not sent it.
 */
size_t say_control(const char *text);
/* "statespace: " and the text; such characters become '?'. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for an error: message, hint when there is one, detail, errno. */
void say_error(const char *what, const struct ss_error *err);
/*
 * From here on say writes lines of the log of site, in its format (event=pool);
 * NULL: whole lines on standard error again.
 */
void say_to(const struct ss_site *site);
/* say_line counts here the lines that could not be written whole. */
void say_count_lost(_Atomic uint64_t *counter);
/* For ss_site_set_log: the finished line with its line break. */
void say_line(void *ctx, const char *line, size_t len);

/* Fills err as the library does. */
enum ss_err say_refusal(struct ss_error *err, enum ss_err code,
	const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
