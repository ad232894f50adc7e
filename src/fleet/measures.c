/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/measures.h"

#include "base/units.h"
#include "report/visible.h"
#include "store/tables.h"

#define OF(id) (1u << STATE_##id)

const struct fleet_state_row fleet_states[] = {
#define STATE_ROW(kind, name, states, words) { FLEET_##kind, name, words, states },
	FLEET_STATES(STATE_ROW)
#undef STATE_ROW
};
const size_t fleet_state_count = array_length(fleet_states);

const struct fleet_metric_row fleet_metrics[] = {
#define METRIC_ROW(metric, event, words) { METRIC_##metric, event, #metric, words },
	FLEET_METRICS(METRIC_ROW)
#undef METRIC_ROW
};
const size_t fleet_metric_count = array_length(fleet_metrics);

const struct fleet_pressure_row fleet_pressures[] = {
#define PRESSURE_ROW(column, name, words) { LOADS_##column, name, words },
	FLEET_PRESSURES(PRESSURE_ROW)
#undef PRESSURE_ROW
};
const size_t fleet_pressure_count = array_length(fleet_pressures);

double fleet_event(const struct fleet_measure *measure)
{
	for (size_t i = 0; measure->kind == FLEET_METRIC && i < fleet_metric_count; i++)
		if (text_equal(name_text(measure->name), text_of(fleet_metrics[i].name)))
			return fleet_metrics[i].event;
	return fleet_kinds[measure->kind].event;
}

char *fleet_value_text(enum fleet_kind kind, double value)
{
	char text[UNITS_TEXT_MAX];

	if (fleet_kinds[kind].is_share)
		return text_print("%.*f %%", fabs(value) < 0.0995 ? 1 : 0, value * 100);
	if (fabs(value) >= 100 && fabs(value) < 1e15)
		return strdup(units_grouped(text, (__int128)llround(value), ""));
	return text_print("%.3g", value);
}

/* The words of a measure; NULL: those of its kind. */
static const char *words_of(const struct fleet_measure *measure)
{
	const struct text name = name_text(measure->name);

	for (size_t i = 0; i < fleet_state_count; i++)
		if (measure->kind == fleet_states[i].kind &&
		    text_equal(name, text_of(fleet_states[i].name)))
			return fleet_states[i].words;
	for (size_t i = 0; i < fleet_metric_count; i++)
		if (measure->kind == FLEET_METRIC &&
		    text_equal(name, text_of(fleet_metrics[i].name)))
			return fleet_metrics[i].words;
	for (size_t i = 0; i < fleet_pressure_count; i++)
		if (measure->kind == FLEET_HOST &&
		    text_equal(name, text_of(fleet_pressures[i].name)))
			return fleet_pressures[i].words;
	return NULL;
}

/* Put the value where the words have "%s". */
static char *with_value(const char *program, const char *words, const char *value, const char *tail)
{
	const char *at = strstr(words, "%s");
	const int before = at ? (int)(at - words) : (int)strlen(words);

	return text_print("%s%s%.*s%s%s%s", program, *program ? " " : "", before, words,
			  at ? value : "", at ? at + 2 : "", tail);
}

char *fleet_sentence(const struct fleet_measure *measure, double value)
{
	_cleanup_free_ char *program = strdup(measure->program->bytes);
	_cleanup_free_ char *name = strdup(measure->name->bytes);
	_cleanup_free_ char *shown = fleet_value_text(measure->kind, value);
	const char *words = words_of(measure);

	if (!program || !name || !shown)
		return NULL;
	text_make_safe(program);
	text_make_safe(name);
	if (words)
		return with_value(program, words, shown,
				  measure->kind == FLEET_METRIC ? " in a CPU second" : "");
	switch (measure->kind) {
	case FLEET_CPU:
		return text_print("%s spends %s of its CPU time in %s", program, shown, name);
	case FLEET_CPU_OWN:
		return text_print("%s spends %s of its CPU time in %s itself", program, shown,
				  name);
	case FLEET_OFF:
		return text_print("%s waits %s of its busy time in %s", program, shown, name);
	default:
		return text_print("%s: %s is %s", program, name, shown);
	}
}

const char *fleet_wait_words(enum state state)
{
	static const char *const words[STATE_COUNT] = {
#define WAIT_WORDS(id, words) [STATE_##id] = (words),
		FLEET_WAITS(WAIT_WORDS)
#undef WAIT_WORDS
	};

	return words[state] ? words[state] : "";
}
