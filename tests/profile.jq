# SPDX-License-Identifier: BSD-2-Clause
#
# A profile as lines "NAME TID WHAT AMOUNT", of each thread (or what went by its number):
#
#	CLASS         the time that it did that, by its record
#	seen:CLASS    the same, by the samples
#	counted:CLASS how many stretches of that were counted, by its record
#	unknown       1 when its times are not known
#	life          how long it was watched
#	voluntary, involuntary

def one_word: gsub("[ \n]"; "_");

def lines_of_profile:
	.classes as $classes
	| .threads as $threads
	| (.threads | to_entries[] | .value | "\(.name | one_word) \(.tid)" as $who
	   | (select(.accounted | not) | "\($who) unknown 1"),
	     "\($who) life \(.ended_ns - .begun_ns)",
	     "\($who) voluntary \(.voluntary // 0)",
	     "\($who) involuntary \(.involuntary // 0)",
	     (.ns // {} | to_entries[] | "\($who) \(.key) \(.value)"),
	     (.counts // {} | to_entries[] | "\($who) counted:\(.key) \(.value)")),
	  (.samples // {thread: []} | . as $s | range(.thread | length)
	   | $threads[$s.thread[.]] as $thread
	   | "\($thread.name | one_word) \($thread.tid) seen:\($classes[$s.class[.]]) \($s.ns[.])");
