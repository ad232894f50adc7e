/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A raw profile that somebody else made, and a file of the tree in which its names are looked for:
 * the first part of the input is the profile, the second the file "/file" of that tree.
 */
#include "profile/symbolise.h"

#include "files_fuzz.h"
#include "profile/places.h"
#include "profile_fuzz.h"

static void count(void *context, size_t done, size_t total)
{
	(void)context;
	must(done <= total);
}

static bool is_over(void *context)
{
	return (*(unsigned *)context)++ == 2;
}

/* Raw frames have names, unless the profile has no samples of them. */
static void check_named(const struct profile *profile)
{
	for (size_t i = 0; i < profile->nodes.count; i++)
		must(!place_is_raw(&profile->frames.items[profile->nodes.items[i].frame]));
}

static void name_all(struct text json, bool no_inline, bool ends)
{
	unsigned files = 0;
	struct symbolise_left left = { 0 };
	const struct symbolise_options options = {
		.no_inline = no_inline,
		.is_elsewhere = true,
		.symfs = fuzz_dir(),
		.progress = count,
		.is_over = ends ? is_over : NULL,
		.is_over_context = &files,
		.left = &left,
	};
	struct profile *profile;
	struct error *err = profile_parse_json(json, &profile);

	if (err) {
		fuzz_check_error(err);
		return;
	}
	err = symbolise_user(profile, &options);
	if (err) {
		fuzz_check_error(err);
	} else {
		check_named(profile);
		fuzz_check_profile(profile);
	}
	profile_destroy(profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size), rest = bytes, json = { 0 };

	fuzz_cut_part(&rest, &json);
	fuzz_clear_dir();
	must(fuzz_put_file("file", rest));
	name_all(json, false, false);
	name_all(json, true, true);
	fuzz_release(bytes);
	return 0;
}
