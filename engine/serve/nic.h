/* nic.h - caches that travel between two pools, beside collectives on the same NIC.
 *
 * A rank's NIC carries the collectives of its passes (wide EP, TP over nodes) and the
 * caches of prompts. Both pools' collectives have it for a share of the time; what both
 * want it for is charged once, to whichever is longer: a transfer that lasts through
 * several passes gets what they leave, collectives that last longer than a transfer are
 * longer by what it takes of them. How two of them share a NIC is published nowhere:
 * turns of equal length are assumed. Transfers alone are: Mooncake moves 146 MB of 1K
 * tokens at 0.48 of eight NICs' line rate, 4.5 GB at 0.71
 * (kvcache-ai.github.io/Mooncake, performance/vllm-v1-support-benchmark), where the
 * clusters' network efficiency has 0.76 to 0.94.
 */
#ifndef ENGINE_SERVE_NIC_H
#define ENGINE_SERVE_NIC_H

#include "engine/serve/work.h"

/* Charges it to a point of two pools whose transfers were alone so far: to
 * contended_seconds and TTFT, or to the decode steps. */
void nic_contend(const struct work *work, const struct server *decode,
		 const struct server *prefill, struct point *point);
/* Adds what a rank that decodes takes in in the mean of a pass to the traffic. */
void nic_traffic(const struct server *decode, const struct server *prefill,
		 struct estimate *out);

#endif
