/* SPDX-License-Identifier: MIT */
/* Reports what this kernel and account can confine (ss_site_probe). */
#include "base/error.h"
#include "sandbox/landlock.h"
#include "sandbox/sandbox_fork.h"
#include "sandbox/sandbox_probe.h"
#include "site/site.h"

#define PROBES_MAX 32

enum ss_err
ss_site_probe(struct ss_site *site,
	void (*fn)(void *ctx, const struct ss_probe *probe), void *ctx,
	const char **level, const char **why, struct ss_error *err)
{
	struct sandbox_probe found[PROBES_MAX];
	enum ss_err code = site_needs_open(site, err);
	size_t count;

	if (code != SS_OK)
		return code;
	count = fn == NULL ? 0 : sandbox_probe(&site->plan, found, PROBES_MAX);
	for (size_t i = 0; i < count; i++)
		fn(ctx,
			&(struct ss_probe){ .name = found[i].name,
				.works = found[i].works,
				.needed = found[i].needed,
				.detail = found[i].detail,
				.remedy = found[i].remedy });
	*level = sandbox_level_name(sandbox_decide(&site->plan));
	*why = site->plan.why;
	return SS_OK;
}

enum ss_err
ss_site_confined(
	struct ss_site *site, struct ss_confined *out, struct ss_error *err)
{
	const struct sandbox_plan *plan = &site->plan;
	enum ss_err code = site_needs_open(site, err);
	enum sandbox_level level;

	if (code != SS_OK)
		return code;
	level = sandbox_decide(&site->plan);
	out->level = sandbox_level_name(level);
	out->why = plan->why;
	out->remedy = plan->remedy;
	out->all_tools = level == SANDBOX_OFF || level == SANDBOX_LANDLOCK ||
		(level == SANDBOX_STRICT &&
			landlock_check(plan->landlock_abi_max) == 0);
	return SS_OK;
}
