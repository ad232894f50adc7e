/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/push.h"

struct push {
	const struct push_format *format;
	char *header;
	struct programs programs;
	struct push_body body, profile;
	uint64_t count; /* profiles in the body */
};

void push_close(void *push)
{
	struct push *p = push;

	if (!p)
		return;
	free(p->header);
	programs_deinit(&p->programs);
	array_deinit(&p->body);
	array_deinit(&p->profile);
	free(p);
}

struct error *push_open(const struct push_format *format, const struct sink_options *options,
			void **ret)
{
	struct push *p = calloc(1, sizeof(*p));
	struct error *err = p ? push_tenant_header(options->tenant, &p->header) : &error_no_memory;

	if (err) {
		push_close(p);
		return err;
	}
	p->format = format;
	*ret = p;
	return NULL;
}

static struct error *send_body(struct push *p, sink_emit *emit, void *context)
{
	struct sink_request request = {
		.target = p->format->target,
		.content_type = p->format->content_type,
		.header = p->header,
		.what = "profiles",
		.count = p->count,
	};
	struct error *err = NULL;

	if (p->count)
		err = push_body_write(&p->body, p->format->end.bytes, p->format->end.length);
	request.body = push_body_text(&p->body);
	if (p->count && !err)
		err = emit(context, &request);
	p->count = 0;
	array_clear(&p->body);
	return err;
}

static struct error *encode_program(struct push *p, const struct agent_interval *interval,
				    struct pprof_parts *parts, const struct push_program *program,
				    sink_emit *emit, void *context)
{
	const struct pprof_part_head head = { interval->begun_unix_ns, interval->ns };
	struct labels labels;
	size_t done = 0, taken = 0;
	struct error *err = labels_make(&labels, interval->identity, program);

	if (err)
		return err;
	while (!err && done < program->count) {
		array_clear(&p->profile);
		err = pprof_part_write(parts, &head, program->samples + done, program->count - done,
				       push_body_write, &p->profile, &taken);
		if (!err)
			err = p->format->add(&p->body, p->count++, &labels,
					     push_body_text(&p->profile));
		if (!err && p->body.count >= PUSH_BODY_ENOUGH)
			err = send_body(p, emit, context);
		done += taken;
	}
	labels_deinit(&labels);
	return err;
}

struct error *push_encode(void *push, const struct agent_interval *interval, sink_emit *emit,
			  void *context)
{
	struct push *p = push;
	struct pprof_parts parts = { 0 };
	struct error *err;

	if (!interval->profile)
		return NULL;
	p->count = 0;
	array_clear(&p->body);
	err = programs_take(&p->programs, interval->profile, PROGRAMS_BY_COMM);
	if (!err)
		err = pprof_parts_init(&parts, interval->profile);
	for (size_t i = 0; !err && i < p->programs.all.count; i++)
		err = encode_program(p, interval, &parts, &p->programs.all.items[i], emit, context);
	pprof_parts_deinit(&parts);
	return err ? err : send_body(p, emit, context);
}
