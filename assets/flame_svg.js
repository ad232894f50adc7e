/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Zoom, search and tooltips of a flame graph.
 *
 * Frames stand in the file callers first, so what a frame calls is the run of deeper ones behind it.
 */
(function () {
	"use strict";
	const NS = "http://www.w3.org/2000/svg", LETTER = 6.7, NARROW = 0.3;
	const svg = document.currentScript.ownerSVGElement;
	const box = svg.querySelector("#frames"), hud = svg.querySelector("#hud");
	const details = svg.querySelector("#details"), matched = svg.querySelector("#matched");
	const isOwn = document.documentElement === svg;
	const frames = [];
	let zoomed = null, here = null, pattern = null, tip = null, input = null;

	/* --- the frames --- */

	function readFrames() {
		const path = [];
		for (const g of box.querySelectorAll("g")) {
			const rect = g.querySelector("rect"), title = g.querySelector("title");
			const lines = title.textContent.split("\n");
			const frame = { g, lines, name: lines[0].replace(/ \[(kernel|inlined)\]$/, ""),
				depth: +g.dataset.d, left: parseFloat(rect.getAttribute("x")) / 100,
				width: parseFloat(rect.getAttribute("width")) / 100,
				index: frames.length, end: 0, parent: null, shown: true,
				rects: [...g.querySelectorAll("rect")], text: g.querySelector("text"),
				y: Math.min(...[...g.querySelectorAll("rect")].map(r => +r.getAttribute("y"))) };
			/* The browser's own tooltips would lie over ours. */
			title.remove();
			g.setAttribute("aria-label", lines.join(", "));
			path.length = Math.min(path.length, frame.depth);
			frame.parent = path[path.length - 1] || null;
			path.push(frame);
			frames.push(frame);
			g.frame = frame;
		}
		for (let i = frames.length, stack = []; i-- > 0;) {
			const next = frames[i + 1];
			/* Where the next frame that is no deeper stands. */
			while (stack.length && frames[stack[stack.length - 1]].depth > frames[i].depth)
				stack.pop();
			frames[i].end = next && next.depth > frames[i].depth
				? (stack.length ? stack[stack.length - 1] : frames.length) : i + 1;
			stack.push(i);
		}
	}

	function isWithin(frame, top) {
		return frame.index >= top.index && frame.index < top.end;
	}

	function label(frame, pixels) {
		const room = Math.floor((pixels - 6) / LETTER);
		const letters = Array.from(frame.name);
		let shown = "";
		if (room >= 3)
			shown = letters.length <= room ? frame.name
				: letters.slice(0, room - 1).join("") + "…";
		if (!frame.text) {
			if (!shown)
				return;
			frame.text = document.createElementNS(NS, "text");
			frame.text.setAttribute("dx", 3);
			frame.text.setAttribute("y", frame.y + 12);
			frame.g.appendChild(frame.text);
		}
		frame.text.textContent = shown;
	}

	function place(frame, left, width) {
		for (const rect of frame.rects) {
			rect.setAttribute("x", left * 100 + "%");
			rect.setAttribute("width", width * 100 + "%");
		}
		label(frame, width * box.width.baseVal.value);
		if (frame.text)
			frame.text.setAttribute("x", left * 100 + "%");
	}

	function draw() {
		const top = zoomed || frames[0], pixels = box.width.baseVal.value / top.width;
		for (const frame of frames) {
			const above = isWithin(top, frame) && frame !== top;
			frame.shown = above || (isWithin(frame, top) && frame.width * pixels >= NARROW);
			frame.g.style.display = frame.shown ? "" : "none";
			frame.g.classList.toggle("above", above);
			if (above)
				place(frame, 0, 1);
			else if (frame.shown)
				place(frame, (frame.left - top.left) / top.width, frame.width / top.width);
		}
		svg.querySelector("#reset").style.display = zoomed || pattern ? "" : "none";
	}

	function zoom(frame) {
		zoomed = frame && frame.index ? frame : null;
		draw();
	}

	/* --- what one frame is --- */

	function point(frame, x, y) {
		if (here)
			here.g.classList.remove("here");
		here = frame;
		details.textContent = frame ? frame.lines.slice(0, 4).join("   ·   ") : "";
		if (!frame) {
			tip.style.display = "none";
			return;
		}
		frame.g.classList.add("here");
		const text = tip.querySelector("text");
		text.textContent = "";
		for (const line of frame.lines) {
			const span = document.createElementNS(NS, "tspan");
			span.setAttribute("x", 9);
			span.setAttribute("dy", text.childNodes.length ? 16 : 19);
			span.textContent = line.length > 120 ? line.slice(0, 119) + "…" : line;
			text.appendChild(span);
		}
		tip.style.display = "";
		const size = text.getBBox(), area = svg.getBoundingClientRect();
		const wide = size.width + 18, high = size.height + 14;
		tip.querySelector("rect").setAttribute("width", wide);
		tip.querySelector("rect").setAttribute("height", high);
		let left = x + 14, top = y + 18;
		if (left + wide > window.innerWidth)
			left = Math.max(2, x - wide - 8);
		if (top + high > window.innerHeight)
			top = Math.max(2, y - high - 8);
		tip.setAttribute("transform",
			"translate(" + (left - area.left) + "," + (top - area.top) + ")");
	}

	function pointByKey(frame) {
		if (!frame)
			return;
		const area = frame.rects[0].getBoundingClientRect();
		if (frame.g.scrollIntoView && (area.top < 0 || area.bottom > window.innerHeight))
			frame.g.scrollIntoView({ block: "center" });
		const place = frame.rects[0].getBoundingClientRect();
		point(frame, Math.max(0, place.left), place.bottom - 14);
	}

	function makeTip() {
		tip = document.createElementNS(NS, "g");
		tip.id = "tip";
		tip.style.display = "none";
		tip.setAttribute("pointer-events", "none");
		const rect = document.createElementNS(NS, "rect");
		rect.setAttribute("rx", 5);
		tip.appendChild(rect);
		tip.appendChild(document.createElementNS(NS, "text"));
		svg.appendChild(tip);
	}

	/* --- search --- */

	/* The share that matches lie in, each part of it counted once. */
	function search(source) {
		let share = 0, end = 0, count = 0;
		pattern = null;
		if (source) {
			try {
				/* Capitals mean what they say. */
				pattern = new RegExp(source, /[A-Z]/.test(source) ? "" : "i");
			} catch (wrong) {
				matched.textContent = "not a regular expression";
				box.classList.remove("searching");
				return false;
			}
		}
		for (const frame of frames) {
			const is = pattern !== null && pattern.test(frame.name);
			frame.g.classList.toggle("match", is);
			count += is;
			if (is && frame.index >= end) {
				share += frame.width;
				end = frame.end;
			}
		}
		box.classList.toggle("searching", pattern !== null);
		matched.textContent = pattern === null ? ""
			: count + (count === 1 ? " frame, " : " frames, ") + (100 * share).toFixed(2) + "% matched";
		draw();
		return true;
	}

	function closeInput() {
		if (input)
			input.remove();
		input = null;
	}

	function openInput() {
		if (input)
			return;
		input = document.createElementNS(NS, "foreignObject");
		const field = document.createElementNS("http://www.w3.org/1999/xhtml", "input");
		input.setAttribute("x", Math.max(0, svg.getBoundingClientRect().width - 344));
		input.setAttribute("y", 8);
		input.setAttribute("width", 250);
		input.setAttribute("height", 30);
		field.setAttribute("placeholder", "regular expression");
		field.setAttribute("style", "width:230px;box-sizing:border-box;font:12px ui-monospace,monospace;"
			+ "padding:4px 6px;border:1px solid #8a8f98;border-radius:4px");
		field.value = pattern ? pattern.source : "";
		field.addEventListener("input", () => {
			field.style.borderColor = search(field.value) ? "" : "#d6006c";
		});
		field.addEventListener("keydown", event => {
			if (event.key === "Escape" || event.key === "Enter") {
				if (event.key === "Escape")
					search("");
				closeInput();
			}
			event.stopPropagation();
		});
		input.appendChild(field);
		hud.appendChild(input);
		field.focus();
		field.select();
	}

	function reset() {
		closeInput();
		search("");
		zoom(null);
	}

	/* --- events --- */

	function frameOf(target) {
		const g = target.closest ? target.closest("g") : null;
		return g && g.frame ? g.frame : null;
	}

	function besides(frame, step) {
		for (let i = frame.index + step; i >= 0 && i < frames.length; i += step)
			if (frames[i].depth === frame.depth && frames[i].shown)
				return frames[i];
		return null;
	}

	function widestCallee(frame) {
		let widest = null;
		for (let i = frame.index + 1; i < frame.end; i = frames[i].end)
			if (frames[i].shown && (!widest || frames[i].width > widest.width))
				widest = frames[i];
		return widest;
	}

	const keys = {
		ArrowUp: () => pointByKey(here ? widestCallee(here) : zoomed || frames[0]),
		ArrowDown: () => pointByKey(here ? here.parent : zoomed || frames[0]),
		ArrowLeft: () => here && pointByKey(besides(here, -1)),
		ArrowRight: () => here && pointByKey(besides(here, 1)),
		Enter: () => here && zoom(here),
		Backspace: () => zoomed && zoom(zoomed.parent),
		Escape: () => { point(null); reset(); },
		"/": openInput,
	};

	function onKey(event) {
		const button = event.target.closest ? event.target.closest(".button") : null;
		if (!isOwn && !svg.contains(event.target))
			return;
		if (button && (event.key === "Enter" || event.key === " ")) {
			event.preventDefault();
			button.dispatchEvent(new MouseEvent("click"));
			return;
		}
		if ((event.ctrlKey || event.metaKey) && event.key === "f") {
			event.preventDefault();
			openInput();
		} else if (!event.ctrlKey && !event.metaKey && !event.altKey && keys[event.key]) {
			event.preventDefault();
			keys[event.key]();
		}
	}

	function resize() {
		box.setAttribute("width", Math.max(200, svg.getBoundingClientRect().width - 20));
		draw();
	}

	/* The head stays in sight of a picture that is higher than the window. */
	function follow() {
		const top = Math.max(0, -svg.getBoundingClientRect().top);
		svg.querySelector("#head").setAttribute("transform", "translate(0," + top + ")");
	}

	readFrames();
	makeTip();
	hud.style.display = "";
	svg.removeAttribute("viewBox");
	svg.setAttribute("width", "100%");
	if (!isOwn)
		svg.setAttribute("tabindex", "0");
	box.addEventListener("click", event => {
		const frame = frameOf(event.target);
		if (frame)
			zoom(frame);
	});
	box.addEventListener("mousemove", event => {
		const frame = frameOf(event.target);
		if (frame)
			point(frame, event.clientX, event.clientY);
	});
	box.addEventListener("mouseleave", () => point(null));
	svg.querySelector("#search").addEventListener("click", openInput);
	svg.querySelector("#reset").addEventListener("click", reset);
	window.addEventListener("keydown", onKey);
	window.addEventListener("resize", resize);
	window.addEventListener("scroll", follow);
	resize();
	/* The root is what a reader begins with, and it is at the bottom. */
	if (isOwn && svg.getBoundingClientRect().height > window.innerHeight)
		window.scrollTo(0, svg.getBoundingClientRect().height);
	follow();
})();
