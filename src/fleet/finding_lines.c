/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/finding_lines.h"

#include <math.h>

#include "base/word_map.h"

/* Functions that call each other and do little besides have nearly the same values, so they follow
 * each other in the order of findings. */
#define SAME_PATH 0.02

static bool is_near(double one, double other)
{
	return fabs(one - other) <= SAME_PATH * fmax(fabs(one), fabs(other));
}

static bool is_same_path(const struct fleet_report *report, const struct fleet_finding *finding,
			 const struct fleet_finding *last)
{
	const enum fleet_kind kind = fleet_finding_measure(report->data, finding)->kind;

	return (kind == FLEET_CPU || kind == FLEET_OFF) && is_near(finding->value, last->value) &&
	       is_near(finding->other, last->other);
}

struct lines_search {
	const struct fleet_report *report;
	struct finding_lines *lines;
	struct word_map by_program; /* lines by host and program */
	struct word_map last;       /* the last finding by host, program and kind */
};

/* False: no memory. `*ret`: a line has another function of its path. */
static bool find_same_path(struct lines_search *search, uint32_t number, bool *ret)
{
	const struct fleet_report *report = search->report;
	const struct fleet_finding *finding = &report->findings->items[number];
	const struct fleet_measure *measure = fleet_finding_measure(report->data, finding);
	const struct words key = { { finding->host, (uintptr_t)measure->program, measure->kind } };
	uint32_t *last = word_map_at(&search->last, key);

	*ret = false;
	if (!last)
		return false;
	if (*last != WORD_MAP_NEW)
		*ret = is_same_path(report, finding, &report->findings->items[*last]);
	if (!*ret)
		*last = number;
	return true;
}

static bool add_to_lines(struct lines_search *search, uint32_t number)
{
	const struct fleet_report *report = search->report;
	const struct fleet_finding *finding = &report->findings->items[number];
	const struct words key = {
		{ finding->host, (uintptr_t)fleet_finding_measure(report->data, finding)->program,
		  report->all ? number : 0 }
	};
	struct finding_lines *lines = search->lines;
	bool is_folded = false;
	uint32_t *line;

	if (report->format == TABLE_AS_TEXT && !find_same_path(search, number, &is_folded))
		return false;
	if (is_folded)
		return true;
	line = word_map_at(&search->by_program, key);
	if (!line)
		return false;
	if (*line != WORD_MAP_NEW) {
		lines->also.items[*line]++;
		return true;
	}
	*line = (uint32_t)lines->findings.count;
	return array_push(&lines->findings, number) && array_push(&lines->also, 0);
}

/* Less waiting, or fewer events, than elsewhere is no fault: for people these come last. */
static bool is_less(const struct fleet_report *report, const struct fleet_finding *finding)
{
	return report->format == TABLE_AS_TEXT && finding->effect < 0;
}

bool fleet_finding_lines_find(const struct fleet_report *report, struct finding_lines *ret)
{
	const struct fleet_findings *findings = report->findings;
	struct lines_search search = { .report = report, .lines = ret };
	bool is_done = true;

	for (unsigned less = 0; less < 2; less++)
		for (size_t i = 0; is_done && i < findings->count; i++)
			if (is_less(report, &findings->items[i]) == less)
				is_done = add_to_lines(&search, (uint32_t)i);
	word_map_deinit(&search.by_program);
	word_map_deinit(&search.last);
	return is_done;
}

void fleet_finding_lines_deinit(struct finding_lines *lines)
{
	array_deinit(&lines->findings);
	array_deinit(&lines->also);
}
