/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs and labels of what the agent sends. tests/store/push.sh decodes whole requests.
 */
#include <stdio.h>
#include <string.h>

#include "agent/labels.h"
#include "agent/sink.h"
#include "base/sum.h"
#include "unit/profile_scene.h"

static const struct push_program *find(const struct programs *programs, const char *service,
				       const char *cgroup)
{
	for (size_t i = 0; i < programs->all.count; i++) {
		const struct push_program *program = &programs->all.items[i];

		if (strcmp(program->service->bytes, service) == 0 &&
		    strcmp(program->cgroup ? program->cgroup->bytes : "", cgroup) == 0)
			return program;
	}
	return NULL;
}

static uint64_t total(const struct programs *programs)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < programs->all.count; i++)
		for (size_t j = 0; j < programs->all.items[i].count; j++)
			sum += programs->all.items[i].samples[j].on_cpu_ns +
			       programs->all.items[i].samples[j].off_cpu_ns;
	return sum;
}

static void set_exe(struct profile *p, uint32_t thread, const char *exe)
{
	assert_true(array_push(&p->images,
			       (struct profile_image){ .exe = profile_name(p, exe, strlen(exe)) }));
	p->threads.items[thread].image = (uint32_t)p->images.count;
}

static struct profile *scene(void)
{
	struct profile *p = build_profile();
	uint32_t a = build_profile_thread(p, 10, 10, "app", "worker-1", "/app");
	uint32_t b = build_profile_thread(p, 10, 11, "app", "worker-2", "/app");
	uint32_t c = build_profile_thread(p, 20, 20, "app", "worker-1", "/other");
	uint32_t k = build_profile_thread(p, 30, 30, "kworker/0:1", "kworker/0:1", "/");

	p->threads.items[k].is_kernel = true;
	set_exe(p, a, "/usr/bin/App (deleted)");
	p->threads.items[b].image = 1;
	build_sample(p, a, CLASS_ON_CPU, "main;work", 100, 1);
	build_sample(p, b, CLASS_ON_CPU, "main;work", 10, 1);
	build_sample(p, b, CLASS_IO_WAIT, "main;work", 1000, 1);
	build_sample(p, b, CLASS_RUNNABLE, "main", 7, 1);
	build_sample(p, c, CLASS_RUNNABLE, "main", 5, 1);
	build_sample(p, c, CLASS_RUNNABLE, "none", 0, 1);
	build_sample(p, k, CLASS_IDLE, "kthread_[k]", 3, 1);
	return p;
}

TEST(programs_have_the_sums_of_their_threads)
{
	struct profile *p = scene();
	struct programs programs = { 0 };
	const struct push_program *app;

	expect_ok(programs_take(&programs, p, PROGRAMS_BY_COMM));
	assert_int_equal(programs.all.count, 3);
	assert_int_equal(total(&programs), 1125);
	app = find(&programs, "App", "/app");
	assert_non_null(app);
	assert_string_equal(app->path->bytes, "/usr/bin/App");
	assert_string_equal(app->process->bytes, "app");
	assert_int_equal(app->count, 2);
	assert_int_equal(app->samples[0].on_cpu_ns, 110);
	assert_int_equal(app->samples[0].off_cpu_ns, 1000);
	assert_string_equal(app->samples[0].comm->bytes, "worker-{N}");
	assert_int_equal(app->on_cpu_ns, 110);
	assert_int_equal(app->off_cpu_ns, 1007);
	assert_non_null(find(&programs, "app", "/other"));
	assert_non_null(find(&programs, PROGRAM_KERNEL, ""));
	expect_ok(programs_take(&programs, p, PROGRAMS_BY_THREAD));
	app = find(&programs, "App", "/app");
	assert_int_equal(app->count, 3);
	assert_int_equal(app->samples[0].thread, 0);
	assert_int_equal(app->samples[1].thread, 1);
	assert_null(app->samples[0].comm);
	assert_int_equal(total(&programs), 1125);
	programs_deinit(&programs);
	profile_destroy(p);
}

/* `from` .. `to` programs, the last of which run most. */
static struct profile *crowd(unsigned from, unsigned to)
{
	struct profile *p = build_profile();

	for (unsigned i = from; i < to; i++) {
		char name[16], digits[16];

		snprintf(digits, sizeof(digits), "%u", i);
		for (size_t j = 0; j <= strlen(digits); j++)
			name[j] = digits[j] ? (char)(digits[j] - '0' + 'g') : '\0';
		build_sample(p, build_profile_thread(p, i + 1, i + 1, name, name, NULL),
			     CLASS_ON_CPU, "main", i + 1, 1);
	}
	return p;
}

static uint64_t of_other(const struct programs *programs)
{
	const struct push_program *other = find(programs, PROGRAM_OTHER, "");

	return other ? other->on_cpu_ns : 0;
}

TEST(series_are_bounded_and_stay)
{
	struct programs programs = { 0 };
	struct profile *many = crowd(0, PROGRAM_SERIES_MOST + 100), *first = crowd(0, 100);
	struct profile *new = crowd(10000, 10001);

	expect_ok(programs_take(&programs, many, PROGRAMS_BY_COMM));
	assert_int_equal(programs.all.count, PROGRAM_SERIES_MOST + 1);
	assert_int_equal(of_other(&programs), 100 * 101 / 2);
	assert_int_equal(total(&programs), 600 * 601 / 2);
	/* There is no room for those that come later, */
	expect_ok(programs_take(&programs, first, PROGRAMS_BY_COMM));
	assert_int_equal(programs.all.count, 1);
	assert_int_equal(of_other(&programs), 100 * 101 / 2);
	/* until others have not been seen for a while. */
	for (int i = 0; i <= PROGRAM_INTERVALS_KEPT; i++)
		expect_ok(programs_take(&programs, new, PROGRAMS_BY_COMM));
	assert_int_equal(of_other(&programs), 0);
	assert_int_equal(programs.known.count, 1);
	programs_deinit(&programs);
	profile_destroy(many);
	profile_destroy(first);
	profile_destroy(new);
}

static const char *label(const struct labels *labels, const char *name)
{
	const char *found = NULL;

	for (size_t i = 0; i < labels->count; i++) {
		if (strcmp(labels->all[i].name, name) == 0) {
			assert_null(found);
			found = labels->all[i].value;
		}
	}
	return found ? found : "-";
}

TEST(labels_are_those_that_servers_take)
{
	struct profile *p = build_profile();
	const char *id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	char cgroup[2000], value[3000];
	struct agent_label own[40] = { { "env", "a\xff" },  { "host", "x" },     { "host", "y" },
				       { "a.b", "1" },      { "a-b", "2" },      { "9", "3" },
				       { "", "4" },         { "__name__", "5" }, { "empty", "" },
				       { "comm", "6" },     { "\xff", "7" },     { "long", value },
				       { "container", "8" } };
	struct agent_identity identity = { .host = "h", .version = "1", .labels = own };
	struct programs programs = { 0 };
	struct labels labels;

	snprintf(cgroup, sizeof(cgroup), "/docker/%s", id);
	memset(value, 'v', sizeof(value));
	memcpy(value + PROGRAM_LABEL_MOST - 1, "\xc3\xbc", 2);
	value[sizeof(value) - 1] = '\0';
	for (size_t i = 13; i < array_length(own); i++)
		own[i] = (struct agent_label){ value, "x" };
	identity.label_count = array_length(own);
	build_sample(p, build_profile_thread(p, 1, 1, "", "\xff", cgroup), CLASS_ON_CPU, "main", 1,
		     1);
	expect_ok(programs_take(&programs, p, PROGRAMS_BY_COMM));
	expect_ok(labels_make(&labels, &identity, &programs.all.items[0]));
	assert_string_equal(label(&labels, "__name__"), "process_cpu");
	assert_string_equal(label(&labels, "service_name"), PROGRAM_OTHER);
	assert_string_equal(label(&labels, "process"), "-");
	assert_string_equal(label(&labels, "cgroup"), cgroup);
	assert_string_equal(label(&labels, "container"), "0123456789ab");
	assert_string_equal(label(&labels, "env"), "a\xef\xbf\xbd");
	assert_string_equal(label(&labels, "host"), "h");
	assert_string_equal(label(&labels, "agent_host"), "x");
	assert_string_equal(label(&labels, "a_b"), "1");
	assert_string_equal(label(&labels, "agent_a_b"), "2");
	assert_string_equal(label(&labels, "agent_9"), "3");
	assert_string_equal(label(&labels, "agent___name__"), "5");
	assert_string_equal(label(&labels, "agent_comm"), "6");
	assert_string_equal(label(&labels, "_"), "7");
	assert_string_equal(label(&labels, "agent_container"), "8");
	assert_int_equal(strlen(label(&labels, "long")), PROGRAM_LABEL_MOST - 1);
	assert_true(labels.count <= LABELS_MOST);
	assert_string_equal(programs.all.items[0].samples[0].comm->bytes, "\xef\xbf\xbd");
	labels_deinit(&labels);
	programs_deinit(&programs);
	profile_destroy(p);
}

struct emitted {
	size_t requests;
	uint64_t count;
	const char *header;
};

static struct error *emit(void *context, const struct sink_request *request)
{
	struct emitted *emitted = context;

	emitted->requests++;
	emitted->count += request->count;
	emitted->header = request->header;
	assert_true(request->body.length);
	assert_null(request->check);
	return NULL;
}

static struct error *refuse(void *context, const struct sink_request *request)
{
	(void)context;
	(void)request;
	return error_create("refused");
}

static const struct sink_type *const sinks[] = { &sink_pyroscope, &sink_otlp, &sink_parca };

TEST(intervals_of_all_kinds)
{
	struct agent_identity identity = { .host = "h\xff", .version = "1" };
	struct agent_interval interval = { .identity = &identity, .begun_unix_ns = 5, .ns = 7 };

	for (size_t i = 0; i < array_length(sinks); i++) {
		struct sink_options options = { .url = "http://h", .tenant = "t" };
		struct emitted emitted = { 0 };
		struct profile *profile;
		void *sink;

		expect_ok(sinks[i]->open(&options, &sink));
		expect_ok(sinks[i]->encode(sink, &interval, emit, &emitted));
		assert_int_equal(emitted.requests, 0);
		profile = build_profile();
		interval.profile = profile;
		expect_ok(sinks[i]->encode(sink, &interval, emit, &emitted));
		assert_int_equal(emitted.requests, 0);
		profile_destroy(profile);
		for (uint64_t seed = 1; seed < 4; seed++) {
			profile = full_profile(seed);
			interval.profile = profile;
			expect_ok(sinks[i]->encode(sink, &interval, emit, &emitted));
			assert_int_equal(emitted.requests, seed);
			expect_error(sinks[i]->encode(sink, &interval, refuse, NULL), "refused");
			profile_destroy(profile);
		}
		assert_string_equal(emitted.header, "X-Scope-OrgID: t");
		interval.profile = NULL;
		sinks[i]->close(sink);
		sinks[i]->close(NULL);
		options.tenant = "a\nb";
		expect_error(sinks[i]->open(&options, &sink),
			     "the name of the tenant has control characters");
	}
}

UNIT_TESTS(cmocka_unit_test(programs_have_the_sums_of_their_threads),
	   cmocka_unit_test(series_are_bounded_and_stay),
	   cmocka_unit_test(labels_are_those_that_servers_take),
	   cmocka_unit_test(intervals_of_all_kinds))
