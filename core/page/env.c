/* SPDX-License-Identifier: MIT */
#include "page/env.h"

#include <fnmatch.h>

/*
 * Set by us, or read by ld.so(8) and shells before the author's program runs.
 */
static const char *const reserved[] = { "PATH", "HOME", "TMPDIR", "IFS", "ENV",
	"BASH_ENV", "LD_*", "DYLD_*", "GCONV_PATH", "STATESPACE_REQUEST_ID",
	"STATESPACE_PROGRESS_FD" };

/*
 * Each of these makes some program load a file, run a command or talk to
 * another machine.  Compared without case: http_proxy is HTTP_PROXY.
 */
static const char *const server_only[] = {
	/* interpreters and runtimes */
	"PYTHON*", "PERL5*", "PERLLIB", "PERL_*", "NODE_OPTIONS", "NODE_PATH",
	"NODE_*CERT*", "NODE_TLS*", "NPM_CONFIG_*", "DENO_*", "BUN_*",
	"RUBYOPT", "RUBYLIB", "RUBYPATH", "GEM_HOME", "GEM_PATH", "BUNDLE_*",
	"LUA_*", "PHPRC", "PHP_INI_*", "R_PROFILE*", "R_ENVIRON*", "R_HOME",
	"R_LIBS*", "JULIA_*", "JAVA_*", "_JAVA_*", "JDK_*", "CLASSPATH",
	"DOTNET_*", "CORECLR_*", "COMPLUS_*", "ERL_*", "ELIXIR_ERL_*",
	"TCLLIBPATH", "TCL_LIBRARY", "GUILE_*", "GOFLAGS", "GOPATH", "GOROOT",
	"GOENV", "GOTOOLCHAIN", "CARGO_*", "RUSTC*", "RUSTFLAGS", "RUSTUP_*",
	"PIP_*", "AWKPATH", "AWKLIBPATH",
	/* shells */
	"SHELL", "SHELLOPTS", "BASHOPTS", "BASH_*", "PS[0-9]", "PROMPT_COMMAND",
	"ZDOTDIR", "FPATH", "CDPATH", "INPUTRC", "HISTFILE",
	/* pagers, editors, helpers that are commands */
	"PAGER", "MANPAGER", "*_PAGER", "LESS", "LESSOPEN", "LESSCLOSE",
	"LESSKEY*", "MANOPT", "EDITOR", "*_EDITOR", "VISUAL", "BROWSER",
	"EXINIT", "VIM", "VIMINIT", "VIMRUNTIME", "EMACSLOADPATH", "*_ASKPASS",
	"GIT_*", "SSH_*", "*_RSH", "MAKEFLAGS", "MAKEFILES", "GNUMAKEFLAGS",
	"TAR_OPTIONS", "XDG_*",
	/* libraries */
	"MALLOC_*", "GLIBC_TUNABLES", "LOCPATH", "NLSPATH", "LANG", "LANGUAGE",
	"LC_*", "TERMINFO*", "TERMCAP", "HOSTALIASES", "RES_OPTIONS",
	"LOCALDOMAIN", "OPENSSL_*", "SSL_CERT_*", "SSLKEYLOGFILE", "CURL_*",
	"REQUESTS_CA_BUNDLE", "NETRC", "KRB5*", "FONTCONFIG_*", "MAGICK_*",
	"GST_PLUGIN*",
	/* clients' own configuration, which can name commands and hosts */
	"*_PROXY", "*_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE",
	"AWS_ENDPOINT_*", "KUBECONFIG", "DOCKER_*", "PSQLRC", "PSQL_*",
	"PGSERVICE*", "PGSYSCONFDIR", "PGPASSFILE", "MYSQL_HOME"
};

static bool
is_in(const char *name, const char *const *patterns, size_t count, int flags)
{
	for (size_t i = 0; i < count; i++)
		if (fnmatch(patterns[i], name, flags) == 0)
			return true;
	return false;
}

static bool
is_letter(char c)
{
	char lower = (char)(c | 0x20);

	return (lower >= 'a' && lower <= 'z') || c == '_';
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* How many bytes at the start of text are a name. */
static size_t
name_len(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && (is_letter(text[n]) || (n > 0 && is_digit(text[n]))))
		n++;
	return n;
}

bool
env_is_name(const char *name, size_t len)
{
	return len > 0 && name_len(name, len) == len;
}

bool
env_is_allowed(const char *name)
{
	return !is_in(name, reserved, ARRAY_LEN(reserved), 0);
}

/* PYTHON*, GIT_*, *_PROXY, ...: only the server may set them. */
static bool
is_server_only(const char *name)
{
	return is_in(name, server_only, ARRAY_LEN(server_only), FNM_CASEFOLD);
}

static const char *
find_value(const struct ss_pair *table, size_t count, struct ss_text name)
{
	for (size_t i = 0; i < count; i++)
		if (text_is(name, table[i].name))
			return table[i].value;
	return NULL;
}

bool
env_is_listed(const struct env_scope *scope, struct ss_text name)
{
	return scope->page != NULL && name_list_has(scope->page, name) &&
		(scope->tool == NULL || !scope->tool->set ||
			name_list_has(scope->tool, name));
}

const char *
env_server_value(const struct env_scope *scope, struct ss_text name)
{
	return find_value(scope->server, scope->server_count, name);
}

const char *
env_sent_value(const struct env_scope *scope, struct ss_text name)
{
	return find_value(scope->request, scope->request_count, name);
}

bool
env_is_open(const struct env_scope *scope, const char *name)
{
	return env_is_listed(scope, text_of(name)) && env_is_allowed(name) &&
		!is_server_only(name) &&
		env_server_value(scope, text_of(name)) == NULL;
}

const char *
env_request_value(const struct env_scope *scope, const char *name)
{
	return env_is_open(scope, name) ? env_sent_value(scope, text_of(name))
					: NULL;
}

size_t
env_variable_at(const char *text, size_t len, struct ss_text *name)
{
	size_t brace = len > 1 && text[1] == '{', end;

	if (len < 2 || text[0] != '$')
		return 0;
	name->data = text + 1 + brace;
	name->len = name_len(name->data, len - 1 - brace);
	end = 1 + brace + name->len;
	if (name->len == 0)
		return 0;
	if (brace == 0)
		return end;
	return end < len && text[end] == '}' ? end + 1 : 0;
}

/* --------------------------------------------------------------- request -- */

/* The first name that a request may set; NULL when there is none. */
static const char *
first_open(const struct env_scope *scope)
{
	for (size_t i = 0; scope->page != NULL && i < scope->page->count; i++)
		if (env_is_open(scope, scope->page->names[i]))
			return scope->page->names[i];
	return NULL;
}

static enum ss_err
refuse_name(const struct env_scope *scope, const char *name, const char *why,
	struct ss_error *err)
{
	const char *other = first_open(scope);

	error_set(err, SS_BAD_ENV, "\"env\" may not set \"%.*s\": %s",
		(int)utf8_cut(name, strlen(name), 64), name, why);
	if (other == NULL)
		error_hint(err,
			"this tool takes no variables: leave \"env\" "
			"out");
	else
		error_hint(err,
			"the variables that the page lists can be set, "
			"such as \"%.64s\"",
			other);
	return SS_BAD_ENV;
}

enum ss_err
env_check_request(const struct env_scope *scope, struct ss_error *err)
{
	for (size_t i = 0; i < scope->request_count; i++) {
		const char *name = scope->request[i].name;
		const char *why = NULL;

		if (!env_is_name(name, strlen(name)))
			why = "it is not the name of a variable";
		else if (!env_is_allowed(name) || is_server_only(name))
			why = "only the server may";
		else if (!env_is_listed(scope, text_of(name)))
			why = "the page does not list it";
		if (why != NULL)
			return refuse_name(scope, name, why, err);
	}
	return SS_OK;
}
