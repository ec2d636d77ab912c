/* SPDX-License-Identifier: MIT */
/*
 * reach, view_find, policy_reads: what they say of a path without a sandbox is
 * what a tool in one finds, at both levels.
 */
#include "sandbox/reach.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"
#include "trial.h"

#define PATHS 64

static struct reach asks[PATHS];
static size_t count;

/* What is there besides the trial's own files. */
static void
set_up_more(void)
{
	char command[2048];

	snprintf(command, sizeof(command),
		"cd '%s' && mkdir shut shut/in closed && echo x >shut/in/file && "
		"echo x >closed/file && echo x >outside/private && "
		"ln -s ../outside/secret site/out && ln -s /site/data site/in && "
		"ln -s \"$PWD/site/data\" site/absolute && "
		"ln -s loop site/loop && ln -s /etc site/etc && "
		"ln -s no/such site/docs/gone && ln -s ../data site/docs/up && "
		"ln -s secret outside/link && mkdir site/docs/.dir && "
		"echo x >site/docs/.dir/f && "
		"if [ $(id -u) = 0 ]; then chown -R 65534 shut/in; fi && "
		"chmod 0600 outside/private && chmod 0700 closed && "
		"chmod 0000 shut && if [ $(id -u) != 0 ]; then "
		"chmod 0 outside/private closed; fi",
		base);
	if (system(command) != 0)
		exit(99);
}

static void
add(const char *path)
{
	struct reach *r = &asks[count++];

	*r = (struct reach){ .what = REACH_READ };
	snprintf(r->path, sizeof(r->path), "%s", path);
}

static void
add_below(const char *directory, const char *const *names)
{
	char path[512];

	for (; *names != NULL; names++) {
		snprintf(path, sizeof(path), "%s/%s", directory, *names);
		add(path);
	}
}

/* One letter for each path: may the tool read it? */
static void
ask_tool(enum sandbox_mode mode, char *out)
{
	struct buf script = BUF_INIT(65536);

	buf_text(&script,
		"t() { if [ -d \"$1\" ]; then ls \"$1\"; else "
		"head -c 1 \"$1\"; fi >/dev/null 2>&1 && printf y || "
		"printf n; };");
	for (size_t i = 0; i < count; i++)
		buf_printf(&script, "t '%s';", asks[i].path);
	prints(mode, WORDS("sh", "-c", script.data), "");
	memset(out, 0, PATHS);
	if (seen->code == SS_OK && seen->len < PATHS)
		memcpy(out, seen->out, seen->len);
	buf_release(&script);
}

static void
ask_reach(enum sandbox_mode mode, char *out)
{
	struct sandbox_plan plan = SANDBOX_PLAN_INIT;
	const struct policy_ask ask = { .page = &trial.wants,
		.page_dir = trial.page_dir,
		.program = "sh" };
	struct ss_error err;

	plan.root = site;
	plan.grant = &trial.grant;
	memset(out, 0, PATHS);
	if (sandbox_prepare(&plan, &err) != SS_OK ||
		!reach_ask(&plan, mode == SANDBOX_MODE_STRICT, asks, count))
		return;
	for (size_t i = 0; i < count; i++)
		out[i] = asks[i].end == REACH_HELD &&
				(asks[i].at[0] == '\0' ||
					policy_reads(
						&ask, &trial.grant, asks[i].at))
			? 'y'
			: 'n';
}

static void
compare(enum sandbox_mode mode, const char *name)
{
	char found[PATHS], said[PATHS];

	ask_tool(mode, found);
	ask_reach(mode, said);
	is_int(count, strlen(found), "%s: the tool tried every path", name);
	for (size_t i = 0; i < count; i++)
		ok(found[i] == said[i], "%s: %s: a tool %s it", name,
			asks[i].path,
			found[i] == 'y' ? "reads" : "cannot read");
}

static const char *const system_paths[] = { "etc/passwd", "etc/shadow",
	"etc/ssl/certs", "etc/fstab", "etc/hostname", "opt", "home", "root",
	"srv", "usr/bin/env", "bin/sh", "lib", "dev/null", "dev/kmsg",
	"usr/share", "usr/no/such", "etc/hosts", "no/such", NULL };
static const char *const site_paths[] = { "README.md", ".env", ".git/config",
	"docs/page.md", "docs/.key", "docs/.dir/f", "data", "data/rows.csv",
	"data/none", "out", "loop", "etc/passwd", "etc/shadow", "docs/gone",
	"docs/up/rows.csv", "docs/../data/rows.csv", NULL };
static const char *const outside_paths[] = { "outside", "outside/secret",
	"outside/link", "outside/private", "closed/file", "shut/in/file",
	"site", NULL };

static void
check_reading(const char *page_dir, enum sandbox_mode mode, const char *name)
{
	const char *read[] = { outside, NULL, NULL, ".git", "docs/.dir" };
	const char *asked[] = { outside, NULL, NULL, ".git" };
	static char shut[160], closed[160];

	snprintf(shut, sizeof(shut), "%s/shut/in", base);
	snprintf(closed, sizeof(closed), "%s/closed", base);
	read[1] = asked[1] = shut;
	read[2] = asked[2] = closed;
	count = 0;
	add_below("", system_paths);
	add_below(mode == SANDBOX_MODE_STRICT ? "/site" : site, site_paths);
	add_below(base, outside_paths);
	trial = (struct trial){ .page_dir = page_dir,
		.grant = { .exec_any = true } };
	compare(mode,
		text("%s, page in \"%s\", nothing granted", name, page_dir));
	/* Without the host's parents landlock cannot open what is in shut. */
	trial = (struct trial){ .page_dir = page_dir,
		.grant = { .exec_any = true,
			.read = { read, ARRAY_LEN(read) } },
		.wants = { .read = { true, asked, ARRAY_LEN(asked), 1, 1 } } };
	if (mode != SANDBOX_MODE_STRICT || geteuid() != 0) {
		read[1] = asked[1] = read[2] = asked[2] = outside;
	}
	compare(mode, text("%s, page in \"%s\", granted", name, page_dir));
}

static void
check_one(enum sandbox_mode mode, const char *path, enum reach_what what,
	enum reach_end end, const char *says)
{
	struct sandbox_plan plan = SANDBOX_PLAN_INIT;
	struct reach r = { .what = what };
	struct buf out = BUF_INIT(1024);
	struct ss_error err;

	snprintf(r.path, sizeof(r.path), "%s", path);
	plan.root = site;
	plan.grant = &trial.grant;
	ok(sandbox_prepare(&plan, &err) == SS_OK &&
			reach_ask(&plan, mode == SANDBOX_MODE_STRICT, &r, 1),
		"%s is asked", path);
	is_int(end, r.end, "%s: its end", path);
	reach_print(&r, plan.account.name, &out);
	ok(strstr(out.data, says) != NULL, "... which says \"%s\": %s", says,
		out.data);
	buf_release(&out);
}

static void
write_program(const char *name, const char *content, mode_t mode)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", site, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, content, strlen(content)) < 0 ||
		fchmod(fd, mode) < 0)
		exit(99);
	close(fd);
}

static void
check_programs(void)
{
	char command[512];

	trial = (struct trial){ .grant = { .exec_any = true, .root = site } };
	write_program("good.sh", "#!/bin/sh\necho\n", 0755);
	write_program("plain.sh", "#!/bin/sh\necho\n", 0644);
	write_program("orphan", "#!/no/such/thing\n", 0755);
	write_program("env.py", "#!/usr/bin/env nosuchpython\n", 0755);
	write_program("dos.sh", "#!/bin/sh\r\necho\r\n", 0755);
	write_program("mine", "#!/bin/sh\n", geteuid() == 0 ? 0700 : 0070);
	snprintf(command, sizeof(command),
		"cd '%s' && ln -s /root/.nowhere/python3 venv && "
		"ln -s ../outside/secret away && ln -s good.sh alias && "
		"ln -s data/none gone2",
		site);
	ok(system(command) == 0, "links are made");
	check_one(SANDBOX_MODE_STRICT, "/site/good.sh", REACH_RUN, REACH_HELD,
		"");
	check_one(
		SANDBOX_MODE_STRICT, "/site/alias", REACH_RUN, REACH_HELD, "");
	check_one(SANDBOX_MODE_STRICT, "/bin/sh", REACH_RUN, REACH_HELD, "");
	check_one(SANDBOX_MODE_STRICT, "/site/plain.sh", REACH_RUN, REACH_NO_X,
		"is not executable");
	check_one(SANDBOX_MODE_STRICT, "/site/orphan", REACH_RUN, REACH_NEEDS,
		"needs /no/such/thing, which tools cannot run");
	check_one(SANDBOX_MODE_STRICT, "/site/env.py", REACH_RUN, REACH_NEEDS,
		"needs nosuchpython, which tools cannot run");
	check_one(SANDBOX_MODE_STRICT, "/site/dos.sh", REACH_RUN, REACH_NEEDS,
		"save the script with LF line ends");
	check_one(SANDBOX_MODE_STRICT, "/site/mine", REACH_RUN, REACH_DENIED,
		"may not execute");
	check_one(SANDBOX_MODE_STRICT, "/site/data", REACH_RUN, REACH_KIND,
		"is no program");
	check_one(SANDBOX_MODE_STRICT, "/site/gone2", REACH_RUN, REACH_ABSENT,
		"leads to");
	check_one(SANDBOX_MODE_STRICT, outside, REACH_WRITE, REACH_UNSEEN,
		"lies where tools cannot see it");
	check_one(SANDBOX_MODE_STRICT, "/site/away", REACH_RUN, REACH_ABSENT,
		"leads to /outside/secret, which does not exist");
	check_one(SANDBOX_MODE_LANDLOCK, outside, REACH_WRITE, REACH_HELD, "");
	if (geteuid() == 0)
		check_one(SANDBOX_MODE_LANDLOCK, "/etc", REACH_WRITE,
			REACH_DENIED,
			"may not write /etc (owner root, mode 0755)");
	else
		check_one(SANDBOX_MODE_LANDLOCK, "/etc/shadow", REACH_READ,
			REACH_DENIED, "may not read /etc/shadow");
}

static void
check_paths(void)
{
	check_reading("", SANDBOX_MODE_STRICT, "strict");
	check_reading("docs", SANDBOX_MODE_STRICT, "strict");
	check_reading("", SANDBOX_MODE_LANDLOCK, "landlock");
	check_reading("docs", SANDBOX_MODE_LANDLOCK, "landlock");
}

static void
open_again(void)
{
	ok(chmod(text("%s/shut", base), 0755) == 0 &&
			chmod(text("%s/closed", base), 0755) == 0,
		"the closed directories are open again");
}

int
main(void)
{
	static void (*const checks[])(void) = { set_up_more, check_paths,
		check_programs, open_again, NULL };

	return trial_main(checks);
}
