/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What sinks have in common that send pprof profiles of programs with labels: those of Pyroscope
 * and Parca. They differ in how a request holds profiles.
 */
#ifndef AGENT_PUSH_H
#define AGENT_PUSH_H

#include "agent/labels.h"
#include "agent/push_body.h"
#include "agent/sink.h"

struct push_format {
	const char *target, *content_type;
	/* Adds a profile, which is packed, to a body that has `before` profiles. */
	struct error *(*add)(struct push_body *body, uint64_t before, const struct labels *labels,
			     struct text profile)MUST_CHECK;
	struct text end; /* of a body */
};

/* The object of such a sink. */
struct push;

struct error *push_open(const struct push_format *format, const struct sink_options *options,
			void **ret) MUST_CHECK;
/* As struct sink_type has them. */
struct error *push_encode(void *push, const struct agent_interval *interval, sink_emit *emit,
			  void *context) MUST_CHECK;
void push_close(void *push);

#endif
