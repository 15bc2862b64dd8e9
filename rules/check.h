/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rules that a configuration names, checked without a daemon: `culvertd --check` and `culvert
 * config check`.
 */
#ifndef RULES_CHECK_H
#define RULES_CHECK_H

#include "conf/conf.h"

/* Reads the file of flows.file, if there is one. 0; -EINVAL with what is wrong in @errors, as
 * FILE:LINE:COLUMN; -ENOMEM. */
int rules_check(const struct conf *conf, struct conf_errors *errors);

#endif
