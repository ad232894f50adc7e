/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/profile_files.h"

#include <stdio.h>
#include <string.h>

#include "base/outfile.h"

/* --- formats --- */

struct error *profile_files_format(const struct profile_output *output, const char *path,
				   enum profile_format *ret)
{
	return output->format ? profile_format_named(output->format, ret)
			      : profile_format_of_path(path, ret);
}

static bool is_picture(enum profile_format format)
{
	return format == PROFILE_FORMAT_SVG || format == PROFILE_FORMAT_HTML;
}

static bool wants_pictures(const struct profile_output *output)
{
	enum profile_format format;

	if (output->format)
		return !profile_format_named(output->format, &format) && is_picture(format);
	for (size_t i = 0; i < output->paths.count; i++)
		if (!profile_format_of_path(output->paths.items[i], &format) && is_picture(format))
			return true;
	return false;
}

/* --- writing --- */

/* "off.svg" and 3 is "off.003.svg". */
static char *path_of_interval(const char *path, const char *extension, unsigned interval)
{
	size_t end = strlen(path), length = strlen(extension);
	char *name;

	if (end > length + 1 && strcmp(path + end - length, extension) == 0 &&
	    path[end - length - 1] == '.')
		end -= length + 1;
	if (asprintf(&name, "%.*s.%03u%s", (int)end, path, interval, path + end) < 0)
		return NULL;
	return name;
}

static struct error *write_file(const struct profile_report *report, enum profile_format format,
				const char *path)
{
	struct outfile file;
	struct error *err = outfile_open(&file, path);

	if (!err)
		err = profile_formats[format].print(report, outfile_write, &file);
	if (!err)
		err = outfile_commit(&file);
	outfile_close(&file);
	return err;
}

static struct error *write_to(const struct profile_output *output,
			      const struct profile_report *report, const char *path,
			      enum profile_format format, unsigned interval)
{
	_cleanup_free_ char *name = NULL;
	struct error *err;

	if (interval && strcmp(path, "-") != 0) {
		name = path_of_interval(path, profile_formats[format].extension, interval);
		if (!name)
			return &error_no_memory;
		path = name;
	}
	err = write_file(report, format, path);
	if (!err && !output->quiet && strcmp(path, "-") != 0)
		fprintf(stderr, "ctprof: wrote %s\n", path);
	return err;
}

static struct error *flush_interval(const struct profile_output *output,
				    const struct profile_report *report, bool is_raw)
{
	enum profile_format format;
	struct error *err = profile_format_named(output->format, &format);

	if (err || (format == PROFILE_FORMAT_RAW) != is_raw)
		return err;
	return profile_flush_add(output->flush, report, format);
}

/* Write the output files in the raw format, before frames are named, if `is_raw`, and otherwise
 * those in other formats. Pictures show `pictures`, from which narrow frames may be left out. */
static struct error *write_files(const struct profile_output *output,
				 const struct profile_report *report,
				 const struct profile_report *pictures, bool is_raw,
				 unsigned interval)
{
	struct error *err = NULL;

	if (output->flush)
		return flush_interval(output, wants_pictures(output) ? pictures : report, is_raw);
	for (size_t i = 0; !err && i < output->paths.count; i++) {
		const char *path = output->paths.items[i];
		enum profile_format format;

		err = profile_files_format(output, path, &format);
		if (!err && (format == PROFILE_FORMAT_RAW) == is_raw)
			err = write_to(output, is_picture(format) ? pictures : report, path, format,
				       interval);
	}
	return err;
}

struct error *profile_files_write_raw(const struct profile_output *output,
				      const struct profile_report *report, unsigned interval)
{
	return write_files(output, report, report, true, interval);
}

struct error *profile_files_write(const struct profile_output *output,
				  const struct profile_view *view, unsigned interval)
{
	_cleanup_(flame_destroy) struct flame *folded = NULL;
	struct profile_report pictures = view->report;
	enum profile_format format;
	struct error *err = NULL;

	if (wants_pictures(output))
		err = profile_view_fold(view, &folded);
	if (folded)
		pictures.flame = folded;
	if (!err && (output->paths.count || output->flush))
		return write_files(output, &view->report, &pictures, false, interval);
	if (!err)
		err = profile_format_named(output->format, &format);
	return err ? err
		   : write_to(output, is_picture(format) ? &pictures : &view->report, "-", format,
			      interval);
}
