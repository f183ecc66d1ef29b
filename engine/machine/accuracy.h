/* accuracy.h - how sure are numbers? What predictions were worth for runs
 * that no constant had seen, and how far one measured run is to be believed.
 *
 * Read from presets/accuracy, which says how each number was measured.
 */
#ifndef ENGINE_MACHINE_ACCURACY_H
#define ENGINE_MACHINE_ACCURACY_H

/* Runs that are met alike. The first that suits a scenario is taken, from the last one
 * backwards: an adapter on an unmeasured accelerator is one of the latter. */
enum run_kind {
	RUN_DENSE,
	RUN_EXPERTS,
	RUN_ADAPTERS,   /* a frozen model with LoRA */
	RUN_UNMEASURED, /* accelerators that no constant was fitted to */
	RUN_TORUS,      /* of these, TPUs under a compiler */
	RUN_KINDS
};

/* Between which factors of the prediction the truth lay for 80 % of the runs. 0, 0: no
 * range is known. */
struct spread {
	double low, high;
};

/* What is believed of a machine before its first measured run: by how much the
 * seconds of kernels, links and hosts differ from the predicted ones (standard
 * deviations of their logarithms), and how far runs of one machine and software scatter
 * among themselves, known as surely as from so many runs. */
struct calibration_prior {
	double compute, network, host;
	double noise, expert_noise;
	double noise_runs;
};

/* By which factors predictions of servers are off, up and down: four of five measured
 * runs lay within them when their stack, or their model, was left out of the fit, and
 * of what they were learned on (make fit-serving FIT=--ranges prints it;
 * tests/validation/README.md, Serving). */
struct serve_spread {
	double tpot, ttft, rate;
	double loaded; /* TTFT beside other requests */
	double pools;  /* the same where prompts run on GPUs of their own */
	/* at least, on an accelerator whose kernels nobody fitted */
	double unfitted;
};

/* How the chance to fit falls with predicted over usable memory: a logistic, as steep
 * as that and a half at `middle`. Where nobody measured the accelerator it is never
 * steeper than where one run in ten needs more than tenth_beyond times as much, and a
 * plan is said to fit from the chance `surely` on. */
struct fit_curve {
	double steepness, middle, tenth_beyond, surely;
};

/* Ranges are so much wider for more accelerators than that, and for layers that no
 * measured run has. */
struct range_growth {
	double gpus, factor;
};

/* What is believed of drafted tokens where nobody says: the share of the first one that
 * holds, of a model's own MTP layer and of a draft model; and of what an MTP layer
 * drafts behind the token that it was trained for, each over the one before. */
struct draft_prior {
	double mtp, model, reuse;
};

struct accuracy {
	struct fit_curve fit;
	struct range_growth beyond;
	struct spread time[RUN_KINDS], memory[RUN_KINDS];
	struct serve_spread serving[2]; /* dense models, mixtures */
	struct calibration_prior prior;
	struct draft_prior drafts;
};

#endif
