/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/peer.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/nl.h"

static int read_nsid_attr(const struct nlattr *attr, void *arg)
{
	if (mnl_attr_get_type(attr) == NETNSA_NSID)
		*(int *)arg = (int)mnl_attr_get_u32(attr);
	return MNL_CB_OK;
}

static int read_nsid(const struct nlmsghdr *message, void *arg)
{
	mnl_attr_parse(message, sizeof(struct rtgenmsg), read_nsid_attr, arg);
	return MNL_CB_OK;
}

/* The number that our namespace has for the one behind @fd; -1: none. */
static int nsid_of(int fd)
{
	char buffer[MNL_NLMSG_HDRLEN + 64] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	int nsid = -1;

	message->nlmsg_type = RTM_GETNSID;
	mnl_nlmsg_put_extra_header(message, sizeof(struct rtgenmsg));
	mnl_attr_put_u32(message, NETNSA_FD, (uint32_t)fd);
	nl_ask(NETLINK_ROUTE, message, read_nsid, &nsid);
	return nsid;
}

/* The namespace that @path leads to, if it is number @nsid; else -1. Neighbours in /proc mostly
 * share one, which need not be asked for again: *@last is its inode. */
static int open_if(const char *path, int nsid, ino_t *last)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && st.st_ino != *last) {
		*last = st.st_ino;
		if (nsid_of(fd) == nsid)
			return fd;
	}
	close(fd);
	return -1;
}

static int search(const char *directory, const char *below, bool numbers_only, int nsid)
{
	const struct dirent *entry;
	char path[300];
	ino_t last = 0;
	int fd = -1;
	DIR *dir = opendir(directory);

	if (!dir)
		return -1;
	while (fd < 0 && (entry = readdir(dir))) {
		if (numbers_only ? !isdigit((unsigned char)entry->d_name[0])
				 : entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%.255s%s", directory, entry->d_name, below);
		fd = open_if(path, nsid, &last);
	}
	closedir(dir);
	return fd;
}

static int open_by_index(int ifindex, struct netdev *peer)
{
	char name[IF_NAMESIZE];

	return if_indextoname((unsigned int)ifindex, name) ? netdev_open(peer, name) : -ENODEV;
}

static int open_in(int netns, int ifindex, struct netdev *peer)
{
	int home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	int r;

	if (home < 0)
		return -errno;
	if (setns(netns, CLONE_NEWNET)) {
		r = -errno;
	} else {
		r = open_by_index(ifindex, peer);
		/* We came from there, so it is not refused; and control must not go on in
		 * another's. */
		if (setns(home, CLONE_NEWNET))
			abort();
	}
	close(home);
	return r;
}

int peer_open(int ifindex, struct netdev *peer)
{
	struct nl_link link;
	int netns, r;

	r = nl_link_by_index(ifindex, &link);
	if (r)
		return r;
	if (!link.peer)
		return -ENODEV;
	if (link.peer_netns < 0)
		return open_by_index(link.peer, peer);
	netns = search("/run/netns", "", false, link.peer_netns);
	if (netns < 0)
		netns = search("/proc", "/ns/net", true, link.peer_netns);
	if (netns < 0)
		return -ENOENT;
	r = open_in(netns, link.peer, peer);
	close(netns);
	return r;
}
