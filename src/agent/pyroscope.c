/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pushes profiles to Pyroscope by the protocol of Connect: a unary POST of a message of protobuf.
 *
 * Pyroscope makes a series of its own of each value of "comm", the label of samples. By default it
 * refuses profiles that are older than an hour (validation.reject-older-than).
 */
#include <pyroscope.pb-c.h>

#include "agent/push.h"
#include "base/protobuf.h"

/* Messages of one series each, one behind the other, are one message of all of them. */
static struct error *add_series(struct push_body *body, uint64_t before,
				const struct labels *labels, struct text profile)
{
	Pyroscope__LabelPair pairs[LABELS_MOST], *items[LABELS_MOST];
	Pyroscope__RawSample sample = PYROSCOPE__RAW_SAMPLE__INIT, *samples = &sample;
	Pyroscope__RawProfileSeries series = PYROSCOPE__RAW_PROFILE_SERIES__INIT, *all = &series;
	Pyroscope__PushRequest request = PYROSCOPE__PUSH_REQUEST__INIT;

	(void)before;
	for (size_t i = 0; i < labels->count; i++) {
		pyroscope__label_pair__init(&pairs[i]);
		pairs[i].name = (char *)(uintptr_t)labels->all[i].name;
		pairs[i].value = (char *)(uintptr_t)labels->all[i].value;
		items[i] = &pairs[i];
	}
	series.n_labels = labels->count;
	series.labels = items;
	sample.raw_profile.data = (uint8_t *)(uintptr_t)profile.bytes;
	sample.raw_profile.len = profile.length;
	series.n_samples = 1;
	series.samples = &samples;
	request.n_series = 1;
	request.series = &all;
	return protobuf_append(body, &request) ? NULL : &error_no_memory;
}

static const struct push_format format = {
	.target = "/push.v1.PusherService/Push",
	.content_type = "application/proto",
	.add = add_series,
};

static struct error *pyroscope_open(const struct sink_options *options, void **ret)
{
	return push_open(&format, options, ret);
}

const struct sink_type sink_pyroscope = {
	.name = "pyroscope",
	.judge = sink_judge_status,
	.open = pyroscope_open,
	.encode = push_encode,
	.close = push_close,
};
