/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * deliver SPOOL BYTES NUMBERS URL...: what the agent does with its requests, without
 * measuring: make requests with numbers for the sinks sink-0, sink-1, ... and deliver them.
 *
 * It makes a request for each sink at each line "add COUNT BYTES" of standard input (so many, with
 * bodies of so many bytes), and ends at "end"; at "drain" it waits as the agent does at its end, at
 * "finish" until all is sent.
 * "insert AGE COUNT" adds an INSERT of so many rows of samples, of a time so many seconds ago, into
 * the database `fleet` for the first sink. "loads TIME COUNT" adds so many intervals of ten seconds
 * from this time on, and another one that asks whether others have sent such. The numbers of
 * requests count on from those in the file NUMBERS, one byte for each that was added. The body of a
 * request begins with its number, its target is "?id=SINK-NUMBER", and its check
 * "?check=SINK-NUMBER", its lifetime
 * "?lifetime=SINK-NUMBER". Answers are judged as those of ClickHouse, or of OTLP for a sink
 * "otlp=URL". A sink "keeps=URL" keeps losses. Losses are printed as "lost SINK COUNT WHAT: WHY",
 * and what waits as "waiting REQUESTS BYTES", each time after "state".
 */
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/delivery.h"
#include "agent/insert.h"
#include "base/clock.h"

static struct delivery *delivery;
static size_t sink_count;
static uint64_t next_number = 1;
static int numbers;

static void end_with(struct error *err)
{
	if (!err)
		return;
	fprintf(stderr, "deliver: %s\n", err->message);
	exit(1);
}

static void say(void *context, const char *line)
{
	(void)context;
	printf("said %s\n", line);
	fflush(stdout);
}

static void add(uint64_t count, size_t bytes)
{
	char *body = malloc(bytes + 32);

	while (body && count--) {
		char target[64], check[64], lifetime[64];

		/* First, so that a number is never used twice. */
		if (write(numbers, "x", 1) != 1)
			exit(1);
		for (size_t sink = 0; sink < sink_count; sink++) {
			struct sink_request request = {
				.target = target,
				.content_type = "text/plain",
				.check = check,
				.lifetime = lifetime,
				/* The begin of an interval. */
				.time = clock_ns(CLOCK_REALTIME) / NS_PER_S - 10,
				.what = "requests of the test",
				.sums = "sums of the test",
				.count = 1,
			};

			snprintf(target, sizeof(target), "?id=%zu-%" PRIu64, sink, next_number);
			snprintf(check, sizeof(check), "?check=%zu-%" PRIu64, sink, next_number);
			snprintf(lifetime, sizeof(lifetime), "?lifetime=%zu-%" PRIu64, sink,
				 next_number);
			memset(body, 'b', bytes + 32);
			snprintf(body, 32, "%" PRIu64, next_number);
			request.body = (struct text){ body, bytes + 32 };
			end_with(delivery_add(delivery, sink, &request));
		}
		next_number++;
	}
	free(body);
}

static void insert(uint64_t age, uint64_t count)
{
	static struct delivery_target target;
	struct insert insert = {
		.database = "fleet",
		.host = TEXT("deliver"),
		.t = clock_ns(CLOCK_REALTIME) / NS_PER_S - age,
		.emit = delivery_emit,
		.context = &target,
	};
	union store_value values[SAMPLES_COUNT] = { 0 };

	values[SAMPLES_host].text = insert.host;
	values[SAMPLES_t].number = insert.t;
	target.delivery = delivery;
	end_with(insert_begin(&insert, STORE_TABLE_samples));
	while (count--) {
		values[SAMPLES_ns].number = count + 1;
		end_with(insert_row(&insert, values));
	}
	end_with(insert_end(&insert));
	insert_deinit(&insert);
}

static void add_load(struct insert *insert)
{
	const union store_value values[LOADS_COUNT] = {
		[LOADS_host] = { .text = insert->host },
		[LOADS_t] = { insert->t },
		[LOADS_ms] = { 10000 },
		[LOADS_cpu_ns] = { (uint64_t)getpid() },
	};

	end_with(insert_begin(insert, STORE_TABLE_loads));
	end_with(insert_row(insert, values));
	end_with(insert_end(insert));
}

static void add_loads(uint64_t begin, uint64_t count)
{
	static struct delivery_target target;
	struct insert insert = {
		.database = "fleet",
		.host = TEXT("it's"),
		.t = begin,
		.emit = delivery_emit,
		.context = &target,
	};

	target.delivery = delivery;
	for (; count--; insert.t += 10)
		add_load(&insert);
	insert.others_from = begin;
	insert.others_to = insert.t;
	add_load(&insert);
	insert_deinit(&insert);
}

static void print_state(void)
{
	const struct delivery_waiting waiting = delivery_waiting(delivery);
	size_t count;
	const struct agent_loss *losses = delivery_losses(delivery, &count);
	struct rusage usage;

	printf("state\n");
	for (size_t i = 0; i < count; i++)
		printf("lost %s %" PRIu64 " %s: %s\n", losses[i].sink, losses[i].count,
		       losses[i].what, losses[i].why);
	printf("waiting %" PRIu64 " %" PRIu64 "\n", waiting.requests, waiting.bytes);
	getrusage(RUSAGE_SELF, &usage);
	printf("cpu %ld.%06ld\n", usage.ru_utime.tv_sec + usage.ru_stime.tv_sec,
	       (long)((usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) % 1000000));
	fflush(stdout);
}

/* Also while sinks fail. */
static void finish(void)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + 60 * NS_PER_S;

	while (delivery_waiting(delivery).requests && clock_ns(CLOCK_MONOTONIC) < until) {
		struct pollfd poll_fd = { .fd = delivery_fd(delivery), .events = POLLIN };

		poll(&poll_fd, 1, 1000);
		end_with(delivery_poll(delivery));
	}
}

static void drain(void)
{
	end_with(delivery_drain(delivery, 60 * NS_PER_S));
	delivery_tell_of_waiting(delivery);
}

/* Returns whether there is more to do. */
static bool obey(const char *line)
{
	uint64_t count, rows;
	size_t bytes;

	if (sscanf(line, "add %" SCNu64 " %zu", &count, &bytes) == 2)
		add(count, bytes);
	else if (sscanf(line, "insert %" SCNu64 " %" SCNu64, &count, &rows) == 2)
		insert(count, rows);
	else if (sscanf(line, "loads %" SCNu64 " %" SCNu64, &count, &rows) == 2)
		add_loads(count, rows);
	else if (!strncmp(line, "state", 5))
		print_state();
	else if (!strncmp(line, "finish", 6))
		finish();
	else if (!strncmp(line, "drain", 5))
		drain();
	else
		return false;
	return true;
}

static void run(void)
{
	char line[256];
	size_t used = 0;

	for (;;) {
		struct pollfd fds[] = { { .fd = 0, .events = POLLIN },
					{ .fd = delivery_fd(delivery), .events = POLLIN } };

		poll(fds, 2, -1);
		if (fds[1].revents)
			end_with(delivery_poll(delivery));
		if (!fds[0].revents)
			continue;
		if (used + 1 >= sizeof(line) || read(0, &line[used], 1) != 1)
			return;
		if (line[used++] != '\n')
			continue;
		line[used] = '\0';
		used = 0;
		if (!obey(line))
			return;
	}
}

int main(int argc, char **argv)
{
	struct delivery_sink sinks[DELIVERY_SINKS_MOST];
	char names[DELIVERY_SINKS_MOST][DELIVERY_SINK_NAME_SIZE];
	struct delivery_options options = {
		.sinks = sinks,
		.host = "it's",
		.say = say,
		.stalled_ns = 2 * NS_PER_S,
		.retry_ns = NS_PER_S / 10,
		.netrc = getenv("DELIVER_NETRC"),
		.ca_file = getenv("DELIVER_CA"),
	};
	struct stat st;

	if (argc < 4)
		return 2;
	options.spool = argv[1];
	options.spool_most = strtoull(argv[2], NULL, 10);
	numbers = open(argv[3], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (numbers < 0 || fstat(numbers, &st))
		return 2;
	next_number = (uint64_t)st.st_size + 1;
	for (int i = 4; i < argc && sink_count < DELIVERY_SINKS_MOST; i++) {
		static const char otlp[] = "otlp=";
		static const char keeps[] = "keeps=";
		const bool is_otlp = !strncmp(argv[i], otlp, strlen(otlp));
		const bool keeps_losses = !strncmp(argv[i], keeps, strlen(keeps));

		snprintf(names[sink_count], sizeof(names[0]), "sink-%zu", sink_count);
		sinks[sink_count] = (struct delivery_sink){
			.folder = names[sink_count],
			.name = names[sink_count],
			.url = argv[i] + (is_otlp        ? strlen(otlp)
					  : keeps_losses ? strlen(keeps)
							 : 0),
			.type = is_otlp ? &sink_otlp : &sink_clickhouse,
			.keeps_losses = keeps_losses,
		};
		sink_count++;
	}
	options.sink_count = sink_count;
	end_with(delivery_open(&options, &delivery));
	printf("ready\n");
	fflush(stdout);
	run();
	delivery_close(delivery);
	return 0;
}
