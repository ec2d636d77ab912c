/* SPDX-License-Identifier: MIT */
/*
 * The directory of a job: its files are whole or not there whichever call fails,
 * caps and ages hold on both sides, and a clock that steps removes nothing too
 * early.
 *
 * wrap: renameat fsync write ftruncate getrandom clock_gettime
 */
#include "jobs/jobs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "fault.h"
#include "jobs/fields.h"
#include "tap.h"

#define CALLS_MAX 200
#define HOUR_MS ((int64_t)3600000)

static int64_t clock_step_s;
static int rename_fails; /* so often */

FAULT(fsync, int, -1, EIO, (int fd), (fd))
FAULT(write, ssize_t, -1, ENOSPC, (int fd, const void *p, size_t n), (fd, p, n))
FAULT(ftruncate, int, -1, EIO, (int fd, off_t n), (fd, n))
FAULT(getrandom, ssize_t, -1, ENOSYS, (void *p, size_t n, unsigned flags),
	(p, n, flags))

int __real_renameat(int a, const char *from, int b, const char *to);
int __wrap_renameat(int a, const char *from, int b, const char *to);
int
__wrap_renameat(int a, const char *from, int b, const char *to)
{
	if (fault_now("renameat") || (rename_fails > 0 && rename_fails-- > 0)) {
		errno = EIO;
		return -1;
	}
	return __real_renameat(a, from, b, to);
}

int __real_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out);
int
__wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
	int done = __real_clock_gettime(clock, out);

	if (clock == CLOCK_REALTIME)
		out->tv_sec += clock_step_s;
	return done;
}

static char base[] = "/tmp/statespace-job-XXXXXX";
static int jobs;
static struct jobs_caps caps = {
	.most = 3, .page_most = 2, .kept_most = 1000, .keep_ms = HOUR_MS
};

static enum ss_err
make(uint64_t page, char id[static STATE_ID_CAP], struct ss_error *err)
{
	const struct job_request r = { .page = TEXT("docs/a.md"),
		.digest = TEXT("00"),
		.id = TEXT("request"),
		.site = TEXT("a\nb\\c"),
		.number = page,
		.tool = 7,
		.created_ms = job_now_ms(),
		.body = TEXT("{\"command\": [\"ls\"]}\nend\n") };

	return jobs_make(jobs, &caps, &r, id, err);
}

/* What a holder does, but for the tool.  0 or errno of the first that failed. */
static int
hold(const char *id, enum job_state end_state)
{
	struct job_status s;
	int job = job_open(jobs, text_of(id)), lock, end = -1, number;

	if (job < 0)
		return errno;
	lock = job_lock(job);
	number = lock < 0 ? errno : job_look(job, &s);
	if (number == 0) {
		end = job_reserve_end(job);
		number = end < 0 ? errno : 0;
	}
	if (number == 0) {
		s.state = JOB_RUNNING;
		number = job_write_status(job, &s);
	}
	if (number == 0 && end_state != JOB_RUNNING) {
		s.state = end_state;
		s.changed_ms = job_now_ms();
		s.returncode = 5;
		number = job_write_end(job, &end, &s);
	}
	fd_close(&end);
	fd_close(&lock);
	fd_close(&job);
	if (number == 0 && end_state != JOB_RUNNING)
		jobs_ended(jobs, id);
	return number;
}

/* -1: it cannot be read. */
static int
state_of(const char *id)
{
	int job = job_open(jobs, text_of(id));
	struct job_status s;
	int number = job < 0 ? errno : job_look(job, &s);

	fd_close(&job);
	return number == 0 ? (int)s.state : -1;
}

static size_t
count(void)
{
	int copy = openat(jobs, ".", O_RDONLY | O_DIRECTORY);
	DIR *list = fdopendir(copy);
	struct dirent *e;
	size_t n = 0;

	while ((e = readdir(list)) != NULL)
		n += state_is_id(text_of(e->d_name));
	closedir(list);
	return n;
}

static void
empty(void)
{
	clock_step_s = 0;
	jobs_collect(jobs, -1, SIZE_MAX, NULL, NULL);
}

/* ------------------------------------------------------------------ checks */

static void
one_job(void)
{
	char id[STATE_ID_CAP];
	struct job_request r;
	struct buf text;
	int job;

	is_int(SS_OK, make(1, id, NULL), "a job is made");
	is_int(JOB_QUEUED, state_of(id), "it is queued");
	job = job_open(jobs, text_of(id));
	is_int(0, job_read_request(job, &text, &r), "its request is whole");
	ok(text_is(r.site, "a\nb\\c") && text_is(r.page, "docs/a.md") &&
			text_is(r.body, "{\"command\": [\"ls\"]}\nend\n") &&
			r.number == 1 && r.tool == 7,
		"and as it was, with line breaks and the word end");
	buf_release(&text);
	fd_close(&job);
	is_int(0, hold(id, JOB_COMPLETED), "it is held to its end");
	is_int(JOB_COMPLETED, state_of(id), "and has completed");
	is_int(0, hold(id, JOB_FAILED), "whoever comes later");
	empty();
	is_int(0, (long long)count(), "all are removed");
}

static void
ids(void)
{
	static const char *const bad[] = { "", ".", "..", ".active", ".lock",
		"0123456789abcdef0123456789abcde",
		"0123456789abcdef0123456789abcdef0",
		"0123456789ABCDEF0123456789ABCDEF",
		"0123456789abcdef0123456789abcde/",
		"../../../../../../../etc/passwd.", "0123456789abcdef" };

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		errno = 0;
		ok(job_open(jobs, text_of(bad[i])) == -1 && errno == ENOENT,
			"\"%s\" is no job", bad[i]);
	}
	ok(job_open(jobs,
		   (struct ss_text){ "0123456789abcdef\0"
				     "123456789abcdef",
			   32 }) == -1,
		"nor is one with a NUL");
}

static void
lost_ones(void)
{
	char id[STATE_ID_CAP];
	struct job_status s = { .state = JOB_COMPLETED, .returncode = 9 };
	int job, lock, end;

	make(1, id, NULL);
	is_int(0, hold(id, JOB_RUNNING), "a holder is gone");
	is_int(JOB_LOST, state_of(id), "its job is lost");
	is_int(JOB_LOST, state_of(id), "and stays lost");
	make(1, id, NULL);
	job = job_open(jobs, text_of(id));
	lock = job_lock(job);
	ok(lock >= 0 && job_lock(job) == -1 && errno == EAGAIN,
		"there is one holder");
	s.state = JOB_RUNNING;
	job_write_status(job, &s);
	is_int(JOB_RUNNING, state_of(id), "while it lives the job runs");
	end = job_reserve_end(job);
	s.state = JOB_COMPLETED;
	rename_fails = 100;
	ok(job_write_end(job, &end, &s) == EIO, "its last rename fails");
	rename_fails = 0;
	fd_close(&lock);
	is_int(JOB_COMPLETED, state_of(id), "the end is found all the same");
	fd_close(&job);
	make(1, id, NULL);
	rename_fails = 0;
	job = job_open(jobs, text_of(id));
	is_int(0, job_cancel(job), "a queued one without a holder");
	fd_close(&job);
	is_int(JOB_CANCELLED, state_of(id), "ends when it is cancelled");
	empty();
}

static void
caps_hold(void)
{
	char id[4][STATE_ID_CAP];
	struct ss_error err = { .code = SS_OK };

	ok(make(1, id[0], NULL) == SS_OK && make(1, id[1], NULL) == SS_OK,
		"two of a page");
	is_int(SS_OVERLOADED, make(1, id[2], &err), "no third (%s)",
		err.message);
	is_int(SS_OK, make(2, id[2], NULL), "one of another page");
	is_int(SS_OVERLOADED, make(3, id[3], NULL), "no fourth in all");
	hold(id[0], JOB_COMPLETED);
	is_int(SS_OK, make(1, id[3], NULL), "one more when one has ended");
	hold(id[1], JOB_RUNNING);
	is_int(SS_OK, make(4, id[0], NULL), "or is lost");
	caps.kept_most = count();
	hold(id[2], JOB_FAILED);
	is_int(SS_OVERLOADED, make(5, id[1], NULL), "no more than are kept");
	caps.kept_most = count() + 1;
	is_int(SS_OK, make(5, id[1], NULL), "as many as are kept");
	caps.kept_most = 1000;
	for (size_t i = 0; i < 4; i++)
		hold(id[i], JOB_FAILED);
	empty();
}

static void
ages(void)
{
	char id[STATE_ID_CAP];

	make(1, id, NULL);
	hold(id, JOB_COMPLETED);
	clock_step_s = 3599;
	jobs_collect(jobs, HOUR_MS, SIZE_MAX, NULL, NULL);
	is_int(1, (long long)count(), "it is kept for its hour");
	clock_step_s = -86400;
	jobs_collect(jobs, HOUR_MS, SIZE_MAX, NULL, NULL);
	is_int(1, (long long)count(), "and when the clock is set back");
	clock_step_s = 3602;
	jobs_collect(jobs, HOUR_MS, SIZE_MAX, NULL, NULL);
	is_int(0, (long long)count(), "and no longer");
	clock_step_s = 0;
	is_int(SS_OK, make(1, id, NULL), "another one");
	clock_step_s = 1000000;
	jobs_collect(jobs, HOUR_MS, SIZE_MAX, NULL, NULL);
	is_int(1, (long long)count(), "what has not ended stays");
	empty();
	hold(id, JOB_FAILED);
	empty();
}

/* Each call of making a job fails once: there is a whole job, or none. */
static void
make_fails(void)
{
	size_t wrong = 0, failed = 0;

	for (int n = 1; n < CALLS_MAX; n++) {
		char id[STATE_ID_CAP];
		struct ss_error err = { .code = SS_OK };
		enum ss_err code;

		fault_at = n;
		code = make(1, id, &err);
		if (fault_at > 0) {
			fault_at = 0;
			ok(code == SS_OK && n > 5, "%d calls failed", n - 1);
			break;
		}
		failed += code != SS_OK;
		if (code == SS_OK ? state_of(id) != JOB_QUEUED
				  : count() != 0 || err.message[0] == '\0') {
			printf("# %s: %d\n", fault_name, (int)code);
			wrong++;
		}
		if (code == SS_OK)
			hold(id, JOB_FAILED);
		empty();
	}
	ok(failed > 3, "most of them kept the job from being made");
	is_int(0, (long long)wrong, "there was a whole job, or none");
	hold("", JOB_FAILED);
	caps.most = caps.page_most = 100;
	jobs_collect(jobs, -1, SIZE_MAX, NULL, NULL);
}

/* The same of holding it. */
static void
hold_fails(void)
{
	size_t wrong = 0;
	int last = 0;

	for (int n = 1; n < CALLS_MAX; n++) {
		char id[STATE_ID_CAP];
		int number, state;

		make(1, id, NULL);
		fault_at = n;
		number = hold(id, JOB_COMPLETED);
		last = fault_at;
		fault_at = 0;
		state = state_of(id);
		if (number == 0 ? state != JOB_COMPLETED
				: state != JOB_QUEUED && state != JOB_LOST &&
					state != JOB_COMPLETED) {
			printf("# %s: %d, %d\n", fault_name, number, state);
			wrong++;
		}
		if (last > 0)
			break;
	}
	is_int(0, (long long)wrong,
		"a job is queued, lost or completed whichever call fails");
	jobs_collect(jobs, -1, SIZE_MAX, NULL, NULL);
}

static void
offsets(void)
{
	char id[STATE_ID_CAP];
	struct buf out = BUF_INIT(4);
	uint64_t size;
	int job, fd;

	make(1, id, NULL);
	job = job_open(jobs, text_of(id));
	is_int(0, job_read_stream(job, JOB_OUT, 0, &out, &size),
		"no output yet");
	is_int(EINVAL, job_read_stream(job, JOB_OUT, 1, &out, &size),
		"nothing behind it");
	fd = openat(job, JOB_OUT, O_WRONLY | O_CREAT, 0600);
	ok(write(fd, "123456", 6) == 6, "six bytes");
	fd_close(&fd);
	is_int(0, job_read_stream(job, JOB_OUT, 1, &out, &size),
		"from the second");
	ok(out.len == 4 && memcmp(out.data, "2345", 4) == 0 && size == 6,
		"as many as there is room for");
	buf_clear(&out);
	is_int(0, job_read_stream(job, JOB_OUT, 6, &out, &size),
		"from the end");
	is_int(EINVAL, job_read_stream(job, JOB_OUT, 7, &out, &size),
		"behind it");
	is_int(EINVAL, job_read_stream(job, JOB_OUT, UINT64_MAX, &out, &size),
		"far behind it");
	buf_release(&out);
	fd_close(&job);
}

int
main(void)
{
	struct state state = STATE_INIT;
	char command[128];

	if (mkdtemp(base) == NULL)
		return 1;
	state.fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	jobs = jobs_open(&state);
	ok(jobs >= 0, "there is a directory");
	one_job();
	ids();
	lost_ones();
	caps_hold();
	ages();
	make_fails();
	hold_fails();
	offsets();
	fd_close(&jobs);
	state_close(&state);
	snprintf(command, sizeof(command), "rm -rf %s", base);
	ok(system(command) == 0, "nothing is left");
	return done();
}
