/* pools.c - where the servers of a plan stand: nodes, GPUs, ports. */
#include <stdio.h>
#include <string.h>

#include "presets/serving/tool.h"

/* Between two servers of a node there is room for what each opens beside its port:
 * SGLang's messages from 233 above on, one for each copy of the attention. */
enum { FIRST_PORT = 8100, PORTS_APART = 100 };

static int64_t engine_gpus(const struct scenario *whole, enum role role)
{
	const struct plan *plan = &whole->plan;
	const struct engine_degrees prefill = scenario_prefill_engine(whole);

	return role == ROLE_PREFILL
		       ? prefill.tp * prefill.pp * plan->cp * prefill.dp_attention
		       : plan->tp * plan->pp * plan->cp * plan->serving.dp_attention;
}

/* The GPUs that are taken so far, of nodes in a row. */
struct row_of_nodes {
	int64_t node, gpu, servers, per_node;
	bool several;
};

static void take_place(struct row_of_nodes *row, enum role role, int64_t gpus,
		       struct server_place *out)
{
	if (row->gpu > 0 && row->gpu + gpus > row->per_node) {
		row->node++;
		row->gpu = row->servers = 0;
	}
	*out = (struct server_place){ .role = role,
				      .node = row->node,
				      .number = row->servers,
				      .gpu = row->gpu,
				      .gpus = gpus,
				      .port = FIRST_PORT +
					      PORTS_APART * (int)row->servers };
	if (row->several)
		snprintf(out->host, sizeof out->host, "${HOST[%lld]}",
			 (long long)out->node);
	else
		snprintf(out->host, sizeof out->host, "127.0.0.1");
	row->servers++;
	row->gpu += gpus;
	if (row->gpu < row->per_node)
		return;
	row->node += (row->gpu + row->per_node - 1) / row->per_node;
	row->gpu = row->servers = 0;
}

int place_servers(const struct scenario *whole, struct server_place list[MAX_PLACES],
		  int64_t left[ROLE_COUNT])
{
	static const enum role both[] = { ROLE_BOTH };
	static const enum role apart[] = { ROLE_PREFILL, ROLE_DECODE };
	int pools = whole->plan.serving.disaggregated ? 2 : 1;
	const enum role *roles = pools > 1 ? apart : both;
	int64_t prefill = scenario_prefill_gpus(whole),
		node = whole->cluster.gpus_per_node;
	struct row_of_nodes row = { .per_node = node > 0 ? node : whole->cluster.gpus };
	int count = 0;

	row.several = whole->cluster.gpus > row.per_node;
	for (int i = 0; i < pools; i++) {
		int64_t gpus = roles[i] == ROLE_PREFILL  ? prefill
			       : roles[i] == ROLE_DECODE ? whole->cluster.gpus - prefill
							 : whole->cluster.gpus;
		int64_t each = engine_gpus(whole, roles[i]);

		/* one pool leaves the other half of the list */
		left[roles[i]] = gpus > each ? gpus / each : 1;
		for (; left[roles[i]] > 0 && count < MAX_PLACES / pools * (i + 1);
		     count++) {
			take_place(&row, roles[i], each, &list[count]);
			left[roles[i]]--;
		}
	}
	return count;
}

int places_of_node(const struct server_place *list, int count, int first)
{
	int end = first;

	while (end < count && list[end].node == list[first].node)
		end++;
	return end;
}

bool places_alike(const struct server_place *list, int count, int a, int b)
{
	int servers = places_of_node(list, count, a) - a;

	if (places_of_node(list, count, b) - b != servers)
		return false;
	for (int i = 0; i < servers; i++, a++, b++)
		if (list[a].role != list[b].role || list[a].gpu != list[b].gpu ||
		    list[a].gpus != list[b].gpus)
			return false;
	return true;
}

void put_places(FILE *stream, const struct server_place *list, int count,
		enum role role, const char *pattern)
{
	for (int i = 0; i < count; i++) {
		if (list[i].role != role)
			continue;
		for (const char *at = pattern; *at != '\0'; at++)
			if (strncmp(at, "{host}", 6) == 0) {
				fputs(list[i].host, stream);
				at += 5;
			} else if (strncmp(at, "{port}", 6) == 0) {
				fprintf(stream, "%d", list[i].port);
				at += 5;
			} else {
				fputc(*at, stream);
			}
	}
}

void put_front(const struct tool *tool, FILE *stream, const struct server_place *list,
	       int count)
{
	if (count > 0 && list[0].role == ROLE_BOTH)
		tool->put_alike(stream, list, count);
	else
		tool->put_pools(stream, list, count);
}

void put_nodes(FILE *stream, int64_t nodes)
{
	fprintf(stream,
		"# run it on each of %lld nodes: NODE counts them from 0, HOSTS are "
		"their addresses\n"
		"NODE=${NODE:-${SLURM_NODEID:?which node this is, from 0}}\n"
		"read -r -a HOST <<< \"${HOSTS:?the addresses of all %lld nodes}\"\n",
		(long long)nodes, (long long)nodes);
}

void put_balancer(FILE *stream, const struct server_place *list, int count)
{
	bool several = count > 0 && list[0].host[0] == '$';

	fprintf(stream,
		"cat > nginx.conf <<%s\nevents { worker_connections 65536; }\n"
		"http {\n  upstream servers {\n    least_conn;\n",
		several ? "EOF" : "'EOF'");
	put_places(stream, list, count, ROLE_BOTH, "    server {host}:{port};\n");
	fputs("  }\n  server {\n    listen 8000;\n    location / {\n"
	      "      proxy_pass http://servers;\n      proxy_buffering off;\n"
	      "      proxy_read_timeout 3600s;\n    }\n  }\n}\nEOF\n"
	      "nginx -p \"$PWD\" -c nginx.conf -g 'pid nginx.pid; daemon off;'",
	      stream);
}
