/* SPDX-License-Identifier: BSD-2-Clause */
/* steer_clear: whose XDP program is on a device, and taking ours off that nobody holds. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <linux/if_link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "afxdp/steer.h"
#include "lib/bits.h"
#include "lib/log.h"

#define OUR_PREFIX "culvert_"
/* A process that was killed lets go of its links a little later than it is gone. */
#define TRIES 50
#define TRY_US 20000

static int program_name(uint32_t id, char name[static BPF_OBJ_NAME_LEN])
{
	struct bpf_prog_info info = {0};
	uint32_t bytes = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id);
	int r;

	if (fd < 0)
		return fd;
	r = bpf_obj_get_info_by_fd(fd, &info, &bytes);
	close(fd);
	memcpy(name, info.name, BPF_OBJ_NAME_LEN);
	return r;
}

/* The id of the link by which program @id sits on @ifindex; 0: it sits there without one. */
static uint32_t find_link(int ifindex, uint32_t id)
{
	uint32_t link = 0;

	while (!bpf_link_get_next_id(link, &link)) {
		struct bpf_link_info info = {0};
		uint32_t bytes = sizeof(info);
		int fd = bpf_link_get_fd_by_id(link);

		if (fd < 0)
			continue;
		if (bpf_obj_get_info_by_fd(fd, &info, &bytes))
			info.type = 0;
		close(fd);
		if (info.type == BPF_LINK_TYPE_XDP && info.prog_id == id &&
		    info.xdp.ifindex == (uint32_t)ifindex)
			return link;
	}
	return 0;
}

static bool file_has_line(const char *path, const char *wanted)
{
	FILE *f = fopen(path, "re");
	bool found = false;
	char line[128];

	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f))
		found = strcmp(line, wanted) == 0;
	fclose(f);
	return found;
}

/* Whether process @pid has an open descriptor of the link that @line describes. */
static bool process_holds(const char *pid, const char *line)
{
	char path[640];
	const struct dirent *entry;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fdinfo", pid);
	dir = opendir(path);
	if (!dir)
		return false;
	while (!found && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%s/fdinfo/%s", pid, entry->d_name);
		found = file_has_line(path, line);
	}
	closedir(dir);
	return found;
}

/* The process that holds @link, or 0: then it is only pinned. */
static int link_holder(uint32_t link)
{
	const struct dirent *entry;
	char line[32];
	DIR *dir = opendir("/proc");
	int pid = 0;

	if (!dir)
		return -1;
	snprintf(line, sizeof(line), "link_id:\t%u\n", link);
	while (!pid && (entry = readdir(dir)))
		if (atoi(entry->d_name) > 0 && process_holds(entry->d_name, line))
			pid = atoi(entry->d_name);
	closedir(dir);
	return pid;
}

static int detach_link(uint32_t link)
{
	int fd = bpf_link_get_fd_by_id(link);
	int r;

	if (fd < 0)
		return fd;
	r = bpf_link_detach(fd);
	close(fd);
	return r;
}

/* A program of ours. 0: taken off; -EAGAIN: perhaps its holder is about to die. */
static int take_off(int ifindex, const char *device, uint32_t id, uint32_t flags,
		    const struct why *why)
{
	uint32_t link = find_link(ifindex, id);
	int pid = link ? link_holder(link) : 0;
	int r;

	if (pid)
		return because(why, -EAGAIN,
			       "%s: another culvertd (pid %d) runs on it; stop that one first",
			       device, pid);
	r = link ? detach_link(link) : bpf_xdp_detach(ifindex, flags, NULL);
	if (r)
		return because(
		    why, -EAGAIN,
		    "%s: culvert's XDP program %u of an earlier run cannot be taken off: %s",
		    device, id, strerror(-r));
	log_info("%s: took off the XDP program (id %u) of an earlier run", device, id);
	return 0;
}

static int clear_one(int ifindex, const char *device, uint32_t id, uint32_t flags,
		     const struct why *why)
{
	char name[BPF_OBJ_NAME_LEN] = "";

	/* It went away meanwhile, or we may not ask: attaching will tell. */
	if (program_name(id, name))
		return 0;
	if (strncmp(name, OUR_PREFIX, strlen(OUR_PREFIX)) == 0)
		return take_off(ifindex, device, id, flags, why);
	return because(
	    why, -EBUSY,
	    "%s: the XDP program '%s' (id %u) is on it and is not culvert's; take it off: "
	    "ip link set dev %s xdp%s off",
	    device, name, id, device, flags == XDP_FLAGS_SKB_MODE ? "generic" : "");
}

int steer_clear(int ifindex, const char *device, const struct why *why)
{
	int r = 0;

	for (int try = 0; try < TRIES; try++) {
		LIBBPF_OPTS(bpf_xdp_query_opts, query);

		r = bpf_xdp_query(ifindex, 0, &query);
		if (r)
			return because(why, r, "%s: asking for its XDP program failed: %s", device,
				       strerror(-r));
		if (query.hw_prog_id)
			r = clear_one(ifindex, device, query.hw_prog_id, XDP_FLAGS_HW_MODE, why);
		if (!r && query.drv_prog_id)
			r = clear_one(ifindex, device, query.drv_prog_id, XDP_FLAGS_DRV_MODE, why);
		if (!r && query.skb_prog_id)
			r = clear_one(ifindex, device, query.skb_prog_id, XDP_FLAGS_SKB_MODE, why);
		if (r != -EAGAIN)
			return r;
		usleep(TRY_US);
	}
	return -EBUSY;
}
