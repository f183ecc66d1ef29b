/* lean.c - see lean.h. */
#include "tests/support/lean.h"

#include <math.h>

#include "tests/support/close.h"
#include "tests/support/random.h"

void lean_on_keys(struct stage *s, uint64_t draw, int count)
{
	static const char keys[] = "hjklhjklhjkl\t\t\n\n=123456789][ rpuUoe/nNS+-.?m\33"
				   "qswgG0kM";

	draw = seed_or(draw);
	for (int i = 0; i < count; i++) {
		draw = draw * 6364136223846793005u + 1442695040888963407u;
		unsigned r = (unsigned)(draw >> 33);
		bool writes = s->explorer.mode == MODE_PROMPT &&
			      s->explorer.prompt >= PROMPT_WRITE;
		char key[2] = { keys[r / 16 % (sizeof keys - 1)], '\0' };

		if (r % 16 == 0)
			canvas_resize(&s->canvas, 1 + (int)(r / 16 % 200),
				      1 + (int)(r / 4096 % 60));
		else if (r % 16 == 1)
			stage_key(s, KEYS_UP + (int)(r / 16 % 12));
		else if (r % 16 == 2)
			stage_act(s,
				  (struct action){ ACTION_CLICK, 0, (int)(r / 16 % 200),
						   (int)(r / 4096 % 60) });
		else if (!(writes && key[0] == '\n'))
			stage_type(s, key);
		const struct estimate *e = &s->explorer.estimate;

		/* a server that holds no request takes no step */
		bool steps = e->fits || s->explorer.scenario.plan.mode == MODE_TRAINING;

		if (e->legal && steps &&
		    !(e->step_seconds > 0 && isfinite(e->step_seconds) &&
		      isfinite(e->memory.total_bytes)))
			fail_msg("step %g at key %d", e->step_seconds, i);
	}
}
