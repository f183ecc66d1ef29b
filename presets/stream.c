/* stream.c - see stream.h. */
#include "presets/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *stream_end(FILE *stream, char **text)
{
	bool good = stream && !ferror(stream);

	if (stream && fclose(stream) == 0 && good)
		return *text;
	free(*text);
	return NULL;
}

/* More room for a text that is full, at most for all that is wanted. */
static char *grow(char *text, size_t *room, size_t most)
{
	size_t more = *room > most / 2 ? most : 2 * *room;
	char *grown = realloc(text, more + 1);

	if (!grown)
		free(text);
	*room = more;
	return grown;
}

/* One more than `most` where there are more. */
static char *read_all(int file, size_t most, size_t *length)
{
	size_t room = 1 << 16;
	char *text = malloc(room + 1);

	*length = 0;
	while (text) {
		size_t want = (room > most ? most + 1 : room) - *length;
		ssize_t n = read(file, text + *length, want);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			free(text);
			return NULL;
		}
		*length += (size_t)n;
		text[*length] = '\0';
		if (n == 0 || *length > most)
			return text;
		if (*length == room)
			text = grow(text, &room, most + 1);
	}
	errno = ENOMEM;
	return NULL;
}

const char *stream_name(const char *path)
{
	return strcmp(path, "-") == 0 ? "standard input" : path;
}

/* A pipe that nobody writes to is empty, not a reason to wait. */
static int open_file(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (file >= 0)
		fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
	return file;
}

char *stream_read_file(const char *path, size_t most, size_t *length,
		       struct error *error)
{
	const char *name = stream_name(path);
	int file = name == path ? open_file(path) : STDIN_FILENO;
	struct stat about;
	bool known = file >= 0 && fstat(file, &about) == 0, large = false;
	char *text = NULL;

	*length = 0;
	if (known && S_ISDIR(about.st_mode))
		error_set(error, name, 0, "is a directory; expected a file");
	else if (known && file != STDIN_FILENO && isatty(file))
		error_set(error, name, 0, "is a terminal; expected a file");
	else if (known && S_ISREG(about.st_mode) && about.st_size > (off_t)most)
		large = true;
	else if (!(text = file >= 0 ? read_all(file, most, length) : NULL))
		error_set(error, name, 0, "can't be read: %s", strerror(errno));
	if (file >= 0 && file != STDIN_FILENO)
		close(file);
	if (!large && *length <= most)
		return text;
	error_set(error, name, 0, "is larger than %zu MiB; expected a configuration",
		  most >> 20);
	free(text);
	return NULL;
}

bool stream_write(int file, const char *text, size_t length)
{
	while (length > 0) {
		ssize_t n = write(file, text, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		text += n;
		length -= (size_t)n;
	}
	return true;
}
