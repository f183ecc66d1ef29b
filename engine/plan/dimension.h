/* dimension.h - along what ranks talk to each other. */
#ifndef ENGINE_PLAN_DIMENSION_H
#define ENGINE_PLAN_DIMENSION_H

/* The communication dimensions, in the order of the JSON object. */
enum dimension { DIM_TP, DIM_CP, DIM_EP, DIM_PP, DIM_DP, DIM_HOST, DIM_COUNT };

const char *dimension_key(enum dimension dimension);   /* "tp" ... "host" */
const char *dimension_label(enum dimension dimension); /* "TP" ... */
const char *dimension_name(enum dimension dimension);  /* "tensor" ... */

#endif
