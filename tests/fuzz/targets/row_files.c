/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include "top/row_reader.h"

/* The bytes are each of the files. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	struct row_files files = { 0 };

	must(row_files_parse_stat(bytes, &files) == files.is_there);
	must(files.command_length <= ROW_COMMAND_MAX);
	row_files_parse_io(bytes, &files);
	row_files_take_command(bytes, &files);
	must(files.has_command && files.command_length <= ROW_COMMAND_MAX);
	must(!memchr(files.command, '\0', files.command_length));
	fuzz_release(bytes);
	return 0;
}
