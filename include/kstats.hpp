/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libkstats for C++11 and later: metrics that delete themselves, and timers of scopes.
 *
 *	#include <kstats.hpp>
 *
 *	static libkstats::metric times = libkstats::metric::of_times("request_times");
 *
 *	void answer(const request &r)
 *	{
 *		libkstats::scope_timer timer(times);
 *		...                                     // recorded at the end, also by an exception
 *	}
 *
 * As in C (kstats.h), a metric that cannot be made records nothing, and nothing throws.
 */
#ifndef KSTATS_HPP
#define KSTATS_HPP

#include <kstats.h>

namespace libkstats
{

/* A metric that this object owns. It can be moved, not copied. */
class metric
{
public:
	explicit metric(const char *name, unsigned frac_bits = 3) noexcept
		: key(kstats_new(name, frac_bits))
	{
	}

	/* Of times in nanoseconds. */
	static metric of_times(const char *name, unsigned frac_bits = 3) noexcept
	{
		return metric(kstats_new_time(name, frac_bits));
	}

	metric(metric &&other) noexcept : key(other.key)
	{
		other.key = nullptr;
	}

	metric &operator=(metric &&other) noexcept
	{
		if (this != &other) {
			kstats_delete(key);
			key = other.key;
			other.key = nullptr;
		}
		return *this;
	}

	metric(const metric &) = delete;
	metric &operator=(const metric &) = delete;

	~metric()
	{
		kstats_delete(key);
	}

	/* False: it could not be made. */
	explicit operator bool() const noexcept
	{
		return key != nullptr;
	}

	void record(uint64_t value) noexcept
	{
		kstats_record(key, value);
	}

	uint64_t quantile(double fraction) const noexcept
	{
		return kstats_quantile(key, fraction);
	}

	bool describe(const char *unit, const char *labels = nullptr) noexcept
	{
		return kstats_describe(key, unit, labels) == 0;
	}

	void start() noexcept
	{
		kstats_start(key);
	}

	void stop() noexcept
	{
		kstats_stop(key);
	}

	bool reset() noexcept
	{
		return kstats_reset(key) == 0;
	}

	/* For functions of kstats.h; it stays this object's. */
	struct kstats *get() const noexcept
	{
		return key;
	}

private:
	explicit metric(struct kstats *made) noexcept : key(made)
	{
	}

	struct kstats *key;
};

/* Records the time from its construction to its destruction, once. */
class scope_timer
{
public:
	explicit scope_timer(struct kstats *key) noexcept : span(kstats_span_start(key))
	{
	}

	explicit scope_timer(const metric &of) noexcept : scope_timer(of.get())
	{
	}

	scope_timer(const scope_timer &) = delete;
	scope_timer &operator=(const scope_timer &) = delete;

	~scope_timer()
	{
		stop();
	}

	/* Record it now, and not at the end: the time in nanoseconds, 0 if that was done before. */
	uint64_t stop() noexcept
	{
		uint64_t took = is_running ? kstats_span_stop(span) : 0;

		is_running = false;
		return took;
	}

	/* Do not record it. */
	void cancel() noexcept
	{
		is_running = false;
	}

private:
	struct kstats_span span;
	bool is_running = true;
};

} /* namespace libkstats */

#endif
