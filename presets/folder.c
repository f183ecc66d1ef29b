/* folder.c - see folder.h. */
#include "presets/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "presets/stream.h"

static bool join(char *out, size_t size, const char *variable, const char *fallback,
		 const char *rest)
{
	const char *base = getenv(variable), *home = getenv("HOME");
	int length;

	out[0] = '\0';
	if (base && base[0] == '/')
		length = snprintf(out, size, "%s/shardscope/%s", base, rest);
	else if (home && home[0] == '/')
		length = snprintf(out, size, "%s/%s/shardscope/%s", home, fallback,
				  rest);
	else
		return false;
	if (length < 0 || (size_t)length >= size)
		out[0] = '\0';
	return out[0] != '\0';
}

bool folder_config(char *out, size_t size, const char *rest)
{
	return join(out, size, "XDG_CONFIG_HOME", ".config", rest);
}

bool folder_state(char *out, size_t size, const char *rest)
{
	return join(out, size, "XDG_STATE_HOME", ".local/state", rest);
}

bool folder_make(const char *file, struct error *error)
{
	char path[1024];

	if (strlen(file) >= sizeof path)
		return error_set(error, file, 0, "the name is too long");
	strcpy(path, file);
	for (char *slash = strchr(path + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0700) != 0 && errno != EEXIST)
			return error_set(error, path, 0, "can't make this folder: %s",
					 strerror(errno));
		*slash = '/';
	}
	return true;
}

bool folder_each(const char *path, void (*found)(void *context, const char *name),
		 void *context)
{
	DIR *folder = opendir(path);
	struct dirent *entry;

	if (!folder)
		return false;
	while ((entry = readdir(folder))) {
		char name[256];
		size_t length = strlen(entry->d_name);

		if (length < 6 || length >= sizeof name || entry->d_name[0] == '.' ||
		    strcmp(entry->d_name + length - 5, ".yaml") != 0)
			continue;
		memcpy(name, entry->d_name, length - 5);
		name[length - 5] = '\0';
		found(context, name);
	}
	closedir(folder);
	return true;
}

/* So that a rename survives a power cut. */
static void sync_folder_of(const char *path)
{
	char folder[1024];
	char *slash;
	int file;

	if (strlen(path) >= sizeof folder)
		return;
	strcpy(folder, path);
	slash = strrchr(folder, '/');
	if (slash)
		slash[slash == folder] = '\0';
	file = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (file < 0)
		return;
	fsync(file);
	close(file);
}

/* One step along a link: where it points to, as seen from its own folder. False: this
 * is no link, or what it says is too long. */
static bool follow(char *path, size_t size)
{
	char to[1024];
	char *slash = strrchr(path, '/');
	size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
	ssize_t length = readlink(path, to, sizeof to - 1);

	if (length <= 0)
		return false;
	to[length] = '\0';
	if (to[0] == '/')
		folder = 0;
	if (folder + (size_t)length >= size)
		return false;
	memcpy(path + folder, to, (size_t)length + 1);
	return true;
}

bool file_target(const char *path, char *out, size_t size)
{
	enum { MOST_LINKS = 40 }; /* as the kernel */

	if (strlen(path) >= size)
		return false;
	strcpy(out, path);
	for (int i = 0; i < MOST_LINKS; i++)
		if (!follow(out, size))
			return true;
	return true; /* a loop: opening it says so */
}

static bool is_leftover(const char *name, const char *base)
{
	size_t length = strlen(base);
	const char *tail = name + length + 1;

	return strncmp(name, base, length) == 0 && name[length] == '.' &&
	       strlen(tail) == 6 &&
	       tail[strspn(tail, "abcdefghijklmnopqrstuvwxyz"
				 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")] == '\0';
}

void file_sweep(const char *path)
{
	char target[1024], leftover[1300];
	const char *base;
	struct dirent *entry;
	size_t folder;
	DIR *all;

	if (!file_target(path, target, sizeof target) || !strchr(target, '/'))
		return;
	base = strrchr(target, '/') + 1;
	folder = (size_t)(base - target);
	memcpy(leftover, target, folder);
	leftover[folder] = '\0';
	all = opendir(leftover);
	while (all && (entry = readdir(all))) {
		if (!is_leftover(entry->d_name, base))
			continue;
		strcpy(leftover + folder, entry->d_name);
		unlink(leftover);
	}
	if (all)
		closedir(all);
}

bool file_expand(const char *path, char *out, size_t size)
{
	const char *home = getenv("HOME");
	bool expands = strncmp(path, "~/", 2) == 0 && home && home[0] == '/';
	int length = expands ? snprintf(out, size, "%s%s", home, path + 1)
			     : snprintf(out, size, "%s", path);

	return length >= 0 && (size_t)length < size;
}

bool file_save(const char *path, const char *text, size_t length, struct error *error)
{
	char target[1024], temporary[1040];
	struct stat old;
	bool good, was_there;
	int file, problem;

	if (!file_target(path, target, sizeof target - 16))
		return error_set(error, path, 0, "the name is too long");
	was_there = stat(target, &old) == 0;
	if (was_there && !S_ISREG(old.st_mode))
		return error_set(error, path, 0, "is not a file; choose another name");
	snprintf(temporary, sizeof temporary, "%s.XXXXXX", target);
	file = mkstemp(temporary);
	if (file < 0)
		return error_set(error, path, 0, "can't save here: %s",
				 strerror(errno));
	good = stream_write(file, text, length) &&
	       fchmod(file, was_there ? old.st_mode & 07777 : 0644) == 0 &&
	       fsync(file) == 0;
	problem = errno;
	good = close(file) == 0 && good;
	if (good && rename(temporary, target) == 0) {
		sync_folder_of(target);
		return true;
	}
	if (good)
		problem = errno;
	unlink(temporary);
	return error_set(error, path, 0, "can't save: %s; the old file is whole",
			 strerror(problem));
}
