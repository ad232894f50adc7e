/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends profiles by OTLP over HTTP, in the form of opentelemetry-proto 1.10.0 (otlp.proto): for
 * each program a resource with a profile of type "cpu" and one of "off_cpu", in nanoseconds.
 * Samples tell the thread, by attributes.
 *
 * A message holds its parts behind their lengths, so a request is made from the inside: samples are
 * written into a profile, profiles into a scope, this into a resource.
 */
#include <inttypes.h>
#include <otlp.pb-c.h>

#include "agent/otlp_answer.h"
#include "agent/otlp_dictionary.h"
#include "agent/programs.h"
#include "agent/sink.h"
#include "base/protobuf.h"
#include "base/varint.h"
#include "os/cgroup_place.h"
#include "profile/gzip.h"

/* A request is sent when it has as much before it is packed: what finds items of the dictionary
 * again takes several times as much memory. The Collector takes 20 MiB by default (confighttp,
 * max_request_body_size), and what it forwards by gRPC may have 4 MiB. */
#define BODY_ENOUGH ((size_t)1 << 20)

/* Pyroscope makes one profile of its own of each, of which it refuses those with more samples. */
#define PROFILE_SAMPLES_MOST PPROF_PART_SAMPLES_MOST

enum { FIELD_RESOURCE_PROFILES = 1, FIELD_DICTIONARY = 2 }; /* ExportProfilesServiceRequest */
enum { FIELD_SCOPE_PROFILES = 2 };                          /* ResourceProfiles */
enum { FIELD_PROFILES = 2 };                                /* ScopeProfiles */

enum time_type { ON_CPU, OFF_CPU, TIME_TYPES };
static const char *const type_names[] = { "cpu", "off_cpu" };

struct thread_attributes {
	int32_t indexes[3];
	bool is_known;
};

struct otlp {
	char *header;
	struct programs programs;

	/* Of one interval. */
	const struct agent_interval *interval;
	sink_emit *emit;
	void *context;
	struct otlp_dictionary dictionary;
	struct thread_attributes *threads; /* in this request */
	const struct push_program *program;
	enum time_type type;
	struct push_body resources, profiles, profile, packed;
	uint64_t request_count, profile_count,
		profile_samples; /* profiles of all, of this request */
	struct error *error;     /* the first one; nothing is written after it */
};

static void fail(struct otlp *o, struct error *err)
{
	if (o->error)
		error_destroy(err);
	else
		o->error = err;
}

/* --- messages within messages --- */

static void put_bytes(struct otlp *o, struct push_body *body, const void *bytes, size_t length)
{
	if (!o->error)
		fail(o, push_body_write(body, bytes, length));
}

/* A field that is a message. */
static void put_field(struct otlp *o, struct push_body *body, unsigned number,
		      const struct push_body *message)
{
	char head[2 * VARINT_MAX], *end = varint_write(head, number << 3 | 2);

	end = varint_write(end, message->count);
	put_bytes(o, body, head, (size_t)(end - head));
	put_bytes(o, body, message->items, message->count);
}

#define PUT(o, body, message)                                       \
	({                                                          \
		if (!(o)->error && !protobuf_append(body, message)) \
			fail(o, &error_no_memory);                  \
	})

/* --- requests --- */

static void begin_request(struct otlp *o)
{
	otlp_dictionary_begin(&o->dictionary);
	memset(o->threads, 0, o->interval->profile->threads.count * sizeof(*o->threads));
	array_clear(&o->resources);
	array_clear(&o->profiles);
	array_clear(&o->profile);
	o->request_count = 0;
}

static struct error *pack(struct otlp *o)
{
	struct gzip_writer gzip;
	struct error *err;

	array_clear(&o->packed);
	err = gzip_writer_init_fast(&gzip, push_body_write, &o->packed);
	if (!err)
		err = gzip_write(&gzip, o->resources.items, o->resources.count);
	if (!err)
		err = gzip_finish(&gzip);
	gzip_writer_deinit(&gzip);
	return err;
}

static void send_request(struct otlp *o)
{
	struct sink_request request = {
		.target = "/v1development/profiles",
		.content_type = "application/x-protobuf",
		.content_encoding = "gzip",
		.header = o->header,
		.what = "profiles",
		.count = o->request_count,
	};

	fail(o, o->dictionary.error);
	o->dictionary.error = NULL;
	if (!o->request_count || o->error)
		return;
	put_field(o, &o->resources, FIELD_DICTIONARY, &o->dictionary.message);
	if (!o->error)
		fail(o, pack(o));
	request.body = push_body_text(&o->packed);
	if (!o->error)
		fail(o, o->emit(o->context, &request));
}

/* --- resources --- */

#define ATTRIBUTES_MOST 64

struct otlp_attributes {
	Otlp__KeyValue pairs[ATTRIBUTES_MOST], *items[ATTRIBUTES_MOST];
	Otlp__AnyValue values[ATTRIBUTES_MOST];
	char *strings[2 * ATTRIBUTES_MOST];
	size_t count;
};

/* A key may be there once. */
static void add_attribute(struct otlp *o, struct otlp_attributes *a, const char *key,
			  struct text value)
{
	const size_t i = a->count;
	char *clean;

	if (!value.length || i >= ATTRIBUTES_MOST)
		return;
	clean = otlp_clean(text_of(key));
	for (size_t j = 0; j < i && clean; j++) {
		if (strcmp(a->pairs[j].key, clean) == 0) {
			free(clean);
			return;
		}
	}
	a->strings[2 * i] = clean;
	a->strings[2 * i + 1] = otlp_clean(value);
	a->count++;
	otlp__key_value__init(&a->pairs[i]);
	otlp__any_value__init(&a->values[i]);
	a->values[i].value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
	a->values[i].string_value = a->strings[2 * i + 1];
	a->pairs[i].key = clean;
	a->pairs[i].value = &a->values[i];
	a->items[i] = &a->pairs[i];
	if (!clean || !a->strings[2 * i + 1])
		fail(o, &error_no_memory);
}

static void add_places(struct otlp *o, struct otlp_attributes *a, struct text cgroup)
{
	struct text container;
	char pod[POD_UID_ROOM];

	if (place_container(cgroup, &container))
		add_attribute(o, a, "container.id", container);
	if (place_pod(cgroup, pod))
		add_attribute(o, a, "k8s.pod.uid", text_of(pod));
	add_attribute(o, a, "process.linux.cgroup", cgroup);
}

static void put_resource(struct otlp *o, struct push_body *body)
{
	const struct agent_identity *identity = o->interval->identity;
	const struct push_program *program = o->program;
	Otlp__Resource resource = OTLP__RESOURCE__INIT;
	Otlp__ResourceProfiles piece = OTLP__RESOURCE_PROFILES__INIT;
	struct otlp_attributes a = { .count = 0 };

	add_attribute(o, &a, "host.name", text_of(identity->host));
	add_attribute(o, &a, "service.name", name_text(program->service));
	add_attribute(o, &a, "process.command", name_text(program->process));
	if (program->path) {
		add_attribute(o, &a, "process.executable.name", name_text(program->service));
		add_attribute(o, &a, "process.executable.path", name_text(program->path));
	}
	add_places(o, &a, name_text(program->cgroup));
	for (size_t i = 0; i < identity->label_count; i++)
		add_attribute(o, &a, identity->labels[i].name, text_of(identity->labels[i].value));
	resource.n_attributes = a.count;
	resource.attributes = a.items;
	piece.resource = &resource;
	if (!o->error)
		PUT(o, body, &piece);
	for (size_t i = 0; i < 2 * a.count; i++)
		free(a.strings[i]);
}

/* The profiles of a program are whole. */
static void end_resource(struct otlp *o)
{
	_cleanup_free_ char *version = otlp_clean(text_of(o->interval->identity->version));
	Otlp__InstrumentationScope scope = OTLP__INSTRUMENTATION_SCOPE__INIT;
	Otlp__ScopeProfiles piece = OTLP__SCOPE_PROFILES__INIT;
	struct push_body scopes = { 0 }, resource = { 0 };

	if (!o->profiles.count)
		return;
	scope.name = (char *)(uintptr_t) "ctprof";
	scope.version = version ? version : scope.version;
	piece.scope = &scope;
	PUT(o, &scopes, &piece);
	put_bytes(o, &scopes, o->profiles.items, o->profiles.count);
	put_resource(o, &resource);
	put_field(o, &resource, FIELD_SCOPE_PROFILES, &scopes);
	put_field(o, &o->resources, FIELD_RESOURCE_PROFILES, &resource);
	array_deinit(&scopes);
	array_deinit(&resource);
	array_clear(&o->profiles);
}

/* --- profiles --- */

/* The same in each attempt to send it, so that a store may know it again. */
static void make_id(struct otlp *o, uint8_t ret[16])
{
	const struct name *path = o->program->path ? o->program->path : o->program->service;
	_cleanup_free_ char *key = text_print(
		"%s/%" PRIu64 "/%s/%s/%s/%d/%" PRIu64, o->interval->identity->host,
		o->interval->begun_unix_ns, path->bytes, o->program->process->bytes,
		o->program->cgroup ? o->program->cgroup->bytes : "", o->type, o->profile_count);
	const struct text text = text_of(key ? key : "");
	const uint64_t words[] = { text_hash(text, 1), text_hash(text, 2) };

	if (!key)
		fail(o, &error_no_memory);
	memcpy(ret, words, sizeof(words));
}

/* Times on CPUs are exact unless they were sampled; readers want a period all the same. Times off
 * CPUs have none. */
static void end_profile(struct otlp *o)
{
	const uint64_t period = o->interval->profile->meta.on_cpu_period_ns;
	Otlp__Profile piece = OTLP__PROFILE__INIT;
	Otlp__ValueType type = OTLP__VALUE_TYPE__INIT;
	uint8_t id[16];

	if (!o->profile_samples)
		return;
	make_id(o, id);
	type.type_strindex = otlp_string(&o->dictionary, text_of(type_names[o->type]));
	type.unit_strindex = otlp_string(&o->dictionary, TEXT("nanoseconds"));
	piece.sample_type = &type;
	piece.time_unix_nano = o->interval->begun_unix_ns;
	piece.duration_nano = o->interval->ns;
	if (o->type == ON_CPU) {
		piece.period_type = &type;
		piece.period = period && period <= INT64_MAX ? (int64_t)period : 1;
	}
	piece.profile_id = (ProtobufCBinaryData){ sizeof(id), id };
	PUT(o, &o->profile, &piece);
	put_field(o, &o->profiles, FIELD_PROFILES, &o->profile);
	array_clear(&o->profile);
	o->profile_samples = 0;
	o->profile_count++;
	o->request_count++;
}

static const struct thread_attributes *attributes_of(struct otlp *o, uint32_t number)
{
	const struct profile_thread *thread = &o->interval->profile->threads.items[number];
	struct thread_attributes *attributes = &o->threads[number];

	if (!attributes->is_known)
		*attributes = (struct thread_attributes){
			.indexes = { otlp_attribute_number(&o->dictionary, "process.pid",
							   thread->tgid),
				     otlp_attribute_number(&o->dictionary, "thread.id",
							   thread->tid),
				     otlp_attribute_text(&o->dictionary, "thread.name",
							 name_text(thread->name)) },
			.is_known = true,
		};
	return attributes;
}

static void put_sample(struct otlp *o, const struct pprof_part_sample *from, uint64_t ns)
{
	Otlp__Profile piece = OTLP__PROFILE__INIT;
	Otlp__Sample sample = OTLP__SAMPLE__INIT, *item = &sample;
	struct thread_attributes attributes = *attributes_of(o, from->thread);
	int64_t value = ns > INT64_MAX ? INT64_MAX : (int64_t)ns;

	sample.stack_index = otlp_stack(&o->dictionary, from->node);
	sample.n_attribute_indices = array_length(attributes.indexes);
	sample.attribute_indices = attributes.indexes;
	sample.n_values = 1;
	sample.values = &value;
	piece.n_samples = 1;
	piece.samples = &item;
	PUT(o, &o->profile, &piece);
	o->profile_samples++;
}

static size_t request_bytes(const struct otlp *o)
{
	return o->dictionary.message.count + o->resources.count + o->profiles.count +
	       o->profile.count;
}

static void put_profile(struct otlp *o)
{
	for (size_t i = 0; i < o->program->count && !o->error; i++) {
		const struct pprof_part_sample *sample = &o->program->samples[i];
		const uint64_t ns = o->type == ON_CPU ? sample->on_cpu_ns : sample->off_cpu_ns;

		if (!ns)
			continue;
		put_sample(o, sample, ns);
		if (o->profile_samples >= PROFILE_SAMPLES_MOST)
			end_profile(o);
		if (request_bytes(o) < BODY_ENOUGH)
			continue;
		end_profile(o);
		end_resource(o);
		send_request(o);
		begin_request(o);
	}
	end_profile(o);
}

static void put_programs(struct otlp *o)
{
	begin_request(o);
	for (size_t i = 0; i < o->programs.all.count && !o->error; i++) {
		o->program = &o->programs.all.items[i];
		for (o->type = 0; o->type < TIME_TYPES; o->type++)
			put_profile(o);
		end_resource(o);
	}
	send_request(o);
}

/* --- the sink --- */

static void otlp_close(void *sink)
{
	struct otlp *o = sink;

	if (!o)
		return;
	free(o->header);
	programs_deinit(&o->programs);
	array_deinit(&o->resources);
	array_deinit(&o->profiles);
	array_deinit(&o->profile);
	array_deinit(&o->packed);
	free(o);
}

static struct error *otlp_open(const struct sink_options *options, void **ret)
{
	struct otlp *o = calloc(1, sizeof(*o));
	struct error *err = o ? push_tenant_header(options->tenant, &o->header) : &error_no_memory;

	if (err)
		otlp_close(o);
	else
		*ret = o;
	return err;
}

static struct error *otlp_encode(void *sink, const struct agent_interval *interval, sink_emit *emit,
				 void *context)
{
	struct otlp *o = sink;
	struct error *err;

	if (!interval->profile)
		return NULL;
	o->interval = interval;
	o->emit = emit;
	o->context = context;
	o->error = NULL;
	o->profile_count = o->profile_samples = 0;
	err = programs_take(&o->programs, interval->profile, PROGRAMS_BY_THREAD);
	if (err)
		return err;
	err = otlp_dictionary_init(&o->dictionary, interval->profile);
	if (err)
		return err;
	o->threads = calloc(interval->profile->threads.count + 1, sizeof(*o->threads));
	if (o->threads)
		put_programs(o);
	else
		fail(o, &error_no_memory);
	free(o->threads);
	otlp_dictionary_deinit(&o->dictionary);
	return o->error;
}

const struct sink_type sink_otlp = {
	.name = "otlp",
	.judge = otlp_judge,
	.open = otlp_open,
	.encode = otlp_encode,
	.close = otlp_close,
};
