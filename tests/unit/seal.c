/* SPDX-License-Identifier: MIT */
/* seal: the key of one of several sites is of no use at another. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "site/seal.h"
#include "tap.h"

static const struct ss_text part = { "what", 4 };

static bool
same(const struct seal *a, const struct seal *b)
{
	uint8_t of_a[DIGEST_BYTES], of_b[DIGEST_BYTES];

	seal_sign(a, "confirm", 1000000, &part, 1, of_a);
	seal_sign(b, "confirm", 1000000, &part, 1, of_b);
	return digest_equal(of_a, of_b, DIGEST_BYTES);
}

int
main(void)
{
	char file[] = "/tmp/statespace-seal-XXXXXX";
	struct seal all = { .used = NULL }, again = all, one = all, two = all,
		    other = all, own = all;
	struct ss_error err = { .code = SS_OK };
	int fd = mkstemp(file);

	ok(fd >= 0 && write(fd, "0123456789abcdef0123456789abcdef", 32) == 32,
		"a key of 32 bytes");
	is_int(SS_OK, seal_open(&all, file, &err), "the key of all sites");
	is_int(SS_OK, seal_open(&again, file, &err), "the same at a restart");
	ok(same(&all, &again), "signs the same");
	is_int(SS_OK, seal_for_site(&one, &all, "", "a.example", &err), "a");
	is_int(SS_OK, seal_for_site(&two, &again, "", "a.example", &err),
		"a after a restart");
	is_int(SS_OK, seal_for_site(&other, &all, "", "b.example", &err), "b");
	is_int(SS_OK, seal_for_site(&own, &all, file, "b.example", &err),
		"b with the same file of its own");
	ok(same(&one, &two), "a site has the same key after a restart");
	ok(!same(&one, &all), "and not that of all");
	ok(!same(&one, &other), "nor that of another site");
	ok(!same(&one, &own), "whose file is the same");
	seal_close(&one);
	seal_close(&two);
	seal_close(&other);
	seal_close(&own);
	ok(all.used != NULL, "the used signatures are of all");
	seal_close(&all);
	seal_close(&again);
	close(fd);
	unlink(file);
	return done();
}
