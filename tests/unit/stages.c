/* SPDX-License-Identifier: MIT */
/*
 * The helper of pipelines: its command line is read back as it was written,
 * whatever the words hold; stages are connected and see three descriptors; the
 * status is that of the last stage that failed.
 */
#include "tools/stages.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "tap.h"
#include "tools/helper.h"

#define ROUNDS 20000
#define WORDS_MAX 6

static struct arena arena;
static struct stage read_back[STAGES_MAX];

/* execve(2) takes words that it does not change as char *. */
static char *
word(const char *constant)
{
	return (char *)(uintptr_t)constant;
}

static const char *
one_of(const char *const *list, size_t count)
{
	return list[(size_t)rand() % count];
}

/* -------------------------------------------------------------- the line -- */

static int
words_in(char *const *line)
{
	int n = 0;

	while (line[n] != NULL)
		n++;
	return n;
}

static char **
copy_line(char *const *line, int argc)
{
	char **copy = arena_array(&arena, (size_t)argc + 1, sizeof(*copy));

	memcpy(copy, line, (size_t)argc * sizeof(*copy));
	copy[argc] = NULL;
	return copy;
}

static bool
same_words(char *const *a, char *const *b)
{
	size_t i = 0;

	for (; a[i] != NULL && b[i] != NULL; i++)
		if (strcmp(a[i], b[i]) != 0)
			return false;
	return a[i] == b[i];
}

static bool
reads_back(const struct stage *stages, size_t count)
{
	char *const *line = stages_argv(&arena, stages, count);
	int argc = words_in(line);

	if (stages_read(argc, copy_line(line, argc), read_back) != count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (strcmp(read_back[i].name, stages[i].name) != 0 ||
			strcmp(read_back[i].program, stages[i].program) != 0 ||
			!same_words(read_back[i].argv, stages[i].argv))
			return false;
	return true;
}

/* Words that look like the start of a stage, and what shells would read. */
static const char *const odd[] = { "", "1", "3", "|", ";", "a\nb", "-n", "--",
	"/bin/sh", "statespace-pipe", "\xff\x01", "$(id)" };

static void
check_any_words(void)
{
	struct stage stages[STAGES_MAX];
	char *words[STAGES_MAX][WORDS_MAX + 1];
	bool all = true;

	srand(15);
	for (int round = 0; round < ROUNDS && all; round++) {
		size_t count = 1 + (size_t)rand() % STAGES_MAX;

		for (size_t i = 0; i < count; i++) {
			size_t n = 1 + (size_t)rand() % WORDS_MAX;

			for (size_t k = 0; k < n; k++)
				words[i][k] = word(one_of(odd, ARRAY_LEN(odd)));
			words[i][n] = NULL;
			stages[i] = (struct stage){ one_of(odd, ARRAY_LEN(odd)),
				one_of(odd, ARRAY_LEN(odd)), words[i] };
		}
		all = reads_back(stages, count);
		arena_clear(&arena);
	}
	ok(all, "any words are read back as they were written");
}

static const struct {
	const char *what;
	size_t count;
	const char *words[10];
} lines[] = {
	{ "a line of one stage", 1, { "1", "a", "/a", "a" } },
	{ "a line of two stages", 2,
		{ "1", "a", "/a", "a", "2", "b", "/b", "b", "c" } },
	{ "no stage", 0, { NULL } },
	{ "a count of 0", 0, { "0", "a", "/a" } },
	{ "a leading zero", 0, { "01", "a", "/a", "a" } },
	{ "a sign", 0, { "+1", "a", "/a", "a" } },
	{ "no number", 0, { "1x", "a", "/a", "a" } },
	{ "an empty count", 0, { "", "a", "/a", "a" } },
	{ "a count past the end", 0, { "2", "a", "/a", "a" } },
	{ "a count that would wrap", 0,
		{ "18446744073709551615", "a", "/a", "a" } },
	{ "no program", 0, { "1", "a" } },
	{ "a word too many", 0, { "1", "a", "/a", "a", "b" } },
};

static void
check_lines(void)
{
	char name[] = "statespace-pipe";

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		char *argv[12] = { name };
		int argc = 1;

		for (; lines[i].words[argc - 1] != NULL; argc++)
			argv[argc] = word(lines[i].words[argc - 1]);
		is_int((long)lines[i].count,
			(long)stages_read(argc, argv, read_back), "%s is %s",
			lines[i].what,
			lines[i].count > 0 ? "taken" : "refused");
	}
	is_int(0, (long)stages_read(0, (char *[]){ NULL }, read_back),
		"an empty command line is refused");
}

static void
check_most(void)
{
	char *words[] = { word("a"), NULL };
	struct stage stages[STAGES_MAX + 1];
	char *const *line;

	for (size_t i = 0; i <= STAGES_MAX; i++)
		stages[i] = (struct stage){ "a", "/a", words };
	ok(reads_back(stages, STAGES_MAX), "%d stages are taken", STAGES_MAX);
	line = stages_argv(&arena, stages, STAGES_MAX + 1);
	is_int(0,
		(long)stages_read(words_in(line),
			copy_line(line, words_in(line)), read_back),
		"%d are refused", STAGES_MAX + 1);
}

/* Random lines: whatever is taken has its words within the line. */
static void
check_noise(void)
{
	static const char *const parts[] = { "1", "2", "3", "9", "0", "a",
		"999999", "-1" };
	bool all = true;
	char *argv[40];

	for (int round = 0; round < ROUNDS && all; round++) {
		int argc = 1 + rand() % 38;
		size_t count, words = 1;

		for (int i = 0; i < argc; i++)
			argv[i] = word(one_of(parts, ARRAY_LEN(parts)));
		argv[argc] = NULL;
		count = stages_read(argc, argv, read_back);
		for (size_t i = 0; i < count; i++)
			words += 3 + (size_t)words_in(read_back[i].argv);
		all = count == 0 || words == (size_t)argc;
	}
	ok(all, "a random line is refused, or all of it is stages");
}

/* --------------------------------------------------------------- the run -- */

static struct buf out, said;

/* Each text is the script of one stage; the status as waitpid(2) has it. */
static int
run(const char *const *scripts, size_t count)
{
	static char sh[] = "sh", c[] = "-c";
	char *argv[STAGES_MAX][4];
	struct stage stages[STAGES_MAX];
	char *const *line;
	int ends[2], errors[2], status = -1;
	pid_t pid;

	for (size_t i = 0; i < count; i++) {
		argv[i][0] = sh;
		argv[i][1] = c;
		argv[i][2] = word(scripts[i]);
		argv[i][3] = NULL;
		stages[i] = (struct stage){ "sh",
			scripts[i][0] == '/' ? scripts[i] : "/bin/sh",
			argv[i] };
	}
	line = stages_argv(&arena, stages, count);
	buf_clear(&out);
	buf_clear(&said);
	if (pipe(ends) != 0 || pipe(errors) != 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		dup2(errors[1], STDERR_FILENO);
		close(ends[1]);
		close(errors[1]);
		_exit(pipe_main(
			words_in(line), copy_line(line, words_in(line))));
	}
	close(ends[1]);
	close(errors[1]);
	fd_read_all(ends[0], &out);
	fd_read_all(errors[0], &said);
	close(ends[0]);
	close(errors[0]);
	waitpid(pid, &status, 0);
	return status;
}

#define RUN(...)                                                               \
	run((const char *const[]){ __VA_ARGS__ },                              \
		ARRAY_LEN(((const char *const[]){ __VA_ARGS__ })))
#define EXIT(n) ((n) << 8)

static void
check_connected(void)
{
	is_int(0, RUN("echo b; echo a; echo b", "sort", "uniq -c | tr -d ' '"),
		"three stages run");
	is_str("1a\n2b\n", out.data, "... each reads the one before it");
	is_int(0, RUN("echo alone"), "one stage runs");
	is_str("alone\n", out.data, "... and writes the output");
	is_int(0, RUN("echo x >&2; echo y", "cat >&2"), "stages run");
	is_str("x\ny\n", said.data, "... standard error is one for all");
	is_int(0, RUN("ls /proc/self/fd", "cat"), "the first stage looks");
	is_str("0\n1\n2\n3\n", out.data,
		"... it has 0 to 2, and what it opened itself");
	is_int(0, RUN("true", "ls /proc/self/fd", "cat"), "one between looks");
	is_str("0\n1\n2\n3\n", out.data, "... it has no more");
	is_int(0, RUN("true", "ls /proc/self/fd"), "the last looks");
	is_str("0\n1\n2\n3\n", out.data, "... it has no more");
}

/* Another descriptor of ours is no stage's. */
static void
check_inherited(void)
{
	int fd = open("/dev/null", O_RDONLY);

	ok(dup2(fd, 3) == 3 && dup2(fd, 9) == 9, "two more are open");
	is_int(0, RUN("ls /proc/self/fd", "ls /proc/self/fd >&2; cat"),
		"two stages look");
	is_str("0\n1\n2\n3\n", out.data, "... the first has 0 to 2");
	is_str("0\n1\n2\n3\n", said.data, "... and the second");
	close(3);
	close(9);
}

static void
check_status(void)
{
	is_int(EXIT(3), RUN("exit 3", "cat"), "an earlier failure counts");
	is_int(EXIT(4), RUN("exit 3", "exit 4"), "the last failure counts");
	is_int(EXIT(3), RUN("exit 3", "cat", "cat"), "... of any stage");
	is_int(0, RUN("exec yes", "exec head -n 1"),
		"a stage whose reader has enough did not fail");
	is_str("y\n", out.data, "... and the output is there");
	is_int(0, RUN("yes; exit $?", "exec head -n 1"),
		"nor did a shell whose command that was");
	is_int(EXIT(5), RUN("exec yes", "head -n 1; exit 5"),
		"a reader that fails counts");
	is_int(SIGPIPE, RUN("true", "kill -PIPE $$"),
		"SIGPIPE of the last stage counts");
	is_int(SIGXCPU, RUN("kill -XCPU $$", "cat"),
		"a signal of a stage is ours: it tells the limit");
	is_int(SIGKILL, RUN("echo a", "kill -KILL $$", "cat"),
		"a stage that is killed does not leave the others waiting");
}

static void
check_not_started(void)
{
	is_int(EXIT(127), RUN("echo a", "/nonexistent/program"),
		"a program that is not there");
	ok(strstr(said.data, "stage 2: sh cannot be started: ") != NULL,
		"... the message has the stage and the name");
	is_int(EXIT(126), RUN("/etc/passwd", "cat"),
		"a file that cannot be executed");
	is_str("", out.data, "... the stages after it do not start");
}

int
main(void)
{
	arena_init(&arena, 0);
	out = said = BUF_INIT(65536);
	check_lines();
	check_any_words();
	check_most();
	check_noise();
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	check_connected();
	check_inherited();
	check_status();
	check_not_started();
	buf_release(&out);
	buf_release(&said);
	arena_release(&arena);
	return done();
}
