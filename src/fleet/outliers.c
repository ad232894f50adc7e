/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/outliers.h"

#include "fleet/measures.h"
#include "fleet/outlier_score.h"
#include "fleet/scale.h"

_Static_assert(OUTLIER_HOSTS_LEAST == OUTLIER_PEERS_LEAST + 1, "a host and its peers");

/* Of all measures in turn. */
struct outlier_search {
	const struct fleet_data *data;
	size_t from, to;
	size_t before; /* changes since the slices from here to before `from`; `from`: no changes */
	struct fleet_findings *findings;
	double *values;    /* by host */
	double *earlier;   /* the same in the slices before; for changes */
	double *scaled;    /* of those that have a value */
	double *errors;    /* of these, on the scale */
	uint32_t *hosts;   /* of these */
	bool *is_excluded; /* by host, of the kind that is looked at */
	struct outlier_score *scores;
	size_t count;
	struct fleet_scale scale;
	double excess[FLEET_KIND_COUNT]; /* of kurtosis, of the measures of a kind */
};

static bool is_of_changes(const struct outlier_search *search)
{
	return search->before < search->from;
}

/* The values of a measure, or their changes. False: of too few hosts. */
static bool prepare(struct outlier_search *search, size_t measure)
{
	const size_t hosts = search->data->hosts.count;

	search->count = 0;
	if (fleet_data_values(search->data, measure, search->from, search->to, search->values) <
		    OUTLIER_HOSTS_LEAST ||
	    (is_of_changes(search) &&
	     fleet_data_values(search->data, measure, search->before, search->from,
			       search->earlier) < OUTLIER_HOSTS_LEAST))
		return false;
	search->scale =
		fleet_scale_of(search->data->measures.items[measure].kind,
			       is_of_changes(search) ? search->earlier : search->values, hosts);
	for (size_t i = 0; i < hosts; i++) {
		double scaled = fleet_scale_to(&search->scale, search->values[i]);

		if (is_of_changes(search))
			scaled -= fleet_scale_to(&search->scale, search->earlier[i]);
		if (isnan(scaled))
			continue;
		search->hosts[search->count] = (uint32_t)i;
		search->scaled[search->count++] = scaled;
	}
	return search->count >= OUTLIER_HOSTS_LEAST;
}

/* A host that is unlike the others in so many measures of a kind says nothing about the tails of
 * these: an antagonist on a host changes all its programs. */
#define EXCLUDED_LEAST 3
#define EXCLUDED_SHARE 5

struct excesses {
	ARRAY(double);
};

static bool add_excess(const struct outlier_search *search, struct excesses *excesses)
{
	double excess;

	return fleet_excess(search->scaled, search->count, &excess) &&
	       (isnan(excess) || array_push(excesses, excess));
}

/* With the excesses of all hosts. `*ret_any`: there are hosts to exclude. */
static bool find_excluded(struct outlier_search *search, enum fleet_kind kind,
			  struct excesses *excesses, bool *ret_any)
{
	_cleanup_free_ size_t *times = calloc(search->data->hosts.count + 1, sizeof(*times));
	_cleanup_free_ bool *outliers = calloc(search->data->hosts.count + 1, sizeof(*outliers));
	size_t measures = 0;

	if (!times || !outliers)
		return false;
	for (size_t i = 0; i < search->data->measures.count; i++) {
		if (search->data->measures.items[i].kind != kind || !prepare(search, i))
			continue;
		if (!fleet_rosner_outliers(search->scaled, search->count, outliers) ||
		    !add_excess(search, excesses))
			return false;
		for (size_t host = 0; host < search->count; host++)
			times[search->hosts[host]] += outliers[host];
		measures++;
	}
	*ret_any = false;
	for (size_t host = 0; host < search->data->hosts.count; host++) {
		search->is_excluded[host] =
			times[host] >= EXCLUDED_LEAST && times[host] * EXCLUDED_SHARE >= measures;
		*ret_any |= search->is_excluded[host];
	}
	return true;
}

static void drop_excluded(struct outlier_search *search)
{
	size_t kept = 0;

	for (size_t i = 0; i < search->count; i++)
		if (!search->is_excluded[search->hosts[i]])
			search->scaled[kept++] = search->scaled[i];
	search->count = kept;
}

static bool find_excesses_of_others(struct outlier_search *search, enum fleet_kind kind,
				    struct excesses *excesses)
{
	array_clear(excesses);
	for (size_t i = 0; i < search->data->measures.count; i++) {
		if (search->data->measures.items[i].kind != kind || !prepare(search, i))
			continue;
		drop_excluded(search);
		if (!add_excess(search, excesses))
			return false;
	}
	return true;
}

/* Most measures have no outliers, so their median has none of those that there are. */
static bool find_tails(struct outlier_search *search, enum fleet_kind kind)
{
	struct excesses excesses = { 0 };
	bool any, is_done = find_excluded(search, kind, &excesses, &any) &&
			    (!any || find_excesses_of_others(search, kind, &excesses));

	/* fmax() of NaN, where there are none, and 0 is 0. */
	if (is_done)
		search->excess[kind] = fmax(sort_for_median(excesses.items, excesses.count), 0);
	array_deinit(&excesses);
	return is_done;
}

static bool find_all_tails(struct outlier_search *search)
{
	for (enum fleet_kind kind = 0; kind < FLEET_KIND_COUNT; kind++)
		if (!find_tails(search, kind))
			return false;
	return true;
}

static struct fleet_finding finding_of(const struct outlier_search *search, size_t measure,
				       size_t number)
{
	const struct outlier_score *score = &search->scores[number];
	const double value = search->values[search->hosts[number]];
	const double width = fleet_prediction_half_width(score);
	/* What it would be if it were, or had changed, as its peers. */
	const double middle =
		score->mean +
		(is_of_changes(search)
			 ? fleet_scale_to(&search->scale, search->earlier[search->hosts[number]])
			 : 0);
	struct fleet_finding finding = {
		.measure = (uint32_t)measure,
		.host = search->hosts[number],
		.hosts = 1,
		.value = value,
		.other = fleet_scale_from(&search->scale, middle),
		.other_low = fleet_scale_from(&search->scale, middle - width),
		.other_high = fleet_scale_from(&search->scale, middle + width),
		.peers = score->peers,
		.p = score->p,
	};

	finding.effect = value - finding.other;
	finding.effect_low = value - finding.other_high;
	finding.effect_high = value - finding.other_low;
	finding.weight =
		fleet_scale_weight(&search->scale, value, finding.other) *
		fleet_data_threads(search->data, measure, finding.host, search->from, search->to);
	return finding;
}

/*
 * Counters may grow in bursts, as by the bytes and page faults of one large read. If these come at
 * random, the variance of an amount is its mean times their size. So the size is known from the
 * quartiles of the hosts, which a few outliers do not move. Where hosts differ for good, too, it is
 * too large, which makes the test more cautious.
 */
struct events {
	double size;    /* of one event: see fleet_event() */
	double burst;   /* of a burst of them; 0: not known */
	double typical; /* the error by bursts of a typical host, which the deviation of peers has
			 */
};
#define QUARTILES_TO_DEVIATION 1.349

/* `scratch` has room for all hosts. */
static void find_bursts(const struct outlier_search *search, size_t measure, double *scratch,
			struct events *events)
{
	const size_t count = search->count;
	double deviation, median, base;

	for (size_t i = 0; i < count; i++)
		scratch[i] = search->values[search->hosts[i]];
	median = sort_for_median(scratch, count);
	deviation = (scratch[count * 3 / 4] - scratch[count / 4]) / QUARTILES_TO_DEVIATION;
	for (size_t i = 0; i < count; i++)
		scratch[i] = fleet_data_sum(search->data, measure, search->hosts[i], search->from,
					    search->to)
				     .base;
	base = sort_for_median(scratch, count);
	if (!(median > 0 && deviation > 0))
		return;
	events->burst = deviation * deviation / median * base;
	events->typical = fleet_scale_error(&search->scale, median * base, base, events->burst);
}

static double error_of(const struct outlier_search *search, const struct events *events,
		       size_t measure, size_t host, size_t from, size_t to)
{
	const struct fleet_amount sum = fleet_data_sum(search->data, measure, host, from, to);
	const double error = fleet_scale_error(&search->scale, sum.amount, sum.base, events->size);
	double by_bursts;

	if (events->burst <= events->size)
		return error;
	by_bursts = fleet_scale_error(&search->scale, sum.amount, sum.base, events->burst);
	return hypot(error,
		     sqrt(fmax(by_bursts * by_bursts - events->typical * events->typical, 0)));
}

/* Of the values, or changes, by themselves. */
static void find_errors(struct outlier_search *search, size_t measure)
{
	const struct fleet_measure *of = &search->data->measures.items[measure];
	struct events events = { .size = fleet_event(of) };

	if (of->kind == FLEET_METRIC)
		find_bursts(search, measure, search->errors, &events);
	for (size_t i = 0; i < search->count; i++) {
		const size_t host = search->hosts[i];
		const double error =
			error_of(search, &events, measure, host, search->from, search->to);

		search->errors[i] = is_of_changes(search)
					    ? hypot(error, error_of(search, &events, measure, host,
								    search->before, search->from))
					    : error;
	}
}

/*
 * Where most hosts have none of an event, their values have no spread, and the model says nothing
 * of the few that have some. If hosts are alike, any of them may have had it: that one of n hosts
 * is among the k that have it has the probability k / n.
 */
#define RARE_SHARE 4

static double least_p(const struct outlier_search *search, size_t measure)
{
	size_t with = 0;

	if (search->data->measures.items[measure].kind != FLEET_METRIC)
		return 0;
	for (size_t i = 0; i < search->count; i++)
		with += search->values[search->hosts[i]] > 0;
	return with * RARE_SHARE < search->count ? (double)with / (double)search->count : 0;
}

static bool test_one(struct outlier_search *search, size_t measure)
{
	const double least = least_p(search, measure);

	find_errors(search, measure);
	if (!fleet_outlier_scores(search->scaled, search->errors, search->count,
				  search->excess[search->data->measures.items[measure].kind],
				  search->scores))
		return false;
	for (size_t i = 0; i < search->count; i++) {
		struct fleet_finding finding = { .p = fmax(search->scores[i].p, least) };

		/* Quantiles take time, and q is at least p. */
		if (finding.p <= FLEET_Q_MOST)
			finding = finding_of(search, measure, i);
		finding.p = fmax(finding.p, least);
		if (!fleet_findings_add(search->findings, &finding))
			return false;
	}
	return true;
}

static size_t running(const struct outlier_search *search, size_t measure)
{
	size_t count = 0;

	for (size_t host = 0; host < search->data->hosts.count; host++)
		count +=
			fleet_data_sum(search->data, measure, host, search->from, search->to).base >
			0;
	return count;
}

static bool test_all(struct outlier_search *search)
{
	for (size_t i = 0; i < search->data->measures.count; i++) {
		if (!prepare(search, i)) {
			search->findings->measures_too_few++;
			continue;
		}
		search->findings->measures++;
		search->findings->too_little += running(search, i) - search->count;
		if (!test_one(search, i))
			return false;
	}
	return true;
}

static struct error *search_all(const struct fleet_data *data, size_t before, size_t from,
				size_t to, struct fleet_findings *ret)
{
	const size_t room = data->hosts.count + 1;
	_cleanup_free_ double *values = malloc(room * sizeof(*values));
	_cleanup_free_ double *earlier = malloc(room * sizeof(*earlier));
	_cleanup_free_ double *scaled = malloc(room * sizeof(*scaled));
	_cleanup_free_ double *errors = malloc(room * sizeof(*errors));
	_cleanup_free_ uint32_t *hosts = malloc(room * sizeof(*hosts));
	_cleanup_free_ bool *is_excluded = calloc(room, sizeof(*is_excluded));
	_cleanup_free_ struct outlier_score *scores = malloc(room * sizeof(*scores));
	struct fleet_findings findings = { 0 };
	struct outlier_search search = {
		.data = data, .before = before, .from = from, .to = to, .findings = &findings
	};

	search.values = values;
	search.earlier = earlier;
	search.scaled = scaled;
	search.errors = errors;
	search.hosts = hosts;
	search.is_excluded = is_excluded;
	search.scores = scores;
	if (!values || !earlier || !scaled || !errors || !hosts || !is_excluded || !scores ||
	    !find_all_tails(&search) || !test_all(&search) || !fleet_findings_settle(&findings)) {
		fleet_findings_deinit(&findings);
		return &error_no_memory;
	}
	*ret = findings;
	return NULL;
}

struct error *fleet_outliers(const struct fleet_data *data, size_t from, size_t to,
			     struct fleet_findings *ret)
{
	return search_all(data, from, from, to, ret);
}

struct error *fleet_outlier_changes(const struct fleet_data *data, size_t cut,
				    struct fleet_findings *ret)
{
	return search_all(data, 0, cut, data->slices, ret);
}
