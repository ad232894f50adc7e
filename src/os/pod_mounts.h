/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What kubelet's mounts and directories tell about a pod of Kubernetes, without its API server:
 * /var/lib/kubelet/pods/<UID>/ has files that are mounted into each container, and
 * /var/log/pods/ a directory for each pod (pkg/kubelet/kubelet_getters.go and
 * pkg/kubelet/kuberuntime/helpers.go of Kubernetes).
 */
#ifndef OS_POD_MOUNTS_H
#define OS_POD_MOUNTS_H

#include <stdbool.h>

#include "base/text.h"

/*
 * The name of the container in the mountinfo (proc_pid_mountinfo(5)) of one of its processes, if
 * that is in the pod with this UID: of the first mount whose root, its directory in the mounted
 * file system, ends with
 *
 *	/pods/<UID>/containers/<name>/<file>                  where it writes why it ended
 *	/pods/<UID>/volume-subpaths/<volume>/<name>/<number>  a part of a volume
 *
 * A name is a DNS label (RFC 1123). False when no mount tells.
 */
bool pod_mounts_container(struct text mountinfo, const char *uid, struct text *ret);

/* The namespace and name of the pod with this UID, if the name of a directory of /var/log/pods is
 * "<namespace>_<pod>_<UID>". */
bool pod_log_directory(struct text directory, const char *uid, struct text *namespace,
		       struct text *pod);

#endif
