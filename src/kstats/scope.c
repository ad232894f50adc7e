/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/scope.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "kstats/spec.h"

const char *const kstats_filters[KSTATS_FILTER_COUNT] = {
#define FILTER_ROW(id, name) name,
	KSTATS_FILTERS(FILTER_ROW)
#undef FILTER_ROW
};

void kstats_scope_clear(struct kstats_scope *scope)
{
	free(scope->key);
	for (unsigned i = 0; i < KSTATS_FILTER_COUNT; i++)
		free(scope->only[i]);
	*scope = (struct kstats_scope){ 0 };
}

void kstats_agree(char **into, const char *from)
{
	if (*into && from && strcmp(*into, from) == 0)
		return;
	free(*into);
	*into = NULL;
}

/* Two metrics differ in a part of their scope: store KSTATS_SEVERAL. Without a scope the values
 * would seem to be those of all threads. */
static void note_difference(char **into, const char *from)
{
	if (!*into && !from)
		return;
	if (*into && from && strcmp(*into, from) == 0)
		return;
	free(*into);
	*into = strdup(KSTATS_SEVERAL);
}

void kstats_scope_agree(struct kstats_scope *into, const struct kstats_scope *from)
{
	note_difference(&into->key, from->key);
	for (unsigned i = 0; i < KSTATS_FILTER_COUNT; i++)
		note_difference(&into->only[i], from->only[i]);
}

/* `text` and one more phrase; frees `text`. NULL stays NULL. */
static char *with(char *text, const char *phrase, const char *word)
{
	char *longer = text ? text_print("%s, %s %s", text, phrase, word) : NULL;

	free(text);
	return longer;
}

char *kstats_scope_text(const struct kstats_scope *scope)
{
	char *text = strdup("");

	if (scope->key && strcmp(scope->key, kstats_keys[KSTATS_KEY_TASK].name) != 0)
		text = with(text, "key", scope->key);
	for (unsigned i = 0; i < KSTATS_FILTER_COUNT; i++) {
		_cleanup_free_ char *phrase = text_print("only %s", kstats_filters[i]);

		if (scope->only[i] && phrase)
			text = with(text, phrase, scope->only[i]);
	}
	return text;
}
