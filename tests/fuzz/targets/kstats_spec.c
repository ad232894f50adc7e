/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "kstats/spec.h"

#define WORDS_MAX 64

/* Words of the input, apart at newlines, each where its allocation ends. */
static size_t split(struct text text, char *words[WORDS_MAX + 1])
{
	size_t count = 0;

	while (text.length && count < WORDS_MAX) {
		const char *end = memchr(text.bytes, '\n', text.length);
		size_t length = end ? (size_t)(end - text.bytes) : text.length;

		words[count] = strndup(text.bytes, length);
		must(words[count++]);
		text.bytes += length + !!end;
		text.length -= length + !!end;
	}
	words[count] = NULL;
	return count;
}

/* It is a file's name in any file system, and nobody else's. */
static void check_name(const char *name)
{
	must(*name && *name != '-' && strlen(name) <= KSTATS_NAME_MAX);
	for (; *name; name++)
		must(isascii(*name) && (isalnum(*name) || *name == '_' || *name == '-'));
}

/* In the words in which it is written again, it is the same. */
static void check_again(const struct kstats_spec *spec)
{
	char bits[] = { (char)('0' + spec->frac_bits), '\0' };
	char *words[] = { (char *)"END", spec->end, (char *)"Bits", bits, (char *)"start",
			  spec->start,   NULL };
	char *all[8] = { spec->name };
	struct kstats_spec again = { 0 };
	struct error *err;

	memcpy(all + 1, words + (spec->end ? 0 : 2),
	       sizeof(words) - (spec->end ? 0 : 2) * sizeof(words[0]));
	err = kstats_spec_parse(all, &again);
	must(!err);
	must(strcmp(again.name, spec->name) == 0 && strcmp(again.start, spec->start) == 0);
	must(!again.end == !spec->end && (!spec->end || strcmp(again.end, spec->end) == 0));
	must(again.frac_bits == spec->frac_bits);
	kstats_spec_clear(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	struct kstats_spec spec = { 0 };
	char *words[WORDS_MAX + 1];
	size_t count = split(bytes, words);
	struct error *err = kstats_spec_parse(words, &spec);

	if (err) {
		must(err->errnum == EINVAL || err->errnum == ENAMETOOLONG);
		fuzz_check_error(err);
	} else {
		check_name(spec.name);
		must(count % 2 == 1 && strcmp(spec.name, words[0]) == 0);
		must(spec.start && *spec.start && spec.frac_bits <= BUCKET_FRAC_BITS_MAX);
		must(!spec.end || *spec.end);
		check_again(&spec);
	}
	kstats_spec_clear(&spec);
	while (count)
		free(words[--count]);
	fuzz_release(bytes);
	return 0;
}
