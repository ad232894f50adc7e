/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/usual_operation.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "elf/elf.h"
#include "unit/unit.h"

struct counts {
	size_t read, usual;
};

static bool is_same(const struct operation *a, const struct operation *b)
{
	return a->kind == b->kind && a->length == b->length && a->value == b->value &&
	       a->reg == b->reg && a->by_bp == b->by_bp && a->sets_bp == b->sets_bp &&
	       a->sets_bx == b->sets_bx;
}

/* Compare our decoder with capstone for instructions that it knows. Returns the length. */
static unsigned compare(struct decoder *decoder, const uint8_t *bytes, size_t size,
			struct counts *counts)
{
	const struct operation wanted = decoder_read_any(decoder, bytes, size);
	struct operation usual;

	counts->read++;
	/* These are looked for before. */
	if ((size >= 2 && !bytes[0] && !bytes[1]) || wanted.kind == OPERATION_SIGRETURN)
		return wanted.length;
	if (!usual_operation(bytes, size, &usual))
		return wanted.length;
	counts->usual++;
	if (!is_same(&usual, &wanted)) {
		for (size_t i = 0; i < size && i < 15; i++)
			fprintf(stderr, " %02x", bytes[i]);
		fprintf(stderr, ": kind %u, length %u, value %d is kind %u, length %u, value %d\n",
			usual.kind, usual.length, usual.value, wanted.kind, wanted.length,
			wanted.value);
		fail();
	}
	return wanted.length;
}

#define BYTES_OF_FILE ((size_t)512 << 10)

static bool compare_file(struct decoder *decoder, const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct counts counts = { 0 };
	struct image image;
	struct text code;
	struct elf elf;

	if (fd < 0)
		return false;
	assert_int_equal(image_open(fd, &image), 0);
	assert_true(elf_open(&image, &elf));
	code = elf_section(&elf, ".text");
	for (size_t at = 0; elf.machine == EM_X86_64 && at < code.length && at < BYTES_OF_FILE;) {
		unsigned length = compare(decoder, (const uint8_t *)code.bytes + at,
					  code.length - at, &counts);

		at += length ? length : 1;
	}
	assert_true(counts.usual * 10 >= counts.read * 8);
	elf_close(&elf);
	image_close(&image);
	return counts.read;
}

TEST(usual_instructions_of_programs_are_what_capstone_says)
{
	static const char *const files[] = {
		"/lib/x86_64-linux-gnu/libc.so.6",
		"/bin/bash",
		"/usr/bin/git",
		"/usr/bin/perl",
	};
	struct decoder *decoder = decoder_create();
	bool any = false;

	assert_non_null(decoder);
	for (size_t i = 0; i < array_length(files); i++)
		any |= compare_file(decoder, files[i]);
	decoder_destroy(decoder);
	if (!any)
		skip();
}

/* A byte of prefix, and another map of opcodes, are as likely as others. */
static void put_random(uint8_t *bytes, size_t size)
{
	static const uint8_t prefixes[] = { 0x66, 0xf2, 0xf3 };
	size_t at = 0;

	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(random() >> 7);
	if (random() % 4 == 0)
		bytes[at++] = prefixes[random() % 3];
	if (random() % 2)
		bytes[at++] = (uint8_t)(0x40 | random() % 16);
	if (random() % 2)
		bytes[at] = 0x0f;
}

TEST(usual_instructions_of_any_bytes_are_what_capstone_says)
{
	struct decoder *decoder = decoder_create();
	struct counts counts = { 0 };

	assert_non_null(decoder);
	srandom(1);
	for (size_t i = 0; i < 400000; i++) {
		uint8_t bytes[15];

		put_random(bytes, sizeof(bytes));
		compare(decoder, bytes, i % 4 ? sizeof(bytes) : (size_t)random() % 15, &counts);
	}
	assert_true(counts.usual > 100000);
	decoder_destroy(decoder);
}

UNIT_TESTS(cmocka_unit_test(usual_instructions_of_programs_are_what_capstone_says),
	   cmocka_unit_test(usual_instructions_of_any_bytes_are_what_capstone_says))
