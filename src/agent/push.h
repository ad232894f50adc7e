/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the sinks that send a pprof profile with labels for each program (Pyroscope and Parca).
 * They differ in the form of a request.
 */
#ifndef AGENT_PUSH_H
#define AGENT_PUSH_H

#include "agent/labels.h"
#include "agent/push_body.h"
#include "agent/sink.h"

struct push_format {
	const char *target, *content_type;
	/* Appends a packed profile to a body that has `before` profiles. */
	struct error *(*add)(struct push_body *body, uint64_t before, const struct labels *labels,
			     struct text profile)MUST_CHECK;
	struct text end; /* of a body */
};

/* An open sink of this kind. */
struct push;

struct error *push_open(const struct push_format *format, const struct sink_options *options,
			void **ret) MUST_CHECK;
/* As struct sink_type has them. */
struct error *push_encode(void *push, const struct agent_interval *interval, sink_emit *emit,
			  void *context) MUST_CHECK;
void push_close(void *push);

#endif
