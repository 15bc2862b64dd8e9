/* SPDX-License-Identifier: BSD-2-Clause */
/* culvertd: wiring only. Configuration -> gateway -> server; undone in reverse. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/conf.h"
#include "ctrl/commands.h"
#include "ctrl/gateway.h"
#include "ctrl/loop.h"
#include "lib/bits.h"
#include "lib/log.h"
#include "lib/standard.h"
#include "rules/check.h"

#define RUN_DIR "/run/culvert"
#define BIG_BYTES (32 * 1024)	/* memory to be mapped and unmapped by itself */

struct options {
	const char *file;
	const char *instance;
	bool check;
	bool offline;
	bool cleanup;
};

/* Where this instance lives. */
struct place {
	char file[PATH_MAX];
	char run_dir[PATH_MAX];
	char socket[PATH_MAX];
	int lock;
};

struct signals {
	struct loop_watch watch;
	struct loop *loop;
};

static const char usage[] =
	"usage: culvertd [-c FILE | -n INSTANCE] [--check [--offline] | --cleanup]\n"
	"  -c, --config FILE     the configuration [/etc/culvert/culvert.yaml]\n"
	"  -n, --instance NAME   /etc/culvert/NAME.yaml and /run/culvert/NAME/\n"
	"      --check           say what is wrong with the configuration, start nothing\n"
	"      --offline         with --check: do not ask this host (devices, addresses)\n"
	"      --cleanup         put devices back that a killed culvertd left changed, remove its\n"
	"                        internal ports\n"
	"      --version\n"
	"      --help\n";

/* 0, or the exit status when the program is to end here. -1: go on. */
static int parse_options(int argc, char **argv, struct options *o)
{
	enum { CHECK = 256, OFFLINE, CLEANUP, VERSION, HELP };
	static const struct option table[] = {
		{"config", required_argument, NULL, 'c'},
		{"instance", required_argument, NULL, 'n'},
		{"check", no_argument, NULL, CHECK},
		{"offline", no_argument, NULL, OFFLINE},
		{"cleanup", no_argument, NULL, CLEANUP},
		{"version", no_argument, NULL, VERSION},
		{"help", no_argument, NULL, HELP},
		{0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "c:n:h", table, NULL)) != -1) {
		switch (c) {
		case 'c':
			o->file = optarg;
			break;
		case 'n':
			o->instance = optarg;
			break;
		case CHECK:
			o->check = true;
			break;
		case OFFLINE:
			o->offline = true;
			break;
		case CLEANUP:
			o->cleanup = true;
			break;
		case VERSION:
			puts("culvertd " CULVERT_VERSION);
			return 0;
		case HELP:
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			fputs(usage, stderr);
			return 2;
		}
	}
	if (optind < argc || (o->offline && !o->check) || (o->check && o->cleanup) ||
	    (o->instance && (strchr(o->instance, '/') || o->instance[0] == '.' || !*o->instance))) {
		fputs(usage, stderr);
		return 2;
	}
	return -1;
}

static bool set_path(char path[PATH_MAX], const char *format, const char *a, const char *b)
{
	int n = snprintf(path, PATH_MAX, format, a, b);

	if (n < PATH_MAX)
		return true;
	log_error("path too long: %s", path);
	return false;
}

static bool find_file(const struct options *o, struct place *place)
{
	if (o->file)
		return set_path(place->file, "%s", o->file, NULL);
	return set_path(place->file, "/etc/culvert/%s.yaml", o->instance ? o->instance : "culvert",
			NULL);
}

/* The run directory holds the socket, the lock, and what devices were set to. */
static bool find_run_dir(const struct options *o, const struct conf *conf, struct place *place)
{
	const char *slash;

	if (!set_path(place->run_dir, o->instance ? RUN_DIR "/%s" : RUN_DIR, o->instance, NULL))
		return false;
	if (!conf || !conf->socket)
		return set_path(place->socket, "%s/%s", place->run_dir, "culvert.sock");
	slash = strrchr(conf->socket, '/');
	if (slash && slash > conf->socket)
		snprintf(place->run_dir, PATH_MAX, "%.*s", (int)(slash - conf->socket),
			 conf->socket);
	else
		snprintf(place->run_dir, PATH_MAX, slash ? "/" : ".");
	return set_path(place->socket, "%s", conf->socket, NULL);
}

static bool make_directories(char *path)
{
	for (char *p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = 0;
		mkdir(path, 0755);
		*p = '/';
	}
	if (mkdir(path, 0755) == 0 || errno == EEXIST)
		return true;
	log_error("%s: %s", path, strerror(errno));
	return false;
}

/* One culvertd for a run directory: two would take each other's devices for a dead one's. */
static bool take_lock(struct place *place)
{
	char path[PATH_MAX];
	char pid[16];
	int n;

	if (!make_directories(place->run_dir) ||
	    !set_path(path, "%s/%s", place->run_dir, "culvertd.lock"))
		return false;
	place->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (place->lock < 0) {
		log_error("%s: %s%s", path, strerror(errno),
			  geteuid() ? ": culvertd runs as root" : "");
		return false;
	}
	if (flock(place->lock, LOCK_EX | LOCK_NB) < 0) {
		n = (int)read(place->lock, pid, sizeof(pid) - 1);
		log_error("%s: a culvertd runs here already (pid %.*s): stop it, or use -n NAME",
			  place->run_dir, n > 0 ? (int)strcspn(pid, "\n") : 1, n > 0 ? pid : "?");
		return false;
	}
	n = snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
	if (ftruncate(place->lock, 0) < 0 || pwrite(place->lock, pid, (size_t)n, 0) < 0)
		log_warn("%s: %s", path, strerror(errno));
	return true;
}

static int load(const char *path, struct conf **conf)
{
	struct conf_errors errors = {0};
	int r = conf_load(path, conf, &errors);

	conf_errors_print(&errors, stderr);
	conf_errors_fini(&errors);
	if (r == -ENOMEM)
		log_error("%s: not enough memory", path);
	return r;
}

static int check_host(const struct conf *conf)
{
	struct conf_errors errors = {0};
	int r = conf_check_host(conf, &errors);

	conf_errors_print(&errors, stderr);
	conf_errors_fini(&errors);
	return r;
}

static int check_rules(const struct conf *conf)
{
	struct conf_errors errors = {0};
	int r = rules_check(conf, &errors);

	conf_errors_print(&errors, stderr);
	conf_errors_fini(&errors);
	return r;
}

static void log_notices(const struct conf *conf)
{
	for (size_t i = 0; i < conf->n_notices; i++)
		log_warn("%s:%u:%u: %s", conf->notices[i].where.file, conf->notices[i].where.line,
			 conf->notices[i].where.column, conf->notices[i].text);
}

static int check(const struct options *o, const char *path)
{
	struct conf *conf = NULL;
	int r = load(path, &conf);

	if (r == 0 && !o->offline)
		r = check_host(conf);
	if (r == 0)
		r = check_rules(conf);
	if (r == 0) {
		log_notices(conf);
		printf("%s: good: %zu ports, %zu networks\n", path, conf->n_ports,
		       conf->n_networks - 1);
	}
	conf_free(conf);
	return r == 0 ? 0 : 1;
}

/* The file only says where the run directory is: a broken one must not stop the clean-up. */
static int cleanup(const struct options *o, struct place *place)
{
	struct conf_errors errors = {0};
	struct conf *conf = NULL;
	int status = 1;

	if (conf_load(place->file, &conf, &errors) < 0)
		conf = NULL;
	conf_errors_fini(&errors);
	if (find_run_dir(o, conf, place) && take_lock(place)) {
		printf("%s: %d devices put back\n", place->run_dir,
		       port_cleanup(place->run_dir, false));
		status = 0;
	}
	conf_free(conf);
	return status;
}

static void on_signal(struct loop_watch *watch)
{
	struct signals *s = container_of(watch, struct signals, watch);
	struct signalfd_siginfo info;

	if (read(watch->fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGHUP) {
		log_warn("reload: not in this version; restart to use another configuration");
		return;
	}
	log_info("%s: stopping", strsignal((int)info.ssi_signo));
	loop_stop(s->loop);
}

/* Before any thread is made, so that all of them leave these signals to the loop. */
static int catch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int serve(const struct conf *conf, const struct place *place, struct loop *loop)
{
	struct signals signals = {.loop = loop};
	struct gateway *gateway = NULL;
	struct commands *commands = NULL;
	char why[256];
	int fd = catch_signals();
	int r = fd < 0 ? -errno : 0;

	if (r < 0) {
		log_error("signalfd: %s", strerror(-r));
		return r;
	}
	r = gateway_create(conf, loop, place->run_dir, &gateway);
	if (r < 0)
		goto out;
	r = commands_create(gateway, place->socket, &commands, why, sizeof(why));
	if (r < 0) {
		log_error("%s", why);
		goto out;
	}
	loop_watch_start(loop, &signals.watch, fd, on_signal);
	log_info("culvertd %s ready, pid %d, %s", CULVERT_VERSION, (int)getpid(), place->socket);
	r = loop_run(loop);
	if (r < 0)
		log_error("io_uring: %s", strerror(-r));
	loop_watch_stop(&signals.watch);
out:
	commands_destroy(commands);
	gateway_destroy(gateway);
	close(fd);
	return r;
}

static int run(const struct options *o, struct place *place)
{
	struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};
	struct loop *loop = NULL;
	struct conf *conf = NULL;
	char why[256];
	int r = load(place->file, &conf);

	if (r < 0)
		goto out;
	if (conf->log_level_set)
		log_set_level(conf->log_level);
	log_notices(conf);
	r = -EEXIST;
	if (!find_run_dir(o, conf, place) || !take_lock(place))
		goto out;
	/* What a killed predecessor left would else be found to be somebody else's. */
	r = port_cleanup(place->run_dir, true);
	if (r > 0)
		log_info("%d devices put back that a culvertd before had left", r);
	r = check_host(conf);
	if (r < 0)
		goto out;
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	r = loop_create(&loop, why, sizeof(why));
	if (r < 0) {
		log_error("%s", why);
		goto out;
	}
	r = serve(conf, place, loop);
out:
	loop_destroy(loop);
	conf_free(conf);
	return r < 0 ? 1 : 0;
}

int main(int argc, char **argv)
{
	static struct place place;
	struct options options = {0};
	int status = parse_options(argc, argv, &options);

	standard_reserve();
	/* What clients had goes back to the system, whatever lies behind it on the heap. */
	mallopt(M_MMAP_THRESHOLD, BIG_BYTES);
	if (status >= 0)
		return status;
	if (!find_file(&options, &place))
		return 1;
	if (options.check)
		return check(&options, place.file);
	if (options.cleanup)
		return cleanup(&options, &place);
	return run(&options, &place);
}
