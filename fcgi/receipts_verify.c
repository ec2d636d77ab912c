/* SPDX-License-Identifier: MIT */
/*
 * Verifies files of receipts, which follow one another.  A line that was
 * altered has a wrong signature; one that was removed, inserted or moved breaks
 * the numbers and the digests.  Lines that are missing at the end show only
 * against a digest that was kept elsewhere (--head).
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "receipts_chain.h"
#include "receipts_main.h"

#define KEY_MEMBER ",\"event\":\"begin\",\"key\":\""

struct verify {
	struct sign_key *key;
	const char *key_file, *head, *file;
	bool any; /* a line was read: what follows holds */
	uint64_t first, last, count, wrong, line;
	unsigned char digest[SIGN_HASH];
	uint64_t head_number;
	bool head_seen;
};

static void
tell(struct verify *v, const char *what)
{
	printf("%s: line %" PRIu64 ": %s\n", v->file, v->line, what);
	v->wrong++;
}

/* Without --key: the key that the first line names. */
static bool
find_key(struct verify *v, const char *line)
{
	unsigned char public[SIGN_PUBLIC];
	const char *at = strstr(line, KEY_MEMBER);

	if (v->key != NULL)
		return true;
	if (at == NULL ||
		!sign_unhex(at + strlen(KEY_MEMBER), public, SIGN_PUBLIC))
		return false;
	v->key = sign_key_of(public);
	return v->key != NULL;
}

static void
verify_line(struct verify *v, const char *line, size_t len)
{
	static const unsigned char none[SIGN_HASH];
	struct receipt r;
	char hex[2 * SIGN_HASH + 1];

	if (strlen(line) != len || !receipt_read(line, len, &r)) {
		tell(v, "this is no receipt");
		return;
	}
	if (!find_key(v, line)) {
		tell(v, "the file does not begin with its key: give --key");
		return;
	}
	if (!sign_check(v->key, line, r.signed_len, r.signature))
		tell(v, "it was altered: the signature is of another line");
	if (v->any && r.number != v->last + 1)
		tell(v,
			r.number > v->last ? "lines before it are missing"
					   : "it comes again, or was moved");
	else if (v->any ? memcmp(r.prev, v->digest, SIGN_HASH) != 0
			: r.number == 0 && memcmp(r.prev, none, SIGN_HASH) != 0)
		tell(v, "the line before it is not the one that was");
	if (strstr(line, ",\"event\":\"lines_are_missing\"") != NULL)
		tell(v, "the writer found lines missing before it");
	if (!v->any)
		v->first = r.number;
	v->any = true;
	v->last = r.number;
	v->count++;
	sign_hash(line, len, v->digest);
	sign_hex(v->digest, SIGN_HASH, hex);
	if (v->head != NULL && strcmp(hex, v->head) == 0) {
		v->head_seen = true;
		v->head_number = r.number;
	}
}

static bool
verify_file(struct verify *v, const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	v->file = path;
	v->line = 0;
	if (file == NULL) {
		fprintf(stderr, "statespace-receipts: %s: %s\n", path,
			strerror(errno));
		return false;
	}
	while ((n = getline(&line, &cap, file)) > 0) {
		v->line++;
		if (line[n - 1] != '\n') {
			tell(v, "the line is cut");
			break;
		}
		line[n - 1] = '\0';
		verify_line(v, line, (size_t)n - 1);
	}
	free(line);
	fclose(file);
	return true;
}

static int
report(struct verify *v)
{
	char hex[2 * SIGN_HASH + 1] = "";

	sign_hex(v->digest, SIGN_HASH, hex);
	if (v->head != NULL && !v->head_seen) {
		printf("the line with the digest %s is missing: the end was "
		       "cut, or it was altered\n",
			v->head);
		v->wrong++;
	}
	if (!v->any) {
		printf("no receipts\n");
		return v->wrong > 0;
	}
	printf("%" PRIu64 " receipts, %" PRIu64 " to %" PRIu64 ", %" PRIu64
	       " wrong\nhead %s\n",
		v->count, v->first, v->last, v->wrong, hex);
	if (v->first > 0)
		printf("the receipts before %" PRIu64 " are in another file\n",
			v->first);
	if (v->key_file == NULL)
		printf("the key is the one that the file names: --key compares "
		       "it with yours\n");
	return v->wrong > 0;
}

int
receipts_verify(int argc, char **argv)
{
	static const struct option table[] = {
		{ "key", required_argument, NULL, 'k' },
		{ "head", required_argument, NULL, 'h' }, { NULL, 0, NULL, 0 }
	};
	struct verify v = { .key = NULL };
	int option, status;

	while ((option = getopt_long(argc, argv, "", table, NULL)) != -1) {
		if (option == 'k')
			v.key_file = optarg;
		else if (option == 'h')
			v.head = optarg;
		else
			return 2;
	}
	if (optind == argc)
		return 2;
	if (v.key_file != NULL) {
		v.key = sign_key_read(v.key_file, false);
		if (v.key == NULL) {
			fprintf(stderr,
				"statespace-receipts: %s is no public key of "
				"Ed25519 in PEM\n",
				v.key_file);
			return 1;
		}
	}
	for (int i = optind; i < argc; i++)
		if (!verify_file(&v, argv[i])) {
			sign_key_free(v.key);
			return 1;
		}
	status = report(&v);
	sign_key_free(v.key);
	return status;
}
