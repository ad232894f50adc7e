/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The agent's configuration file. A row is what its line says: printed as "key = value" and parsed
 * again it is the same.
 */
#include "agent/config.h"

#include <string.h>

#include "fuzz.h"

/* The bytes with the NUL that the parser wants behind them; the parser's. */
static char *writable(struct text bytes)
{
	char *copy = malloc(bytes.length + 1);

	must(copy);
	memcpy(copy, bytes.bytes, bytes.length);
	copy[bytes.length] = '\0';
	return copy;
}

static void check_word(const char *word, const struct config *config, size_t size)
{
	const struct text text = text_of(word), all = { config->bytes, size };

	must(text.length && fuzz_is_inside(text, all));
	must(text_equal(text_trim(text), text) && !strchr(word, '\n'));
}

static void check_again(const struct config *config)
{
	struct config again;
	char *written = NULL;
	size_t length;
	FILE *out = open_memstream(&written, &length);

	must(out);
	for (size_t i = 0; i < config->count; i++)
		fprintf(out, "%s = %s\n", config->items[i].key, config->items[i].value);
	must(!fclose(out));
	must(!config_parse("again", written, length, &again) && again.count == config->count);
	for (size_t i = 0; i < again.count; i++) {
		must(strcmp(again.items[i].key, config->items[i].key) == 0);
		must(strcmp(again.items[i].value, config->items[i].value) == 0);
		must(again.items[i].line == i + 1);
	}
	config_deinit(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	struct config config;
	struct error *err = config_parse("agent.conf", writable(bytes), size, &config);

	if (err) {
		must(strncmp(err->message, "agent.conf:", strlen("agent.conf:")) == 0);
		fuzz_check_error(err);
		must(!config.bytes && !config.count);
	} else {
		for (size_t i = 0; i < config.count; i++) {
			check_word(config.items[i].key, &config, size);
			check_word(config.items[i].value, &config, size);
			must(!strchr(config.items[i].key, '=') && *config.items[i].key != '#');
			must(!i || config.items[i - 1].line < config.items[i].line);
		}
		check_again(&config);
	}
	config_deinit(&config);
	fuzz_release(bytes);
	return 0;
}
