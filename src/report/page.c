/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/page.h"

#include <sha2.h>

#include "base/array.h"
#include "base/base64.h"
#include "report/assets.h"
#include "report/markup.h"

/* Assets of flame graphs come last, after STYLES_USUAL and SCRIPTS_USUAL. */
static const enum asset styles[] = { ASSET_SHARED_STYLE, ASSET_REPORT_STYLE, ASSET_PAGE_STYLE };
static const enum asset scripts[] = { ASSET_TABLE_SCRIPT, ASSET_REPORT_SCRIPT, ASSET_PAGE_WORDS,
				      ASSET_PAGE_MODEL,   ASSET_PAGE_SCRIPT,   ASSET_FLAME_PARTS };
#define STYLES_USUAL  2
#define SCRIPTS_USUAL 2

/* The text of the element must be exactly the asset, since browsers hash it to check the policy. */
static void print_element(FILE *out, const char *tag, enum asset asset)
{
	const struct text text = asset_text(asset);

	fprintf(out, "<%s>", tag);
	fwrite(text.bytes, 1, text.length, out);
	fprintf(out, "</%s>\n", tag);
}

void page_print_style(FILE *out, enum asset style)
{
	print_element(out, "style", style);
}

void page_print_script(FILE *out, enum asset script)
{
	print_element(out, "script", script);
}

static void print_sources(FILE *out, const char *directive, const enum asset *assets, size_t count)
{
	fprintf(out, "; %s", directive);
	for (size_t i = 0; i < count; i++) {
		const struct text text = asset_text(assets[i]);
		char encoded[BASE64_SIZE(SHA256_DIGEST_LENGTH)];
		uint8_t digest[SHA256_DIGEST_LENGTH];
		SHA2_CTX sha;

		SHA256Init(&sha);
		SHA256Update(&sha, (const uint8_t *)text.bytes, text.length);
		SHA256Final(digest, &sha);
		base64_write(encoded, digest, sizeof(digest));
		fprintf(out, " 'sha256-%s'", encoded);
	}
}

void page_print_policy(FILE *out, const struct page_policy *policy)
{
	fputs("default-src 'none'; base-uri 'none'; form-action 'none'", out);
	if (policy->has_style_attributes)
		fputs("; style-src 'unsafe-inline'", out);
	else
		print_sources(out, "style-src", policy->styles, policy->style_count);
	print_sources(out, "script-src", policy->scripts, policy->script_count);
}

const struct page_policy html_page_policy = {
	.styles = styles,
	.scripts = scripts,
	.style_count = array_length(styles),
	.script_count = array_length(scripts),
};

static struct error *print_policy(FILE *out, const void *context)
{
	const struct html_page *page = context;
	struct page_policy policy = html_page_policy;

	if (!page->has_flames) {
		policy.style_count = STYLES_USUAL;
		policy.script_count = SCRIPTS_USUAL;
	}
	page_print_policy(out, &policy);
	return NULL;
}

static struct error *print_title(FILE *out, const void *context)
{
	const struct html_page *page = context;

	return markup_text(out, text_of(page->title));
}

static struct error *print_styles(FILE *out, const void *context)
{
	(void)context;
	for (size_t i = 0; i < STYLES_USUAL; i++)
		page_print_style(out, styles[i]);
	return NULL;
}

static struct error *print_scripts(FILE *out, const void *context)
{
	const struct html_page *page = context;

	for (size_t i = 0; i < (page->has_flames ? array_length(scripts) : SCRIPTS_USUAL); i++)
		page_print_script(out, scripts[i]);
	return NULL;
}

static struct error *print_facts(FILE *out, const void *context)
{
	const struct html_page *page = context;

	return page->facts ? page->facts(out, page->context) : NULL;
}

static struct error *print_body(FILE *out, const void *context)
{
	const struct html_page *page = context;

	return page->body(out, page->context);
}

static const struct slot slots[] = {
	{ { "@POLICY@", 8 }, print_policy }, { { "@TITLE@", 7 }, print_title },
	{ { "@STYLES@", 8 }, print_styles }, { { "@FACTS@", 7 }, print_facts },
	{ { "@BODY@", 6 }, print_body },     { { "@SCRIPTS@", 9 }, print_scripts },
};

struct error *page_print(FILE *out, const struct html_page *page)
{
	return markup_fill(out, asset_text(ASSET_REPORT), slots, array_length(slots), page);
}
