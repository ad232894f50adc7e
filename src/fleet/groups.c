/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/groups.h"

#include "fleet/outlier_score.h"
#include "fleet/scale.h"

/* Both sides of a measure, on its scale. */
struct group_sides {
	struct fleet_scale scale;
	struct statistics_sample first, second;
};

static double squared_error(const struct statistics_sample *sample)
{
	return sample->count ? sample->variance / (double)sample->count : 0;
}

/* Satterthwaite's degrees of freedom. */
static double df_of(const struct group_sides *sides)
{
	const double first = squared_error(&sides->first), second = squared_error(&sides->second);
	const double both = first + second;

	if (!(both > 0))
		return (double)(sides->first.count + sides->second.count - 2);
	return both * both /
	       (first * first / (double)(sides->first.count - 1) +
		second * second / (double)(sides->second.count - 1));
}

/* The p of a difference beyond SCALE_LEAST: of samples that are that much closer. */
static double p_of(const struct group_sides *sides)
{
	struct statistics_sample moved = sides->second;

	moved.mean = sides->first.mean + fleet_scale_beyond(moved.mean - sides->first.mean);
	return welch_p(&sides->first, &moved);
}

/* `at` is the value that `difference` adds to, on the scale; with half of the width of its
 * interval. */
static void set_effect(struct fleet_finding *finding, const struct fleet_scale *scale, double at,
		       double difference, double half)
{
	finding->other = fleet_scale_from(scale, at);
	finding->value = fleet_scale_from(scale, at + difference);
	finding->effect = finding->value - finding->other;
	finding->effect_low = fleet_scale_from(scale, at + difference - half) - finding->other;
	finding->effect_high = fleet_scale_from(scale, at + difference + half) - finding->other;
	finding->weight = fleet_scale_weight(scale, finding->value, finding->other);
}

static struct fleet_finding finding_of_sides(const struct group_sides *sides, size_t measure,
					     uint32_t host)
{
	struct fleet_finding finding = { .measure = (uint32_t)measure,
					 .host = host,
					 .hosts = sides->second.count,
					 .peers = sides->first.count };
	const double t = student_quantile(0.05, df_of(sides));
	const double first = t * sqrt(squared_error(&sides->first));

	set_effect(&finding, &sides->scale, sides->first.mean,
		   sides->second.mean - sides->first.mean,
		   t * sqrt(squared_error(&sides->first) + squared_error(&sides->second)));
	finding.other_low = fleet_scale_from(&sides->scale, sides->first.mean - first);
	finding.other_high = fleet_scale_from(&sides->scale, sides->first.mean + first);
	finding.p = p_of(sides);
	return finding;
}

/* --- two groups --- */

static double *values_for(const struct fleet_data *data)
{
	return malloc((data->hosts.count + 1) * sizeof(double));
}

static struct group_sides sides_of_groups(const struct fleet_data *data, size_t measure,
					  const uint8_t *groups, double *values)
{
	struct group_sides sides = { 0 };

	fleet_data_values(data, measure, 0, data->slices, values);
	for (size_t i = 0; i < data->hosts.count; i++)
		if (groups[i] == FLEET_NO_GROUP)
			values[i] = NAN;
	sides.scale = fleet_scale_of(data->measures.items[measure].kind, values, data->hosts.count);
	for (size_t i = 0; i < data->hosts.count; i++)
		if (!isnan(values[i]))
			sample_add(groups[i] == FLEET_FIRST ? &sides.first : &sides.second,
				   fleet_scale_to(&sides.scale, values[i]));
	return sides;
}

/* How busy the program is, at most 1, in the mean of its hosts. */
static double mean_threads(const struct fleet_data *data, size_t measure)
{
	struct statistics_sample threads = { 0 };

	for (size_t i = 0; i < data->hosts.count; i++)
		if (fleet_data_sum(data, measure, i, 0, data->slices).base > 0)
			sample_add(&threads, fleet_data_threads(data, measure, i, 0, data->slices));
	return threads.count ? threads.mean : 0;
}

struct error *fleet_compare_groups(const struct fleet_data *data, const uint8_t *groups,
				   struct fleet_findings *ret)
{
	_cleanup_free_ double *values = values_for(data);
	struct fleet_findings findings = { 0 };
	bool is_done = values != NULL;

	for (size_t i = 0; is_done && i < data->measures.count; i++) {
		const struct group_sides sides = sides_of_groups(data, i, groups, values);
		struct fleet_finding finding;

		if (sides.first.count < GROUP_HOSTS_LEAST ||
		    sides.second.count < GROUP_HOSTS_LEAST) {
			findings.measures_too_few++;
			continue;
		}
		findings.measures++;
		finding = finding_of_sides(&sides, i, FLEET_NONE);
		finding.weight *= mean_threads(data, i);
		is_done = fleet_findings_add(&findings, &finding);
	}
	if (is_done && fleet_findings_settle(&findings)) {
		*ret = findings;
		return NULL;
	}
	fleet_findings_deinit(&findings);
	return &error_no_memory;
}

/* --- before and after, of all hosts --- */

struct changes {
	const struct fleet_data *data;
	size_t cut;
	double *before, *after; /* by host */
	double *scaled;         /* changes */
	bool *outliers;
};

/* Before, and the changes, of hosts that have both and do not change unlike the others. */
static bool sides_of_times(struct changes *changes, size_t measure, struct group_sides *ret)
{
	const struct fleet_data *data = changes->data;
	const size_t hosts = data->hosts.count;
	struct group_sides sides = { 0 };
	size_t count = 0;

	fleet_data_values(data, measure, 0, changes->cut, changes->before);
	fleet_data_values(data, measure, changes->cut, data->slices, changes->after);
	sides.scale = fleet_scale_of(data->measures.items[measure].kind, changes->before, hosts);
	for (size_t i = 0; i < hosts; i++)
		if (!isnan(changes->before[i]) && !isnan(changes->after[i])) {
			changes->before[count] = fleet_scale_to(&sides.scale, changes->before[i]);
			changes->scaled[count] = fleet_scale_to(&sides.scale, changes->after[i]) -
						 changes->before[count];
			count++;
		}
	if (!fleet_rosner_outliers(changes->scaled, count, changes->outliers))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!changes->outliers[i]) {
			sample_add(&sides.first, changes->before[i]);
			sample_add(&sides.second, changes->scaled[i]);
		}
	*ret = sides;
	return true;
}

/* The second side is the changes themselves. */
static struct fleet_finding finding_of_changes(const struct group_sides *sides, size_t measure)
{
	const double error = sqrt(squared_error(&sides->second));
	const double df = (double)sides->second.count - 1, change = sides->second.mean;
	struct fleet_finding finding = {
		.measure = (uint32_t)measure,
		.host = FLEET_NONE,
		.hosts = sides->second.count,
		.peers = sides->first.count,
	};
	const double beyond = fleet_scale_beyond(change);

	set_effect(&finding, &sides->scale, sides->first.mean, change,
		   student_quantile(0.05, df) * error);
	finding.other_low = finding.other_high = finding.other;
	/* Of changes that are all the same the t test knows nothing. Each had one of two signs. */
	finding.p = beyond == 0 ? 1
		    : error > 0 ? student_two_sided(beyond / error, df)
				: ldexp(1, 1 - (int)fmin((double)sides->second.count, 1000));
	return finding;
}

static bool compare_times(struct changes *changes, struct fleet_findings *findings)
{
	const struct fleet_data *data = changes->data;

	for (size_t i = 0; i < data->measures.count; i++) {
		struct fleet_finding finding;
		struct group_sides sides;

		if (!sides_of_times(changes, i, &sides))
			return false;
		if (sides.second.count < PAIRED_HOSTS_LEAST) {
			findings->measures_too_few++;
			continue;
		}
		findings->measures++;
		finding = finding_of_changes(&sides, i);
		finding.weight *= mean_threads(data, i);
		if (!fleet_findings_add(findings, &finding))
			return false;
	}
	return fleet_findings_settle(findings);
}

struct error *fleet_compare_times(const struct fleet_data *data, size_t cut,
				  struct fleet_findings *ret)
{
	_cleanup_free_ double *before = values_for(data);
	_cleanup_free_ double *after = values_for(data);
	_cleanup_free_ double *scaled = values_for(data);
	_cleanup_free_ bool *outliers = calloc(data->hosts.count + 1, sizeof(*outliers));
	struct changes changes = { data, cut, before, after, scaled, outliers };
	struct fleet_findings findings = { 0 };

	if (before && after && scaled && outliers && compare_times(&changes, &findings)) {
		*ret = findings;
		return NULL;
	}
	fleet_findings_deinit(&findings);
	return &error_no_memory;
}

/* --- before and after, of one host --- */

/* Fewer slices before, or after, say too little of how they differ by themselves. */
#define SLICES_LEAST 4

static struct group_sides sides_of_slices(const struct fleet_data *data, size_t measure,
					  size_t host, size_t cut)
{
	const struct fleet_kind_row *kind = &fleet_kinds[data->measures.items[measure].kind];
	const double least = kind->base_least / (double)data->slices;
	const struct fleet_amount before = fleet_data_sum(data, measure, host, 0, cut);
	const double value = before.base > 0 ? before.amount / before.base : NAN;
	struct group_sides sides = { .scale = fleet_scale_of(data->measures.items[measure].kind,
							     &value, 1) };

	for (size_t i = 0; i < data->slices; i++) {
		const struct fleet_amount slice = fleet_data_sum(data, measure, host, i, i + 1);

		if (slice.base >= least && slice.base > 0)
			sample_add(i < cut ? &sides.first : &sides.second,
				   fleet_scale_to(&sides.scale, slice.amount / slice.base));
	}
	return sides;
}

struct error *fleet_compare_slices(const struct fleet_data *data, size_t cut,
				   struct fleet_findings *ret)
{
	struct fleet_findings findings = { 0 };
	bool is_done = true;

	for (size_t i = 0; i < data->measures.count; i++)
		for (size_t host = 0; is_done && host < data->hosts.count; host++) {
			const struct group_sides sides = sides_of_slices(data, i, host, cut);
			struct fleet_finding finding;

			if (sides.first.count < SLICES_LEAST || sides.second.count < SLICES_LEAST) {
				findings.measures_too_few++;
				continue;
			}
			findings.measures++;
			finding = finding_of_sides(&sides, i, (uint32_t)host);
			finding.hosts = finding.peers = 1;
			finding.weight *= fleet_data_threads(data, i, host, 0, data->slices);
			is_done = fleet_findings_add(&findings, &finding);
		}
	if (is_done && fleet_findings_settle(&findings)) {
		*ret = findings;
		return NULL;
	}
	fleet_findings_deinit(&findings);
	return &error_no_memory;
}
