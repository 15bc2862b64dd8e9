/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/steer.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "afxdp/steer_limits.h"
#include "lib/bits.h"
#include "lib/log.h"
#include "steer.skel.h"

#ifndef BPF_F_XDP_DEV_BOUND_ONLY
#define BPF_F_XDP_DEV_BOUND_ONLY (1U << 6) /* 6.3 */
#endif

struct steer {
	struct steer_bpf *bpf;
	struct bpf_program *program;
	int ifindex;
	int link_fd;
};

static int print_as_debug(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char line[512];
	int n;

	if (level == LIBBPF_DEBUG || log_get_level() < LOG_LVL_DEBUG)
		return 0;
	n = vsnprintf(line, sizeof(line), fmt, ap);
	if (n > 0 && n < (int)sizeof(line) && line[n - 1] == '\n')
		line[n - 1] = 0;
	log_debug("%s", line);
	return n;
}

/* Reading the kernel's BTF takes milliseconds: once. */
static struct {
	bool asked;
	bool hash;
	bool vlan;
	bool time;
} kernel_kfuncs;

static bool has_kfunc(const struct btf *btf, const char *name)
{
	return btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) > 0;
}

static void ask_kernel_kfuncs(void)
{
	struct btf *btf;

	if (kernel_kfuncs.asked)
		return;
	kernel_kfuncs.asked = true;
	btf = btf__load_vmlinux_btf();
	if (libbpf_get_error(btf))
		return;
	kernel_kfuncs.hash = has_kfunc(btf, "bpf_xdp_metadata_rx_hash");
	kernel_kfuncs.vlan = has_kfunc(btf, "bpf_xdp_metadata_rx_vlan_tag");
	kernel_kfuncs.time = has_kfunc(btf, "bpf_xdp_metadata_rx_timestamp");
	btf__free(btf);
}

bool steer_kernel_has_hash(void)
{
	ask_kernel_kfuncs();
	return kernel_kfuncs.hash;
}

bool steer_kernel_has_vlan(void)
{
	ask_kernel_kfuncs();
	return kernel_kfuncs.vlan;
}

static bool kernel_has_time(void)
{
	ask_kernel_kfuncs();
	return kernel_kfuncs.time;
}

static int set_local(struct steer_bpf__rodata *fixed, const struct steer_options *o)
{
	for (uint32_t i = 0; i < o->n_local; i++) {
		const struct ip *ip = &o->local[i];

		if ((ip_is_v4(ip) ? fixed->n_local4 : fixed->n_local6) == STEER_LOCAL_MAX)
			return -E2BIG;
		if (ip_is_v4(ip))
			memcpy(&fixed->local4[fixed->n_local4++], ip_v4_bytes(ip), 4);
		else
			memcpy(&fixed->local6[fixed->n_local6++], ip->byte, 16);
	}
	return 0;
}

static int configure(struct steer *steer, const struct steer_options *o)
{
	struct steer_bpf__rodata *fixed = steer->bpf->rodata;

	fixed->cookie = o->cookie;
	fixed->want_hash = o->want_hash && steer_kernel_has_hash();
	fixed->want_vlan = steer_kernel_has_vlan();
	fixed->want_time = o->want_time && kernel_has_time();
	fixed->underlay = o->underlay;
	fixed->rest_kernel = o->rest_kernel;
	fixed->unknown_vni_kernel = o->unknown_vni_kernel;
	fixed->vxlan_port = htobe16(o->vxlan_port);
	if (o->vlans)
		memcpy(steer->bpf->bss->vlans, o->vlans, sizeof(steer->bpf->bss->vlans));
	bpf_program__set_autoload(steer->bpf->progs.culvert_bound, o->bound);
	bpf_program__set_autoload(steer->bpf->progs.culvert_plain, !o->bound);
	if (o->bound) {
		bpf_program__set_ifindex(steer->program, (uint32_t)o->ifindex);
		bpf_program__set_flags(steer->program, BPF_F_XDP_DEV_BOUND_ONLY);
	}
	bpf_map__set_max_entries(steer->bpf->maps.xsks, o->n_queues);
	return set_local(fixed, o);
}

static int explain_load(const struct steer_options *o, int error, const struct why *why)
{
	if (o->bound)
		return because(why, error, "%s: the driver takes no device-bound XDP program: %s",
			       o->device, strerror(-error));
	if (error == -EPERM)
		return because(why, error,
			       "%s: loading the XDP program is not allowed: run as root, or give "
			       "culvertd CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN and CAP_NET_RAW",
			       o->device);
	if (error == -E2BIG)
		return because(why, error, "%s: more than %d VTEP addresses of one family",
			       o->device, STEER_LOCAL_MAX);
	if (error == -EACCES)
		return because(
		    why, error,
		    "%s: this kernel's verifier refuses the XDP program. Without CAP_PERFMON it "
		    "does; if culvertd has that, please report what log: {level: debug} says",
		    o->device);
	return because(why, error,
		       "%s: loading the XDP program failed: %s; needs Linux 6.1 or later "
		       "with CONFIG_XDP_SOCKETS and CONFIG_DEBUG_INFO_BTF",
		       o->device, strerror(-error));
}

int steer_load(const struct steer_options *options, struct steer **steer_out, const struct why *why)
{
	struct steer *steer;
	int r;

	if (options->bound && !steer_kernel_has_hash())
		return because(why, -EOPNOTSUPP,
			       "this kernel has no XDP metadata kfuncs (since 6.3)");
	libbpf_set_print(print_as_debug);
	steer = calloc(1, sizeof(*steer));
	if (!steer)
		return because(why, -ENOMEM, "%s: out of memory", options->device);
	steer->link_fd = -1;
	steer->ifindex = options->ifindex;
	steer->bpf = steer_bpf__open();
	if (!steer->bpf) {
		r = -errno;
		goto err;
	}
	steer->program =
	    options->bound ? steer->bpf->progs.culvert_bound : steer->bpf->progs.culvert_plain;
	r = configure(steer, options);
	if (!r)
		r = steer_bpf__load(steer->bpf);
	if (!r && options->unknown_vni_kernel)
		r = steer_set_vnis(steer, options->vnis, options->n_vnis);
	if (r)
		goto err;
	*steer_out = steer;
	return 0;

err:
	steer_close(steer);
	return explain_load(options, r, why);
}

int steer_attach(struct steer *steer, bool skb)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts,
		    .flags = skb ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE);
	int fd = bpf_link_create(steer_program_fd(steer), steer->ifindex, BPF_XDP, &opts);

	if (fd < 0)
		return fd;
	steer->link_fd = fd;
	return 0;
}

bool steer_attached(const struct steer *steer)
{
	struct bpf_link_info info = {0};
	uint32_t bytes = sizeof(info);

	/* A link that lost its device has none. */
	return bpf_obj_get_info_by_fd(steer->link_fd, &info, &bytes) || info.xdp.ifindex;
}

void steer_close(struct steer *steer)
{
	if (!steer)
		return;
	if (steer->link_fd >= 0)
		close(steer->link_fd);
	steer_bpf__destroy(steer->bpf);
	free(steer);
}

int steer_set_socket(struct steer *steer, uint32_t queue, int fd)
{
	return bpf_map_update_elem(bpf_map__fd(steer->bpf->maps.xsks), &queue, &fd, BPF_ANY);
}

void steer_set_vlans(struct steer *steer, const uint64_t vlans[64])
{
	for (uint32_t i = 0; i < 64; i++)
		store_relaxed(&steer->bpf->bss->vlans[i], vlans[i]);
}

void steer_set_time(struct steer *steer, bool on)
{
	store_relaxed(&steer->bpf->bss->time_on, on);
}

static int compare_vnis(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Deletes what is in the map and not in the sorted @vnis. */
static int remove_other_vnis(int map, const uint32_t *vnis, uint32_t n)
{
	uint32_t key, next;
	bool more = bpf_map_get_next_key(map, NULL, &next) == 0;
	int r = 0;

	while (more && !r) {
		key = next;
		more = bpf_map_get_next_key(map, &key, &next) == 0;
		if (!bsearch(&key, vnis, n, sizeof(key), compare_vnis))
			r = bpf_map_delete_elem(map, &key);
	}
	return r;
}

int steer_set_vnis(struct steer *steer, const uint32_t *vnis, uint32_t n_vnis)
{
	int map = bpf_map__fd(steer->bpf->maps.vnis);
	uint8_t present = 1;
	uint32_t *sorted;
	int r = 0;

	if (n_vnis > STEER_VNI_MAX)
		return -E2BIG;
	sorted = malloc(n_vnis * sizeof(*sorted) + 1);
	if (!sorted)
		return -ENOMEM;
	if (n_vnis)
		memcpy(sorted, vnis, n_vnis * sizeof(*sorted));
	qsort(sorted, n_vnis, sizeof(*sorted), compare_vnis);
	/* First the old ones out: the map has room for as many as there can be, not for more. */
	r = remove_other_vnis(map, sorted, n_vnis);
	for (uint32_t i = 0; i < n_vnis && !r; i++)
		r = bpf_map_update_elem(map, &sorted[i], &present, BPF_ANY);
	free(sorted);
	return r;
}

uint64_t steer_no_socket(const struct steer *steer)
{
	return load_relaxed(&steer->bpf->bss->no_socket);
}

int steer_program_fd(const struct steer *steer)
{
	return bpf_program__fd(steer->program);
}
