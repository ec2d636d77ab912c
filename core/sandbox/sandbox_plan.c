/* SPDX-License-Identifier: MIT */
#include "sandbox/sandbox_plan.h"

#include <errno.h>
#include <fcntl.h>

#include "base/fd.h"
#include "sandbox/grant_path.h"
#include "sandbox/remedy.h"

const char *
sandbox_plan_site(const struct sandbox_plan *p)
{
	return p->root != NULL ? p->root : "";
}

/* The site itself may lie below one of the refused directories. */
static enum ss_err
check_grants(
	const struct path_list *list, const char *root, struct ss_error *err)
{
	static const char *const never[] = { "/tmp", "/proc", "/dev", "/sys" };
	char path[4096];
	bool optional;

	for (size_t i = 0; i < list->count; i++) {
		if (!grant_path_outside(list->items[i], root, path,
			    sizeof(path), &optional) ||
			path[1] == '\0')
			return error_set(err, SS_CONFIG,
				"[grant] %s is no path that can be granted",
				list->items[i]);
		if (grant_path_is_below(path, root))
			continue;
		for (size_t k = 0; k < ARRAY_LEN(never); k++)
			if (grant_path_is_below(path, never[k]))
				return error_set(err, SS_CONFIG,
					"[grant] %s: nothing below %s can be "
					"granted",
					list->items[i], never[k]);
	}
	return SS_OK;
}

/* Not even pages are served as root. */
static enum ss_err
refuse_root(const struct account *account, struct ss_error *err)
{
	const struct step failed = { .part = PART_ACCOUNT, .number = EPERM };
	struct place place;

	place_read(&place);
	error_set(err, SS_CONFIG,
		"this root may not become the account %s, and tools do not "
		"run as root",
		account->name);
	error_hint(err, "%s", remedy_of(&failed, account, &place));
	return SS_CONFIG;
}

/*
 * A /proc needs a root that belongs to no mount namespace (view_hide_mounts),
 * and on such a one nothing can be mounted.
 */
static enum ss_err
check_together(const struct grant *g, struct ss_error *err)
{
	if (!g->proc || g->workspace.count == 0)
		return SS_OK;
	error_set(err, SS_CONFIG,
		"[grant] proc and [grant] workspace cannot be granted "
		"together");
	error_hint(err, "serve the pages that need /proc as a site of its own");
	return SS_CONFIG;
}

enum ss_err
sandbox_prepare(struct sandbox_plan *p, struct ss_error *err)
{
	enum ss_err code = p->account.name[0] != '\0'
		? SS_OK
		: account_find(p->user, p->group, &p->account, err);

	if (code == SS_OK && !account_can_become(&p->account))
		code = refuse_root(&p->account, err);
	if (code == SS_OK && p->grant != NULL)
		code = check_together(p->grant, err);
	if (code == SS_OK && p->grant != NULL)
		code = check_grants(&p->grant->read, sandbox_plan_site(p), err);
	if (code == SS_OK && p->grant != NULL)
		code = check_grants(
			&p->grant->write, sandbox_plan_site(p), err);
	return code;
}

/*
 * In the parent: a list that a child reads is lost when the child ends.  Each
 * child compares it with the directory before it believes it (dotfiles.h).
 */
void
sandbox_plan_keep_dotfiles(struct sandbox_plan *plan)
{
	int site = open(
		sandbox_plan_site(plan), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (site >= 0)
		dotfiles_keep(&plan->dotfiles, site);
	fd_close(&site);
}
