/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/preset.h"
#include "serve/stream.h"
#include "serve/stream_columns.h"
#include "state/reading.h"

static void put_class_table(struct json_writer *w)
{
	json_key(w, "classes");
	json_object_begin(w);
	COLUMN_BY(json_string, w, "name", i, CLASS_COUNT, profile_classes[i].name);
	COLUMN_BY(json_text, w, "letter", i, CLASS_COUNT,
		  ((struct text){ &profile_classes[i].letter, 1 }));
	COLUMN(w, "off_cpu", i, CLASS_COUNT, profile_classes[i].is_off_cpu);
	COLUMN_BY(json_string, w, "prose", i, CLASS_COUNT, profile_classes[i].prose);
	json_object_end(w);
}

static void put_state_table(struct json_writer *w)
{
	json_key(w, "states");
	json_object_begin(w);
	COLUMN_BY(json_string, w, "name", i, STATE_COUNT, state_rows[i].name);
	COLUMN_BY(json_string, w, "label", i, STATE_COUNT, state_rows[i].label);
	COLUMN_BY(json_text, w, "letter", i, STATE_COUNT,
		  ((struct text){ &state_rows[i].letter, 1 }));
	COLUMN(w, "main", i, STATE_COUNT, state_rows[i].main);
	COLUMN_BY(json_string, w, "prose", i, STATE_COUNT, state_rows[i].prose);
	json_object_end(w);
}

/* The rules of a preset, as in its file (profile/filter.h), without comments and "hide ". */
static void put_preset(struct json_writer *w, const struct preset *preset)
{
	struct text rest = { preset->begin, (size_t)(preset->end - preset->begin) }, line;

	json_array_begin(w);
	while (text_cut(&rest, '\n', &line))
		if (text_starts(line, TEXT("hide ")))
			json_text(w, (struct text){ line.bytes + 5, line.length - 5 });
	json_array_end(w);
}

static void put_presets(struct json_writer *w)
{
	json_key(w, "presets");
	json_object_begin(w);
	for (size_t i = 0; i < preset_count; i++) {
		json_key(w, presets[i].name);
		put_preset(w, &presets[i]);
	}
	json_object_end(w);
}

void stream_write_about(struct json_writer *w, const struct tick_store *store, uint64_t interval_ns)
{
	const struct profile_meta *meta = &store->book->meta;
	static const char *const kinds[] = { [FRAME_USER] = "user",
					     [FRAME_KERNEL] = "kernel",
					     [FRAME_NOTE] = "note",
					     [FRAME_IDLE] = "idle" };

	json_object_begin(w);
	json_key(w, "version");
	json_name(w, meta->version);
	json_key(w, "host");
	json_name(w, meta->host);
	json_key(w, "kernel");
	json_name(w, meta->kernel);
	json_key(w, "cpus");
	json_u64(w, meta->cpus);
	json_key(w, "mode");
	json_name(w, meta->mode);
	json_key(w, "target");
	json_name(w, meta->target);
	json_key(w, "interval_ns");
	json_u64(w, interval_ns);
	json_key(w, "kept_ns");
	json_u64(w, store->options.kept_ns);
	json_key(w, "on_cpu_period_ns");
	json_u64(w, meta->on_cpu_period_ns);
	put_class_table(w);
	put_state_table(w);
	COLUMN_BY(json_string, w, "kinds", i, array_length(kinds), kinds[i]);
	put_presets(w);
	json_object_end(w);
}
