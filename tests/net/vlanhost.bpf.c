/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * A VLAN netdev for kernels that have none: two tc programs on the lower device.
 *
 * egress leaves the tag in the packet's metadata, where a VLAN netdev leaves it too, so that a
 * driver that inserts tags (veth says it does) hands it on beside the frame. ingress takes what
 * carries the tag and nothing else. The VLAN id is the filter's classid, which tc shows to the
 * program.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

SEC("egress")
int push_tag(struct __sk_buff *skb)
{
	__u16 vid = skb->tc_classid & 0xfff;

	/* a socket that sends tagged frames itself is left alone */
	if (skb->vlan_present || skb->protocol == bpf_htons(ETH_P_8021Q))
		return TC_ACT_OK;
	return bpf_skb_vlan_push(skb, bpf_htons(ETH_P_8021Q), vid) ? TC_ACT_SHOT : TC_ACT_OK;
}

SEC("ingress")
int pop_tag(struct __sk_buff *skb)
{
	__u16 vid = skb->tc_classid & 0xfff;

	if (!skb->vlan_present || (skb->vlan_tci & 0xfff) != vid)
		return TC_ACT_SHOT;
	return bpf_skb_vlan_pop(skb) ? TC_ACT_SHOT : TC_ACT_OK;
}

char _license[] SEC("license") = "Dual BSD/GPL";
