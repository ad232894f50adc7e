/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/psi.h"

#include "base/array.h"

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

/* Unknown keys are passed over. False when a known one has a bad number. */
static bool parse_pair(struct text key, struct text value, struct psi_line *psi, unsigned *seen)
{
	const struct {
		struct text key;
		uint16_t *average;
	} averages[] = {
		{ TEXT("avg10"), &psi->avg10 },
		{ TEXT("avg60"), &psi->avg60 },
		{ TEXT("avg300"), &psi->avg300 },
	};

	for (unsigned i = 0; i < array_length(averages); i++) {
		if (!text_equal(key, averages[i].key))
			continue;
		*seen |= 1u << i;
		return psi_percent(value, averages[i].average);
	}
	if (!text_equal(key, TEXT("total")))
		return true;
	*seen |= 8;
	return text_u64(value, &psi->total_usec);
}

/* A line counts when all of its four numbers are there and sound. */
static void parse_pressure(struct text line, struct psi_line *ret)
{
	struct psi_line psi = { .measured = true };
	struct text word, key;
	unsigned seen = 0;

	while (text_word(&line, &word))
		if (text_cut(&word, '=', &key) && !parse_pair(key, word, &psi, &seen))
			return;
	if (seen == 15)
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
			parse_pressure(line, &ret->some);
		else if (text_equal(name, TEXT("full")))
			parse_pressure(line, &ret->full);
	}
}
