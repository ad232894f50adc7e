/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/libbpf_reason.h"

#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

static _Thread_local char last_said[512];

/* The line of the verifier's log before its closing counts ("processed 12 insns ..."). */
static struct text reason_in(struct text said)
{
	struct text rest = said, line, last = TEXT("");

	while (text_cut(&rest, '\n', &line))
		if (line.length && !text_starts(line, TEXT("processed ")) &&
		    !text_starts(line, TEXT("libbpf: ")) && !text_starts(line, TEXT("-- END ")))
			last = line;
	return last.length ? last : text_trim(said);
}

__attribute__((format(printf, 2, 0))) static int keep_said(enum libbpf_print_level level,
							   const char *format, va_list arguments)
{
	_cleanup_free_ char *said = NULL;
	struct text reason;

	if (level != LIBBPF_WARN || vasprintf(&said, format, arguments) < 0)
		return 0;
	reason = reason_in(text_of(said));
	/* Behind a log comes only what it means. */
	if (strstr(said, "PROG LOAD LOG") || !last_said[0])
		snprintf(last_said, sizeof(last_said), "%.*s", (int)reason.length, reason.bytes);
	text_make_safe(last_said);
	return 0;
}

void libbpf_reason_begin(void)
{
	last_said[0] = '\0';
	libbpf_set_print(keep_said);
}

const char *libbpf_reason(void)
{
	return last_said;
}
