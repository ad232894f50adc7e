/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/zstream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <zstd.h>

#include "unit/unit.h"

/* Reads `file` to its end or first error into `ret`. */
static struct error *read_back(struct text file, struct sunk *ret)
{
	int fd = memfd_create("zstd", MFD_CLOEXEC);
	struct zstream_reader reader;
	struct error *err;
	struct text piece;

	assert_int_equal(write(fd, file.bytes, file.length), file.length);
	lseek(fd, 0, SEEK_SET);
	ret->count = 0;
	err = zstream_reader_init(&reader, fd);
	while (!err) {
		err = zstream_read(&reader, &piece);
		if (err || !piece.length)
			break;
		expect_ok(sunk_write(ret, piece.bytes, piece.length));
		assert_int_equal(reader.offset, ret->count);
	}
	zstream_reader_deinit(&reader);
	close(fd);
	return err;
}

static void compress(struct text plain, size_t piece, struct sunk *ret)
{
	struct zstream_writer writer;

	expect_ok(zstream_writer_init(&writer, sunk_write, ret));
	for (size_t at = 0; at < plain.length; at += piece)
		expect_ok(zstream_write(&writer, plain.bytes + at,
					plain.length - at < piece ? plain.length - at : piece));
	expect_ok(zstream_finish(&writer));
	zstream_writer_deinit(&writer);
}

static char *noise(size_t length)
{
	char *bytes = malloc(length + 1);
	uint64_t seed = 7;

	assert_non_null(bytes);
	for (size_t i = 0; i < length; i++)
		bytes[i] = (char)next_random(&seed);
	return bytes;
}

static void check_round_trip(struct text plain, size_t piece)
{
	struct sunk file = { 0 }, back = { 0 };

	compress(plain, piece, &file);
	expect_ok(read_back(sunk_text(&file), &back));
	assert_int_equal(back.count, plain.length);
	assert_memory_equal(sunk_text(&back).bytes, plain.bytes, plain.length);
	array_deinit(&file);
	array_deinit(&back);
}

TEST(round_trip)
{
	static const size_t lengths[] = { 0, 1, 100, 131071, 131072, 131073, 1 << 20 };
	_cleanup_free_ char *random = noise(1 << 20);
	_cleanup_free_ char *zeros = calloc(1, 1 << 20);

	for (size_t i = 0; i < array_length(lengths); i++) {
		check_round_trip((struct text){ random, lengths[i] }, 1 << 20);
		check_round_trip((struct text){ zeros, lengths[i] }, 4099);
	}
}

/* Another implementation's word for it: the whole-buffer call of the library. */
TEST(one_frame_with_a_checksum)
{
	struct sunk file = { 0 };
	char plain[64];

	compress(TEXT("what the other side reads"), 5, &file);
	assert_int_equal(ZSTD_findFrameCompressedSize(file.items, file.count), file.count);
	assert_int_equal(ZSTD_decompress(plain, sizeof(plain), file.items, file.count), 25);
	assert_memory_equal(plain, "what the other side reads", 25);
	/* RFC 8878, frame header descriptor: bit 2 says that a checksum follows. */
	assert_true((unsigned char)file.items[4] & 4);
	array_deinit(&file);
}

TEST(pieces_are_frames_of_their_own)
{
	_cleanup_free_ char *random = noise(1 << 20);
	struct sunk file = { 0 }, back = { 0 };
	struct zstream_writer writer;
	size_t first;

	expect_ok(zstream_writer_init(&writer, sunk_write, &file));
	expect_ok(zstream_write_frame(&writer, "first,", 6));
	first = file.count;
	expect_ok(zstream_write_frame(&writer, random, 1 << 20));
	zstream_writer_deinit(&writer);
	assert_int_equal(ZSTD_findFrameCompressedSize(file.items, file.count), first);
	assert_true((unsigned char)file.items[4] & 4);
	assert_int_equal(ZSTD_findFrameCompressedSize(file.items + first, file.count - first),
			 file.count - first);
	expect_ok(read_back(sunk_text(&file), &back));
	assert_int_equal(back.count, 6 + (1 << 20));
	assert_memory_equal(sunk_text(&back).bytes, "first,", 6);
	assert_memory_equal(sunk_text(&back).bytes + 6, random, 1 << 20);
	array_deinit(&file);
	array_deinit(&back);
}

/* Noise, and repeats of it of all lengths at all distances; zstd joins what it likes. */
TEST(repeats_are_read_back)
{
	static const size_t longest[] = { 8, 100, 5000, 300000 };

	for (size_t k = 0; k < 4 * array_length(longest); k++) {
		_cleanup_free_ char *text = noise(1 << 20);
		struct {
			ARRAY(struct zstream_repeat);
		} repeats = { 0 };
		struct sunk file = { 0 }, back = { 0 };
		size_t at = 100, length = (1 << 20) - k * 1000;
		struct zstream_writer writer;
		uint64_t seed = k + 1;

		for (;;) {
			struct zstream_repeat repeat = { .at = (uint32_t)at };

			repeat.length = 8 + (uint32_t)(next_random(&seed) % longest[k / 4]);
			repeat.distance = 1 + (uint32_t)(next_random(&seed) % at);
			if (repeat.at + repeat.length > length)
				break;
			for (size_t i = 0; i < repeat.length; i++)
				text[at + i] = text[at + i - repeat.distance];
			assert_true(array_push(&repeats, repeat));
			at += repeat.length + next_random(&seed) % (k % 4 ? 100 * k * k : 1);
		}
		expect_ok(zstream_writer_init(&writer, sunk_write, &file));
		for (unsigned twice = 0; twice < 2; twice++) {
			expect_ok(zstream_write_repeats(&writer, text, length, repeats.items,
							repeats.count));
			expect_ok(zstream_write_frame(&writer, "between", 7));
		}
		zstream_writer_deinit(&writer);
		assert_true((unsigned char)file.items[4] & 4);
		expect_ok(read_back(sunk_text(&file), &back));
		assert_int_equal(back.count, 2 * (length + 7));
		assert_memory_equal(sunk_text(&back).bytes, text, length);
		assert_memory_equal(sunk_text(&back).bytes + length + 7, text, length);
		array_deinit(&file);
		array_deinit(&back);
		array_deinit(&repeats);
	}
}

TEST(a_truncated_file_is_an_error_wherever_it_ends)
{
	_cleanup_free_ char *random = noise(700);
	struct sunk file = { 0 }, back = { 0 };

	compress((struct text){ random, 700 }, 700, &file);
	expect_error(read_back((struct text){ file.items, 0 }, &back), "the file is empty");
	for (size_t length = 1; length < file.count; length++)
		expect_error(read_back((struct text){ file.items, length }, &back),
			     "the file ends in the middle of its data");
	array_deinit(&file);
	array_deinit(&back);
}

TEST(not_zstd)
{
	struct sunk back = { 0 };

	expect_error(read_back(TEXT("\x1f\x8b\x08\0\0\0\0\0\0\0\0\0"), &back),
		     "neither a zstd file nor JSON");
	expect_error(read_back(TEXT("  "), &back), "neither a zstd file nor JSON");
	expect_error(read_back(TEXT("[1]"), &back), "neither a zstd file nor JSON");
	array_deinit(&back);
}

/* As it is, in pieces of any size. */
TEST(plain_json)
{
	_cleanup_free_ char *long_one = malloc(1 << 20);
	struct sunk back = { 0 };

	expect_ok(read_back(TEXT("{\"captured_at_unix_ns\":1}"), &back));
	expect_text(sunk_text(&back), "{\"captured_at_unix_ns\":1}");
	array_clear(&back);
	expect_ok(read_back(TEXT("\n\t {}\n"), &back));
	expect_text(sunk_text(&back), "\n\t {}\n");
	array_clear(&back);
	memset(long_one, 'x', 1 << 20);
	long_one[0] = '{';
	expect_ok(read_back((struct text){ long_one, 1 << 20 }, &back));
	assert_int_equal(back.count, 1 << 20);
	assert_memory_equal(back.items, long_one, 1 << 20);
	array_deinit(&back);
}

TEST(frames_one_after_the_other)
{
	struct sunk file = { 0 }, back = { 0 };

	compress(TEXT("first,"), 6, &file);
	compress(TEXT(""), 1, &file);
	compress(TEXT("second"), 6, &file);
	expect_ok(read_back(sunk_text(&file), &back));
	expect_text(sunk_text(&back), "first,second");
	array_deinit(&file);
	array_deinit(&back);
}

TEST(trailing_bytes_must_be_zstd)
{
	struct sunk file = { 0 }, back = { 0 };

	compress(TEXT("first"), 5, &file);
	expect_ok(sunk_write(&file, "not a frame", 11));
	expect_error(read_back(sunk_text(&file), &back), "zstd: ");
	expect_text(sunk_text(&back), "first");
	array_deinit(&file);
	array_deinit(&back);
}

TEST(a_changed_byte_is_found)
{
	_cleanup_free_ char *random = noise(3000);
	struct error *err;
	struct sunk file = { 0 }, back = { 0 };

	compress((struct text){ random, 3000 }, 3000, &file);
	file.items[1500] ^= 1;
	err = read_back(sunk_text(&file), &back);
	assert_non_null(err);
	assert_null(strstr(err->message, "neither"));
	expect_error(err, "checksum");
	array_deinit(&file);
	array_deinit(&back);
}

/* A frame whose header asks for a window of 2^log bytes. */
static struct error *read_with_window(int log)
{
	static const char plain[] = "small, but with a large window";
	char bytes[256];
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	ZSTD_inBuffer in = { plain, sizeof(plain), 0 };
	ZSTD_outBuffer out = { bytes, sizeof(bytes), 0 };
	struct sunk back = { 0 };
	struct error *err;

	ZSTD_CCtx_setParameter(zstd, ZSTD_c_windowLog, log);
	assert_int_equal(ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_flush), 0);
	assert_int_equal(ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_end), 0);
	ZSTD_freeCCtx(zstd);
	err = read_back((struct text){ bytes, out.pos }, &back);
	if (!err)
		assert_memory_equal(back.items, plain, sizeof(plain));
	array_deinit(&back);
	return err;
}

TEST(windows_up_to_16_mib)
{
	expect_ok(read_with_window(23));
	expect_ok(read_with_window(24));
	expect_error(read_with_window(25), "memory");
	expect_error(read_with_window(27), "memory");
}

TEST(a_sink_that_fails_stops_the_writer)
{
	_cleanup_free_ char *random = noise(1 << 20);
	struct sunk file = { .refuse_after = 1000 };
	struct zstream_writer writer;
	struct error *err;

	expect_ok(zstream_writer_init(&writer, sunk_write, &file));
	err = zstream_write(&writer, random, 1 << 20);
	expect_error(err, "the sink is full");
	zstream_writer_deinit(&writer);
	array_deinit(&file);
}

TEST(a_read_that_fails)
{
	struct zstream_reader reader;
	struct text piece;
	int dir = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	expect_ok(zstream_reader_init(&reader, dir));
	expect_error(zstream_read(&reader, &piece), "Is a directory");
	zstream_reader_deinit(&reader);
	close(dir);
}

UNIT_TESTS(cmocka_unit_test(round_trip), cmocka_unit_test(one_frame_with_a_checksum),
	   cmocka_unit_test(pieces_are_frames_of_their_own),
	   cmocka_unit_test(repeats_are_read_back),
	   cmocka_unit_test(a_truncated_file_is_an_error_wherever_it_ends),
	   cmocka_unit_test(not_zstd), cmocka_unit_test(plain_json),
	   cmocka_unit_test(frames_one_after_the_other),
	   cmocka_unit_test(trailing_bytes_must_be_zstd), cmocka_unit_test(a_changed_byte_is_found),
	   cmocka_unit_test(windows_up_to_16_mib),
	   cmocka_unit_test(a_sink_that_fails_stops_the_writer),
	   cmocka_unit_test(a_read_that_fails))
