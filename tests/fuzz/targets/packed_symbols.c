/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MiniDebugInfo: the bytes as what is packed into .gnu_debugdata, and as the section itself.
 */
#include "elf/packed_symbols.h"

#include <lzma.h>
#include <string.h>

#include "elf/binary.h"
#include "elf_fuzz.h"

static void find_names(struct text elf)
{
	const struct binary_options options = { 0 };
	struct binary *binary;
	struct binary_found found;

	if (binary_open_bytes(elf, &options, &binary))
		return;
	for (uint64_t address = 0; address < elf.length && address < 0x4000; address += 7)
		if (binary_find(binary, address, &found)) {
			must(found.start <= address);
			must(strlen(found.name) == found.length);
		}
	binary_destroy(binary);
}

/* `expected` without bytes: anything. */
static void check_section(struct text section, struct text expected)
{
	const struct fuzz_section sections[] = { { ".gnu_debugdata", SHT_PROGBITS, section } };
	struct text bytes = fuzz_make_elf(sections, array_length(sections)), unpacked;
	struct image image = image_of(bytes);
	struct elf elf;

	must(elf_open(&image, &elf));
	if (packed_symbols(&elf, &unpacked)) {
		must(unpacked.length <= PACKED_SYMBOLS_MAX);
		must(!expected.bytes || text_equal(unpacked, expected));
		fuzz_release(unpacked);
	} else {
		must(!expected.bytes);
	}
	elf_close(&elf);
	find_names(bytes);
	fuzz_release(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	size_t room = lzma_stream_buffer_bound(size), length = 0;
	char *packed = malloc(room);

	must(packed);
	must(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, data, size, (uint8_t *)packed,
				     &length, room) == LZMA_OK);
	check_section((struct text){ packed, length }, bytes);
	check_section(bytes, (struct text){ 0 });
	free(packed);
	fuzz_release(bytes);
	return 0;
}
