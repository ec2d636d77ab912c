/* SPDX-License-Identifier: MIT */
/*
 * statespace exec: one page, one command, here and now (statespace(1)).
 * It runs as a POST does, with the terminal in place of HTTP.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agree.h"
#include "commands.h"
#include "options.h"
#include "reply.h"
#include "say.h"
#include "sys.h"

#define REQUEST_BYTES_MAX ((size_t)64 << 20)

static const char usage[] =
	"usage: statespace-exec [-C DIR] [-c FILE] [-e K=V]... [--env-file F]\n"
	"                       [--timeout S] [--json] [--dry-run] [--explain]\n"
	"                       [--site SITE] [--yes] [--next CURSOR] [--once KEY]\n"
	"                       [--workspace ID] [--commit] PAGE -- WORD...\n"
	"       statespace-exec [options] PAGE --tool T [K=V]... [-- WORD...]\n"
	"       statespace-exec [options] PAGE -\n"
	"       statespace-exec [options] --get PAGE\n";

enum {
	OPTION_DIR = 'C',
	OPTION_JSON = OPTION_OWN,
	OPTION_DRY_RUN,
	OPTION_EXPLAIN,
	OPTION_YES,
	OPTION_NEXT,
	OPTION_ONCE,
	OPTION_GET,
	OPTION_WORKSPACE,
	OPTION_COMMIT,
};

struct exec {
	struct options options;
	bool json, dry_run, explain, get;
	bool yes;            /* to a tool with `confirm: true` */
	const char *session; /* a workspace's */
	bool commit;         /* what the tool changed, if it ended with 0 */
	const char *next;    /* the cursor that an earlier run told */
	const char *key;     /* for which the tool runs once */
	const char *page;
	const char *const *words;
	size_t word_count;
	const char *tool; /* called by its name */
	struct ss_pair *arguments;
	size_t argument_count;
	struct ss_result result; /* of the call */
	bool from_stdin;         /* the request is JSON on standard input */
};

/*
 * Our end: a signal shuts it down, which ends the run like a hang-up.  Closing
 * would not do: the confined process holds a copy.
 */
static int alive_fd = -1;
static volatile sig_atomic_t stopped_by;

static void
on_signal(int number)
{
	int kept = errno;

	stopped_by = number;
	shutdown(alive_fd, SHUT_RDWR);
	errno = kept;
}

/* The other end, watched as the client of the call; -1 when there is none. */
static int
watch_signals(void)
{
	struct sigaction act = { .sa_handler = on_signal,
		.sa_flags = SA_RESTART | (int)SA_RESETHAND };
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	alive_fd = ends[1];
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGHUP, &act, NULL);
	signal(SIGPIPE, SIG_IGN);
	return ends[0];
}

/* When the reader has left the rest is dropped. */
static void
relay(void *ctx, int stream, const char *data, size_t len)
{
	(void)ctx;
	sys_write_all(stream, data, len);
}

static int
status_of(enum ss_err code, const struct ss_error *err)
{
	switch (code) {
	case SS_OK: return 0;
	case SS_TIMEOUT: return EXIT_TIMED_OUT;
	case SS_EXEC_FAILED:
		return err->sys_errno == ENOENT ? EXIT_NO_PROGRAM : EXIT_FAULT;
	case SS_OUTPUT_TOO_LARGE:
	case SS_INTERNAL:
	case SS_NETWORK:
	case SS_OVERLOADED:
	case SS_CONFIG:
	case SS_GONE: return EXIT_FAULT;
	case SS_BAD_REQUEST:
	case SS_BAD_ENV:
	case SS_NO_FRONTMATTER:
	case SS_BAD_FRONTMATTER:
	case SS_KEY_REQUIRED:
	case SS_KEY_RUNNING:
	case SS_KEY_UNKNOWN:
	case SS_KEY_REUSED:
	case SS_UNAUTHORIZED:
	case SS_NOT_ALLOWED:
	case SS_PATH_REFUSED:
	case SS_ADDRESS_REFUSED:
	case SS_ORIGIN_REFUSED:
	case SS_CAPABILITY_REFUSED:
	case SS_NOT_FOUND:
	case SS_METHOD:
	case SS_BUSY:
	case SS_CONFLICT:
	case SS_NEXT_GONE:
	case SS_LENGTH_REQUIRED:
	case SS_BODY_TOO_LARGE:
	case SS_COMMAND_TOO_LARGE:
	case SS_CONTENT_TYPE:
	case SS_HOST_REFUSED:
	case SS_CONFIRM_REQUIRED:
	case SS_SANDBOX_UNAVAILABLE:
	case SS_STATE: return EXIT_REFUSED;
	}
	return EXIT_FAULT;
}

static char *
read_request(size_t *len)
{
	char *data = NULL, *more;
	size_t cap = 0;
	ssize_t n;

	*len = 0;
	for (;;) {
		if (*len == cap) {
			cap = cap == 0 ? 65536 : cap * 2;
			more = cap <= REQUEST_BYTES_MAX ? realloc(data, cap)
							: NULL;
			if (more == NULL) {
				free(data);
				return NULL;
			}
			data = more;
		}
		n = read(STDIN_FILENO, data + *len, cap - *len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return data;
		*len += (size_t)n;
	}
}

static int
print_command(struct ss_result *result)
{
	const char *line = ss_result_command(result);

	if (line == NULL) {
		say("out of memory");
		return EXIT_FAULT;
	}
	puts(line);
	return 0;
}

static void
say_next(struct ss_result *result, const struct ss_error *err)
{
	const char *next = ss_result_next(result, err);

	if (next != NULL)
		say("next: %s", next);
}

static int
report(const struct exec *job, struct ss_result *result, enum ss_err code,
	const struct ss_error *err)
{
	const char *json = job->json ? ss_result_json(result, err) : NULL;

	if (job->json) {
		if (json == NULL) {
			say("out of memory");
			return EXIT_FAULT;
		}
		puts(json);
		return job->dry_run && code != SS_OK ? EXIT_REFUSED : 0;
	}
	if (code != SS_OK && code != SS_GONE) {
		say_error(NULL, err);
		say_next(result, err);
	}
	if (code != SS_OK)
		return status_of(code, err);
	if (job->dry_run)
		return print_command(result);
	return result->returncode;
}

/* What the sandbox refused, behind the output of the tool. */
static void
say_refused(const struct ss_result *result)
{
	const char *line = result->refused.data, *end;
	size_t left = result->refused.len;

	for (; left > 0; line = end + 1) {
		end = memchr(line, '\n', left);
		if (end == NULL)
			return;
		say("%.*s", (int)(end - line), line);
		left -= (size_t)(end - line) + 1;
	}
}

/* The last line, behind what the tool wrote. */
static void
say_part(const struct ss_part *p)
{
	if (p->lines == 0)
		return;
	say("lines %" PRIu64 " to %" PRIu64 " of %" PRIu64, p->first, p->last,
		p->lines);
	if (p->next != NULL)
		say("the same command with --next %s shows what follows",
			p->next);
	else if (p->more)
		say("what follows is not kept, and the tool does not run "
		    "again by itself");
}

/* No tool runs yet: SIGINT may end this process. */
static bool
agree(void *ctx, const char *const *argv, size_t argc)
{
	const struct exec *job = ctx;
	struct sigaction plain = { .sa_handler = SIG_DFL }, old;
	bool agreed;

	if (job->yes)
		return true;
	sigaction(SIGINT, &plain, &old);
	agreed = agree_ask(job->result.question, argv, argc);
	sigaction(SIGINT, &old, NULL);
	return agreed;
}

static struct ss_call
call_of(struct exec *job)
{
	struct ss_call call = SS_CALL_INIT;

	call.page = job->page;
	call.words = job->words;
	call.word_count = job->word_count;
	call.tool = job->tool;
	call.arguments = job->arguments;
	call.argument_count = job->argument_count;
	call.dry_run = job->dry_run;
	call.explain = job->explain;
	call.next = job->next;
	call.session = job->session;
	call.commit = job->commit;
	call.last = true;
	call.key = job->key;
	if (!job->json)
		call.output = relay;
	if (job->yes || (agree_can_ask() && !job->from_stdin)) {
		call.confirm = agree;
		call.confirm_ctx = job;
	}
	return call;
}

static int
run_call(struct ss_site *site, struct exec *job)
{
	struct ss_call call = call_of(job);
	struct ss_error err = { 0 };
	struct ss_result *result = &job->result;
	char *json = NULL;
	enum ss_err code;
	int status;

	call.client_fd = watch_signals();
	if (job->from_stdin) {
		json = read_request(&call.json_len);
		call.json = json;
		if (json == NULL) {
			say("the request on standard input is too large");
			return EXIT_REFUSED;
		}
	} else {
		call.stdin_fd = STDIN_FILENO;
	}
	code = ss_site_call(site, &call, result, &err);
	if (code == SS_CONFIRM_REQUIRED && call.confirm == NULL)
		snprintf(err.hint, sizeof(err.hint), "--yes agrees to it");
	if (code == SS_NOT_FOUND && err.hint[0] == '\0')
		snprintf(err.hint, sizeof(err.hint),
			"pages are looked up in %.500s; -C names another "
			"directory",
			ss_site_option(site, "root"));
	status = report(job, result, code, &err);
	say_refused(result);
	if (result->replayed)
		say("it ran before with this key: this is its answer");
	if (!job->json && code != SS_GONE)
		say_part(&result->part);
	if (stopped_by != 0)
		status = 128 + stopped_by;
	ss_result_release(result);
	free(json);
	return status;
}

static bool
print_file(int fd, uint64_t offset, uint64_t length)
{
	static char chunk[65536];
	ssize_t n;

	while (length > 0) {
		size_t want = length < sizeof(chunk) ? length : sizeof(chunk);

		n = pread(fd, chunk, want, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || !sys_write_all(STDOUT_FILENO, chunk, (size_t)n))
			return false;
		offset += (uint64_t)n;
		length -= (uint64_t)n;
	}
	return true;
}

static int
run_get(struct ss_site *site, const struct exec *job)
{
	struct ss_request req = SS_REQUEST_INIT;
	struct ss_response res;
	const char *prefix = ss_site_option(site, "http.prefix");
	int prefix_len = (int)strlen(prefix);
	char path[8400];
	enum ss_err code;
	bool whole;

	/* [http] prefix is a part of the address, not of the page's name. */
	while (prefix_len > 0 && prefix[prefix_len - 1] == '/')
		prefix_len--;
	snprintf(path, sizeof(path), "%.*s%s%s", prefix_len, prefix,
		job->page[0] == '/' ? "" : "/", job->page);
	req.method = "GET";
	req.path = path;
	code = ss_site_handle(site, &req, &res);
	if (code != SS_OK)
		whole = sys_write_all(STDERR_FILENO, res.body, res.body_len);
	else if (res.fd >= 0)
		whole = print_file(res.fd, res.offset, res.length);
	else
		whole = sys_write_all(STDOUT_FILENO, res.body, res.body_len);
	ss_response_release(&res);
	if (code != SS_OK)
		return status_of(code, &(struct ss_error){ 0 });
	return whole ? 0 : EXIT_FAULT;
}

/* The words after --, which may be none. */
static void
take_words(struct exec *job, int count, char **words)
{
	job->words = (const char *const *)words;
	job->word_count = (size_t)count;
}

/* After --tool: its name, NAME=VALUE, then -- and more words. */
static int
take_tool(struct exec *job, int count, char **operands)
{
	if (count < 1)
		return options_misused(
			&job->options, "after --tool comes its name");
	job->tool = operands[0];
	job->arguments = calloc((size_t)count, sizeof(*job->arguments));
	if (job->arguments == NULL) {
		say("out of memory");
		return EXIT_FAULT;
	}
	for (int i = 1; i < count; i++) {
		char *equals = strchr(operands[i], '=');

		if (strcmp(operands[i], "--") == 0) {
			take_words(job, count - i - 1, operands + i + 1);
			return -1;
		}
		if (equals == NULL || equals == operands[i])
			return options_misused(&job->options,
				"an argument is written NAME=VALUE");
		*equals = '\0';
		job->arguments[job->argument_count++] =
			(struct ss_pair){ .name = operands[i],
				.value = equals + 1 };
	}
	return -1;
}

/* PAGE, then what is to run: -1 goes on, else the exit status. */
static int
take_operands(struct exec *job, int count, char **operands)
{
	if (count < 1)
		return options_misused(&job->options, "no page is named");
	job->page = operands[0];
	if (job->get)
		return count == 1 ? -1
				  : options_misused(&job->options,
					    "--get takes one page");
	if (count == 2 && strcmp(operands[1], "-") == 0) {
		job->from_stdin = true;
		return -1;
	}
	if (count > 1 && strcmp(operands[1], "--tool") == 0)
		return take_tool(job, count - 2, operands + 2);
	if (count < 3 || strcmp(operands[1], "--") != 0)
		return options_misused(&job->options,
			"after the page comes --, then the command; or --tool, "
			"its name and its arguments");
	take_words(job, count - 2, operands + 2);
	return -1;
}

static int
take_arguments(struct exec *job, int argc, char **argv)
{
	static const struct option table[] = { OPTIONS_LONG,
		{ "directory", required_argument, NULL, OPTION_DIR },
		{ "json", no_argument, NULL, OPTION_JSON },
		{ "dry-run", no_argument, NULL, OPTION_DRY_RUN },
		{ "explain", no_argument, NULL, OPTION_EXPLAIN },
		{ "yes", no_argument, NULL, OPTION_YES },
		{ "next", required_argument, NULL, OPTION_NEXT },
		{ "workspace", required_argument, NULL, OPTION_WORKSPACE },
		{ "commit", no_argument, NULL, OPTION_COMMIT },
		{ "once", required_argument, NULL, OPTION_ONCE },
		{ "get", no_argument, NULL, OPTION_GET },
		{ "site", required_argument, NULL, OPTION_SITE },
		{ NULL, 0, NULL, 0 } };
	int option, status;

	while ((option = getopt_long(
			argc, argv, "+C:" OPTIONS_SHORT, table, NULL)) != -1) {
		switch (option) {
		case OPTION_DIR: job->options.root = optarg; break;
		case OPTION_JSON: job->json = true; break;
		case OPTION_DRY_RUN: job->dry_run = true; break;
		case OPTION_EXPLAIN: job->explain = true; break;
		case OPTION_YES: job->yes = true; break;
		case OPTION_NEXT: job->next = optarg; break;
		case OPTION_WORKSPACE: job->session = optarg; break;
		case OPTION_COMMIT: job->commit = true; break;
		case OPTION_ONCE: job->key = optarg; break;
		case OPTION_GET: job->get = true; break;
		default:
			status = options_take(&job->options, option, optarg);
			if (status >= 0)
				return status;
		}
	}
	return take_operands(job, argc - optind, argv + optind);
}

int
cmd_exec(int argc, char **argv)
{
	struct exec job = { .options = { .usage = usage } };
	struct ss_error err = { 0 };
	/* Never freed: the process ends, and its memory with it. */
	static struct ss_site *all;
	struct ss_site *site;
	int status = take_arguments(&job, argc, argv);

	if (status >= 0)
		goto out;
	site = options_open_one(&job.options, ".", &all, NULL, &err);
	if (site == NULL) {
		status = options_failed(&err, EXIT_FAULT);
		goto out;
	}
	status = job.get ? run_get(site, &job) : run_call(site, &job);
out:
	free(job.arguments);
	return status;
}
