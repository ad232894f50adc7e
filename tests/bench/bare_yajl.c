/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The least that reading JSON with libyajl can cost: standard input through its parser, with
 * callbacks that do nothing.
 */
#include <err.h>
#include <stddef.h>
#include <unistd.h>
#include <yajl/yajl_parse.h>

#define CHUNK (128 * 1024)

static int on_nothing(void *context)
{
	(void)context;
	return 1;
}

static int on_bool(void *context, int boolean)
{
	(void)context, (void)boolean;
	return 1;
}

static int on_number(void *context, const char *bytes, size_t length)
{
	(void)context, (void)bytes, (void)length;
	return 1;
}

static int on_text(void *context, const unsigned char *bytes, size_t length)
{
	(void)context, (void)bytes, (void)length;
	return 1;
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_nothing,
	.yajl_boolean = on_bool,
	.yajl_number = on_number,
	.yajl_string = on_text,
	.yajl_start_map = on_nothing,
	.yajl_map_key = on_text,
	.yajl_end_map = on_nothing,
	.yajl_start_array = on_nothing,
	.yajl_end_array = on_nothing,
};

int main(void)
{
	static unsigned char buffer[CHUNK];
	yajl_handle yajl = yajl_alloc(&callbacks, NULL, NULL);
	yajl_status status = yajl_status_ok;
	ssize_t got = 0;

	if (!yajl)
		errx(1, "out of memory");
	while (status == yajl_status_ok && (got = read(STDIN_FILENO, buffer, CHUNK)) > 0)
		status = yajl_parse(yajl, buffer, (size_t)got);
	if (got < 0)
		err(1, "standard input");
	if (status != yajl_status_ok || yajl_complete_parse(yajl) != yajl_status_ok)
		errx(1, "standard input is not JSON");
	yajl_free(yajl);
	return 0;
}
