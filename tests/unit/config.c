/* SPDX-License-Identifier: MIT */
/*
 * The configuration: defaults, bounds on both sides, where messages point,
 * names of variables, relative paths, and the shipped statespace.toml (found
 * from the top of the source tree; SRCDIR names another).
 */
#include <stdlib.h>

#include "tap.h"

#include "site/config_key.h"
#include "site/config_load.h"
#include "base/fd.h"
#include "page/toml.h"

#include <fcntl.h>
#include <unistd.h>

static struct config config;
static struct ss_error error;
static char folder[] = "/tmp/statespace-config.XXXXXX";
static char file[sizeof(folder) + 16];

static enum ss_err
set(const char *key, const char *value)
{
	error_clear(&error);
	return config_set(&config, key, value, &error);
}

static void
fresh(void)
{
	config_release(&config);
	error_clear(&error);
	if (config_init(&config, &error) != SS_OK)
		printf("# %s: %s\n", error.message, error.detail);
}

static enum ss_err
load(const char *text)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int failed = fd_write_all(fd, text, strlen(text));

	fd_close(&fd);
	error_clear(&error);
	return failed != 0 ? SS_INTERNAL : config_load(&config, file, &error);
}

/* ------------------------------------------------------------- the bounds -- */

static const struct {
	const char *key, *least, *below, *most, *above;
} bounds[] = {
	{ "serve.port", "0", "-1", "65535", "65536" },
	{ "jobs.max", "1", "0", "10000", "10001" },
	{ "jobs.max_page", "1", "0", "10000", "10001" },
	{ "jobs.max_kept", "1", "0", "1000000", "1000001" },
	{ "jobs.max_output_bytes", "1", "0", "1073741824", "1073741825" },
	{ "jobs.timeout", "0.01", "0.009", "2592000.0", "2592000.1" },
	{ "jobs.idle", "0.0", "-0.1", "2592000.0", "2592000.1" },
	{ "jobs.keep", "0.0", "-0.1", "31536000.0", "31536000.1" },
	{ "limits.timeout", "0.01", "0.009", "86400.0", "86400.1" },
	{ "limits.max_output_bytes", "1", "0", "1073741824", "1073741825" },
	{ "limits.max_body_bytes", "1", "0", "1073741824", "1073741825" },
	{ "limits.max_list_items", "1", "0", "1000000", "1000001" },
	{ "limits.cpu", "0", "-1", "86400", "86401" },
	{ "limits.memory_bytes", "0", "-1", "1125899906842624",
		"1125899906842625" },
	{ "limits.processes", "0", "-1", "1000000", "1000001" },
	{ "limits.open_files", "0", "-1", "1000000", "1000001" },
	{ "limits.file_bytes", "0", "-1", "1125899906842624",
		"1125899906842625" },
	{ "limits.scratch_bytes", "65536", "65535", "1099511627776",
		"1099511627777" },
	{ "limits.scratch_files", "10", "9", "10000000", "10000001" },
	{ "components.timeout", "0.01", "0.0", "3600.0", "3600.1" },
	{ "components.total", "0.01", "0.0", "3600.0", "3600.1" },
	{ "components.max_blocks", "0", "-1", "1000", "1001" },
	{ "components.parallel", "1", "0", "64", "65" },
	{ "grant.timeout", "0.0", "-0.1", "86400.0", "86400.1" },
	{ "grant.memory_bytes", "0", "-1", "1125899906842624",
		"1125899906842625" },
	{ "grant.processes", "0", "-1", "1000000", "1000001" },
	{ "mcp.max_tools", "1", "0", "10000", "10001" },
	{ "pool.workers", "0", "-1", "4096", "4097" },
	{ "pool.start", "0", "-1", "4096", "4097" },
	{ "pool.spare_min", "0", "-1", "4096", "4097" },
	{ "pool.spare_max", "0", "-1", "4096", "4097" },
	{ "pool.drain", "0.0", "-0.1", "86400.0", "86400.1" },
	{ "pool.stop_timeout", "0.0", "-0.1", "86400.0", "86400.1" },
	{ "pool.readers", "0", "-1", "65536", "65537" },
	{ "pool.reserve", "0", "-1", "4096", "4097" },
	{ "pool.kept_bytes", "0", "-1", "1073741824", "1073741825" },
	{ "pool.max_requests", "0", "-1", "1000000000", "1000000001" },
	{ "pool.idle_timeout", "0.1", "0.09", "86400.0", "86400.1" },
	{ "pool.watchdog", "1.0", "0.9", "86400.0", "86400.1" },
	{ "once.keep", "1.0", "0.9", "31622400.0", "31622400.1" },
	{ "workspace.max_bytes", "0", "-1", "1125899906842624",
		"1125899906842625" },
	{ "workspace.max_files", "0", "-1", "1000000000", "1000000001" },
	{ "workspace.max", "0", "-1", "1000000", "1000001" },
	{ "workspace.total_bytes", "0", "-1", "1125899906842624",
		"1125899906842625" },
	{ "workspace.idle", "0.0", "-0.1", "31536000.0", "31536000.1" },
	{ "once.records", "256", "255", "1000000000", "1000000001" },
	{ "log.slow", "0.0", "-0.1", "86400.0", "86400.1" },
	{ "pool.backlog", "1", "0", "65535", "65536" },
};

static void
limits(void)
{
	const struct config_key *key;
	size_t numbers = 0;

	for (size_t i = 0; i < ARRAY_LEN(bounds); i++) {
		const char *name = bounds[i].key;

		fresh();
		ok(set(name, bounds[i].least) == SS_OK, "%s may be %s", name,
			bounds[i].least);
		ok(set(name, bounds[i].below) == SS_CONFIG, "%s may not be %s",
			name, bounds[i].below);
		is_str(bounds[i].least, config_text(&config, name),
			"... and keeps what it had");
		ok(set(name, bounds[i].most) == SS_OK, "%s may be %s", name,
			bounds[i].most);
		ok(set(name, bounds[i].above) == SS_CONFIG, "%s may not be %s",
			name, bounds[i].above);
		ok(config_text_number(&config, name) ==
				strtod(bounds[i].most, NULL),
			"... and keeps what it had");
	}
	for (size_t i = 0; (key = config_key_at(i)) != NULL; i++)
		numbers += key->type == KEY_COUNT || key->type == KEY_SECONDS;
	is_int((long long)ARRAY_LEN(bounds), (long long)numbers,
		"every number of the table was tried");
}

static void
defaults(void)
{
	const struct config_key *key;
	char before[128];

	fresh();
	for (size_t i = 0; (key = config_key_at(i)) != NULL; i++) {
		snprintf(before, sizeof(before), "%s",
			config_text(&config, key->name));
		ok(set(key->name, key->preset) == SS_OK,
			"the default of %s is what it takes", key->name);
		is_str(before, config_text(&config, key->name),
			"... and what it has from the start");
	}
	is_int(CHOICE_ANY, config.grant.exec_choice, "so are choices");
	is_int(CHOICE_NONE, config.grant.network_choice, "... of every kind");
}

/* What each key takes besides its default, and what it does not. */
static const struct {
	const char *key, *good, *bad;
} samples[] = {
	{ "serve.host", "::1", "two words" },
	{ "serve.front", "lighttpd", "apache" },
	{ "components.enabled", "false", "no" },
	{ "sandbox.mode", "strict", "true" },
	{ "grant.read", "[\"data\", \"/srv/data\"]", "data" },
	{ "grant.read", "[\"/tmpfiles\"]", "[\"/tmp\"]" },
	{ "grant.write", "[\"out\"]", "[\"/tmp/out\"]" },
	{ "grant.write", "[\"out\"]", "[\"//tmp/out\"]" },
	{ "grant.unix", "[\"/run/db.sock\"]", "[\"\"]" },
	{ "grant.exec", "[\"/usr/bin/jq\", \"sed\"]", "false" },
	{ "grant.exec", "any", "[1]" },
	{ "grant.network", "true", "any" },
	{ "grant.network", "[\"db.example:5432\"]", "[\"db.example\"]" },
	{ "grant.network", "[\"10.0.0.0/8\"]", "[\"10.0.0.0/33\"]" },
	{ "grant.network", "[\"fd00::/8\"]", "[\"fd00::/129\"]" },
	{ "grant.network", "[\"[::1]:80\"]", "[\"x:0\"]" },
	{ "grant.network", "[\"x:65535\"]", "[\"x:65536\"]" },
	{ "grant.http", "false", "0" },
	{ "grant.proc", "true", "1" },
	{ "grant.env", "[\"API_KEY\"]", "[\"2X\"]" },
	{ "http.hosts", "[\"example.org\"]", "[\"https://example.org\"]" },
	{ "http.origins", "[\"https://example.org\"]", "[\"example.org\"]" },
	{ "http.origins", "[]", "[\"https://example.org/\"]" },
	{ "http.cors", "true", "\"true\"" },
	{ "http.html", "false", "off" },
	{ "http.listed", "[\"/docs/**\"]", "[\"docs\"]" },
	{ "http.hidden", "[\"/data/**\", \"/*.{db,py}\"]", "[\"*.db\"]" },
	{ "http.handover", "nginx", "caddy" },
	{ "http.handover", "none", "off" },
	{ "http.prefix", "/docs", "docs" },
	{ "mcp.enabled", "true", "yes" },
	{ "pool.mode", "ondemand", "prefork" },
	{ "pool.socket_mode", "0600", "0900" },
	{ "pool.socket_mode", "666", "66" },
	{ "log.level", "debug", "loud" },
	{ "log.format", "json", "xml" },
};

static void
kinds(void)
{
	for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
		fresh();
		ok(set(samples[i].key, samples[i].good) == SS_OK,
			"%s may be %s", samples[i].key, samples[i].good);
		is_str(samples[i].good, config_text(&config, samples[i].key),
			"... and reads the same");
		ok(set(samples[i].key, samples[i].bad) == SS_CONFIG,
			"%s may not be %s", samples[i].key, samples[i].bad);
	}
	fresh();
	ok(set("limits.timeout", "5") == SS_OK && config.limits.timeout == 5.0,
		"seconds may be whole");
	ok(set("limits.timeout", "nan") == SS_CONFIG, "nan is no time");
	ok(set("limits.cpu", "1\nmemory_bytes = 2") == SS_CONFIG,
		"one text sets one key");
	ok(set("grant.network", "[\"x:1\"]") == SS_OK &&
			config.grant.network_choice == CHOICE_LIST,
		"a list is a choice");
	ok(set("grant.network", "false") == SS_OK &&
			config.grant.network_choice == CHOICE_NONE &&
			config.grant.network.count == 0,
		"... until a word is");
}

/* --------------------------------------------------------------- the file -- */

static void
says(const char *text, const char *message, const char *hint)
{
	char wanted[512];

	fresh();
	is_int(SS_CONFIG, load(text), "refuses the file");
	snprintf(wanted, sizeof(wanted), "%s:%s", file, message);
	is_str(wanted, error.message, "... with file and line");
	ok(strstr(error.hint, hint) != NULL, "... and a remedy (\"%s\")",
		error.hint);
}

static void
messages(void)
{
	says("\n[limits]\ntimeout = \"5\"\n",
		"3: limits.timeout: found \"5\", expected seconds from 0.01 "
		"to 86400.0",
		"timeout = 30.0 in [limits]");
	says("[limits]\ntimout = 5.0\n",
		"2: limits.timout: found a name that is no key of the "
		"configuration, expected one that is",
		"[limits] timeout");
	says("timeout = 5.0\n",
		"1: timeout: found a name that is no key of the "
		"configuration, expected one that is",
		"[limits] timeout");
	says("[limit]\ncpu = 5\n",
		"1: limit.cpu: found a name that is no key of the "
		"configuration, expected one that is",
		"[limits] cpu");
	says("[serve]\nworkers = 5\n",
		"2: serve.workers: found a name that is no key of the "
		"configuration, expected one that is",
		"[pool] workers");
	says("[limits]\nzebra = 5\n",
		"2: limits.zebra: found a name that is no key of the "
		"configuration, expected one that is",
		"statespace.toml(5)");
	says("\"limits.cpu\" = 5\n",
		"1: limits.cpu: found a name that is no key of the "
		"configuration, expected one that is",
		"[limits] cpu");
	says("limits = 5\n", "1: limits: found an integer, expected a section",
		"[limits]");
	says("[sandbox]\nmode = 'strikt'\n",
		"2: sandbox.mode: found \"strikt\", expected \"auto\", "
		"\"strict\", \"landlock\" or \"off\"",
		"mode = \"auto\"");
	says("[grant]\nwrite = [\n 'a',\n '/tmp/x']\n",
		"4: grant.write: found \"/tmp/x\", expected a list in [], each "
		"item a path inside the site, or an absolute one that is not "
		"under /tmp",
		"write = []");
	says("[env]\n\"A-B\" = 'secret'\n",
		"2: env.A-B: found a name that no variable can have, expected "
		"letters, digits and \"_\", no digit first",
		"");
	says("[env]\nA = 5\n",
		"2: env.A: found an integer, expected text in quotes (without "
		"a NUL)",
		"");
	says("[limits]\ntimeout: 5\n",
		"2: column 8: found \":\", expected \"=\" after the name",
		"name = value");
}

static void
files(void)
{
	char wanted[sizeof(folder) + 16];

	fresh();
	is_int(SS_OK,
		load("root = 'site'\n[pool]\nsocket = '/run/s'\n[log]\n"
		     "file = '../log'\n[env]\nA = '1'\nB = '2'\n"),
		"reads a file");
	snprintf(wanted, sizeof(wanted), "%s/site", folder);
	is_str(wanted, config.root, "a relative root begins at the file");
	is_str("/run/s", config.pool.socket, "an absolute path stays");
	snprintf(wanted, sizeof(wanted), "%s/../log", folder);
	is_str(wanted, config.log.file, "a log's path begins at the file");
	is_str("2", config_text(&config, "env.B"), "[env] has variables");
	is_int(SS_OK, load("root = '.'\n"), "a file over another");
	is_str(folder, config.root, "\".\" is the file's directory");
	is_int(2, (long long)config.env_count, "... adds to the first");

	is_int(SS_CONFIG,
		load("[env]\nA = 'x'\nC = 'y'\n[limits]\ncpu = 7\nbad = 1\n"),
		"one wrong key refuses the whole file");
	is_str("1", config_text(&config, "env.A"),
		"... a variable is as it was");
	is_int(2, (long long)config.env_count, "... none is added");
	is_int(20, (long long)config.limits.cpu, "... no other key is set");

	unlink(file);
	is_int(SS_CONFIG, config_load(&config, file, &error),
		"a file that is not there is refused");
	ok(strstr(error.message, "No such file") != NULL,
		"... with the reason (%s)", error.message);
	is_int(SS_CONFIG, config_load(&config, folder, &error),
		"a directory is refused");
}

static void
large_file(void)
{
	const size_t most = (size_t)1 << 20;
	char *text = malloc(most + 2);

	if (text == NULL)
		return;
	memset(text, '#', most + 1);
	text[most + 1] = '\0';
	is_int(SS_CONFIG, load(text), "a file over 1 MiB is refused");
	text[most] = '\0';
	is_int(SS_OK, load(text), "... one of 1 MiB is read");
	free(text);
	unlink(file);
}

/* -------------------------------------------------------------- variables -- */

static void
variables(void)
{
	static char timeout[] = "STATESPACE_LIMITS_TIMEOUT=7.5";
	static char hosts[] = "STATESPACE_HTTP_HOSTS=[\"a.example\"]";
	static char under[] = "STATESPACE_POOL_MAX_REQUESTS=12";
	static char root[] = "STATESPACE_ROOT=site";
	static char table[] = "STATESPACE_ENV_api_key=a=b";
	static char of_file[] = "STATESPACE_CONFIG=/nowhere";
	static char id[] = "STATESPACE_REQUEST_ID=x";
	static char other[] = "STATESPACEX=1";
	static char *good[] = { timeout, hosts, under, root, table, of_file, id,
		other, NULL };
	static char unknown[] = "STATESPACE_LIMIT_TIMEOUT=1";
	static char *bad[] = { timeout, under, unknown, NULL };
	static char wrong[] = "STATESPACE_LIMITS_CPU=much";
	static char *bad_value[] = { timeout, wrong, NULL };
	static char secret[] = "STATESPACE_ENV_2=hunter2";
	static char *bad_env[] = { secret, NULL };

	fresh();
	is_int(SS_OK, config_environ(&config, good, &error),
		"reads variables (%s)", error.message);
	ok(config.limits.timeout == 7.5, "LIMITS_TIMEOUT is [limits] timeout");
	is_int(12, (long long)config.pool.max_requests,
		"names may hold underscores");
	is_str("[\"a.example\"]", config_text(&config, "http.hosts"),
		"a list is written as TOML");
	is_str("site", config.root, "ROOT stays relative to where we are");
	is_str("a=b", config_text(&config, "env.api_key"),
		"ENV_name is a variable of the table, its case kept");

	fresh();
	is_int(SS_CONFIG, config_environ(&config, bad, &error),
		"an unknown variable is refused");
	ok(strncmp(error.message, "STATESPACE_LIMIT_TIMEOUT: ", 26) == 0,
		"... and named (%s)", error.message);
	ok(strstr(error.hint, "[limits] timeout") != NULL,
		"... with what is meant (%s)", error.hint);
	ok(config.limits.timeout == 30.0, "... and nothing is set");

	is_int(SS_CONFIG, config_environ(&config, bad_value, &error),
		"a wrong value is refused");
	is_str("STATESPACE_LIMITS_CPU: found \"much\", expected a whole "
	       "number from 0 to 86400",
		error.message, "... naming the variable");
	is_int(SS_CONFIG, config_environ(&config, bad_env, &error),
		"a variable with no name is refused");
	ok(strstr(error.message, "hunter2") == NULL &&
			strstr(error.hint, "hunter2") == NULL,
		"... and its value is not shown");
}

/* Two keys that a variable's name could not tell apart would be a bug. */
static void
names(void)
{
	const struct config_key *key;
	char name[64];
	int wrong = 0;

	for (size_t i = 0; (key = config_key_at(i)) != NULL; i++) {
		size_t n = 0;

		for (; key->name[n] != '\0'; n++)
			name[n] = key->name[n] == '.' || key->name[n] == '_'
				? '_'
				: (char)(key->name[n] - 32);
		name[n] = '\0';
		wrong += config_key_of_variable(text_of(name)) != key;
		wrong += strncmp(name, "ENV_", 4) == 0;
	}
	is_int(0, wrong, "every key is reached by one variable");
	fresh();
	is_int(SS_CONFIG, set("limits.timoeut", "5"),
		"an option with an unknown key is refused");
	ok(strstr(error.hint, "[limits] timeout") != NULL,
		"... with what is meant");
	is_int(SS_CONFIG, set("state.dir", "/x"), "so is the start of a key");
	ok(strstr(error.hint, "[state] directory") != NULL,
		"... with what is meant (%s)", error.hint);
	is_int(SS_CONFIG, set("state.di", "/x"), "or two letters of it");
	ok(strstr(error.hint, "[state] directory") == NULL,
		"... which are near to nothing (%s)", error.hint);
	ok(config_text(&config, "no.such") == NULL,
		"an unknown key has no text");
	is_str("", config_text(&config, "env.NONE"),
		"an unset variable is \"\"");
	is_str("", config_text(&config, "root"), "an unset root is \"\"");
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "env.V%d", i);
		set(name, "x");
	}
	is_int(100, (long long)config.env_count, "the table takes 100 names");
	set("env.V50", "y");
	is_str("y", config_text(&config, "env.V50"), "the last value wins");
	is_int(100, (long long)config.env_count, "... in its place");
}

/* ------------------------------------------------------------ what we ship -- */

static bool
read_whole(const char *path, struct buf *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool good = fd != -1 && fd_read_all(fd, out) == 0 && buf_ok(out);

	fd_close(&fd);
	return good;
}

static const char *
shipped(const char *name)
{
	static char path[4096];
	const char *dir = getenv("SRCDIR");

	snprintf(path, sizeof(path), "%s/conf/%s", dir != NULL ? dir : ".",
		name);
	return path;
}

static bool
stands_in(const struct node *root, const struct config_key *key)
{
	char section[64];
	struct ss_text s = config_key_section(key);

	snprintf(section, sizeof(section), "%.*s", (int)s.len, s.data);
	return node_member(s.len > 0 ? node_member(root, section) : root,
		       config_key_tail(key)) != NULL;
}

static void
unchanged(const char *path)
{
	const struct config_key *key;
	int differ = 0;
	struct config plain;

	fresh();
	is_int(SS_OK, config_load(&config, path, &error),
		"statespace.toml is accepted (%s)", error.message);
	config_init(&plain, NULL);
	for (size_t i = 0; (key = config_key_at(i)) != NULL; i++)
		if (strcmp(config_text(&config, key->name),
			    config_text(&plain, key->name)) != 0) {
			printf("# %s differs\n", key->name);
			differ++;
		}
	is_int(0, differ, "starting with it equals starting without it");
	is_int(0, (long long)config.env_count, "... it sets no variable");
	config_release(&plain);
}

static void
conf_file(void)
{
	struct buf text = BUF_INIT((size_t)1 << 20);
	struct arena arena = { .limit = 0 };
	const char *path = shipped("statespace.toml");
	const struct reading r = {
		.arena = &arena, .place = NULL, .err = &error
	};
	const struct config_key *key;
	struct node *root = NULL;
	int missing = 0;

	if (!read_whole(path, &text)) {
		skip(5, "conf/statespace.toml is not here (SRCDIR)");
		return;
	}
	unchanged(path);
	toml_parse(&r, buf_view(&text), 1, SS_CONFIG, &root);
	for (size_t i = 0; (key = config_key_at(i)) != NULL; i++)
		if (!stands_in(root, key)) {
			printf("# %s is missing\n", key->name);
			missing++;
		}
	is_int(0, missing, "every key is in statespace.toml");
	ok(node_member(root, "env") != NULL, "... and so does [env]");
	arena_release(&arena);
	buf_release(&text);
}

/* ".It Ic timeout = 30.0" below ".Ss Section limits" */
static bool
page_tells(const char *page, const struct config_key *key)
{
	struct ss_text s = config_key_section(key);
	char section[80], item[128], preset[64];
	const char *from, *next;

	config_key_preset(key, preset, sizeof(preset));
	if (s.len > 0)
		snprintf(section, sizeof(section), ".Ss Section %.*s\n",
			(int)s.len, s.data);
	else
		snprintf(section, sizeof(section), ".Ss The site\n");
	if ((from = strstr(page, section)) == NULL)
		return false;
	snprintf(item, sizeof(item), ".It Ic %s = %s\n", config_key_tail(key),
		preset);
	next = strstr(from + 1, "\n.Ss ");
	from = strstr(from, item);
	return from != NULL && (next == NULL || from < next);
}

/* The manual may write quotes as \(dq. */
static void
plain_quotes(struct buf *page)
{
	char *out = page->data;

	for (const char *p = page->data; *p != '\0';)
		if (strncmp(p, "\\(dq", 4) == 0) {
			*out++ = '"';
			p += 4;
		} else {
			*out++ = *p++;
		}
	*out = '\0';
}

static void
manual(void)
{
	struct buf page = BUF_INIT((size_t)1 << 20);
	const struct config_key *key;
	int missing = 0;

	if (!read_whole(shipped("statespace.toml.5"), &page)) {
		skip(1, "conf/statespace.toml.5 is not here (SRCDIR)");
		return;
	}
	plain_quotes(&page);
	for (size_t i = 0; (key = config_key_at(i)) != NULL; i++)
		if (!page_tells(page.data, key)) {
			printf("# %s is missing\n", key->name);
			missing++;
		}
	is_int(0, missing, "the manual has every key with its default");
	buf_release(&page);
}

int
main(void)
{
	if (mkdtemp(folder) == NULL)
		return 1;
	snprintf(file, sizeof(file), "%s/c.toml", folder);
	limits();
	defaults();
	kinds();
	messages();
	files();
	large_file();
	variables();
	names();
	conf_file();
	manual();
	config_release(&config);
	rmdir(folder);
	return done();
}
