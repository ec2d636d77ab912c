/* SPDX-License-Identifier: MIT */
/*
 * A FastCGI worker pool as small as libfcgi allows: what an answer costs when
 * nothing is looked at.  POST runs the command of its body, GET answers the
 * file.
 *
 *	bare_fcgi SOCKET WORKERS FILE
 */
#include <fcgiapp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "child.h"

static void
answer_post(FCGX_Request *request)
{
	static char body[4096], text[CHILD_TEXT];
	int n, got = 0, len;

	while (got < (int)sizeof(body) - 1 &&
		(n = FCGX_GetStr(body + got, (int)sizeof(body) - 1 - got,
			 request->in)) > 0)
		got += n;
	body[got] = '\0';
	len = (int)child_answer(body, text);
	FCGX_FPrintF(request->out,
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n",
		len);
	FCGX_PutStr(text, len, request->out);
}

static void
answer_get(FCGX_Request *request, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[65536];
	ssize_t len = fd >= 0 ? read(fd, text, sizeof(text)) : 0;

	FCGX_FPrintF(request->out,
		"Content-Type: text/markdown\r\nContent-Length: %d\r\n\r\n",
		(int)len);
	FCGX_PutStr(text, (int)len, request->out);
	if (fd >= 0)
		close(fd);
}

static void
serve(int listening, const char *path)
{
	FCGX_Request request;
	const char *method;

	FCGX_InitRequest(&request, listening, 0);
	while (FCGX_Accept_r(&request) == 0) {
		method = FCGX_GetParam("REQUEST_METHOD", request.envp);
		if (method != NULL && strcmp(method, "POST") == 0)
			answer_post(&request);
		else
			answer_get(&request, path);
		FCGX_Finish_r(&request);
	}
}

int
main(int argc, char **argv)
{
	int listening, workers;

	if (argc != 4)
		return 2;
	FCGX_Init();
	setenv("PATH", "/usr/bin:/bin", 1);
	listening = FCGX_OpenSocket(argv[1], 511);
	if (listening < 0 || chmod(argv[1], 0666) != 0)
		return 1;
	for (workers = atoi(argv[2]); workers > 1; workers--) {
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGTERM);
			break;
		}
	}
	serve(listening, argv[3]);
	return 0;
}
