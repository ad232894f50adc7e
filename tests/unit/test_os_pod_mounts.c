/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/pod_mounts.h"

#include "unit/unit.h"

#define UID   "b3d2c1a0-9f8e-4d7c-b6a5-0123456789ab"
#define OTHER "00000000-9f8e-4d7c-b6a5-0123456789ab"

#define MOUNT(root, point) \
	"1204 1187 259:1 " root " " point " rw,relatime - ext4 /dev/nvme0n1p1 rw,discard\n"

/* As in a container of containerd on Debian 12, whose /var is no file system of its own. */
#define CONTAINER                                                                              \
	"1187 985 0:308 / / rw,relatime master:442 - overlay overlay rw,lowerdir=/var/lib/a\n" \
	"1188 1187 0:310 / /proc rw,nosuid,nodev,noexec,relatime - proc proc rw\n" MOUNT(      \
		"/var/lib/kubelet/pods/" UID "/etc-hosts",                                     \
		"/etc/hosts") MOUNT("/var/lib/kubelet/pods/" UID                               \
				    "/containers/web-server/5a3c7f10",                         \
				    "/dev/termination-log")                                    \
		MOUNT("/var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes/0f1e/hostname", \
		      "/etc/hostname")

static void check(const char *mountinfo, const char *expected)
{
	struct text in = guarded(mountinfo, strlen(mountinfo)), name = TEXT("untouched");

	assert_int_equal(pod_mounts_container(in, UID, &name), expected != NULL);
	expect_text(name, expected ? expected : "untouched");
	unguard(in);
}

TEST(the_container_of_a_mount)
{
	check(CONTAINER, "web-server");
	/* /var on a file system of its own; microk8s; kind, whose /var is a volume of Docker */
	check(MOUNT("/lib/kubelet/pods/" UID "/containers/web/5a3c7f10", "/dev/termination-log"),
	      "web");
	check(MOUNT("/pods/" UID "/containers/web/5a3c7f10", "/dev/termination-log"), "web");
	check(MOUNT("/var/snap/microk8s/common/var/lib/kubelet/pods/" UID "/containers/web/5a3c",
		    "/dev/termination-log"),
	      "web");
	check(MOUNT("/docker/volumes/6b1f/_data/lib/kubelet/pods/" UID "/containers/web/5a3c",
		    "/run/why"),
	      "web");
	check(MOUNT("/var/lib/kubelet/pods/" UID "/volume-subpaths/config/web/0", "/etc/web.conf"),
	      "web");
}

TEST(no_container_of_mounts)
{
	check("", NULL);
	check("\n\n", NULL);
	check("1204 1187 259:1", NULL);
	/* of another pod */
	check(MOUNT("/var/lib/kubelet/pods/" OTHER "/containers/web/5a3c", "/dev/termination-log"),
	      NULL);
	/* no name, not as deep or deeper */
	check(MOUNT("/var/lib/kubelet/pods/" UID "/etc-hosts", "/etc/hosts"), NULL);
	check(MOUNT("/var/lib/kubelet/pods/" UID "/containers", "/x"), NULL);
	check(MOUNT("/var/lib/kubelet/pods/" UID "/containers/web", "/x"), NULL);
	check(MOUNT("/var/lib/kubelet/pods/" UID "/containers/web/5a3c/x", "/x"), NULL);
	check(MOUNT("/var/lib/kubelet/pods/" UID "/containers//5a3c", "/x"), NULL);
	check(MOUNT("/var/lib/kubelet/pods/" UID "/volume-subpaths/config/web", "/x"), NULL);
	check(MOUNT("/var/lib/kubelet/pods/" UID "/volumes/empty/web/0", "/x"), NULL);
	check(MOUNT("/x/" UID "/containers/web/5a3c", "/x"), NULL);
	/* no DNS label */
	check(MOUNT("/pods/" UID "/containers/We\\040b/5a3c", "/x"), NULL);
	check(MOUNT("/pods/" UID "/containers/web\x1b[31m/5a3c", "/x"), NULL);
	check(MOUNT("/pods/" UID
		    "/containers/aaaaaaaabbbbbbbbccccccccddddddddaaaaaaaabbbbbbbbccccccccdddddddd/"
		    "5a",
		    "/x"),
	      NULL);
	/* The mount point says nothing: a process may mount what it likes there. */
	check(MOUNT("/x", "/pods/" UID "/containers/web/5a3c"), NULL);
}

static void check_log(const char *directory, const char *expected_namespace,
		      const char *expected_pod)
{
	struct text in = guarded(directory, strlen(directory)), namespace = TEXT("untouched"),
		    pod = TEXT("untouched");

	assert_int_equal(pod_log_directory(in, UID, &namespace, &pod), expected_pod != NULL);
	expect_text(namespace, expected_namespace ? expected_namespace : "untouched");
	expect_text(pod, expected_pod ? expected_pod : "untouched");
	unguard(in);
}

TEST(directories_of_logs)
{
	check_log("kube-system_coredns-76f75df574-x7k2p_" UID, "kube-system",
		  "coredns-76f75df574-x7k2p");
	check_log("shop_web.example-0_" UID, "shop", "web.example-0");
	check_log("shop_web_" OTHER, NULL, NULL);
	check_log("shop_web", NULL, NULL);
	check_log("shop__" UID, NULL, NULL);
	check_log("_web_" UID, NULL, NULL);
	check_log("a_b_c_" UID, NULL, NULL);
	check_log("Shop_web_" UID, NULL, NULL);
	check_log("shop_we b_" UID, NULL, NULL);
	check_log("a.b_web_" UID, NULL, NULL);
	check_log(UID, NULL, NULL);
	check_log("", NULL, NULL);
}

UNIT_TESTS(cmocka_unit_test(the_container_of_a_mount), cmocka_unit_test(no_container_of_mounts),
	   cmocka_unit_test(directories_of_logs))
