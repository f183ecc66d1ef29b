/* markdown.c - see markdown.h. */
#include "presets/markdown.h"

#include <ctype.h>
#include <string.h>

/* A line of ``` or ~~~; what stands behind it is the language, NULL where the line is
 * none. */
static const char *fence(const char *line, const char *end)
{
	while (line < end && (*line == ' ' || *line == '\t' || *line == '>'))
		line++;
	if (end - line < 3 ||
	    (memcmp(line, "```", 3) != 0 && memcmp(line, "~~~", 3) != 0))
		return NULL;
	while (line < end && (*line == '`' || *line == '~' || *line == ' '))
		line++;
	return line;
}

static bool is_shell(const char *word, const char *end)
{
	static const char *const names[] = { "bash", "sh",      "shell",
					     "zsh",  "console", "shell-session",
					     "text", "cmd",     "terminal" };
	size_t length = 0;

	while (word + length < end &&
	       (isalnum((unsigned char)word[length]) || word[length] == '-'))
		length++;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strlen(names[i]) == length && memcmp(names[i], word, length) == 0)
			return true;
	return length == 0;
}

static const char *end_of(const char *line, const char *stop)
{
	const char *end = memchr(line, '\n', (size_t)(stop - line));

	return end ? end : stop;
}

bool markdown_looks_like(const char *text, size_t length)
{
	const char *stop = text + length;
	int fences = 0;

	if (length > 2 && memcmp(text, "#!", 2) == 0)
		return false;
	for (const char *at = text; at < stop;) {
		const char *end = end_of(at, stop);

		fences += fence(at, end) != NULL;
		at = end + 1;
	}
	return fences >= 2;
}

/* Recipes of vllm-project/recipes, models/<owner>/<name>.yaml. */
void markdown_subject(const char *text, size_t length, char *out, size_t size)
{
	static const char key[] = "model_id:";
	const char *stop = text + length, *end;

	out[0] = '\0';
	for (const char *at = text; at < stop && !fence(at, end_of(at, stop));
	     at = end + 1) {
		size_t used = 0;

		end = end_of(at, stop);
		while (at < end && isspace((unsigned char)*at))
			at++;
		if ((size_t)(end - at) < sizeof key ||
		    strncmp(at, key, strlen(key)) != 0)
			continue;
		for (at += strlen(key); at < end && strchr(" \"'", *at); at++)
			;
		for (; at < end && !strchr(" \"'#\r", *at) && used + 1 < size; at++)
			out[used++] = *at;
		out[used] = '\0';
		return;
	}
}

static void blank(char *from, const char *end)
{
	memset(from, ' ', (size_t)(end - from));
}

/* A block of code: its lines between those of its fences. */
struct block {
	char *head, *from, *stop, *tail; /* tail: the closing fence, or the end */
	char *next;                      /* behind it */
	const char *language;
};

/* A fence with a word behind it opens a block, also where another one is open: an
 * example of output that itself has fences has lost its own end. */
static bool only_opens(const char *language, const char *end)
{
	while (language < end && isspace((unsigned char)*language))
		language++;
	return language < end && isalpha((unsigned char)*language);
}

/* The next block from `at` on; false where there is none. */
static bool next_block(char *at, char *stop, struct block *out)
{
	*out = (struct block){ 0 };
	while (at < stop) {
		char *end = at + (end_of(at, stop) - at);
		const char *language = fence(at, end);

		if (language && out->head) {
			bool opens = only_opens(language, end);

			out->stop = out->tail = at;
			out->next = opens ? at : end < stop ? end + 1 : stop;
			return true;
		}
		if (language) {
			out->head = at;
			out->language = language;
			out->from = end < stop ? end + 1 : stop;
		}
		at = end + 1;
	}
	out->stop = out->tail = out->next = stop;
	return out->head != NULL;
}

/* What a fence without a language holds, where it begins as files for kubectl do. */
static bool is_kubernetes(const struct block *b)
{
	const char *at = b->from;

	while (at < b->stop && (isspace((unsigned char)*at) || *at == '-'))
		at++;
	return b->stop - at > 11 && memcmp(at, "apiVersion:", 11) == 0;
}

static bool begins(const char *line, const char *end, const char *const *words)
{
	for (; *words; words++)
		if ((size_t)(end - line) >= strlen(*words) &&
		    memcmp(line, *words, strlen(*words)) == 0)
			return true;
	return false;
}

/* Commands behind a fence that says Python, as pages of ms-swift have them. */
static bool is_misnamed(const struct block *b)
{
	static const char *const python[] = { "import ", "from ", "def ", NULL };
	static const char *const shell[] = { "CUDA_VISIBLE_DEVICES=",
					     "NPROC_PER_NODE=",
					     "swift ",
					     "megatron ",
					     "torchrun ",
					     "vllm serve ",
					     NULL };
	bool found = false;

	if (strncmp(b->language, "py", 2) != 0)
		return false;
	for (const char *at = b->from; at < b->stop;) {
		const char *end = end_of(at, b->stop);

		if (begins(at, end, python))
			return false;
		found = found || begins(at, end, shell);
		at = end + 1;
	}
	return found;
}

static bool is_shell_block(const struct block *b)
{
	return (is_shell(b->language, end_of(b->language, b->from)) ||
		is_misnamed(b)) &&
	       !is_kubernetes(b);
}

static bool holds(const struct block *b, const char *word)
{
	return memmem(b->from, (size_t)(b->stop - b->from), word, strlen(word)) != NULL;
}

/* What KServe, or the chart of vLLM's production stack, makes the command of. */
static bool is_service(const struct block *b)
{
	return holds(b, "modelFormat:") || holds(b, "LLMInferenceService") ||
	       (holds(b, "servingEngineSpec:") && holds(b, "modelURL:"));
}

/* What kubectl is given in such a recipe. */
static bool is_manifest(const struct block *b)
{
	return !is_shell_block(b) &&
	       (is_service(b) || (holds(b, "kind:") && holds(b, "containers:")));
}

/* "$ vllm serve": the prompt is no word of it. */
static void drop_prompts(const struct block *b)
{
	for (char *at = b->from; at < b->stop;) {
		const char *end = end_of(at, b->stop);

		if (end - at > 2 && memcmp(at, "$ ", 2) == 0)
			*at = ' ';
		at += end - at + 1;
	}
}

/* A document of its own, as far to the left as its fence stands. */
static void make_document(const struct block *b)
{
	const char *mark = b->head;
	size_t indent;

	while (*mark == ' ' || *mark == '\t')
		mark++;
	indent = (size_t)(mark - b->head);
	blank(b->head, end_of(b->head, b->from));
	memcpy(b->head, "---", 3);
	for (char *at = b->from; at < b->stop;) {
		const char *end = end_of(at, b->stop);
		size_t length = (size_t)(end - at), left = 0;

		while (left < indent && left < length && at[left] == ' ')
			left++;
		memmove(at, at + left, length - left);
		memset(at + length - left, ' ', left);
		at += length + 1;
	}
}

enum kept { KEEP_ALL, KEEP_SHELL, KEEP_MANIFESTS };

/* Shells before other blocks; manifests where no shell starts anything. */
static enum kept choose(char *text, char *stop,
			bool (*starts)(const char *text, size_t length))
{
	int shells = 0, launches = 0, manifests = 0;
	struct block b;

	for (char *at = text; at < stop && next_block(at, stop, &b); at = b.next) {
		shells += is_shell_block(&b);
		launches +=
			is_shell_block(&b) && starts(b.from, (size_t)(b.stop - b.from));
		manifests +=
			is_manifest(&b) &&
			(is_service(&b) || starts(b.from, (size_t)(b.stop - b.from)));
	}
	return launches == 0 && manifests > 0 ? KEEP_MANIFESTS
	       : shells > 0                   ? KEEP_SHELL
					      : KEEP_ALL;
}

static void blank_lines(char *from, char *stop)
{
	for (char *at = from; at < stop; at++)
		if (*at != '\n')
			*at = ' ';
}

void markdown_keep_code(char *text, size_t length,
			bool (*starts)(const char *text, size_t length))
{
	char *stop = text + length, *at = text;
	enum kept kept = choose(text, stop, starts);
	struct block b;

	while (at < stop && next_block(at, stop, &b)) {
		bool keep = kept == KEEP_MANIFESTS ? is_manifest(&b)
			    : kept == KEEP_SHELL   ? is_shell_block(&b)
						   : true;
		blank_lines(at, keep ? b.head : b.stop);
		if (keep && kept == KEEP_MANIFESTS)
			make_document(&b);
		else if (keep)
			blank_lines(b.head, b.from);
		if (keep && kept != KEEP_MANIFESTS)
			drop_prompts(&b);
		blank_lines(b.tail, b.next);
		at = b.next;
	}
	if (at < stop)
		blank_lines(at, stop);
}
