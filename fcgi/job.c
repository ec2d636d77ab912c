/* SPDX-License-Identifier: MIT */
/*
 * The helper program that holds one job: statespace-job OPTION... ID, or
 * without ID a look at all of them.  job_start.c starts it and writes its
 * options; a job's directory has no say in what the site is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "helper.h"
#include "job_start.h"
#include "options.h"
#include "sys.h"

#ifdef SS_ONE_PROGRAM
#define JOB_MAIN job_main
#else
#define JOB_MAIN main
#endif

static void
start_one(void *ctx, const char *id)
{
	job_start(ctx, id);
}

static int
tend_jobs(struct job_starter *starter, struct ss_error *err)
{
	return ss_site_tend_jobs(starter->site, start_one, starter, err) ==
			SS_OK
		? 0
		: 1;
}

/*
 * Only root can, and it is given up before the sandbox is built.  The first
 * number that PR_CAPBSET_READ does not know ends the loop; a root without
 * CAP_SETPCAP keeps the set, as in a worker.
 */
static bool
drop_bounding_set(void)
{
	for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0;
		cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			return errno == EPERM;
	return true;
}

static bool
become(const struct ss_account *account)
{
	return account->uid == 0 ||
		(drop_bounding_set() && sys_become(account));
}

/*
 * The configuration may be root's alone, so that it is read before root is
 * given up.  No seal is made or checked here, and its key may be root's, too.
 */
static struct ss_site *
open_site(const struct job_words *w, struct ss_error *err)
{
	struct ss_site *site = options_site(&w->options, err);

	if (site == NULL)
		return NULL;
	if (become(&w->account) &&
		ss_site_set_option(site, "mcp.key_file", "", err) == SS_OK &&
		(options_has_sites(site) ||
			*ss_site_option(site, "root") != '\0' ||
			ss_site_set_root(site, ".", err) == SS_OK) &&
		ss_site_open(site, err) == SS_OK)
		return site;
	ss_site_free(site);
	return NULL;
}

int
JOB_MAIN(int argc, char **argv)
{
	static struct job_words w;
	struct ss_error err = { .code = SS_OK };
	struct job_starter starter;
	int status = 1;

	w.options.usage = "usage: statespace starts statespace-job\n";
	if (!job_read_words(&w, argc, argv))
		return options_misused(&w.options, NULL);
	starter.options = &w.options;
	starter.site = open_site(&w, &err);
	if (starter.site == NULL)
		return 1;
	if (w.id == NULL)
		status = tend_jobs(&starter, &err);
	else if (ss_site_run_job(starter.site, w.id, &err) == SS_OK)
		status = 0;
	ss_site_free(starter.site);
	return status;
}
