/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include "unit/profile_scene.h"

/* --- a value of its own for everything --- */

static const struct name *a_name(struct profile *p, uint64_t *seed, const char *what)
{
	char text[64];
	const struct name *name;

	snprintf(text, sizeof(text), "%s-%llx", what, (unsigned long long)next_random(seed));
	name = profile_name(p, text, strlen(text));
	assert_non_null(name);
	return name;
}

static void fill_meta(struct profile *p, uint64_t *seed)
{
	struct profile_meta *meta = &p->meta;
	uint64_t *losses = (uint64_t *)&meta->losses;

	meta->host = a_name(p, seed, "host");
	meta->kernel = a_name(p, seed, "kernel");
	meta->command = a_name(p, seed, "command");
	meta->version = a_name(p, seed, "version");
	meta->mode = a_name(p, seed, "mode");
	meta->captured_at_unix_ns = next_random(seed);
	meta->duration_ns = next_random(seed);
	meta->on_cpu_period_ns = next_random(seed);
	meta->off_cpu_period_ns = next_random(seed);
	meta->cpus = (uint32_t)next_random(seed);
	meta->is_whole_host = next_random(seed) & 1 ? true : false;
	for (size_t i = 0; i < sizeof(meta->losses) / sizeof(*losses); i++)
		losses[i] = next_random(seed);
}

static void add_images(struct profile *p, uint64_t *seed)
{
	for (uint32_t i = 0; i < 5; i++) {
		struct profile_mapping mapping = {
			.start = 0x1000 * i,
			.end = 0x1000 * i + 0x800,
			.file_offset = next_random(seed),
			.path = a_name(p, seed, "path"),
			.major = (uint32_t)next_random(seed),
			.minor = (uint32_t)next_random(seed),
			.inode = next_random(seed),
			.build_id_length = (uint8_t)(5 * i),
		};

		for (uint32_t b = 0; b < mapping.build_id_length; b++)
			mapping.build_id[b] = (uint8_t)next_random(seed);
		assert_true(array_push(&p->mappings, mapping));
	}
	for (uint32_t i = 0; i < 2; i++)
		assert_true(array_push(&p->images, (struct profile_image){
							   .pid = (uint32_t)next_random(seed),
							   .exe = i ? a_name(p, seed, "exe") : NULL,
							   .first_mapping = 2 * i,
							   .mapping_count = 2 + i,
							   .is_over = !i }));
}

static void add_threads(struct profile *p, uint64_t *seed)
{
	for (uint32_t i = 0; i < 4; i++) {
		struct profile_thread thread = {
			.tid = (uint32_t)next_random(seed),
			.tgid = (uint32_t)next_random(seed),
			.uid = i == 1 ? UID_UNKNOWN : (uint32_t)next_random(seed),
			.name = a_name(p, seed, "name"),
			.process = a_name(p, seed, "process"),
			.cgroup = i ? a_name(p, seed, "cgroup") : NULL,
			.image = i % 3,
			.is_kernel = i == 3,
			.is_accounted = i == 2,
			.begun_ns = next_random(seed),
			.ended_ns = next_random(seed),
			.voluntary = next_random(seed),
			.involuntary = next_random(seed),
		};

		for (size_t c = 0; c < CLASS_COUNT; c++) {
			thread.ns[c] = next_random(seed);
			thread.counts[c] = next_random(seed);
		}
		assert_true(array_push(&p->threads, thread));
	}
}

static uint32_t a_node(struct profile *p, uint64_t *seed, uint32_t parent, uint32_t i)
{
	struct frame frame = {
		.kind = i % 3,
		.inlined = i % 2,
		.name = i % 5 ? a_name(p, seed, "function") : NULL,
		.module = i % 4 ? a_name(p, seed, "module") : NULL,
		.source = i % 3 ? a_name(p, seed, "source") : NULL,
		.line = (uint32_t)next_random(seed),
		.address = next_random(seed),
		.offset = next_random(seed),
		.image = i % 3,
	};
	uint32_t number, node;

	expect_ok(profile_frame(p, &frame, &number));
	expect_ok(profile_node(p, parent, number, &node));
	return node;
}

static void add_samples(struct profile *p, uint64_t *seed)
{
	uint32_t node = NODE_NONE;

	assert_true(array_push(&p->events, a_name(p, seed, "event")));
	assert_true(array_push(&p->events, a_name(p, seed, "event")));
	for (uint32_t i = 0; i < 3; i++)
		assert_true(array_push(&p->wakers,
				       (struct waker){ a_name(p, seed, "waker"),
						       i ? (uint32_t)next_random(seed) : 0 }));
	for (uint32_t i = 0; i < 40; i++) {
		struct sample sample = {
			.thread = i % 4,
			.class = i % CLASS_COUNT,
			.state = (uint8_t)(i % STATE_COUNT),
			.cpu = i % 7 ? (uint16_t)(i * 1000) : CPU_ANY,
			.is_in_progress = i % 6 == 0,
			.ns = next_random(seed),
			.count = next_random(seed),
			.longest_ns = i % 5 ? next_random(seed) : 0,
			.waker = i % 4,
		};

		sample.event = sample.class == CLASS_EVENT ? i / CLASS_COUNT % 2 : 0;
		node = a_node(p, seed, i % 9 ? node : NODE_NONE, i);
		sample.node = i % 11 ? node : NODE_NONE;
		expect_ok(profile_add(p, &sample));
	}
}

static void add_details(struct profile *p, uint64_t *seed)
{
	for (uint32_t i = 0; i < 3; i++) {
		struct thread_histogram of = { i, (uint16_t)(CLASS_RUNNABLE + i),
					       histogram_create(i + 2) };

		assert_non_null(of.histogram);
		for (int values = 0; values < 20; values++)
			histogram_record(of.histogram,
					 next_random(seed) >> (next_random(seed) % 64), 1 + i);
		assert_true(array_push(&p->histograms, of));
		assert_true(array_push(&p->longest,
				       (struct block){ .thread = i,
						       .node = i ? i : NODE_NONE,
						       .class = (uint16_t)(CLASS_STOPPED - i),
						       .state = (uint16_t)(STATE_LOCK + i),
						       .is_in_progress = i == 1,
						       .begun_ns = next_random(seed),
						       .ns = next_random(seed),
						       .runnable_ns = next_random(seed),
						       .waker = i ? a_name(p, seed, "waker") : NULL,
						       .waker_tid = (uint32_t)next_random(seed) }));
		assert_true(array_push(
			&p->preemptors,
			(struct preemptor){ .thread = 3 - i,
					    .name = a_name(p, seed, "contender"),
					    .cgroup = i ? a_name(p, seed, "cgroup") : NULL,
					    .tid = (uint32_t)next_random(seed),
					    .ns = next_random(seed) }));
	}
}

struct profile *full_profile(uint64_t seed)
{
	struct profile *p = build_profile();

	fill_meta(p, &seed);
	add_images(p, &seed);
	add_threads(p, &seed);
	add_samples(p, &seed);
	add_details(p, &seed);
	return p;
}

/* --- the same --- */

static void expect_same_name(const struct name *a, const struct name *b)
{
	assert_int_equal(!a, !b);
	if (a)
		assert_string_equal(a->bytes, b->bytes);
}

#define SAME(member)       assert_true(a->member == b->member)
#define SAME_NAME(member)  expect_same_name(a->member, b->member)
#define SAME_BYTES(member) assert_memory_equal(&a->member, &b->member, sizeof(a->member))

/* `a` and `b` are the two items in `...`. */
#define SAME_TABLE(table, ...)                                                      \
	do {                                                                        \
		assert_int_equal(first->table.count, second->table.count);          \
		for (size_t i = 0; i < first->table.count; i++) {                   \
			__typeof__(first->table.items) a = &first->table.items[i];  \
			__typeof__(first->table.items) b = &second->table.items[i]; \
			__VA_ARGS__;                                                \
		}                                                                   \
	} while (0)

static void expect_same_meta(const struct profile_meta *a, const struct profile_meta *b)
{
	SAME_NAME(host);
	SAME_NAME(kernel);
	SAME_NAME(command);
	SAME_NAME(version);
	SAME_NAME(mode);
	SAME(captured_at_unix_ns);
	SAME(duration_ns);
	SAME(on_cpu_period_ns);
	SAME(off_cpu_period_ns);
	SAME(cpus);
	SAME(is_whole_host);
	SAME_BYTES(losses);
}

static void expect_same_histogram(const struct histogram *a, const struct histogram *b)
{
	SAME(frac_bits);
	SAME(count);
	SAME(sum);
	assert_memory_equal(a->slots, b->slots, BUCKET_SLOTS(a->frac_bits) * sizeof(a->slots[0]));
}

void expect_same_profile(const struct profile *first, const struct profile *second)
{
	expect_same_meta(&first->meta, &second->meta);
	SAME_TABLE(frames, SAME(kind); SAME(inlined); SAME_NAME(name); SAME_NAME(module);
		   SAME_NAME(source); SAME(line); SAME(address); SAME(offset); SAME(image));
	SAME_TABLE(nodes, SAME(parent); SAME(frame));
	SAME_TABLE(mappings, SAME(start); SAME(end); SAME(file_offset); SAME_NAME(path);
		   SAME(major); SAME(minor); SAME(inode); SAME(build_id_length);
		   SAME_BYTES(build_id));
	SAME_TABLE(images, SAME(pid); SAME_NAME(exe); SAME(first_mapping); SAME(mapping_count);
		   SAME(is_over));
	SAME_TABLE(threads, SAME(tid); SAME(tgid); SAME_NAME(name); SAME_NAME(process);
		   SAME_NAME(cgroup); SAME(image); SAME(is_kernel); SAME(is_accounted);
		   SAME(begun_ns); SAME(ended_ns); SAME_BYTES(ns); SAME_BYTES(counts);
		   SAME(voluntary); SAME(involuntary));
	assert_int_equal(first->events.count, second->events.count);
	for (size_t i = 0; i < first->events.count; i++)
		expect_same_name(first->events.items[i], second->events.items[i]);
	SAME_TABLE(samples, SAME(thread); SAME(node); SAME(class); SAME(state); SAME(event);
		   SAME(cpu); SAME(is_in_progress); SAME(ns); SAME(count); SAME(longest_ns);
		   SAME(waker));
	SAME_TABLE(wakers, SAME_NAME(name); SAME(tid));
	SAME_TABLE(longest, SAME(thread); SAME(node); SAME(class); SAME(state);
		   SAME(is_in_progress); SAME(begun_ns); SAME(ns); SAME(runnable_ns);
		   SAME_NAME(waker); SAME(waker_tid));
	SAME_TABLE(preemptors, SAME(thread); SAME_NAME(name); SAME_NAME(cgroup); SAME(tid);
		   SAME(ns));
	SAME_TABLE(histograms, SAME(thread); SAME(class);
		   expect_same_histogram(a->histogram, b->histogram));
}
