/* SPDX-License-Identifier: MIT */
/*
 * The same answer as a CGI program, for fcgiwrap: started once a request.
 */
#include "child.h"

int
main(void)
{
	char body[4096], text[16384];
	int len;

	while (read(STDIN_FILENO, body, sizeof(body)) > 0)
		;
	len = child_answer(text, sizeof(text));
	printf("Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		len, text);
	return 0;
}
