/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/tick.h"

#include <string.h>

#define TICK_MAGIC 0x326b636974707463 /* "ctptick2" */

/* Tables are aligned for all of their types. */
#define ALIGNED(length) (((length) + 7) & ~(size_t)7)

/* --- packing --- */

/* The tables of the tick that is being packed. */
struct tick_packing {
	const struct profile *profile;
	struct word_map names; /* number by address */
	struct arena arena;    /* of strings that are not names of the profile */
	struct names words;
	struct word_map frame_by_key; /* number by the part of a frame that is sent */
	uint32_t *frames, *nodes;     /* numbers in the tick; TICK_NONE: not sent */
#define PACKING_TABLE(type, name) \
	struct {                  \
		ARRAY(type);      \
	} name##_;
	TICK_TABLES(PACKING_TABLE)
#undef PACKING_TABLE
};

static void packing_deinit(struct tick_packing *p)
{
	word_map_deinit(&p->names);
	names_deinit(&p->words);
	arena_deinit(&p->arena);
	word_map_deinit(&p->frame_by_key);
	free(p->frames);
	free(p->nodes);
#define PACKING_DEINIT(type, name) array_deinit(&p->name##_);
	TICK_TABLES(PACKING_DEINIT)
#undef PACKING_DEINIT
}

static void packing_deinit_guard(struct tick_packing *p)
{
	packing_deinit(p);
}

static struct error *number_of_name(struct tick_packing *p, const struct name *name, uint32_t *ret)
{
	uint32_t *number;

	*ret = TICK_NONE;
	if (!name)
		return NULL;
	number = word_map_at(&p->names, (struct words){ { (uintptr_t)name } });
	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(&p->names_, name->length) ||
		    !array_reserve(&p->text_, name->length))
			return &error_no_memory;
		memcpy(p->text_.items + p->text_.count, name->bytes, name->length);
		p->text_.count += name->length;
		*number = (uint32_t)p->names_.count - 1;
	}
	*ret = *number;
	return NULL;
}

static struct error *put_frame(struct tick_packing *p, uint32_t frame)
{
	const struct frame *from = &p->profile->frames.items[frame];
	struct tick_frame to = {
		.line = from->line,
		.kind = (uint8_t)from->kind,
		.inlined = from->inlined,
	};
	struct error *err = number_of_name(p, from->name, &to.name);
	uint32_t *number;

	if (!err)
		err = number_of_name(p, from->module, &to.module);
	if (!err)
		err = number_of_name(p, from->source, &to.source);
	if (err)
		return err;
	number = word_map_at(&p->frame_by_key, (struct words){ {
						       (uint64_t)to.name << 32 | to.module,
						       (uint64_t)to.source << 32 | to.line,
						       (uint64_t)to.kind << 1 | to.inlined,
					       } });
	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(&p->frames_, to))
			return &error_no_memory;
		*number = (uint32_t)p->frames_.count - 1;
	}
	p->frames[frame] = *number;
	return NULL;
}

/* Send the nodes of all stacks that samples have: mark them in `nodes`, then send them in order.
 * Parents precede their children in the profile, so they do in the tick. */
static struct error *put_nodes(struct tick_packing *p)
{
	const struct profile *profile = p->profile;

	for (size_t i = 0; i < profile->samples.count; i++)
		for (uint32_t n = profile->samples.items[i].node;
		     n != NODE_NONE && p->nodes[n] == TICK_NONE; n = profile->nodes.items[n].parent)
			p->nodes[n] = 0;
	for (size_t i = 0; i < profile->nodes.count; i++) {
		const struct node node = profile->nodes.items[i];
		struct node to;

		if (p->nodes[i] == TICK_NONE)
			continue;
		if (p->frames[node.frame] == TICK_NONE) {
			struct error *err = put_frame(p, node.frame);

			if (err)
				return err;
		}
		to.parent = node.parent == NODE_NONE ? NODE_NONE : p->nodes[node.parent];
		to.frame = p->frames[node.frame];
		if (!array_push(&p->nodes_, to))
			return &error_no_memory;
		p->nodes[i] = (uint32_t)p->nodes_.count - 1;
	}
	return NULL;
}

static struct error *put_threads(struct tick_packing *p)
{
	for (size_t i = 0; i < p->profile->threads.count; i++) {
		const struct profile_thread *from = &p->profile->threads.items[i];
		struct tick_thread to = {
			.tid = from->tid,
			.tgid = from->tgid,
			.uid = from->uid,
			.is_kernel = from->is_kernel,
			.on_cpu_ns = from->ns[CLASS_ON_CPU],
		};
		struct error *err = number_of_name(p, from->name, &to.name);

		if (!err)
			err = number_of_name(p, from->process, &to.process);
		if (!err)
			err = number_of_name(p, from->cgroup, &to.cgroup);
		if (err)
			return err;
		if (!array_push(&p->threads_, to))
			return &error_no_memory;
	}
	return NULL;
}

static struct error *put_wakers(struct tick_packing *p)
{
	for (size_t i = 0; i < p->profile->wakers.count; i++) {
		const struct waker *from = &p->profile->wakers.items[i];
		struct tick_waker to = { .tid = from->tid };
		struct error *err = number_of_name(p, from->name, &to.name);

		if (err)
			return err;
		if (!array_push(&p->wakers_, to))
			return &error_no_memory;
	}
	return NULL;
}

static struct error *put_samples(struct tick_packing *p)
{
	for (size_t i = 0; i < p->profile->samples.count; i++) {
		struct sample sample = p->profile->samples.items[i];

		if (sample.node != NODE_NONE)
			sample.node = p->nodes[sample.node];
		sample.waker = sample.waker ? sample.waker - 1 : TICK_NONE;
		if (!array_push(&p->samples_, sample))
			return &error_no_memory;
	}
	return NULL;
}

static struct error *put_latencies(struct tick_packing *p)
{
	for (size_t i = 0; i < p->profile->latencies.count; i++) {
		const struct profile_latency *from = &p->profile->latencies.items[i];
		struct tick_latency to = { .kind = from->kind, .sum = from->histogram->sum };
		struct error *err = number_of_name(p, from->cgroup, &to.cgroup);

		for (uint32_t slot = 0; !err && slot < BUCKET_SLOTS(LATENCY_FRAC_BITS); slot++) {
			const struct tick_slot put = { .slot = slot,
						       .count = from->histogram->slots[slot] };

			if (!put.count)
				continue;
			to.slots++;
			if (!array_push(&p->slots_, put))
				err = &error_no_memory;
		}
		if (err)
			return err;
		if (!array_push(&p->latencies_, to))
			return &error_no_memory;
	}
	return NULL;
}

static struct error *number_of_word(struct tick_packing *p, const char *word, uint32_t *ret)
{
	const struct name *name = word ? names_intern(&p->words, word, strlen(word)) : NULL;

	return word && !name ? &error_no_memory : number_of_name(p, name, ret);
}

static struct error *put_values(struct tick_packing *p, const struct kstats_table *table,
				uint32_t *ret)
{
	const struct kstats_row *row = table->rows.count ? table->rows.items : NULL;

	*ret = 0;
	for (uint32_t slot = 0; row && slot < BUCKET_SLOTS(table->frac_bits); slot++) {
		const struct tick_value value = { .slot = slot,
						  .count = row->slots[slot].count,
						  .sum = row->slots[slot].sum };

		if (!value.count)
			continue;
		++*ret;
		if (!array_push(&p->values_, value))
			return &error_no_memory;
	}
	return NULL;
}

static struct error *put_kstats(struct tick_packing *p, const struct kstats_tables *tables)
{
	for (size_t i = 0; i < tables->count; i++) {
		const struct kstats_table *from = tables->items[i];
		struct tick_kstats to = {
			.frac_bits = from->frac_bits,
			.is_active = from->is_active,
			.losses_known = from->losses_known,
			.earlier_known = from->earlier_known,
			.earlier = from->earlier,
		};
		struct error *err = put_values(p, from, &to.values);

		memcpy(to.losses, from->losses, sizeof(to.losses));
#define WORD_PUT(word, member) \
	if (!err)              \
		err = number_of_word(p, from->member, &to.word);
		TICK_KSTATS_WORDS(WORD_PUT)
#undef WORD_PUT
		if (err)
			return err;
		if (!array_push(&p->kstats_, to))
			return &error_no_memory;
	}
	return NULL;
}

static struct error *put_meta(struct tick_packing *p, struct tick_meta *ret)
{
	const struct profile_meta *meta = &p->profile->meta;
	struct error *err = NULL;

#define META_PUT(name) \
	if (!err)      \
		err = number_of_name(p, meta->name, &ret->name);
	TICK_META_NAMES(META_PUT)
#undef META_PUT
	ret->cpus = meta->cpus;
	ret->is_whole_host = meta->is_whole_host;
	ret->on_cpu_period_ns = meta->on_cpu_period_ns;
	return err;
}

static char *put_table(char *at, const void *items, size_t bytes)
{
	if (bytes)
		memcpy(at, items, bytes);
	memset(at + bytes, 0, ALIGNED(bytes) - bytes);
	return at + ALIGNED(bytes);
}

struct error *tick_buffer_reserve(struct tick_buffer *buffer, size_t room)
{
	char *more;

	if (buffer->room >= room)
		return NULL;
	more = realloc(buffer->bytes, room);
	if (!more)
		return &error_no_memory;
	buffer->bytes = more;
	buffer->room = room;
	return NULL;
}

static struct error *join(const struct tick_packing *p, struct tick_header *header,
			  struct tick_buffer *buffer)
{
	size_t length = sizeof(*header);
	struct error *err;
	char *at;

#define TABLE_LENGTH(type, name)                 \
	header->name##_count = p->name##_.count; \
	length += ALIGNED(p->name##_.count * sizeof(type));
	TICK_TABLES(TABLE_LENGTH)
#undef TABLE_LENGTH
	if (length > TICK_BYTES_MAX)
		return error_create("a reading of %zu MiB is too large to be sent", length >> 20);
	err = tick_buffer_reserve(buffer, length);
	if (err)
		return err;
	buffer->length = header->length = length;
	at = put_table(buffer->bytes, header, sizeof(*header));
#define TABLE_PUT(type, name) at = put_table(at, p->name##_.items, p->name##_.count * sizeof(type));
	TICK_TABLES(TABLE_PUT)
#undef TABLE_PUT
	return NULL;
}

struct error *tick_pack(const struct profile *profile, const struct tick_host *host,
			const struct kstats_changes *kstats, struct tick_buffer *buffer)
{
	_cleanup_(packing_deinit) struct tick_packing p = {
		.profile = profile,
		.frames = malloc((profile->frames.count + 1) * sizeof(*p.frames)),
		.nodes = malloc((profile->nodes.count + 1) * sizeof(*p.nodes)),
	};
	struct tick_header header = {
		.magic = TICK_MAGIC,
		.begun_unix_ns = profile->meta.captured_at_unix_ns,
		.ns = profile->meta.duration_ns,
		.host = *host,
		.losses = profile->meta.losses,
		.kstats_omitted = kstats->omitted,
	};
	struct error *err;

	arena_init(&p.arena, SIZE_MAX);
	names_init(&p.words, &p.arena);
	if (!p.frames || !p.nodes)
		return &error_no_memory;
	memset(p.frames, 0xff, profile->frames.count * sizeof(*p.frames));
	memset(p.nodes, 0xff, profile->nodes.count * sizeof(*p.nodes));
	err = put_nodes(&p);
	if (!err)
		err = put_threads(&p);
	if (!err)
		err = put_wakers(&p);
	if (!err)
		err = put_samples(&p);
	if (!err)
		err = put_latencies(&p);
	if (!err)
		err = put_kstats(&p, &kstats->tables);
	if (!err)
		err = put_meta(&p, &header.meta);
	return err ? err : join(&p, &header, buffer);
}

/* --- unpacking --- */

static struct error *malformed(const char *what)
{
	return error_create("malformed reading of the collector: %s", what);
}

struct error *tick_length(const struct tick_header *header, size_t *ret)
{
	if (header->magic != TICK_MAGIC)
		return malformed("wrong magic number");
	if (header->length < sizeof(*header) || header->length > TICK_BYTES_MAX)
		return malformed("wrong length");
	*ret = header->length;
	return NULL;
}

static bool is_name(const struct tick *tick, uint32_t name)
{
	return name < tick->header->names_count;
}

static bool is_name_or_none(const struct tick *tick, uint32_t name)
{
	return name == TICK_NONE || is_name(tick, name);
}

static bool meta_is_sound(const struct tick *tick)
{
	const struct tick_meta *meta = &tick->header->meta;

	return true
#define META_SOUND(name) &&is_name_or_none(tick, meta->name)
		TICK_META_NAMES(META_SOUND)
#undef META_SOUND
			;
}

static bool frames_are_sound(const struct tick *tick)
{
	for (size_t i = 0; i < tick->header->frames_count; i++) {
		const struct tick_frame *frame = &tick->frames[i];

		if (!is_name_or_none(tick, frame->name) || !is_name_or_none(tick, frame->module) ||
		    !is_name_or_none(tick, frame->source) || frame->kind > FRAME_IDLE)
			return false;
	}
	return true;
}

static bool nodes_are_sound(const struct tick *tick)
{
	for (size_t i = 0; i < tick->header->nodes_count; i++) {
		const struct node *node = &tick->nodes[i];

		if (node->frame >= tick->header->frames_count ||
		    (node->parent != NODE_NONE && node->parent >= i))
			return false;
	}
	return true;
}

static bool threads_are_sound(const struct tick *tick)
{
	for (size_t i = 0; i < tick->header->threads_count; i++) {
		const struct tick_thread *thread = &tick->threads[i];

		if (!is_name(tick, thread->name) || !is_name(tick, thread->process) ||
		    !is_name_or_none(tick, thread->cgroup))
			return false;
	}
	for (size_t i = 0; i < tick->header->wakers_count; i++)
		if (!is_name(tick, tick->wakers[i].name))
			return false;
	return true;
}

static bool samples_are_sound(const struct tick *tick)
{
	const struct tick_header *header = tick->header;

	for (size_t i = 0; i < header->samples_count; i++) {
		const struct sample *sample = &tick->samples[i];
		const unsigned char *flag = (const unsigned char *)&sample->is_in_progress;

		if (*flag > 1 || sample->thread >= header->threads_count ||
		    (sample->node != NODE_NONE && sample->node >= header->nodes_count) ||
		    sample->class >= CLASS_COUNT || sample->state >= STATE_COUNT ||
		    (sample->waker != TICK_NONE && sample->waker >= header->wakers_count))
			return false;
	}
	return true;
}

static bool latencies_are_sound(const struct tick *tick)
{
	uint64_t left = tick->header->slots_count;

	for (size_t i = 0; i < tick->header->latencies_count; i++) {
		const struct tick_latency *latency = &tick->latencies[i];

		if (!is_name_or_none(tick, latency->cgroup) || latency->kind >= LATENCY_KINDS ||
		    latency->slots > left)
			return false;
		left -= latency->slots;
	}
	for (size_t i = 0; i < tick->header->slots_count; i++)
		if (tick->slots[i].slot >= BUCKET_SLOTS(LATENCY_FRAC_BITS))
			return false;
	return left == 0;
}

static bool words_are_sound(const struct tick *tick, const struct tick_kstats *metric)
{
	return is_name(tick, metric->name) && is_name(tick, metric->unit)
#define WORD_SOUND(word, member) &&is_name_or_none(tick, metric->word)
						      TICK_KSTATS_WORDS(WORD_SOUND)
#undef WORD_SOUND
		;
}

/* Slots must ascend, so that none occurs twice. */
static bool values_are_sound(const struct tick_value *values, const struct tick_kstats *metric)
{
	for (uint32_t i = 0; i < metric->values; i++)
		if (values[i].slot >= BUCKET_SLOTS(metric->frac_bits) ||
		    (i && values[i].slot <= values[i - 1].slot))
			return false;
	return true;
}

static bool kstats_are_sound(const struct tick *tick)
{
	const struct tick_value *values = tick->values;
	uint64_t left = tick->header->values_count;

	if (tick->header->kstats_count > KSTATS_WATCH_MOST)
		return false;
	for (size_t i = 0; i < tick->header->kstats_count; i++) {
		const struct tick_kstats *metric = &tick->kstats[i];

		if (!words_are_sound(tick, metric) || metric->frac_bits > BUCKET_FRAC_BITS_MAX ||
		    metric->is_active > 1 || metric->earlier_known > 1 || metric->values > left ||
		    !values_are_sound(values, metric))
			return false;
		values += metric->values;
		left -= metric->values;
	}
	return left == 0;
}

static bool names_are_sound(const struct tick *tick)
{
	uint64_t left = tick->header->text_count;

	for (size_t i = 0; i < tick->header->names_count; i++) {
		if (tick->names[i] > left)
			return false;
		left -= tick->names[i];
	}
	return left == 0;
}

struct error *tick_unpack(const void *bytes, size_t length, struct tick *ret)
{
	const struct tick_header *header = bytes;
	struct tick tick = { .header = header };
	const char *at = (const char *)bytes + sizeof(*header);
	size_t told, left;
	struct error *err =
		length < sizeof(*header) ? malformed("no header") : tick_length(header, &told);

	if (err)
		return err;
	if (told != length)
		return malformed("it ends early");
	left = length - sizeof(*header);
#define TABLE_FIND(type, name)                                   \
	if (header->name##_count > left / sizeof(type) ||        \
	    ALIGNED(header->name##_count * sizeof(type)) > left) \
		return malformed("a table beyond the end");      \
	tick.name = (const type *)at;                            \
	at += ALIGNED(header->name##_count * sizeof(type));      \
	left -= ALIGNED(header->name##_count * sizeof(type));
	TICK_TABLES(TABLE_FIND)
#undef TABLE_FIND
	if (left)
		return malformed("bytes behind the last table");
	if (!names_are_sound(&tick) || !meta_is_sound(&tick) || !frames_are_sound(&tick) ||
	    !nodes_are_sound(&tick) || !threads_are_sound(&tick) || !samples_are_sound(&tick) ||
	    !latencies_are_sound(&tick) || !kstats_are_sound(&tick))
		return malformed("a number beyond its table");
	*ret = tick;
	return NULL;
}
