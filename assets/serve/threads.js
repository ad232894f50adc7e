/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables below the graph: what threads did (one row for each thread, process, ...), and what
 * woke threads up. Rows are for those that pass the filter; the view gives them.
 */
import { groups } from "./aggregate.js";
import { describeBands, drawBar, drawHistory } from "./bars.js";
import { BANDS, CPU_WAIT, RAN, bands, isIdle, weightOf } from "./states.js";

const { element, time } = flameWords;
const ROWS = 50, MORE = 200, COLUMNS = 60, COLUMNS_LEAST = 12, BAR = 180, SPARK = 120, HEIGHT = 14;

/*
 * Rows of threads that are one by `by`: { key, name, threads: [numbers], times, waits, busy, active,
 * idle, mostly, weight }. `busy` are the times without idle waits, `active` is their sum; `mostly` is
 * the band of most of the waits among them, and `weight` says how much they matter.
 */
export function threadRows(view, by, passes) {
	const r = view.times.recording, rows = new Map(), level = by === "thread" ? null : groups[by][1];
	for (let t = 0; t < passes.length; t++) {
		if (!passes[t])
			continue;
		const key = level ? level(r, t)[0] : t;
		let row = rows.get(key);
		if (!row) {
			const process = r.threads.process[t], name = level ? key : r.threads.name[t] === process ? process
				: process + ": " + r.threads.name[t];
			row = { key: level ? key : r.threads.tid[t] + "", name, threads: [], times: new Float64Array(BANDS), busy: new Float64Array(BANDS),
				waits: 0, active: 0, idle: 0, mostly: -1, weight: 0 };
			rows.set(key, row);
		}
		row.threads.push(t);
		row.waits += view.times.waits[t];
		for (let b = 0; b < BANDS; b++) {
			const ns = view.times.of(t, b);
			row.times[b] += ns;
			if (isIdle(b, view.alone[t])) {
				row.idle += ns;
			} else {
				row.busy[b] += ns;
				row.weight += ns * weightOf(b, ns / view.ns) / 100;
			}
		}
	}
	for (const row of rows.values())
		for (let b = 0; b < BANDS; b++) {
			row.active += row.busy[b];
			if (b !== RAN && row.busy[b] > (row.mostly < 0 ? 0 : row.busy[row.mostly]))
				row.mostly = b;
		}
	return [...rows.values()].filter(row => row.active > 0 || row.idle > 0);
}

/* What woke threads, and what they had waited: [{ name, tid, ns, count, times }]. */
export function wakerRows(view, ticks, passes, hidden) {
	const r = view.times.recording, rows = new Map();
	for (const tick of ticks)
		for (let i = 0; i < tick.count; i++) {
			const w = tick.waker[i];
			if (w < 0 || !passes[tick.thread[i]] || hidden.has(r.bandOf[tick.state[i]]))
				continue;
			if (!rows.has(w))
				rows.set(w, { key: w + "", name: r.wakers.name[w], tid: r.wakers.tid[w], ns: 0, count: 0, weight: 0, times: new Float64Array(BANDS) });
			const row = rows.get(w), band = r.bandOf[tick.state[i]];
			row.times[band] += tick.time[i];
			row.count += tick.times[i];
			if (!isIdle(band, view.alone[tick.thread[i]]))
				row.ns += tick.time[i];
			row.weight = row.ns;
		}
	return [...rows.values()];
}

const share = (ns, whole) => whole > 0 ? (100 * ns / whole).toFixed(1) + " %" : "-";

/* For something else than a CPU, and not idly. */
const waited = row => row.active - row.busy[RAN] - row.busy[CPU_WAIT];

/* Columns: key, heading, what is sorted by (null: the text), the text, class. Pictures have no text. */
const nameColumn = ["name", "Name", null, row => row.name, "name"];
const barColumn = ["bar", "Time in states", row => row.weight, null, "bar"];
const columnsOf = {
	threads: [
		nameColumn,
		["ids", "ID", row => row.threads.length > 1 ? row.threads.length : -1, (row, c) => c.ids(row), "ids"],
		["cpu", "CPU", row => row.times[RAN], (row, c) => share(row.times[RAN], c.ns), "n"],
		["runnable", "CPU wait", row => row.times[CPU_WAIT], (row, c) => share(row.times[CPU_WAIT], c.ns), "n"],
		["wait", "Waited", waited, (row, c) => share(waited(row), c.ns), "n"],
		["mostly", "Mostly for", row => row.mostly < 0 ? 0 : row.busy[row.mostly],
			(row, c) => row.mostly < 0 ? "" : bands[row.mostly].name + " " + share(row.busy[row.mostly], c.ns), "word"],
		barColumn,
		["spark", "Over time", row => row.active, null, "spark"],
	],
	wakers: [
		nameColumn,
		["tid", "ID", row => row.tid, row => row.tid + "", "ids"],
		["count", "Wake-ups", row => row.count, row => row.count + "", "n"],
		["ns", "Ended waits of", row => row.ns, row => time(row.ns), "n"],
		barColumn,
	],
	functions: [
		nameColumn,
		["self", "Self", row => row.self, row => time(row.self), "n"],
		["selfShare", "", row => row.self, (row, c) => share(row.self, c.whole), "n"],
		["total", "Total", row => row.total, row => time(row.total), "n"],
		["totalShare", "", row => row.total, (row, c) => share(row.total, c.whole), "n"],
		["module", "File", null, row => row.module, "module"],
	],
};
/* The tooltip of each column, by its key. */
const titles = {
	ids: "The number of the thread, or how many there are", cpu: "Time on CPUs as a share of the window; several threads may have more than 100 %",
	runnable: "Time ready to run, without a CPU", wait: "Time in waits for something else than a CPU, without idle ones",
	mostly: "The state of most of its time off CPUs, without idle waits", bar: "All of its time by state, with idle waits; ordered by importance",
	spark: "Its states over the window, without idle waits", count: "The number of waits that it ended", ns: "Time of the waits that it ended, without idle ones",
	self: "Time in the function itself", total: "Time in the function and what it called", module: "The program, library or module of the kernel",
};
/* What a narrow window has no room for. */
const optional = ["spark", "runnable", "selfShare"];
const firstSort = { threads: "bar", wakers: "ns", functions: "self" };

/* A table whose rows stay elements while their contents change. */
export class RowTable {
	/* `chosen(kind, row)` is called for a row that is clicked, `sorted(key)` when the order changes. */
	constructor(table, more, { chosen, sorted }) {
		Object.assign(this, { chosen, sorted, kind: "", most: ROWS, lines: [], rows: [] });
		this.head = table.createTHead().insertRow();
		this.body = table.createTBody();
		this.more = more;
		this.moreButton = element("button");
		this.moreButton.type = "button";
		this.moreButton.addEventListener("click", () => { this.most += MORE; this.again(); });
		more.append(this.moreButton);
	}

	begin(kind) {
		if (kind === this.kind)
			return;
		this.kind = kind;
		this.columns = columnsOf[kind];
		this.most = ROWS;
		this.head.replaceChildren();
		this.body.replaceChildren();
		this.lines = [];
		for (const [key, heading, , , style] of this.columns) {
			const head = element("th", undefined, style + (optional.includes(key) ? " optional" : "")), button = element("button", heading);
			button.type = "button";
			button.title = titles[key] || "";
			button.addEventListener("click", () => this.sorted(key));
			head.append(button);
			this.head.append(head);
		}
	}

	/*
	 * `context`: { ns, ticks: of the window, whole: of all that is shown, colours, empty, ids(row), history(rows),
	 * chosen: the key of the row that is marked }
	 */
	show(kind, rows, sort, context) {
		this.begin(kind);
		this.last = [kind, rows, sort, context];
		const by = this.columns.find(column => column[0] === sort) || this.columns.find(column => column[0] === firstSort[kind]);
		const { compare } = dataTable;
		rows.sort((a, b) => (by[2] ? compare(by[2](a), by[2](b), true) : compare(by[3](a, context), by[3](b, context), false))
			|| compare(a.name, b.name) || compare(a.key, b.key));
		this.columns.forEach((column, c) => {
			const head = this.head.cells[c], is = column === by;
			head.setAttribute("aria-sort", is ? (column[2] ? "descending" : "ascending") : "none");
			head.firstChild.textContent = column[1] + (is && column[1] ? (column[2] ? " ▾" : " ▴") : "");
		});
		this.rows = rows.slice(0, this.most);
		const columns = Math.max(COLUMNS_LEAST, Math.min(COLUMNS, context.ticks)), history = context.history
			? context.history(this.rows, columns) : null;
		this.rows.forEach((row, i) => this.line(i, row, context, history));
		while (this.lines.length > this.rows.length)
			this.lines.pop().remove();
		this.more.hidden = rows.length <= this.rows.length;
		this.moreButton.textContent = "Show more of " + rows.length + " rows";
	}

	again() {
		this.show(...this.last);
	}

	line(i, row, context, history) {
		let line = this.lines[i];
		if (!line) {
			line = this.body.insertRow();
			line.tabIndex = 0;
			for (const [key, , , print, style] of this.columns) {
				const cell = element("td", undefined, style + (optional.includes(key) ? " optional" : ""));
				if (!print) {
					const canvas = element("canvas");
					canvas.setAttribute("role", "img");
					cell.append(canvas);
				}
				line.append(cell);
			}
			line.addEventListener("click", () => this.chosen(this.kind, this.rows[this.lines.indexOf(line)]));
			line.addEventListener("keydown", event => {
				if (event.key === "Enter")
					this.chosen(this.kind, this.rows[this.lines.indexOf(line)]);
			});
			this.lines.push(line);
		}
		line.classList.toggle("chosen", row.key === context.chosen);
		this.columns.forEach(([key, , , print], c) => {
			const cell = line.cells[c];
			if (print) {
				const text = print(row, context);
				if (cell.textContent !== text)
					cell.textContent = text;
				if ((key === "name" || key === "module") && cell.title !== text)
					cell.title = text;
				return;
			}
			const canvas = cell.firstChild, n = row.threads ? row.threads.length : 1;
			if (key === "spark") {
				drawHistory(canvas, SPARK, HEIGHT, history.sums, i * history.columns * BANDS, history.columns, history.most[i],
					context.colours);
				return;
			}
			const all = row.threads ? context.ns * n : row.times.reduce((a, b) => a + b, 0);
			drawBar(canvas, BAR, HEIGHT, row.times, 0, all, context.colours, context.empty);
			const words = describeBands(row.times, 0, all);
			if (cell.title !== words) {
				cell.title = words;
				canvas.setAttribute("aria-label", words);
			}
		});
	}
}

/* What the threads of rows did over time, without idle waits: `sums` has COLUMNS columns for each row. */
export function historyOf(view, ticks, rows, columns) {
	const r = view.times.recording, sums = new Float64Array(rows.length * columns * BANDS), most = new Float64Array(rows.length);
	const rowOf = new Int32Array(r.threads.tid.length).fill(-1), shown = ticks.slice(-Math.max(columns, ticks.length));
	const each = Math.max(1, Math.ceil(shown.length / columns)), offset = columns - Math.ceil(shown.length / each);
	rows.forEach((row, i) => row.threads.forEach(t => { rowOf[t] = i; }));
	shown.forEach((tick, k) => {
		const column = offset + Math.floor(k / each), scale = 1 / (tick.ns * each);
		r.each([tick], (thread, node, band, ns, count, isOnCpu) => {
			if (rowOf[thread] >= 0 && !isOnCpu && !isIdle(band, view.alone[thread]))
				sums[(rowOf[thread] * columns + column) * BANDS + band] += ns * scale;
		});
		for (let i = 0; i < tick.cpuThread.length; i++)
			if (rowOf[tick.cpuThread[i]] >= 0)
				sums[(rowOf[tick.cpuThread[i]] * columns + column) * BANDS + RAN] += tick.cpuTime[i] * scale;
	});
	for (let i = 0; i < rows.length; i++)
		for (let c = 0; c < columns; c++) {
			let sum = 0;
			for (let b = 0; b < BANDS; b++)
				sum += sums[(i * columns + c) * BANDS + b];
			most[i] = Math.max(most[i], sum);
		}
	/* A single thread cannot do more than all the time. */
	rows.forEach((row, i) => { most[i] = row.threads.length === 1 ? Math.max(1, most[i]) : most[i]; });
	return { sums, most, columns };
}
