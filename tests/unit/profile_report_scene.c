/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/profile_report_scene.h"

#include "report/stream.h"

void report_scene_begin(struct report_scene *s)
{
	*s = (struct report_scene){ .profile = build_profile() };
}

void report_scene_end(struct report_scene *s)
{
	flame_destroy(s->flame);
	profile_destroy(s->profile);
	profile_destroy(s->baseline);
	array_deinit(&s->printed);
}

void report_scene_fill(struct report_scene *s)
{
	uint32_t db = build_profile_thread(s->profile, 10, 10, "db", "db", "/db");
	uint32_t writer = build_profile_thread(s->profile, 10, 11, "db", "writer", "/db");

	build_sample(s->profile, db, CLASS_ON_CPU, "main", 1000, 2);
	build_sample(s->profile, db, CLASS_IO_WAIT, "main;read;vfs_read_[k]", 5000, 5);
	build_sample(s->profile, writer, CLASS_UNINTERRUPTIBLE, "main;flush_[i];fsync_[k]", 40000,
		     2);
}

void report_scene_baseline(struct report_scene *s)
{
	uint32_t db;

	s->baseline = build_profile();
	db = build_profile_thread(s->baseline, 10, 10, "db", "db", "/db");
	build_sample(s->baseline, db, CLASS_ON_CPU, "main", 3000, 6);
	build_sample(s->baseline, db, CLASS_ON_CPU, "main;gone", 700, 1);
	build_sample(s->baseline, db, CLASS_IO_WAIT, "main;read;vfs_read_[k]", 5000, 5);
}

void report_scene_flame(struct report_scene *s)
{
	const char *title = s->report.title;

	flame_destroy(s->flame);
	s->flame = NULL;
	expect_ok(flame_create(s->profile, s->baseline, &s->view, &s->flame));
	s->report = (struct profile_report){ .profile = s->profile,
					     .baseline = s->baseline,
					     .flame = s->flame,
					     .view = &s->view,
					     .idle = s->view.folds_idle ? NULL : s->view.idle,
					     .title = title };
}

struct text report_scene_bytes(struct report_scene *s, profile_print *print)
{
	report_scene_flame(s);
	array_deinit(&s->printed);
	s->printed = (struct sunk){ 0 };
	expect_ok(print(&s->report, sunk_write, &s->printed));
	assert_true(array_reserve(&s->printed, 1));
	s->printed.items[s->printed.count] = '\0';
	return sunk_text(&s->printed);
}

const char *report_scene_print(struct report_scene *s, profile_print *print)
{
	return report_scene_bytes(s, print).bytes;
}

const char *report_scene_text(struct report_scene *s, profile_text *print)
{
	struct stream stream;

	report_scene_flame(s);
	array_deinit(&s->printed);
	s->printed = (struct sunk){ 0 };
	expect_ok(stream_open(&stream, sunk_write, &s->printed));
	expect_ok(print(stream.out, &s->report, &s->style));
	expect_ok(stream_close(&stream));
	assert_true(array_reserve(&s->printed, 1));
	s->printed.items[s->printed.count] = '\0';
	return s->printed.items;
}
