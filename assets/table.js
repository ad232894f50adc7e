/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sorts, filters and folds the tables of a page: every table.data of a document.
 *
 *	const tables = dataTables(document, { rows: 20 });
 *	tables.filter("nginx !worker", count => ...);	rows that have it, in all tables
 *
 * A cell has its exact value in data-v where its text has a unit. Each tbody is a block of rows of
 * one kind (times, bytes, counts), and is sorted and folded by itself. A tr.line is no row, and
 * comes after them.
 *
 * Browsers take seconds to lay out 100,000 rows. So only those that are shown are in the document,
 * a page at a time as one scrolls; all that are wanted when it is printed.
 */
const dataTable = (function () {
	"use strict";

	/* Words that a text must have: "!" negates, "|" separates alternatives. Capitals mean what
	 * they say. An empty filter has every text. */
	function matcher(filter) {
		const words = filter.split(/\s+/).filter(word => word && word !== "!").map(word => {
			const not = word[0] === "!", text = not ? word.slice(1) : word;
			return { not, exact: /[A-Z]/.test(text), any: text.split("|").filter(part => part) };
		});
		return text => {
			const lower = text.toLowerCase();
			return words.every(word => !word.any.length
				|| word.any.some(part => (word.exact ? text : lower).includes(part)) !== word.not);
		};
	}

	/* Numbers by value, before texts; what is not known ("-") comes last, whatever the order. */
	function compare(a, b, descending) {
		const known = value => value !== null && value !== "-" && value !== "";
		if (!known(a) || !known(b))
			return known(b) - known(a);
		let order;
		if (typeof a === "number" && typeof b === "number")
			order = a - b;
		else if (typeof a !== typeof b)
			return typeof a === "number" ? -1 : 1;
		else
			order = a < b ? -1 : a > b ? 1 : 0;
		return descending ? -order : order;
	}

	/* The value of a cell: a number where it has one. */
	function valueOf(cell) {
		const exact = cell.dataset.v;
		if (exact !== undefined && exact !== "" && Number.isFinite(Number(exact)))
			return Number(exact);
		return cell.textContent;
	}

	return { matcher, compare, valueOf };
})();

function dataTables(root, options) {
	"use strict";
	const least = options && options.rows || 20, PAGE = 200, SLICE_MS = 30;
	const made = [];
	let current = null, filters = 0, pending = null;

	/* The rows of a tbody: all in their order, those of them that are wanted, and how many of these
	 * are in the document. */
	function block(body) {
		const rows = [...body.rows].filter(row => !row.classList.contains("line"));
		return { body, rows, wanted: rows, texts: new Map(), shown: 0, folded: rows.length > least, more: null,
			lines: [...body.rows].filter(row => row.classList.contains("line")) };
	}

	function textOf(b, row) {
		let text = b.texts.get(row);
		if (text === undefined) {
			text = [...row.cells].map(cell => cell.textContent).join(" ");
			b.texts.set(row, text);
		}
		return text;
	}

	function moreRow(b) {
		const row = document.createElement("tr"), cell = row.insertCell(), button = document.createElement("button");
		row.className = "line screen";
		cell.colSpan = b.rows[0].cells.length;
		button.type = "button";
		button.addEventListener("click", () => { b.folded = !b.folded; show(b); });
		cell.append(button);
		new IntersectionObserver(entries => {
			if (!b.folded && entries.some(entry => entry.isIntersecting))
				add(b, PAGE);
		}, { rootMargin: "1000px" }).observe(row);
		b.more = { row, button };
	}

	function add(b, count) {
		const some = document.createDocumentFragment(), end = Math.min(b.wanted.length, b.shown + count);
		for (; b.shown < end; b.shown++)
			some.append(b.wanted[b.shown]);
		if (b.more && b.more.row.parentNode === b.body)
			b.body.insertBefore(some, b.lines.find(line => line.parentNode === b.body) || b.more.row);
		else
			b.body.append(some);
	}

	function show(b) {
		b.body.replaceChildren();
		b.shown = 0;
		add(b, b.folded ? least : PAGE);
		if (!current)
			b.body.append(...b.lines);
		if (b.wanted.length <= least)
			return;
		if (!b.more)
			moreRow(b);
		b.more.button.textContent = b.folded ? "Show all " + b.wanted.length + " rows" : "Show " + least + " rows";
		b.body.append(b.more.row);
	}

	function sort(table, column, descending) {
		for (const b of table.blocks) {
			const values = new Map(b.rows.map(row => [row, row.cells[column]
				? dataTable.valueOf(row.cells[column]) : null]));
			const order = (x, y) => dataTable.compare(values.get(x), values.get(y), descending);
			const all = b.wanted === b.rows;
			b.rows = b.rows.slice().sort(order);
			b.wanted = all ? b.rows : b.wanted.sort(order);
			show(b);
		}
		/* It has looked at rows in the order before. */
		if (pending)
			filter(pending.text, pending.done);
		table.heads.forEach((head, c) => {
			const is = c === column;
			head.cell.setAttribute("aria-sort", !is ? "none" : descending ? "descending" : "ascending");
			head.button.textContent = head.text + (!is ? "" : descending ? " ▾" : " ▴");
		});
	}

	function attach(element) {
		const table = { element, heads: [],
			blocks: [...element.tBodies].map(block).filter(b => b.rows.length) };
		const heads = element.tHead ? [...element.tHead.rows[0].cells] : [];
		heads.forEach((cell, c) => {
			const button = document.createElement("button"), text = cell.textContent;
			button.type = "button";
			button.textContent = text;
			/* Numbers begin with the largest, names with the first. */
			button.addEventListener("click", () => {
				const now = cell.getAttribute("aria-sort"), first = cell.classList.contains("n");
				sort(table, c, now === "descending" ? false : now === "ascending" ? true : first);
			});
			cell.textContent = "";
			cell.append(button);
			table.heads.push({ cell, button, text });
		});
		if (!table.blocks.length)
			return;
		made.push(table);
		table.blocks.filter(b => b.folded).forEach(show);
	}

	/* Tables without such a row are not there. `done` gets the number of rows; not if there is another
	 * filter before all rows were looked at. Few are looked at at once, many between other events. */
	async function filter(text, done) {
		const number = ++filters, found = text.trim() ? dataTable.matcher(text) : null;
		let sum = 0, began = performance.now();
		pending = { text, done };
		for (const table of made) {
			let rows = 0;
			for (const b of table.blocks) {
				const wanted = found ? [] : b.rows;
				for (const row of found ? b.rows : []) {
					if (found(textOf(b, row)))
						wanted.push(row);
					if (performance.now() - began > SLICE_MS) {
						await new Promise(resolve => setTimeout(resolve));
						if (number !== filters)
							return;
						began = performance.now();
					}
				}
				current = found;
				b.wanted = wanted;
				show(b);
				rows += wanted.length;
			}
			table.element.hidden = !rows;
			sum += rows;
		}
		pending = null;
		if (done)
			done(sum);
	}

	/* Paper has what the screen has, unless everything is asked for. */
	function unfold(all) {
		for (const table of made)
			for (const b of table.blocks) {
				b.folded = !all && b.rows.length > least;
				show(b);
			}
	}

	for (const element of root.querySelectorAll("table.data"))
		attach(element);
	window.addEventListener("beforeprint", () => {
		for (const table of made)
			for (const b of table.blocks)
				if (!b.folded)
					add(b, b.wanted.length);
	});
	return { filter, unfold };
}

if (typeof module !== "undefined")
	module.exports = dataTable;
