/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/http_client.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/thread.h"
#include "base/units.h"
#include "base/utf8.h"
#include "base/version.h"
#include "net/confined.h"

#define CONNECT_NS     (5 * NS_PER_S)
#define STALLED_NS     (30 * NS_PER_S)
#define TOTAL_NS       (300 * NS_PER_S)
#define ANSWER_MOST    ((uint64_t)64 << 10)
#define HEADERS_MOST   ((size_t)64 << 10)
#define RETRY_AFTER_NS (24 * 3600 * NS_PER_S)

/* --- the library --- */

/* Functions of libcurl that are called. */
#define FUNCTIONS(X)      \
	X(global_init)    \
	X(easy_init)      \
	X(easy_reset)     \
	X(easy_setopt)    \
	X(easy_perform)   \
	X(easy_getinfo)   \
	X(easy_cleanup)   \
	X(easy_strerror)  \
	X(slist_append)   \
	X(slist_free_all) \
	X(getdate)

#define MEMBER(name) __typeof__(curl_##name) *name;
static struct {
	FUNCTIONS(MEMBER)
	char missing[256]; /* why it cannot be used; "": it can */
} curl;

/* Both have the same functions, of the same versions of symbols or none. */
static const char *const library_names[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };

static void *find_function(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found)
		snprintf(curl.missing, sizeof(curl.missing), "libcurl has no function %s", name);
	return found;
}

#define FIND(name) *(void **)&curl.name = find_function(library, "curl_" #name);

static void load_library(void)
{
	void *library = NULL;

	/* A program without an interpreter is static: the libraries that libcurl needs do not fit
	 * it. */
	if (!getauxval(AT_BASE)) {
		snprintf(curl.missing, sizeof(curl.missing),
			 "the static binary of ctprof cannot load libcurl, which sends requests: "
			 "use "
			 "the ordinary one");
		return;
	}
	for (size_t i = 0; !library && i < array_length(library_names); i++)
		library = dlopen(library_names[i], RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		snprintf(curl.missing, sizeof(curl.missing),
			 "cannot load libcurl, which sends requests (%.100s): install the package "
			 "libcurl4 or libcurl",
			 dlerror());
		return;
	}
	FUNCTIONS(FIND)
	if (!curl.missing[0] && curl.global_init(CURL_GLOBAL_DEFAULT))
		snprintf(curl.missing, sizeof(curl.missing), "cannot initialize libcurl");
}

static struct error *use_library(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (pthread_once(&once, load_library))
		return &error_no_memory;
	return curl.missing[0] ? error_create("%s", curl.missing) : NULL;
}

/* --- a client --- */

struct http_client {
	struct http_client_options options;
	char *netrc, *user, *ca_file;
	int netrc_fd, ca_fd; /* their copies, if requests are sent from confined threads; or -1 */
	CURL *handle;
	char reason[CURL_ERROR_SIZE];
};

/* libcurl ignores a file of passwords that cannot be read. */
static struct error *check_readable(const char *path)
{
	return path && access(path, R_OK) ? error_system(errno, "%s", path) : NULL;
}

static uint64_t or_default(uint64_t ns, uint64_t usual)
{
	return ns ? ns : usual;
}

static bool copy(const char *from, char **ret)
{
	*ret = from ? strdup(from) : NULL;
	return !from || *ret;
}

/* Keep a path; a confined thread may not be able to open it, so that gets a copy. */
static struct error *keep_file(const char *path, bool is_confined, int *fd, char **ret)
{
	char copied[CONFINED_PATH_SIZE];
	struct error *err;

	if (path && is_confined) {
		err = confined_copy_file(path, fd, copied);
		if (err)
			return err;
		path = copied;
	}
	return copy(path, ret) ? NULL : &error_no_memory;
}

static struct error *keep_files(struct http_client *client,
				const struct http_client_options *options)
{
	const bool is_confined = options->is_confined;
	struct error *err =
		keep_file(options->netrc, is_confined, &client->netrc_fd, &client->netrc);

	if (!err)
		err = keep_file(options->ca_file, is_confined, &client->ca_fd, &client->ca_file);
	if (is_confined)
		confined_load_resolver();
	return err;
}

struct error *http_client_open(const struct http_client_options *options, struct http_client **ret)
{
	struct error *err = use_library();
	struct http_client *client;

	if (!err)
		err = check_readable(options->netrc);
	if (!err)
		err = check_readable(options->ca_file);
	if (err)
		return err;
	client = calloc(1, sizeof(*client));
	if (!client)
		return &error_no_memory;
	client->options = (struct http_client_options){
		.connect_ns = or_default(options->connect_ns, CONNECT_NS),
		.stalled_ns = or_default(options->stalled_ns, STALLED_NS),
		.total_ns = or_default(options->total_ns, TOTAL_NS),
		.is_confined = options->is_confined,
	};
	client->netrc_fd = client->ca_fd = -1;
	client->handle = curl.easy_init();
	if (!client->handle || !copy(options->user, &client->user))
		err = &error_no_memory;
	if (!err)
		err = keep_files(client, options);
	if (err) {
		http_client_close(client);
		return err;
	}
	*ret = client;
	return NULL;
}

void http_client_close(struct http_client *client)
{
	if (!client)
		return;
	if (client->handle)
		curl.easy_cleanup(client->handle);
	if (client->netrc_fd >= 0)
		close(client->netrc_fd);
	if (client->ca_fd >= 0)
		close(client->ca_fd);
	free(client->netrc);
	free(client->user);
	free(client->ca_file);
	free(client);
}

/* --- the body of the request --- */

/* An exchange: what the callbacks know. */
struct exchange {
	struct http_client *client;
	const struct http_request *request;
	uint64_t body_at, body_end; /* what of the body has not been read; offsets in a file */
	uint64_t answer_length, answer_most;
	size_t header_length;
	char header[sizeof(((struct http_answer *)0)->header)];
	uint64_t date;
	uint64_t sent_s, dated_s; /* when the request began, and when `date` was read */
	size_t said_length;
	char said[sizeof(((struct http_answer *)0)->said)];
	bool is_cut; /* the answer was an error whose text is longer than needed */
	struct error *err;
};

static size_t read_body(char *bytes, size_t size, size_t number, void *context)
{
	struct exchange *e = context;
	const uint64_t left = e->body_end - e->body_at;
	size_t wanted = size * number;
	ssize_t got;

	if (wanted > left)
		wanted = left;
	if (e->request->body_fd < 0) {
		if (wanted)
			memcpy(bytes, e->request->body.bytes + e->body_at, wanted);
		e->body_at += wanted;
		return wanted;
	}
	do
		got = pread(e->request->body_fd, bytes, wanted, (off_t)e->body_at);
	while (got < 0 && errno == EINTR);
	if (got <= 0 && wanted) {
		e->err = got ? error_system(errno, "cannot read the request")
			     : error_create("the request became shorter while it was sent");
		return CURL_READFUNC_ABORT;
	}
	e->body_at += (uint64_t)got;
	return (size_t)got;
}

/* libcurl sends a request again by itself if a connection that it used before ends without an
 * answer. A request from memory may be sent twice; one from a file is refused that, for the caller
 * must know. */
static int seek_body(void *context, curl_off_t offset, int origin)
{
	struct exchange *e = context;

	if (e->request->body_fd >= 0 || origin != SEEK_SET || offset < 0 ||
	    (uint64_t)offset > e->body_end)
		return CURL_SEEKFUNC_FAIL;
	e->body_at = (uint64_t)offset;
	return CURL_SEEKFUNC_OK;
}

static struct error *measure_body(struct exchange *e)
{
	const struct http_request *request = e->request;
	struct stat st;

	if (request->body_fd < 0) {
		e->body_end = request->body.length;
		return NULL;
	}
	if (fstat(request->body_fd, &st))
		return error_system(errno, "cannot read the request");
	if ((uint64_t)st.st_size < request->body_from)
		return error_create("the request is shorter than its header");
	e->body_at = request->body_from;
	e->body_end = (uint64_t)st.st_size;
	return NULL;
}

/* --- the answer --- */

/* Is it the line of the header with this name? Then give the start of its value, as safe text. */
static bool take_value(struct text line, const char *header, char *ret, size_t size)
{
	const struct text name = text_of(header);
	struct text value;

	if (line.length <= name.length || line.bytes[name.length] != ':' ||
	    strncasecmp(line.bytes, name.bytes, name.length) != 0)
		return false;
	value = text_trim(
		(struct text){ line.bytes + name.length + 1, line.length - name.length - 1 });
	snprintf(ret, size, "%.*s", (int)value.length, value.bytes);
	text_make_safe(ret);
	return true;
}

int64_t http_clock_ahead(uint64_t date, uint64_t sent_s, uint64_t arrived_s)
{
	const uint64_t earliest = sent_s < arrived_s ? sent_s : arrived_s,
		       latest = sent_s < arrived_s ? arrived_s : sent_s;
	uint64_t seconds;

	if (date > latest)
		seconds = date - latest;
	else if (date < earliest)
		/* Its second may have been over when the request was sent. */
		seconds = earliest - date - 1;
	else
		return 0;
	if (seconds > INT64_MAX)
		seconds = INT64_MAX;
	return date > latest ? (int64_t)seconds : -(int64_t)seconds;
}

static uint64_t now_s(void)
{
	return clock_ns(CLOCK_REALTIME) / NS_PER_S;
}

static void take_line(struct exchange *e, struct text line)
{
	char date[64];
	time_t seconds;

	if (e->request->wanted_header)
		take_value(line, e->request->wanted_header, e->header, sizeof(e->header));
	if (!take_value(line, "Date", date, sizeof(date)))
		return;
	seconds = curl.getdate(date, NULL);
	e->date = seconds > 0 ? (uint64_t)seconds : 0;
	e->dated_s = now_s();
}

static size_t take_header(char *bytes, size_t size, size_t number, void *context)
{
	struct exchange *e = context;

	if (size * number <= HEADERS_MOST)
		take_line(e, (struct text){ bytes, size * number });
	e->header_length += size * number;
	if (e->header_length <= HEADERS_MOST)
		return size * number;
	e->err = error_create("the header of the answer is longer than %zu bytes", HEADERS_MOST);
	return 0;
}

static long status_of(const struct exchange *e)
{
	long status = 0;

	curl.easy_getinfo(e->client->handle, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

/* Keep the start of what the server says about an error, and have enough of it at some time. */
static size_t take_words(struct exchange *e, const char *bytes, size_t length)
{
	const size_t room = sizeof(e->said) - 1 - e->said_length,
		     kept = length < room ? length : room;

	memcpy(e->said + e->said_length, bytes, kept);
	e->said_length += kept;
	e->answer_length += length;
	e->is_cut = e->answer_length > e->answer_most;
	return e->is_cut ? 0 : length;
}

static size_t take_answer(char *bytes, size_t size, size_t number, void *context)
{
	struct exchange *e = context;
	const size_t length = size * number;

	if (status_of(e) / 100 != 2)
		return take_words(e, bytes, length);
	e->answer_length += length;
	if (e->answer_length > e->answer_most)
		e->err = error_coded(EMSGSIZE, "the answer is longer than %" PRIu64 " bytes",
				     e->answer_most);
	else if (e->request->take)
		e->err = e->request->take(e->request->context, (struct text){ bytes, length });
	return e->err ? 0 : length;
}

/* Its first line that is not empty, as a line of safe text, which is cut where a character ends. */
static void write_said(const struct exchange *e, char *ret)
{
	char cleaned[sizeof(e->said) * UTF8_REPLACEMENT_LENGTH];
	struct text said = text_trim((struct text){ e->said, e->said_length }), line = { "", 0 };
	size_t length, used = 0, next;

	text_cut(&said, '\n', &line);
	line = text_trim(line);
	length = utf8_clean(line, cleaned);
	while (used < length) {
		next = utf8_sequence(cleaned + used, length - used);
		if (used + next >= sizeof(e->said))
			break;
		used += next;
	}
	memcpy(ret, cleaned, used);
	ret[used] = '\0';
	text_make_safe(ret);
}

/* --- sending --- */

#define SET(option, value)                                                  \
	do {                                                                \
		if (!failed)                                                \
			failed = curl.easy_setopt(handle, option, (value)); \
	} while (0)

static long milliseconds(uint64_t ns)
{
	const uint64_t ms = (ns + 999999) / 1000000;

	return ms > INT32_MAX ? INT32_MAX : (long)ms;
}

static CURLcode set_protocols(CURL *handle)
{
	/* As of 7.85, which warns of the other. */
	if (!curl.easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https"))
		return CURLE_OK;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	return curl.easy_setopt(handle, CURLOPT_PROTOCOLS,
				(long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#pragma GCC diagnostic pop
}

/* What is the same for all requests of a client. */
static CURLcode set_limits(struct http_client *client)
{
	const struct http_client_options *options = &client->options;
	const uint64_t stalled_s = (options->stalled_ns + NS_PER_S - 1) / NS_PER_S;
	CURL *handle = client->handle;
	CURLcode failed = set_protocols(handle);

	SET(CURLOPT_ERRORBUFFER, client->reason);
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	/* Neither a proxy nor a file of passwords that variables name. */
	SET(CURLOPT_PROXY, "");
	/* HTTP/2 is one more parser, which requests one at a time have no use for. */
	SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SET(CURLOPT_USERAGENT, "ctprof/" CTPROF_VERSION);
	SET(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(options->connect_ns));
	SET(CURLOPT_TIMEOUT_MS, milliseconds(options->total_ns));
	SET(CURLOPT_LOW_SPEED_LIMIT, 1L);
	SET(CURLOPT_LOW_SPEED_TIME, (long)(stalled_s > 86400 ? 86400 : stalled_s));
	SET(CURLOPT_DISALLOW_USERNAME_IN_URL, client->user ? 0L : 1L);
	SET(CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
	SET(CURLOPT_NETRC, (long)(client->netrc ? CURL_NETRC_OPTIONAL : CURL_NETRC_IGNORED));
	if (client->netrc)
		SET(CURLOPT_NETRC_FILE, client->netrc);
	if (client->ca_file)
		SET(CURLOPT_CAINFO, client->ca_file);
	return failed;
}

/* libcurl looks for the password of a user only if the user is in the URL. */
static char *url_of(const struct exchange *e)
{
	const char *url = e->request->url, *user = e->client->user;
	const char *host = user ? strstr(url, "://") : NULL;

	if (!host)
		return strdup(url);
	host += strlen("://");
	return text_print("%.*s%s@%s", (int)(host - url), url, user, host);
}

static CURLcode set_request(struct exchange *e, struct curl_slist *headers)
{
	const struct http_request *request = e->request;
	CURL *handle = e->client->handle;
	const bool has_body = request->body_fd >= 0 || request->body.length,
		   is_post = request->method ? has_body || strings_equal(request->method, "POST")
					     : has_body;
	_cleanup_free_ char *url = NULL;
	CURLcode failed = CURLE_OK;

	url = url_of(e);
	if (!url)
		return CURLE_OUT_OF_MEMORY;
	SET(CURLOPT_URL, url);
	SET(CURLOPT_HTTPHEADER, headers);
	SET(CURLOPT_HTTPGET, 1L);
	if (is_post) {
		SET(CURLOPT_POST, 1L);
		SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)(e->body_end - e->body_at));
		SET(CURLOPT_READFUNCTION, read_body);
		SET(CURLOPT_READDATA, (void *)e);
		SET(CURLOPT_SEEKFUNCTION, seek_body);
		SET(CURLOPT_SEEKDATA, (void *)e);
	}
	if (request->method)
		SET(CURLOPT_CUSTOMREQUEST, request->method);
	SET(CURLOPT_HEADERFUNCTION, take_header);
	SET(CURLOPT_HEADERDATA, (void *)e);
	SET(CURLOPT_WRITEFUNCTION, take_answer);
	SET(CURLOPT_WRITEDATA, (void *)e);
	return failed;
}

static bool add_header(struct curl_slist **headers, const char *line)
{
	struct curl_slist *longer = curl.slist_append(*headers, line);

	if (longer)
		*headers = longer;
	return longer;
}

static struct error *make_headers(const struct http_request *request, struct curl_slist **ret)
{
	/* Do not wait for the server's consent before the body is sent. */
	if (!add_header(ret, "Expect:"))
		return &error_no_memory;
	for (size_t i = 0; i < request->header_count; i++) {
		if (strpbrk(request->headers[i], "\r\n"))
			return error_create("a header of the request has more than one line");
		if (!add_header(ret, request->headers[i]))
			return &error_no_memory;
	}
	return NULL;
}

/* Has the connection failed, so that the server got nothing of the request? */
static bool has_not_begun(CURL *handle)
{
	double seconds = 0;

	return !curl.easy_getinfo(handle, CURLINFO_PRETRANSFER_TIME, &seconds) && seconds <= 0;
}

/* Has the server answered the beginning of TLS with something else, as one that expects HTTP does?
 * OpenSSL and GnuTLS have no code for it that libcurl passes on. */
static bool lacks_tls(CURLcode failed, const char *reason)
{
	return failed == CURLE_SSL_CONNECT_ERROR &&
	       (strstr(reason, "wrong version number") || strstr(reason, "unexpected TLS packet"));
}

static struct error *explain(struct exchange *e, CURLcode failed)
{
	struct http_client *client = e->client;
	const char *reason = client->reason[0] ? client->reason : curl.easy_strerror(failed);

	if (failed == CURLE_LOGIN_DENIED)
		reason = "the URL has a user or password, which belong into a netrc file";
	if (lacks_tls(failed, reason))
		reason = "the server does not speak TLS at this port: use http:// (ch:// in "
			 "queries)";
	/* seek_body() refused. */
	if (failed == CURLE_SEND_FAIL_REWIND)
		reason = "the server ended the connection without an answer";
	text_make_safe(client->reason);
	return error_coded(has_not_begun(client->handle)        ? ENOTCONN
			   : failed == CURLE_OPERATION_TIMEDOUT ? ETIMEDOUT
								: EIO,
			   "%s", reason);
}

static uint64_t retry_after(CURL *handle)
{
	curl_off_t seconds = 0;

	if (curl.easy_getinfo(handle, CURLINFO_RETRY_AFTER, &seconds) || seconds <= 0)
		return 0;
	return (uint64_t)seconds > RETRY_AFTER_NS / NS_PER_S ? RETRY_AFTER_NS
							     : (uint64_t)seconds * NS_PER_S;
}

static struct error *perform(struct exchange *e, struct http_answer *ret)
{
	CURL *handle = e->client->handle;
	struct http_answer answer = { 0 };
	curl_off_t sent = 0;
	CURLcode failed;

	e->sent_s = now_s();
	failed = curl.easy_perform(handle);
	if (e->err)
		return take_ptr(e->err);
	if (failed && !(e->is_cut && failed == CURLE_WRITE_ERROR))
		return explain(e, failed);
	answer.status = status_of(e);
	answer.retry_after_ns = retry_after(handle);
	answer.date = e->date;
	answer.ahead_s = e->date ? http_clock_ahead(e->date, e->sent_s, e->dated_s) : 0;
	curl.easy_getinfo(handle, CURLINFO_SIZE_UPLOAD_T, &sent);
	answer.sent_bytes = sent > 0 ? (uint64_t)sent : 0;
	memcpy(answer.header, e->header, sizeof(answer.header));
	write_said(e, answer.said);
	*ret = answer;
	return NULL;
}

static struct error *exchange(struct http_client *client, const struct http_request *request,
			      struct http_answer *ret)
{
	struct exchange e = {
		.client = client,
		.request = request,
		.answer_most = request->answer_most ? request->answer_most : ANSWER_MOST,
	};
	struct curl_slist *headers = NULL;
	struct error *err = measure_body(&e);
	CURLcode failed;

	if (!err)
		err = make_headers(request, &headers);
	if (!err) {
		/* Keeps connections. */
		curl.easy_reset(client->handle);
		client->reason[0] = '\0';
		failed = set_limits(client);
		if (!failed)
			failed = set_request(&e, headers);
		err = failed ? error_create("libcurl refuses an option: %s",
					    curl.easy_strerror(failed))
			     : perform(&e, ret);
	}
	curl.slist_free_all(headers);
	return err;
}

struct sending {
	struct http_client *client;
	const struct http_request *request;
	struct http_answer *answer;
	struct error *err;
};

static void send_confined(void *context)
{
	struct sending *sending = context;

	sending->err = exchange(sending->client, sending->request, sending->answer);
}

struct error *http_client_send(struct http_client *client, const struct http_request *request,
			       struct http_answer *ret)
{
	struct sending sending = { client, request, ret, NULL };
	struct error *err;

	if (!client->options.is_confined)
		return exchange(client, request, ret);
	err = thread_run_confined(THREAD_CLIENT, send_confined, &sending, "ask a server");
	return err ? err : sending.err;
}
