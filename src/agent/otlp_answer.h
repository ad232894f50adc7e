/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers of a server of OTLP: one that takes a request may still have rejected some of its
 * profiles, which its body says (ExportProfilesServiceResponse, as protobuf).
 */
#ifndef AGENT_OTLP_ANSWER_H
#define AGENT_OTLP_ANSWER_H

#include "agent/sink.h"

/* As struct sink_type has it. A body that is no such message says nothing. */
void otlp_judge(const struct sink_answer *answer, struct sink_judgement *ret);

#endif
