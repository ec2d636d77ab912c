/* SPDX-License-Identifier: MIT */
/*
 * The library's own way of a request, again and again, for an instruction
 * counter: no server around it, and no tool is started.
 *
 *	handle SITE GET|POST TIMES
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "statespace.h"

static enum ss_err
run_nothing(void *ctx, const struct ss_command *command,
	struct ss_result *result, struct ss_error *err)
{
	(void)ctx;
	(void)command;
	(void)err;
	result->returncode = 0;
	result->sandbox = "strict";
	return SS_OK;
}

static void
log_nowhere(void *ctx, const char *line, size_t len)
{
	(void)ctx;
	(void)line;
	(void)len;
}

static struct ss_site *
open_site(const char *root)
{
	struct ss_error err = { .code = SS_OK };
	struct ss_executor executor = SS_INIT(ss_executor);
	struct ss_site *site = ss_site_new();

	executor.run = run_nothing;
	if (site == NULL ||
		ss_site_set_option(site, "root", root, &err) != SS_OK ||
		ss_site_set_executor(site, &executor, &err) != SS_OK ||
		ss_site_open(site, &err) != SS_OK) {
		fprintf(stderr, "handle: %s\n", err.message);
		exit(1);
	}
	ss_site_set_log(site, log_nowhere, NULL);
	return site;
}

int
main(int argc, char **argv)
{
	static const char command[] = "{\"command\": [\"true\"]}";
	struct ss_request request = SS_INIT(ss_request);
	struct ss_response response;
	struct ss_site *site;
	long times;

	if (argc != 4)
		return 2;
	site = open_site(argv[1]);
	request.method = argv[2];
	request.path = "/README.md";
	request.request_uri = "/README.md";
	request.host = "127.0.0.1:8000";
	request.client_fd = -1;
	if (strcmp(argv[2], "POST") == 0) {
		request.content_type = "application/json";
		request.body = command;
		request.body_len = sizeof(command) - 1;
	}
	for (times = atol(argv[3]); times > 0; times--) {
		enum ss_err code = ss_site_handle(site, &request, &response);

		ss_response_release(&response);
		if (code != SS_OK)
			return 1;
	}
	ss_site_free(site);
	return 0;
}
