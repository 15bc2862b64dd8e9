/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctrl/hops.h"

#include <stdlib.h>
#include <string.h>

#include "lib/bits.h"

/* HOP_NONE when it is not there. */
static uint32_t hops_find(const struct hops *hops, int ifindex, const struct ip *address)
{
	for (uint32_t i = 0; i < hops->n; i++)
		if (hops->hop[i].ifindex == ifindex && ip_equal(&hops->hop[i].address, address))
			return i;
	return HOP_NONE;
}

static uint32_t free_slot(struct hops *hops)
{
	uint32_t n = hops->n ? hops->n * 2 : 16;
	struct hop *hop;

	for (uint32_t i = 0; i < hops->n; i++)
		if (!hops->hop[i].ifindex)
			return i;
	hop = realloc(hops->hop, n * sizeof(*hop));
	if (!hop)
		return HOP_NONE;
	memset(hop + hops->n, 0, (n - hops->n) * sizeof(*hop));
	hops->hop = hop;
	n = hops->n;
	hops->n = max_of(n * 2, 16u);
	return n;
}

uint32_t hops_get(struct hops *hops, int ifindex, const struct ip *address)
{
	uint32_t i = hops_find(hops, ifindex, address);

	if (i == HOP_NONE) {
		i = free_slot(hops);
		if (i == HOP_NONE)
			return HOP_NONE;
		hops->hop[i] = (struct hop){
			.ifindex = ifindex,
			.address = *address,
			.want_get = true,
		};
	}
	if (hops->hop[i].users++ == 0)
		hops->hop[i].want_use = true;
	return i;
}

void hops_put(struct hops *hops, uint32_t hop)
{
	if (hop != HOP_NONE && --hops->hop[hop].users == 0)
		hops->hop[hop].want_use = true;
}

uint32_t hops_learn(struct hops *hops, const struct rtnl_neigh *neigh)
{
	uint32_t i = hops_find(hops, neigh->ifindex, &neigh->address);
	bool usable = !neigh->gone && neigh->has_mac && rtnl_neigh_usable(neigh->state);
	struct hop *hop;

	if (i == HOP_NONE)
		return HOP_NONE;
	hop = &hops->hop[i];
	hop->fixed = !neigh->gone && neigh->state & (NUD_PERMANENT | NUD_NOARP);
	hop->managed &= !hop->fixed;
	/* A deleted entry is asked for again, and is not managed any more. */
	if (neigh->gone) {
		hop->managed = false;
		hop->want_use = true;
	}
	if (hop->known && usable == hop->usable &&
	    (!usable || memcmp(&hop->mac, &neigh->mac, sizeof(hop->mac)) == 0))
		return HOP_NONE;
	hop->known = true;
	hop->usable = usable;
	hop->mac = neigh->mac;
	return i;
}

void hops_fini(struct hops *hops)
{
	free(hops->hop);
	memset(hops, 0, sizeof(*hops));
}
