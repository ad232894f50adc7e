/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/amount.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"

char *amount_time(char buffer[AMOUNT_MAX], double seconds)
{
	if (seconds < 1e-3)
		snprintf(buffer, AMOUNT_MAX, "%.*f ms", seconds < 1e-5 ? 0 : 2, seconds * 1e3);
	else if (seconds < 1)
		snprintf(buffer, AMOUNT_MAX, "%.0f ms", seconds * 1e3);
	else if (seconds < 120)
		snprintf(buffer, AMOUNT_MAX, seconds < 10 ? "%.2f s" : "%.1f s", seconds);
	else if (seconds < 7200)
		snprintf(buffer, AMOUNT_MAX, "%.0f min %.0f s", floor(seconds / 60),
			 floor(fmod(seconds, 60)));
	else if (seconds < 172800)
		snprintf(buffer, AMOUNT_MAX, "%.0f h %.0f min", floor(seconds / 3600),
			 floor(fmod(seconds, 3600) / 60));
	else
		snprintf(buffer, AMOUNT_MAX, "%.0f d %.0f h", floor(seconds / 86400),
			 floor(fmod(seconds, 86400) / 3600));
	return buffer;
}

char *amount_bytes(char buffer[AMOUNT_MAX], double bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
	size_t i = 0;

	for (; bytes >= 1024 && i + 1 < array_length(units); i++)
		bytes /= 1024;
	snprintf(buffer, AMOUNT_MAX, i && bytes < 100 ? "%.1f %s" : "%.0f %s", bytes, units[i]);
	return buffer;
}

char *amount_count(char buffer[AMOUNT_MAX], double count)
{
	char digits[AMOUNT_MAX / 2];
	size_t length, used = 0;

	snprintf(digits, sizeof(digits), "%.0f", fmin(count, 1e18));
	length = strlen(digits);
	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			buffer[used++] = ',';
		buffer[used++] = digits[i];
	}
	buffer[used] = '\0';
	return buffer;
}
