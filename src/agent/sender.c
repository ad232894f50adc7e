/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/sender.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent/request_file.h"
#include "base/array.h"
#include "base/fd_channel.h"
#include "base/file.h"
#include "base/interrupts.h"
#include "base/units.h"
#include "net/confined.h"
#include "security/server_sandbox.h"

/* After the time that a request may take, a sender that hangs is ended. */
#define HANGS_SECONDS 60
#define TOTAL_NS      (300 * NS_PER_S) /* the default of a client */

struct starter {
	const struct sender_options *options;
	int socket;
	int netrc, ca_file; /* copies in memory; -1: none */
	char netrc_path[CONFINED_PATH_SIZE], ca_path[CONFINED_PATH_SIZE];
};

/* The start of the body of an answer that is 2xx. */
struct body {
	char bytes[SINK_BODY_MOST];
	size_t length;
};

struct sender {
	const struct sender_sink *sink;
	int socket;
	unsigned seconds; /* for a request */
	struct http_client *client;
	struct body body; /* of the answer */
	char header_bytes[REQUEST_HEADER_MOST];
};

/* --- one request --- */

/* The URL of the sink and `target`. */
static char *make_url(const struct sender_sink *sink, struct text target)
{
	const bool continues_query =
		target.length && target.bytes[0] == '?' && strchr(sink->url, '?');

	return text_print("%s%s%.*s", sink->url, continues_query ? "&" : "",
			  (int)(target.length - continues_query), target.bytes + continues_query);
}

static void say(struct sender_answer *answer, const char *text)
{
	snprintf(answer->said, sizeof(answer->said), "%s", text);
	text_make_safe(answer->said);
}

/* Put the reason and the advice of a judgement into the answer. */
static void say_judgement(struct sender_answer *answer, const struct http_answer *http,
			  const struct sink_judgement *judgement)
{
	char why[400], line[sizeof(answer->said)];

	snprintf(why, sizeof(why), "HTTP status %ld%s%.350s", http->status,
		 http->said[0] ? ": " : "", http->said);
	snprintf(line, sizeof(line), "%s%s%s", judgement->said[0] ? judgement->said : why,
		 judgement->advice ? "; " : "", judgement->advice ? judgement->advice : "");
	say(answer, line);
	answer->retry_after_ns = http->retry_after_ns;
}

static struct error *take_body(void *context, struct text piece)
{
	struct body *body = context;
	const size_t room = sizeof(body->bytes) - body->length,
		     taken = piece.length < room ? piece.length : room;

	memcpy(body->bytes + body->length, piece.bytes, taken);
	body->length += taken;
	return NULL;
}

static void judge(const struct sender *sender, const struct http_answer *http,
		  struct sink_judgement *ret)
{
	const struct sink_answer answer = {
		.status = http->status,
		.said = http->said,
		.header = http->header,
		.body = { sender->body.bytes, sender->body.length },
	};

	sender->sink->type->judge(&answer, ret);
}

static const uint32_t outcomes[] = {
	[SINK_TAKEN] = SENDER_DONE,    [SINK_REFUSED] = SENDER_REFUSED,
	[SINK_FAILED] = SENDER_FAILED, [SINK_BUSY] = SENDER_UNKNOWN,
	[SINK_WAITS] = SENDER_RETRY,
};

/* A request without a complete answer. */
static struct sender_answer fail(struct error *err)
{
	struct sender_answer answer = {
		.outcome = err->errnum == ENOTCONN ? SENDER_UNSENT : SENDER_UNKNOWN,
	};

	say(&answer, err->message);
	error_destroy(err);
	return answer;
}

struct headers {
	char *lines[3];
	size_t count;
};

/* Without a name the value is the whole header. */
static bool add_header(struct headers *headers, const char *name, struct text value)
{
	if (!value.length)
		return true;
	headers->lines[headers->count] =
		text_print("%s%s%.*s", name, *name ? ": " : "", (int)value.length, value.bytes);
	return headers->lines[headers->count] && ++headers->count;
}

static void headers_deinit(struct headers *headers)
{
	for (size_t i = 0; i < headers->count; i++)
		free(headers->lines[i]);
}

static bool add_headers(struct headers *headers, const struct request_header *request)
{
	return add_header(headers, "Content-Type", request->content_type) &&
	       add_header(headers, "Content-Encoding", request->content_encoding) &&
	       add_header(headers, "", request->header);
}

/* Send a GET that belongs to the request. */
static struct error *ask(struct sender *sender, const struct request_header *header,
			 struct text target, struct http_answer *ret)
{
	_cleanup_free_ char *url = make_url(sender->sink, target);
	struct headers headers = { 0 };
	struct error *err = &error_no_memory;

	sender->body.length = 0;
	if (url && add_header(&headers, "", header->header)) {
		const struct http_request request = {
			.method = "GET",
			.url = url,
			.headers = (const char *const *)headers.lines,
			.header_count = headers.count,
			.body_fd = -1,
			.take = take_body,
			.context = &sender->body,
			.wanted_header = sender->sink->type->answer_header,
		};

		err = http_client_send(sender->client, &request, ret);
	}
	headers_deinit(&headers);
	return err;
}

/* The answer to a GET is a number. */
static bool take_number(const struct sender *sender, const struct http_answer *http, uint64_t *ret)
{
	return http->status / 100 == 2 &&
	       text_u64(text_trim((struct text){ sender->body.bytes, sender->body.length }), ret);
}

/* --- is it kept? --- */

/* All of the request is lost: the server keeps it for so many days. */
static void say_too_old(struct sender_answer *answer, const struct request_header *header,
			uint64_t date, uint64_t days)
{
	char line[sizeof(answer->said)];

	snprintf(line, sizeof(line),
		 "they are %" PRIu64 " days old by the clock of the server, which keeps them for "
		 "%" PRIu64 " days",
		 (date - header->time) / 86400, days);
	say(answer, line);
	answer->lost = header->count;
	answer->loss = SENDER_LOSS_OLD;
}

/* A server answers that it has taken rows, too, that it drops at once because they are older than
 * it keeps. So if the server has taken the request, and it is at least SINK_LIFETIME_LEAST old, ask
 * the server how many days it keeps such rows. If they are older, all are lost. The clock is that
 * of the server (`date`; 0: it did not say, then that of this host). If the answer is no number, as
 * to a user who may not know, nothing is lost. If there is no answer, it is unknown whether the
 * request has arrived: a later check asks this again. */
static struct sender_answer mind_lifetime(struct sender *sender,
					  const struct request_header *header, uint64_t date,
					  struct sender_answer answer)
{
	struct http_answer http = { 0 };
	struct error *err;
	uint64_t days;

	date = date ? date : (uint64_t)time(NULL);
	if (answer.outcome != SENDER_DONE || answer.lost || !header->lifetime.length ||
	    date < header->time || date - header->time < SINK_LIFETIME_LEAST)
		return answer;
	err = ask(sender, header, header->lifetime, &http);
	if (err) {
		answer = fail(err);
		answer.outcome = SENDER_UNKNOWN;
	} else if (http.status >= 500) {
		say_judgement(&answer, &http, &(struct sink_judgement){ 0 });
		answer.outcome = SENDER_UNKNOWN;
	} else if (take_number(sender, &http, &days) && days) {
		say_too_old(&answer, header, date, days);
	}
	return answer;
}

/* --- do others send? --- */

/* Nothing depends on the answer: without one, another request asks later. */
static bool has_others(struct sender *sender, const struct request_header *header)
{
	struct http_answer http = { 0 };
	struct error *err = ask(sender, header, header->others, &http);
	uint64_t number;

	if (!err)
		return take_number(sender, &http, &number) && number == 1;
	error_destroy(err);
	return false;
}

/* --- sending --- */

static struct sender_answer send_request(struct sender *sender, int fd,
					 const struct request_header *header)
{
	_cleanup_free_ char *url = make_url(sender->sink, header->target);
	struct http_answer http = { 0 };
	struct headers headers = { 0 };
	struct sender_answer answer = { 0 };
	struct sink_judgement judgement;
	struct error *err = &error_no_memory;

	sender->body.length = 0;
	if (url && add_headers(&headers, header)) {
		const struct http_request request = {
			.method = "POST",
			.url = url,
			.headers = (const char *const *)headers.lines,
			.header_count = headers.count,
			.body_fd = fd,
			.body_from = header->length,
			.take = take_body,
			.context = &sender->body,
			.wanted_header = sender->sink->type->answer_header,
		};

		err = http_client_send(sender->client, &request, &http);
	}
	headers_deinit(&headers);
	if (err)
		return fail(err);
	judge(sender, &http, &judgement);
	answer.outcome = outcomes[judgement.verdict];
	answer.lost = judgement.refused < header->count ? judgement.refused : header->count;
	say_judgement(&answer, &http, &judgement);
	answer = mind_lifetime(sender, header, http.date, answer);
	/* Not of checks, which something between here and the server may answer from its memory. */
	answer.ahead_s = http.ahead_s;
	answer.has_others = answer.outcome == SENDER_DONE && header->others.length &&
			    has_others(sender, header);
	return answer;
}

/* --- has a request arrived? --- */

/* Whether a server that has run for `up_s` seconds has started since the time of the request. Both
 * are compared as ages, which do not depend on the server's clock. If the clock of this host was
 * set back by more than the age of the request, the server may have started; if by less, the age is
 * too small, and a start may be missed.
 *
 * Checks that older versions wrote into the spool are answered 1 if the server has started since,
 * and otherwise 0, which no current check is. */
static bool has_started_since(uint64_t up_s, uint64_t time_s, uint64_t now_s)
{
	return up_s && (now_s < time_s || up_s <= now_s - time_s);
}

/* The answer is how many of the rows that the request has are there ("0": it has not arrived),
 * perhaps how many rows there are of its host and time, and for how many seconds the server has
 * run. Fewer rows than the request has are a part of it. False: the answer is no such numbers. */
static bool take_counts(struct text body, const struct request_header *header,
			struct sender_answer *ret)
{
	uint64_t numbers[] = { 0, UINT64_MAX, 0 }, own, all;
	struct text rest = text_trim(body), word;
	size_t got = 0;

	while (got < array_length(numbers) && text_cut(&rest, '\t', &word))
		if (!text_u64(word, &numbers[got++]))
			return false;
	if (!got || rest.length)
		return false;
	own = numbers[0];
	all = numbers[1];
	ret->has_restarted = has_started_since(numbers[2], header->time, (uint64_t)time(NULL));
	ret->outcome = own ? SENDER_DONE : SENDER_ABSENT;
	ret->found = all < header->count ? all : header->count;
	if (own && all < header->count) {
		ret->lost = header->count - all;
		ret->loss = SENDER_LOSS_PART;
	}
	return true;
}

static void judge_check(const struct sender *sender, const struct http_answer *http,
			const struct request_header *header, struct sender_answer *ret)
{
	struct sink_judgement judgement = { .verdict = SINK_WAITS };

	if (http->status / 100 != 2)
		judge(sender, http, &judgement);
	else if (!take_counts((struct text){ sender->body.bytes, sender->body.length }, header,
			      ret))
		snprintf(judgement.said, sizeof(judgement.said),
			 "the server answers no number to whether a request has arrived");
	else
		return;
	/* A check that is never answered must not stop what comes after it. */
	ret->outcome = judgement.verdict == SINK_REFUSED ||
				       (judgement.verdict == SINK_FAILED && http->status < 500)
			       ? SENDER_ABSENT
			       : SENDER_RETRY;
	say_judgement(ret, http, &judgement);
}

static struct sender_answer check_request(struct sender *sender,
					  const struct request_header *header)
{
	struct sender_answer answer = { 0 };
	struct http_answer http = { 0 };
	struct error *err;

	if (!header->check.length)
		return (struct sender_answer){ .outcome = SENDER_ABSENT };
	err = ask(sender, header, header->check, &http);
	if (err)
		return fail(err);
	judge_check(sender, &http, header, &answer);
	return mind_lifetime(sender, header, http.date, answer);
}

/* --- the sender --- */

static struct sender_answer do_job(struct sender *sender, const struct sender_job *job, int fd)
{
	struct request_header header;

	if (!request_header_read(fd, sender->header_bytes, &header))
		return (struct sender_answer){ .outcome = SENDER_DAMAGED };
	return job->kind == SENDER_CHECK ? check_request(sender, &header)
					 : send_request(sender, fd, &header);
}

static struct error *next_job(struct sender *sender, bool *ret_has_ended)
{
	struct sender_answer answer;
	struct sender_job job;
	size_t length, count;
	int fd;
	struct error *err =
		fd_channel_receive(sender->socket, &job, sizeof(job), &length, &fd, 1, &count);

	if (err)
		return err;
	*ret_has_ended = !length;
	if (!length)
		return NULL;
	if (!count)
		return error_create("a job without a file");
	alarm(sender->seconds);
	answer = do_job(sender, &job, fd);
	alarm(0);
	close(fd);
	return fd_channel_send(sender->socket, &answer, sizeof(answer), NULL, 0);
}

static int run_sender(const struct starter *starter, size_t sink, int socket)
{
	const struct http_client_options *http = &starter->options->http;
	static struct sender sender;
	bool has_ended = false;
	struct error *err;

	prctl(PR_SET_NAME, "ctprof-send");
	close(starter->socket);
	sender.sink = &starter->options->sinks[sink];
	sender.socket = socket;
	sender.seconds =
		(unsigned)((http->total_ns ? http->total_ns : TOTAL_NS) / NS_PER_S) + HANGS_SECONDS;
	err = server_sandbox_send();
	if (!err)
		err = http_client_open(http, &sender.client);
	while (!err && !has_ended)
		err = next_job(&sender, &has_ended);
	return err ? 1 : 0;
}

/* --- the starter --- */

static struct error *start_next(const struct starter *starter, bool *ret_has_ended)
{
	uint32_t sink;
	size_t length, count;
	int fd;
	pid_t child;
	struct error *err =
		fd_channel_receive(starter->socket, &sink, sizeof(sink), &length, &fd, 1, &count);

	if (err)
		return err;
	*ret_has_ended = !length;
	if (!length)
		return NULL;
	if (!count || length != sizeof(sink) || sink >= starter->options->sink_count)
		return error_create("malformed request for a sender");
	child = fork();
	/* Not _exit(), in which sanitizers make calls that the filter forbids. */
	if (!child)
		syscall(SYS_exit_group, run_sender(starter, sink, fd));
	/* If there is no child, the agent sees that the socket closes, and asks again later. */
	close(fd);
	return NULL;
}

/* Load what opens files, by making a client that is not used. */
static struct error *load(struct starter *starter, struct sender_options *options)
{
	struct http_client *client = NULL;
	struct error *err = NULL;

	if (options->http.netrc)
		err = confined_copy_file(options->http.netrc, &starter->netrc, starter->netrc_path);
	if (!err && options->http.ca_file)
		err = confined_copy_file(options->http.ca_file, &starter->ca_file,
					 starter->ca_path);
	if (err)
		return err;
	options->http.netrc = options->http.netrc ? starter->netrc_path : NULL;
	options->http.ca_file = options->http.ca_file ? starter->ca_path : NULL;
	err = http_client_open(&options->http, &client);
	http_client_close(client);
	if (!err)
		confined_load_resolver();
	return err;
}

static struct error *confine(struct starter *starter)
{
	const struct rlimit memory = { starter->options->memory_most,
				       starter->options->memory_most };
	int kept[3], count = 0;

	kept[count++] = starter->socket;
	if (starter->netrc >= 0)
		kept[count++] = starter->netrc;
	if (starter->ca_file >= 0)
		kept[count++] = starter->ca_file;
	/* No zombies. */
	signal(SIGCHLD, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	if (starter->options->memory_most != UINT64_MAX && setrlimit(RLIMIT_DATA, &memory))
		return error_system(errno, "cannot limit a process");
	return server_sandbox_enter(SERVER_STARTS, kept, (size_t)count);
}

static int run_starter(const struct sender_options *given, int socket)
{
	struct sender_options options = *given;
	struct starter starter = {
		.options = &options, .socket = socket, .netrc = -1, .ca_file = -1
	};
	bool has_ended = false;
	struct error *err;

	prctl(PR_SET_NAME, "ctprof-starter");
	for (size_t i = 0; i < INTERRUPTS_COUNT; i++)
		signal(interrupts_numbers[i], SIG_IGN);
	err = load(&starter, &options);
	if (!err)
		err = confine(&starter);
	if (err) {
		send(socket, err->message, strlen(err->message), MSG_NOSIGNAL);
		return 1;
	}
	/* It is ready. */
	if (send(socket, "", 1, MSG_NOSIGNAL) != 1)
		return 1;
	while (!err && !has_ended)
		err = start_next(&starter, &has_ended);
	return err ? 1 : 0;
}

/* --- for the agent --- */

static struct error *wait_until_ready(int socket)
{
	char message[1024];
	ssize_t length;

	do
		length = recv(socket, message, sizeof(message) - 1, 0);
	while (length < 0 && errno == EINTR);
	if (length <= 0)
		return error_create("the process that starts senders has ended");
	message[length] = '\0';
	text_make_safe(message);
	return message[0] ? error_create("%s", message) : NULL;
}

struct error *senders_open(const struct sender_options *options, int *ret)
{
	_cleanup_close_ int mine = -1;
	int sockets[2];
	pid_t child;
	struct error *err;

	err = fd_channel_open(sockets);
	if (err)
		return err;
	mine = sockets[0];
	child = fork();
	if (!child) {
		close(sockets[0]);
		syscall(SYS_exit_group, run_starter(options, sockets[1]));
	}
	close(sockets[1]);
	if (child < 0)
		return error_system(errno, "cannot start a process");
	err = wait_until_ready(mine);
	if (err)
		return err;
	*ret = take_fd(mine);
	return NULL;
}

struct error *sender_start(int starter, size_t sink, int *ret)
{
	const uint32_t message = (uint32_t)sink;
	int sockets[2];
	struct error *err = fd_channel_open(sockets);

	if (err)
		return err;
	err = fd_channel_send(starter, &message, sizeof(message), &sockets[1], 1);
	close(sockets[1]);
	if (!err && fcntl(sockets[0], F_SETFL, O_NONBLOCK))
		err = error_system(errno, "cannot make a socket");
	if (err)
		close(sockets[0]);
	else
		*ret = sockets[0];
	return err;
}

bool sender_receive(int socket, struct sender_answer *ret)
{
	struct sender_answer answer;
	ssize_t length;

	do
		length = recv(socket, &answer, sizeof(answer), MSG_DONTWAIT | MSG_TRUNC);
	while (length < 0 && errno == EINTR);
	if (length != sizeof(answer) || answer.outcome >= SENDER_OUTCOMES ||
	    answer.loss >= SENDER_LOSSES || !memchr(answer.said, 0, sizeof(answer.said)))
		return false;
	text_make_safe(answer.said);
	*ret = answer;
	return true;
}
