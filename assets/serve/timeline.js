/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kept past: how busy the CPUs were, pressure, and what threads waited for, a column for each
 * tick. A window is chosen with the pointer, or with the arrow keys.
 *
 *	const timeline = new Timeline(canvas, { chosen: (from, to) => ... });	Unix times in ms; null: live
 *	timeline.show(view, recording, shown, { colours, ... });
 */
import { css, preparePen } from "./bars.js";
import { BANDS, CPU_WAIT, RAN, bands, isIdle } from "./states.js";
import { Tip } from "./tip.js";

const TOP = 4, CPU = 34, GAP = 8, WAITS = 44, AXIS = 16, LEAST_TICKS = 60;
export const TIMELINE_HEIGHT = TOP + CPU + GAP + WAITS + AXIS;

/* name in host.pressure, what it is, colour */
const pressures = [
	["cpu_some", "waiting for a CPU", "runnable"], ["io_some", "waiting for storage", "disk"],
	["memory_some", "waiting for memory", "paging"],
];

/* Threads in each band on average, without idle waits. As long as a tick is kept, by what was idle when it came. */
function bandsOfTick(recording, tick, alone) {
	if (tick.bands)
		return tick.bands;
	const sums = tick.bands = new Float64Array(BANDS);
	recording.each([tick], (thread, node, band, ns, count, isOnCpu) => {
		if (!isOnCpu && !isIdle(band, alone[thread]))
			sums[band] += ns / tick.ns;
	});
	for (const ns of tick.cpuTime)
		sums[RAN] += ns / tick.ns;
	return sums;
}

/* What is not in the window, from x `left` to `right`, is pale. */
export function frameWindow(pen, look, left, right, width, height) {
	pen.fillStyle = look.veil;
	pen.fillRect(0, 0, left, height);
	pen.fillRect(right, 0, width - right, height);
	pen.strokeStyle = look.accent;
	pen.lineWidth = 1.5;
	pen.strokeRect(left + 0.75, 0.75, Math.max(2, right - left - 1.5), height - 1.5);
}

export class Timeline {
	constructor(canvas, { chosen }) {
		Object.assign(this, { canvas, chosen, drag: null, tip: new Tip(), ticks: [], first: 0, last: 1 });
		canvas.addEventListener("pointerdown", event => this.press(event));
		canvas.addEventListener("pointermove", event => this.move(event));
		canvas.addEventListener("pointerup", event => this.release(event));
		canvas.addEventListener("pointerleave", () => this.tip.hide());
		canvas.addEventListener("dblclick", () => this.chosen(null, null));
		canvas.addEventListener("keydown", event => this.key(event));
		new ResizeObserver(() => this.recording && this.draw()).observe(canvas.parentElement);
	}

	/* `shown`: the ticks of the window. */
	show(view, recording, shown, look) {
		Object.assign(this, { view, recording, shown, look, ticks: recording.ticks });
		this.draw();
	}

	/* The time at the left and at the right end. There is room for LEAST_TICKS from the start. */
	range() {
		const { ticks } = this, end = ticks[ticks.length - 1].end, each = this.recording.about.interval_ns / 1e6;
		this.first = Math.min(ticks[0].begin, end - LEAST_TICKS * each);
		this.last = end;
	}

	x(ms) {
		return this.width * (ms - this.first) / (this.last - this.first);
	}

	draw() {
		const { canvas, ticks, look } = this;
		if (!ticks.length)
			return;
		this.width = canvas.parentElement.clientWidth;
		const pen = preparePen(canvas, this.width, TIMELINE_HEIGHT), waits = TOP + CPU + GAP + WAITS;
		this.range();
		const cpus = this.recording.about.cpus;
		let most = 1;
		const sums = ticks.map(tick => bandsOfTick(this.recording, tick, this.view.alone));
		for (const of of sums)
			most = Math.max(most, of.reduce((a, b) => a + b, 0) - of[RAN]);
		pen.fillStyle = look.raised;
		pen.fillRect(0, TOP, this.width, CPU);
		pen.fillRect(0, waits - WAITS, this.width, WAITS);
		ticks.forEach((tick, i) => {
			const x = this.x(tick.begin), wide = Math.max(1, this.x(tick.end) - x - (ticks.length < 400 ? 1 : 0));
			const busy = CPU * Math.min(1, tick.host.cpu_ns / (cpus * tick.ns));
			pen.fillStyle = css(look.colours[RAN]);
			pen.fillRect(x, TOP + CPU - busy, wide, busy);
			let y = waits;
			for (let b = 0; b < BANDS; b++) {
				if (b === RAN || !sums[i][b])
					continue;
				const high = WAITS * sums[i][b] / most;
				pen.fillStyle = css(look.colours[b]);
				pen.fillRect(x, y - high, wide, high);
				y -= high;
			}
		});
		this.drawPressure(pen);
		this.drawWindow(pen, waits);
		this.drawWords(pen, most, waits);
	}

	drawPressure(pen) {
		for (const [name, , colour] of pressures) {
			pen.strokeStyle = this.look.variable(colour);
			pen.lineWidth = 1.5;
			pen.beginPath();
			for (const tick of this.ticks) {
				const ns = tick.host.pressure?.[name];
				if (ns === null || ns === undefined)
					continue;
				const y = TOP + CPU - 0.75 - (CPU - 1.5) * Math.min(1, ns / tick.ns);
				pen.lineTo(this.x((tick.begin + tick.end) / 2), y);
			}
			pen.stroke();
		}
	}

	drawWords(pen, most, waits) {
		const { look } = this;
		pen.font = "11px system-ui, 'DejaVu Sans', sans-serif";
		pen.textBaseline = "top";
		const outlined = (text, x, y) => {
			pen.lineWidth = 3;
			pen.strokeStyle = look.paper;
			pen.strokeText(text, x, y);
			pen.fillStyle = look.faint;
			pen.fillText(text, x, y);
		};
		outlined("CPUs busy (bars), pressure (lines)", 4, TOP + 2);
		outlined("threads that wait, by state; at most " + (most < 10 ? most.toFixed(1) : Math.round(most)), 4, waits - WAITS + 2);
		const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400];
		const step = 1000 * (steps.find(s => this.width / ((this.last - this.first) / (1000 * s)) > 90) || 86400);
		pen.fillStyle = look.faint;
		for (let at = Math.ceil(this.first / step) * step; at < this.last; at += step) {
			const x = this.x(at), text = new Date(at).toLocaleTimeString([], { hour12: false });
			pen.fillRect(x, waits, 1, 3);
			if (x + 60 < this.width)
				pen.fillText(text, x + 3, waits + 2);
		}
	}

	drawWindow(pen, waits) {
		const { look, shown, drag } = this;
		const from = drag ? Math.min(drag.from, drag.to) : shown.length ? shown[0].begin : this.first;
		const to = drag ? Math.max(drag.from, drag.to) : shown.length ? shown[shown.length - 1].end : this.last;
		frameWindow(pen, look, this.x(from), this.x(to), this.width, waits);
	}

	/* --- choosing --- */

	time(event) {
		const area = this.canvas.getBoundingClientRect();
		return this.first + (this.last - this.first) * Math.max(0, Math.min(1, (event.clientX - area.left) / area.width));
	}

	press(event) {
		if (!this.ticks.length || event.button)
			return;
		this.canvas.setPointerCapture(event.pointerId);
		this.drag = { from: this.time(event), to: this.time(event), x: event.clientX };
	}

	move(event) {
		if (!this.ticks.length)
			return;
		if (this.drag) {
			this.drag.to = this.time(event);
			this.draw();
			return;
		}
		const at = this.time(event), tick = this.ticks.find(t => at >= t.begin && at < t.end);
		if (!tick) {
			this.tip.hide();
			return;
		}
		this.tip.show(this.describe(tick), event.clientX, event.clientY);
	}

	describe(tick) {
		const { about } = this.recording, sums = bandsOfTick(this.recording, tick, this.view.alone);
		const lines = [new Date(tick.begin).toLocaleTimeString([], { hour12: false }),
			"CPUs busy: " + (100 * tick.host.cpu_ns / (about.cpus * tick.ns)).toFixed(0) + " % of " + about.cpus];
		for (const [name, prose] of pressures)
			if (tick.host.pressure?.[name])
				lines.push("some thread " + prose + ": " + (100 * tick.host.pressure[name] / tick.ns).toFixed(1) + " % of the time");
		for (const { number: b, name } of bands)
			if (b !== RAN && sums[b] >= 0.005)
				lines.push((b === CPU_WAIT ? "CPU wait" : "waited for " + name) + ": " + sums[b].toFixed(2) + " threads");
		return lines;
	}

	release(event) {
		const { drag } = this;
		this.drag = null;
		if (!drag)
			return;
		if (Math.abs(event.clientX - drag.x) < 4) {
			this.draw();
			return;
		}
		this.chosen(Math.min(drag.from, drag.to), Math.max(drag.from, drag.to));
	}

	/* Left and right move the window by a tick; with Shift they move its end. */
	key(event) {
		const { shown } = this, side = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
		if (!side || !shown || !shown.length)
			return;
		const each = this.recording.about.interval_ns / 1e6;
		const from = shown[0].begin + (event.shiftKey ? 0 : side * each), to = shown[shown.length - 1].end + side * each;
		event.preventDefault();
		if (to > from && to <= this.last + each / 2 && from >= this.ticks[0].begin - each / 2)
			this.chosen(from, to);
	}
}
