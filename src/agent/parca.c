/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes profiles to Parca: WriteRaw of its ProfileStoreService, a message of protobuf
 * (proto/parca/ profilestore/v1alpha1/profilestore.proto of Parca 0.27). Without HTTP/2, Parca
 * takes it as JSON only, by grpc-gateway below /api (pkg/server/server.go).
 */
#include "agent/push.h"
#include "base/base64.h"
#include "base/json_writer.h"

static void put_series(struct json_writer *w, const struct labels *labels, const char *profile)
{
	json_object_begin(w);
	json_key(w, "labels");
	json_object_begin(w);
	json_key(w, "labels");
	json_array_begin(w);
	for (size_t i = 0; i < labels->count; i++) {
		json_object_begin(w);
		json_key(w, "name");
		json_string(w, labels->all[i].name);
		json_key(w, "value");
		json_string(w, labels->all[i].value);
		json_object_end(w);
	}
	json_array_end(w);
	json_object_end(w);
	json_key(w, "samples");
	json_array_begin(w);
	json_object_begin(w);
	json_key(w, "rawProfile");
	json_string(w, profile);
	json_object_end(w);
	json_array_end(w);
	json_object_end(w);
}

static struct error *add_series(struct push_body *body, uint64_t before,
				const struct labels *labels, struct text profile)
{
	const struct text begin = before ? TEXT(",") : TEXT("{\"series\":[");
	_cleanup_free_ char *packed = malloc(BASE64_SIZE(profile.length));
	struct json_writer w;
	struct error *err =
		packed ? push_body_write(body, begin.bytes, begin.length) : &error_no_memory;

	if (!err)
		err = json_writer_init(&w, push_body_write, body);
	if (err)
		return err;
	base64_write(packed, profile.bytes, profile.length);
	put_series(&w, labels, packed);
	err = json_writer_finish(&w);
	json_writer_deinit(&w);
	return err;
}

static const struct push_format format = {
	.target = "/api/profiles/writeraw",
	.content_type = "application/json",
	.add = add_series,
	.end = { "]}", 2 },
};

static struct error *parca_open(const struct sink_options *options, void **ret)
{
	return push_open(&format, options, ret);
}

const struct sink_type sink_parca = {
	.name = "parca",
	.judge = sink_judge_status,
	.open = parca_open,
	.encode = push_encode,
	.close = push_close,
};
