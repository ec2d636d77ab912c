/* SPDX-License-Identifier: MIT */
#include "sandbox/launcher_wire.h"

#include <errno.h>
#include <sys/socket.h>

#include "sandbox/workspace_use.h"

#define ITEMS_MAX 131072

/* ---------------------------------------------------------------- values */

static bool
put_number(struct buf *b, uint64_t n)
{
	return buf_add(b, (const char *)&n, sizeof(n));
}

static bool
put_bytes(struct buf *b, const char *data, size_t len)
{
	return put_number(b, len) && buf_add(b, data, len);
}

static bool
put_text(struct buf *b, const char *text)
{
	return put_bytes(
		b, text != NULL ? text : "", text != NULL ? strlen(text) : 0);
}

static bool
put_list(struct buf *b, const struct path_list *list)
{
	put_number(b, list->count);
	for (size_t i = 0; i < list->count; i++)
		put_text(b, list->items[i]);
	return buf_ok(b);
}

static bool
put_words(struct buf *b, char *const *words)
{
	size_t count = 0;

	while (words[count] != NULL)
		count++;
	put_number(b, count);
	for (size_t i = 0; i < count; i++)
		put_text(b, words[i]);
	return buf_ok(b);
}

struct reader {
	struct arena *arena;
	const char *at;
	size_t left;
	bool bad; /* sticks */
};

static uint64_t
get_number(struct reader *r)
{
	uint64_t n = 0;

	if (r->left < sizeof(n)) {
		r->bad = true;
		return 0;
	}
	memcpy(&n, r->at, sizeof(n));
	r->at += sizeof(n);
	r->left -= sizeof(n);
	return n;
}

static char *
get_bytes(struct reader *r, size_t *len)
{
	uint64_t n = get_number(r);
	char *copy = NULL;

	if (!r->bad && n <= r->left)
		copy = arena_copy(r->arena, r->at, (size_t)n);
	if (copy == NULL) {
		r->bad = true;
		*len = 0;
		return NULL;
	}
	r->at += n;
	r->left -= (size_t)n;
	*len = (size_t)n;
	return copy;
}

static char *
get_text(struct reader *r)
{
	size_t len;

	return get_bytes(r, &len);
}

/* NULL-terminated. */
static char **
get_words(struct reader *r, size_t *count)
{
	uint64_t n = get_number(r);
	char **words = NULL;

	*count = 0;
	if (!r->bad && n <= ITEMS_MAX)
		words = arena_array(r->arena, (size_t)n + 1, sizeof(*words));
	if (words == NULL) {
		r->bad = true;
		return NULL;
	}
	for (; *count < n && !r->bad; ++*count)
		words[*count] = get_text(r);
	return words;
}

static struct path_list
get_list(struct reader *r)
{
	struct path_list list;

	list.items = (const char *const *)get_words(r, &list.count);
	return list;
}

/*
 * Each put has its get; their order is the protocol, since both ends are one
 * program.
 */

static bool
put_limits(struct buf *b, const struct spawn_limits *l)
{
	return put_number(b, l->timeout_ms) && put_number(b, l->output_bytes) &&
		put_number(b, l->cpu_s) && put_number(b, l->memory_bytes) &&
		put_number(b, l->processes) && put_number(b, l->open_files) &&
		put_number(b, l->file_bytes);
}

static struct spawn_limits
get_limits(struct reader *r)
{
	struct spawn_limits l;

	l.timeout_ms = (uint32_t)get_number(r);
	l.output_bytes = get_number(r);
	l.cpu_s = (uint32_t)get_number(r);
	l.memory_bytes = get_number(r);
	l.processes = get_number(r);
	l.open_files = get_number(r);
	l.file_bytes = get_number(r);
	return l;
}

/* Reads an enum's number; one past the last value is malformed. */
static unsigned
get_enum(struct reader *r, unsigned last)
{
	uint64_t n = get_number(r);

	r->bad |= n > last;
	return r->bad ? 0 : (unsigned)n;
}

static bool
put_workspace(struct buf *b, const struct workspace_use *u)
{
	if (!put_number(b, u != NULL) || u == NULL)
		return buf_ok(b);
	put_number(b, u->act);
	put_text(b, u->session);
	put_number(b, u->commit);
	put_number(b, u->force);
	put_number(b, u->anybody);
	put_number(b, u->patch);
	put_text(b, u->commits);
	put_number(b, u->total_bytes);
	put_number(b, u->sessions_max);
	put_number(b, u->meta.backend);
	put_text(b, u->meta.owner.root);
	put_text(b, u->meta.owner.page);
	put_text(b, u->meta.owner.caller);
	put_text(b, u->meta.folder);
	put_number(b, u->meta.bytes_max);
	put_number(b, u->meta.files_max);
	put_number(b, u->meta.idle_s);
	put_text(b, u->path);
	put_text(b, u->after);
	put_number(b, u->most);
	return put_text(b, u->digest);
}

static bool
get_workspace(struct reader *r, const struct workspace_use **out)
{
	struct workspace_use *u;

	*out = NULL;
	if (get_number(r) == 0)
		return true;
	u = arena_array(r->arena, 1, sizeof(*u));
	r->bad |= u == NULL;
	if (r->bad)
		return false;
	u->act = (enum workspace_act)get_enum(r, WORKSPACE_ACT_LAST);
	u->session = get_text(r);
	u->commit = get_number(r) != 0;
	u->force = get_number(r) != 0;
	u->anybody = get_number(r) != 0;
	u->patch = get_number(r) != 0;
	u->commits = get_text(r);
	u->total_bytes = get_number(r);
	u->sessions_max = get_number(r);
	u->meta.backend =
		(enum workspace_backend)get_enum(r, WORKSPACE_AGENTFS);
	u->meta.owner.root = get_text(r);
	u->meta.owner.page = get_text(r);
	u->meta.owner.caller = get_text(r);
	u->meta.folder = get_text(r);
	u->meta.bytes_max = get_number(r);
	u->meta.files_max = get_number(r);
	u->meta.idle_s = (uint32_t)get_number(r);
	u->path = get_text(r);
	u->after = get_text(r);
	u->most = get_number(r);
	u->digest = get_text(r);
	*out = u;
	return !r->bad;
}

bool
launcher_put_command(
	struct buf *b, const struct policy *p, const struct spawn *s)
{
	put_text(b, s->program);
	put_words(b, s->argv);
	put_words(b, s->envp);
	put_bytes(b, s->stdin_data != NULL ? s->stdin_data : "",
		s->stdin_data != NULL ? s->stdin_len : 0);
	put_limits(b, &s->limits);
	put_number(b, s->reports);
	put_number(b, s->has_progress);
	put_number(b, p->exec_any);
	put_list(b, &p->exec);
	put_list(b, &p->read);
	put_list(b, &p->read_under);
	put_list(b, &p->write);
	put_list(b, &p->write_under);
	put_list(b, &p->unix_sockets);
	put_number(b, p->keeps);
	put_number(b, p->http);
	put_text(b, p->page_dir);
	put_number(b, p->site);
	put_number(b, p->workspace != NULL);
	put_text(b, p->workspace);
	return put_workspace(b, s->workspace);
}

bool
launcher_get_command(struct arena *arena, const char *data, size_t len,
	struct policy *p, struct spawn *s)
{
	struct reader r = { arena, data, len, false };
	size_t count;
	bool writes;

	s->program = get_text(&r);
	s->argv = get_words(&r, &count);
	s->envp = get_words(&r, &count);
	s->stdin_data = get_bytes(&r, &s->stdin_len);
	s->limits = get_limits(&r);
	s->reports = get_number(&r) != 0;
	s->has_progress = get_number(&r) != 0;
	p->exec_any = get_number(&r) != 0;
	p->exec = get_list(&r);
	p->read = get_list(&r);
	p->read_under = get_list(&r);
	p->write = get_list(&r);
	p->write_under = get_list(&r);
	p->unix_sockets = get_list(&r);
	p->keeps = (unsigned)get_number(&r);
	p->http = get_number(&r) != 0;
	p->page_dir = get_text(&r);
	p->site = (unsigned)get_number(&r);
	writes = get_number(&r) != 0;
	p->workspace = get_text(&r);
	if (!writes)
		p->workspace = NULL;
	get_workspace(&r, &s->workspace);
	p->program = s->program;
	return !r.bad && r.left == 0 && s->argv[0] != NULL;
}

bool
launcher_put_end(struct buf *b, const struct spawn_result *r, bool clean)
{
	put_number(b, (uint64_t)r->end);
	put_number(b, (uint64_t)r->status);
	put_number(b, (uint64_t)r->failed_step);
	put_number(b, (uint64_t)r->failed_errno);
	put_number(b, (uint64_t)r->limit);
	put_number(b, r->run_us);
	put_number(b, r->cpu_us);
	put_number(b, r->memory_bytes);
	put_number(b, clean);
	return put_bytes(b, buf_view(&r->report).data, r->report.len);
}

bool
launcher_get_end(
	const char *data, size_t len, struct spawn_result *result, bool *clean)
{
	struct arena arena;
	struct reader r = { &arena, data, len, false };
	const char *report;
	bool done;

	arena_init(&arena, 0);
	result->end = (enum spawn_end)get_enum(&r, SPAWN_FAILED);
	result->status = (int)get_number(&r);
	result->failed_step = (enum spawn_step)get_enum(&r, SPAWN_STEP_LAST);
	result->failed_errno = (int)get_number(&r);
	result->limit = (enum spawn_limit)get_enum(&r, SPAWN_LIMIT_LAST);
	result->run_us = get_number(&r);
	result->cpu_us = get_number(&r);
	result->memory_bytes = get_number(&r);
	*clean = get_number(&r) != 0;
	report = get_bytes(&r, &len);
	done = report != NULL && buf_add(&result->report, report, len) &&
		!r.bad;
	arena_release(&arena);
	return done;
}

bool
launcher_put_refusal(struct buf *b, const struct ss_error *err)
{
	put_number(b, (uint64_t)err->code);
	put_text(b, err->message);
	put_text(b, err->hint);
	put_text(b, err->detail);
	put_number(b, err->line);
	put_text(b, err->rule);
	put_text(b, err->setting);
	return put_text(b, err->value);
}

bool
launcher_get_refusal(const char *data, size_t len, struct ss_error *err)
{
	struct arena arena;
	struct reader r = { &arena, data, len, false };
	enum ss_err code = (enum ss_err)get_enum(&r, SS_GONE);
	const char *message, *hint, *detail, *rule, *setting, *value;
	unsigned line;

	arena_init(&arena, 0);
	message = get_text(&r);
	hint = get_text(&r);
	detail = get_text(&r);
	line = (unsigned)get_number(&r);
	rule = get_text(&r);
	setting = get_text(&r);
	value = get_text(&r);
	if (!r.bad && code != SS_OK) {
		error_set(err, code, "%s", message);
		error_hint(err, "%s", hint);
		error_detail(err, "%s", detail);
		error_rule(err, line, "%s", rule);
		error_setting(err, setting, "%s", value);
	}
	arena_release(&arena);
	return !r.bad && code != SS_OK;
}

/* ----------------------------------------------------------- descriptors */

bool
launcher_send_run(int socket, int connection, int input)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(2 * sizeof(int))];
	} control = { .space = { 0 } };
	int fds[2] = { connection, input };
	size_t size = (input >= 0 ? 2 : 1) * sizeof(int);
	char byte = 'r';
	struct iovec io = { &byte, 1 };
	struct msghdr message = { .msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = CMSG_SPACE(size) };
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(size);
	memcpy(CMSG_DATA(head), fds, size);
	return sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

bool
launcher_receive_run(int socket, int fds[2])
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(2 * sizeof(int))];
	} control;
	char byte;
	struct iovec io = { &byte, 1 };
	struct msghdr message = { .msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = sizeof(control.space) };
	struct cmsghdr *head;
	ssize_t n;

	fds[0] = fds[1] = -1;
	do
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	head = n == 1 ? CMSG_FIRSTHDR(&message) : NULL;
	if (head == NULL || head->cmsg_type != SCM_RIGHTS)
		return false;
	memcpy(fds, CMSG_DATA(head), head->cmsg_len - CMSG_LEN(0));
	return true;
}
