# SPDX-License-Identifier: BSD-2-Clause
#
# A snapshot as lines "WHO FIELD VALUE", one for each value that is marked as measured.

# The names whose bits are set; digit k holds the bits 4k to 4k+3.
def measured($names):
	[.measured | explode[] | if . >= 97 then . - 87 else . - 48 end] as $digits
	| range($names | length)
	| select(($digits[. / 4 | floor] / pow(2; . % 4) | floor) % 2 == 1)
	| $names[.];

def value: if type == "array" then map(tostring) | join(",") else tostring end;

# Lines of an object: maps of counts become a line for each key.
def lines($who; $names):
	. as $object
	| measured($names) as $name
	| getpath($name / ".")
	| if type == "object" then to_entries[] | "\($who) \($name).\(.key) \(.value)"
	  else "\($who) \($name) \(value)" end;

def one_line: gsub("\n"; "~");

def threads: .ctprof.fields.threads as $names | .threads[] | lines(.tid; $names);
def names: .threads[] | "\(.tid) \(.tgid) \(.pcomm | one_line) \(.comm | one_line) \(.cgroup)";
def processes:
	.processes[] | .tgid as $tgid | to_entries[] | select(.key != "tgid")
	| "\($tgid) \(.key) \(.value | tostring | one_line)";
def cgroups:
	.ctprof.fields.cgroup_stats as $names
	| .cgroup_stats | to_entries[] | .key as $path | .value
	| lines($path; $names),
	  (.memory | {stat, events} | to_entries[] | .key as $file | .value | to_entries[]
	   | "\($path) memory.\($file).\(.key) \(.value)");
def pressure: .ctprof.fields.psi as $names | .psi | lines("host"; $names);
def sched_ext:
	.ctprof.fields.sched_ext as $names
	| .sched_ext | if . then "host state \(.state)", lines("host"; $names) else "host none" end;
def host:
	.host | to_entries[] | .key as $key | .value
	| if type == "object" then to_entries[] | "host \($key).\(.key) \(.value)"
	  else "host \($key) \(.)" end;
def counters:
	.host_counters | to_entries[] | .key as $kind | .value | to_entries[] | .key as $name
	| .value | to_entries[] | "\($kind):\($name) \(.key) \(.value)";
def accounting:
	.capture | "host delay_accounting \(.delay_accounting)",
	           "host irq_accounting \(.irq_accounting)";
