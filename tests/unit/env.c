/* SPDX-License-Identifier: MIT */
/* Variables: who may set which, what becomes of $NAME, agent's words. */
#include "page/env_check.h"
#include "page/env_fill.h"
#include "page/words.h"
#include "wire/proto.h"
#include "tap.h"

#include <stdlib.h>

static struct arena arena;
static struct ss_error error;

static const struct ss_pair server[] = { { "API_KEY", "s3cr3t" },
	{ "DB", "prod" }, { "EMPTY", "" }, { "NEST", "$DB" },
	{ "ABS", "/srv/../x" } };
static const char *page_names[] = { "WHO", "DB", "ABS", "LESSOPEN" };
static const struct name_list page = { .set = true,
	.names = page_names,
	.count = ARRAY_LEN(page_names),
	.line = 3,
	.column = 1 };
static const struct ss_pair sent[] = { { "WHO", "ada" }, { "DB", "mine" } };

static struct env_scope
scope_of(const struct ss_pair *request, size_t count)
{
	return (struct env_scope){ .server = server,
		.server_count = ARRAY_LEN(server),
		.page = &page,
		.request = request,
		.request_count = count,
		.request_id = "r-1" };
}

/* A tool of at most eight parts: "{}" free, "~" a regex, else text. */
struct tool {
	struct part parts[8];
	const struct part *of[9]; /* of each word; the last is appended */
	struct piece pieces[8];
	struct argument arguments[8];
	struct spec spec;
};

static const struct spec *
tool_of(struct tool *t, const char *const *words, size_t count)
{
	*t = (struct tool){ .spec.parts = t->parts, .spec.part_count = count };
	for (size_t i = 0; i < count; i++) {
		t->parts[i].line = 7;
		t->parts[i].column = (unsigned)i + 1;
		t->parts[i].text = text_of(words[i]);
		t->of[i] = &t->parts[i];
		t->parts[i].pieces = &t->pieces[i];
		t->pieces[i].argument = &t->arguments[i];
		if (strcmp(words[i], "~") == 0)
			t->arguments[i].regex = TEXT("~");
		if (strcmp(words[i], "{}") == 0 || strcmp(words[i], "~") == 0) {
			t->parts[i].kind = PART_ARGUMENT;
			t->parts[i].piece_count = 1;
		}
	}
	return &t->spec;
}

static struct command
command_of(struct tool *t, struct ss_text *words, size_t count)
{
	return (struct command){
		.spec = &t->spec, .words = words, .parts = t->of, .count = count
	};
}

static bool
may_list(const char *name)
{
	const struct name_list list = {
		.set = true, .names = &name, .count = 1
	};
	struct node_place place;

	return env_check_list(&list, &place, &error) == SS_OK;
}

/* May a request set the name when a page lists it? */
static bool
may_set(const char *name)
{
	const struct name_list list = {
		.set = true, .names = &name, .count = 1
	};

	return env_is_open(&(struct env_scope){ .page = &list }, name);
}

static void
test_names(void)
{
	static const char *const names[] = { "A", "_", "a1", "API_KEY" };
	static const char *const others[] = { "", "1A", "A-B", "A B",
		"A=", "$A", "\xc3\xa9", "A\n" };
	static const char *const kept[] = { "PATH", "HOME", "TMPDIR", "IFS",
		"ENV", "BASH_ENV", "LD_PRELOAD", "LD_", "DYLD_X", "GCONV_PATH",
		"STATESPACE_REQUEST_ID" };
	static const char *const hooks[] = { "PYTHONPATH", "PERL5LIB",
		"PERL5OPT", "NODE_OPTIONS", "RUBYOPT", "GIT_SSH_COMMAND",
		"PAGER", "EDITOR", "http_proxy", "HTTPS_PROXY", "no_proxy",
		"LESSOPEN", "MANPAGER", "JAVA_TOOL_OPTIONS", "LOCPATH", "PS4",
		"SHELLOPTS", "BASH_FUNC_x", "GLIBC_TUNABLES", "TAR_OPTIONS",
		"KUBECONFIG", "AWS_CONFIG_FILE", "LC_ALL" };
	static const char *const free_names[] = { "WHO", "QUERY", "GOAL",
		"LESSON", "CREDITOR", "TZ", "REGION", "PATHS", "HOMER", "path",
		"NODE_NAME", "PROXY" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		ok(env_is_name(names[i], strlen(names[i])), "%s is a name",
			names[i]);
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		ok(!env_is_name(others[i], strlen(others[i])),
			"name %zu of the others is none", i);
	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		ok(!may_list(kept[i]), "%s is reserved", kept[i]);
	for (size_t i = 0; i < ARRAY_LEN(hooks); i++)
		ok(may_list(hooks[i]) && !may_set(hooks[i]),
			"%s is for the server to set", hooks[i]);
	for (size_t i = 0; i < ARRAY_LEN(free_names); i++)
		ok(may_list(free_names[i]) && may_set(free_names[i]),
			"%s is anybody's", free_names[i]);
}

static void
test_list(void)
{
	static const char *bad[] = { "OK", "LD_PRELOAD" };
	static const char *worse[] = { "$WHO" };
	struct name_list list = { true, bad, 2, 4, 2 };
	struct node_place place;

	is_int(SS_OK, env_check_list(&page, &place, &error),
		"a page may list a hook for the server to set");
	is_int(SS_BAD_FRONTMATTER, env_check_list(&list, &place, &error),
		"but not a reserved name");
	is_str("line 4, column 2: found \"LD_PRELOAD\" in env, expected a "
	       "variable that a page may pass on",
		error.message, "and reads where");
	ok(place.line == 4 && place.column == 2, "as lines of check do");
	list = (struct name_list){ true, worse, 1, 4, 2 };
	is_int(SS_BAD_FRONTMATTER, env_check_list(&list, &place, &error),
		"nor what is no name");
	ok(strstr(error.message, "\"$WHO\"") != NULL, "which is named");
	list.count = 0;
	is_int(SS_OK, env_check_list(&list, &place, &error),
		"an empty list is fine");
}

#define WORDS(...)                                                             \
	(const char *const[]){ __VA_ARGS__ },                                  \
		ARRAY_LEN(((const char *const[]){ __VA_ARGS__ }))

static void
script(enum ss_err wanted, const char *sentence, const char *const *words,
	size_t count)
{
	struct env_scope scope = scope_of(NULL, 0);
	struct node_place place;
	struct tool t;

	is_int(wanted,
		env_check_spec(
			tool_of(&t, words, count), &scope, &place, &error),
		"%s", sentence);
}

static void
test_scripts(void)
{
	const enum ss_err bad = SS_BAD_FRONTMATTER;

	script(bad, "a secret in sh -c", WORDS("sh", "-c", "x $API_KEY"));
	is_str("line 7, column 3: found $API_KEY inside a script, expected a "
	       "name that env: lists",
		error.message, "the message says where and which");
	ok(strstr(error.hint, "add API_KEY to env:") != NULL,
		"the hint says what to do");
	script(bad, "with braces", WORDS("sh", "-c", "x ${API_KEY}"));
	script(bad, "as a word by itself", WORDS("sh", "-c", "$API_KEY"));
	script(bad, "in a path's shell", WORDS("/bin/bash", "-c", "$API_KEY"));
	script(bad, "in python3.12", WORDS("python3.12", "-c", "$API_KEY"));
	script(bad, "in perl -e", WORDS("perl", "-e", "$API_KEY"));
	script(bad, "in perl -lane", WORDS("perl", "-lane", "$API_KEY"));
	script(bad, "in sh -ec", WORDS("sh", "-ec", "$API_KEY"));
	script(bad, "in node --eval", WORDS("node", "--eval", "$API_KEY"));
	script(bad, "glued to -e", WORDS("perl", "-eprint '$API_KEY'"));
	script(bad, "behind other options",
		WORDS("bash", "-o", "pipefail", "-c", "$API_KEY"));
	script(bad, "behind a wrapper",
		WORDS("timeout", "5", "sh", "-c", "$API_KEY"));
	script(bad, "behind any program", WORDS("{}", "-c", "$API_KEY"));
	script(SS_OK, "a listed name is the script's to read",
		WORDS("sh", "-c", "x $DB $WHO"));
	script(SS_OK, "a name in no table is the script's own",
		WORDS("sh", "-c", "for f in *; do echo $f; done"));
	script(SS_OK, "an option of another program",
		WORDS("grep", "-e", "$API_KEY"));
	script(SS_OK, "a header", WORDS("curl", "-H", "Bearer $API_KEY"));
	script(SS_OK, "an argument of a script",
		WORDS("python3", "x.py", "$API_KEY"));
	script(SS_OK, "a word after the script",
		WORDS("sh", "-c", "echo \"$1\"", "sh", "$API_KEY"));
}

/* A tool's env: narrows the page's. */
static void
test_narrowed(void)
{
	static const char *names[] = { "WHO", "OTHER" };
	const struct name_list own = {
		.set = true, .names = names, .count = ARRAY_LEN(names)
	};
	struct env_scope scope = scope_of(NULL, 0);
	struct node_place place;
	struct tool t;

	ok(env_is_open(&scope, "WHO"), "a listed name is open to a request");
	ok(!env_is_open(&scope, "OTHER"), "... one that is not listed is not");
	ok(!env_is_open(&scope, "DB"), "... nor one that the server sets");
	ok(!env_is_open(&scope, "LESSOPEN"), "... nor the server's alone");
	scope.tool = &own;
	ok(env_is_open(&scope, "WHO"), "the tool's list keeps a name");
	ok(!env_is_listed(&scope, TEXT("DB")), "... takes one from the page's");
	ok(!env_is_listed(&scope, TEXT("OTHER")), "... and adds none");
	scope.tool = NULL; /* env_check_spec has the tool */
	tool_of(&t, WORDS("sh", "-c", "x $DB"));
	t.spec.env = own;
	is_int(SS_BAD_FRONTMATTER,
		env_check_spec(&t.spec, &scope, &place, &error),
		"a secret in a script is refused when the tool does not list "
		"it");
}

static void
word(const char *program, const char *kind, const char *text,
	enum ss_err wanted)
{
	const char *parts[] = { program, kind };
	struct ss_text words[] = { text_of(program), text_of(text) };
	struct tool t;
	struct command command;

	tool_of(&t, parts, kind != NULL ? 2 : 1);
	command = command_of(&t, words, 2);
	error_clear(&error);
	is_int(wanted, words_check(&command, &error), "%s word \"%s\"",
		kind == NULL                      ? "extra"
			: strcmp(kind, "{}") == 0 ? "free"
			: strcmp(kind, "~") == 0  ? "regex"
						  : "author's",
		text);
}

static void
test_words(void)
{
	static const char *const bad[] = { "/etc/passwd", "/", "..", "../x",
		"a/../b", "--file=/etc/passwd", "if=/dev/zero", "-x=../y",
		"a=..", "--a-b.c_1=/x" };
	static const char *const fine[] = { "", "x", "a/b", "-n", "1..2",
		"https://example.com/a?q=/b", "s=a/b", "{x=/re/}", "=",
		"a=", "a/=/b" };

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		word("cat", "{}", bad[i], SS_PATH_REFUSED);
		word("cat", NULL, bad[i], SS_PATH_REFUSED);
		word("cat", bad[i], bad[i], SS_OK);
	}
	for (size_t i = 0; i < ARRAY_LEN(fine); i++) {
		word("cat", "{}", fine[i], SS_OK);
		word("cat", NULL, fine[i], SS_OK);
	}
	word("ls", "~", "/usr/lib", SS_OK);
	word("ls", "~", "/usr/../etc", SS_PATH_REFUSED);
	word("ls", "~", "x=../etc", SS_PATH_REFUSED);
	word("cat", "{}", "=/x", SS_PATH_REFUSED);
}

static void
sets(const char *name, enum ss_err wanted, const char *sentence)
{
	const struct ss_pair one = { name, "v" };
	struct env_scope scope = scope_of(&one, 1);

	is_int(wanted, env_check_request(&scope, &error), "%s", sentence);
}

static void
test_request(void)
{
	struct env_scope scope = scope_of(sent, ARRAY_LEN(sent));
	const struct ss_pair one = { "WHO", "v" };
	const struct name_list hooks = {
		.set = true, .names = &page_names[3], .count = 1
	};

	is_int(SS_OK, env_check_request(&scope, &error),
		"a request may set what the page lists");
	sets("OTHER", SS_BAD_ENV, "not what it does not list");
	is_str("\"env\" may not set \"OTHER\": the page does not list it",
		error.message, "and the message names it");
	ok(strstr(error.hint, "WHO") != NULL, "the hint names one that can");
	sets("API_KEY", SS_BAD_ENV, "not what the server alone has");
	sets("", SS_BAD_ENV, "not an empty name");
	sets("A=B", SS_BAD_ENV, "not what is no name");
	sets("PATH", SS_BAD_ENV, "not a reserved name");
	sets("LESSOPEN", SS_BAD_ENV, "not a hook, although it is listed");
	ok(strstr(error.message, "only the server") != NULL, "and reads why");
	scope = scope_of(&one, 1);
	scope.page = &hooks;
	is_int(SS_BAD_ENV, env_check_request(&scope, &error),
		"nothing where a page lists only hooks");
	ok(strstr(error.hint, "LESSOPEN") == NULL,
		"and the hint does not name one");
	scope.page = NULL;
	is_int(SS_BAD_ENV, env_check_request(&scope, &error),
		"nothing where no page lists anything");
}

static char **argv;
static const char **shown;

/* The author's word (or kind) filled; the word that is sent may differ. */
static enum ss_err
fill(const char *part, const char *sent_word, const struct ss_pair *request,
	size_t count)
{
	const char *parts[] = { "echo", part };
	struct ss_text words[] = { text_of("echo"), text_of(sent_word) };
	struct env_scope scope = scope_of(request, count);
	struct env_command filled = { NULL, NULL };
	struct command command;
	struct tool t;
	enum ss_err code;

	tool_of(&t, parts, 2);
	command = command_of(&t, words, 2);
	arena_clear(&arena);
	error_clear(&error);
	code = env_fill(&arena, &scope, &command, &filled, &error);
	argv = filled.argv;
	shown = filled.shown;
	return code;
}

static void
fills(const char *text, const char *wanted, const char *wanted_shown)
{
	is_int(SS_OK, fill(text, text, sent, ARRAY_LEN(sent)), "fills %s",
		text);
	is_str(wanted, argv ? argv[1] : NULL, "with \"%s\"", wanted);
	is_str(wanted_shown, shown ? shown[1] : NULL, "and shows \"%s\"",
		wanted_shown);
}

static void
test_fill(void)
{
	/* Rule 1: listed. */
	fills("$WHO", "ada", "ada");
	fills("${WHO}", "ada", "ada");
	fills("$DB", "prod", "$DB");
	fills("$ABS", "/srv/../x", "$ABS");
	fills("x$WHO", "x$WHO", "x$WHO");
	fills("$WHO$WHO", "$WHO$WHO", "$WHO$WHO");
	fills("db=$DB", "db=$DB", "db=$DB");
	/* Rule 2: the server's. */
	fills("$API_KEY", "s3cr3t", "$API_KEY");
	fills("Bearer $API_KEY", "Bearer s3cr3t", "Bearer $API_KEY");
	fills("${API_KEY}_$API_KEY", "s3cr3t_s3cr3t", "${API_KEY}_$API_KEY");
	fills("$EMPTY", "", "$EMPTY");
	fills("<$EMPTY>", "<>", "<$EMPTY>");
	fills("$NEST", "$DB", "$NEST");
	fills("$$API_KEY$", "$s3cr3t$", "$$API_KEY$");
	fills("$API_KEY $WHO", "s3cr3t $WHO", "$API_KEY $WHO");
	/* Rule 3: text. */
	fills("$NOPE", "$NOPE", "$NOPE");
	fills("{print $NF}", "{print $NF}", "{print $NF}");
	fills("$API_KEYS", "$API_KEYS", "$API_KEYS");
	fills("${API_KEY", "${API_KEY", "${API_KEY");
	fills("${API_KEY:-x}", "${API_KEY:-x}", "${API_KEY:-x}");
	fills("$", "$", "$");
	fills("${}", "${}", "${}");
	fills("$1", "$1", "$1");
	fills("", "", "");
	ok(argv[2] == NULL && shown[2] == NULL, "both lists end with NULL");
}

static void
test_fill_agent(void)
{
	static const struct ss_pair climbs[] = { { "WHO", "../x" } };
	static const struct ss_pair absolute[] = { { "WHO", "/etc" } };
	static const struct ss_pair var[] = { { "WHO", "$API_KEY" } };

	is_int(SS_OK, fill("{}", "$API_KEY", NULL, 0), "an agent's $NAME");
	is_str("$API_KEY", argv[1], "stays text");
	is_int(SS_OK, fill("{}", "$WHO", sent, 2), "a listed one");
	is_str("$WHO", argv[1], "too");
	is_int(SS_OK, fill("~", "$API_KEY", NULL, 0), "in a regex word");
	is_str("$API_KEY", argv[1], "as well");
	is_int(SS_PATH_REFUSED, fill("$WHO", "$WHO", climbs, 1),
		"a request's value that climbs is refused");
	is_int(SS_PATH_REFUSED, fill("$WHO", "$WHO", absolute, 1),
		"and one that is absolute");
	is_int(SS_OK, fill("x$WHO", "x$WHO", climbs, 1),
		"not where it is not pasted");
	is_int(SS_OK, fill("$WHO", "$WHO", var, 1),
		"a value that looks like a "
		"variable");
	is_str("$API_KEY", argv[1], "is not filled again");
	is_int(SS_BAD_ENV, fill("$WHO", "$WHO", NULL, 0),
		"a listed name that nobody set is refused");
	is_str("the variable WHO is not set", error.message, "and named");
	is_int(SS_OK, fill("x$WHO", "x$WHO", NULL, 0),
		"but not inside a longer word");
}

static void
test_fill_limits(void)
{
	char *big = malloc(PROTO_WORD_MAX + 2);
	struct ss_pair table = { "BIG", big };
	struct ss_text words[] = { TEXT("$BIG"), TEXT("$BIG"), TEXT("$BIG"),
		TEXT("$BIG"), TEXT("$BIG"), TEXT("$BIG"), TEXT("$BIG"),
		TEXT("$BIG") };
	struct env_scope scope = { .server = &table, .server_count = 1 };
	struct tool t;
	struct env_command filled;
	struct command one, eight;

	tool_of(&t,
		WORDS("$BIG", "$BIG", "$BIG", "$BIG", "$BIG", "$BIG", "$BIG",
			"$BIG"));
	one = command_of(&t, words, 1);
	eight = command_of(&t, words, 8);
	if (!ok(big != NULL, "has memory for a long value"))
		return;
	memset(big, 'x', PROTO_WORD_MAX + 1);
	big[PROTO_WORD_MAX + 1] = '\0';
	is_int(SS_COMMAND_TOO_LARGE,
		env_fill(&arena, &scope, &one, &filled, &error),
		"refuses a word of 131072 bytes");
	big[PROTO_WORD_MAX] = '\0';
	is_int(SS_OK, env_fill(&arena, &scope, &one, &filled, &error),
		"takes one of 131071");
	is_int(SS_OK, env_fill(&arena, &scope, &eight, &filled, &error),
		"takes a command of 1 MiB");
	table.name = "BIGGER";
	words[0] = TEXT("$BIGGERx");
	is_int(SS_OK, env_fill(&arena, &scope, &one, &filled, &error),
		"a longer name is another one");
	words[0] = TEXT("$BIGGER!");
	is_int(SS_COMMAND_TOO_LARGE,
		env_fill(&arena, &scope, &one, &filled, &error),
		"refuses one byte more around it");
	words[0] = words[1] = words[2] = words[3] = TEXT("$BIGGER");
	words[4] = words[5] = words[6] = words[7] = TEXT("$BIGGER");
	is_int(SS_OK, env_fill(&arena, &scope, &eight, &filled, &error),
		"eight of them are 1 MiB");
	big[PROTO_WORD_MAX - 1] = '\0';
	words[0] = TEXT("$BIGGER!!");
	is_int(SS_COMMAND_TOO_LARGE,
		env_fill(&arena, &scope, &eight, &filled, &error),
		"still counts each word alone");
	free(big);
}

static char **envp;

static const char *
variable(const char *name)
{
	size_t len = strlen(name);
	const char *found = NULL;

	for (char **e = envp; *e != NULL; e++)
		if (strncmp(*e, name, len) == 0 && (*e)[len] == '=') {
			if (found != NULL)
				return "(twice)";
			found = *e + len + 1;
		}
	return found;
}

static size_t
variables(void)
{
	size_t n = 0;

	while (envp[n] != NULL)
		n++;
	return n;
}

static void
test_build(void)
{
	struct env_scope scope = scope_of(sent, ARRAY_LEN(sent));

	arena_clear(&arena);
	is_int(SS_OK, env_build(&arena, &scope, "/tmp/t", &envp, &error),
		"builds an environment");
	is_int(9, (long long)variables(), "of six fixed and three listed");
	is_str("/usr/local/bin:/usr/bin:/bin", variable("PATH"), "PATH");
	is_str("/tmp", variable("HOME"), "HOME");
	is_str("C.UTF-8", variable("LANG"), "LANG");
	is_str("C.UTF-8", variable("LC_ALL"), "LC_ALL");
	is_str("/tmp/t", variable("TMPDIR"), "TMPDIR");
	is_str("r-1", variable("STATESPACE_REQUEST_ID"), "the request's id");
	is_str("ada", variable("WHO"), "a listed one from the request");
	is_str("prod", variable("DB"), "the server's value goes first");
	is_str("/srv/../x", variable("ABS"), "the server's is not checked");
	ok(variable("API_KEY") == NULL, "what is not listed is not exported");
	ok(variable("LESSOPEN") == NULL, "what nobody set is not there");

	scope.page = NULL;
	scope.request_id = NULL;
	is_int(SS_OK, env_build(&arena, &scope, NULL, &envp, &error),
		"needs no page, no id, no directory");
	is_int(4, (long long)variables(), "four are left");
}

static void
test_build_odd(void)
{
	static const char *names[] = { "PATH", "LANG", "A" };
	const struct name_list list = { true, names, 3, 1, 1 };
	const struct ss_pair table[] = { { "PATH", "/evil" }, { "LANG", "C" } };
	char *big = calloc(1, PROTO_WORD_MAX + 1);
	struct ss_pair request = { "A", big };
	struct env_scope scope = { .server = table,
		.server_count = 2,
		.page = &list,
		.request = &request,
		.request_count = 1 };

	if (!ok(big != NULL, "has memory for a long value"))
		return;
	memset(big, 'x', PROTO_WORD_MAX - 2);
	is_int(SS_OK, env_build(&arena, &scope, NULL, &envp, &error),
		"takes NAME=value of 131071 bytes");
	is_str("/usr/local/bin:/usr/bin:/bin", variable("PATH"),
		"a reserved name keeps its value");
	is_str("C", variable("LANG"), "the server may choose the language");
	big[PROTO_WORD_MAX - 2] = 'x';
	is_int(SS_COMMAND_TOO_LARGE,
		env_build(&arena, &scope, NULL, &envp, &error),
		"refuses 131072");
	free(big);
}

int
main(void)
{
	arena_init(&arena, 0);
	test_names();
	test_list();
	test_scripts();
	test_narrowed();
	test_words();
	test_request();
	test_fill();
	test_fill_agent();
	test_fill_limits();
	test_build();
	test_build_odd();
	arena_release(&arena);
	return done();
}
