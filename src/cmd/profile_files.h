/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that -o, --format and --flush ask for.
 *
 *	err = profile_files_write_raw(&output, &report, interval);	as the profile was taken
 *	...								name its frames
 *	err = profile_files_write(&output, &view, interval);		all others
 *
 * Raw files hold addresses, to be named later or elsewhere, so they are written before names are
 * looked up. Every other format is written once its frames have names. Pictures draw the waits of
 * idle threads as one frame; files for programs have everything.
 */
#ifndef CMD_PROFILE_FILES_H
#define CMD_PROFILE_FILES_H

#include "cmd/profile_output.h"
#include "cmd/profile_view.h"

/* The format of the file of that path: that of --format, else that of the path's end. */
struct error *profile_files_format(const struct profile_output *output, const char *path,
				   enum profile_format *ret) MUST_CHECK;

/* Write the files of the format raw, if there are any. Paths get the number of the interval before
 * their end ("off.003.svg"), unless it is 0. */
struct error *profile_files_write_raw(const struct profile_output *output,
				      const struct profile_report *report,
				      unsigned interval) MUST_CHECK;

/* Write the files of all other formats; without -o and --flush, the one of --format to standard
 * output. */
struct error *profile_files_write(const struct profile_output *output,
				  const struct profile_view *view, unsigned interval) MUST_CHECK;

#endif
