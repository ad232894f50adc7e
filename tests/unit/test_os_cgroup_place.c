/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/cgroup_place.h"

#include "unit/unit.h"

typedef bool finder(struct text, struct text *);

#define check(find, path, expected) check_(find, path, expected, __FILE__, __LINE__)

/* NULL: there is none, and the result is as it was. */
static void check_(finder *find, const char *path, const char *expected, const char *file, int line)
{
	struct text in = guarded(path, strlen(path)), found = TEXT("untouched");
	bool any = find(in, &found);

	if (any != (expected != NULL)) {
		print_error("'%s' has %s\n", path, any ? "one" : "none");
		_fail(file, line);
	}
	expect_text_(found, expected ? expected : "untouched", file, line);
	if (any)
		assert_true(found.bytes >= in.bytes &&
			    found.bytes + found.length <= in.bytes + in.length);
	unguard(in);
}

/* --- units --- */

/* The first are those of systemd's own tests of cg_path_get_unit (src/test/test-cgroup-util.c). */
TEST(units)
{
	static const char *const paths[][2] = {
		{ "/system.slice/foobar.service/sdfdsaf", "foobar.service" },
		{ "/system.slice/getty@tty5.service", "getty@tty5.service" },
		{ "/system.slice/getty@tty5.service/aaa/bbb", "getty@tty5.service" },
		{ "/system.slice/getty@tty5.service/", "getty@tty5.service" },
		{ "/system.slice/getty@tty6.service/tty5", "getty@tty6.service" },
		{ "sadfdsafsda", NULL },
		{ "/system.slice/getty####@tty6.service/xxx", NULL },
		{ "/system.slice/system-waldo.slice/foobar.service/sdfdsaf", "foobar.service" },
		{ "/system.slice/system-waldo.slice/_cpu.service/sdfdsaf", "cpu.service" },
		{ "/user.slice/user-1000.slice/user@1000.service/server.service",
		  "user@1000.service" },
		{ "/user.slice/user-1000.slice/user@.service/server.service", NULL },

		{ "/init.scope", "init.scope" },
		{ "/user.slice/user-1000.slice/session-2.scope", "session-2.scope" },
		{ "/user.slice/user-0.slice/user@0.service/init.scope", "user@0.service" },
		{ "/system.slice/dbus.socket", "dbus.socket" },
		{ "/system.slice/dev-hugepages.mount", "dev-hugepages.mount" },
		{ "/system.slice/dev-disk-by\\x2dlabel-swap.swap",
		  "dev-disk-by\\x2dlabel-swap.swap" },
		{ "/system.slice/a.timer", "a.timer" },
		{ "/system.slice/a.path", "a.path" },
		{ "/system.slice/a.target", "a.target" },
		{ "/system.slice/a.automount", "a.automount" },
		{ "/system.slice/a.device", "a.device" },
		{ "/system.slice/a.snapshot", NULL },
		{ "/system.slice/a.b.service", "a.b.service" },
		{ "/system.slice/a:b-c_d.service", "a:b-c_d.service" },
		{ "/system.slice/gone.service (deleted)", "gone.service" },
		{ "/kubepods.slice/kubepods-burstable.slice/x.scope/y", "x.scope" },
		{ "//system.slice//a.service", "a.service" },
	};

	for (size_t i = 0; i < array_length(paths); i++)
		check(place_unit, paths[i][0], paths[i][1]);
}

TEST(slices_only)
{
	check(place_unit, "/system.slice", "system.slice");
	check(place_unit, "/user.slice/user-1000.slice", "user-1000.slice");
	check(place_unit, "/user.slice/user-1000.slice/", "user-1000.slice");
	check(place_unit, "/a.slice/_b.slice", "b.slice");
	check(place_unit, "/-.slice", "-.slice");
	check(place_unit, "/a.slice (deleted)", "a.slice");
	/* What lies in a slice and is no unit is not the slice's own. */
	check(place_unit, "/a.slice/b", NULL);
	/* A slice has no instances. */
	check(place_unit, "/a.slice/b@c.slice", NULL);
	check(place_unit, "/b@c.slice/a.service", NULL);
}

TEST(no_unit)
{
	static const char *const paths[] = {
		"",
		"/",
		"/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		"/kubepods/burstable/pod0/x.service",
		"/../../init.scope",
		"/service",
		"/.service",
		"/_.service",
		"/_",
		"/a.service.d",
		"/a.Service",
		"/@a.service",
		"/a b.service",
		"/a@b c.service",
		"/a\xff.service",
		"/.slice/a.service",
		"/ (deleted)",
		" (deleted)",
	};

	for (size_t i = 0; i < array_length(paths); i++)
		check(place_unit, paths[i], NULL);
}

/* One byte longer than a unit's name may be. */
TEST(a_name_too_long)
{
	char path[1 + 256 + 1] = "/", *name = path + 1;
	struct text found;

	memset(name, 'a', 256);
	memcpy(name + 256 - strlen(".service"), ".service", strlen(".service"));
	assert_false(place_unit((struct text){ path, 257 }, &found));
	memcpy(name + 255 - strlen(".service"), ".service", strlen(".service"));
	assert_true(place_unit((struct text){ path, 256 }, &found));
	assert_int_equal(found.length, 255);
}

/* --- containers --- */

#define ID    "3b1f6d0c5a9e47d28f0b6c1e2d3a4f5968778695a4b3c2d1e0f9081726354453"
#define OTHER "00000000000000000000000000000000aaaaaaaaaaaaaaaaffffffffffffffff"
#define UID   "b3d2c1a0-9f8e-4d7c-b6a5-0123456789ab"
#define UID_  "b3d2c1a0_9f8e_4d7c_b6a5_0123456789ab"

TEST(containers)
{
	static const char *const paths[] = {
		/* Docker with systemd, and without */
		"/system.slice/docker-" ID ".scope",
		"/docker/" ID,
		"/system.slice/docker-" ID ".scope/init.scope",
		"/docker/" ID "/user.slice/x.service",
		"/my-parent/" ID,
		"/ecs/0f1e2d3c4b5a69788796a5b4c3d2e1f0/" ID,
		/* rootless */
		"/user.slice/user-1000.slice/user@1000.service/app.slice/docker-" ID ".scope",
		"/user.slice/user-1000.slice/user@1000.service/user.slice/nerdctl-" ID ".scope",
		/* containerd and nerdctl */
		"/default/" ID,
		"/system.slice/nerdctl-" ID ".scope",
		/* Podman with systemd, and without */
		"/machine.slice/libpod-" ID ".scope",
		"/machine.slice/libpod-" ID ".scope/container",
		"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID
		".scope/container",
		"/libpod_parent/libpod-" ID,
		"/libpod_parent/libpod-" ID "/init",
		"/system.slice/web.service/libpod-payload-" ID,
		/* Kubernetes with systemd: containerd, CRI-O, Docker */
		"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
		".slice/cri-containerd-" ID ".scope",
		"/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID ".scope",
		"/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID ".scope/container",
		"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_
		".slice/docker-" ID ".scope",
		"/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_
		".slice/cri-containerd-" ID ".scope",
		/* and without */
		"/kubepods/burstable/pod" UID "/" ID,
		"/kubepods/pod" UID "/" ID,
		"/kubepods/besteffort/pod" UID "/crio-" ID,
		/* the path for systemd, given to a runc that does not use it */
		"/system.slice/containerd.service/kubepods-burstable-pod" UID_
		".slice:cri-containerd:" ID,
		"/kubepods-pod" UID_ ".slice:cri-containerd:" ID,
		"/system.slice:docker:" ID,
		/* seen from a cgroup namespace, and gone */
		"/../" ID,
		"/../docker-" ID ".scope",
		"/docker/" ID " (deleted)",
		"/system.slice/docker-" ID ".scope (deleted)",
		/* version 1, where some hosts nest the whole below a mount */
		"/kubepods.slice/docker/" ID,
		"docker/" ID,
	};

	for (size_t i = 0; i < array_length(paths); i++)
		check(place_container, paths[i], ID);
}

TEST(the_innermost_container)
{
	check(place_container, "/docker/" OTHER "/docker/" ID, ID);
	/* kind: Kubernetes in Docker */
	check(place_container, "/docker/" OTHER "/kubelet/kubepods/burstable/pod" UID "/" ID, ID);
	check(place_container,
	      "/system.slice/docker-" OTHER
	      ".scope/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_
	      ".slice/cri-containerd-" ID ".scope",
	      ID);
	/* Podman in Docker: what watches the inner container is in the outer one. */
	check(place_container, "/docker/" ID "/libpod_parent/libpod-conmon-" OTHER ".scope", ID);
	check(place_container,
	      "/machine.slice/libpod-" ID ".scope/libpod-payload-" ID "/supervisor", ID);
}

TEST(no_container)
{
	static const char *const paths[] = {
		"",
		"/",
		"/docker",
		"/docker/",
		"/system.slice/docker.service",
		"/system.slice/containerd.service",
		"/init.scope",
		/* conmon */
		"/kubepods.slice/kubepods-pod" UID_ ".slice/crio-conmon-" ID ".scope",
		"/machine.slice/libpod-conmon-" ID ".scope",
		"/kubepods/pod" UID "/crio-conmon-" ID,
		"/libpod_parent/conmon",
		/* pods are no containers */
		"/kubepods/burstable/pod" UID,
		"/kubepods.slice/kubepods-pod" UID_ ".slice",
		/* no id: the length, the digits, the case */
		"/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde",
		"/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0",
		"/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdeg",
		"/docker/0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF",
		"/docker/0123456789abcdef0123456789abcdef",
		"/system.slice/docker-0123456789ab.scope",
		/* around an id */
		"/system.slice/" ID ".scope",
		"/system.slice/docker-" ID ".service",
		"/system.slice/docker-" ID ".mount",
		"/system.slice/docker-" ID ".scope.scope",
		"/system.slice/xdocker-" ID ".scope",
		"/system.slice/my-docker-" ID ".scope",
		"/system.slice/-" ID ".scope",
		"/system.slice/docker" ID ".scope",
		"/system.slice/docker-" ID "-x.scope",
		"/system.slice/run-" ID ".scope",
		"/x:" ID,
		"/docker:" ID,
		"/a.slice:other:" ID,
		"/a.slice:docker:" ID ".scope",
		"/a.slice:docker:" ID ":",
		"/:" ID ":",
		"/-:-",
		"/docker-",
		"/.scope",
	};

	for (size_t i = 0; i < array_length(paths); i++)
		check(place_container, paths[i], NULL);
}

/* --- machines --- */

TEST(containers_as_shown)
{
	static const char *const paths[][2] = {
		{ "/docker/" ID, "3b1f6d0c5a9e" },
		{ "/docker/" OTHER "/kubelet/kubepods/pod" UID "/" ID, "3b1f6d0c5a9e" },
		{ "/lxc/web", "web" },
		{ "/lxc/101/ns/system.slice/cron.service", "101" },
		{ "/lxc.payload/web/init.scope", "web" },
		{ "/lxc.payload.web/system.slice/cron.service", "web" },
		{ "/lxc.payload.web (deleted)", "web" },
		{ "/machine.slice/systemd-nspawn@tree.service/payload/init.scope", "tree" },
		{ "/machine.slice/systemd-nspawn@a\\x2db.service", "a\\x2db" },
		{ "/machine.slice/machine-tree.scope/payload", "tree" },
		{ "/machine.slice/machine-qemu\\x2d1\\x2dvm.scope/libvirt/vcpu0",
		  "qemu\\x2d1\\x2dvm" },
		/* Docker in LXC, and LXC in Docker */
		{ "/lxc.payload.web/docker/" ID, "3b1f6d0c5a9e" },
		{ "/docker/" ID "/lxc.payload.web", "web" },
		{ "/lxc", NULL },
		{ "/lxc.payload.", NULL },
		{ "/lxc.monitor.web", NULL },
		{ "/lxc.monitor/web", NULL },
		{ "/machine.slice", NULL },
		{ "/machine.slice/machine-.scope", NULL },
		{ "/machine.slice/systemd-nspawn@.service", NULL },
		{ "/system.slice/machine-tree.scope", NULL },
		{ "/system.slice/systemd-machined.service", NULL },
		{ "/user.slice/user-1000.slice/session-2.scope", NULL },
		{ "/init.scope", NULL },
		{ "/", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < array_length(paths); i++)
		check(place_container_shown, paths[i][0], paths[i][1]);
}

/* --- pods --- */

#define HASH "8f0b6c1e2d3a4f5968778695a4b3c2d1"
#define SYSTEMD(class, uid) \
	"/kubepods.slice/kubepods-" class ".slice/kubepods-" class "-pod" uid ".slice"

TEST(pods)
{
	static const char *const paths[][2] = {
		/* cgroupfs: each class */
		{ "/kubepods/pod" UID, UID },
		{ "/kubepods/pod" UID "/" ID, UID },
		{ "/kubepods/burstable/pod" UID "/" ID, UID },
		{ "/kubepods/besteffort/pod" UID "/crio-" ID, UID },
		{ "/kubepods/burstable/pod" HASH "/" ID, HASH },
		/* systemd */
		{ "/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID ".scope/container", UID },
		{ SYSTEMD("burstable", UID_) "/cri-containerd-" ID ".scope", UID },
		{ SYSTEMD("besteffort", UID_) "/docker-" ID ".scope/init.scope", UID },
		{ SYSTEMD("burstable", HASH) "/cri-containerd-" ID ".scope", HASH },
		{ SYSTEMD("burstable", UID_) " (deleted)", UID },
		{ "/system.slice/containerd.service/kubepods-burstable-pod" UID_
		  ".slice:cri-containerd:" ID,
		  UID },
		{ "/kubepods-pod" UID_ ".slice:cri-containerd:" ID, UID },
		/* kind and minikube */
		{ "/docker/" OTHER "/kubelet/kubepods/burstable/pod" UID "/" ID, UID },
		{ "/docker/" OTHER "/kubepods/pod" HASH "/" ID, HASH },
		{ "/system.slice/docker-" OTHER
		  ".scope/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_
		  ".slice/cri-containerd-" ID ".scope",
		  UID },
		/* a pod that runs Kubernetes: the inner one */
		{ "/kubepods/pod" HASH "/" OTHER "/kubepods/pod" UID "/" ID, UID },

		{ "", NULL },
		{ "/", NULL },
		{ "/kubepods", NULL },
		{ "/kubepods.slice/kubepods-burstable.slice", NULL },
		{ "/kubepods/burstable/pod", NULL },
		{ "/kubepods/pod" UID "0", NULL },
		{ "/kubepods/pod" HASH "0", NULL },
		{ "/kubepods/podb3d2c1a0-9f8e-4d7c-b6a5-0123456789aG", NULL },
		{ "/kubepods/podb3d2c1a0-9f8e-4d7c-b6a5+0123456789ab", NULL },
		{ "/pod" UID, NULL },
		{ "/system.slice/pod" UID, NULL },
		{ "/kubepods.slice/kubepods-pod" UID_ ".scope", NULL },
		{ "/x.slice/x-pod" UID_ ".slice", NULL },
		{ "/kubepods-pod" UID_, NULL },
		{ "/kubepods-.slice", NULL },
		{ "/-.slice", NULL },
	};
	char uid[POD_UID_ROOM];

	for (size_t i = 0; i < array_length(paths); i++) {
		struct text in = guarded(paths[i][0], strlen(paths[i][0]));

		assert_int_equal(place_pod(in, uid), paths[i][1] != NULL);
		assert_string_equal(uid, paths[i][1] ? paths[i][1] : "");
		unguard(in);
	}
}

TEST(nothing_at_all)
{
	char uid[POD_UID_ROOM];
	struct text found = TEXT("untouched");

	assert_false(place_unit((struct text){ NULL, 0 }, &found));
	assert_false(place_container((struct text){ NULL, 0 }, &found));
	assert_false(place_container_shown((struct text){ NULL, 0 }, &found));
	assert_false(place_pod((struct text){ NULL, 0 }, uid));
	expect_text(found, "untouched");
}

UNIT_TESTS(cmocka_unit_test(units), cmocka_unit_test(slices_only), cmocka_unit_test(no_unit),
	   cmocka_unit_test(a_name_too_long), cmocka_unit_test(containers),
	   cmocka_unit_test(the_innermost_container), cmocka_unit_test(no_container),
	   cmocka_unit_test(containers_as_shown), cmocka_unit_test(pods),
	   cmocka_unit_test(nothing_at_all))
