/* SPDX-License-Identifier: MIT */
/* What a page asks for under network, read, write, ... and does not get so. */
#include <ctype.h>
#include <stdio.h>

#include "page/lint_own.h"

#define CURL "curl"

/* Less memory than a program needs to start. */
#define MEMORY_LEAST ((uint64_t)1 << 20)

/* Does the tool start this program? */
static bool
starts(const struct spec *s, const char *program)
{
	size_t count;
	const struct spec *commands = spec_commands(s, &count);

	for (size_t i = 0; s->script == NULL && i < count; i++)
		if (commands[i].parts[0].kind == PART_TEXT &&
			text_is(commands[i].parts[0].text, program))
			return true;
	return false;
}

/* ----------------------------------------------------------------- targets */

/* "host:port", "[address]:port", or an address with or without /bits. */
static bool
is_target(const char *s)
{
	const char *colon = strchr(s, ':');

	if (s[strspn(s, "0123456789./")] == '\0')
		return true;
	if (colon == NULL || strncmp(colon, "://", 3) == 0)
		return false;
	return s[0] == '[' || strchr(colon + 1, ':') != NULL ||
		isdigit((unsigned char)colon[1]);
}

static void
lint_targets(const struct lint *l, const struct name_list *targets)
{
	const struct node_place at = { targets->line, targets->column };

	for (size_t i = 0; i < targets->count; i++)
		if (!is_target(targets->names[i]))
			lint_warn(l, WARN_NETWORK, at,
				"a target is host:port, as in "
				"example.org:443, or a range of addresses",
				"network: %.100s names no target",
				targets->names[i]);
}

/* A list lets the built-in curl reach private addresses, and nothing else. */
static void
lint_network(const struct lint *l, const struct wants *w, bool curl)
{
	const struct node_place at = { w->network_targets.line,
		w->network_targets.column };

	if (w->network == NETWORK_ALL)
		lint_warn(l, WARN_NETWORK, w->network_at,
			"list what is needed: network: [\"host:443\"]",
			"network: true reaches all that the host reaches, "
			"loopback and metadata services included");
	if (w->network != NETWORK_LISTED || w->network_targets.count == 0)
		return;
	lint_targets(l, &w->network_targets);
	if (!curl)
		lint_warn(l, WARN_NETWORK, at,
			"other programs need network: true",
			"a list of targets is for the built-in curl only, "
			"which is not used here");
}

/* ------------------------------------------------------------------- paths */

static void
lint_paths(const struct lint *l, const char *key, const struct name_list *paths)
{
	const struct node_place at = { paths->line, paths->column };

	for (size_t i = 0; i < paths->count; i++) {
		const char *path = paths->names[i];
		const char *sign = path + strcspn(path, "*$");

		if (path[0] == '~')
			sign = path;
		if (*sign != '\0')
			lint_warn(l, WARN_WORD, at,
				"write the path itself: it starts at the root "
				"of the site",
				"%s: %.100s is taken as it is: nothing "
				"replaces %c",
				key, path, *sign);
	}
}

static void
lint_programs_listed(const struct lint *l, const struct name_list *exec)
{
	const struct node_place at = { exec->line, exec->column };

	for (size_t i = 0; i < exec->count; i++)
		if (strchr(exec->names[i], ' ') != NULL)
			lint_warn(l, WARN_PROGRAM, at,
				"exec lists programs, without their words",
				"exec: no program is named %.100s",
				exec->names[i]);
}

static void
lint_wants(const struct lint *l, const struct wants *w, bool curl)
{
	lint_network(l, w, curl);
	lint_paths(l, "read", &w->read);
	lint_paths(l, "write", &w->write);
	lint_paths(l, "unix", &w->unix_sockets);
	lint_programs_listed(l, &w->exec);
	if (w->memory_bytes > 0 && w->memory_bytes < MEMORY_LEAST)
		lint_warn(l, WARN_LIMIT, w->memory_at,
			"it counts bytes: 64 MiB are 67108864",
			"no program runs in %llu bytes of memory",
			(unsigned long long)w->memory_bytes);
}

/* The two built-in tools that write need a folder to write in. */
static void
lint_writes(const struct lint *l, const struct spec *s)
{
	if ((!starts(s, "write") && !starts(s, "edit")) || s->wants.write.set ||
		l->front->sandbox.write.set)
		return;
	lint_warn(l, WARN_BUILTIN, place_of_spec(s),
		"ask for a folder: write: [notes], below sandbox: or in the "
		"tool",
		"this tool may write nowhere");
}

void
lint_lists(const struct lint *l, const struct spec *s)
{
	lint_wants(l, &s->wants, starts(s, CURL));
	lint_writes(l, s);
}

void
lint_networks(const struct lint *l)
{
	const struct frontmatter *f = l->front;
	bool curl = f->spec_count == 0;

	for (size_t i = 0; i < f->spec_count; i++)
		curl |= starts(&f->specs[i], CURL);
	lint_wants(l, &f->sandbox, curl);
}
