/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/build.h"

void unwind_table_deinit(struct unwind_table *table)
{
	array_deinit(&table->blocks);
	array_deinit(&table->words);
	array_deinit(&table->rules);
	*table = (struct unwind_table){ 0 };
}
