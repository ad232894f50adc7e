/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include "base/glob.h"

/* A path with everything escaped that could mean something: it matches itself alone. */
static char *escape(struct text path)
{
	char *glob = malloc(2 * path.length + 1), *end = glob;

	must(glob);
	for (size_t i = 0; i < path.length; i++) {
		if (path.bytes[i] != '/')
			*end++ = '\\';
		*end++ = path.bytes[i];
	}
	*end = '\0';
	return glob;
}

static void check_escaped(struct text path)
{
	char *glob = escape(path);
	struct error *err = glob_check(glob);

	if (err)
		fuzz_check_error(err);
	else
		must(glob_matches(glob, path));
	free(glob);
}

/* The first line is the glob, which ends at a zero too; the rest is the path. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size), path = bytes, first = TEXT("");
	char *glob;
	struct error *err;

	text_cut(&path, '\n', &first);
	glob = strndup(first.bytes, first.length);
	must(glob);
	err = glob_check(glob);
	if (err)
		fuzz_check_error(err);
	else
		must(!glob_matches(glob, path) || glob_matches("/**", path));
	must(glob_matches("/**", path) == text_starts(path, TEXT("/")));
	if (!memchr(path.bytes, '\0', path.length))
		check_escaped(path);
	free(glob);
	fuzz_release(bytes);
	return 0;
}
