/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/psi.h"

bool psi_percent(struct text text, uint16_t *ret)
{
	const char *dot = memchr(text.bytes, '.', text.length);
	struct text whole = text, fraction = { 0 };
	uint64_t percent, hundredths = 0;

	if (dot) {
		whole.length = (size_t)(dot - text.bytes);
		fraction = (struct text){ dot + 1, text.length - whole.length - 1 };
	}
	if (!text_u64(whole, &percent))
		return false;
	for (size_t i = 0; i < fraction.length || i < 2; i++) {
		unsigned digit =
			i < fraction.length ? (unsigned char)fraction.bytes[i] - (unsigned)'0' : 0u;

		if (digit > 9)
			return false;
		if (i < 2)
			hundredths = hundredths * 10 + digit;
	}
	hundredths += (percent < UINT16_MAX ? percent : UINT16_MAX) * 100;
	*ret = hundredths < UINT16_MAX ? (uint16_t)hundredths : UINT16_MAX;
	return true;
}

/* A line counts when all of its four numbers are there. */
static void parse_line(struct text line, struct psi_line *ret)
{
	struct psi_line psi = { .measured = true };
	struct text word;
	unsigned seen = 0, bad = 0;

	while (text_word(&line, &word)) {
		struct text key, value;

		if (!text_cut(&word, '=', &key))
			continue;
		value = word;
		if (text_equal(key, TEXT("total")))
			*(text_u64(value, &psi.total_usec) ? &seen : &bad) |= 8;
		else if (text_equal(key, TEXT("avg10")))
			*(psi_percent(value, &psi.avg10) ? &seen : &bad) |= 1;
		else if (text_equal(key, TEXT("avg60")))
			*(psi_percent(value, &psi.avg60) ? &seen : &bad) |= 2;
		else if (text_equal(key, TEXT("avg300")))
			*(psi_percent(value, &psi.avg300) ? &seen : &bad) |= 4;
	}
	if (seen == 15 && !bad)
		*ret = psi;
}

void psi_parse(struct text bytes, struct psi_lines *ret)
{
	struct text line, name;

	*ret = (struct psi_lines){ 0 };
	while (text_cut(&bytes, '\n', &line)) {
		if (!text_word(&line, &name))
			continue;
		if (text_equal(name, TEXT("some")))
			parse_line(line, &ret->some);
		else if (text_equal(name, TEXT("full")))
			parse_line(line, &ret->full);
	}
}
