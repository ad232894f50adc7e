/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * POST /api/files: receives files of clients.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json_writer.h"
#include "serve/web.h"

/* An upload in progress. */
struct upload {
	struct upload *next; /* one that began earlier */
	struct reports *reports;
	struct http_exchange *exchange;
	struct uploaded_file *file; /* NULL: it was dropped for another upload */
	uint64_t since_ns;          /* CLOCK_MONOTONIC */
};

static void unlink_upload(struct upload *upload)
{
	struct upload **at = &upload->reports->uploads;

	while (*at && *at != upload)
		at = &(*at)->next;
	if (*at)
		*at = upload->next;
}

static void destroy_upload(void *kept)
{
	struct upload *upload = kept;

	unlink_upload(upload);
	if (upload->file && !upload->file->is_whole)
		file_store_drop(&upload->reports->files, upload->file);
	free(upload);
}

/* The upload that must end before another one of this client may begin; NULL: none. */
static struct upload *obstacle_of(const struct reports *reports,
				  const struct http_exchange *exchange)
{
	struct upload *first = NULL;
	unsigned count = 0;

	for (struct upload *i = reports->uploads; i; i = i->next) {
		if (http_same_address(i->exchange, exchange))
			return i;
		first = i;
		count++;
	}
	return count >= UPLOADS_MOST ? first : NULL;
}

static void end_upload(struct upload *upload)
{
	http_end(upload->exchange);
	unlink_upload(upload);
	file_store_drop(&upload->reports->files, upload->file);
	upload->file = NULL;
}

/* May an upload of this client begin? End a slow one that is in its way. */
static struct error *find_turn(struct reports *reports, const struct http_exchange *exchange)
{
	struct upload *obstacle = obstacle_of(reports, exchange);

	if (!obstacle)
		return NULL;
	if (clock_ns(CLOCK_MONOTONIC) - obstacle->since_ns < UPLOAD_SLOW_NS)
		return http_same_address(obstacle->exchange, exchange)
			       ? error_coded(EDQUOT, "another file of this address is being sent")
			       : error_coded(EBUSY, "too many files are being sent");
	end_upload(obstacle);
	return NULL;
}

static struct error *begin(struct http_exchange *exchange, void *context, uint64_t length)
{
	struct reports *reports = &((struct web *)context)->reports;
	const char *name = http_query(exchange, "name");
	struct error *err =
		length ? find_turn(reports, exchange) : error_coded(EINVAL, "the file is empty");
	struct uploaded_file *file = NULL;
	struct upload *upload;

	if (!err)
		err = file_store_begin(&reports->files, name ? name : "", length, &file);
	if (err)
		return err;
	upload = malloc(sizeof(*upload));
	if (!upload) {
		file_store_drop(&reports->files, file);
		return &error_no_memory;
	}
	*upload = (struct upload){
		.next = reports->uploads,
		.reports = reports,
		.exchange = exchange,
		.file = file,
		.since_ns = clock_ns(CLOCK_MONOTONIC),
	};
	reports->uploads = upload;
	http_keep(exchange, upload, destroy_upload);
	return NULL;
}

static struct error *take(struct http_exchange *exchange, void *context, struct text piece)
{
	struct upload *upload = http_kept(exchange);

	(void)context;
	return upload->file ? kept_file_write(upload->file, piece)
			    : error_create("the upload was ended to begin another one");
}

const struct http_upload upload_file = { begin, take };

struct error *answer_uploaded(struct http_exchange *exchange, void *context, enum http_step *ret)
{
	const struct upload *upload = http_kept(exchange);
	_cleanup_(json_writer_deinit) struct json_writer w = { 0 };
	struct error *err;

	(void)context;
	*ret = HTTP_DONE;
	if (!upload || !upload->file || !kept_file_is_whole(upload->file))
		return error_coded(EINVAL, "the file is incomplete");
	http_status(exchange, 201);
	err = json_writer_init(&w, http_write, exchange);
	if (err)
		return err;
	json_object_begin(&w);
	json_key(&w, "id");
	json_string(&w, upload->file->id);
	json_key(&w, "name");
	json_string(&w, upload->file->name);
	json_key(&w, "bytes");
	json_u64(&w, upload->file->bytes);
	json_object_end(&w);
	json_document_end(&w);
	return json_writer_finish(&w);
}
