/* SPDX-License-Identifier: MIT */
#include "site/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "sandbox/grant_path.h"
#include "sandbox/reach.h"
#include "sandbox/view.h"
#include "site/explain_find.h"
#include "wire/json.h"

/* A tool's own key is in force instead of the page's. */
static bool
tool_has(const struct policy_ask *ask, enum key key)
{
	struct wants w = { 0 };
	const struct name_list *list = explain_list(&w, key);

	if (ask->tool == NULL)
		return false;
	w = *ask->tool;
	if (key == KEY_NETWORK)
		return w.network != NETWORK_UNSET;
	if (key == KEY_PROC)
		return w.proc_set;
	return list->set || (key == KEY_EXEC && w.exec_any);
}

/* ----------------------------------------------------------- the lines */

static bool
is_plain(const char *word)
{
	return word[strspn(word,
		       "abcdefghijklmnopqrstuvwxyz"
		       "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
		       "/._+")] == '\0' &&
		strspn(word, "0123456789._+") < strlen(word);
}

static bool
print_word(struct buf *out, const char *word, bool toml)
{
	if (!toml && is_plain(word))
		return buf_text(out, word);
	return json_string(out, word, strlen(word));
}

/* The items and one more. */
static bool
print_list(struct buf *out, const char *const *items, size_t count,
	const char *more, bool toml)
{
	buf_char(out, '[');
	for (size_t i = 0; i < count; i++) {
		print_word(out, items[i], toml);
		buf_text(out, ", ");
	}
	print_word(out, more, toml);
	return buf_char(out, ']');
}

static const char *
key_name(enum key key)
{
	switch (key) {
	case KEY_NONE: break;
	case KEY_READ: return "read";
	case KEY_WRITE: return "write";
	case KEY_EXEC: return "exec";
	case KEY_UNIX: return "unix";
	case KEY_NETWORK: return "network";
	case KEY_PROC: return "proc";
	}
	return "";
}

static bool
print_page_line(const struct explain *e, enum key key, const char *name,
	struct buf *out)
{
	struct wants w = powers_of(e->ask).asked;
	const struct name_list *list = explain_list(&w, key);

	bool toml = e->ask->toml;

	buf_printf(out, "    %s:  %s%s ",
		tool_has(e->ask, key) ? "in the tool's entry"
			: toml        ? "under the page's [sandbox]"
				      : "under the page's sandbox",
		key_name(key), toml ? " =" : ":");
	if (list == NULL)
		buf_text(out, "true");
	else
		print_list(out, (const char *const *)list->names, list->count,
			name, toml);
	return buf_char(out, '\n');
}

static struct path_list
ceiling_of(const struct grant *g, enum key key)
{
	static const struct path_list none;

	switch (key) {
	case KEY_READ: return g->read;
	case KEY_WRITE: return g->write;
	case KEY_EXEC: return g->exec;
	case KEY_UNIX: return g->unix_sockets;
	case KEY_NONE:
	case KEY_NETWORK:
	case KEY_PROC: break;
	}
	return none;
}

/* Asks policy_check about the page as it would be with the new line. */
static bool
ceiling_allows(const struct explain *e, enum key key, const char *name)
{
	struct wants changed = powers_of(e->ask).asked;
	struct policy_ask ask = *e->ask;
	struct name_list *list = explain_list(&changed, key);
	const char **names = NULL;
	bool allowed;

	if (list != NULL) {
		names = calloc(list->count + 1, sizeof(*names));
		if (names == NULL)
			return false;
		for (size_t i = 0; i < list->count; i++)
			names[i] = list->names[i];
		names[list->count] = name;
		list->names = names;
		list->count++;
		list->set = true;
	}
	if (key == KEY_NETWORK)
		changed.network = NETWORK_ALL;
	if (key == KEY_PROC)
		changed.proc = changed.proc_set = true;
	ask.tool = &changed;
	allowed = policy_check(&ask, e->grant, NULL, NULL) == SS_OK;
	free(names);
	return allowed &&
		(key != KEY_READ || policy_read_holds(e->ask, e->grant, name));
}

static bool
print_operator_line(const struct explain *e, enum key key, const char *name,
	struct buf *out)
{
	const struct path_list granted = ceiling_of(e->grant, key);

	if (ceiling_allows(e, key, name))
		return buf_text(out, "    the operator's [grant] allows it\n");
	buf_printf(
		out, "    under the operator's [grant]:  %s = ", key_name(key));
	if (key == KEY_NETWORK || key == KEY_PROC)
		buf_text(out, "true");
	else
		print_list(out, granted.items, granted.count, name, true);
	return buf_char(out, '\n');
}

static bool
print_lines(const struct explain *e, const struct finding *f, enum key key,
	const char *name, struct buf *out)
{
	const char *asked =
		f->key == key ? explain_asked(e, key, f->goal) : NULL;

	if (asked == NULL || key == KEY_EXEC)
		return print_page_line(e, key, name, out) &&
			print_operator_line(e, key, name, out);
	buf_printf(out, "    the page asks for %s already\n", asked);
	return print_operator_line(e, key, asked, out);
}

/* `exec = "any"` shows no program outside of the view: a read grant does. */
static bool
needs_read(const struct explain *e, const struct finding *f)
{
	return f->key == KEY_EXEC && explain_is_strict(e) &&
		e->grant->exec_any &&
		!grant_path_is_below(f->goal, e->grant->root) &&
		!grant_path_is_below_any(f->goal, view_program_trees) &&
		explain_asked(e, KEY_READ, f->goal) == NULL;
}

static const char *
family_name(int family)
{
	switch (family) {
	case AF_INET: return "IPv4";
	case AF_INET6: return "IPv6";
	case AF_UNIX: return "Unix";
	case AF_NETLINK: return "netlink";
	default: return "unusual";
	}
}

static bool
print_access(const struct finding *f, struct buf *out)
{
	static const char *const words[] = {
		[WATCH_READ] = "read",
		[WATCH_WRITE] = "write",
		[WATCH_ENTRY] = "write",
		[WATCH_EXEC] = "exec",
		[WATCH_CONNECT] = "connect",
	};

	if (f->event->kind == WATCH_SOCKET && f->event->path != NULL)
		return buf_printf(out, "connect %s", f->event->path);
	if (f->event->kind == WATCH_SOCKET)
		return buf_printf(out, "connect: a socket of the %s family",
			family_name(f->event->family));
	buf_printf(out, "%s ", words[f->event->kind]);
	return print_word(
		out, f->host[0] != '\0' ? f->host : f->event->path, false);
}

/* Which file or directory it is that the account may not enter or change. */
static bool
print_denied(const struct explain *e, const struct finding *f, struct buf *out)
{
	struct reach r = { .what = REACH_READ };

	if (f->event->kind == WATCH_WRITE || f->event->kind == WATCH_ENTRY)
		r.what = REACH_WRITE;
	else if (f->event->kind == WATCH_EXEC)
		r.what = REACH_RUN;
	snprintf(r.path, sizeof(r.path), "%s", f->goal);
	buf_text(out, "    no line grants it: ");
	if (!reach_ask(e->plan, false, &r, 1) || r.end == REACH_HELD)
		buf_printf(out, "the account %s may not, by the file's mode",
			e->plan->account.name);
	else
		reach_print(&r, e->plan->account.name, out);
	return buf_char(out, '\n');
}

static bool
print_finding(const struct explain *e, const struct finding *f, struct buf *out)
{
	buf_text(out, f->quiet ? "also refused: " : "refused: ");
	print_access(f, out);
	buf_char(out, '\n');
	if (f->verdict == DENIED)
		return print_denied(e, f, out);
	if (f->key == KEY_NONE)
		return buf_printf(out, "    no line grants it: %s\n", f->why);
	if (needs_read(e, f))
		print_lines(e, f, KEY_READ, f->goal, out);
	return print_lines(e, f, f->key, f->name, out);
}

/* ------------------------------------------------------------ the whole */

static void
print_each(const struct explain *e, const struct finding *found, size_t count,
	bool quiet, struct buf *out)
{
	for (size_t i = 0; i < count; i++)
		if (found[i].quiet == quiet)
			print_finding(e, &found[i], out);
}

/* ---------------------------------------------------------------- as JSON -- */

static void
add_json(struct buf *out, const char *name, const char *text)
{
	buf_printf(out, "\"%s\": ", name);
	json_string(out, text, strlen(text));
}

static const char *
access_name(const struct finding *f)
{
	switch (f->event->kind) {
	case WATCH_READ: return "read";
	case WATCH_WRITE:
	case WATCH_ENTRY: return "write";
	case WATCH_EXEC: return "exec";
	case WATCH_CONNECT:
	case WATCH_SOCKET: break;
	}
	return "connect";
}

static void
add_value(enum key key, const char *name, struct buf *out)
{
	if (key == KEY_NETWORK || key == KEY_PROC)
		buf_text(out, "\"set\": true}");
	else {
		add_json(out, "add", name);
		buf_char(out, '}');
	}
}

/* Who has to name it: the page, the operator, or both. */
static void
add_grant(const struct explain *e, const struct finding *f, enum key key,
	const char *name, struct buf *out)
{
	if (key == KEY_EXEC || explain_asked(e, key, f->goal) == NULL) {
		buf_printf(
			out, ", \"page\": {\"key\": \"%s\", ", key_name(key));
		add_value(key, name, out);
	}
	if (!ceiling_allows(e, key, name)) {
		buf_printf(out, ", \"grant\": {\"key\": \"grant.%s\", ",
			key_name(key));
		add_value(key, name, out);
	}
}

static void
begin_denied(const struct finding *f, const char *access, struct buf *out)
{
	const char *path = f->host[0] != '\0' ? f->host : f->event->path;

	buf_text(out, out->len > 0 ? ", {" : "{");
	if (path != NULL)
		add_json(out, "path", path);
	else
		add_json(out, "call", "socket");
	buf_printf(out, ", \"access\": \"%s\"", access);
}

static void
add_denied(const struct explain *e, const struct finding *f, struct buf *out)
{
	if (f->verdict != DENIED && needs_read(e, f)) {
		begin_denied(f, "read", out);
		add_grant(e, f, KEY_READ, f->goal, out);
		buf_char(out, '}');
	}
	begin_denied(f, access_name(f), out);
	if (f->verdict == DENIED) {
		buf_text(out, ", \"why\": \"the file's mode\"");
	} else if (f->key != KEY_NONE) {
		add_grant(e, f, f->key, f->name, out);
	} else if (f->why != NULL) {
		buf_text(out, ", ");
		add_json(out, "why", f->why);
	}
	buf_char(out, '}');
}

/* Quiet findings are printed only when the tool failed. */
static bool
print_found(const struct explain *e, const struct finding *found, size_t count,
	bool more, struct buf *out, struct buf *denied)
{
	for (size_t i = 0; i < count; i++)
		if (e->failed || !found[i].quiet)
			add_denied(e, &found[i], denied);
	print_each(e, found, count, false, out);
	if (e->failed)
		print_each(e, found, count, true, out);
	if (more)
		buf_text(out, "more was refused, or ran, than fits here\n");
	return buf_ok(out);
}

bool
explain_print(const struct explain *e, struct buf *out, struct buf *denied)
{
	struct finding *found;
	size_t count;
	bool done, more;

	if (e->plan->level == SANDBOX_OFF)
		return buf_text(out,
			"nothing was refused: [sandbox] mode is \"off\"\n");
	found = calloc(EXPLAIN_FOUND_MAX + 1, sizeof(*found));
	if (found == NULL)
		return false;
	done = explain_find(e, found, &count, &more) &&
		print_found(e, found, count, more, out, denied);
	free(found);
	return done;
}
