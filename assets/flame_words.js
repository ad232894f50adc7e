/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all pages with flame graphs share: how times, shares and changes are written, the colours of
 * frames, and how a name is cut. Nothing here knows of a graph.
 */
const flameWords = (function () {
	"use strict";
	const LETTER = 6.7; /* the width of a character in FONT */
	const FONT = "11px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";

	/* "1.235ms" as elsewhere. */
	function time(ns) {
		const units = ["ns", "µs", "ms", "s"];
		let unit = 0, size = Math.abs(ns);
		for (; size >= 1000 && unit < 3; unit++)
			size /= 1000;
		return (ns < 0 ? "-" : "") + (unit ? size.toFixed(3) : Math.round(size)) + units[unit];
	}

	const percent = share => (100 * share).toFixed(2) + "%";

	/* From -1 (it is gone) to 1 (it is new). */
	function change(before, after) {
		const larger = Math.max(before, after);
		return larger > 0 ? (after - before) / larger : 0;
	}

	function hash(text) {
		let h = 2166136261;
		for (let i = 0; i < text.length; i++)
			h = Math.imul(h ^ text.charCodeAt(i), 16777619);
		return (h ^ h >>> 15) >>> 0;
	}

	/* What a kind of frame (user, kernel, note, idle) adds to saturation and lightness. */
	const kinds = [[0, 0], [-10, -9], [-34, 8], [-100, 8]];

	/* Of a base colour [hue, saturation, lightness]; names differ a little, null is the colour of legends. */
	function frameColour(base, kind, name) {
		const [hue, saturation, lightness] = base, h = name === null ? 0 : hash(name);
		const turn = name === null ? 0 : h % 13 - 6, light = name === null ? 0 : (h / 13 | 0) % 7 - 3;
		return "hsl(" + (hue + turn + 360) % 360 + "," + Math.max(0, saturation + kinds[kind][0]) + "%,"
			+ (lightness + kinds[kind][1] + light) + "%)";
	}

	function changeColour(size) {
		const root = Math.sqrt(Math.min(1, Math.abs(size)));
		return "hsl(" + (size < 0 ? 212 : 4) + "," + (root ? 88 : 0) + "%," + (93 - 28 * root) + "%)";
	}

	/* As much of a name as `pixels` have room for. */
	function fit(text, pixels) {
		const room = Math.floor((pixels - 6) / LETTER);
		if (room < 3)
			return "";
		if (text.length <= room)
			return text;
		const letters = Array.from(text);
		return letters.length <= room ? text : letters.slice(0, room - 1).join("") + "…";
	}

	/* A pattern of a search field: capitals mean what they say. Throws what is wrong with it. */
	const pattern = source => new RegExp(source, /[A-Z]/.test(source) ? "" : "i");

	/* Names go into documents as text only. */
	function element(tag, text, className) {
		const made = document.createElement(tag);
		if (text !== undefined)
			made.textContent = text;
		if (className)
			made.className = className;
		return made;
	}

	return { FONT, time, percent, change, hash, frameColour, changeColour, fit, pattern, element };
})();

if (typeof module !== "undefined")
	module.exports = flameWords;
