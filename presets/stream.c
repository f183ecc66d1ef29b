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

	/* without memory for the last of it fclose() is content, and there is no text
	 */
	if (stream && fclose(stream) == 0 && good)
		return *text;
	free(*text);
	*text = NULL;
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

/* Bytes of a character that YAML 1.1 (section 5.1 and 5.4) does not take as it is: the
 * controls C0, DEL and C1, the line breaks U+2028 and U+2029, the mark U+FEFF and
 * U+FFFE, U+FFFF. 0: it needs no escape. */
static size_t special_length(const unsigned char *s)
{
	if (s[0] < 0x20 || s[0] == 0x7f)
		return 1;
	if (s[0] == 0xc2 && s[1] >= 0x80 && s[1] < 0xa0)
		return 2;
	if (s[0] == 0xe2 && s[1] == 0x80 && (s[2] == 0xa8 || s[2] == 0xa9))
		return 3;
	if (s[0] == 0xef && s[1] == 0xbb && s[2] == 0xbf)
		return 3;
	return s[0] == 0xef && s[1] == 0xbf && (s[2] == 0xbe || s[2] == 0xbf) ? 3 : 0;
}

static unsigned code_of(const unsigned char *s, size_t length)
{
	if (length == 1)
		return s[0];
	if (length == 2)
		return (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu);
	return (s[0] & 0x0fu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
}

void stream_put_quoted(FILE *stream, const char *text)
{
	fputc('"', stream);
	while (*text != '\0') {
		const unsigned char *s = (const unsigned char *)text;
		size_t special = special_length(s);

		if (special > 0) {
			fprintf(stream, "\\u%04x", code_of(s, special));
			text += special;
			continue;
		}
		if (*text == '"' || *text == '\\')
			fputc('\\', stream);
		fputc(*text++, stream);
	}
	fputc('"', stream);
}

void stream_put_text(FILE *stream, const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char others[] = "abcdefghijklmnopqrstuvwxyz"
				     "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./+";

	if (text[0] != '\0' && strchr(letters, text[0]) &&
	    text[strspn(text, others)] == '\0')
		fputs(text, stream);
	else
		stream_put_quoted(stream, text);
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
