/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The panel for a thread, or the threads of a row: what the thread waits for now, their states, stacks on and off CPUs, what woke
 * them up, and their longest waits.
 */
import { Flame } from "./aggregate.js";
import { ThreadAnswer } from "./answer.js";
import { css } from "./bars.js";
import { FlameGraph } from "./flame.js";
import { RAN, bands, isIdle } from "./states.js";

const { element, time } = flameWords;
const WAKERS = 6, WAITS = 8;

export class Inspector {
	/* Its buttons call `closed()` and `filtered(row)`. `opened(fn)` is that of its FlameGraphs. A link to another thread
	 * calls `chosen(tid)`. */
	constructor(panel, functions, { closed, filtered, opened, chosen }) {
		this.panel = panel;
		this.functions = functions;
		this.row = null;
		const head = element("header"), close = element("button", "✕", "plain"), only = element("button", "Show only this");
		close.type = only.type = "button";
		close.title = "Close (Esc)";
		close.setAttribute("aria-label", "Close");
		close.addEventListener("click", closed);
		only.addEventListener("click", () => filtered(this.row));
		this.title = element("h2");
		this.about = element("p", undefined, "faint");
		head.append(this.title, only, close);
		this.answerBox = element("div", undefined, "now");
		this.answer = new ThreadAnswer(this.answerBox, { chosen });
		this.states = element("div", undefined, "states");
		this.wakers = element("div", undefined, "lines");
		this.waits = element("div", undefined, "lines");
		panel.append(head, this.about, this.answerBox, this.states);
		this.graphs = ["on", "off"].map(mode => {
			const heading = element("h3"), box = element("div", undefined, "scroll");
			box.tabIndex = 0;
			box.setAttribute("role", "img");
			box.setAttribute("aria-label", mode === "on" ? "Flame graph of its time on CPUs" : "Flame graph of its waits");
			panel.append(heading, box);
			return { mode, heading, box, flame: new Flame(functions), graph: new FlameGraph(box, { opened }) };
		});
		panel.append(element("h3", "Woken up by"), this.wakers, element("h3", "Longest waits"), this.waits);
	}

	/* `row`: of threadRows(); null: nothing is chosen. */
	show(view, recording, ticks, row, look) {
		this.row = row;
		this.panel.hidden = !row;
		const r = recording.threads, isOne = row?.threads.length === 1;
		this.answer.show(isOne ? r.tid[row.threads[0]] : null, tid => view.threadOf(tid) >= 0);
		if (!row)
			return;
		const t = row.threads[0];
		this.title.textContent = row.name;
		this.about.textContent = isOne
			? "thread " + r.tid[t] + " of " + r.process[t] + " (" + r.tgid[t] + ")" + (r.cgroup[t] ? ", cgroup " + r.cgroup[t] : "")
			: row.threads.length + " threads";
		const all = row.times.reduce((a, b) => a + b, 0), rows = bands.filter(({ number: b }) => row.times[b] > 0)
			.sort((a, b) => row.times[b.number] - row.times[a.number]);
		this.states.replaceChildren(...rows.map(({ number: b, name, prose }) => {
			const line = element("div", undefined, "state"), bar = element("i"), track = element("span", undefined, "track");
			bar.style.width = 100 * row.times[b] / all + "%";
			bar.style.background = css(look.colours[b]);
			track.append(bar);
			const idle = isIdle(b, view.alone[t]) ? " (idle)" : "";
			line.title = "it " + prose;
			line.append(element("span", name + idle, "word"), track, element("span", time(row.times[b]), "n"),
				element("span", (100 * row.times[b] / all).toFixed(1) + " %", "n"));
			return line;
		}));
		this.showStacks(view, recording, ticks, row, look);
		this.showWaits(recording, ticks, row, view);
	}

	showStacks(view, recording, ticks, row, look) {
		for (const { mode, heading, box, flame, graph } of this.graphs) {
			const idleToo = mode === "off" && row.active - row.busy[RAN] <= 0;
			flame.want({ mode, hidden: new Set(), idle: idleToo, group: "none", leaf: false, filter: "", threads: row.threads },
				view.alone);
			flame.move(recording, ticks, row.key + " " + row.threads.length + " " + idleToo);
			flame.tree.sum();
			const whole = flame.tree.total[0];
			heading.textContent = (mode === "on" ? "On CPUs" : idleToo ? "Waits, all idle" : "Waits that are not idle")
				+ (whole ? ", " + time(whole) : ": nothing");
			box.hidden = !whole;
			if (whole)
				graph.show(flame.tree, { ...look, colours: look.frames, icicle: true, modules: false, isDiff: false, window: 0 });
		}
	}

	showWaits(recording, ticks, row, view) {
		const isOurs = new Set(row.threads), wakers = new Map(), waits = [];
		for (const tick of ticks)
			for (let i = 0; i < tick.count; i++) {
				const band = recording.bandOf[tick.state[i]];
				if (!isOurs.has(tick.thread[i]) || band === RAN)
					continue;
				if (tick.waker[i] >= 0 && !isIdle(band, view.alone[tick.thread[i]]))
					wakers.set(tick.waker[i], (wakers.get(tick.waker[i]) || 0) + tick.time[i]);
				waits.push({ ns: tick.longest[i], band, node: tick.node[i], waker: tick.waker[i], at: tick.begin });
			}
		this.wakers.replaceChildren(...[...wakers].sort((a, b) => b[1] - a[1]).slice(0, WAKERS).map(([w, ns]) =>
			this.line(time(ns), this.waker(recording, w))));
		if (!wakers.size)
			this.wakers.append(element("p", "nothing that is known", "faint"));
		waits.sort((a, b) => b.ns - a.ns);
		this.waits.replaceChildren(...waits.slice(0, WAITS).map(wait => this.line(time(wait.ns), bands[wait.band].name
			+ " in " + this.place(recording, wait.node) + (wait.waker >= 0 ? ", ended by " + this.waker(recording, wait.waker) : "")
			+ ", " + new Date(wait.at).toLocaleTimeString([], { hour12: false }))));
		const last = this.lasting(recording, ticks, isOurs);
		this.waits.prepend(...last);
		if (!waits.length && !last.length)
			this.waits.append(element("p", "none", "faint"));
	}

	/* Waits that go on. */
	lasting(recording, ticks, isOurs) {
		const l = recording.lasting, end = ticks[ticks.length - 1].seq, found = [];
		for (const thread of isOurs) {
			const i = recording.open.get(thread);
			if (i !== undefined && l.begin.items[i] <= end)
				found.push(this.line("still", bands[recording.bandOf[l.state.items[i]]].name + " in "
					+ this.place(recording, l.node.items[i])));
		}
		return found.slice(0, WAITS);
	}

	line(amount, text) {
		const line = element("p");
		line.append(element("span", amount, "n"), element("span", text));
		return line;
	}

	waker(recording, w) {
		return recording.wakers.name[w] + " (" + recording.wakers.tid[w] + ")";
	}

	/* The last function of the program, and the one that it called; else the last of the kernel. */
	place(recording, node) {
		const { functions } = this, parent = recording.nodes.parent.items, fn = recording.nodes.fn.items;
		if (node < 0)
			return "an unknown place";
		for (let n = node; n >= 0; n = parent[n])
			if (functions.kinds.items[fn[n]] === 0)
				return functions.names[fn[n]];
		return functions.names[fn[node]];
	}
}

