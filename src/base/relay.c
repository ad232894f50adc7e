/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/relay.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* What a JSON writer hands over at a time goes into one of these. */
#define BASKET_BYTES ((size_t)128 * 1024)
#define BASKETS      3

struct basket {
	size_t length;
	char bytes[BASKET_BYTES];
};

struct relay {
	zstream_sink next;
	void *context;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	size_t filled, emptied; /* how many baskets were, ever */
	bool ended;
	struct error *error; /* of the next sink */
	struct basket baskets[BASKETS];
};

static void *take_on(void *argument)
{
	struct relay *relay = argument;

	pthread_mutex_lock(&relay->lock);
	for (;;) {
		const struct basket *basket = &relay->baskets[relay->emptied % BASKETS];
		struct error *err = NULL;

		while (relay->filled == relay->emptied && !relay->ended)
			pthread_cond_wait(&relay->changed, &relay->lock);
		if (relay->filled == relay->emptied)
			break;
		pthread_mutex_unlock(&relay->lock);
		if (!relay->error)
			err = relay->next(relay->context, basket->bytes, basket->length);
		pthread_mutex_lock(&relay->lock);
		if (err)
			relay->error = err;
		relay->emptied++;
		pthread_cond_signal(&relay->changed);
	}
	pthread_mutex_unlock(&relay->lock);
	return NULL;
}

static void release(struct relay *relay)
{
	pthread_cond_destroy(&relay->changed);
	pthread_mutex_destroy(&relay->lock);
	free(relay);
}

struct error *relay_open(zstream_sink next, void *context, struct relay **ret)
{
	struct relay *relay = malloc(sizeof(*relay));
	int failed;

	if (!relay)
		return &error_no_memory;
	relay->next = next;
	relay->context = context;
	relay->filled = relay->emptied = 0;
	relay->ended = false;
	relay->error = NULL;
	pthread_mutex_init(&relay->lock, NULL);
	pthread_cond_init(&relay->changed, NULL);
	failed = pthread_create(&relay->thread, NULL, take_on, relay);
	if (failed) {
		release(relay);
		return error_system(failed, "a thread");
	}
	*ret = relay;
	return NULL;
}

/* The writer learns that it need not go on; what went wrong is told by relay_close. */
static struct error *put_basket(struct relay *relay, const char *bytes, size_t length)
{
	struct basket *basket = &relay->baskets[relay->filled % BASKETS];
	bool failed;

	pthread_mutex_lock(&relay->lock);
	while (relay->filled - relay->emptied == BASKETS)
		pthread_cond_wait(&relay->changed, &relay->lock);
	failed = relay->error != NULL;
	pthread_mutex_unlock(&relay->lock);
	if (failed)
		return error_create("what was written could not be taken on");
	memcpy(basket->bytes, bytes, length);
	basket->length = length;
	pthread_mutex_lock(&relay->lock);
	relay->filled++;
	pthread_cond_signal(&relay->changed);
	pthread_mutex_unlock(&relay->lock);
	return NULL;
}

struct error *relay_write(void *context, const void *bytes, size_t length)
{
	const char *at = bytes;
	struct error *err = NULL;

	while (length && !err) {
		size_t piece = length < BASKET_BYTES ? length : BASKET_BYTES;

		err = put_basket(context, at, piece);
		at += piece;
		length -= piece;
	}
	return err;
}

struct error *relay_close(struct relay *relay, struct error *before)
{
	struct error *err;

	if (!relay)
		return before;
	pthread_mutex_lock(&relay->lock);
	relay->ended = true;
	pthread_cond_signal(&relay->changed);
	pthread_mutex_unlock(&relay->lock);
	pthread_join(relay->thread, NULL);
	err = relay->error;
	release(relay);
	if (!err)
		return before;
	error_destroy(before);
	return err;
}
