/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/host_report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "compare/host_fields.h"
#include "report/visible.h"

static void print_name(FILE *out, const struct name *name)
{
	char *text = text_visible(name_text(name));

	fprintf(out, " %s\n", name && text ? text : "(unknown)");
	free(text);
}

static void print_pairs(FILE *out, const struct label_pairs *pairs, const char *prefix)
{
	fputc('\n', out);
	if (!pairs->count)
		fprintf(out, "  %s\n", pairs->measured ? "(empty)" : "(unknown)");
	for (size_t i = 0; i < pairs->count; i++) {
		char *key = text_visible(name_text(pairs->items[i].key));

		fprintf(out, "  %s%s =", prefix, key ? key : "");
		free(key);
		print_name(out, pairs->items[i].value);
	}
}

void report_host(FILE *out, const struct host_context *host)
{
	if (!host) {
		fprintf(out, "(host context unavailable)\n");
		return;
	}
	for (size_t i = 0; i < HOST_FIELD_COUNT; i++) {
		const struct host_field *field = &host_fields[i];

		fprintf(out, "%s:", field->name);
		switch (field->kind) {
		case HOST_TEXT:
			print_name(out, host_text(host, field));
			break;
		case HOST_NUMBER:
			if (host_number(host, field)->measured)
				fprintf(out, " %" PRIu64 "\n", host_number(host, field)->value);
			else
				fprintf(out, " (unknown)\n");
			break;
		case HOST_PAIRS:
			print_pairs(out, host_pairs(host, field), field->prefix);
			break;
		}
	}
}
