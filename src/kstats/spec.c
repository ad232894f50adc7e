/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct kstats_key_info kstats_keys[KSTATS_KEY_COUNT] = {
#define KEY_ROW(id, name, prose) { name, prose },
	KSTATS_KEYS(KEY_ROW)
#undef KEY_ROW
};

void kstats_spec_clear(struct kstats_spec *spec)
{
	free(spec->name);
	free(spec->start);
	free(spec->end);
	free(spec->cgroup);
	free(spec->comm);
	free(spec->cpus);
	*spec = (struct kstats_spec){ 0 };
}

struct error *kstats_name_check(const char *name)
{
	size_t length = strlen(name);

	if (!length)
		return error_coded(EINVAL, "missing metric name");
	if (length > KSTATS_NAME_MAX)
		return error_coded(ENAMETOOLONG, "metric name too long: %zu bytes, at most %d",
				   length, KSTATS_NAME_MAX);
	for (const char *at = name; *at; at++)
		if (!isascii(*at) || (!isalnum(*at) && *at != '_' && *at != '-'))
			return error_coded(EINVAL,
					   "invalid metric name: expected letters, digits, '_' and "
					   "'-' (choose a name, and give the function as start)");
	/* The kernel module has such files. */
	if (strcmp(name, "_control") == 0 || strcmp(name, "_raw") == 0)
		return error_coded(EINVAL, "the name '%s' is reserved", name);
	if (strncasecmp(name, KSTATS_GAP, strlen(KSTATS_GAP)) == 0)
		return error_coded(
			EINVAL, "the name '%s' is reserved: GAP-NAME is created with NAME", name);
	if (*name == '-')
		return error_coded(EINVAL, "a metric name must not start with '-'");
	return NULL;
}

/* --- pairs of words --- */

/* The same spellings as in the module: 3, 03 or 0x3 (kmod/control.c). */
static struct error *take_bits(const char *value, struct kstats_spec *spec)
{
	const char *digit = value;

	if (strncasecmp(digit, "0x", 2) == 0)
		digit += 2;
	while (digit[0] == '0' && digit[1])
		digit++;
	if (strlen(digit) != 1 || *digit < '0' || *digit > '0' + BUCKET_FRAC_BITS_MAX)
		return error_coded(EINVAL, "invalid bits '%.60s': expected 0 to %d", value,
				   BUCKET_FRAC_BITS_MAX);
	spec->frac_bits = (unsigned)(*digit - '0');
	return NULL;
}

static struct error *take_word(const char *value, char **ret)
{
	char *copy = strdup(value);

	if (!copy)
		return &error_no_memory;
	free(*ret);
	*ret = copy;
	return NULL;
}

static struct error *take_start(const char *value, struct kstats_spec *spec)
{
	return take_word(value, &spec->start);
}

static struct error *take_end(const char *value, struct kstats_spec *spec)
{
	return take_word(value, &spec->end);
}

static const struct {
	const char *keyword;
	struct error *(*take)(const char *value, struct kstats_spec *spec);
} pairs[] = {
	{ "bits", take_bits },
	{ "start", take_start },
	{ "end", take_end },
};

static struct error *take_pair(const char *keyword, const char *value, struct kstats_spec *spec)
{
	for (size_t i = 0; i < array_length(pairs); i++) {
		if (strcasecmp(keyword, pairs[i].keyword) != 0)
			continue;
		if (!value || !*value)
			return error_coded(EINVAL, "missing value after '%s'", keyword);
		return pairs[i].take(value, spec);
	}
	return error_coded(EINVAL, "unexpected '%.60s': expected bits B, start X or end Y",
			   keyword);
}

struct error *kstats_spec_parse(char *const *words, struct kstats_spec *ret)
{
	struct error *err;

	ret->frac_bits = KSTATS_BITS_DEFAULT;
	if (!*words)
		return error_coded(EINVAL, "trace: " KSTATS_GRAMMAR);
	err = kstats_name_check(*words);
	if (!err)
		err = take_word(*words++, &ret->name);
	while (!err && *words) {
		err = take_pair(words[0], words[1], ret);
		words += words[1] ? 2 : 1;
	}
	if (!err && !ret->start)
		err = take_word(ret->name, &ret->start);
	return err;
}
