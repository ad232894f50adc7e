// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
#include "control.h"

#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#else
#include <errno.h>
#include <string.h>
#include <strings.h>
#define ARRAY_SIZE(fixed) (sizeof(fixed) / sizeof((fixed)[0]))
#endif

#include "histogram/bucket.h"

static bool is_letter(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static bool is_space(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

/* Printable ASCII without the space: enough for names of functions and tracepoints. */
static bool is_text(char byte)
{
	return byte > ' ' && byte < 0x7f;
}

/* --- names --- */

/* The module's own files in the directory of metrics. */
static const char *const reserved_names[] = { "_control", "_raw" };

int kstats_name_errno(const char *name)
{
	size_t length = strlen(name), i;

	if (length > KSTATS_NAME_MAX)
		return -ENAMETOOLONG;
	if (!length || *name == '-' || strncasecmp(name, KSTATS_GAP, strlen(KSTATS_GAP)) == 0)
		return -EINVAL;
	for (i = 0; i < length; i++)
		if (!is_letter(name[i]) && !is_digit(name[i]) && name[i] != '_' && name[i] != '-')
			return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(reserved_names); i++)
		if (strcmp(name, reserved_names[i]) == 0)
			return -EINVAL;
	return 0;
}

/* --- locations --- */

/* Kinds that only the BPF recorder supports. */
static const char *const bpf_only[] = { "syscall:", "uprobe:", "uretprobe:", "uret:", "usdt:" };

static const char *after(const char *text, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

int kstats_location_parse(const char *text, struct kstats_location *ret)
{
	struct kstats_location location = { .kind = KSTATS_FUNCTION, .name = text };
	const char *rest;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bpf_only); i++)
		if (after(text, bpf_only[i]))
			return -EOPNOTSUPP;
	rest = after(text, "__tracepoint_");
	if (rest) {
		location.kind = KSTATS_TRACEPOINT;
		location.name = rest;
	}
	rest = after(text, "tracepoint:");
	if (rest) {
		const char *colon = strchr(rest, ':');

		if (!colon || colon == rest)
			return -EINVAL;
		location.kind = KSTATS_EVENT;
		location.name = colon + 1;
		location.system = rest;
		location.system_length = colon - rest;
	}
	if (!*location.name || (location.kind != KSTATS_FUNCTION && strchr(location.name, ':')))
		return -EINVAL;
	*ret = location;
	return 0;
}

/* --- commands --- */

/* Cut the next word out; NULL at the end. */
static char *next_word(char **rest)
{
	char *at = *rest, *word;

	while (is_space(*at))
		at++;
	if (!*at)
		return NULL;
	word = at;
	while (*at && !is_space(*at))
		at++;
	if (*at)
		*at++ = '\0';
	*rest = at;
	return word;
}

static int take_location(const char *word, const char **ret)
{
	struct kstats_location location;

	if (strlen(word) > KSTATS_LOCATION_MAX)
		return -ENAMETOOLONG;
	*ret = word;
	return kstats_location_parse(word, &location);
}

/* The same spellings as kstrtouint(): 3, 03 or 0x3. All valid numbers have one digit, in octal and
 * hexadecimal too. */
static int take_bits(const char *word, unsigned int *ret)
{
	if (word[0] == '0' && (word[1] == 'x' || word[1] == 'X'))
		word += 2;
	while (word[0] == '0' && word[1])
		word++;
	if (!is_digit(word[0]) || word[1] || word[0] > '0' + BUCKET_FRAC_BITS_MAX)
		return -EINVAL;
	*ret = word[0] - '0';
	return 0;
}

static int take_pair(const char *key, const char *value, struct kstats_request *request)
{
	if (!value)
		return -EINVAL;
	if (strcasecmp(key, "bits") == 0)
		return take_bits(value, &request->frac_bits);
	if (strcasecmp(key, "start") == 0)
		return take_location(value, &request->start);
	if (strcasecmp(key, "end") == 0)
		return take_location(value, &request->end);
	return -EINVAL;
}

static int take_trace(char *rest, struct kstats_request *request)
{
	const char *key;
	int err = 0;

	request->verb = KSTATS_TRACE;
	request->frac_bits = KSTATS_BITS_DEFAULT;
	while (!err && (key = next_word(&rest)))
		err = take_pair(key, next_word(&rest), request);
	if (!err && !request->start)
		err = take_location(request->name, &request->start);
	return err;
}

static int take_remove(char *rest, struct kstats_request *request)
{
	request->verb = request->name ? KSTATS_REMOVE : KSTATS_REMOVE_ALL;
	return next_word(&rest) ? -EINVAL : 0;
}

int kstats_request_parse(char *bytes, size_t length, struct kstats_request *ret)
{
	struct kstats_request request = { 0 };
	char *rest = bytes;
	const char *verb;
	size_t i;
	int err;

	if (length > KSTATS_COMMAND_MAX)
		return -EMSGSIZE;
	bytes[length] = '\0';
	for (i = 0; i < length; i++)
		if (!is_text(bytes[i]) && !is_space(bytes[i]))
			return -EINVAL;
	verb = next_word(&rest);
	request.name = verb ? next_word(&rest) : NULL;
	if (!request.name)
		return -EINVAL;
	if (strcasecmp(verb, "remove") == 0 && strcmp(request.name, "*") == 0) {
		request.name = NULL;
	} else {
		err = kstats_name_errno(request.name);
		if (err)
			return err;
	}
	if (strcasecmp(verb, "trace") == 0)
		err = take_trace(rest, &request);
	else if (strcasecmp(verb, "remove") == 0)
		err = take_remove(rest, &request);
	else
		err = -EINVAL;
	if (!err)
		*ret = request;
	return err;
}
