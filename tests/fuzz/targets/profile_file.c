/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A profile as a file of any form: the bytes, and what zstd and gzip make of them, for a mutation
 * of packed bytes rarely gets past what unpacks them.
 */
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "files_fuzz.h"
#include "profile_fuzz.h"

static bool load(struct text bytes)
{
	_cleanup_close_ int fd = fuzz_open_bytes(bytes);
	struct profile *profile;
	struct error *err;
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = profile_load(path, &profile);
	if (err) {
		must(strncmp(err->message, path, strlen(path)) == 0);
		fuzz_check_error(err);
		return false;
	}
	fuzz_check_profile(profile);
	profile_destroy(profile);
	return true;
}

static bool load_zstd(struct text bytes)
{
	size_t room = ZSTD_compressBound(bytes.length);
	char *packed = malloc(room);
	bool done;

	must(packed);
	done = load(
		(struct text){ packed, ZSTD_compress(packed, room, bytes.bytes, bytes.length, 1) });
	free(packed);
	return done;
}

static void load_gzip(struct text bytes)
{
	z_stream stream = { .next_in = (Bytef *)(uintptr_t)bytes.bytes,
			    .avail_in = (uInt)bytes.length };
	char *packed;
	uLong room;

	must(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
	room = deflateBound(&stream, bytes.length);
	packed = malloc(room);
	must(packed);
	stream.next_out = (Bytef *)packed;
	stream.avail_out = (uInt)room;
	must(deflate(&stream, Z_FINISH) == Z_STREAM_END);
	load((struct text){ packed, stream.total_out });
	deflateEnd(&stream);
	free(packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	bool is_plain = load(bytes), is_packed = load_zstd(bytes);

	/* Plain or packed, it is the same. */
	if (size && data[0] == '{')
		must(is_plain == is_packed);
	load_gzip(bytes);
	fuzz_release(bytes);
	return 0;
}
