/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <errno.h>

#include "../../../kmod/control.h"
#include "kstats/spec.h"

/* A text inside of the command that ends there. */
static bool is_inside(const char *text, const char *command, size_t length)
{
	return text >= command && text < command + length &&
	       memchr(text, '\0', (size_t)(command + length + 1 - text));
}

/* What the module takes, ctprof takes, and means the same by it. */
static void check_beside_spec(const struct kstats_request *request)
{
	struct kstats_spec spec = { 0 };
	char bits[] = { (char)('0' + request->frac_bits), '\0' }, name[KSTATS_NAME_MAX + 1],
	     start[KSTATS_LOCATION_MAX + 1], end[KSTATS_LOCATION_MAX + 1] = "",
	     word_bits[] = "bits", word_start[] = "start", word_end[] = "end";
	char *words[] = { name, word_bits, bits, word_start, start, request->end ? word_end : NULL,
			  end,  NULL };

	strcpy(name, request->name);
	strcpy(start, request->start);
	strcpy(end, request->end ? request->end : "");
	must(!kstats_spec_parse(words, &spec));
	must(strcmp(spec.name, request->name) == 0);
	must(strcmp(spec.start, request->start) == 0);
	must(!spec.end == !request->end);
	must(!spec.end || strcmp(spec.end, request->end) == 0);
	must(spec.frac_bits == request->frac_bits);
	kstats_spec_clear(&spec);
}

static void check_request(const struct kstats_request *request, const char *command, size_t length)
{
	struct kstats_location place;

	must(request->verb <= KSTATS_REMOVE_ALL);
	must(!request->name == (request->verb == KSTATS_REMOVE_ALL));
	must(!request->name || is_inside(request->name, command, length));
	must(!request->name || kstats_name_errno(request->name) == 0);
	if (request->verb != KSTATS_TRACE)
		return;
	must(request->frac_bits <= BUCKET_FRAC_BITS_MAX);
	must(is_inside(request->start, command, length));
	must(kstats_location_parse(request->start, &place) == 0);
	must(is_inside(place.name, command, length) && *place.name);
	must(!request->end || is_inside(request->end, command, length));
	must(!request->end || kstats_location_parse(request->end, &place) == 0);
	check_beside_spec(request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *command = malloc(size + 1);
	struct kstats_request request;
	int err;

	must(command);
	memcpy(command, data, size);
	err = kstats_request_parse(command, size, &request);
	if (err)
		must(err == -EINVAL || err == -ENAMETOOLONG || err == -EMSGSIZE ||
		     err == -EOPNOTSUPP);
	else
		check_request(&request, command, size);
	must((err == -EMSGSIZE) == (size > KSTATS_COMMAND_MAX));
	free(command);
	return 0;
}
