/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Sizes that the XDP program and its loader share.
 */
#ifndef AFXDP_STEER_LIMITS_H
#define AFXDP_STEER_LIMITS_H

#define STEER_LOCAL_MAX 16	/* VTEP addresses of a family */
#define STEER_VNI_MAX 65536

#endif
