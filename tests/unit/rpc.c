/* SPDX-License-Identifier: MIT */
/* rpc: which messages are taken, and what an error may answer to. */
#include "base/base64.h"
#include "base/digest.h"
#include "wire/rpc.h"
#include "tap.h"

static struct rpc rpc;
static struct ss_error err;

static enum rpc_code
parse(const char *text)
{
	rpc_release(&rpc);
	err = (struct ss_error){ 0 };
	return rpc_parse(text, strlen(text), &rpc, &err);
}

static const char *
id(void)
{
	static char text[100];
	struct buf out = BUF_INIT(sizeof(text) - 1);

	text[0] = '\0';
	if (rpc.id != NULL && rpc_write(&out, rpc.id))
		memcpy(text, out.data, out.len + 1);
	buf_release(&out);
	return text;
}

static const struct {
	const char *text;
	enum rpc_code code;
	const char *id, *why;
} refused[] = {
	{ "", RPC_PARSE, "", "nothing" },
	{ "{", RPC_PARSE, "", "half a message" },
	{ "{\"a\":1,\"a\":2}", RPC_PARSE, "", "a member twice" },
	{ "[]", RPC_INVALID, "", "an empty batch" },
	{ "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}]", RPC_INVALID, "",
		"a batch" },
	{ "1", RPC_INVALID, "", "a number" },
	{ "{}", RPC_INVALID, "", "an empty object" },
	{ "{\"jsonrpc\":\"1.0\",\"id\":7,\"method\":\"x\"}", RPC_INVALID, "7",
		"another version, answered to its id" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":\"a\"}", RPC_INVALID, "\"a\"",
		"no method" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":2}", RPC_INVALID, "1",
		"a method that is no string" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"x\"}", RPC_INVALID, "",
		"null as an id" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"x\"}", RPC_INVALID, "",
		"a fraction as an id" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1e300,\"method\":\"x\"}", RPC_INVALID,
		"", "an id that no double holds" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"x\"}", RPC_INVALID, "",
		"an object as an id" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":[]}",
		RPC_BAD_PARAMS, "1", "params that are a list" },
};

static void
messages(void)
{
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		is_int(refused[i].code, parse(refused[i].text), "refuses %s",
			refused[i].why);
		is_str(refused[i].id, id(), "and keeps the id to answer to");
	}
	is_int(RPC_OK,
		parse("{\"jsonrpc\":\"2.0\",\"id\":9007199254740991,"
		      "\"method\":\"x\",\"params\":{\"a\":null,\"b\":\"c\"}}"),
		"takes a request");
	is_str("9007199254740991", id(), "the largest id comes back whole");
	ok(rpc.kind == RPC_REQUEST && rpc_member(rpc.params, "a") == NULL,
		"null is absent");
	is_str("c", rpc_text(rpc_member(rpc.params, "b")), "a text is read");
	is_int(RPC_OK,
		parse("{\"jsonrpc\":\"2.0\",\"id\":\"\\u00e9\\n\","
		      "\"method\":\"x\"}"),
		"takes text as an id");
	is_str("\"é\\n\"", id(), "which comes back as text");
	is_int(RPC_OK, parse("{\"jsonrpc\":\"2.0\",\"method\":\"x\"}"),
		"takes a notification");
	is_int(RPC_NOTIFICATION, rpc.kind, "and knows it");
	is_int(RPC_OK, parse("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"),
		"takes a response");
	is_int(RPC_RESPONSE, rpc.kind, "and knows it");
	rpc_release(&rpc);
}

/* RFC 4648 section 10. */
/* base64_write works by the 768 bytes. */
static void
base64_pieces(void)
{
	struct buf text = BUF_INIT(4096), bytes = BUF_INIT(4096);
	char data[1600];

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 7);
	for (size_t n = 765; n < sizeof(data); n += n == 771 ? 762 : 1) {
		buf_clear(&text);
		buf_clear(&bytes);
		ok(base64_write(&text, data, n) &&
				text.len == (n + 2) / 3 * 4 &&
				base64_read(&bytes, text.data, text.len) &&
				bytes.len == n &&
				memcmp(bytes.data, data, n) == 0,
			"%zu bytes come back from base64", n);
		if (n > 1540)
			break;
	}
	buf_release(&text);
	buf_release(&bytes);
}

static void
base64(void)
{
	static const char *const pairs[][2] = { { "", "" }, { "f", "Zg==" },
		{ "fo", "Zm8=" }, { "foo", "Zm9v" }, { "foobar", "Zm9vYmFy" },
		{ "\xff\xfe", "//4=" } };
	static const char *const bad[] = { "Zg=", "Zg",
		"Zh==", "Z===", "====", "Zm=v", "Zm9v=", "Zm9 ", "Zg==Zg==" };
	struct buf b = BUF_INIT(100);

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		buf_clear(&b);
		base64_write(&b, pairs[i][0], strlen(pairs[i][0]));
		is_str(pairs[i][1], b.data, "base64 of %zu bytes",
			strlen(pairs[i][0]));
		buf_clear(&b);
		ok(base64_read(&b, pairs[i][1], strlen(pairs[i][1])) &&
				text_is(buf_view(&b), pairs[i][0]),
			"and back");
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		buf_clear(&b);
		ok(!base64_read(&b, bad[i], strlen(bad[i])),
			"base64 refuses %s", bad[i]);
	}
	buf_release(&b);
}

/* FIPS 180-4 and RFC 4231 test case 2, with its key padded by zeros. */
static void
digests(void)
{
	uint8_t key[DIGEST_BYTES] = "Jefe", out[DIGEST_BYTES];
	char hex[DIGEST_HEX + 1];

	digest_of("abc", 3, out);
	digest_hex(out, DIGEST_BYTES, hex);
	is_str("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015"
	       "ad",
		hex, "SHA-256");
	digest_keyed(key, "what do ya want for nothing?", 28, out);
	digest_hex(out, DIGEST_BYTES, hex);
	is_str("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec38"
	       "43",
		hex, "HMAC");
}

int
main(void)
{
	messages();
	base64();
	base64_pieces();
	digests();
	return done();
}
