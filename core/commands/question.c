/* SPDX-License-Identifier: MIT */
#include "commands/question.h"

#include <stdio.h>

#include "base/error.h"
#include "sandbox/grant_path.h"
#include "sandbox/policy.h"

/* Questions, of 8 KiB each, that are asked at once: the first space, and most. */
#define ASKED_MIN 16
#define ASKED_MAX 128

bool
question_in_view(const struct check *c)
{
	return c->site->plan.mode == SANDBOX_MODE_AUTO ||
		c->site->plan.mode == SANDBOX_MODE_STRICT;
}

static bool
grow(struct questions *q)
{
	struct arena *arena = &q->check->arena;
	size_t cap = q->cap > 0 ? 2 * q->cap : ASKED_MIN;
	struct question *items = arena_array(arena, cap, sizeof(*items));
	struct reach *asks = arena_array(arena, cap, sizeof(*asks));

	if (items == NULL || asks == NULL)
		return false;
	if (q->count > 0) {
		memcpy(items, q->items, q->count * sizeof(*items));
		memcpy(asks, q->asks, q->count * sizeof(*asks));
	}
	q->items = items;
	q->asks = asks;
	q->cap = cap;
	return true;
}

bool
question_add(struct questions *q, const struct question *item,
	enum reach_what what, const char *path)
{
	if (q->count == ASKED_MAX && question_ask(q, NULL) != SS_OK)
		return false;
	if (q->count == q->cap && !grow(q))
		return false;
	q->items[q->count] = *item;
	q->asks[q->count] = (struct reach){ .what = what,
		.keeps = item->right != NULL ? item->right->powers.keeps
					     : KEEP_NETWORK | KEEP_UNIX };
	snprintf(q->asks[q->count].path, PATH_MAX, "%s", path);
	q->count++;
	return true;
}

/* How many directories a relative path climbs above where it starts. */
static bool
climbs_out(const char *dir, const char *word)
{
	long depth = dir[0] != '\0';

	for (; *dir != '\0'; dir++)
		depth += *dir == '/';
	while (*word != '\0' && depth >= 0) {
		size_t n = strcspn(word, "/");

		if (n == 2 && word[0] == '.' && word[1] == '.')
			depth--;
		else if (n > 0 && !(n == 1 && word[0] == '.'))
			depth++;
		word += n + (word[n] == '/');
	}
	return depth < 0;
}

bool
question_path(const struct check *c, const char *page_dir, const char *word,
	char out[static PATH_MAX])
{
	const char *site = question_in_view(c) ? VIEW_SITE : c->site->plan.root;
	int n;

	if (word[0] == '/')
		n = snprintf(out, PATH_MAX, "%s", word);
	else
		n = snprintf(out, PATH_MAX, "%s/%s/%s", site, page_dir, word);
	return n > 0 && n < PATH_MAX &&
		(word[0] == '/' || !question_in_view(c) ||
			!climbs_out(page_dir, word));
}

/* ------------------------------------------------------------- the answers */

/* The directory that a grant would name for this file. */
static void
folder_of(const char *path, char out[static PATH_MAX])
{
	const char *slash = strrchr(path, '/');

	snprintf(out, PATH_MAX, "%.*s",
		slash != NULL && slash > path ? (int)(slash - path) : 1,
		slash != NULL ? path : "/");
}

static void
hint_unseen(const struct question *item, const struct reach *r, struct buf *out)
{
	char folder[PATH_MAX];

	if (item->of == QUESTION_PROGRAM) {
		folder_of(r->at, folder);
		buf_printf(out,
			"install it below /usr/local, or have the operator "
			"grant it: [grant] read = [\"%s\"], with read: [%s] in "
			"the page for what it reads there",
			folder, folder);
		return;
	}
	buf_printf(out,
		"tools see the site, /usr and what page and operator both "
		"name: read: [%s] and [grant] read = [\"%s\"]",
		r->at, r->at);
}

static void
hint_denied(const struct check *c, const struct reach *r, struct buf *out)
{
	const char *account = c->site->plan.account.name;

	if (r->what == REACH_WRITE)
		buf_printf(out,
			"chown %s %s, or run tools as its owner: [pool] user",
			account, r->at);
	else
		buf_printf(out, "chmod o+%s %s, or chgrp it to %s's group",
			S_ISDIR(r->mode)               ? "rx"
				: r->what == REACH_RUN ? "rx"
						       : "r",
			r->at, account);
}

static void
print_hint(const struct check *c, const struct question *item,
	const struct reach *r, struct buf *out)
{
	switch (r->end) {
	case REACH_HELD: break;
	case REACH_ABSENT:
	case REACH_KIND:
		buf_text(out,
			item->of == QUESTION_PROGRAM
				? "install it, or correct its name"
				: item->of == QUESTION_GRANT
				? "make it, or end it with ? when it may be absent"
				: item->name[0] == '/'
				? "correct it, or make it"
				: "correct it: it begins at the page's directory");
		break;
	case REACH_UNSEEN: hint_unseen(item, r, out); break;
	case REACH_DENIED: hint_denied(c, r, out); break;
	case REACH_NO_X: buf_printf(out, "chmod +x %s", r->at); break;
	case REACH_FOREIGN:
		buf_text(out, "install it for this machine's architecture");
		break;
	case REACH_MOUNT:
		buf_text(out,
			"put it on another file system, or mount(8) that "
			"one without the option");
		break;
	case REACH_NEEDS:
		buf_text(out, "install that, or correct the first line");
		break;
	case REACH_LOOP: buf_text(out, "correct the links"); break;
	}
}

static const char *
noun_of(const struct question *item)
{
	switch (item->of) {
	case QUESTION_PROGRAM: return "the program ";
	case QUESTION_WORD: return "the file ";
	case QUESTION_GRANT: break;
	}
	return "";
}

static void
print_message(const struct check *c, const struct question *item,
	const struct reach *r, struct buf *out)
{
	bool plain =
		!r->linked && (r->end == REACH_ABSENT || r->end == REACH_KIND);

	if (item->key != NULL)
		buf_printf(out, "%s: ", item->key);
	buf_printf(out, "%s%s", noun_of(item), item->name);
	if (item->of == QUESTION_PROGRAM && plain) {
		buf_text(out, " is not installed");
		return;
	}
	buf_text(out, r->end == REACH_DENIED ? ": " : " ");
	reach_print(r, c->site->plan.account.name, out);
}

static enum warning
name_of(const struct question *item)
{
	switch (item->of) {
	case QUESTION_PROGRAM: return WARN_INSTALLED;
	case QUESTION_WORD: return WARN_FILE;
	case QUESTION_GRANT: break;
	}
	return WARN_GRANT;
}

/* A variable's value is told nowhere. */
static void
warn_of_variable(struct check *c, const struct question *item)
{
	char message[512];

	snprintf(message, sizeof(message),
		"the program %s is not installed, or tools cannot run it",
		item->name);
	check_warn(
		c, WARN_INSTALLED, item->at, message, "correct the variable");
}

static void
warn(struct check *c, const struct question *item, const struct reach *r)
{
	struct buf message = BUF_INIT(4096), hint = BUF_INIT(8192);

	print_message(c, item, r, &message);
	print_hint(c, item, r, &hint);
	if (buf_ok(&message) && !hint.failed)
		check_warn(c, name_of(item), item->at, message.data, hint.data);
	else
		c->memory_failed = true;
	buf_release(&message);
	buf_release(&hint);
}

/* In the view, readable for the account: and by the tool's own rules? */
static void
check_rules(struct check *c, const struct question *item, const struct reach *r)
{
	char message[PATH_MAX + 128], hint[2 * PATH_MAX + 128];

	if (item->of != QUESTION_WORD || r->at[0] == '\0' ||
		policy_reads(&item->right->ask, &c->site->grant, r->at))
		return;
	snprintf(message, sizeof(message),
		"the file %s is not open to this tool: neither page nor tool "
		"asks to read it",
		item->name);
	snprintf(hint, sizeof(hint),
		"read: [%s], which the operator's [grant] read must have, too",
		r->at);
	check_warn(c, WARN_FILE, item->at, message, hint);
}

/* Output files lie where the tool may write. */
static bool
may_be_absent(const struct check *c, const struct question *item,
	const struct reach *r)
{
	return item->may_be_absent ||
		(item->of == QUESTION_WORD &&
			policy_writes(
				&item->right->ask, &c->site->grant, r->at));
}

static void
judge(struct check *c, const struct question *item, const struct reach *r)
{
	if (r->end == REACH_HELD) {
		check_rules(c, item, r);
		return;
	}
	if (r->end == REACH_ABSENT && !r->linked && may_be_absent(c, item, r))
		return;
	if (item->of == QUESTION_PROGRAM && item->name[0] == '$')
		warn_of_variable(c, item);
	else
		warn(c, item, r);
}

enum ss_err
question_ask(struct questions *q, struct ss_error *err)
{
	struct check *c = q->check;

	if (c->closed) {
		q->count = 0;
		return SS_OK;
	}
	if (!reach_ask(&c->site->plan, question_in_view(c), q->asks, q->count))
		return error_internal(err, 0, "ask as the tools' account");
	for (size_t i = 0; i < q->count; i++)
		judge(c, &q->items[i], &q->asks[i]);
	q->count = 0;
	return SS_OK;
}
