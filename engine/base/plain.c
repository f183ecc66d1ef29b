/* plain.c - see plain.h. */
#include "engine/base/plain.h"

#include <string.h>

void clear_bytes(void *to, size_t size)
{
	memset(to, 0, size);
}

void copy_bytes(void *to, const void *from, size_t size)
{
	memcpy(to, from, size);
}
