/* SPDX-License-Identifier: MIT */
/*
 * overlay: a command runs with the site replaced by a workspace.  What it writes
 * lies in the session's upper directory, and the site is as before.
 */
#include "sandbox/mount.h"
#include "sandbox/overlay.h"
#include "tap.h"
#include "trial.h"

#define ID "0123456789abcdef0123456789abcdef"
#define UPPER OVERLAY_STORE "/" ID "/upper"
#define WORK OVERLAY_STORE "/" ID "/work"

static struct overlay overlay = { .id = ID, .folder = "", .page_dir = "" };
static char store[160];

static int
open_layer(const char *name)
{
	return openat(sandbox_self()->layers, name,
		O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* The exit status: 7 as worker's, 8: no mount, 9: it could not be ended. */
static int
workspace_worker(void *ctx)
{
	struct step s = { .name = "" };
	int status;

	overlay.upper = open_layer(UPPER);
	overlay.work = open_layer(WORK);
	seen->level = sandbox_self()->level;
	if (!overlay_begin(&overlay, &s)) {
		snprintf(seen->detail, sizeof(seen->detail), "%s: %s", s.name,
			strerror(s.number));
		return 8;
	}
	status = worker(ctx);
	return overlay_end(overlay.folder) ? status : 9;
}

static void
make_dir(const char *name)
{
	uid_t uid = geteuid() == 0 ? 65534 : geteuid();
	gid_t gid = geteuid() == 0 ? 65534 : getegid();
	char path[256];

	snprintf(path, sizeof(path), "%s/state%s", base, name);
	if (mkdir(path, 0700) < 0 || chown(path, uid, gid) < 0)
		exit(99);
}

static void
make_session(void)
{
	make_dir("");
	make_dir("/" OVERLAY_STORE);
	make_dir("/" OVERLAY_STORE "/" ID);
	make_dir("/" UPPER);
	make_dir("/" WORK);
	snprintf(store, sizeof(store), "%s/state/" OVERLAY_STORE, base);
}

static void
remove_session(void)
{
	char command[256];

	/* The kernel leaves work/work with the mode 0. */
	snprintf(command, sizeof(command),
		"chmod -R u+rwx %s/state && rm -rf %s/state", base, base);
	if (system(command) != 0)
		exit(99);
}

/* One command in a new process that kept the right to mount. */
static int
run(const char *script)
{
	struct sandbox_plan plan = SANDBOX_PLAN_INIT;
	const struct sandbox_process process = { .keeps = KEEP_WORKSPACE,
		.main = workspace_worker };
	struct ss_error err = { .code = SS_OK };
	struct ss_child child;
	int status = -1;

	memset(seen, 0, sizeof(*seen));
	trial = (struct trial){ .grant = { .exec_any = true, .root = site },
		.program = "sh",
		.words = SH(script),
		.page_dir = overlay.page_dir,
		.workspace = overlay.folder };
	trial.grant.limits = (struct spawn_limits){ .timeout_ms = 20000,
		.output_bytes = 1 << 20,
		.processes = 4096,
		.open_files = 256 };
	plan.mode = SANDBOX_MODE_STRICT;
	plan.root = site;
	plan.grant = &trial.grant;
	plan.store = store;
	plan.store_fd = open(store, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (sandbox_prepare(&plan, &err) == SS_OK &&
		sandbox_fork(&plan, &process, &child, &err) == SS_OK)
		while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR)
			;
	close(plan.store_fd);
	if (seen->level != SANDBOX_STRICT)
		printf("# %s %s\n", plan.why, err.message);
	if (seen->code != SS_OK || seen->detail[0] != '\0')
		printf("# %s %s\n", seen->message, seen->detail);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool
there(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", base, name);
	return access(path, F_OK) == 0;
}

static void
check_writes(void)
{
	make_session();
	is_int(7,
		run("echo new >made.txt && echo more >>README.md && "
		    "rm data/rows.csv && cat README.md"),
		"a command runs in a workspace");
	is_str("the page\nmore\n", seen->out, "it sees what it wrote");
	ok(!there("site/made.txt") && there("site/data/rows.csv"),
		"the site is as before");
	ok(there("state/" UPPER "/made.txt") &&
			there("state/" UPPER "/README.md"),
		"the session has what it wrote");
	is_int(7, run("cat made.txt; ls data"),
		"another command of the session");
	is_str("new\n", seen->out, "goes on where the first one ended");
	remove_session();
}

static void
check_hidden(void)
{
	make_session();
	run("cat .env .git/config; echo held");
	is_str("held\n", seen->out,
		"dot entries of the site's root are masked in a workspace");
	overlay.page_dir = "docs";
	run("cat docs/.key .env; echo held");
	is_str("held\n", seen->out,
		"so are those down to the page's directory");
	run("rm -rf .env; mv docs d2; ls -d .env docs");
	is_str(".env\ndocs\n", seen->out, "and none of them can be moved away");
	overlay.page_dir = "";
	run("ls -R /layers /layers/0 /layers/workspaces 2>&1 | grep -c README");
	is_str("0\n", seen->out, "no path leads to the layers");
	remove_session();
}

static void
check_folder(void)
{
	make_session();
	overlay.folder = "data";
	is_int(7, run("echo x >data/x; echo y >y; echo z >uploads/z; ls data"),
		"a workspace of one folder");
	is_str("rows.csv\nx\n", seen->out, "can be written");
	ok(there("state/" UPPER "/x") && !there("site/y") &&
			!there("site/uploads/z"),
		"and nothing beside it");
	overlay.folder = "";
	remove_session();
}

static void
check_rights(void)
{
	make_session();
	run("mount -t tmpfs none /tmp 2>/dev/null && echo PWNED; "
	    "umount -l /site 2>/dev/null && echo PWNED; "
	    "unshare -m true 2>/dev/null && echo PWNED; "
	    "unshare -U true 2>/dev/null && echo PWNED; "
	    "mknod dev c 1 3 2>/dev/null && echo PWNED; "
	    "touch s; chmod u+s s 2>/dev/null && echo PWNED; "
	    "perl -e '$r = syscall(428, -100, qq(/site), 1); "
	    "print qq(PWNED) if $r >= 0'; echo held");
	is_str("held\n", seen->out, "the command itself may not mount");
	remove_session();
}

static void
check_options(void)
{
	make_session();
	overlay_uses_options = true;
	is_int(7, run("echo new >made.txt && cat made.txt"),
		"the same with option strings, as for older kernels");
	ok(there("state/" UPPER "/made.txt"), "the session has the file");
	overlay_uses_options = false;
	remove_session();
}

int
main(void)
{
	static void (*const checks[])(void) = { check_writes, check_hidden,
		check_folder, check_rights, check_options, NULL };

	return trial_main(checks);
}
