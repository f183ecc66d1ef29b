/* arguments.c - see arguments.h. */
#include "presets/script/arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text_block {
	struct text_block *next;
	char text[];
};

const char *arguments_keep(struct arguments *arguments, const char *text, size_t length)
{
	struct text_block *block;

	if (arguments->bytes + length > ARGUMENTS_MAX_BYTES)
		return NULL;
	block = malloc(sizeof *block + length + 1);
	error_note_memory(!block);
	if (!block)
		return NULL;
	memcpy(block->text, text, length);
	block->text[length] = '\0';
	error_clean(block->text);
	block->next = arguments->blocks;
	arguments->blocks = block;
	arguments->bytes += length + 1;
	return block->text;
}

const char *arguments_keep_lines(struct arguments *arguments, const char *text,
				 size_t length)
{
	struct text_block *block;

	if (!arguments_keep(arguments, text, length))
		return NULL;
	block = arguments->blocks;
	for (size_t i = 0; i < length; i++)
		if (text[i] == '\n')
			block->text[i] = '\n';
	return block->text;
}

void arguments_free(struct arguments *arguments)
{
	while (arguments->blocks) {
		struct text_block *next = arguments->blocks->next;

		free(arguments->blocks);
		arguments->blocks = next;
	}
	free(arguments->item);
	memset(arguments, 0, sizeof *arguments);
}

static bool grow(struct arguments *arguments)
{
	int capacity = arguments->capacity ? 2 * arguments->capacity : 64;
	struct argument *item;

	if (arguments->count < arguments->capacity)
		return true;
	if (arguments->count >= ARGUMENTS_MAX)
		return false;
	item = realloc(arguments->item, (size_t)capacity * sizeof *item);
	error_note_memory(!item);
	if (!item)
		return false;
	arguments->item = item;
	arguments->capacity = capacity;
	return true;
}

bool arguments_add(struct arguments *arguments, const char *name, const char *value,
		   int line)
{
	char clean[128];
	size_t length = 0;

	while (*name == '-')
		name++;
	if (strrchr(name, '.')) /* NeMo: trainer.strategy.tensor_model_parallel_size */
		name = strrchr(name, '.') + 1;
	for (; name[length] != '\0' && length < sizeof clean - 1; length++)
		clean[length] = name[length] == '_' ? '-' : name[length];
	clean[length] = '\0';
	if (!grow(arguments))
		return false;
	struct argument *item = &arguments->item[arguments->count];

	item->name = arguments_keep(arguments, clean, length);
	item->value = arguments_keep(arguments, value, strlen(value));
	item->line = line;
	item->missing = NULL;
	item->untold = false;
	if (!item->name || !item->value)
		return false;
	arguments->count++;
	return true;
}

const struct argument *arguments_find(const struct arguments *arguments,
				      const char *name)
{
	for (int i = arguments->count - 1; i >= 0; i--)
		if (strcmp(arguments->item[i].name, name) == 0)
			return &arguments->item[i];
	return NULL;
}

void arguments_drop(struct arguments *arguments, const char *name)
{
	for (int i = arguments->count - 1; i >= 0; i--)
		if (strcmp(arguments->item[i].name, name) == 0)
			arguments->item[i] = arguments->item[--arguments->count];
}

void arguments_take_world(struct arguments *arguments)
{
	if (arguments->nodes > 0 && arguments->per_node > 0 &&
	    __builtin_mul_overflow(arguments->nodes, arguments->per_node,
				   &arguments->world))
		arguments->world = INT64_MAX; /* no machine has so many */
}
