/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/findings_table.h"

#include "fleet/measures.h"
#include "state/reading.h"

enum field {
	HOST,
	PROGRAM,
	KIND,
	NAME,
	STATE,
	STATE_VALUE,
	STATE_OTHER,
	MEASURE,
	VALUE,
	OTHER,
	LOW,
	HIGH,
	EFFECT,
	EFFECT_LOW,
	EFFECT_HIGH,
	RANGE,
	CHANGE,
	HOSTS,
	PEERS,
	P,
	Q,
	ALSO,
};

static const struct table_column columns[] = {
	{ "host", "HOST", .type = TABLE_TEXT, .when = 1, .whole = true, .field = HOST },
	{ "program", "PROGRAM", .type = TABLE_TEXT, .whole = true, .field = PROGRAM },
	{ "kind", .type = TABLE_TEXT, .formats = TABLE_FOR_PROGRAMS, .field = KIND },
	{ "name", .type = TABLE_TEXT, .formats = TABLE_FOR_PROGRAMS, .field = NAME },
	{ NULL, "MEASURE", .type = TABLE_TEXT, .formats = TABLE_FOR_PEOPLE, .field = MEASURE },
	{ "state", .type = TABLE_TEXT, .formats = TABLE_FOR_PROGRAMS, .field = STATE },
	{ "state_value", .type = TABLE_REAL, .formats = TABLE_FOR_PROGRAMS, .field = STATE_VALUE },
	{ "state_other", .type = TABLE_REAL, .formats = TABLE_FOR_PROGRAMS, .field = STATE_OTHER },
	{ "value", .type = TABLE_REAL, .formats = TABLE_FOR_PROGRAMS, .field = VALUE },
	{ NULL, "VALUE", .type = TABLE_TEXT, .right = true, .formats = TABLE_FOR_PEOPLE,
	  .field = VALUE },
	{ "other", .type = TABLE_REAL, .formats = TABLE_FOR_PROGRAMS, .field = OTHER },
	{ NULL, "OTHERS", .type = TABLE_TEXT, .right = true, .formats = TABLE_FOR_PEOPLE,
	  .field = OTHER },
	{ "other_low", .type = TABLE_REAL, .formats = TABLE_FOR_PROGRAMS, .field = LOW },
	{ "other_high", .type = TABLE_REAL, .formats = TABLE_FOR_PROGRAMS, .field = HIGH },
	{ NULL, "THEIR 95 %", .type = TABLE_TEXT, .right = true, .formats = TABLE_FOR_PEOPLE,
	  .minor = 1, .field = RANGE },
	{ "effect", .type = TABLE_REAL, .formats = TABLE_FOR_PROGRAMS, .field = EFFECT },
	{ "effect_low", .type = TABLE_REAL, .formats = TABLE_FOR_PROGRAMS, .field = EFFECT_LOW },
	{ "effect_high", .type = TABLE_REAL, .formats = TABLE_FOR_PROGRAMS, .field = EFFECT_HIGH },
	{ NULL, "DIFFERENCE, 95 %", .type = TABLE_TEXT, .right = true, .formats = TABLE_FOR_PEOPLE,
	  .minor = 2, .field = CHANGE },
	{ "hosts", .type = TABLE_COUNT, .formats = TABLE_FOR_PROGRAMS, .field = HOSTS },
	{ "peers", .type = TABLE_COUNT, .formats = TABLE_FOR_PROGRAMS, .field = PEERS },
	{ "p", .type = TABLE_REAL, .formats = TABLE_FOR_PROGRAMS, .field = P },
	{ "q", .type = TABLE_REAL, .formats = TABLE_FOR_PROGRAMS, .field = Q },
	{ NULL, "Q", .type = TABLE_TEXT, .right = true, .formats = TABLE_FOR_PEOPLE, .field = Q },
	{ NULL, "ALSO", .type = TABLE_TEXT, .right = true, .formats = TABLE_FOR_PEOPLE, .minor = 3,
	  .field = ALSO },
};

struct finding_row {
	const struct fleet_finding *finding;
	size_t also;
};

static void range_cell(struct table_cell *cell, enum fleet_kind kind, double low, double high,
		       bool is_change)
{
	_cleanup_free_ char *first = fleet_value_text(kind, low);
	_cleanup_free_ char *last = fleet_value_text(kind, high);

	if (!first || !last)
		table_owned(cell, NULL);
	else
		table_printf(cell, "%s%s to %s%s", is_change && low > 0 ? "+" : "", first,
			     is_change && high > 0 ? "+" : "", last);
}

static void number_cell(struct table_cell *cell, bool for_people, enum fleet_kind kind,
			double value)
{
	if (for_people)
		table_owned(cell, fleet_value_text(kind, value));
	else
		table_real(cell, TABLE_REAL, value);
}

/* "state lock", "off find_price (lock_futex)" */
static void measure_cell(struct table_cell *cell, const struct fleet_measure *measure,
			 const struct fleet_wait_state *state)
{
	const char *kind = fleet_kinds[measure->kind].name, *name = measure->name->bytes;

	if (state->state == STATE_COUNT)
		table_owned(cell, text_print("%s %s", kind, name));
	else
		table_owned(cell,
			    text_print("%s %s (%s)", kind, name, state_rows[state->state].name));
}

static void get_cell(const void *context, const void *row, const struct table_column *column,
		     struct table_cell *ret)
{
	const struct fleet_report *report = context;
	const struct fleet_finding *finding = ((const struct finding_row *)row)->finding;
	const struct fleet_measure *measure = fleet_finding_measure(report->data, finding);
	const struct fleet_wait_state state =
		fleet_wait_state_of(report->waits, (size_t)(finding - report->findings->items));
	const bool for_people = column->formats == TABLE_FOR_PEOPLE;

	switch ((enum field)column->field) {
	case HOST:
		if (finding->host != FLEET_NONE)
			table_text(ret, name_text(report->data->hosts.items[finding->host]));
		return;
	case PROGRAM:
		table_text(ret, name_text(measure->program));
		return;
	case KIND:
		table_string(ret, fleet_kinds[measure->kind].name);
		return;
	case NAME:
		table_text(ret, name_text(measure->name));
		return;
	case STATE:
		if (state.state != STATE_COUNT)
			table_string(ret, state_rows[state.state].name);
		return;
	case STATE_VALUE:
		if (state.state != STATE_COUNT)
			table_real(ret, TABLE_REAL, state.value);
		return;
	case STATE_OTHER:
		if (state.state != STATE_COUNT)
			table_real(ret, TABLE_REAL, state.other);
		return;
	case MEASURE:
		measure_cell(ret, measure, &state);
		return;
	case VALUE:
		number_cell(ret, for_people, measure->kind, finding->value);
		return;
	case OTHER:
		number_cell(ret, for_people, measure->kind, finding->other);
		return;
	case LOW:
		table_real(ret, TABLE_REAL, finding->other_low);
		return;
	case HIGH:
		table_real(ret, TABLE_REAL, finding->other_high);
		return;
	case RANGE:
		if (finding->other_low < finding->other_high)
			range_cell(ret, measure->kind, finding->other_low, finding->other_high,
				   false);
		return;
	case EFFECT:
		table_real(ret, TABLE_REAL, finding->effect);
		return;
	case EFFECT_LOW:
		table_real(ret, TABLE_REAL, finding->effect_low);
		return;
	case EFFECT_HIGH:
		table_real(ret, TABLE_REAL, finding->effect_high);
		return;
	case CHANGE:
		range_cell(ret, measure->kind, finding->effect_low, finding->effect_high, true);
		return;
	case HOSTS:
		table_count(ret, finding->hosts);
		return;
	case PEERS:
		table_count(ret, finding->peers);
		return;
	case P:
		table_real(ret, TABLE_REAL, finding->p);
		return;
	case Q:
		if (for_people)
			table_printf(ret, "%.1g", finding->q);
		else
			table_real(ret, TABLE_REAL, finding->q);
		return;
	case ALSO:
		if (((const struct finding_row *)row)->also)
			table_printf(ret, "+%zu", ((const struct finding_row *)row)->also);
		return;
	}
}

static bool has_hosts(const struct fleet_report *report)
{
	for (size_t i = 0; i < report->findings->count; i++)
		if (report->findings->items[i].host != FLEET_NONE)
			return true;
	return report->comparison == FLEET_OF_HOSTS;
}

/* If a host changed unlike the others, `other` of its finding is the value that it would have after
 * their change; in all other findings, it is the value before. */
static bool has_expected(const struct fleet_report *report)
{
	for (size_t i = 0; i < report->findings->count; i++)
		if (report->findings->items[i].host != FLEET_NONE &&
		    report->findings->items[i].peers > 1)
			return true;
	return false;
}

/* The head of a column as the comparison has it. */
static const char *head_of(const struct fleet_report *report, const struct table_column *column)
{
	if (report->comparison != FLEET_OF_TIMES || column->formats != TABLE_FOR_PEOPLE)
		return column->heading;
	switch ((enum field)column->field) {
	case OTHER:
		return has_expected(report) ? "EXPECTED" : "BEFORE";
	case RANGE:
		return has_expected(report) ? "EXPECTED, 95 %" : "BEFORE, 95 %";
	default:
		return column->heading;
	}
}

struct error *fleet_findings_table_print(const struct fleet_report *report,
					 const struct finding_lines *lines, size_t limit, FILE *out)
{
	struct table_column headed[array_length(columns)];
	struct table table;

	for (size_t i = 0; i < array_length(columns); i++) {
		headed[i] = columns[i];
		headed[i].heading = head_of(report, &columns[i]);
	}
	table_begin(&table, headed, array_length(columns),
		    (struct table_options){ .format = report->format,
					    .out = out,
					    .get = get_cell,
					    .context = report,
					    .when = has_hosts(report) ||
						    report->format != TABLE_AS_TEXT,
					    .width = report->width });
	for (size_t i = 0; i < lines->findings.count && i < limit; i++) {
		const struct finding_row row = {
			.finding = &report->findings->items[lines->findings.items[i]],
			.also = lines->also.items[i],
		};

		if (!table_row(&table, &row))
			break;
	}
	return table_end(&table);
}
