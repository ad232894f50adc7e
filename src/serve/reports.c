/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/reports.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_writer.h"
#include "report/page.h"
#include "serve/report_worker.h"
#include "serve/web.h"

/* How much of a page is sent at a time. */
#define PIECE        ((size_t)64 * 1024)

#define MESSAGE_MOST 512

/* A page in a sandbox has no origin, so its scripts cannot reach any server. */
#define SANDBOX "; frame-ancestors 'none'; sandbox allow-scripts"

struct report_request {
	struct report_request *next; /* younger */
	struct reports *reports;
	struct http_exchange *exchange; /* NULL: the client has gone */
	struct uploaded_file *files[REPORT_FILES_MOST];
	size_t count;
	bool is_done;
	struct error *error;   /* why there is no page */
	char id[FILE_ID_SIZE]; /* of the page */
};

/* --- requests --- */

static void release_files(struct report_request *request)
{
	for (size_t i = 0; i < request->count; i++)
		request->files[i]->users--;
	request->count = 0;
}

static void unlink_request(struct report_request *request)
{
	struct report_request **at = &request->reports->oldest;

	while (*at && *at != request)
		at = &(*at)->next;
	if (*at)
		*at = request->next;
}

static void free_request(struct report_request *request)
{
	release_files(request);
	error_destroy(request->error);
	free(request);
}

static bool is_running(const struct report_request *request)
{
	return request->reports->is_running && request->reports->oldest == request;
}

/* Called when the client has received its answer, or has disconnected. */
static void leave_request(void *kept)
{
	struct report_request *request = kept;

	request->exchange = NULL;
	if (is_running(request))
		return;
	unlink_request(request);
	free_request(request);
}

/* Takes ownership of the error; NULL: the page is there. */
static void finish(struct report_request *request, struct error *err)
{
	unlink_request(request);
	release_files(request);
	request->is_done = true;
	request->error = err;
	if (!request->exchange)
		free_request(request);
}

/* --- jobs --- */

static void lose_worker(struct reports *reports)
{
	if (reports->worker >= 0)
		close(reports->worker);
	reports->worker = -1;
	reports->is_running = false;
	while (reports->oldest)
		finish(reports->oldest,
		       error_create("the process that makes reports has ended: restart ctprof "
				    "serve"));
}

static struct error *send_job(const struct reports *reports, const struct report_request *request)
{
	struct report_job job = { .count = (uint32_t)request->count };
	int fds[REPORT_FILES_MOST];

	static_assert(sizeof(job.names[0]) == sizeof(request->files[0]->name),
		      "names of files fit into jobs");
	for (size_t i = 0; i < request->count; i++) {
		memcpy(job.names[i], request->files[i]->name, sizeof(job.names[i]));
		fds[i] = request->files[i]->fd;
	}
	return fd_channel_send(reports->worker, &job, sizeof(job), fds, request->count);
}

static void run_next(struct reports *reports)
{
	struct error *err;

	if (reports->is_running || !reports->oldest)
		return;
	err = send_job(reports, reports->oldest);
	reports->is_running = !err;
	if (err)
		lose_worker(reports);
	error_destroy(err);
}

static struct error *error_of(const struct report_result *result, int fd)
{
	char message[MESSAGE_MOST];
	ssize_t length;

	if (result->signal)
		return report_signal_error(result->signal);
	length = pread(fd, message, sizeof(message) - 1, 0);
	if (length <= 0)
		return error_create("the report failed");
	message[length] = '\0';
	return error_coded(EBADMSG, "%s", message);
}

/* Takes ownership of the descriptor. */
static struct error *keep_page(struct reports *reports, struct report_request *request, int fd)
{
	struct uploaded_file *page;
	struct error *err;

	/* The page may evict older files, also those that it was made from. */
	release_files(request);
	err = file_store_add_page(&reports->files, fd, &page);
	if (!err)
		memcpy(request->id, page->id, sizeof(page->id));
	return err;
}

static struct error *take_result(struct reports *reports, const struct report_result *result,
				 int fd)
{
	struct error *err;

	if (!result->has_failed)
		return keep_page(reports, reports->oldest, fd);
	err = error_of(result, fd);
	close(fd);
	return err;
}

bool reports_take(struct reports *reports)
{
	struct report_result result;
	size_t length, count;
	int fd = -1;
	struct error *err = fd_channel_receive(reports->worker, &result, sizeof(result), &length,
					       &fd, 1, &count);

	if (err || length != sizeof(result) || count != 1 || !reports->is_running) {
		error_destroy(err);
		if (!err && count)
			close(fd);
		lose_worker(reports);
		return true;
	}
	reports->is_running = false;
	finish(reports->oldest, take_result(reports, &result, fd));
	run_next(reports);
	return true;
}

/* --- POST /api/report --- */

static struct error *find_files(struct reports *reports, struct report_request *request,
				const char *ids)
{
	struct text rest = text_of(ids), id;

	while (text_cut(&rest, ',', &id)) {
		struct uploaded_file *file = file_store_find(&reports->files, id, FILE_SENT);

		if (!file)
			return error_coded(ENOENT,
					   "no file has the id '%.40s': files are kept until "
					   "others need the room",
					   ids);
		if (request->count == REPORT_FILES_MOST)
			return error_coded(EINVAL, "more than %d files", REPORT_FILES_MOST);
		request->files[request->count++] = file;
		file->users++;
	}
	return NULL;
}

static struct error *find_turn(const struct reports *reports, const struct http_exchange *exchange)
{
	unsigned count = 0;

	if (reports->worker < 0)
		return error_create("the process that makes reports has ended");
	for (const struct report_request *i = reports->oldest; i; i = i->next) {
		if (i->exchange && http_same_address(i->exchange, exchange))
			return error_coded(EDQUOT, "another report for this address is being made");
		count++;
	}
	return count < REPORTS_MOST ? NULL : error_coded(EBUSY, "too many reports are being made");
}

static void append(struct reports *reports, struct report_request *request)
{
	struct report_request **at = &reports->oldest;

	while (*at)
		at = &(*at)->next;
	*at = request;
}

static struct error *begin_report(struct http_exchange *exchange, struct reports *reports)
{
	const char *ids = http_query(exchange, "files");
	struct report_request *request;
	struct error *err = ids && *ids ? find_turn(reports, exchange)
					: error_coded(EINVAL, "files=ID,ID is missing");

	if (err)
		return err;
	request = malloc(sizeof(*request));
	if (!request)
		return &error_no_memory;
	*request = (struct report_request){ .reports = reports, .exchange = exchange };
	err = find_files(reports, request, ids);
	if (err) {
		free_request(request);
		return err;
	}
	http_keep(exchange, request, leave_request);
	append(reports, request);
	run_next(reports);
	return NULL;
}

static struct error *write_id(struct http_exchange *exchange, const char *id)
{
	_cleanup_(json_writer_deinit) struct json_writer w = { 0 };
	struct error *err = json_writer_init(&w, http_write, exchange);

	if (err)
		return err;
	http_status(exchange, 201);
	json_object_begin(&w);
	json_key(&w, "id");
	json_string(&w, id);
	json_object_end(&w);
	json_document_end(&w);
	return json_writer_finish(&w);
}

struct error *answer_report(struct http_exchange *exchange, void *context, enum http_step *ret)
{
	struct report_request *request = http_kept(exchange);
	struct error *err = NULL;

	*ret = HTTP_DONE;
	if (!request)
		err = begin_report(exchange, &((struct web *)context)->reports);
	if (err)
		return err;
	request = http_kept(exchange);
	if (!request->is_done) {
		*ret = HTTP_LATER;
		return NULL;
	}
	return request->error ? take_ptr(request->error) : write_id(exchange, request->id);
}

/* --- GET /api/report/ID --- */

struct page_reader {
	struct uploaded_file *page;
	uint64_t at;
};

static void close_reader(void *kept)
{
	struct page_reader *reader = kept;

	reader->page->users--;
	free(reader);
}

static struct error *begin_page(struct http_exchange *exchange, const struct reports *reports,
				struct page_reader **ret)
{
	struct uploaded_file *page =
		file_store_find(&reports->files, text_of(http_rest(exchange)), FILE_PAGE);
	const char *const headers[][2] = {
		{ "Content-Security-Policy", reports->policy },
		/* Browsers do not load a sandboxed page that has any other opener policy. */
		{ "Cross-Origin-Opener-Policy", "unsafe-none" },
		{ "Cache-Control", "no-store" },
	};
	struct page_reader *reader;
	struct error *err = NULL;

	if (!page)
		return error_coded(ENOENT, "no such report: reports are kept until others need "
					   "the room");
	reader = malloc(sizeof(*reader));
	if (!reader)
		return &error_no_memory;
	*reader = (struct page_reader){ .page = page };
	page->users++;
	http_keep(exchange, reader, close_reader);
	*ret = reader;
	http_type(exchange, "text/html; charset=utf-8");
	for (size_t i = 0; !err && i < array_length(headers); i++)
		err = http_add_header(exchange, headers[i][0], headers[i][1]);
	return err;
}

struct error *answer_page(struct http_exchange *exchange, void *context, enum http_step *ret)
{
	struct page_reader *reader = http_kept(exchange);
	struct error *err = NULL;
	char piece[PIECE];
	ssize_t length;

	*ret = HTTP_DONE;
	if (!reader)
		err = begin_page(exchange, &((struct web *)context)->reports, &reader);
	if (err)
		return err;
	length = pread(reader->page->fd, piece, sizeof(piece), (off_t)reader->at);
	if (length < 0)
		return error_system(errno, "cannot read the report");
	reader->at += (uint64_t)length;
	if (length && reader->at < reader->page->bytes)
		*ret = HTTP_AGAIN;
	return http_write(exchange, piece, (size_t)length);
}

/* --- all of it --- */

struct error *reports_init(struct reports *reports, int worker)
{
	size_t length;
	FILE *out = open_memstream(&reports->policy, &length);

	reports->worker = worker;
	if (!out)
		return &error_no_memory;
	page_print_policy(out, &html_page_policy);
	fputs(SANDBOX, out);
	return file_close_memory(out, &reports->policy) ? NULL : &error_no_memory;
}

void reports_deinit(struct reports *reports)
{
	lose_worker(reports);
	file_store_deinit(&reports->files);
	free(reports->policy);
}
