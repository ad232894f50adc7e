/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page of a report: its bar. What the page says is in the document without it.
 */
(function () {
	"use strict";
	const $ = id => document.getElementById(id);
	const tables = dataTables(document, { rows: 20 });

	function filter() {
		const text = $("filter").value;
		tables.filter(text, rows => {
			$("matched").textContent = text.trim() ? rows + (rows === 1 ? " row" : " rows") : "";
		});
	}

	function contents() {
		const first = document.createElement("option");
		first.textContent = "…";
		$("contents").append(first);
		document.querySelectorAll("h2, h3").forEach((heading, i) => {
			const option = document.createElement("option");
			heading.id = heading.id || "to" + i;
			option.value = heading.id;
			option.textContent = (heading.tagName === "H3" ? "\u2003" : "") + heading.textContent;
			$("contents").append(option);
		});
	}

	function go() {
		const to = $("contents").selectedIndex > 0 && $($("contents").value);
		if (!to)
			return;
		for (let box = to.closest("details"); box; box = box.parentElement.closest("details"))
			box.open = true;
		to.scrollIntoView();
		$("contents").selectedIndex = 0;
	}

	const isDark = () => (document.documentElement.dataset.theme
		|| (window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

	$("bar").hidden = false;
	contents();
	$("filter").addEventListener("input", filter);
	$("contents").addEventListener("change", go);
	$("theme").addEventListener("click", () => {
		document.documentElement.dataset.theme = isDark() ? "light" : "dark";
		document.dispatchEvent(new Event("themechange"));
	});
	$("unfold").addEventListener("click", () => {
		const all = $("unfold").getAttribute("aria-pressed") !== "true";
		$("unfold").setAttribute("aria-pressed", all);
		$("unfold").textContent = all ? "Show fewer rows" : "Show all rows";
		tables.unfold(all);
	});
	window.addEventListener("keydown", event => {
		const at = event.composedPath()[0];
		if (event.key === "/" && !(at instanceof HTMLInputElement) && !event.ctrlKey && !event.metaKey) {
			event.preventDefault();
			$("filter").focus();
			$("filter").select();
		} else if (event.key === "Escape" && at === $("filter")) {
			$("filter").value = "";
			filter();
		} else if (event.key === "Enter" && at === $("filter")) {
			const row = document.querySelector("table.data:not([hidden]) tbody tr:not([hidden])");
			if (row)
				row.closest(".wide").scrollIntoView();
		}
	});
})();
