/* SPDX-License-Identifier: MIT */
/* The file that a template gives, with the limits and paths of one run. */
#include "front_config.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "installed.h"
#include "say.h"
#include "sys.h"
#include "time_limits.h"

#define TEMPLATE_MAX 65536
#define BODY_MARGIN 65536 /* so that our own 413 answers, not nginx's */
#define READ_MARGIN_S 70  /* beyond the pool's watchdog */
/*
 * A tool's answer fits into the front's temporary file, so that a slow reader
 * holds no worker: each byte of output may become six, and MCP has it twice.
 */
#define ANSWER_GROWTH 16.0
#define TEMP_LEAST (16.0 * 1024 * 1024)

/* What the names between '@' in the template stand for. */
struct fillings {
	struct filling list[24];
	size_t count;
	char text[4 * PATH_MAX];
	size_t len;
};

static void
fill_text(struct fillings *f, const char *name, const char *value)
{
	f->list[f->count++] = (struct filling){ name, value };
}

__attribute__((format(printf, 3, 4))) static void
fill(struct fillings *f, const char *name, const char *format, ...)
{
	size_t left = sizeof(f->text) - f->len;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(f->text + f->len, left, format, ap);
	va_end(ap);
	fill_text(f, name, n >= 0 && (size_t)n < left ? f->text + f->len : "");
	f->len += n >= 0 && (size_t)n < left ? (size_t)n + 1 : 0;
}

static char *
read_template(const char *name, struct ss_error *err)
{
	char *text = calloc(1, TEMPLATE_MAX + 1);
	FILE *file = text != NULL ? installed_template(name) : NULL;

	if (file == NULL || fread(text, 1, TEMPLATE_MAX, file) == 0) {
		say_refusal(err, SS_CONFIG,
			"cannot read %s, which is installed with this program",
			name);
		free(text);
		text = NULL;
	}
	if (file != NULL)
		fclose(file);
	return text;
}

/*
 * Between double quotes; a dollar sign would begin a variable.  Not where only
 * tables of sites have roots.
 */
static bool
is_quotable(const char *path)
{
	return *path != '\0' && strpbrk(path, "\"\\$\n\r") == NULL;
}

/* Whether the front sends files: by default, where it can be told the path. */
static bool
is_handed_over(const struct front_config *c)
{
	return strcmp(ss_site_option(c->site, "http.handover"), "none") != 0 &&
		is_quotable(ss_site_option(c->site, "root"));
}

/* http.handover must name the front that serve starts. */
static enum ss_err
check_handover(const struct front_config *c, struct ss_error *err)
{
	const char *handover = ss_site_option(c->site, "http.handover");
	const char *root = ss_site_option(c->site, "root");

	if (strcmp(handover, "none") == 0 || strcmp(handover, "auto") == 0)
		return SS_OK;
	if (strcmp(handover, c->front->name) != 0)
		return say_refusal(err, SS_CONFIG,
			"http.handover is \"%s\", and serve starts %s",
			handover, c->front->name);
	if (!is_quotable(root))
		return say_refusal(err, SS_CONFIG,
			"http.handover: %s cannot be told the path %s",
			c->front->name, root);
	return SS_OK;
}

/* lighttpd wants the address in two parts. */
static void
fill_addresses(struct fillings *f, const struct front_config *c)
{
	const char *colon = strrchr(c->address, ':');

	fill_text(f, "RUN", c->run->path);
	fill_text(f, "SOCKET", c->socket);
	fill_text(f, "STATUS", c->status);
	fill_text(f, "LISTEN", c->address);
	fill(f, "HOST", "%.*s", (int)(colon - c->address), c->address);
	fill_text(f, "PORT", colon + 1);
}

static void
fill_limits(struct fillings *f, const struct ss_site *site)
{
	double body = ss_site_option_number(site, "limits.max_body_bytes") +
		BODY_MARGIN;
	double answer = ANSWER_GROWTH *
		ss_site_option_most(site, "limits.max_output_bytes");

	fill(f, "BODY_MAX", "%.0f", body);
	fill(f, "BODY_KIB", "%.0f", body / 1024);
	fill(f, "TEMP_MAX", "%.0f", answer > TEMP_LEAST ? answer : TEMP_LEAST);
	fill(f, "READ_TIMEOUT", "%.0f",
		time_limits_request(site) + READ_MARGIN_S);
	fill(f, "STOP_TIMEOUT", "%.0f", time_limits_stop(site));
}

/* lighttpd sends error pages of its own where ours are not found. */
static void
fill_files(struct fillings *f, const struct front_config *c)
{
	static const char nowhere[] = "/nonexistent";
	const char *root = ss_site_option(c->site, "root");
	const char *site = is_quotable(root) ? root : nowhere;
	bool handed = is_handed_over(c);
	char errors[PATH_MAX];

	if (!installed_errors(errors) || !is_quotable(errors))
		strcpy(errors, nowhere);
	fill(f, "ERROR_FILES", "%s", errors);
	fill_text(f, "SITE", site);
	fill_text(f, "HANDOVER", handed ? c->front->name : "none");
	fill_text(f, "IGNORED", handed ? "" : "X-Accel-Redirect");
	if (handed)
		fill(f, "SENDFILE",
			"\"x-sendfile\" => \"enable\", "
			"\"x-sendfile-docroot\" => ( \"%s\" ),",
			site);
	else
		fill_text(f, "SENDFILE", "");
}

enum ss_err
front_config_write(const struct front_config *c, struct ss_error *err)
{
	struct fillings f = { .count = 0 };
	char *text = read_template(c->front->template, err);
	char *params =
		text != NULL ? read_template("statespace_params", err) : NULL;
	char *errors =
		params != NULL ? read_template("statespace_errors", err) : NULL;
	enum ss_err code = errors != NULL ? check_handover(c, err) : SS_CONFIG;

	if (code == SS_OK) {
		fill_text(&f, "PARAMS", params);
		fill_text(&f, "ERRORS", errors);
		fill_addresses(&f, c);
		fill_limits(&f, c->site);
		fill_files(&f, c);
		code = run_dir_write(
			c->run, c->front->file, text, f.list, f.count, err);
	}
	free(errors);
	free(params);
	free(text);
	return code;
}
