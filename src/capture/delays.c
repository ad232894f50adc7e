/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/session.h"
#include "os/psi.h"

static bool booted_with(struct capture *c, struct text parameter)
{
	struct text line;

	return !file_read(c->proc, "cmdline", &c->buffer, &line) && text_has_word(line, parameter);
}

/*
 * The switch is a sysctl since Linux 5.14 (e4042ad49235); before, delay accounting was on unless
 * the command line said nodelayacct, and nothing tells whether it was built in at all.
 */
static enum delay_accounting find_delay_accounting(struct capture *c)
{
	struct text value;

	if (file_read(c->proc, "sys/kernel/task_delayacct", &c->buffer, &value))
		return booted_with(c, TEXT("nodelayacct")) ? DELAYS_OFF : DELAYS_UNKNOWN;
	if (text_equal(text_trim(value), TEXT("0")))
		return DELAYS_OFF;
	if (!text_equal(text_trim(value), TEXT("1")))
		return DELAYS_UNKNOWN;
	return booted_with(c, TEXT("delayacct")) ? DELAYS_BOOT : DELAYS_RUNTIME;
}

/* The pressure file of interrupts can be read only where the kernel accounts their time
 * (kernel/sched/psi.c: CONFIG_IRQ_TIME_ACCOUNTING, and irqtime_enabled() since 6.16). */
static bool find_irq_accounting(struct capture *c)
{
	struct text bytes;
	struct psi_lines lines;

	if (file_read(c->proc, "pressure/irq", &c->buffer, &bytes))
		return false;
	psi_parse(bytes, &lines);
	return lines.full.measured;
}

void capture_find_accounting(struct capture *c)
{
	c->delays = find_delay_accounting(c);
	c->irq_accounting = find_irq_accounting(c);
}

void capture_open_delays(struct capture *c)
{
	if (!c->ours || c->socket || !(c->sources >> SOURCE_TASKSTATS & 1))
		return;
	/* Without the family there is nothing to ask: its rows stay unmeasured. */
	error_destroy(taskstats_socket_open(&c->socket));
}

static void take_reply(struct capture *c, const struct taskstats_reply *reply,
		       struct ctprof_thread *thread)
{
	switch (reply->failed) {
	case 0:
		c->counts.stats.ok++;
		c->stats_version = reply->stats.version;
		take_taskstats(&c->taker, &reply->stats, c->delays, c->irq_accounting, thread);
		return;
	case ESRCH:
		c->counts.stats.gone++;
		c->counts.lost++;
		thread->tid = 0;
		return;
	case EPERM:
		c->counts.stats.denied++;
		break;
	default:
		c->counts.stats.other++;
	}
	capture_count(c, FILE_TASKSTATS, reply->failed);
}

void capture_flush_delays(struct capture *c)
{
	struct taskstats_reply replies[TASKSTATS_BATCH_MAX];
	uint32_t tids[TASKSTATS_BATCH_MAX];
	size_t count = c->batched, unanswered = 0;

	c->batched = 0;
	if (!count)
		return;
	for (size_t i = 0; i < count; i++)
		tids[i] = c->batch[i]->tid;
	taskstats_ask(c->socket, tids, count, replies);
	for (size_t i = 0; i < count; i++) {
		unanswered += replies[i].failed == ETIMEDOUT;
		take_reply(c, &replies[i], c->batch[i]);
	}
	/* Each question to a kernel that does not answer takes seconds. */
	c->silent = unanswered == count;
}

void capture_delays_of(struct capture *c, struct ctprof_thread *thread)
{
	capture_queue_delays(c, thread);
	capture_flush_delays(c);
}

void capture_queue_delays(struct capture *c, struct ctprof_thread *thread)
{
	if (!c->socket || !(c->sources >> SOURCE_TASKSTATS & 1))
		return;
	if (c->silent) {
		take_reply(c, &(struct taskstats_reply){ .failed = ETIMEDOUT }, thread);
		return;
	}
	c->batch[c->batched++] = thread;
	if (c->batched == TASKSTATS_BATCH_MAX)
		capture_flush_delays(c);
}
