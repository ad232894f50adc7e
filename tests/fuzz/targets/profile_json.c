/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/json.h"
#include "profile_fuzz.h"

/* Columns are read in another way from their second piece on. */
static struct error *parse_pieces(struct text bytes, struct profile **ret)
{
	_cleanup_(profile_parser_destroy) struct profile_parser *parser = NULL;
	const size_t piece = 1 + bytes.length % 61;
	struct error *err = profile_parser_create(&parser);

	for (size_t done = 0; done < bytes.length && !err; done += piece) {
		const size_t left = bytes.length - done;

		err = profile_parser_feed(
			parser, (struct text){ bytes.bytes + done, left < piece ? left : piece });
	}
	return err ? err : profile_parser_finish(parser, ret);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_profile(size % 2 ? parse_pieces : profile_parse_json, data, size);
}
