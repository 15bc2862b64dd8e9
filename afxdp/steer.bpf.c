/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The XDP program of every port. It gives one of two answers:
 *   pass    the frame is the kernel's: XDP_PASS
 *   worker  it is ours: to the AF_XDP socket of this queue, with what the driver knows of it in
 * front A frame that is ours and finds no socket is dropped and counted: it must not leak into the
 * host.
 *
 * Two programs in one object, of which the loader takes one: culvert_bound is bound to its device
 * and may call the driver's metadata kfuncs; culvert_plain runs everywhere, without them.
 */
#include <stdbool.h>

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "afxdp/meta.h"
#include "afxdp/steer_limits.h"

/* What we use of the kernel's enum, in which the names and values below are ABI (since 6.3). */
enum xdp_rss_hash_type {
	RSS_L3_IPV4 = 1 << 0,
	RSS_L3_IPV6 = 1 << 1,
	RSS_L4 = 1 << 3,
};

extern int bpf_xdp_metadata_rx_hash(const struct xdp_md *ctx, __u32 *hash,
				    enum xdp_rss_hash_type *type) __ksym __weak;
extern int bpf_xdp_metadata_rx_vlan_tag(const struct xdp_md *ctx, __be16 *tpid,
					__u16 *tci) __ksym __weak;
extern int bpf_xdp_metadata_rx_timestamp(const struct xdp_md *ctx, __u64 *ns) __ksym __weak;

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, 1); /* one a queue; the loader knows how many */
	__type(key, __u32);
	__type(value, __u32);
} xsks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, STEER_VNI_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u8);
} vnis SEC(".maps");

/* Fixed at load: the verifier removes what is off. */
const volatile __u32 cookie;
const volatile bool want_hash;
const volatile bool want_vlan; /* the kernel has the kfunc */
const volatile bool want_time; /* the kernel has the kfunc, and the driver may have an answer */
const volatile bool underlay;
const volatile bool rest_kernel;
const volatile bool unknown_vni_kernel;
const volatile __be16 vxlan_port;
const volatile __u32 n_local4;
const volatile __u32 n_local6;
const volatile __be32 local4[STEER_LOCAL_MAX];
const volatile __be32 local6[STEER_LOCAL_MAX][4];

/* Changed at run time, through the mapping of .bss. */
__u64 vlans[64];
bool time_on; /* somebody captures */
__u64 no_socket;

struct tag {
	bool stripped;
	__u16 tci;
	__be16 tpid;
};

struct vlan_header {
	__be16 tci;
	__be16 next;
};

struct vxlan_header {
	__u8 flags;
	__u8 reserved[3];
	__be32 vni; /* << 8 */
};

/* 01:80:c2:00:00:00 to :0f, IEEE 802.1Q table 8-1: LLDP, LACP, spanning tree. No bridge forwards
 * them. */
static __always_inline bool is_reserved(const struct ethhdr *eth)
{
	const __be16 *mac = (const void *)eth->h_dest;

	return mac[0] == bpf_htons(0x0180) && mac[1] == bpf_htons(0xc200) &&
	       (mac[2] & bpf_htons(0xfff0)) == 0;
}

static __always_inline bool is_local4(__be32 address)
{
	for (__u32 i = 0; i < n_local4 && i < STEER_LOCAL_MAX; i++)
		if (local4[i] == address)
			return true;
	return false;
}

static __always_inline bool is_local6(const struct in6_addr *address)
{
	const __be32 *a = address->in6_u.u6_addr32;

	for (__u32 i = 0; i < n_local6 && i < STEER_LOCAL_MAX; i++)
		if (local6[i][0] == a[0] && local6[i][1] == a[1] && local6[i][2] == a[2] &&
		    local6[i][3] == a[3])
			return true;
	return false;
}

/* A header that is cut short goes to the worker, which has a name for it. */
static __always_inline bool is_our_vni(const struct vxlan_header *vxlan, const void *end)
{
	__u32 vni;

	if (!unknown_vni_kernel || (const void *)(vxlan + 1) > end)
		return true;
	vni = bpf_ntohl(vxlan->vni) >> 8;
	return bpf_map_lookup_elem(&vnis, &vni) != NULL;
}

static __always_inline bool is_our_udp(const struct udphdr *udp, const void *end)
{
	return (const void *)(udp + 1) <= end && udp->dest == vxlan_port &&
	       is_our_vni((const void *)(udp + 1), end);
}

/* Fragments are the kernel's: only the first has a port, and the kernel puts them together. */
static __always_inline bool is_our_ipv4(const struct iphdr *ip, const void *end)
{
	__u32 bytes;

	if ((const void *)(ip + 1) > end || ip->protocol != IPPROTO_UDP ||
	    ip->frag_off & bpf_htons(0x3fff) || !is_local4(ip->daddr))
		return false;
	bytes = ip->ihl * 4;
	return bytes >= sizeof(*ip) && is_our_udp((const void *)ip + bytes, end);
}

static __always_inline bool is_our_ipv6(const struct ipv6hdr *ip, const void *end)
{
	return (const void *)(ip + 1) <= end && ip->nexthdr == IPPROTO_UDP &&
	       is_local6(&ip->daddr) && is_our_udp((const void *)(ip + 1), end);
}

/* On an underlay device: VXLAN to one of our addresses, and not on a VLAN of somebody else's. */
static __always_inline bool is_our_vxlan(const struct ethhdr *eth, const void *end,
					 const struct tag *tag)
{
	if (tag->stripped && tag->tci & 0x0fff)
		return false;
	if (eth->h_proto == bpf_htons(ETH_P_IP))
		return is_our_ipv4((const void *)(eth + 1), end);
	return eth->h_proto == bpf_htons(ETH_P_IPV6) && is_our_ipv6((const void *)(eth + 1), end);
}

/* The VLAN that the port's map would look up: 802.1Q only, 0 without a tag. */
static __always_inline __u32 vid_of(const struct ethhdr *eth, const void *end,
				    const struct tag *tag)
{
	const struct vlan_header *vlan = (const void *)(eth + 1);

	if (tag->stripped)
		return tag->tpid == bpf_htons(ETH_P_8021Q) ? tag->tci & 0x0fff : 0;
	if (eth->h_proto == bpf_htons(ETH_P_8021Q) && (const void *)(vlan + 1) <= end)
		return bpf_ntohs(vlan->tci) & 0x0fff;
	return 0;
}

static __always_inline bool is_ours(const struct ethhdr *eth, const void *end,
				    const struct tag *tag)
{
	__u32 vid, word;

	if (underlay)
		return is_our_vxlan(eth, end, tag);
	if (!rest_kernel)
		return true;
	vid = vid_of(eth, end, tag);
	word = vid / 64;
	/* The compiler knows that word is below 64, the verifier (6.1) forgets it over a byte swap.
	 */
	barrier_var(word);
	return vlans[word & 63] >> (vid % 64) & 1;
}

static __always_inline __u16 hash_flags(enum xdp_rss_hash_type type)
{
	__u16 flags = META_HASH;

	if (type & (RSS_L3_IPV4 | RSS_L3_IPV6))
		flags |= META_HASH_L3;
	if (type & RSS_L4)
		flags |= META_HASH_L4;
	return flags;
}

/* Without room in front of the frame the worker does without. */
static __always_inline void write_meta(struct xdp_md *ctx, const struct rx_meta *from)
{
	struct rx_meta *meta;

	if (bpf_xdp_adjust_meta(ctx, -(int)sizeof(*meta)))
		return;
	meta = (void *)(long)ctx->data_meta;
	if ((void *)(meta + 1) <= (void *)(long)ctx->data)
		*meta = *from;
}

static __always_inline void write_meta_timed(struct xdp_md *ctx, const struct rx_meta_timed *from)
{
	struct rx_meta_timed *meta;

	if (bpf_xdp_adjust_meta(ctx, -(int)sizeof(*meta)))
		return;
	meta = (void *)(long)ctx->data_meta;
	if ((void *)(meta + 1) <= (void *)(long)ctx->data)
		*meta = *from;
}

static __always_inline int to_worker(struct xdp_md *ctx)
{
	int action = (int)bpf_redirect_map(&xsks, ctx->rx_queue_index, XDP_DROP);

	if (action != XDP_REDIRECT)
		__sync_fetch_and_add(&no_socket, 1);
	return action;
}

static __always_inline void read_tag(struct xdp_md *ctx, struct tag *tag)
{
	__be16 tpid = 0;
	__u16 tci = 0;

	if (bpf_xdp_metadata_rx_vlan_tag(ctx, &tpid, &tci))
		return;
	*tag = (struct tag){.stripped = true, .tci = tci, .tpid = tpid};
}

static __always_inline void read_hash(struct xdp_md *ctx, struct rx_meta *meta)
{
	enum xdp_rss_hash_type type = 0;
	__u32 hash = 0;

	/* A driver that did not hash this frame may say so by answering 0 of no type. */
	if (bpf_xdp_metadata_rx_hash(ctx, &hash, &type) || (!hash && !type))
		return;
	meta->hash = hash;
	meta->flags |= hash_flags(type);
}

/* 0: it does not know. (veth says so when it has an skb that no NIC has stamped.) */
static __always_inline __u64 read_time(struct xdp_md *ctx)
{
	__u64 ns = 0;

	return bpf_xdp_metadata_rx_timestamp(ctx, &ns) ? 0 : ns;
}

SEC("xdp")
int culvert_bound(struct xdp_md *ctx)
{
	const void *end = (const void *)(long)ctx->data_end;
	const struct ethhdr *eth = (const void *)(long)ctx->data;
	struct rx_meta meta = {.cookie = cookie};
	struct tag tag = {};
	__u64 time_ns = 0;

	if ((const void *)(eth + 1) > end)
		return XDP_DROP;
	if (is_reserved(eth))
		return XDP_PASS;
	if (want_vlan)
		read_tag(ctx, &tag);
	if (!is_ours(eth, end, &tag))
		return XDP_PASS;
	if (want_hash)
		read_hash(ctx, &meta);
	if (tag.stripped) {
		meta.flags |= META_VLAN;
		meta.tci = tag.tci;
		meta.tpid = bpf_ntohs(tag.tpid);
	}
	if (want_time && time_on)
		time_ns = read_time(ctx);
	if (time_ns) {
		struct rx_meta_timed timed = {.time_ns = time_ns, .meta = meta};

		timed.meta.flags |= META_TIME;
		write_meta_timed(ctx, &timed);
	} else if (meta.flags) {
		write_meta(ctx, &meta);
	}
	return to_worker(ctx);
}

SEC("xdp")
int culvert_plain(struct xdp_md *ctx)
{
	const void *end = (const void *)(long)ctx->data_end;
	const struct ethhdr *eth = (const void *)(long)ctx->data;
	struct tag none = {};

	if ((const void *)(eth + 1) > end)
		return XDP_DROP;
	if (is_reserved(eth) || !is_ours(eth, end, &none))
		return XDP_PASS;
	return to_worker(ctx);
}

char _license[] SEC("license") = "Dual BSD/GPL";
