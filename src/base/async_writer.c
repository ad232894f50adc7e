/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/async_writer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A buffer takes what a JSON writer hands over at a time. */
#define BUFFER_BYTES ((size_t)128 * 1024)
#define BUFFERS      3

struct buffer {
	size_t length;
	char bytes[BUFFER_BYTES];
};

struct async_writer {
	zstream_sink next;
	void *context;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	size_t filled, emptied; /* buffers since the start */
	bool ended;
	struct error *error; /* of the next sink */
	struct buffer buffers[BUFFERS];
};

static void *write_buffers(void *argument)
{
	struct async_writer *writer = argument;

	pthread_mutex_lock(&writer->lock);
	for (;;) {
		const struct buffer *buffer = &writer->buffers[writer->emptied % BUFFERS];
		struct error *err = NULL;

		while (writer->filled == writer->emptied && !writer->ended)
			pthread_cond_wait(&writer->changed, &writer->lock);
		if (writer->filled == writer->emptied)
			break;
		pthread_mutex_unlock(&writer->lock);
		if (!writer->error)
			err = writer->next(writer->context, buffer->bytes, buffer->length);
		pthread_mutex_lock(&writer->lock);
		if (err)
			writer->error = err;
		writer->emptied++;
		pthread_cond_signal(&writer->changed);
	}
	pthread_mutex_unlock(&writer->lock);
	return NULL;
}

static void release_writer(struct async_writer *writer)
{
	pthread_cond_destroy(&writer->changed);
	pthread_mutex_destroy(&writer->lock);
	free(writer);
}

struct error *async_writer_open(zstream_sink next, void *context, struct async_writer **ret)
{
	struct async_writer *writer = malloc(sizeof(*writer));
	int failed;

	if (!writer)
		return &error_no_memory;
	writer->next = next;
	writer->context = context;
	writer->filled = writer->emptied = 0;
	writer->ended = false;
	writer->error = NULL;
	pthread_mutex_init(&writer->lock, NULL);
	pthread_cond_init(&writer->changed, NULL);
	failed = pthread_create(&writer->thread, NULL, write_buffers, writer);
	if (failed) {
		release_writer(writer);
		return error_system(failed, "a thread");
	}
	*ret = writer;
	return NULL;
}

/* The producer learns that it need not go on; async_writer_close returns the error of the sink. */
static struct error *fill_buffer(struct async_writer *writer, const char *bytes, size_t length)
{
	struct buffer *buffer = &writer->buffers[writer->filled % BUFFERS];
	bool failed;

	pthread_mutex_lock(&writer->lock);
	while (writer->filled - writer->emptied == BUFFERS)
		pthread_cond_wait(&writer->changed, &writer->lock);
	failed = writer->error != NULL;
	pthread_mutex_unlock(&writer->lock);
	if (failed)
		return error_create("the next sink has failed");
	memcpy(buffer->bytes, bytes, length);
	buffer->length = length;
	pthread_mutex_lock(&writer->lock);
	writer->filled++;
	pthread_cond_signal(&writer->changed);
	pthread_mutex_unlock(&writer->lock);
	return NULL;
}

struct error *async_writer_write(void *context, const void *bytes, size_t length)
{
	const char *at = bytes;
	struct error *err = NULL;

	while (length && !err) {
		size_t piece = length < BUFFER_BYTES ? length : BUFFER_BYTES;

		err = fill_buffer(context, at, piece);
		at += piece;
		length -= piece;
	}
	return err;
}

struct error *async_writer_close(struct async_writer *writer, struct error *before)
{
	struct error *err;

	if (!writer)
		return before;
	pthread_mutex_lock(&writer->lock);
	writer->ended = true;
	pthread_cond_signal(&writer->changed);
	pthread_mutex_unlock(&writer->lock);
	pthread_join(writer->thread, NULL);
	err = writer->error;
	release_writer(writer);
	if (!err)
		return before;
	error_destroy(before);
	return err;
}
