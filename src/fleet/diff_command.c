/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/diff_command.h"

#include <inttypes.h>
#include <math.h>
#include <time.h>

#include "fleet/query_url.h"
#include "store/url.h"

/* The peer whose value is nearest to that of the peers together. */
static uint32_t typical_peer(const struct fleet_report *report, const struct fleet_finding *finding)
{
	const size_t hosts = report->data->hosts.count;
	_cleanup_free_ double *values = malloc((hosts + 1) * sizeof(*values));
	uint32_t nearest = FLEET_NONE;

	if (!values)
		return FLEET_NONE;
	fleet_data_values(report->data, finding->measure, 0, report->data->slices, values);
	for (uint32_t i = 0; i < hosts; i++)
		if (i != finding->host && !isnan(values[i]) &&
		    (nearest == FLEET_NONE ||
		     fabs(values[i] - finding->other) < fabs(values[nearest] - finding->other)))
			nearest = i;
	return nearest;
}

/* A URL as one word of a shell. */
static char *word_of(const struct fleet_report *report, const struct fleet_parameters *parameters)
{
	_cleanup_free_ char *url = fleet_url_with(report->url, parameters);

	return url ? text_quoted(text_of(url)) : NULL;
}

/* As URLs have times. */
static char *time_of(uint64_t unix_s)
{
	const time_t time = (time_t)unix_s;
	char text[32];
	struct tm tm;

	if (gmtime_r(&time, &tm) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm))
		return strdup(text);
	return text_print("%" PRIu64, unix_s);
}

/* The stacks of a host, beside those of a typical peer. */
static char *diff_of_hosts(const struct fleet_report *report, const struct fleet_finding *finding,
			   const char *program)
{
	const uint32_t peer = typical_peer(report, finding);
	_cleanup_free_ char *first = NULL, *second = NULL;

	if (peer == FLEET_NONE)
		return NULL;
	first = word_of(report,
			&(struct fleet_parameters){ .host = report->data->hosts.items[peer]->bytes,
						    .process = program });
	second = word_of(report, &(struct fleet_parameters){
					 .host = report->data->hosts.items[finding->host]->bytes,
					 .process = program });
	return first && second ? text_print("ctprof flame --diff %s %s", first, second) : NULL;
}

static char *diff_of_groups(const struct fleet_report *report, const char *program)
{
	_cleanup_free_ char *by = text_quoted(text_of(report->by));
	_cleanup_free_ char *url =
		word_of(report, &(struct fleet_parameters){ .process = program });

	return by && url ? text_print("ctprof fleet flame --by %s %s", by, url) : NULL;
}

static char *diff_of_times(const struct fleet_report *report, const struct fleet_finding *finding,
			   const char *program)
{
	_cleanup_free_ char *from = time_of(report->from_s), *cut = time_of(report->cut_s);
	_cleanup_free_ char *to = time_of(report->to_s), *first = NULL, *second = NULL;
	const char *host = finding->host == FLEET_NONE
				   ? NULL
				   : report->data->hosts.items[finding->host]->bytes;

	if (!from || !cut || !to)
		return NULL;
	first = word_of(report,
			&(struct fleet_parameters){
				.host = host, .process = program, .from = from, .to = cut });
	second = word_of(report, &(struct fleet_parameters){
					 .host = host, .process = program, .from = cut, .to = to });
	return first && second ? text_print("ctprof flame --diff %s %s", first, second) : NULL;
}

char *fleet_diff_command(const struct fleet_report *report, const struct fleet_finding *finding)
{
	const struct fleet_measure *measure = fleet_finding_measure(report->data, finding);
	const char *program = measure->program->length ? measure->program->bytes : NULL;

	switch (report->comparison) {
	case FLEET_OF_HOSTS:
		return diff_of_hosts(report, finding, program);
	case FLEET_OF_GROUPS:
		return diff_of_groups(report, program);
	case FLEET_OF_TIMES:
		return diff_of_times(report, finding, program);
	}
	return NULL;
}
