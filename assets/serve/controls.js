/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Controls of the page: rows of buttons, of which one or several are pressed, the buttons of bands,
 * and the help.
 */
import { css } from "./bars.js";
import { bands } from "./states.js";

const { changeColour, element, time } = flameWords;

export function button(text, title, act) {
	const made = element("button", text);
	made.type = "button";
	if (title)
		made.title = title;
	made.addEventListener("click", act);
	return made;
}

/* One of `choices`, [[value, text, title]]. Returns update(value). */
export function segments(box, choices, choose) {
	const buttons = choices.map(([value, text, title]) => {
		const made = button(text, title, () => choose(value));
		made.dataset.value = value;
		box.append(made);
		return made;
	});
	return value => {
		for (const made of buttons)
			made.setAttribute("aria-pressed", made.dataset.value === value);
	};
}

/* Any of `choices`. Returns update(object), whose members of these names are true or false. */
export function toggles(box, choices, toggle) {
	segments(box, choices, toggle);
	return state => {
		for (const made of box.children)
			made.setAttribute("aria-pressed", !!state[made.dataset.value]);
	};
}

/* Checkboxes below headings: [[heading, [[value, text, title]]]]. Returns update(value => whether it is checked). */
export function checks(box, parts, toggle) {
	const made = [];
	for (const [heading, choices] of parts) {
		box.append(element("b", heading));
		for (const [value, text, title] of choices) {
			const label = element("label"), check = element("input");
			check.type = "checkbox";
			check.dataset.value = value;
			check.addEventListener("change", () => toggle(value));
			label.append(check, " " + text);
			if (title)
				label.title = title;
			box.append(label);
			made.push(check);
		}
	}
	return isChecked => {
		for (const check of made)
			check.checked = isChecked(check.dataset.value);
	};
}

/* An element select of [[value, text]]. Returns update(value). */
export function select(box, choices, choose) {
	for (const [value, text] of choices) {
		const option = element("option", text);
		option.value = value;
		box.append(option);
	}
	box.addEventListener("change", () => choose(box.value));
	return value => { box.value = value; };
}

/*
 * A button for each band with time. A click shows it alone, or all again; with Shift or Ctrl it is
 * taken in or out. `changed(hidden)` gets a set of numbers, `idle()` is called for the last button.
 */
export class BandButtons {
	constructor(box, { changed, idle }) {
		this.box = box;
		this.hidden = new Set();
		this.shown = [];
		this.buttons = bands.map(band => {
			const made = button("", "a thread " + band.prose, event =>
				changed(this.after(band.number, event.shiftKey || event.ctrlKey || event.metaKey)));
			made.square = element("i");
			made.share = element("small");
			made.append(made.square, band.name, made.share);
			made.hidden = true;
			box.append(made);
			return made;
		});
		this.idleButton = button("", "Idle waits: for work, for connections, and all waits of threads that do nothing else; the average number of threads (d)", idle);
		this.idleButton.share = element("small");
		this.idleButton.append("idle", this.idleButton.share);
		box.append(this.idleButton);
	}

	after(band, isOne) {
		const hidden = new Set(this.hidden), others = this.shown.filter(b => b !== band);
		if (isOne) {
			hidden[hidden.has(band) ? "delete" : "add"](band);
			return this.shown.every(b => hidden.has(b)) ? new Set() : hidden;
		}
		return !hidden.has(band) && others.every(b => hidden.has(b)) ? new Set() : new Set(others);
	}

	/* `totals`: the result of View.totals(), for a window of `window` ns. */
	update(totals, hidden, isIdleShown, mode, colours, window) {
		this.hidden = hidden;
		this.shown = [];
		const whole = totals.byBand.reduce((a, b) => a + b, 0), idle = totals.idle.reduce((a, b) => a + b, 0);
		bands.forEach(({ number: b }) => {
			const made = this.buttons[b], ns = totals.byBand[b] + (isIdleShown ? totals.idle[b] : 0);
			const isOfMode = mode === "wall" || (mode === "on") === (b === 0);
			made.hidden = !(ns > 0) || !isOfMode;
			if (made.hidden)
				return;
			this.shown.push(b);
			made.square.style.background = css(colours[b]);
			made.share.textContent = isIdleShown ? time(ns) : (100 * ns / whole).toFixed(1) + " %";
			made.setAttribute("aria-pressed", !hidden.has(b));
		});
		this.idleButton.hidden = mode === "on" || !(idle > 0);
		this.idleButton.setAttribute("aria-pressed", isIdleShown);
		const threads = idle / window;
		this.idleButton.share.textContent = threads.toFixed(threads < 10 ? 1 : 0) + " threads" + (isIdleShown ? "" : ", hidden");
	}
}

/* What colours say while two windows are compared. */
export function fillLegend(box) {
	for (const [change, text] of [[-1, "gone"], [-0.3, "less"], [0, "the same"], [0.3, "more"], [1, "new"]]) {
		const key = element("span", undefined, "key"), square = element("i");
		square.style.background = changeColour(change);
		key.append(square, text);
		box.append(key);
	}
	box.append(element("span", "Frames are as wide as before and after together."));
}

const keys = [
	["/", "search for functions"], ["f", "filter threads"], ["Space", "pause, and go on"], ["p", "pin this window, and compare"],
	["w o e", "wall time, on CPUs, off CPUs"], ["i", "flame or icicle"], ["l", "begin with what was called last"],
	["c", "colours by state or by file"], ["d", "idle waits"], ["h", "what the flame graph leaves out"], ["x", "downloads"], ["r", "report of files"], ["b", "flame graph, or callers and callees"], ["k", "histograms of kstats"],
	["← ↑ ↓ →", "move in the graph, or the window in the picture of the past"], ["Shift ← →", "move the end of the window"], ["Enter", "zoom in"], ["Backspace", "zoom out"],
	["s", "callers and callees of the frame"], ["Tab", "all controls, pictures and rows of tables; Enter opens a row"], ["Esc", "close, clear the search, show all"], ["?", "this help"],
];

export function fillHelp(dialog) {
	const list = element("dl");
	for (const [key, prose] of keys)
		list.append(element("dt", key), element("dd", prose));
	const close = button("Close", "", () => dialog.close());
	dialog.append(element("h2", "Keys"), list, element("p", "A click on a frame zooms, Shift-click shows its callers and callees. "
		+ "A click on a state shows it alone, Shift-click takes it in or out. Drag over the past to choose a window; "
		+ "a double click there goes back to now.", "faint"), close);
}

/* Links below headings: [[heading, [[text, act]]]]. If act() returns an address, the browser downloads it. */
export function fillMenu(menu, parts) {
	for (const [heading, rows] of parts) {
		menu.append(element("b", heading));
		for (const [text, act] of rows) {
			const link = element("a", text);
			link.href = "#";
			link.addEventListener("click", event => {
				const address = act();
				if (typeof address === "string") {
					link.href = address;
					link.download = "";
					setTimeout(() => { link.href = "#"; }, 0);
				} else {
					event.preventDefault();
				}
				menu.parentElement.open = false;
			});
			menu.append(link);
		}
	}
}
