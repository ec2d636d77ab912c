/* SPDX-License-Identifier: MIT */
#include "say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static const struct ss_site *log_site;
static _Atomic uint64_t *lost_lines;

void
say_to(const struct ss_site *site)
{
	log_site = site;
}

void
say_count_lost(_Atomic uint64_t *counter)
{
	lost_lines = counter;
}

/* Also U+0080 to U+009F; U+202A to U+202E and U+2066 to U+2069 (UAX 9). */
size_t
say_control(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	if (s[0] == '\0')
		return 0;
	if (s[0] < ' ' || s[0] == 0x7f)
		return 1;
	if (s[0] == 0xc2 && s[1] >= 0x80 && s[1] <= 0x9f)
		return 2;
	if (s[0] != 0xe2)
		return 0;
	return (s[1] == 0x80 && s[2] >= 0xaa && s[2] <= 0xae) ||
			(s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9)
		? 3
		: 0;
}

/* line has space for one byte behind len. */
static void
write_line(char *line, size_t len)
{
	int saved = errno;
	ssize_t n;

	line[len] = '\0';
	for (size_t i = 0, bytes; i < len; i++)
		if ((bytes = say_control(line + i)) > 0)
			memset(line + i, '?', bytes);
	line[len] = '\n';
	do
		n = write(STDERR_FILENO, line, len + 1);
	while (n < 0 && errno == EINTR);
	errno = saved;
}

void
say(const char *format, ...)
{
	char line[4096];
	va_list ap;
	int head, n;

	head = snprintf(line, sizeof(line), "statespace: ");
	va_start(ap, format);
	n = vsnprintf(line + head, sizeof(line) - (size_t)head - 1, format, ap);
	va_end(ap);
	if (n < 0)
		return;
	if (log_site != NULL &&
		ss_site_log(log_site, "pool",
			&(struct ss_field){
				.name = "message", .text = line + head },
			1))
		return;
	write_line(line, strnlen(line, sizeof(line) - 2));
}

void
say_error(const char *what, const struct ss_error *err)
{
	const char *reason = err->sys_errno ? strerror(err->sys_errno) : "";
	bool detail = err->detail[0] != '\0';
	bool number = *reason != '\0' && strstr(err->message, reason) == NULL;

	say("%s%s%s%s%s%s%s%s%s%s", what != NULL ? what : "",
		what != NULL ? ": " : "", err->message,
		err->hint[0] != '\0' ? "; " : "", err->hint,
		detail || number ? " [" : "", err->detail,
		detail && number ? ": " : "", number ? reason : "",
		detail || number ? "]" : "");
}

void
say_line(void *ctx, const char *line, size_t len)
{
	struct iovec parts[2] = {
		{ .iov_base = (void *)(uintptr_t)line, .iov_len = len },
		{ .iov_base = (char[]){ '\n' }, .iov_len = 1 },
	};
	int fd = ctx != NULL ? *(const int *)ctx : STDERR_FILENO;
	ssize_t n;

	do
		n = writev(fd, parts, 2);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)len + 1 && lost_lines != NULL)
		atomic_fetch_add(lost_lines, 1);
}

enum ss_err
say_refusal(struct ss_error *err, enum ss_err code, const char *format, ...)
{
	va_list ap;

	if (err == NULL)
		return code;
	*err = (struct ss_error){ .code = code };
	va_start(ap, format);
	vsnprintf(err->message, sizeof(err->message), format, ap);
	va_end(ap);
	return code;
}
