/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/cgroup_labels.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/unit.h"

#define ID    "3b1f6d0c5a9e47d28f0b6c1e2d3a4f5968778695a4b3c2d1e0f9081726354453"
#define OTHER "00000000000000000000000000000000aaaaaaaaaaaaaaaaffffffffffffffff"
#define UID   "b3d2c1a0-9f8e-4d7c-b6a5-0123456789ab"
#define UID_  "b3d2c1a0_9f8e_4d7c_b6a5_0123456789ab"

#define KUBE                                                                   \
	"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ \
	".slice/cri-contain"                                                   \
	"erd-" ID ".scope"
#define CONTAINERD "1/root/run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID "/config.json"
#define CRIO       "1/root/run/containers/storage/overlay-containers/" ID "/userdata/config.json"
#define DOCKER     "1/root/var/lib/docker/containers/" ID "/config.v2.json"
#define PODMAN     "1/root/var/lib/containers/storage/overlay-containers/containers.json"

/* A /proc of its own, with a root directory for process 1. */
static struct scratch scratch;
static struct cgroup_labels_reader *reader;
static int proc;

static int begin(void **state)
{
	(void)state;
	scratch_init(&scratch);
	proc = open(scratch_path(&scratch, "."), O_PATH | O_DIRECTORY | O_CLOEXEC);
	return 0;
}

static int end(void **state)
{
	(void)state;
	cgroup_labels_close(reader);
	reader = NULL;
	close(proc);
	scratch_deinit(&scratch);
	return 0;
}

static void put(const char *path, const char *text)
{
	char made[512];

	snprintf(made, sizeof(made), "%s", path);
	for (char *at = made; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(scratch_path(&scratch, made), 0755);
		*at = '/';
	}
	scratch_write(&scratch, path, text_of(text));
}

static void check(const char *cgroup, uint32_t pid, const struct cgroup_labels *expected)
{
	struct text in = guarded(cgroup, strlen(cgroup));
	struct cgroup_labels labels;

	if (!reader)
		assert_null(cgroup_labels_open(proc, &reader));
	cgroup_labels_read(reader, in, pid, &labels);
	assert_string_equal(labels.container, expected->container);
	assert_string_equal(labels.pod, expected->pod);
	assert_string_equal(labels.namespace, expected->namespace);
	assert_string_equal(labels.image, expected->image);
	assert_string_equal(labels.unit, expected->unit);
	unguard(in);
}

#define LABELS(...)             \
	&(struct cgroup_labels) \
	{                       \
		__VA_ARGS__     \
	}

TEST(containerd_of_kubernetes)
{
	if (!has_openat2())
		skip();
	put(CONTAINERD, "{\"ociVersion\":\"1.1.0\",\"process\":{\"user\":{\"uid\":0},\"args\":[\"/"
			"web\"]},\"root\":{"
			"\"path\":\"rootfs\"},\"hostname\":\"x\",\"annotations\":{"
			"\"io.kubernetes.cri.container-name\":\"web\","
			"\"io.kubernetes.cri.container-type\":\"container\","
			"\"io.kubernetes.cri.image-name\":\"registry.example/shop/web:1.4\","
			"\"io.kubernetes.cri.sandbox-id\":\"" OTHER "\","
			"\"io.kubernetes.cri.sandbox-name\":\"web-6d4b75cb6d-hx2vq\","
			"\"io.kubernetes.cri.sandbox-namespace\":\"shop\"},\"linux\":{}}");
	check(KUBE, 0,
	      LABELS(.container = "web", .pod = "web-6d4b75cb6d-hx2vq", .namespace = "shop",
		     .image = "registry.example/shop/web:1.4",
		     .unit = "cri-containerd-" ID ".scope"));
}

TEST(crio)
{
	if (!has_openat2())
		skip();
	put(CRIO,
	    "{\"annotations\":{\"io.kubernetes.container.name\":\"web\","
	    "\"io.kubernetes.cri-o.Annotations\":\"{\\\"a\\\":\\\"b\\\"}\","
	    "\"io.kubernetes.cri-o.ImageName\":\"registry.example/web:1\","
	    "\"io.kubernetes.pod.name\":\"web-0\",\"io.kubernetes.pod.namespace\":\"shop\"}}");
	check("/kubepods/burstable/pod" UID "/crio-" ID, 0,
	      LABELS(.container = "web", .pod = "web-0", .namespace = "shop",
		     .image = "registry.example/web:1"));
}

TEST(docker)
{
	if (!has_openat2())
		skip();
	put(DOCKER,
	    "{\"StreamConfig\":{},\"State\":{\"Pid\":7},\"ID\":\"" ID "\",\"Config\":{"
	    "\"Hostname\":\"3b1f6d0c5a9e\",\"Image\":\"nginx:1.27\",\"Labels\":{\"a\":\"b\"}},"
	    "\"Image\":\"sha256:77\",\"Name\":\"/frontend\"}");
	check("/system.slice/docker-" ID ".scope", 0,
	      LABELS(.container = "frontend", .image = "nginx:1.27",
		     .unit = "docker-" ID ".scope"));
	/* cri-dockerd */
	put(DOCKER, "{\"Name\":\"/k8s_web_web-0_shop_" UID "_0\",\"Config\":{\"Labels\":{"
		    "\"io.kubernetes.container.name\":\"web\",\"io.kubernetes.pod.name\":\"web-0\","
		    "\"io.kubernetes.pod.namespace\":\"shop\"},\"Image\":\"nginx:1.27\"}}");
	check("/kubepods/besteffort/pod" UID "/" ID, 0,
	      LABELS(.container = "web", .pod = "web-0", .namespace = "shop",
		     .image = "nginx:1.27"));
}

TEST(podman)
{
	if (!has_openat2())
		skip();
	put(PODMAN,
	    "[{\"id\":\"" OTHER "\",\"metadata\":\"{\\\"image-name\\\":\\\"other\\\"}\"},"
	    "{\"id\":\"" ID "\",\"names\":[\"web\"],\"image\":\"97662d\",\"metadata\":"
	    "\"{\\\"image-name\\\":\\\"docker.io/library/"
	    "nginx:1.27\\\",\\\"name\\\":\\\"web\\\"}\","
	    "\"created\":\"2026-01-01T00:00:00Z\"},{\"id\":\"x\",\"metadata\":\"no json\"}]");
	check("/machine.slice/libpod-" ID ".scope/container", 0,
	      LABELS(.container = "web", .image = "docker.io/library/nginx:1.27",
		     .unit = "libpod-" ID ".scope"));
}

/* No file of an engine can be read. */
TEST(mounts_and_logs)
{
	put("1/root/var/log/pods/kube-system_other_00000000-9f8e-4d7c-b6a5-0123456789ab/x", "");
	put("1/root/var/log/pods/shop_web-0_" UID "/web/0.log", "");
	put("77/mountinfo", "1 2 8:1 /var/lib/kubelet/pods/" UID
			    "/containers/web/5a3c /dev/termination-log rw - ext4 /dev/sda1 rw\n");
	check(KUBE, 77,
	      LABELS(.container = "web", .pod = "web-0", .namespace = "shop",
		     .unit = "cri-containerd-" ID ".scope"));
	check(KUBE, 78,
	      LABELS(.container = "3b1f6d0c5a9e", .pod = "web-0", .namespace = "shop",
		     .unit = "cri-containerd-" ID ".scope"));
	/* the pod itself */
	check("/kubepods/burstable/pod" UID, 77, LABELS(.pod = "web-0", .namespace = "shop"));
}

TEST(by_the_path_alone)
{
	check("/system.slice/cron.service", 1, LABELS(.unit = "cron.service"));
	check("/lxc.payload.web/init.scope", 0, LABELS(.container = "web"));
	check("/docker/" ID, 0, LABELS(.container = "3b1f6d0c5a9e"));
	check(KUBE, 0, LABELS(.container = "3b1f6d0c5a9e", .unit = "cri-containerd-" ID ".scope"));
	check("/", 0, LABELS(.unit = ""));
	check("", 0, LABELS(.unit = ""));
}

TEST(hostile_files)
{
	static const char *const files[] = {
		"",
		"{",
		"[",
		"null",
		"7",
		"[[[[",
		"{\"annotations\":7,\"Config\":[],\"Name\":{}}",
		"{\"Name\":\"no slash\"}",
		"{\"annotations\":{\"io.kubernetes.cri.container-name\":[\"a\"]}}",
		"[{\"id\":\"" ID "\",\"metadata\":7}]",
		"[{\"id\":\"" ID "\",\"metadata\":\"[\"}]",
		"[{\"id\":\"" ID "\",\"metadata\":\"{\\\"name\\\":{}}\"}]",
	};
	char longer[CONTAINER_TEXT_ROOM + 64];

	if (!has_openat2())
		skip();
	for (size_t i = 0; i < array_length(files); i++) {
		put(DOCKER, files[i]);
		check("/docker/" ID, 0, LABELS(.container = "3b1f6d0c5a9e"));
	}
	/* what stands before an error */
	put(DOCKER, "{\"Config\":{\"Image\":\"a\\u001b[31m\\nb\"},");
	check("/docker/" ID, 0, LABELS(.container = "3b1f6d0c5a9e", .image = "a?[31m?b"));
	/* what is longer than an image's name can be is none */
	snprintf(longer, sizeof(longer), "{\"Config\":{\"Image\":\"%0*d\"}}", CONTAINER_TEXT_ROOM,
		 0);
	put(DOCKER, longer);
	check("/docker/" ID, 0, LABELS(.container = "3b1f6d0c5a9e"));
	/* links that lead out of the root, and what is no file */
	put("secret", "{\"Name\":\"/stolen\"}");
	assert_int_equal(unlink(scratch_path(&scratch, DOCKER)), 0);
	assert_int_equal(symlink("../../../../../../../secret", scratch_path(&scratch, DOCKER)), 0);
	check("/docker/" ID, 0, LABELS(.container = "3b1f6d0c5a9e"));
	assert_int_equal(unlink(scratch_path(&scratch, DOCKER)), 0);
	assert_int_equal(mkfifo(scratch_path(&scratch, DOCKER), 0600), 0);
	check("/docker/" ID, 0, LABELS(.container = "3b1f6d0c5a9e"));
}

/* An absolute link of the host, as of an administrator who moved /var/lib/docker. */
TEST(links_within_the_root)
{
	if (!has_openat2())
		skip();
	put("1/root/data/docker/containers/" ID "/config.v2.json", "{\"Name\":\"/web\"}");
	put("1/root/var/lib/x", "");
	assert_int_equal(symlink("/data/docker", scratch_path(&scratch, "1/root/var/lib/docker")),
			 0);
	check("/docker/" ID, 0, LABELS(.container = "web"));
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS(CASE(containerd_of_kubernetes), CASE(crio), CASE(docker), CASE(podman),
	   CASE(mounts_and_logs), CASE(by_the_path_alone), CASE(hostile_files),
	   CASE(links_within_the_root))
