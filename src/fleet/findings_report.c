/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/findings_report.h"

#include <errno.h>
#include <stdio.h>

#include "base/units.h"
#include "fleet/diff_command.h"
#include "fleet/finding_sentence.h"
#include "fleet/findings_table.h"
#include "fleet/groups.h"
#include "fleet/hosts.h"
#include "report/few_samples.h"

static size_t hosts_found(const struct fleet_report *report)
{
	_cleanup_free_ bool *found = calloc(report->data->hosts.count + 1, sizeof(*found));
	size_t count = 0;

	for (size_t i = 0; found && i < report->findings->count; i++) {
		const uint32_t host = report->findings->items[i].host;

		if (host == FLEET_NONE || found[host])
			continue;
		found[host] = true;
		count++;
	}
	return count;
}

static size_t hosts_compared(const struct fleet_report *report)
{
	size_t count = report->data->hosts.count;

	for (size_t i = 0; i < report->partial->count; i++)
		count -=
			fleet_data_find_host(report->data,
					     text_of(report->partial->items[i].name)) != FLEET_NONE;
	return count;
}

/* Hosts whose functions are not compared. */
static void print_nameless(const struct fleet_data *data, FILE *out)
{
	const size_t count = data->nameless.count;

	if (!count)
		return;
	fprintf(out,
		"Functions of %zu host%s were not compared, since names were left out for %s "
		"--memory:",
		count, plural(count), count == 1 ? "its agent's" : "their agents'");
	for (size_t i = 0; i < count && i < HOSTS_NAMED; i++)
		fprintf(out, "%s %s", i ? "," : "", data->nameless.items[i]->bytes);
	if (count > HOSTS_NAMED)
		fprintf(out, " and %zu more", count - HOSTS_NAMED);
	fprintf(out, ".\n");
}

/* Hosts that a comparison knows nothing of. */
static void print_left_out(const struct fleet_report *report, FILE *out)
{
	if (report->silent)
		fleet_silent_hosts_print(report->silent, out);
	fleet_partial_hosts_print(report->partial, out);
	print_nameless(report->data, out);
}

static void print_headline(const struct fleet_report *report, FILE *out)
{
	const size_t found = hosts_found(report), hosts = hosts_compared(report);

	switch (report->comparison) {
	case FLEET_OF_HOSTS:
		if (found)
			fprintf(out, "%zu of %zu hosts %s unlike the others.\n", found, hosts,
				found == 1 ? "is" : "are");
		else
			fprintf(out, "None of %zu hosts was found to differ from the others.\n",
				hosts);
		return;
	case FLEET_OF_GROUPS:
		fprintf(out, "%s%s (%zu host%s) %s %s (%zu host%s).\n",
			report->findings->count ? "" : "No difference was found between ",
			report->second, report->second_hosts, plural(report->second_hosts),
			report->findings->count ? "differs from" : "and", report->first,
			report->first_hosts, plural(report->first_hosts));
		return;
	case FLEET_OF_TIMES:
		fprintf(out, "%s %s, on %zu host%s.\n",
			report->findings->count ? "Changes" : "No change was found", report->second,
			hosts, plural(hosts));
		return;
	}
}

/* How many hosts each comparison needs. */
static const char *const needs[] = {
	[FLEET_OF_HOSTS] = "at least 4 hosts are needed that run the same program for long enough: "
			   "from fewer it is not known how much hosts differ by chance",
	[FLEET_OF_GROUPS] = "each group needs at least 2 hosts that run the same program for long "
			    "enough: from fewer it is not known how much hosts differ by chance",
};

static struct error *nothing_compared(const struct fleet_report *report)
{
	const size_t hosts = hosts_compared(report);

	if (report->comparison == FLEET_OF_GROUPS &&
	    (report->first_hosts < GROUP_HOSTS_LEAST || report->second_hosts < GROUP_HOSTS_LEAST))
		return error_coded(ENODATA,
				   "nothing could be compared: each group needs at least %d hosts "
				   "(%s: %zu host%s, %s: %zu host%s)",
				   GROUP_HOSTS_LEAST, report->first, report->first_hosts,
				   plural(report->first_hosts), report->second,
				   report->second_hosts, plural(report->second_hosts));
	if (report->comparison == FLEET_OF_TIMES)
		return error_coded(ENODATA,
				   "nothing could be compared, on %zu host%s: there is too little "
				   "data %s, or after it",
				   hosts, plural(hosts), report->first);
	return error_coded(ENODATA, "nothing could be compared, on %zu host%s: %s", hosts,
			   plural(hosts), needs[report->comparison]);
}

/* What was compared, and what was not. */
static void print_basis(const struct fleet_report *report, FILE *out)
{
	const struct fleet_findings *findings = report->findings;

	fprintf(out,
		"Compared: %zu values of %zu measures; of all findings, at most 1 in 20 is "
		"expected to be chance.\n",
		findings->tests, findings->measures);
	if (findings->measures_too_few)
		fprintf(out, "%zu measure%s not compared: too few hosts have %s.\n",
			findings->measures_too_few,
			findings->measures_too_few == 1 ? " was" : "s were",
			findings->measures_too_few == 1 ? "it" : "them");
	if (findings->too_little)
		fprintf(out,
			"%zu values were left out: the program ran or waited too little on the "
			"host.\n",
			findings->too_little);
	if (report->data->functions_left_out)
		fprintf(out,
			"%zu function%s not compared: only those with the most time of each "
			"program are.\n",
			report->data->functions_left_out,
			report->data->functions_left_out == 1 ? " was" : "s were");
	if (report->comparison == FLEET_OF_GROUPS)
		few_samples_print(out, report->first_hosts, report->second_hosts,
				  "hosts of a group", "\n");
	/* A host is compared with all others. */
	else if (report->comparison == FLEET_OF_HOSTS)
		few_samples_print(out, hosts_compared(report) - 1, hosts_compared(report) - 1,
				  "others", "\n");
}

#define SENTENCES_MOST 5

static bool print_sentences(const struct fleet_report *report, const struct finding_lines *lines,
			    FILE *out)
{
	for (size_t i = 0; i < lines->findings.count && i < SENTENCES_MOST; i++) {
		const size_t also = lines->also.items[i];
		_cleanup_free_ char *words = fleet_finding_sentence(
			report, &report->findings->items[lines->findings.items[i]]);

		if (!words)
			return false;
		fprintf(out, "  %s", words);
		if (also)
			fprintf(out, "; and %zu more", also);
		fprintf(out, "\n");
	}
	return true;
}

static void print_next(const struct fleet_report *report, const struct finding_lines *lines,
		       FILE *out)
{
	_cleanup_free_ char *command = NULL;

	for (size_t i = 0; i < lines->findings.count && !command; i++)
		command = fleet_diff_command(report,
					     &report->findings->items[lines->findings.items[i]]);
	if (command)
		fprintf(out, "\nNext: %s\n", command);
}

/* --- all --- */

static struct error *print_for_people(const struct fleet_report *report,
				      const struct finding_lines *lines, FILE *out)
{
	const size_t count = lines->findings.count;
	const size_t limit = report->limit ? report->limit : count;
	struct error *err = NULL;

	print_headline(report, out);
	/* The table has all. */
	if (!report->all && !print_sentences(report, lines, out))
		return &error_no_memory;
	print_left_out(report, out);
	fprintf(out, "\n");
	if (count)
		err = fleet_findings_table_print(report, lines, limit, out);
	if (!err && count > limit)
		fprintf(out, "%zu more row%s: --limit 0 shows all\n", count - limit,
			plural(count - limit));
	if (!err && count)
		fprintf(out, "\n");
	if (!err)
		print_basis(report, out);
	if (!err)
		print_next(report, lines, out);
	return err;
}

struct error *fleet_report_print(const struct fleet_report *report, FILE *out)
{
	struct finding_lines lines = { 0 };
	struct error *err = &error_no_memory;
	struct fleet_report whole = *report;

	if (!report->findings->tests) {
		if (report->format == TABLE_AS_TEXT)
			print_left_out(report, out);
		return nothing_compared(report);
	}
	whole.all = report->all || report->format != TABLE_AS_TEXT;
	if (fleet_finding_lines_find(&whole, &lines))
		err = report->format == TABLE_AS_TEXT
			      ? print_for_people(&whole, &lines, out)
			      : fleet_findings_table_print(&whole, &lines, SIZE_MAX, out);
	fleet_finding_lines_deinit(&lines);
	return err;
}
