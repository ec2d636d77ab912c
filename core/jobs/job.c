/* SPDX-License-Identifier: MIT */
#include "jobs/job.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "jobs/fields.h"

#define STATUS_MAX 16384 /* more than any status; what `next` reserves */
#define REQUEST_MAX ((size_t)2 << 30)
#define RENAME_TRIES 5

static const char *const names[] = { [JOB_QUEUED] = "queued",
	[JOB_ASKING] = "input_required",
	[JOB_RUNNING] = "running",
	[JOB_COMPLETED] = "completed",
	[JOB_FAILED] = "failed",
	[JOB_CANCELLED] = "cancelled",
	[JOB_LOST] = "lost" };

const char *
job_state_name(enum job_state state)
{
	return names[state];
}

bool
job_state_is_final(enum job_state state)
{
	return state != JOB_QUEUED && state != JOB_ASKING &&
		state != JOB_RUNNING;
}

int64_t
job_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void
job_stamp(int64_t ms, char out[static JOB_STAMP])
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm t;
	size_t n;

	gmtime_r(&seconds, &t);
	n = strftime(out, JOB_STAMP, "%Y-%m-%dT%H:%M:%S", &t);
	snprintf(out + n, JOB_STAMP - n, ".%03dZ", (int)(ms % 1000));
}

int
job_open(int jobs, struct ss_text id)
{
	char name[STATE_ID_CAP];

	if (!state_is_id(id)) {
		errno = ENOENT;
		return -1;
	}
	memcpy(name, id.data, STATE_ID_LEN);
	name[STATE_ID_LEN] = '\0';
	return openat(
		jobs, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int
job_read_file(int job, const char *name, struct buf *out)
{
	int fd = openat(job, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), number;

	if (fd < 0)
		return errno;
	number = fd_read_all(fd, out);
	fd_close(&fd);
	return number != 0 ? number : buf_ok(out) ? 0 : ENOMEM;
}

/* ----------------------------------------------------------- the request -- */

int
job_write_request(int job, const struct job_request *r)
{
	struct buf text = BUF_INIT(r->body.len + STATUS_MAX);
	int number;

	fields_number(&text, "version", 1);
	fields_text(&text, "site", r->site);
	fields_text(&text, "page", r->page);
	fields_text(&text, "digest", r->digest);
	fields_text(&text, "user", r->user);
	fields_text(&text, "id", r->id);
	fields_text(&text, "key", r->key);
	fields_number(&text, "number", (int64_t)r->number);
	fields_number(&text, "tool", r->tool);
	fields_number(&text, "confirmed", r->confirmed);
	fields_number(&text, "claimed", r->claimed);
	fields_number(&text, "created", r->created_ms);
	fields_number(&text, "body", (int64_t)r->body.len);
	fields_end(&text);
	buf_add(&text, r->body.data, r->body.len);
	number = buf_ok(&text)
		? state_put_new(job, JOB_REQUEST, text.data, text.len)
		: ENOMEM;
	buf_release(&text);
	return number;
}

int
job_queue(int job, const struct job_request *r)
{
	int number = job_write_request(job, r);

	if (number == EEXIST) /* a crash came between the two */
		number = 0;
	if (number == 0 && unlinkat(job, JOB_STATUS, 0) < 0)
		number = errno;
	return number == 0 ? state_sync(job) : number;
}

/* The value of a key, decoded into *out, behind the text that is read. */
static struct ss_text
take_text(struct ss_text text, const char *key, char *room, size_t *used)
{
	char *at = room + *used;
	size_t left = STATUS_MAX - *used, len;

	fields_take(text, key, at, left);
	len = strlen(at);
	*used += len + 1 < left ? len + 1 : 0;
	return (struct ss_text){ at, len };
}

int
job_read_request(int job, struct buf *text, struct job_request *out)
{
	struct ss_text whole;
	size_t used = 0;
	char *room;
	int number;

	*text = BUF_INIT(REQUEST_MAX);
	number = job_read_file(job, JOB_REQUEST, text);
	if (number != 0)
		return number;
	room = buf_reserve(text, STATUS_MAX);
	if (room == NULL)
		return ENOMEM;
	whole = (struct ss_text){ text->data, text->len };
	*out = (struct job_request){ .site = take_text(
					     whole, "site", room, &used),
		.page = take_text(whole, "page", room, &used),
		.digest = take_text(whole, "digest", room, &used),
		.user = take_text(whole, "user", room, &used),
		.id = take_text(whole, "id", room, &used),
		.key = take_text(whole, "key", room, &used),
		.number = (uint64_t)fields_take_number(whole, "number"),
		.tool = fields_take_number(whole, "tool"),
		.confirmed = fields_take_number(whole, "confirmed") != 0,
		.claimed = fields_take_number(whole, "claimed") != 0,
		.created_ms = fields_take_number(whole, "created"),
		.body = fields_rest(whole) };
	return fields_are_whole(whole) &&
			fields_take_number(whole, "version") == 1 &&
			fields_take_number(whole, "body") ==
				(int64_t)out->body.len
		? 0
		: EBADMSG;
}

/* ------------------------------------------------------------ the status -- */

static void
print_status(struct buf *out, const struct job_status *s)
{
	fields_text(out, "state", text_of(names[s->state]));
	fields_number(out, "created", s->created_ms);
	fields_number(out, "changed", s->changed_ms);
	fields_number(out, "tool", s->tool);
	fields_text(out, "site", text_of(s->site));
	fields_text(out, "page", text_of(s->page));
	fields_number(out, "returncode", s->returncode);
	fields_number(out, "run_us", (int64_t)s->run_us);
	fields_number(out, "cpu_us", (int64_t)s->cpu_us);
	fields_number(out, "memory_bytes", (int64_t)s->memory_bytes);
	fields_text(out, "limit", text_of(s->limit));
	fields_text(out, "sandbox", text_of(s->sandbox));
	fields_text(out, "memory", text_of(s->memory));
	fields_text(out, "type", text_of(s->type));
	fields_number(out, "parse", s->parse);
	fields_number(out, "code", s->err.code);
	fields_text(out, "message", text_of(s->err.message));
	fields_text(out, "hint", text_of(s->err.hint));
	fields_end(out);
}

static bool
scan_status(struct ss_text text, struct job_status *s)
{
	char state[16];
	size_t i;

	if (!fields_are_whole(text) ||
		!fields_take(text, "state", state, sizeof(state)))
		return false;
	for (i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i], state) == 0)
			break;
	if (i == ARRAY_LEN(names))
		return false;
	s->state = (enum job_state)i;
	s->created_ms = fields_take_number(text, "created");
	s->changed_ms = fields_take_number(text, "changed");
	s->tool = fields_take_number(text, "tool");
	fields_take(text, "site", s->site, sizeof(s->site));
	fields_take(text, "page", s->page, sizeof(s->page));
	s->returncode = (int)fields_take_number(text, "returncode");
	s->run_us = (uint64_t)fields_take_number(text, "run_us");
	s->cpu_us = (uint64_t)fields_take_number(text, "cpu_us");
	s->memory_bytes = (uint64_t)fields_take_number(text, "memory_bytes");
	fields_take(text, "limit", s->limit, sizeof(s->limit));
	fields_take(text, "sandbox", s->sandbox, sizeof(s->sandbox));
	fields_take(text, "memory", s->memory, sizeof(s->memory));
	fields_take(text, "type", s->type, sizeof(s->type));
	s->parse = fields_take_number(text, "parse") != 0;
	s->err.code = (enum ss_err)fields_take_number(text, "code");
	if ((unsigned)s->err.code > SS_GONE)
		s->err.code = SS_INTERNAL;
	fields_take(text, "message", s->err.message, sizeof(s->err.message));
	fields_take(text, "hint", s->err.hint, sizeof(s->err.hint));
	return true;
}

/* 0, ENOENT for none, or errno. */
static int
read_status(int job, const char *name, struct job_status *s)
{
	struct buf text = BUF_INIT(STATUS_MAX);
	int number = job_read_file(job, name, &text);

	if (number == 0 && !scan_status(buf_view(&text), s))
		number = EBADMSG;
	buf_release(&text);
	return number;
}

/* Of a job without a status: what its request says. */
static int
look_queued(int job, struct job_status *s)
{
	struct job_request r;
	struct buf text;
	int number = job_read_request(job, &text, &r);

	if (number == 0) {
		s->created_ms = s->changed_ms = r.created_ms;
		s->tool = r.tool;
		snprintf(s->site, sizeof(s->site), "%.*s", (int)r.site.len,
			r.site.data);
		snprintf(s->page, sizeof(s->page), "%.*s", (int)r.page.len,
			r.page.data);
	}
	buf_release(&text);
	return number;
}

int
job_write_status(int job, const struct job_status *s)
{
	struct buf text = BUF_INIT(STATUS_MAX);
	int number;

	print_status(&text, s);
	number = buf_ok(&text) ? state_put(job, JOB_STATUS, text.data, text.len)
			       : ENOMEM;
	buf_release(&text);
	return number;
}

/*
 * Running, and nobody holds it: its end is in `next`, if the holder came that
 * far.  Whoever finds it writes it down, if that is possible.
 */
static void
note_lost(int job, struct job_status *s)
{
	struct job_status end = { .state = JOB_LOST };
	int lock = job_lock(job);

	if (read_status(job, JOB_NEXT, &end) == 0 &&
		job_state_is_final(end.state)) {
		*s = end;
		if (lock >= 0)
			renameat(job, JOB_NEXT, job, JOB_STATUS);
	} else {
		s->state = JOB_LOST;
		s->changed_ms = job_now_ms();
		error_set(&s->err, SS_INTERNAL,
			"the process that held this job is gone; how far its "
			"tool came is not known");
		error_hint(&s->err, "sending the call again runs it again");
		if (lock >= 0)
			job_write_status(job, s);
	}
	fd_close(&lock);
}

int
job_look(int job, struct job_status *s)
{
	int number;

	*s = (struct job_status){ .state = JOB_QUEUED };
	number = read_status(job, JOB_STATUS, s);
	if (number == ENOENT)
		return look_queued(job, s);
	if (number != 0 || s->state != JOB_RUNNING || job_is_locked(job))
		return number;
	/* It may have ended between the two. */
	number = read_status(job, JOB_STATUS, s);
	if (number == 0 && s->state == JOB_RUNNING)
		note_lost(job, s);
	return number;
}

/* -------------------------------------------------------------- the lock -- */

static struct flock
whole_file(void)
{
	return (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET };
}

int
job_lock(int job)
{
	struct flock lock = whole_file();
	int fd = openat(
		job, JOB_LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	int number;

	if (fd < 0)
		return -1;
	if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
		return fd;
	number = errno == EACCES ? EAGAIN : errno;
	fd_close(&fd);
	errno = number;
	return -1;
}

bool
job_is_locked(int job)
{
	struct flock lock = whole_file();
	int fd = openat(job, JOB_LOCK, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	bool locked = fd >= 0 && fcntl(fd, F_OFD_GETLK, &lock) == 0 &&
		lock.l_type != F_UNLCK;

	fd_close(&fd);
	return locked;
}

/* ---------------------------------------------------------- cancellation -- */

static int
end_queued(int job)
{
	struct job_status s;
	int lock = job_lock(job), number;

	if (lock < 0)
		return errno == EAGAIN ? 0 : errno;
	number = job_look(job, &s);
	if (number == 0 && (s.state == JOB_QUEUED || s.state == JOB_ASKING)) {
		s.state = JOB_CANCELLED;
		s.changed_ms = job_now_ms();
		number = job_write_status(job, &s);
	}
	fd_close(&lock);
	return number;
}

int
job_cancel(int job)
{
	struct job_status s = { .state = JOB_RUNNING };
	int fd = openat(job, JOB_CANCEL,
		O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno;
	fd_close(&fd);
	return read_status(job, JOB_STATUS, &s) == ENOENT ||
			s.state == JOB_ASKING
		? end_queued(job)
		: 0;
}

bool
job_is_cancelled(int job)
{
	return faccessat(job, JOB_CANCEL, F_OK, 0) == 0;
}

/* --------------------------------------------------------------- the end -- */

int
job_reserve_end(int job)
{
	static const char zeros[STATUS_MAX];
	int fd = openat(job, JOB_NEXT,
		O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	int number;

	if (fd < 0)
		return -1;
	/* Not each file system can reserve; bytes on disk are reserved, too. */
	number = fallocate(fd, 0, 0, sizeof(zeros)) < 0 ? errno : 0;
	if (number == EOPNOTSUPP || number == ENOSYS) {
		number = fd_write_all(fd, zeros, sizeof(zeros));
		if (number == 0 && fsync(fd) < 0)
			number = errno;
	}
	if (number == 0)
		return fd;
	fd_close(&fd);
	unlinkat(job, JOB_NEXT, 0);
	errno = number;
	return -1;
}

/* A rename over a network may fail although it will work, or has. */
static int
rename_end(int job)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	struct job_status s;
	int number = 0;

	for (int i = 0; i < RENAME_TRIES; i++) {
		if (renameat(job, JOB_NEXT, job, JOB_STATUS) == 0)
			return 0;
		number = errno;
		if (number == ENOENT && read_status(job, JOB_STATUS, &s) == 0 &&
			job_state_is_final(s.state))
			return 0;
		nanosleep(&pause, NULL);
	}
	return number;
}

int
job_write_end(int job, int *end, const struct job_status *s)
{
	struct buf text = BUF_INIT(STATUS_MAX);
	int number = 0;

	print_status(&text, s);
	if (!buf_ok(&text))
		number = ENOMEM;
	else if (lseek(*end, 0, SEEK_SET) < 0)
		number = errno;
	if (number == 0)
		number = fd_write_all(*end, text.data, text.len);
	if (number == 0 &&
		(ftruncate(*end, (off_t)text.len) < 0 || fsync(*end) < 0))
		number = errno;
	fd_close(end);
	buf_release(&text);
	if (number == 0)
		number = rename_end(job);
	return number == 0 ? state_sync(job) : number;
}

/* ------------------------------------------------------------ the output -- */

static int
read_from(int fd, uint64_t offset, struct buf *out, uint64_t *size)
{
	struct stat st;
	size_t want;
	ssize_t n = 1;
	char *room;

	if (fstat(fd, &st) < 0)
		return errno;
	*size = (uint64_t)st.st_size;
	if (offset > *size)
		return EINVAL;
	want = *size - offset < out->max - out->len ? (size_t)(*size - offset)
						    : out->max - out->len;
	room = buf_reserve(out, want);
	if (room == NULL)
		return ENOMEM;
	for (size_t got = 0; got < want && n > 0;) {
		n = pread(fd, room + got, want - got, (off_t)(offset + got));
		if (n < 0 && errno == EINTR) {
			n = 1;
			continue;
		}
		if (n < 0)
			return errno;
		got += (size_t)n;
		out->len += (size_t)n;
	}
	out->data[out->len] = '\0';
	return 0;
}

int
job_read_stream(int job, const char *stream, uint64_t offset, struct buf *out,
	uint64_t *size)
{
	int fd = openat(job, stream, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), number;

	*size = 0;
	if (fd < 0)
		return errno != ENOENT ? errno : offset > 0 ? EINVAL : 0;
	number = read_from(fd, offset, out, size);
	fd_close(&fd);
	return number;
}
