/* SPDX-License-Identifier: MIT */
/*
 * The same answer as a CGI program: started once a request.
 */
#include "child.h"

int
main(void)
{
	static char body[4096], text[CHILD_TEXT];
	size_t len;

	setenv("PATH", "/usr/bin:/bin", 1);
	child_drain(STDIN_FILENO, body, sizeof(body));
	len = child_answer(body, text);
	printf("Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
		len);
	fwrite(text, 1, len, stdout);
	return 0;
}
