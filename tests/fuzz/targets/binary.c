/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An ELF file whose addresses are named, with debug information and without.
 */
#include "elf/binary.h"
#include "fuzz.h"

/* A small part of what is allowed, so that a run that costs too much is seen. */
#define WORK ((uint64_t)1 << 22)

static int open_nothing(void *context, const char *path)
{
	(void)context;
	must(path[0] == '/');
	must(!strstr(path, "/../"));
	return -1;
}

static void check_found(const struct binary_found *found, uint64_t address)
{
	must(found->length && found->length < sizeof(found->name));
	must(strlen(found->name) == found->length);
	must(found->start <= address);
	must(found->inlined.count <= 1 + INLINED_MAX);
	for (size_t i = 1; i < found->inlined.count; i++)
		must(found->inlined.functions[i].name);
}

/* The address where the program begins: all or a part of the information is read. */
static void prepare(struct binary *binary, struct text bytes)
{
	Elf64_Ehdr header;
	const struct dwarf_addresses addresses = { .items = &header.e_entry, .count = 1 };

	memcpy(&header, bytes.bytes, sizeof(header));
	binary_prepare(binary, &addresses);
}

static void check(struct text bytes, uint64_t *work, bool is_part)
{
	const struct binary_options options = { .path = "/a/b",
						.open = open_nothing,
						.inlined_work = work };
	struct binary *binary = NULL;

	if (binary_open_bytes(bytes, &options, &binary))
		return;
	if (is_part)
		prepare(binary, bytes);
	for (uint64_t offset = 0; offset < bytes.length && offset < 0x4000; offset += 7) {
		struct binary_found found;
		uint64_t address;

		if (binary_address(binary, offset, 0x1000, &address) &&
		    binary_find(binary, address, &found))
			check_found(&found, address);
	}
	binary_destroy(binary);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	uint64_t work = WORK;

	check(bytes, NULL, false);
	check(bytes, &work, false);
	work = WORK;
	check(bytes, &work, true);
	must(work <= WORK);
	fuzz_release(bytes);
	return 0;
}
