/* SPDX-License-Identifier: MIT */
/* Programs that give the agent more than its words seem to. */
#include "page/lint_own.h"

enum danger {
	DANGER_SHELL,  /* a shell: as DANGER_SCRIPT, and starts any program */
	DANGER_SCRIPT, /* runs a file, or code after an option */
	DANGER_RUNNER, /* runs the program that its words name */
	DANGER_OPTION, /* some option runs a program or writes */
	DANGER_WRITES  /* changes files that its words name */
};

static const struct program {
	const char *name;
	enum danger danger;
	const char *code; /* option letters that take code */
} programs[] = {
	{ "sh", DANGER_SHELL, "c" },
	{ "bash", DANGER_SHELL, "c" },
	{ "dash", DANGER_SHELL, "c" },
	{ "ash", DANGER_SHELL, "c" },
	{ "ksh", DANGER_SHELL, "c" },
	{ "zsh", DANGER_SHELL, "c" },
	{ "busybox", DANGER_SHELL, "" },
	{ "python", DANGER_SCRIPT, "c" },
	{ "perl", DANGER_SCRIPT, "eE" },
	{ "ruby", DANGER_SCRIPT, "e" },
	{ "node", DANGER_SCRIPT, "ep" },
	{ "php", DANGER_SCRIPT, "r" },
	{ "lua", DANGER_SCRIPT, "e" },
	{ "Rscript", DANGER_SCRIPT, "e" },
	{ "tclsh", DANGER_SCRIPT, "" },
	{ "xargs", DANGER_RUNNER, "" },
	{ "env", DANGER_RUNNER, "" },
	{ "nice", DANGER_RUNNER, "" },
	{ "nohup", DANGER_RUNNER, "" },
	{ "timeout", DANGER_RUNNER, "" },
	{ "time", DANGER_RUNNER, "" },
	{ "setsid", DANGER_RUNNER, "" },
	{ "stdbuf", DANGER_RUNNER, "" },
	{ "flock", DANGER_RUNNER, "" },
	{ "watch", DANGER_RUNNER, "" },
	{ "parallel", DANGER_RUNNER, "" },
	{ "sudo", DANGER_RUNNER, "" },
	{ "find", DANGER_OPTION, "" },
	{ "awk", DANGER_OPTION, "" },
	{ "gawk", DANGER_OPTION, "" },
	{ "mawk", DANGER_OPTION, "" },
	{ "sed", DANGER_OPTION, "" },
	{ "tar", DANGER_OPTION, "" },
	{ "git", DANGER_OPTION, "" },
	{ "make", DANGER_OPTION, "" },
	{ "rsync", DANGER_OPTION, "" },
	{ "ssh", DANGER_OPTION, "" },
	{ "vi", DANGER_OPTION, "" },
	{ "vim", DANGER_OPTION, "" },
	{ "less", DANGER_OPTION, "" },
	{ "man", DANGER_OPTION, "" },
	{ "zip", DANGER_OPTION, "" },
	{ "sqlite3", DANGER_OPTION, "" },
	{ "psql", DANGER_OPTION, "" },
	{ "rm", DANGER_WRITES, "" },
	{ "rmdir", DANGER_WRITES, "" },
	{ "mv", DANGER_WRITES, "" },
	{ "cp", DANGER_WRITES, "" },
	{ "ln", DANGER_WRITES, "" },
	{ "tee", DANGER_WRITES, "" },
	{ "dd", DANGER_WRITES, "" },
	{ "touch", DANGER_WRITES, "" },
	{ "mkdir", DANGER_WRITES, "" },
	{ "chmod", DANGER_WRITES, "" },
	{ "chown", DANGER_WRITES, "" },
	{ "install", DANGER_WRITES, "" },
	{ "truncate", DANGER_WRITES, "" },
	{ "shred", DANGER_WRITES, "" },
	{ "split", DANGER_WRITES, "" },
	{ "patch", DANGER_WRITES, "" },
	{ "unzip", DANGER_WRITES, "" },
};

/* "/usr/bin/python3.11" is python. */
struct ss_text
lint_program_name(struct ss_text word)
{
	for (size_t i = word.len; i > 0; i--)
		if (word.data[i - 1] == '/') {
			word.data += i;
			word.len -= i;
			break;
		}
	if (text_starts(word, "python"))
		word.len = strlen("python");
	return word;
}

const struct program *
lint_program(const struct spec *s)
{
	struct ss_text name;

	if (s->parts[0].kind != PART_TEXT)
		return NULL;
	name = lint_program_name(s->parts[0].text);
	for (size_t i = 0; i < ARRAY_LEN(programs); i++)
		if (text_is(name, programs[i].name))
			return &programs[i];
	return NULL;
}

bool
lint_is_option(const struct part *p)
{
	return p->kind == PART_TEXT && text_starts(p->text, "-");
}

/* "-c" or "-lc" for the letter c; "--eval" for e. */
static bool
takes_code(const struct part *p, const char *letters)
{
	struct ss_text t = p->text;

	if (!lint_is_option(p) || t.len < 2 || letters[0] == '\0')
		return false;
	if (text_is(t, "--eval") || text_is(t, "--print"))
		return true;
	return t.data[1] != '-' && strchr(letters, t.data[t.len - 1]) != NULL;
}

bool
lint_takes_code(const struct spec *s, const struct part *option)
{
	const struct program *p = lint_program(s);

	return p != NULL && p->danger == DANGER_SHELL &&
		takes_code(option, p->code);
}

/*
 * Does the agent choose what runs: the word after -c, or the first that is no
 * option?  A script or program that the author named is the author's.
 */
static bool
agent_chooses(const struct spec *s, const char *letters)
{
	size_t i = 1;

	while (i < s->part_count && lint_is_option(&s->parts[i]))
		if (takes_code(&s->parts[i++], letters))
			break;
	return i < s->part_count ? part_takes_any(&s->parts[i]) : !s->locked;
}

static bool
edits_in_place(const struct spec *s)
{
	for (size_t i = 1; i < s->part_count; i++)
		if (s->parts[i].kind == PART_TEXT &&
			(text_starts(s->parts[i].text, "-i") ||
				text_starts(s->parts[i].text, "--in-place")))
			return true;
	return false;
}

/* May a free word of the agent's be an option: does it follow none? */
static bool
agent_adds_option(const struct spec *s)
{
	for (size_t i = 1; i < s->part_count; i++) {
		if (lint_is_option(&s->parts[i]) && s->parts[i].text.len == 2 &&
			s->parts[i].text.data[1] == '-')
			return false;
		if (part_takes_any(&s->parts[i]) &&
			!lint_is_option(&s->parts[i - 1]))
			return true;
	}
	return !s->locked;
}

static void
lint_danger(const struct lint *l, const struct spec *s, const struct program *p)
{
	switch (p->danger) {
	case DANGER_SHELL:
		lint_warn(l, WARN_SHELL, place_of_spec(s),
			"name the program itself where no shell is needed",
			"%s may execute every program of the view", p->name);
		/* fall through */
	case DANGER_SCRIPT:
		if (agent_chooses(s, p->code))
			lint_warn(l, WARN_CODE, place_of_spec(s),
				"write the script in the page and end the "
				"tool with ;",
				"the agent chooses the code that %s runs",
				p->name);
		break;
	case DANGER_RUNNER:
		if (agent_chooses(s, p->code))
			lint_warn(l, WARN_RUNNER, place_of_spec(s),
				"name the program in the page",
				"the agent chooses the program that %s runs",
				p->name);
		break;
	case DANGER_OPTION:
		if (edits_in_place(s) && strcmp(p->name, "sed") == 0 &&
			!s->locked)
			lint_warn(l, WARN_WRITE, place_of_spec(s),
				"end the tool with ; so that no word can be "
				"appended",
				"sed -i writes, and the agent may append "
				"words");
		else if (agent_adds_option(s))
			lint_warn(l, WARN_OPTION, place_of_spec(s),
				"end the tool with ; and use a regex that "
				"refuses a leading - for its words",
				"%s has options that run programs or write, "
				"and the agent may add them",
				p->name);
		break;
	case DANGER_WRITES:
		if (!s->locked)
			lint_warn(l, WARN_WRITE, place_of_spec(s),
				"end the tool with ; so that no word can be "
				"appended",
				"%s writes, and the agent may append words",
				p->name);
		break;
	}
}

/* --------------------------------------------------------------- languages */

static bool
is_one_of(const struct spec *s, const char *const *names, size_t count)
{
	struct ss_text name;

	if (s->parts[0].kind != PART_TEXT)
		return false;
	name = lint_program_name(s->parts[0].text);
	for (size_t i = 0; i < count; i++)
		if (text_is(name, names[i]))
			return true;
	return false;
}

bool
lint_reads_code(const struct spec *s)
{
	static const char *const languages[] = { "awk", "gawk", "mawk", "sed",
		"jq", "yq", "gron", "xq", "sqlite3", "psql", "mysql", "duckdb",
		"make", "bc", "dc", "expr", "test", "[", "printf", "gnuplot",
		"xargs", "env", "ed", "ex", "vim", "miller", "mlr", "xmllint" };
	const struct program *p = lint_program(s);

	return is_one_of(s, languages, ARRAY_LEN(languages)) ||
		(p != NULL &&
			(p->danger == DANGER_SHELL ||
				p->danger == DANGER_SCRIPT));
}

bool
lint_reads_patterns(const struct spec *s)
{
	static const char *const readers[] = { "glob", "fs", "find", "fd",
		"git", "grep", "egrep", "fgrep", "rg", "ag", "ack", "locate",
		"rsync", "tar", "zip", "unzip", "tree", "edit", "write", "echo",
		"pgrep", "curl" };

	return is_one_of(s, readers, ARRAY_LEN(readers));
}

/* ----------------------------------------------------------- first words */

/* What a shell does itself: no program has these names. */
static const char *const shell_words[] = { "cd", "export", "source", ".",
	"alias", "set", "unset", "eval", "exec", "exit", "if", "for", "while",
	"ulimit", "umask", "pushd", "popd", "type", "local", "let" };

static bool
is_shell_word(struct ss_text word)
{
	for (size_t i = 0; i < ARRAY_LEN(shell_words); i++)
		if (text_is(word, shell_words[i]))
			return true;
	return false;
}

/* "LANG=C", before the program at a shell's prompt. */
static bool
is_assignment(struct ss_text word)
{
	const char *sign = memchr(word.data, '=', word.len);

	return sign != NULL &&
		env_is_name(word.data, (size_t)(sign - word.data));
}

static void
lint_first_word(const struct lint *l, const struct part *first)
{
	const struct node_place at = place_of_part(first);
	struct ss_text word = first->text, name = lint_program_name(word);

	if (word.len == 0)
		lint_warn(l, WARN_EMPTY, at, "write the program's name",
			"the program's name is empty");
	else if (memchr(word.data, ' ', word.len) != NULL)
		lint_warn(l, WARN_PROGRAM, at,
			"write each word as a part of its own: [ls, -l]",
			"this is one word: no program has such a name");
	else if (is_shell_word(word))
		lint_warn(l, WARN_PROGRAM, at,
			"tools run in the page's directory, and no shell "
			"reads their words: name a program",
			"%.*s is a word of the shell's, not a program",
			(int)word.len, word.data);
	else if (is_assignment(word))
		lint_warn(l, WARN_PROGRAM, at,
			"list the variable under env:, and begin the tool "
			"with the program",
			"a variable is set here, and no shell reads it");
	else if (text_is(name, "sudo") || text_is(name, "su") ||
		text_is(name, "doas"))
		lint_warn(l, WARN_PROGRAM, at,
			"name the program alone: every tool runs as [pool] "
			"user of the configuration",
			"%.*s cannot change the account of a tool",
			(int)name.len, name.data);
	else if (memchr(word.data, '\\', word.len) != NULL)
		lint_warn(l, WARN_PROGRAM, at,
			"divide the parts of a path with /: tools/find.sh",
			"a backslash divides no path here");
	else if (text_starts(word, "~"))
		lint_warn(l, WARN_PROGRAM, at,
			"write the whole path, or one from the page's "
			"directory",
			"no shell reads ~ here: it is text");
}

/* ---------------------------------------------------------------- endless */

static bool
has_word(const struct spec *s, const char *const *words, size_t count)
{
	for (size_t i = 1; i < s->part_count; i++)
		for (size_t k = 0; k < count; k++)
			if (s->parts[i].kind == PART_TEXT &&
				text_is(s->parts[i].text, words[k]))
				return true;
	return false;
}

static void
lint_endless(const struct lint *l, const struct spec *s)
{
	static const char *const follow[] = { "-f", "-F", "--follow", "-nf" };
	static const char *const counted[] = { "-c", "-c1", "-c3", "-w" };
	struct ss_text name = lint_program_name(s->parts[0].text);

	if (((text_is(name, "tail") || text_is(name, "journalctl") ||
		     text_is(name, "dmesg")) &&
		    has_word(s, follow, ARRAY_LEN(follow))) ||
		text_is(name, "watch") ||
		(text_is(name, "ping") &&
			!has_word(s, counted, ARRAY_LEN(counted)) && s->locked))
		lint_warn(l, WARN_ENDLESS, place_of_spec(s),
			"print what there is now: [tail, -n, 100, app.log, ;]",
			"%.*s runs until the timeout kills it", (int)name.len,
			name.data);
}

static void
lint_screen(const struct lint *l, const struct spec *s)
{
	static const char *const batch[] = { "-b", "-bn1", "-bn" };
	static const char *const screens[] = { "vi", "vim", "nano", "emacs",
		"htop", "less", "more", "tmux", "screen", "top" };
	struct ss_text name = lint_program_name(s->parts[0].text);

	if (has_word(s, batch, ARRAY_LEN(batch)))
		return;
	for (size_t i = 0; i < ARRAY_LEN(screens); i++)
		if (text_is(name, screens[i]))
			lint_warn(l, WARN_ENDLESS, place_of_spec(s),
				"name a program that prints and ends: cat, "
				"head, [top, -b, -n, 1, ;]",
				"%.*s is made for a terminal, and tools have "
				"none",
				(int)name.len, name.data);
}

/* ------------------------------------------------------------------ stdin */

/* With options alone these read standard input. */
static const char *const filters[] = { "cat", "wc", "sort", "uniq", "tac",
	"rev", "nl", "tr", "cut", "fold", "fmt", "head", "tail", "md5sum",
	"sha1sum", "sha256sum", "sha512sum", "base64", "tee", "column" };

static void
lint_stdin(const struct lint *l, const struct spec *s, bool fed)
{
	struct ss_text name = lint_program_name(s->parts[0].text);
	size_t i = 1;

	while (i < s->part_count && lint_is_option(&s->parts[i]))
		i++;
	if (!s->locked || fed || i < s->part_count)
		return;
	for (i = 0; i < ARRAY_LEN(filters); i++)
		if (text_is(name, filters[i]))
			lint_warn(l, WARN_STDIN, place_of_spec(s),
				"name a file, or add stdin: true",
				"%.*s reads standard input, which is empty",
				(int)name.len, name.data);
}

void
lint_programs(const struct lint *l, const struct spec *s, bool fed)
{
	const struct program *p = lint_program(s);

	if (s->parts[0].kind != PART_TEXT) {
		lint_warn(l, WARN_RUNNER, place_of_part(&s->parts[0]),
			"write the program's name",
			"the agent chooses the program");
		return;
	}
	lint_first_word(l, &s->parts[0]);
	if (p != NULL)
		lint_danger(l, s, p);
	lint_endless(l, s);
	lint_screen(l, s);
	lint_stdin(l, s, fed);
}
