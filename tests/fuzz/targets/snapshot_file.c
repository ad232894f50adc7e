/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#define NAME "some.ctprof.zst"

static void load(const void *bytes, size_t length)
{
	_cleanup_close_ int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct ctprof_snapshot *snapshot = NULL;
	struct error *err;

	must(fd >= 0 && write(fd, bytes, length) == (ssize_t)length);
	must(lseek(fd, 0, SEEK_SET) == 0);
	err = snapshot_load_fd(fd, NAME, &snapshot);
	must(!err == (snapshot != NULL));
	if (err) {
		must(strncmp(err->message, NAME ": ", strlen(NAME ": ")) == 0);
		fuzz_check_error(err);
		return;
	}
	fuzz_check_round_trip(snapshot);
	snapshot_destroy(snapshot);
}

/* The bytes as a file, and as what is inside one: a mutation of compressed bytes rarely gets past
 * the decompressor. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t room = ZSTD_compressBound(size);
	void *compressed = malloc(room);

	must(compressed);
	load(data, size);
	load(compressed, ZSTD_compress(compressed, room, data, size, 1));
	free(compressed);
	return 0;
}
