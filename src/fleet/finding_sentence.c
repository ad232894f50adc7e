/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/finding_sentence.h"

#include "base/units.h"
#include "fleet/measures.h"
#include "report/visible.h"

static char *safe_host(const struct fleet_report *report, uint32_t host)
{
	char *name = strdup(host == FLEET_NONE ? "" : report->data->hosts.items[host]->bytes);

	if (name)
		text_make_safe(name);
	return name;
}

static char *peers_words(const struct fleet_report *report, const struct fleet_finding *finding,
			 const char *other, const char *low, const char *high)
{
	if (report->comparison == FLEET_OF_HOSTS)
		return text_print("%sits %zu peer%s %s (%s to %s)",
				  finding->effect < 0 ? "less than " : "", finding->peers,
				  plural(finding->peers), other, low, high);
	if (report->comparison == FLEET_OF_GROUPS)
		return text_print("with %s it is %s (%s to %s)", report->first, other, low, high);
	if (finding->host != FLEET_NONE && finding->peers > 1)
		return text_print("had it changed as its %zu peers, it would be %s (%s to %s)",
				  finding->peers, other, low, high);
	return text_print("before, %s", other);
}

/* ", 12 % for storage" of the 20 % that it waits; ", all for storage"; or "". To be freed. */
static char *state_words(const struct fleet_report *report, const struct fleet_finding *finding)
{
	const struct fleet_wait_state state =
		fleet_wait_state_of(report->waits, (size_t)(finding - report->findings->items));
	_cleanup_free_ char *all = fleet_value_text(FLEET_OFF, finding->value);
	_cleanup_free_ char *part = fleet_value_text(FLEET_OFF, state.value);

	if (state.state == STATE_COUNT)
		return strdup("");
	if (!all || !part)
		return NULL;
	return text_print(", %s %s", strcmp(part, all) == 0 ? "all" : part,
			  fleet_wait_words(state.state));
}

char *fleet_finding_sentence(const struct fleet_report *report, const struct fleet_finding *finding)
{
	const enum fleet_kind kind = fleet_finding_measure(report->data, finding)->kind;
	_cleanup_free_ char *host = safe_host(report, finding->host);
	_cleanup_free_ char *what =
		fleet_sentence(fleet_finding_measure(report->data, finding), finding->value);
	_cleanup_free_ char *state = state_words(report, finding);
	_cleanup_free_ char *other = fleet_value_text(kind, finding->other);
	_cleanup_free_ char *low = fleet_value_text(kind, finding->other_low);
	_cleanup_free_ char *high = fleet_value_text(kind, finding->other_high);
	_cleanup_free_ char *peers = NULL, *of = NULL;

	if (!host || !what || !state || !other || !low || !high)
		return NULL;
	peers = peers_words(report, finding, other, low, high);
	if (finding->host != FLEET_NONE)
		of = text_print("%s", host);
	else if (report->comparison == FLEET_OF_GROUPS)
		of = text_print("%s", report->second);
	else
		of = text_print("%zu hosts", finding->hosts);
	return peers && of
		       ? text_print("%s: %s%s; %s; q = %.1g", of, what, state, peers, finding->q)
		       : NULL;
}
