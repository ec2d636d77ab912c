/* SPDX-License-Identifier: MIT */
#include "site/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>

#include "base/fd.h"
#include "site/once.h"

#define ROTATION_S 3600 /* for so long, one key is derived from seal->key */
#define KEY_BYTES_LEAST 32

static enum ss_err
make_key(struct seal *seal, struct ss_error *err)
{
	size_t n = sizeof(seal->key);

	return getrandom(seal->key, n, 0) == (ssize_t)n
		? SS_OK
		: error_internal(err, errno, "getrandom");
}

static enum ss_err
read_key(struct seal *seal, const char *file, struct ss_error *err)
{
	struct buf bytes = BUF_INIT(4096);
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int number = fd < 0 ? errno : fd_read_all(fd, &bytes);
	enum ss_err code = SS_OK;

	fd_close(&fd);
	if (number != 0)
		code = error_set(err, SS_CONFIG,
			"cannot read [mcp] key_file: %s", strerror(number));
	else if (bytes.len < KEY_BYTES_LEAST)
		code = error_set(err, SS_CONFIG,
			"[mcp] key_file holds less than %d bytes",
			KEY_BYTES_LEAST);
	else
		digest_of(bytes.data, bytes.len, seal->key);
	buf_release(&bytes);
	return code;
}

enum ss_err
seal_open(struct seal *seal, const char *key_file, struct ss_error *err)
{
	enum ss_err code = key_file[0] == '\0' ? make_key(seal, err)
					       : read_key(seal, key_file, err);

	if (code != SS_OK)
		return code;
	seal->used = once_open();
	return seal->used != NULL ? SS_OK : error_internal(err, errno, "mmap");
}

enum ss_err
seal_for_site(struct seal *seal, const struct seal *all, const char *key_file,
	const char *site, struct ss_error *err)
{
	struct seal from = *all;
	enum ss_err code =
		key_file[0] == '\0' ? SS_OK : read_key(&from, key_file, err);
	struct buf about = BUF_INIT(1024);

	buf_printf(&about, "site %s", site);
	if (code == SS_OK && !buf_ok(&about))
		code = error_memory(err);
	if (code == SS_OK) {
		digest_keyed(from.key, about.data, about.len, seal->key);
		seal->used = all->used;
		seal->borrowed = true;
	}
	buf_release(&about);
	return code;
}

void
seal_close(struct seal *seal)
{
	if (!seal->borrowed)
		once_close(seal->used);
	seal->used = NULL;
}

/* Keys change every hour: the key under which a signature was made. */
static void
key_of(const struct seal *seal, const char *purpose, int64_t expires,
	uint8_t key[static DIGEST_BYTES])
{
	char epoch[64];
	int n = snprintf(epoch, sizeof(epoch), "%s %" PRId64, purpose,
		(expires - SEAL_VALID_S) / ROTATION_S);

	digest_keyed(seal->key, epoch, (size_t)n, key);
}

void
seal_sign(const struct seal *seal, const char *purpose, int64_t expires,
	const struct ss_text *parts, size_t count,
	uint8_t out[static DIGEST_BYTES])
{
	uint8_t key[DIGEST_BYTES], all[DIGEST_BYTES];

	digest_parts(parts, count, all);
	key_of(seal, purpose, expires, key);
	digest_keyed(key, (const char *)all, DIGEST_BYTES, out);
}

bool
seal_use(struct seal *seal, const uint8_t signature[static DIGEST_BYTES],
	int64_t expires)
{
	return once_use(seal->used, signature, expires);
}
