/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sorts, filters and folds the tables of a page: every table.data of a document.
 *
 *	const tables = dataTables(document, { rows: 20, changed: count => ... });
 *	tables.filter("nginx !worker");		rows that have it, in all tables
 *
 * A cell has its exact value in data-v where its text has a unit. Each tbody is a block of rows of
 * one kind (times, bytes, counts), and is sorted and folded by itself. A tr.line is no row, and
 * stays where it is.
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
	const least = options && options.rows || 20;
	const made = [];

	/* The rows of a tbody, and its state. */
	function block(body) {
		const rows = [...body.rows].filter(row => !row.classList.contains("line"));
		return { body, rows, texts: null, folded: rows.length > least, more: null,
			lines: [...body.rows].filter(row => row.classList.contains("line")) };
	}

	function textsOf(b) {
		if (!b.texts)
			b.texts = new Map(b.rows.map(row => [row, [...row.cells].map(cell => cell.textContent).join(" ")]));
		return b.texts;
	}

	function moreRow(b) {
		const row = b.body.insertRow(), cell = row.insertCell(), button = document.createElement("button");
		row.className = "line screen";
		cell.colSpan = b.rows[0].cells.length;
		button.type = "button";
		button.addEventListener("click", () => { b.folded = !b.folded; show(b); });
		cell.append(button);
		b.more = { row, button };
	}

	/* Returns how many rows are wanted, folded or not. */
	function show(b) {
		const texts = current ? textsOf(b) : null;
		let wanted = 0;
		for (const row of b.rows) {
			const is = !texts || current(texts.get(row));
			row.hidden = !is || (b.folded && wanted >= least);
			wanted += is;
		}
		for (const line of b.lines)
			line.hidden = !!current;
		if (wanted > least && !b.more)
			moreRow(b);
		if (b.more) {
			b.more.row.hidden = wanted <= least;
			b.more.button.textContent = b.folded ? "Show all " + wanted + " rows" : "Show " + least + " rows";
		}
		return wanted;
	}

	function sort(table, column, descending) {
		for (const b of table.blocks) {
			const values = new Map(b.rows.map(row => [row, row.cells[column]
				? dataTable.valueOf(row.cells[column]) : null]));
			b.rows.sort((x, y) => dataTable.compare(values.get(x), values.get(y), descending));
			for (const row of [...b.rows, ...b.lines, ...(b.more ? [b.more.row] : [])])
				b.body.append(row);
			show(b);
		}
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
		if (table.blocks.length)
			made.push(table);
	}

	let current = null;

	/* Tables without such a row are not there. Returns the number of rows. */
	function filter(text) {
		let sum = 0;
		current = text.trim() ? dataTable.matcher(text) : null;
		for (const table of made) {
			const wanted = table.blocks.reduce((rows, b) => rows + show(b), 0);
			table.element.hidden = !wanted;
			sum += wanted;
		}
		return sum;
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
	filter("");
	return { filter, unfold };
}

if (typeof module !== "undefined")
	module.exports = dataTable;
