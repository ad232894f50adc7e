/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/finding.h"

#include "statistics/statistics.h"

void fleet_findings_deinit(struct fleet_findings *findings)
{
	array_deinit(findings);
}

bool fleet_findings_add(struct fleet_findings *findings, const struct fleet_finding *finding)
{
	findings->tests++;
	if (!(finding->p <= FLEET_Q_MOST))
		return true;
	if (!array_push(findings, *finding))
		return false;
	findings->candidates = findings->count;
	return true;
}

static int by_weight(const void *a, const void *b)
{
	const struct fleet_finding *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	return (x->measure > y->measure) - (x->measure < y->measure);
}

bool fleet_findings_settle(struct fleet_findings *findings)
{
	const size_t count = findings->candidates;
	_cleanup_free_ double *q = malloc((count + 1) * sizeof(*q));
	size_t kept = 0;

	if (!q)
		return false;
	for (size_t i = 0; i < count; i++)
		q[i] = findings->items[i].p;
	if (!benjamini_hochberg_smallest(q, count, findings->tests))
		return false;
	for (size_t i = 0; i < count; i++) {
		struct fleet_finding *finding = &findings->items[i];

		finding->q = q[i];
		if (q[i] <= FLEET_Q_MOST && finding->weight > 0) {
			const struct fleet_finding other = findings->items[kept];

			findings->items[kept++] = *finding;
			*finding = other;
		}
	}
	findings->count = kept;
	if (kept)
		qsort(findings->items, kept, sizeof(*findings->items), by_weight);
	return true;
}

bool fleet_findings_join(struct fleet_findings *to, struct fleet_findings *from)
{
	to->count = to->candidates;
	if (!array_reserve(to, from->candidates))
		return false;
	for (size_t i = 0; i < from->candidates; i++)
		to->items[to->count++] = from->items[i];
	to->candidates = to->count;
	to->tests += from->tests;
	fleet_findings_deinit(from);
	*from = (struct fleet_findings){ 0 };
	return fleet_findings_settle(to);
}
