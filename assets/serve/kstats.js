/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shows metrics of kstats. Each has a heat map, with time to the right as in the picture of the past
 * above and values upwards, and the histogram of the window with its percentiles.
 *
 *	const view = new KstatsView(box, details);
 *	view.show(recording, shown, look, timeline);
 *
 * Slots are those of /api/live. Of a value, only its slot is known, so a percentile is the upper end
 * of a slot.
 */
import { preparePen } from "./bars.js";
import { frameWindow } from "./timeline.js";
import { Tip } from "./tip.js";

const { element, time } = flameWords;
const HEAT = 104, BARS = 92, AXIS = 15, RANGES_MOST = 40, BITS_MOST = 2, COLUMNS_MOST = 600;
const PERCENTILES = [["p50", 0.5], ["p90", 0.9], ["p99", 0.99], ["p99.9", 0.999]];

/* The smallest and the largest value of a slot. */
export function lowOf(slot, bits) {
	const octave = slot >> bits, fraction = slot & ((1 << bits) - 1);
	return octave ? (2 ** bits + fraction) * 2 ** (octave - 1) : fraction;
}

export function highOf(slot, bits) {
	const octave = slot >> bits;
	return lowOf(slot, bits) + (octave ? 2 ** (octave - 1) - 1 : 0);
}

/* The slot with `to` bits that contains a slot with `bits` bits. */
export function coarser(slot, bits, to) {
	const octave = slot >> bits, fraction = slot & ((1 << bits) - 1);
	if (octave)
		return ((octave - 1 + bits - to + 1) << to) + (fraction >> (bits - to));
	if (fraction < 1 << to)
		return fraction;
	const exponent = 31 - Math.clz32(fraction);
	return ((exponent - to + 1) << to) + ((fraction >> (exponent - to)) & ((1 << to) - 1));
}

/* The values that a metric recorded in `ticks`: { count, sum, lost, active, slots: Map from slot to count }. */
export function sumOf(ticks, metric) {
	const all = { count: 0, sum: 0, lost: 0, active: false, slots: new Map() };
	for (const tick of ticks)
		for (const row of tick.kstats) {
			if (row.metric !== metric)
				continue;
			all.sum += row.sum;
			all.lost += row.lost;
			all.active = row.active;
			row.slots.forEach((slot, i) => {
				all.slots.set(slot, (all.slots.get(slot) || 0) + row.counts[i]);
				all.count += row.counts[i];
			});
		}
	return all;
}

/* The upper end of the slot of this percentile; null: too few values (percentile_needs() of the program). */
export function percentileOf(all, fraction, bits) {
	if (!all.count || (fraction < 1 && all.count * (1 - fraction) < 0.9999999))
		return null;
	const rank = Math.max(1, Math.min(all.count, Math.ceil(all.count * fraction * (1 - 2 ** -51))));
	let passed = 0;
	for (const slot of [...all.slots.keys()].sort((a, b) => a - b)) {
		passed += all.slots.get(slot);
		if (passed >= rank)
			return highOf(slot, bits);
	}
	return null;
}

function format(value, unit) {
	if (value === null)
		return "–";
	return unit === "ns" ? time(value) : Math.round(value).toLocaleString("en") + (unit ? " " + unit : "");
}

/* A card for a metric. */
class Card {
	constructor(view, metric) {
		Object.assign(this, { view, metric, at: -1 });
		this.box = element("section", undefined, "metric");
		this.title = element("h3");
		this.about = element("span", undefined, "faint");
		this.heat = element("canvas");
		this.heat.tabIndex = 0;
		this.heat.setAttribute("role", "img");
		this.facts = element("dl", undefined, "facts");
		this.bars = element("canvas");
		this.bars.setAttribute("role", "img");
		const head = element("div", undefined, "row"), below = element("div", undefined, "metric-below"), holder = element("div");
		head.append(this.title, this.about);
		holder.append(this.bars);
		below.append(this.facts, holder);
		this.box.append(head, this.heat, below);
		this.heat.addEventListener("pointermove", event => this.move(event));
		this.heat.addEventListener("pointerleave", () => view.tip.hide());
		this.heat.addEventListener("keydown", event => this.key(event));
	}

	show() {
		const { recording, shown } = this.view, m = recording.metrics, n = this.metric, last = sumOf(recording.ticks.slice(-1), n);
		const all = sumOf(shown, n), ns = shown.reduce((sum, tick) => sum + tick.ns, 0);
		Object.assign(this, { bits: m.frac_bits[n], unit: m.unit[n] });
		this.title.textContent = m.name[n];
		this.about.textContent = [[m.start[n] && m.end[n] ? m.start[n] + " to " + m.end[n] : m.start[n], m.scope[n]].filter(Boolean).join(", "),
			m.recorder[n] ? "by " + m.recorder[n] : "", last.active ? "" : "not recording"].filter(Boolean).join(" · ");
		const facts = [["values", all.count.toLocaleString("en")], ["rate", (all.count * 1e9 / ns).toLocaleString("en", { maximumSignificantDigits: 3 }) + "/s"],
			["mean", all.count ? format(all.sum / all.count, this.unit) : "–"],
			...PERCENTILES.map(([name, fraction]) => [name, format(percentileOf(all, fraction, this.bits), this.unit)]),
			["max", format(percentileOf(all, 1, this.bits), this.unit)], ...(all.lost ? [["lost", all.lost.toLocaleString("en")]] : [])];
		this.facts.replaceChildren(...facts.flatMap(([name, value]) => [element("dt", name), element("dd", value)]));
		this.heat.setAttribute("aria-label", m.name[n] + " over time. In the window: " + facts.map(fact => fact.join(" ")).join(", ")
			+ ". Left and right move by a reading.");
		this.bars.setAttribute("aria-label", "Histogram of the window");
		this.drawHeat();
		this.drawBars(all);
	}

	/* The ranges of values that the picture shows: slots with few enough bits that there are at most RANGES_MOST. */
	ranges(slots) {
		const all = [...slots], least = Math.min(...all), most = Math.max(...all);
		let bits = Math.min(this.bits, BITS_MOST);
		while (bits && coarser(most, this.bits, bits) - coarser(least, this.bits, bits) >= RANGES_MOST)
			bits--;
		const first = coarser(least, this.bits, bits);
		return { bits, first, count: coarser(most, this.bits, bits) - first + 1 };
	}

	/* Counts by column and range. A column is a tick or, if there are many, two pixels. */
	columns(ticks, timeline) {
		const columns = new Map(), isTight = ticks.length > COLUMNS_MOST;
		for (const tick of ticks) {
			const row = tick.kstats.find(r => r.metric === this.metric), left = this.x(tick.begin, timeline), wide = this.x(tick.end, timeline) - left;
			const key = isTight ? Math.floor(left / 2) : tick.seq;
			let column = columns.get(key);
			if (!column)
				columns.set(key, column = { left: isTight ? key * 2 : left, wide: isTight ? 2 : Math.max(1, wide), counts: new Float64Array(this.axis.count) });
			for (let i = 0; row && i < row.slots.length; i++)
				column.counts[coarser(row.slots[i], this.bits, this.axis.bits) - this.axis.first] += row.counts[i];
		}
		return columns.values();
	}

	x(ms, timeline) {
		return this.width * (ms - timeline.first) / (timeline.last - timeline.first);
	}

	drawHeat() {
		const { recording, look, timeline, shown } = this.view, slots = new Set();
		this.width = this.box.clientWidth;
		const pen = preparePen(this.heat, this.width, HEAT);
		pen.fillStyle = look.raised;
		pen.fillRect(0, 0, this.width, HEAT);
		for (const tick of recording.ticks)
			for (const row of tick.kstats)
				if (row.metric === this.metric)
					row.slots.forEach(slot => slots.add(slot));
		this.axis = slots.size ? this.ranges(slots) : null;
		if (!this.axis)
			return;
		const columns = [...this.columns(recording.ticks, timeline)], high = HEAT / this.axis.count;
		const most = Math.log1p(columns.reduce((max, column) => Math.max(max, ...column.counts), 1));
		for (const { left, wide, counts } of columns)
			for (let r = 0; r < counts.length; r++) {
				if (!counts[r])
					continue;
				const share = Math.log1p(counts[r]) / most;
				pen.fillStyle = look.dark ? "hsl(" + 55 * share + ",90%," + (24 + 46 * share) + "%)" : "hsl(" + (55 - 55 * share) + ",90%," + (84 - 44 * share) + "%)";
				pen.fillRect(left, HEAT - (r + 1) * high, wide, Math.max(1, high - (high > 4 ? 0.5 : 0)));
			}
		frameWindow(pen, this.view.look, this.x(shown[0].begin, timeline), this.x(shown[shown.length - 1].end, timeline), this.width, HEAT);
		pen.font = "11px system-ui, 'DejaVu Sans', sans-serif";
		pen.textBaseline = "middle";
		const step = Math.ceil(22 / high);
		for (let r = 0; r < this.axis.count; r += step)
			this.outlined(pen, format(lowOf(this.axis.first + r, this.axis.bits), this.unit), 4, Math.max(7, HEAT - r * high - 7));
	}

	outlined(pen, text, x, y) {
		const { look } = this.view;
		pen.lineWidth = 3;
		pen.strokeStyle = look.paper;
		pen.strokeText(text, x, y);
		pen.fillStyle = look.variable("ink");
		pen.fillText(text, x, y);
	}

	drawBars(all) {
		const { look } = this.view, width = this.bars.parentElement.clientWidth, pen = preparePen(this.bars, width, BARS + AXIS);
		pen.fillStyle = look.raised;
		pen.fillRect(0, 0, width, BARS);
		if (!all.count)
			return;
		const axis = this.ranges(all.slots.keys()), counts = new Float64Array(axis.count), wide = Math.min(48, width / axis.count);
		for (const [slot, count] of all.slots)
			counts[coarser(slot, this.bits, axis.bits) - axis.first] += count;
		const most = Math.max(...counts);
		pen.font = "11px system-ui, 'DejaVu Sans', sans-serif";
		pen.textBaseline = "top";
		let free = 0;
		counts.forEach((count, r) => {
			const high = count ? Math.max(1, (BARS - 4) * count / most) : 0, label = format(lowOf(axis.first + r, axis.bits), this.unit);
			pen.fillStyle = look.accent;
			pen.fillRect(r * wide, BARS - high, Math.max(1, wide - 1), high);
			if (r * wide < free || r * wide + pen.measureText(label).width > width)
				return;
			pen.fillStyle = look.faint;
			pen.fillText(label, r * wide, BARS + 3);
			free = r * wide + pen.measureText(label).width + 12;
		});
	}

	/* --- pointing --- */

	move(event) {
		const { timeline, recording, tip } = this.view, area = this.heat.getBoundingClientRect();
		const at = timeline.first + (timeline.last - timeline.first) * (event.clientX - area.left) / area.width;
		const tick = recording.ticks.find(t => at >= t.begin && at < t.end);
		if (!tick || !this.axis) {
			tip.hide();
			return;
		}
		const range = Math.max(0, Math.min(this.axis.count - 1, Math.floor((area.bottom - event.clientY) / area.height * this.axis.count)));
		tip.show([...this.describe(tick), this.describeRange(tick, range)], event.clientX, event.clientY);
	}

	describe(tick) {
		const all = sumOf([tick], this.metric);
		return [this.view.recording.metrics.name[this.metric] + ", " + new Date(tick.begin).toLocaleTimeString([], { hour12: false }),
			all.count.toLocaleString("en") + (all.count === 1 ? " value" : " values"), ...[...PERCENTILES.slice(0, 3), ["max", 1]]
				.map(([name, fraction]) => [name, percentileOf(all, fraction, this.bits)])
				.filter(([, value]) => value !== null).map(([name, value]) => name + " up to " + format(value, this.unit))];
	}

	describeRange(tick, range) {
		const slot = this.axis.first + range, { bits } = this.axis;
		let count = 0;
		for (const [own, n] of sumOf([tick], this.metric).slots)
			count += coarser(own, this.bits, bits) === slot ? n : 0;
		return count.toLocaleString("en") + " from " + format(lowOf(slot, bits), this.unit) + " to " + format(highOf(slot, bits), this.unit);
	}

	key(event) {
		const { recording } = this.view, side = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0, { ticks } = recording;
		if (!side)
			return;
		event.preventDefault();
		const at = ticks.findIndex(tick => tick.seq === this.at), next = at < 0 ? ticks.length - 1 : Math.max(0, Math.min(ticks.length - 1, at + side));
		this.at = ticks[next].seq;
		this.view.details.textContent = this.describe(ticks[next]).join(" · ");
	}
}

export class KstatsView {
	/* The arrow keys describe a reading in `details`. */
	constructor(box, details) {
		Object.assign(this, { box, details, cards: new Map(), tip: new Tip(), recording: null });
		this.none = element("p");
		this.none.append("No metrics of kstats are recorded. This makes one, of how long reads take: ", element("code", "sudo ctprof kstats trace reads start syscall:read"));
		this.omitted = element("p", undefined, "faint");
	}

	/* `shown`: the ticks of the window; `timeline`: drawn with the same recording. */
	show(recording, shown, look, timeline) {
		if (recording !== this.recording)
			this.cards.clear();
		Object.assign(this, { recording, shown, look, timeline });
		const numbers = new Set(recording.ticks.flatMap(tick => tick.kstats.map(row => row.metric)));
		const metrics = [...numbers].sort((a, b) => a - b), { omitted } = recording.ticks[recording.ticks.length - 1];
		for (const metric of this.cards.keys())
			if (!numbers.has(metric))
				this.cards.delete(metric);
		for (const metric of metrics)
			if (!this.cards.has(metric))
				this.cards.set(metric, new Card(this, metric));
		this.omitted.textContent = omitted ? omitted + " more are not read; --kstats selects by name" : "";
		const wanted = metrics.length ? [...metrics.map(metric => this.cards.get(metric).box), this.omitted] : [this.none];
		if (wanted.length !== this.box.children.length || wanted.some((child, i) => this.box.children[i] !== child))
			this.box.replaceChildren(...wanted);
		for (const metric of metrics) {
			const card = this.cards.get(metric), area = card.box.getBoundingClientRect();
			/* Metrics far outside of the visible part are drawn when scrolling brings them near. */
			if (area.bottom > -innerHeight && area.top < 2 * innerHeight)
				card.show();
		}
	}

	/* Draw the metrics that scrolling brought near. */
	scrolled() {
		if (this.recording && !this.box.hidden)
			this.show(this.recording, this.shown, this.look, this.timeline);
	}
}
