/* SPDX-License-Identifier: MIT */
/*
 * All of the helper of the HTTP tool, and the only file that knows libcurl: one
 * request, no redirects, nothing from the environment, and a socket only to an
 * address that the guard allows.  It runs confined, with the host's network.
 *
 * Source   statespace-page(7), Built-in tools; CURLOPT_OPENSOCKETFUNCTION(3).
 */
#include "transfer.h"

#include <curl/curl.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "own_address.h"
#include "tools/helper.h"

#define CONNECT_MS 10000
#define HEADER_BYTES (300 * 1024) /* as curl's own since 7.88 */

/* One transfer. */
struct transfer {
	struct tool_http http;
	CURL *curl;
	struct curl_slist *headers;
	char *data;
	bool refused; /* by the guard, at a socket */
	size_t header_bytes;
	char error[CURL_ERROR_SIZE];
};

/* ----------------------------------------------------------- the guard -- */

/* The address is the one that the socket returned here is connected to. */
static curl_socket_t
open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *to)
{
	struct transfer *t = ctx;
	const void *address = NULL;
	uint16_t port = 0;
	union {
		struct sockaddr any;
		struct sockaddr_in four;
		struct sockaddr_in6 six;
	} a = { .any = to->addr };

	if (to->family == AF_INET && to->addrlen >= sizeof(a.four)) {
		memcpy(&a.four, &to->addr, sizeof(a.four));
		address = &a.four.sin_addr;
		port = ntohs(a.four.sin_port);
	} else if (to->family == AF_INET6 && to->addrlen >= sizeof(a.six)) {
		memcpy(&a.six, &to->addr, sizeof(a.six));
		address = &a.six.sin6_addr;
		port = ntohs(a.six.sin6_port);
	}
	if (purpose != CURLSOCKTYPE_IPCXN || address == NULL ||
		!tool_http_may_connect(&t->http, to->family, address, port)) {
		t->refused = true;
		return CURL_SOCKET_BAD;
	}
	return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

/* -------------------------------------------------------------- the answer */

static size_t
write_out(const char *data, size_t len)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = write(STDOUT_FILENO, data + done, len - done);
		if (n <= 0)
			return 0;
		done += (size_t)n;
	}
	return len;
}

static size_t
on_body(char *data, size_t size, size_t count, void *ctx)
{
	(void)ctx;
	return write_out(data, size * count);
}

/* The output limit counts what is written, which headers may not be. */
static size_t
on_header(char *data, size_t size, size_t count, void *ctx)
{
	struct transfer *t = ctx;
	size_t len = size * count;

	t->header_bytes += len;
	if (t->header_bytes > HEADER_BYTES)
		return 0;
	return t->http.include || t->http.head ? write_out(data, len) : len;
}

/* ------------------------------------------------------------ the request */

/* Several -d are one body, joined by '&', as curl does. */
static bool
join_data(struct transfer *t)
{
	size_t len = 1;
	char *at;

	if (t->http.data_count == 0)
		return true;
	for (size_t i = 0; i < t->http.data_count; i++)
		len += strlen(t->http.data[i]) + 1;
	at = t->data = malloc(len);
	if (at == NULL)
		return false;
	for (size_t i = 0; i < t->http.data_count; i++) {
		if (i > 0)
			*at++ = '&';
		at = stpcpy(at, t->http.data[i]);
	}
	return true;
}

static bool
set_headers(struct transfer *t)
{
	struct curl_slist *longer;

	for (size_t i = 0; i < t->http.header_count; i++) {
		longer = curl_slist_append(t->headers, t->http.headers[i]);
		if (longer == NULL)
			return false;
		t->headers = longer;
	}
	return curl_easy_setopt(t->curl, CURLOPT_HTTPHEADER, t->headers) ==
		CURLE_OK;
}

/*
 * Switches off by name whatever could lead elsewhere: most of it is off by
 * default, but a build of libcurl may have other defaults.
 */
static bool
set_guard(struct transfer *t)
{
	CURL *c = t->curl;

#if LIBCURL_VERSION_NUM >= 0x075500
	if (curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https") != 0)
		return false;
#else
	if (curl_easy_setopt(c, CURLOPT_PROTOCOLS,
		    CURLPROTO_HTTP | CURLPROTO_HTTPS) != 0)
		return false;
#endif
	return curl_easy_setopt(c, CURLOPT_OPENSOCKETFUNCTION, open_socket) ==
		0 &&
		curl_easy_setopt(c, CURLOPT_OPENSOCKETDATA, t) == 0 &&
		curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L) == 0 &&
		curl_easy_setopt(c, CURLOPT_PROXY, "") == 0 &&
		curl_easy_setopt(c, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED) ==
		0 &&
		curl_easy_setopt(c, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L) ==
		0 &&
		/* HTTP/1.1: nothing upgrades to another transport. */
		curl_easy_setopt(c, CURLOPT_HTTP_VERSION,
			(long)CURL_HTTP_VERSION_1_1) == 0 &&
		/*
		 * Bodies are not decoded: a small one cannot become a large
		 * one.
		 */
		curl_easy_setopt(c, CURLOPT_HTTP_CONTENT_DECODING, 0L) == 0;
}

/*
 * Where distributions keep the certificate authorities, for a libcurl that was
 * built without a place (make static).  /etc/ssl/certs is named by hashes too.
 */
static bool
set_authorities(CURL *c)
{
	static const char *const files[] = {
		"/etc/ssl/certs/ca-certificates.crt", /* Debian, Alpine, Arch */
		"/etc/pki/tls/certs/ca-bundle.crt",   /* Fedora */
	};

#if LIBCURL_VERSION_NUM >= 0x075400
	const curl_version_info_data *v = curl_version_info(CURLVERSION_NOW);

	if (v->cainfo != NULL || v->capath != NULL)
		return true;
#else
	return true;
#endif
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (access(files[i], R_OK) == 0)
			return curl_easy_setopt(c, CURLOPT_CAINFO, files[i]) ==
				0;
	return curl_easy_setopt(c, CURLOPT_CAPATH, "/etc/ssl/certs") == 0;
}

static bool
set_request(struct transfer *t)
{
	const struct tool_http *h = &t->http;
	CURL *c = t->curl;
	bool done = curl_easy_setopt(c, CURLOPT_URL, h->url) == 0 &&
		curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L) == 0 &&
		curl_easy_setopt(c, CURLOPT_ERRORBUFFER, t->error) == 0 &&
		curl_easy_setopt(
			c, CURLOPT_USERAGENT, "statespace/" SS_VERSION) == 0 &&
		curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body) == 0 &&
		curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header) == 0 &&
		curl_easy_setopt(c, CURLOPT_HEADERDATA, t) == 0 &&
		curl_easy_setopt(c, CURLOPT_FAILONERROR, (long)h->fail) == 0 &&
		curl_easy_setopt(
			c, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS) == 0 &&
		curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)h->timeout_ms) ==
			0;

	if (done && h->head)
		done = curl_easy_setopt(c, CURLOPT_NOBODY, 1L) == 0;
	if (done && t->data != NULL)
		done = curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE,
			       (curl_off_t)strlen(t->data)) == 0 &&
			curl_easy_setopt(c, CURLOPT_POSTFIELDS, t->data) == 0;
	if (done && h->method != NULL)
		done = curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, h->method) ==
			0;
	return done && set_authorities(c) && set_headers(t);
}

/* ----------------------------------------------------------------- ending */

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void
say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

static int
end_refused(const struct ss_error *err)
{
	if (!tool_report(err->code, err->message, err->hint))
		say("%s", err->message);
	return 2;
}

/*
 * An HTTP status that -f turns into an error is the tool's own result.  Other
 * failures are reported by libcurl's sentence for the code: its message for the
 * transfer names the host, which may be a value that the page fills in.
 */
static int
end_failed(const struct transfer *t, CURLcode code)
{
	char message[256];
	long sent = 0;

	if (code == CURLE_HTTP_RETURNED_ERROR) {
		say("curl: (%d) %s", (int)code, t->error);
		return (int)code;
	}
	if (code == CURLE_WRITE_ERROR && t->header_bytes <= HEADER_BYTES)
		return (int)code; /* nobody reads any more */
	if (t->curl != NULL)
		curl_easy_getinfo(t->curl, CURLINFO_REQUEST_SIZE, &sent);
	snprintf(message, sizeof(message), "curl: (%d) %s", (int)code,
		t->refused && sent == 0 ? "the URL's host is at no public "
					  "address"
					: curl_easy_strerror(code));
	if (!tool_report(
		    t->refused && sent == 0 ? SS_ADDRESS_REFUSED : SS_NETWORK,
		    message,
		    sent > 0 ? "the request was sent" : "nothing was sent"))
		say("%s", message);
	return (int)code;
}

static void
transfer_release(struct transfer *t)
{
	curl_slist_free_all(t->headers);
	curl_easy_cleanup(t->curl);
	free(t->data);
	curl_global_cleanup();
}

int
transfer_main(int argc, char **argv)
{
	static struct transfer t;
	struct ss_error err = { .code = SS_OK };
	CURLcode code = CURLE_FAILED_INIT;

	if (tool_http_parse(argc, argv, &t.http, &err) != SS_OK)
		return end_refused(&err);
	t.http.is_own = own_address;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return end_failed(&t, code);
	t.curl = curl_easy_init();
	if (t.curl != NULL && join_data(&t) && set_guard(&t) && set_request(&t))
		code = curl_easy_perform(t.curl);
	code = code == CURLE_OK ? 0 : (CURLcode)end_failed(&t, code);
	transfer_release(&t);
	return (int)code;
}
