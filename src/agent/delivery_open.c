/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "agent/delivery_internal.h"

#define RETRY_NS    NS_PER_S /* the shortest time until another attempt */
#define MEMORY_MOST ((uint64_t)128 << 20)

struct error *delivery_check(const struct delivery_options *options)
{
	if (options->sink_count > DELIVERY_SINKS_MOST)
		return error_create("more than %d sinks", DELIVERY_SINKS_MOST);
	for (size_t i = 0; i < options->sink_count; i++) {
		const char *folder = options->sinks[i].folder;

		if (!*folder || strlen(folder) >= DELIVERY_SINK_NAME_SIZE ||
		    strspn(folder, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(folder))
			return error_create(
				"the folder of a sink is not of letters, digits and '-'");
		for (size_t j = 0; j < i; j++)
			if (strings_equal(folder, options->sinks[j].folder))
				return error_create("%s and %s are the same store",
						    options->sinks[j].name, options->sinks[i].name);
	}
	return NULL;
}

static struct error *open_spool(struct delivery *d, const struct delivery_options *options)
{
	struct spool_sink folders[DELIVERY_SINKS_MOST];
	const struct spool_options spool = {
		.path = options->spool,
		.most = options->spool_most,
		.sinks = folders,
		.sink_count = options->sink_count,
	};
	struct error *err;
	size_t strange;

	for (size_t i = 0; i < options->sink_count; i++)
		folders[i] =
			(struct spool_sink){ options->sinks[i].folder, options->sinks[i].name };
	err = spool_open(&spool, &d->spool);
	if (err)
		return error_prefix(err, "spool");
	strange = spool_strange_folders(d->spool);
	if (strange)
		delivery_say(
			d,
			"%s: requests of %zu store%s that %s not configured are kept and not sent",
			options->spool, strange, plural(strange), strange == 1 ? "is" : "are");
	return NULL;
}

static struct error *open_senders(struct delivery *d, const struct delivery_options *options)
{
	struct sender_sink sinks[DELIVERY_SINKS_MOST];
	const struct sender_options senders = {
		.sinks = sinks,
		.sink_count = options->sink_count,
		.http = { .netrc = options->netrc,
			  .ca_file = options->ca_file,
			  .total_ns = options->total_ns,
			  .stalled_ns = options->stalled_ns },
		.memory_most = options->memory_most ? options->memory_most : MEMORY_MOST,
	};

	if (!options->sink_count)
		return NULL;
	for (size_t i = 0; i < options->sink_count; i++)
		sinks[i] = (struct sender_sink){ options->sinks[i].url, options->sinks[i].type };
	return senders_open(&senders, &d->starter);
}

static struct error *open_events(struct delivery *d)
{
	struct epoll_event event = { .events = EPOLLIN };

	d->epoll = epoll_create1(EPOLL_CLOEXEC);
	d->timer = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	if (d->epoll < 0 || d->timer < 0 || epoll_ctl(d->epoll, EPOLL_CTL_ADD, d->timer, &event) ||
	    (d->starter >= 0 && epoll_ctl(d->epoll, EPOLL_CTL_ADD, d->starter, &event)))
		return error_system(errno, "cannot wait for senders");
	return NULL;
}

/* The previous agent may have ended while it sent the first request of a sink: check whether that
 * request has arrived before it is sent. */
static void resume(struct delivery *d)
{
	for (size_t i = 0; i < d->count; i++)
		if (spool_count(d->spool, i)) {
			delivery_settle(d, &d->channels[i], true);
			d->channels[i].is_second_uncertain = true;
			d->channels[i].due_ns = delivery_now() + d->retry_ns;
		}
	delivery_set_timer(d);
}

struct error *delivery_open(const struct delivery_options *options, struct delivery **ret)
{
	struct error *err = delivery_check(options);
	struct delivery *d;

	if (err)
		return err;
	d = calloc(1, sizeof(*d) + options->sink_count * sizeof(d->channels[0]));
	if (!d)
		return &error_no_memory;
	d->starter = d->epoll = d->timer = -1;
	d->count = options->sink_count;
	d->say = options->say;
	d->context = options->context;
	d->host = options->host;
	d->path = options->spool;
	d->retry_ns = options->retry_ns ? options->retry_ns : RETRY_NS;
	for (size_t i = 0; i < d->count; i++)
		d->channels[i] =
			(struct delivery_channel){ .sink = options->sinks[i], .socket = -1 };
	for (size_t i = 0; i < d->count; i++)
		delivery_set_title(d, &d->channels[i]);
	/* Before the spool is open, which senders have nothing to do with. */
	err = open_senders(d, options);
	if (!err)
		err = open_spool(d, options);
	if (!err)
		err = open_events(d);
	if (err) {
		delivery_close(d);
		return err;
	}
	resume(d);
	*ret = d;
	return NULL;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void delivery_close(struct delivery *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->count; i++)
		delivery_end_sender(&d->channels[i]);
	close_fd(d->starter);
	close_fd(d->timer);
	close_fd(d->epoll);
	array_deinit(&d->handed);
	spool_close(d->spool);
	free(d);
}
