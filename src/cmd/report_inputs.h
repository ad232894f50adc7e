/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of `ctprof report`: what each is, by its content, and the files loaded.
 *
 *	struct report_inputs inputs = { 0 };
 *	err = report_inputs_load(&inputs, paths, count);
 *	...
 *	report_inputs_deinit(&inputs);
 */
#ifndef CMD_REPORT_INPUTS_H
#define CMD_REPORT_INPUTS_H

#include "base/file.h"
#include "compare/sides.h"
#include "kstats/file.h"
#include "profile/files.h"

struct report_kstats {
	const char *path;
	struct kstats_tables tables;
};

/* The inputs of each kind, in the order of the command line. */
struct report_inputs {
	struct {
		ARRAY(struct side);
	} snapshots;
	struct {
		ARRAY(struct named_profile);
	} profiles;
	struct {
		ARRAY(struct report_kstats);
	} kstats;
	struct {
		ARRAY(char *);
	} paths; /* of captures in recordings, and of profiles beside snapshots */
};

/*
 * Load the files, and the profiles that `capture --profile` wrote beside snapshots. Of a recording
 * the last capture is loaded; if it is the only snapshot, the first and the last. Release `inputs`
 * also after an error.
 */
struct error *report_inputs_load(struct report_inputs *inputs, char **paths,
				 size_t count) MUST_CHECK;

/* Load open files alone, which can be read again from their start: nothing else is opened. Their
 * names must last as long as the inputs. Release `inputs` also after an error. */
struct error *report_inputs_load_files(struct report_inputs *inputs, const struct named_file *files,
				       size_t count) MUST_CHECK;

void report_inputs_deinit(struct report_inputs *inputs);

#endif
