/* search_columns.c - which columns the table of plans has, and how wide they are. */
#include <string.h>

#include "tui/view.h"
#include "tui/views/search_parts.h"

static const struct table_column columns[COLUMNS] = {
	{ "#", 3, true, 0 },         { "plan", 16, false, 0 },
	{ "", 3, true, 0 },          { "step", 7, true, 0 },
	{ "tok/s/GPU", 9, true, 1 }, { "MFU", 6, true, 4 },
	{ "bubble", 6, true, 2 },    { "", 0, true, 9 },
	{ "", 0, true, 9 },          { "memory", 6, true, 0 },
	{ "trust", 9, false, 3 },    { "limited by", 11, false, 5 },
};

/* A server's step is a token's, and it has no bubble. */
static const struct table_column serving_columns[COLUMNS] = {
	{ "#", 3, true, 0 },         { "plan", 16, false, 0 },
	{ "", 0, true, 9 },          { "TPOT", 7, true, 0 },
	{ "tok/s/GPU", 9, true, 1 }, { "requests", 8, true, 4 },
	{ "TTFT", 7, true, 2 },      { "req/s", 6, true, 3 },
	{ "$/M", 6, true, 3 },       { "memory", 6, true, 0 },
	{ "trust", 9, false, 5 },    { "limited by", 11, false, 6 },
};

bool search_tells_slowest(const struct search *search)
{
	return search && search->result.found > 0 &&
	       search->result.top[0].slow_tpot_seconds > 0;
}

/* Requests and dollars of a server where the names leave room for them between `#`, the
 * numbers of every row and the scrollbar. */
static void fit_money(struct table_column *column, int width, int name)
{
	enum { OTHERS = 3 + 9 + 6 + 1, GAPS = 4, MONEY = 5 };
	int room = width - column[COLUMN_STEP].width - OTHERS - GAPS - name;

	if (room < MONEY + 1)
		return;
	column[COLUMN_PLAN].width = name;
	column[COLUMN_RATE].priority = 0;
	column[COLUMN_DOLLARS].width = MONEY;
	column[COLUMN_DOLLARS].priority = 0;
	if (room < 2 * (MONEY + 1))
		return;
	column[COLUMN_REQUESTS].width = MONEY;
	column[COLUMN_REQUESTS].priority = 0;
}

/* Names that are cut look alike, so they come before bars; of a training step the rate
 * says no more than its time. */
void search_fit_columns(const struct explorer *explorer,
			struct table_column column[COLUMNS], int width, int name)
{
	bool serves = explorer->scenario.plan.mode == MODE_INFERENCE;
	int usual = serves && name < 26 ? (name > 16 ? name : 16) : 26;

	memcpy(column, serves ? serving_columns : columns, sizeof columns);
	if (serves && search_tells_slowest(explorer->search)) {
		column[COLUMN_STEP].title = "TPOT P99";
		column[COLUMN_BUBBLE].title = "TTFT P99";
		column[COLUMN_STEP].width = column[COLUMN_BUBBLE].width = 8;
	}
	if (!serves || width > 78)
		column[COLUMN_PLAN].width = width > 110 ? 34 : usual;
	if (serves && width < 60 && name > 0)
		fit_money(column, width, name);
	if (width > 110)
		column[COLUMN_MEMORY].width = 20;
	if (width > 110)
		column[COLUMN_LIMIT].width = 14;
}
