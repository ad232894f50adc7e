/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flame graphs of a page, each in a shadow tree.
 */
for (const host of document.querySelectorAll(".flame")) {
	const template = host.querySelector("template");
	/* Browsers of before 2024 leave the template where it is. */
	const root = host.shadowRoot || host.attachShadow({ mode: "open" });
	if (template)
		root.append(template.content);
	flamePage(root);
}
