/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page around a flame graph, or a part of a page: `root` has the elements of flame_body.html, as a document or
 * as the root of a shadow tree. Names go into the document as text only.
 */
function flamePage(root) {
	"use strict";
	const { changeColour, element, fit, frameColour } = flameWords;
	const ROW = 18, HEIGHT = 17, LEAST_PIXELS = 0.4;
	/* Of the table of functions: fewer where more follows. */
	const ROWS = root === document ? 100 : 15;
	const $ = id => root.getElementById(id);
	const data = JSON.parse($("data").textContent), model = flameModel(data);
	const canvas = $("graph"), box = $("scroll"), pen = canvas.getContext("2d");
	const occurring = data.classes.map((row, c) => c).filter(c => data.classes[c].occurs);
	const state = { classes: new Set(occurring), group: -1, top: 0, pattern: null, here: -1,
		sort: data.isDiff ? "delta" : "self", rows: ROWS };
	let view, placed = [], found = null, deepest = 0;

	/* --- colours --- */

	const colour = (c, kind, name) => frameColour(data.classes[c].colour, kind, name);

	/* What has a stripe of its own, from below: it ran, it could have, it was blocked. */
	const stripes = [
		occurring.filter(c => !data.classes[c].isOffCpu),
		occurring.filter(c => data.classes[c].name === "runnable"),
		occurring.filter(c => data.classes[c].isOffCpu && data.classes[c].name !== "runnable"),
	];

	/* --- drawing --- */

	function paintFrame(frame, x, y, width) {
		const i = frame.node, name = model.name(i), kind = model.kind(i);
		if (data.isDiff) {
			pen.fillStyle = model.isUnknown(view, i) ? data.changes.unknown
				: changeColour(flameWords.change(view.before[i], view.total[i]));
			pen.fillRect(x, y, width, HEIGHT);
			return;
		}
		let bottom = 0, sum = 0;
		for (const classes of stripes) {
			let largest = -1;
			for (const c of classes) {
				const values = view.byClass[c];
				if (!values || !values[i])
					continue;
				sum += values[i];
				if (largest < 0 || values[i] > view.byClass[largest][i])
					largest = c;
			}
			const height = Math.round(HEIGHT * sum / view.total[i]);
			if (largest >= 0 && height > bottom) {
				pen.fillStyle = colour(largest, kind, name);
				pen.fillRect(x, y + HEIGHT - height, width, height - bottom);
			}
			bottom = Math.max(bottom, height);
		}
	}

	function draw() {
		const width = box.clientWidth, height = Math.min(box.clientHeight, (deepest + 1) * ROW);
		const ratio = window.devicePixelRatio || 1, scroll = box.scrollTop;
		const dark = isDark();
		canvas.style.height = height + "px";
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		pen.setTransform(ratio, 0, 0, ratio, 0, 0);
		pen.font = flameWords.FONT;
		pen.textBaseline = "middle";
		for (const frame of placed) {
			const i = frame.node, y = (deepest - model.depth[i]) * ROW - scroll;
			const x = frame.left * width, wide = frame.width * width;
			if (y < -ROW || y > height)
				continue;
			const above = model.depth[i] < model.depth[state.top];
			pen.globalAlpha = found && !found.matches[i] ? 0.28 : above ? 0.55 : 1;
			paintFrame(frame, x, y, Math.max(0.5, wide - (wide > 3 ? 1 : 0.2)));
			const label = fit(model.name(i), wide);
			if (label) {
				pen.fillStyle = dark && pen.globalAlpha < 1 ? "#e6ebf1" : "#10161f";
				pen.globalAlpha = 1;
				pen.fillText(label, x + 3, y + HEIGHT / 2 + 0.5);
			}
			pen.globalAlpha = 1;
			if (i === state.here || (found && found.matches[i])) {
				pen.strokeStyle = i === state.here ? (dark ? "#ffffff" : "#000000")
					: dark ? "#ff5fae" : "#d6006c";
				pen.lineWidth = 1.5;
				pen.strokeRect(x + 0.75, y + 0.75, Math.max(1, wide - 2), HEIGHT - 1.5);
			}
		}
	}

	function arrange() {
		placed = model.place(view, state.top, LEAST_PIXELS / Math.max(1, box.clientWidth)).placed;
		deepest = 0;
		for (const frame of placed)
			deepest = Math.max(deepest, model.depth[frame.node]);
		/* The canvas is as high as what is seen, the room beside it as high as the graph. */
		$("room").style.height = (deepest + 1) * ROW + "px";
		box.style.height = (deepest + 1) * ROW + 2 + "px";
		$("reset").hidden = state.top === 0;
		draw();
	}

	/* --- the parts of the page --- */

	function refresh() {
		view = model.view({ classes: state.classes, group: state.group });
		if (!(view.weight[state.top] > 0))
			state.top = 0;
		search();
		arrange();
		table();
		for (const button of $("classes").children)
			button.update();
	}

	function zoom(node) {
		state.top = node;
		arrange();
		box.scrollTop = box.scrollHeight;
	}

	function search() {
		const source = $("search").value;
		found = null;
		$("search").classList.remove("wrong");
		$("matched").textContent = "";
		if (!source)
			return;
		try {
			state.pattern = flameWords.pattern(source);
		} catch (wrong) {
			$("search").classList.add("wrong");
			return;
		}
		found = model.search(view, state.pattern);
		$("matched").textContent = found.frames + (found.frames === 1 ? " frame, " : " frames, ")
			+ flameWords.percent(found.share);
	}

	function classButton(text, classes, swatch) {
		const button = element("button"), share = element("small");
		button.type = "button";
		if (swatch) {
			const square = element("i");
			square.style.background = swatch;
			button.append(square);
		}
		button.append(text, share);
		const is = () => state.classes.size === classes.length && classes.every(c => state.classes.has(c));
		button.update = () => {
			button.setAttribute("aria-pressed", classes.every(c => state.classes.has(c)));
			button.style.fontWeight = is() ? 600 : "";
			let sum = 0;
			for (const c of classes)
				sum += view.byClass[c] ? view.byClass[c][0] : 0;
			share.textContent = sum ? model.format(sum) : "";
		};
		button.addEventListener("click", event => {
			/* With Shift or Ctrl one is taken in or out; without, it alone is shown, or all again. */
			if (event.shiftKey || event.ctrlKey || event.metaKey) {
				const add = !classes.every(c => state.classes.has(c));
				for (const c of classes)
					state.classes[add ? "add" : "delete"](c);
				if (!state.classes.size)
					state.classes = new Set(occurring);
			} else {
				state.classes = new Set(is() ? occurring : classes);
			}
			refresh();
		});
		$("classes").append(button);
	}

	function legend() {
		const keys = [[-1, "gone"], [-0.3, "less"], [0, "the same"], [0.3, "more"], [1, "new"]]
			.filter(([change]) => change || !data.changes)
			.map(([change, text]) => [changeColour(change), text]);
		if (data.changes)
			keys.push([data.changes.unknown, "not known to differ"
				+ (data.changes.isApproximate ? " (an approximation from one profile each)" : "")]);
		for (const [colour, text] of keys) {
			const key = element("span", undefined, "key"), square = element("i");
			square.style.background = colour;
			key.append(square, text);
			key.update = () => {};
			$("classes").append(key);
		}
	}

	function classButtons() {
		const off = occurring.filter(c => data.classes[c].isOffCpu);
		const on = occurring.filter(c => !data.classes[c].isOffCpu);
		if (data.isDiff)
			legend();
		if (data.isDiff || data.isEvents)
			return;
		if (occurring.length > 1)
			classButton("all", occurring);
		if (off.length > 1 && on.length)
			classButton("off-cpu", off);
		for (const c of occurring) {
			classButton(data.classes[c].name, [c], colour(c, 0, null));
			$("classes").lastChild.title = data.classes[c].prose;
		}
	}

	function groupOptions() {
		const all = element("option", "all");
		all.value = -1;
		$("group").append(all);
		for (const group of model.groups) {
			const option = element("option", (model.depth[group] > 1 ? "\u2003" : "") + model.name(group));
			option.value = group;
			$("group").append(option);
		}
		$("groups").hidden = model.groups.length < 2;
		$("groups").firstChild.textContent = data.groupBy[0].toUpperCase() + data.groupBy.slice(1) + " ";
	}

	/* Of the table: key, heading, what it sorts by, its text. */
	const share = value => flameWords.percent(view.total[0] > 0 ? value / view.total[0] : 0);
	/* Intervals are of all groups together. */
	const changeOf = row => state.group < 0 ? model.functionChanges.get(row.name) : undefined;
	const columns = data.isDiff ? [
		["name", "Function", null, row => row.name],
		["before", "Before", row => row.before, row => model.format(row.before)],
		["total", "After", row => row.total, row => model.format(row.total)],
		["delta", "Change", row => Math.abs(row.total - row.before),
			row => model.formatDelta(row.total - row.before)],
		...(data.changes ? [
			["interval", "95 % interval", row => changeOf(row) ? 1 - changeOf(row)[0] : -1,
				row => changeOf(row) ? model.interval(changeOf(row)) : ""],
			["q", "q", row => changeOf(row) ? 1 - changeOf(row)[0] : -1,
				row => changeOf(row) ? model.writeQ(changeOf(row)[0]) : ""],
		] : [
			["self", "Itself", row => Math.abs(row.self - row.selfBefore),
				row => model.formatDelta(row.self - row.selfBefore)],
		]),
		["module", "Module", null, row => row.module],
	] : [
		["name", "Function", null, row => row.name],
		["self", "Self", row => row.self, row => model.format(row.self)],
		["selfShare", "", row => row.self, row => share(row.self)],
		["total", "Total", row => row.total, row => model.format(row.total)],
		["totalShare", "", row => row.total, row => share(row.total)],
		["module", "Module", null, row => row.module],
	];

	/* Of a column whose width is not the usual one. */
	const classOf = key => key === "module" || key === "interval" ? key : "";

	function headings() {
		for (const [key, heading] of columns) {
			const head = element("th", undefined, classOf(key));
			const button = element("button", heading);
			button.type = "button";
			button.addEventListener("click", () => { state.sort = key; table(); });
			head.append(button);
			$("heads").append(head);
		}
	}

	function table() {
		const by = columns.find(column => column[0] === state.sort);
		const text = (a, b) => a < b ? -1 : a > b ? 1 : 0;
		let rows = model.functions(view);
		if (found)
			rows = rows.filter(row => state.pattern.test(row.name));
		rows.sort((a, b) => (by[2] ? by[2](b) - by[2](a) : text(by[3](a), by[3](b))) || text(a.name, b.name));
		columns.forEach((column, c) => {
			const head = $("heads").children[c], is = column[0] === state.sort;
			head.setAttribute("aria-sort", is ? (column[2] ? "descending" : "ascending") : "none");
			head.firstChild.textContent = column[1] + (is ? (column[2] ? " ▾" : " ▴") : "");
		});
		$("functions").textContent = "";
		for (const row of rows.slice(0, state.rows)) {
			const line = element("tr");
			for (const [key, , , print] of columns) {
				const cell = element("td", print(row), classOf(key));
				if (key === "name" || key === "module")
					cell.title = print(row);
				line.append(cell);
			}
			line.addEventListener("click", () => {
				$("search").value = "^" + row.name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") + "$";
				search();
				draw();
			});
			$("functions").append(line);
		}
		$("more").textContent = "";
		if (rows.length > state.rows) {
			const more = element("button", "Show all " + rows.length);
			more.type = "button";
			more.addEventListener("click", () => { state.rows = Infinity; table(); });
			$("more").append(more);
		}
	}

	/* --- pointing --- */

	function frameAt(event) {
		const area = canvas.getBoundingClientRect(), x = (event.clientX - area.left) / area.width;
		const row = deepest - Math.floor((event.clientY - area.top + box.scrollTop) / ROW);
		return placed.find(f => model.depth[f.node] === row && x >= f.left && x < f.left + f.width) || null;
	}

	function point(node, x, y) {
		const tip = $("tip");
		if (state.here !== node) {
			state.here = node;
			draw();
		}
		tip.hidden = node < 0;
		if (node < 0)
			return;
		const lines = model.details(view, node);
		tip.textContent = "";
		tip.append(element("b", lines[0]), ...lines.slice(1).map(line => element("span", line)));
		$("details").textContent = lines.join(" · ");
		const area = tip.getBoundingClientRect();
		tip.style.left = Math.max(4, x + 14 + area.width > innerWidth ? x - area.width - 10 : x + 14) + "px";
		tip.style.top = Math.max(4, y + 16 + area.height > innerHeight ? y - area.height - 10 : y + 16) + "px";
	}

	function pointByKey(frame) {
		if (!frame)
			return;
		const y = (deepest - model.depth[frame.node]) * ROW;
		if (y < box.scrollTop || y + ROW > box.scrollTop + box.clientHeight)
			box.scrollTop = y - box.clientHeight / 2;
		const area = canvas.getBoundingClientRect();
		point(frame.node, area.left + frame.left * area.width, area.top + y - box.scrollTop + 4);
	}

	function move(key) {
		const at = placed.findIndex(f => f.node === state.here), frame = placed[at];
		const peers = frame ? placed.filter(f => model.depth[f.node] === model.depth[frame.node]) : [];
		if (!frame)
			return placed.find(f => f.node === state.top);
		switch (key) {
		case "ArrowUp":
			return placed.filter(f => model.parent[f.node] === frame.node)
				.reduce((a, b) => !a || b.width > a.width ? b : a, null);
		case "ArrowDown":
			return placed.find(f => f.node === model.parent[frame.node]);
		case "ArrowLeft":
			return peers[peers.indexOf(frame) - 1];
		default:
			return peers[peers.indexOf(frame) + 1];
		}
	}

	function onKey(event) {
		if ((event.ctrlKey || event.metaKey) && event.key === "f" ||
		    event.key === "/" && event.target.tagName !== "INPUT") {
			event.preventDefault();
			$("search").focus();
			$("search").select();
		} else if (event.key === "Escape") {
			$("search").value = "";
			search();
			point(-1);
			zoom(0);
			table();
		} else if (event.target === box && event.key.startsWith("Arrow")) {
			event.preventDefault();
			pointByKey(move(event.key));
		} else if (event.target === box && event.key === "Enter" && state.here >= 0) {
			zoom(state.here);
		} else if (event.target === box && event.key === "Backspace" && state.top > 0) {
			zoom(model.parent[state.top]);
		}
	}

	const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");

	function isDark() {
		const theme = document.documentElement.dataset.theme;
		return theme ? theme === "dark" : prefersDark.matches;
	}

	prefersDark.addEventListener("change", draw);
	document.addEventListener("themechange", draw);
	$("theme").addEventListener("click", () => {
		document.documentElement.dataset.theme = isDark() ? "light" : "dark";
		draw();
	});
	$("title").textContent = data.title;
	$("origin").textContent = data.origin;
	$("losses").textContent = data.losses + (data.isDiff ? "; frames are as wide as before and after together" : "");
	classButtons();
	groupOptions();
	headings();
	$("group").addEventListener("change", () => { state.group = +$("group").value; state.top = 0; refresh(); });
	$("search").addEventListener("input", () => { search(); draw(); table(); });
	$("reset").addEventListener("click", () => zoom(0));
	canvas.addEventListener("mousemove", event => {
		const frame = frameAt(event);
		point(frame ? frame.node : -1, event.clientX, event.clientY);
	});
	canvas.addEventListener("mouseleave", () => point(-1));
	canvas.addEventListener("click", event => {
		const frame = frameAt(event);
		if (frame)
			zoom(frame.node);
	});
	box.addEventListener("scroll", draw);
	(root === document ? window : root).addEventListener("keydown", onKey);
	refresh();
	box.scrollTop = box.scrollHeight;
	/* Also when it is shown that was hidden. */
	new ResizeObserver(arrange).observe(box);
}

if (document.getElementById("data"))
	flamePage(document);
