/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A profile, what is shown of it, and what a report prints of that.
 */
#ifndef UNIT_PROFILE_REPORT_SCENE_H
#define UNIT_PROFILE_REPORT_SCENE_H

#include "report/profile_report.h"
#include "report/profile_text.h"
#include "unit/profile_scene.h"

struct report_scene {
	struct profile *profile, *baseline;
	struct flame *flame;
	struct flame_view view;
	struct profile_report report;
	struct profile_style style;
	struct sunk printed;
};

/* An empty profile, all of it shown. */
void report_scene_begin(struct report_scene *s);
void report_scene_end(struct report_scene *s);

/*
 * db (10) runs in main for 1000 ns (2 samples), and waits 5000 ns for I/O in main;read;vfs_read_[k]
 * (5 times); its thread writer (11) is blocked for 40000 ns in main;flush_[i];fsync_[k] (twice).
 */
void report_scene_fill(struct report_scene *s);

/* Before, db ran in main for 3000 ns and in main;gone for 700 ns, waited the same and did not
 * flush. */
void report_scene_baseline(struct report_scene *s);

/* Makes the flame of what is there; printing does that too. */
void report_scene_flame(struct report_scene *s);

/* What the function makes of it; good until the next. A zero follows. */
struct text report_scene_bytes(struct report_scene *s, profile_print *print);
const char *report_scene_print(struct report_scene *s, profile_print *print);

/* The same for texts. */
typedef struct error *profile_text(FILE *out, const struct profile_report *report,
				   const struct profile_style *style);
const char *report_scene_text(struct report_scene *s, profile_text *print);

#endif
