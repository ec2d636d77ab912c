/* SPDX-License-Identifier: MIT */
#include "jobs/jobs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"

#define FOLDER "jobs"
#define ACTIVE ".active"
#define LOCK ".lock"
#define NEW ".new-"
#define GONE ".gone-"
#define NAME_MAX_OWN (sizeof(GONE) + STATE_ID_LEN)
/* While another process makes a job. */
#define LOCK_TRIES 200
#define LOCK_PAUSE_NS 10000000
/* Of one that is being made or removed: nobody works on it any more. */
#define LEFT_MS ((int64_t)10 * 60 * 1000)
#define COLLECTED_EACH 32

int
jobs_open(const struct state *state)
{
	return state_folder(state->fd, FOLDER);
}

bool
jobs_are_there(const struct state *state)
{
	return faccessat(state->fd, FOLDER, F_OK, 0) == 0;
}

/* ------------------------------------------------------------- removing -- */

static const char *const files[] = { JOB_REQUEST, JOB_STATUS, JOB_OUT, JOB_ERR,
	JOB_LOCK, JOB_CANCEL, JOB_NEXT, JOB_CALL, JOB_QUESTION };

/* Temporary files of state_put are left only by a crash. */
static void
remove_others(int job)
{
	int copy = openat(job, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = copy >= 0 ? fdopendir(copy) : NULL;
	struct dirent *e;

	if (list == NULL) {
		fd_close(&copy);
		return;
	}
	while ((e = readdir(list)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			unlinkat(job, e->d_name, 0);
	closedir(list);
}

static void
remove_directory(int jobs, const char *name)
{
	int job = openat(
		jobs, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (job < 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		unlinkat(job, files[i], 0);
	if (unlinkat(jobs, name, AT_REMOVEDIR) < 0) {
		remove_others(job);
		unlinkat(jobs, name, AT_REMOVEDIR);
	}
	fd_close(&job);
}

/* At once for all who look for it, then file by file. */
void
jobs_remove(int jobs, const char *id)
{
	char gone[NAME_MAX_OWN];

	snprintf(gone, sizeof(gone), GONE "%s", id);
	jobs_ended(jobs, id);
	if (renameat(jobs, id, jobs, gone) == 0)
		remove_directory(jobs, gone);
}

/* ------------------------------------------------------------ the names -- */

struct names {
	char (*all)[NAME_MAX_OWN];
	size_t count, cap, jobs;
};

static bool
add_name(struct names *n, const char *name)
{
	size_t cap = n->cap == 0 ? 256 : n->cap * 2;
	void *more;

	if (strlen(name) >= NAME_MAX_OWN)
		return true;
	if (n->count == n->cap) {
		more = realloc(n->all, cap * sizeof(*n->all));
		if (more == NULL)
			return false;
		n->all = more;
		n->cap = cap;
	}
	strcpy(n->all[n->count++], name);
	return true;
}

/* The ids, and what begins with a dot and is left over. */
static bool
read_names(int dir, struct names *out)
{
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = copy >= 0 ? fdopendir(copy) : NULL;
	bool done = list != NULL;
	struct dirent *e;

	*out = (struct names){ 0 };
	if (list == NULL)
		fd_close(&copy);
	while (done && (e = readdir(list)) != NULL) {
		bool is_job = state_is_id(text_of(e->d_name));

		out->jobs += is_job;
		if (is_job || strncmp(e->d_name, NEW, strlen(NEW)) == 0 ||
			strncmp(e->d_name, GONE, strlen(GONE)) == 0)
			done = add_name(out, e->d_name);
	}
	if (list != NULL)
		closedir(list);
	return done;
}

/* ----------------------------------------------------------- collecting -- */

static void
collect_left(int jobs, const char *name, int64_t now)
{
	struct stat st;

	if (fstatat(jobs, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		now - (int64_t)st.st_mtime * 1000 > LEFT_MS)
		remove_directory(jobs, name);
}

/* A clock that was set back makes it stay: its end lies in the future. */
static void
collect_one(int jobs, const char *id, int64_t keep_ms,
	void (*fn)(void *ctx, const char *id), void *ctx)
{
	int job = job_open(jobs, text_of(id)), number;
	struct job_status s;

	if (job < 0)
		return;
	number = job_look(job, &s);
	if (number == 0 && s.state == JOB_QUEUED && fn != NULL &&
		!job_is_locked(job))
		fn(ctx, id);
	if (number == 0 && job_state_is_final(s.state))
		jobs_ended(jobs, id);
	fd_close(&job);
	/* A person who has not answered by then does not. */
	if ((number == 0 &&
		    (job_state_is_final(s.state) || s.state == JOB_ASKING) &&
		    job_now_ms() - s.changed_ms > keep_ms) ||
		number == EBADMSG)
		jobs_remove(jobs, id);
}

/* From a place by chance on, so that all have their turn. */
static void
collect_names(int jobs, const struct names *n, int64_t keep_ms, size_t most,
	void (*fn)(void *ctx, const char *id), void *ctx)
{
	int64_t now = job_now_ms();
	struct timespec seed;
	size_t from;

	clock_gettime(CLOCK_MONOTONIC, &seed);
	from = n->count > most ? (size_t)seed.tv_nsec % n->count : 0;
	for (size_t i = 0; i < n->count && i < most; i++) {
		const char *name = n->all[(from + i) % n->count];

		if (name[0] == '.')
			collect_left(jobs, name, now);
		else
			collect_one(jobs, name, keep_ms, fn, ctx);
	}
}

void
jobs_collect(int jobs, int64_t keep_ms, size_t most,
	void (*fn)(void *ctx, const char *id), void *ctx)
{
	struct names names;

	if (read_names(jobs, &names))
		collect_names(jobs, &names, keep_ms, most, fn, ctx);
	free(names.all);
}

/* --------------------------------------------------------------- making -- */

/* The number of its page is the text of the file. */
static int
mark_active(int jobs, const char *id, uint64_t number)
{
	int dir = state_folder(jobs, ACTIVE), fd, code;
	char digits[NUMBER_MAX];

	if (dir < 0)
		return errno;
	fd = openat(dir, id,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	code = fd < 0 ? errno
		      : fd_write_all(fd, digits,
				text_number(digits, (int64_t)number));
	fd_close(&fd);
	if (code != 0)
		unlinkat(dir, id, 0);
	fd_close(&dir);
	return code;
}

void
jobs_ended(int jobs, const char *id)
{
	int dir = openat(
		jobs, ACTIVE, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (dir >= 0)
		unlinkat(dir, id, 0);
	fd_close(&dir);
}

static int64_t
read_mark(int active, const char *id)
{
	int fd = openat(active, id, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char digits[NUMBER_MAX + 1] = "";
	ssize_t n = fd >= 0 ? read(fd, digits, sizeof(digits) - 1) : -1;

	fd_close(&fd);
	return n > 0 ? strtoll(digits, NULL, 10) : 0;
}

/* A job that ended without its holder is still marked. */
static bool
is_active(int jobs, const char *id)
{
	int job = job_open(jobs, text_of(id)), number;
	struct job_status s;

	if (job < 0)
		return false;
	number = job_look(job, &s);
	fd_close(&job);
	return number == 0 && !job_state_is_final(s.state);
}

/* How many have not ended, and how many of them are of that page. */
static bool
count_active(int jobs, uint64_t number, uint64_t *all, uint64_t *page)
{
	int dir = state_folder(jobs, ACTIVE);
	struct names names;
	bool done = dir >= 0 && read_names(dir, &names);

	*all = *page = 0;
	for (size_t i = 0; done && i < names.count; i++) {
		if (!is_active(jobs, names.all[i])) {
			unlinkat(dir, names.all[i], 0);
			continue;
		}
		*all += 1;
		*page += (uint64_t)read_mark(dir, names.all[i]) == number;
	}
	if (dir >= 0)
		free(names.all);
	fd_close(&dir);
	return done;
}

/* -1: another process makes one all the time, or errno. */
static int
lock_all(int jobs)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_NS };
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = openat(
		jobs, LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	for (int i = 0; fd >= 0 && i < LOCK_TRIES; i++) {
		if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
			return fd;
		if (errno != EAGAIN && errno != EACCES)
			break;
		nanosleep(&pause, NULL);
	}
	fd_close(&fd);
	return -1;
}

static enum ss_err
refuse_cap(struct ss_error *err, const char *what, uint64_t most)
{
	error_set(err, SS_OVERLOADED,
		"there are as many jobs %s as may be (%llu); this one was not "
		"made",
		what, (unsigned long long)most);
	error_hint(err, "try again when one of them has ended");
	return SS_OVERLOADED;
}

static enum ss_err
refuse_state(struct ss_error *err, int number, const char *call)
{
	error_set(err, SS_STATE, "the job cannot be kept; nothing ran");
	error_hint(err, "%s",
		number == ENOSPC || number == EDQUOT
			? "the disk of the state directory is full"
			: number == EROFS
			? "the state directory is read-only"
			: "the operator's log has the reason");
	error_detail(err, "jobs: %s", call);
	if (err != NULL)
		err->sys_errno = number;
	return SS_STATE;
}

/* Under the lock. */
static enum ss_err
check_caps(int jobs, const struct jobs_caps *caps, uint64_t number,
	struct ss_error *err)
{
	uint64_t all, page;
	struct names names;
	enum ss_err code = SS_OK;

	if (!count_active(jobs, number, &all, &page) ||
		!read_names(jobs, &names))
		return refuse_state(err, errno, "readdir");
	collect_names(jobs, &names, caps->keep_ms, COLLECTED_EACH, NULL, NULL);
	if (all >= caps->most)
		code = refuse_cap(err, "running", caps->most);
	else if (page >= caps->page_most)
		code = refuse_cap(err, "of this page running", caps->page_most);
	else if (names.jobs >= caps->kept_most)
		code = refuse_cap(err, "kept", caps->kept_most);
	free(names.all);
	return code;
}

/* Gives the directory its name, if the caps allow it. */
static enum ss_err
publish(int jobs, const struct jobs_caps *caps, uint64_t number,
	const char *made, const char *id, struct ss_error *err)
{
	int lock = lock_all(jobs), code_of;
	enum ss_err code;

	if (lock < 0)
		return refuse_state(err, errno, "lock");
	code = check_caps(jobs, caps, number, err);
	if (code == SS_OK) {
		code_of = mark_active(jobs, id, number);
		if (code_of == 0 && renameat(jobs, made, jobs, id) < 0)
			code_of = errno;
		if (code_of == 0)
			code_of = state_sync(jobs);
		if (code_of != 0) {
			jobs_remove(jobs, id);
			code = refuse_state(err, code_of, "rename");
		}
	}
	fd_close(&lock);
	return code;
}

static int
fill_request(int job, const void *what)
{
	return job_write_request(job, what);
}

static int
fill_question(int job, const void *what)
{
	const struct job_question *q = what;
	int number = state_put(job, JOB_CALL, q->call.data, q->call.len);

	if (number == 0)
		number = state_put(
			job, JOB_QUESTION, q->question.data, q->question.len);
	return number == 0 ? job_write_status(job, &q->status) : number;
}

static enum ss_err
make_filled(int jobs, const struct jobs_caps *caps, uint64_t page,
	int (*fill)(int job, const void *what), const void *what,
	char id[static STATE_ID_CAP], struct ss_error *err)
{
	char made[NAME_MAX_OWN];
	enum ss_err code;
	int job, number;

	if (!state_make_id(id))
		return error_internal(err, errno, "getrandom");
	snprintf(made, sizeof(made), NEW "%s", id);
	job = mkdirat(jobs, made, 0700) == 0 ? state_folder(jobs, made) : -1;
	if (job < 0)
		return refuse_state(err, errno, "mkdir");
	number = fill(job, what);
	fd_close(&job);
	code = number == 0 ? publish(jobs, caps, page, made, id, err)
			   : refuse_state(err, number, "write");
	if (code != SS_OK)
		remove_directory(jobs, made);
	return code;
}

enum ss_err
jobs_make(int jobs, const struct jobs_caps *caps, const struct job_request *r,
	char id[static STATE_ID_CAP], struct ss_error *err)
{
	return make_filled(jobs, caps, r->number, fill_request, r, id, err);
}

enum ss_err
jobs_make_asking(int jobs, const struct jobs_caps *caps,
	const struct job_question *q, char id[static STATE_ID_CAP],
	struct ss_error *err)
{
	return make_filled(jobs, caps, q->number, fill_question, q, id, err);
}
