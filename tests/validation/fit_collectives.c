/* fit_collectives.c - constants of collectives, fitted to measured ones.
 *
 *     make fit-collectives                 constants, and errors of the rows fitted
 *     make fit-collectives FIT=--left-out  and of rows left out; takes a minute
 *     make fit-collectives FIT=--rows      and every row's measured and predicted time
 *     make fit-collectives FIT=--score     what the presets hold against the rows
 *
 * Least absolute log error, by coordinate descent from the middle of what is possible,
 * for each family of accelerators. Left out is scored twice: each number of ranks in
 * turn, and each accelerator of a family in turn.
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/collective/collective.h"
#include "presets/habits_file.h"
#include "presets/library.h"

static const int shakes = 100;

enum { MAX_ROWS = 2048, MAX_MACHINES = 8, MAX_CONSTANTS = 40 };

struct row {
	int machine;
	enum collective_kind kind;
	bool server, fits;
	enum reduction_kernels kernels;
	const char *set; /* of the table: software */
	char software[12];
	int64_t ranks, nodes;
	double bytes, seconds;
};

struct machine {
	char name[32];
	int family;
	struct cluster preset, cluster; /* as shipped, as fitted */
};

static const char *const family_names[] = { "A100", "Hopper", "Blackwell" };
enum { FAMILIES = sizeof family_names / sizeof family_names[0] };

static const struct {
	const char *cluster;
	int family;
} members[] = {
	{ "dgx-a100-80g", 0 }, { "dgx-h100", 1 }, { "dgx-h200", 1 },
	{ "dgx-b200", 2 },     { "dgx-b300", 2 }, { "gb200-nvl72", 2 },
	{ "gb300-nvl72", 2 },
};

struct set {
	struct row row[MAX_ROWS];
	int rows;
	struct machine machine[MAX_MACHINES];
	int machines;
};

/* --- constants ------------------------------------------------------------- */

struct constant {
	const char *key;
	size_t offset; /* in struct cluster */
	double least, most, scale;
	bool servers; /* rows of servers' kernels tell it */
};

#define ROW(word, transport, protocol, member, lo, hi, factor, own)              \
	{                                                                        \
		word,                                                            \
			offsetof(struct cluster,                                 \
				 accelerator.transports.row[transport][protocol] \
					 .member),                               \
			lo, hi, factor, own                                      \
	}
#define RING(word, protocol, member, lo, hi, factor) \
	ROW(word, TRANSPORT_RING, protocol, member, lo, hi, factor, false)
#define EXCHANGE(word, protocol, member, lo, hi, factor) \
	ROW(word, TRANSPORT_EXCHANGE, protocol, member, lo, hi, factor, false)
#define SHOT(word, transport, member, lo, hi, factor) \
	ROW(word, transport, PROTOCOL_SIMPLE, member, lo, hi, factor, true)

static const struct constant constants[] = {
	{ "efficiency", offsetof(struct cluster, link[LINK_DOMAIN].efficiency), 0.4,
	  0.99, 1, false },
	{ "copy_share", offsetof(struct cluster, accelerator.transports.copy_share),
	  0.5, 20, 1, false },
	RING("ll_start_us", PROTOCOL_LL, start_seconds, 2, 20, 1e-6),
	RING("ll_hop_us", PROTOCOL_LL, hop_seconds, 0.3, 2, 1e-6),
	RING("ll_share", PROTOCOL_LL, share, 0.25, 0.6, 1),
	RING("ll128_start_us", PROTOCOL_LL128, start_seconds, 5, 40, 1e-6),
	RING("ll128_hop_us", PROTOCOL_LL128, hop_seconds, 0.8, 3, 1e-6),
	RING("ll128_share", PROTOCOL_LL128, share, 0.5, 0.95, 1),
	RING("simple_start_us", PROTOCOL_SIMPLE, start_seconds, 10, 80, 1e-6),
	RING("simple_hop_us", PROTOCOL_SIMPLE, hop_seconds, 1.2, 9, 1e-6),
	EXCHANGE("exchange_ll_start_us", PROTOCOL_LL, start_seconds, 2, 40, 1e-6),
	EXCHANGE("exchange_ll_peer_us", PROTOCOL_LL, peer_seconds, 0.001, 3, 1e-6),
	EXCHANGE("exchange_ll_share", PROTOCOL_LL, share, 0.02, 0.9, 1),
	EXCHANGE("exchange_start_us", PROTOCOL_SIMPLE, start_seconds, 4, 120, 1e-6),
	EXCHANGE("exchange_peer_us", PROTOCOL_SIMPLE, peer_seconds, 0.001, 6, 1e-6),
	EXCHANGE("exchange_share", PROTOCOL_SIMPLE, share, 0.4, 1.2, 1),
	EXCHANGE("exchange_peer_share", PROTOCOL_SIMPLE, peer_share, 0.1, 2, 1),
	ROW("switch_start_us", TRANSPORT_SWITCH, PROTOCOL_SIMPLE, start_seconds, 4, 300,
	    1e-6, false),
	ROW("switch_share", TRANSPORT_SWITCH, PROTOCOL_SIMPLE, share, 0.5, 1, 1, false),
	SHOT("one_shot_start_us", TRANSPORT_ONE_SHOT, start_seconds, 1, 20, 1e-6),
	SHOT("one_shot_peer_us", TRANSPORT_ONE_SHOT, peer_seconds, 0.001, 2, 1e-6),
	SHOT("one_shot_share", TRANSPORT_ONE_SHOT, share, 0.2, 1.2, 1),
	SHOT("two_shot_start_us", TRANSPORT_TWO_SHOT, start_seconds, 2, 40, 1e-6),
	SHOT("two_shot_peer_us", TRANSPORT_TWO_SHOT, peer_seconds, 0.001, 2, 1e-6),
	SHOT("two_shot_share", TRANSPORT_TWO_SHOT, share, 0.2, 1.2, 1),
	SHOT("lamport_start_us", TRANSPORT_LAMPORT, start_seconds, 1, 20, 1e-6),
	SHOT("lamport_peer_us", TRANSPORT_LAMPORT, peer_seconds, 0.001, 2, 1e-6),
	SHOT("lamport_share", TRANSPORT_LAMPORT, share, 0.2, 1.2, 1),
};
enum { CONSTANTS = sizeof constants / sizeof constants[0] };

static double *at(struct cluster *cluster, int i)
{
	return (double *)(void *)((char *)cluster + constants[i].offset);
}

/* --- rows ------------------------------------------------------------------ */

static int machine_of(struct set *set, const char *name)
{
	struct error error;

	for (int i = 0; i < set->machines; i++)
		if (strcmp(set->machine[i].name, name) == 0)
			return i;
	for (size_t m = 0; m < sizeof members / sizeof members[0]; m++) {
		struct machine *machine = &set->machine[set->machines];

		if (strcmp(members[m].cluster, name) != 0)
			continue;
		snprintf(machine->name, sizeof machine->name, "%s", name);
		machine->family = members[m].family;
		if (!library_cluster(&machine->cluster, name, &error)) {
			fprintf(stderr, "fit_collectives: %s\n", error.text);
			exit(1);
		}
		machine->preset = machine->cluster;
		return set->machines++;
	}
	return -1;
}

static int kind_of(const char *word)
{
	for (int i = 0; i < COLLECTIVE_COUNT; i++)
		if (strcmp(collective_label((enum collective_kind)i), word) == 0)
			return i;
	return -1;
}

static bool read_row(struct set *set, char *line, struct row *out)
{
	char *cell[9], *save = NULL;
	int n = 0, kind;

	for (char *c = strtok_r(line, ",", &save); c && n < 9;
	     c = strtok_r(NULL, ",", &save))
		cell[n++] = c;
	if (n < 8 || (out->machine = machine_of(set, cell[0])) < 0 ||
	    (kind = kind_of(cell[2])) < 0)
		return false;
	out->kind = (enum collective_kind)kind;
	snprintf(out->software, sizeof out->software, "%s", cell[1]);
	out->kernels = strcmp(cell[1], "nccl") == 0      ? REDUCES_NCCL
		       : strcmp(cell[1], "trt-llm") == 0 ? REDUCES_TENSORRT
							 : REDUCES_VLLM;
	out->server = strcmp(cell[1], "nccl") != 0;
	out->ranks = strtoll(cell[3], NULL, 10);
	out->nodes = strtoll(cell[4], NULL, 10);
	out->bytes = strtod(cell[5], NULL);
	out->seconds = strtod(cell[6], NULL) * 1e-6;
	return true;
}

/* Servers leave vectors above 8 MiB to NCCL; SGLang's, which has vLLM's kernels, are
 * scored only. A loop of Python takes longer than a short collective: of those rows
 * plateaus count. */
static bool takes_part(const struct row *row, bool plateaus)
{
	if (row->server)
		return strcmp(row->software, "sglang") != 0 && row->bytes <= 4 << 20;
	return row->nodes == 1 && (!plateaus || row->bytes >= 64 << 20);
}

static void read_rows(struct set *set, const char *path)
{
	bool plateaus = strstr(path, "plateaus") != NULL;
	FILE *file = fopen(path, "r");
	char line[1024];

	if (!file) {
		perror(path);
		exit(1);
	}
	while (fgets(line, sizeof line, file) && set->rows < MAX_ROWS) {
		struct row *row = &set->row[set->rows];

		memset(row, 0, sizeof *row);
		line[strcspn(line, "\n")] = 0;
		if (!read_row(set, line, row))
			continue;
		row->fits = takes_part(row, plateaus);
		row->set = plateaus      ? "plateaus"
			   : row->server ? row->software
					 : "nccl-tests";
		set->rows++;
	}
	fclose(file);
}

/* --- predictions ----------------------------------------------------------- */

static double predict(const struct row *row, const struct cluster *cluster,
		      enum algorithm *which)
{
	struct fabric fabric = { .cluster = cluster,
				 .network_share = 1,
				 .domain_share = 1,
				 .slowdown = 1,
				 .start_steps = habits_shipped()->unmeasured_hops,
				 .kernels = row->kernels };
	struct group group = { .ranks = row->ranks,
			       .stride = 1,
			       .per_domain = row->ranks / row->nodes,
			       .per_node = row->ranks / row->nodes,
			       .link = row->nodes > 1 ? LINK_NETWORK : LINK_DOMAIN,
			       .beside = 1 };
	struct collective one;

	collective_cost(&fabric, &group, row->kind, row->bytes, &one);
	if (which)
		*which = one.algorithm;
	return one.seconds;
}

struct split {
	int family;
	int64_t ranks; /* left out; 0 = none */
	int machine;   /* left out; -1 = none */
};

static bool is_left_out(const struct split *split, const struct row *row)
{
	return row->ranks == split->ranks || row->machine == split->machine;
}

static double loss(struct set *set, const struct split *split, struct cluster *cluster)
{
	double sum = 0;
	int count = 0;

	for (int i = 0; i < set->rows; i++) {
		const struct row *row = &set->row[i];

		if (!row->fits || set->machine[row->machine].family != split->family ||
		    is_left_out(split, row))
			continue;
		cluster->link[LINK_DOMAIN].span =
			set->machine[row->machine].cluster.link[LINK_DOMAIN].span;
		sum += fabs(log(predict(row, cluster, NULL) / row->seconds));
		count++;
	}
	return count > 0 ? sum / count : 0;
}

/* Another plateau leaves the other rates as they were. */
static void keep_rates(struct cluster *cluster, int i, double factor)
{
	for (int k = 1; k < CONSTANTS && i == 0; k++)
		if (strstr(constants[k].key, "share"))
			*at(cluster, k) =
				fmin(constants[k].most, fmax(constants[k].least,
							     *at(cluster, k) * factor));
}

/* One constant a step up or down, as long as that helps. */
static bool descend(struct set *set, const struct split *split, struct cluster *cluster,
		    int i, double factor, double *best)
{
	bool moved = false;

	for (int side = 0; side < 2; side++) {
		double step = side ? 1 / factor : factor;

		for (int n = 0; n < 8; n++) {
			struct cluster kept = *cluster;
			double *value = at(cluster, i), now;
			double low = constants[i].least * constants[i].scale;
			double high = constants[i].most * constants[i].scale;

			*value = fmin(high, fmax(low, *value * step));
			keep_rates(cluster, i, *at(&kept, i) / *value);
			now = loss(set, split, cluster);
			if (!(now < *best - 1e-9)) {
				*cluster = kept;
				break;
			}
			*best = now;
			moved = true;
		}
	}
	return moved;
}

static void settle(struct set *set, const struct split *split, struct cluster *cluster,
		   double *best)
{
	static const double factors[] = { 1.5, 1.2, 1.08, 1.03, 1.01, 1.003 };

	for (size_t f = 0; f < sizeof factors / sizeof factors[0]; f++)
		for (int n = 0; n < 8; n++) {
			bool moved = false;

			for (int i = 0; i < CONSTANTS; i++)
				moved |= descend(set, split, cluster, i, factors[f],
						 best);
			if (!moved)
				break;
		}
}

/* A number from 0 to 1; the same ones in every run. */
static double draw(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(*seed >> 40) / (double)(1 << 24);
}

/* Coordinate descent stops where two constants would have to move together: it begins
 * anew from some of them shaken, and keeps what is better. */
static double fit(struct set *set, const struct split *split, struct cluster *cluster)
{
	uint64_t seed = 1;
	double best;

	for (int i = 0; i < CONSTANTS; i++)
		*at(cluster, i) = constants[i].scale *
				  sqrt(constants[i].least * constants[i].most);
	best = loss(set, split, cluster);
	settle(set, split, cluster, &best);
	for (int n = 0; n < shakes; n++) {
		struct cluster trial = *cluster;
		double found;

		for (int i = 0; i < CONSTANTS; i++) {
			double low = constants[i].least * constants[i].scale;
			double high = constants[i].most * constants[i].scale;

			if (draw(&seed) < 0.25)
				*at(&trial, i) = fmin(
					high,
					fmax(low, *at(&trial, i) *
							  exp(2 * draw(&seed) - 1)));
		}
		found = loss(set, split, &trial);
		settle(set, split, &trial, &found);
		if (found < best) {
			best = found;
			*cluster = trial;
		}
	}
	return best;
}

/* --- tables ---------------------------------------------------------------- */

static int rising(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

struct score {
	int count;
	double error[MAX_ROWS]; /* |predicted / measured - 1| */
	double logs;
};

static void count_in(struct score *score, double predicted, double measured)
{
	score->error[score->count++] = fabs(predicted / measured - 1);
	score->logs += log(predicted / measured);
}

static void print_score(const char *name, const char *family, struct score *score)
{
	int n = score->count;

	if (n == 0)
		return;
	qsort(score->error, (size_t)n, sizeof score->error[0], rising);
	printf("%-24s %-10s %5d %7.1f %7.1f %+7.1f\n", name, family, n,
	       100 * score->error[n / 2], 100 * score->error[(int)(0.9 * (n - 1))],
	       100 * (exp(score->logs / n) - 1));
	memset(score, 0, sizeof *score);
}

static const char *heading =
	"                                      rows  median     p90    bias  (%)\n";

static int family_machines(const struct set *set, int family)
{
	int count = 0;

	for (int i = 0; i < set->machines; i++)
		count += set->machine[i].family == family;
	return count;
}

/* Predictions of every row that is in no fit: by_machine, else by ranks. */
static void predict_left_out(struct set *set, bool by_machine, double *out)
{
	static const int64_t counts[] = { 2, 4, 8 };
	int folds = by_machine ? set->machines : 3;

	for (int f = 0; f < FAMILIES; f++)
		for (int k = 0; k < folds; k++) {
			struct split split = { f, by_machine ? 0 : counts[k],
					       by_machine ? k : -1 };
			struct cluster cluster;
			int first = 0;

			while (set->machine[first].family != f)
				first++;
			if (by_machine && (set->machine[k].family != f ||
					   family_machines(set, f) < 2))
				continue;
			cluster = set->machine[first].preset;
			fit(set, &split, &cluster);
			for (int i = 0; i < set->rows; i++)
				if (set->machine[set->row[i].machine].family == f &&
				    is_left_out(&split, &set->row[i]))
					out[i] = predict(&set->row[i], &cluster, NULL);
		}
}

static void print_table(const struct set *set, const double *predicted)
{
	static const char *const sets[] = { "nccl-tests", "vllm", "trt-llm" };
	static struct score score, all;
	char name[64];

	printf("%s", heading);
	for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++) {
		for (int k = 0; k <= COLLECTIVE_ALL_TO_ALL; k++)
			for (int f = 0; f < FAMILIES; f++) {
				for (int i = 0; i < set->rows; i++) {
					const struct row *row = &set->row[i];

					if (!row->fits ||
					    row->kind != (enum collective_kind)k ||
					    strcmp(row->set, sets[s]) != 0 ||
					    !(predicted[i] > 0) ||
					    set->machine[row->machine].family != f)
						continue;
					count_in(&score, predicted[i], row->seconds);
					count_in(&all, predicted[i], row->seconds);
				}
				snprintf(name, sizeof name, "%s %s", sets[s],
					 collective_label((enum collective_kind)k));
				print_score(name, family_names[f], &score);
			}
		print_score(sets[s], "total", &all);
	}
}

/* Rows that took no part in any fit. */
static void print_others(const struct set *set, const double *predicted)
{
	static const struct {
		const char *software;
		bool across;
	} other[] = { { "sglang", false }, { "nccl", true } };
	static struct score score;

	for (size_t s = 0; s < sizeof other / sizeof other[0]; s++)
		for (int f = 0; f < FAMILIES; f++) {
			for (int i = 0; i < set->rows; i++) {
				const struct row *row = &set->row[i];

				if (row->fits ||
				    strcmp(row->software, other[s].software) != 0 ||
				    (row->nodes > 1) != other[s].across ||
				    (row->server && row->bytes > 4 << 20) ||
				    set->machine[row->machine].family != f)
					continue;
				count_in(&score, predicted[i], row->seconds);
			}
			print_score(other[s].across ? "nccl across nodes"
						    : other[s].software,
				    family_names[f], &score);
		}
}

static void predict_all(struct set *set, double *out)
{
	for (int i = 0; i < set->rows; i++)
		out[i] = predict(&set->row[i],
				 &set->machine[set->row[i].machine].cluster, NULL);
}

static void print_rows(struct set *set)
{
	for (int i = 0; i < set->rows; i++) {
		const struct row *row = &set->row[i];
		enum algorithm which;
		double seconds =
			predict(row, &set->machine[row->machine].cluster, &which);

		printf("%-12s %-8s %-14s %3lld %2lld %12.0f %10.1f %10.1f %+6.1f %s\n",
		       set->machine[row->machine].name, row->software,
		       collective_label(row->kind), (long long)row->ranks,
		       (long long)row->nodes, row->bytes, row->seconds * 1e6,
		       seconds * 1e6, 100 * (seconds / row->seconds - 1),
		       algorithm_name(which));
	}
}

/* Fits each family and gives its machines the constants. */
static void fit_families(struct set *set)
{
	for (int f = 0; f < FAMILIES; f++) {
		struct split split = { f, 0, -1 };
		struct cluster cluster;
		int first = 0;

		while (set->machine[first].family != f)
			first++;
		cluster = set->machine[first].cluster;
		printf("%s: loss %.4f\n", family_names[f], fit(set, &split, &cluster));
		for (int i = 0; i < CONSTANTS; i++)
			printf("  %s: %.4g\n", constants[i].key,
			       *at(&cluster, i) / constants[i].scale);
		for (int m = 0; m < set->machines; m++)
			for (int i = 0; i < CONSTANTS && set->machine[m].family == f;
			     i++)
				*at(&set->machine[m].cluster, i) = *at(&cluster, i);
	}
}

int main(int count, char **arguments)
{
	static double predicted[MAX_ROWS];
	static struct set set;
	bool rows = false, score = false, left_out = false;

	for (int i = 1; i < count; i++) {
		rows |= strcmp(arguments[i], "--rows") == 0;
		score |= strcmp(arguments[i], "--score") == 0;
		left_out |= strcmp(arguments[i], "--left-out") == 0;
		if (arguments[i][0] != '-')
			read_rows(&set, arguments[i]);
	}
	if (!score)
		fit_families(&set);
	if (rows)
		print_rows(&set);
	predict_all(&set, predicted);
	printf("\ncollectives, %s\n",
	       score ? "as the presets hold them" : "all rows fitted");
	print_table(&set, predicted);
	print_others(&set, predicted);
	if (!left_out)
		return 0;
	memset(predicted, 0, sizeof predicted);
	predict_left_out(&set, false, predicted);
	printf("\ncollectives, each number of ranks left out\n");
	print_table(&set, predicted);
	memset(predicted, 0, sizeof predicted);
	predict_left_out(&set, true, predicted);
	printf("\ncollectives, each accelerator left out\n");
	print_table(&set, predicted);
	return 0;
}
