/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/otlp_answer.h"

#include <otlp.pb-c.h>
#include <stdio.h>

void otlp_judge(const struct sink_answer *answer, struct sink_judgement *ret)
{
	Otlp__ExportProfilesServiceResponse *response;
	const Otlp__ExportProfilesPartialSuccess *partial;

	sink_judge_status(answer, ret);
	if (ret->verdict != SINK_TAKEN || !answer->body.length)
		return;
	response = otlp__export_profiles_service_response__unpack(
		NULL, answer->body.length, (const uint8_t *)answer->body.bytes);
	partial = response ? response->partial_success : NULL;
	if (partial && partial->rejected_profiles > 0) {
		ret->refused = (uint64_t)partial->rejected_profiles;
		snprintf(ret->said, sizeof(ret->said), "%s", partial->error_message);
	}
	if (response)
		otlp__export_profiles_service_response__free_unpacked(response, NULL);
}
