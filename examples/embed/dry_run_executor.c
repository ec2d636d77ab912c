/* SPDX-License-Identifier: MIT */
/*
 * A host that says what it would run and runs nothing, but for one harmless
 * program that it hands on to the built-in executor.
 *
 *	dry_run_executor DIR PAGE WORD...
 */
#include <statespace.h>

#include <stdio.h>
#include <string.h>

struct rehearsal {
	const struct ss_executor *real;
	const char *allowed; /* the one program that does run */
	char text[4096];
};

static enum ss_err
rehearse(void *ctx, const struct ss_command *cmd, struct ss_result *result,
	struct ss_error *err)
{
	struct rehearsal *re = ctx;
	size_t used;

	if (strcmp(cmd->argv[0], re->allowed) == 0)
		return re->real->run(re->real->ctx, cmd, result, err);

	used = (size_t)snprintf(
		re->text, sizeof re->text, "would run in %s:", cmd->page);
	for (size_t i = 0; cmd->argv[i] && used < sizeof re->text; i++)
		used += (size_t)snprintf(re->text + used,
			sizeof re->text - used, " [%s]", cmd->argv[i]);
	result->out.data = re->text;
	result->out.len = strlen(re->text);
	result->err.data = "";
	result->returncode = 0;
	result->sandbox = "none";
	return SS_OK;
}

int
main(int argc, char *argv[])
{
	struct rehearsal re = { .allowed = "ls" };
	struct ss_executor executor = SS_INIT(ss_executor);
	struct ss_call call = SS_CALL_INIT;
	struct ss_result result = SS_INIT(ss_result);
	struct ss_error err = { 0 };
	struct ss_site *site = ss_site_new();
	int rc = 1;

	if (argc < 4 || !site) {
		fprintf(stderr, "usage: dry_run_executor DIR PAGE WORD...\n");
		goto out;
	}
	re.real = ss_site_builtin_executor(site);
	executor.ctx = &re;
	executor.run = rehearse;
	call.page = argv[2];
	call.words = (const char *const *)argv + 3;
	call.word_count = (size_t)argc - 3;
	if (ss_site_set_root(site, argv[1], &err) ||
		ss_site_set_executor(site, &executor, &err) ||
		ss_site_open(site, &err) ||
		ss_site_call(site, &call, &result, &err)) {
		fprintf(stderr, "%s\n%s\n", err.message, err.hint);
		goto out;
	}
	printf("%.*s\n", (int)result.out.len, result.out.data);
	rc = result.returncode;
out:
	ss_result_release(&result);
	ss_site_free(site);
	return rc;
}
