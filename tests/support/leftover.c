/* leftover.c - what killed test programs left in /tmp goes when the next one starts.
 *
 * In every test program mkdtemp() is this one: it writes each folder into a list that
 * bears the program's number. A program that ends takes its list along, for it took its
 * folders; who starts removes the folders of lists whose program is no more.
 * tests/run.sh keeps such a list of its own folder.
 */
#include "tests/support/leftover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static const char lists[] = "shardscope-left-", folders[] = "/tmp/shardscope-";
static char own[64];
static pid_t owner;

static void note(const char *path)
{
	int file;

	if (strncmp(path, folders, sizeof folders - 1) != 0)
		return;
	if (owner != getpid()) {
		owner = getpid();
		snprintf(own, sizeof own, "/tmp/%s%ld.%ld", lists, (long)getuid(),
			 (long)owner);
	}
	file = open(own, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (file < 0)
		return;
	dprintf(file, "%s\n", path);
	close(file);
}

char *mkdtemp(char *path)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	size_t length = strlen(path);
	unsigned char lot[6];

	if (length < sizeof lot || strcmp(path + length - sizeof lot, "XXXXXX") != 0) {
		errno = EINVAL;
		return NULL;
	}
	for (int tries = 0; tries < 100; tries++) {
		if (getentropy(lot, sizeof lot) != 0)
			return NULL;
		for (size_t i = 0; i < sizeof lot; i++)
			path[length - sizeof lot + i] =
				letters[lot[i] % (sizeof letters - 1)];
		if (mkdir(path, 0700) == 0) {
			note(path);
			return path;
		}
		if (errno != EEXIST)
			return NULL;
	}
	return NULL;
}

static int take(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	remove(path);
	return 0;
}

/* The folders of a list, if it is the user's own, and the list. */
static void clean(const char *path)
{
	char line[128];
	struct stat st;
	FILE *list;
	int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (file < 0)
		return;
	list = fdopen(file, "r");
	if (!list || fstat(file, &st) != 0 || st.st_uid != getuid()) {
		close(file);
		return;
	}
	while (fgets(line, sizeof line, list)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, folders, sizeof folders - 1) == 0 &&
		    !strchr(line + sizeof folders - 1, '/'))
			nftw(line, take, 16, FTW_DEPTH | FTW_PHYS);
	}
	fclose(list);
	unlink(path);
}

__attribute__((constructor)) void leftover_sweep(void)
{
	DIR *folder = opendir("/tmp");
	char mine[48], path[320];
	size_t length;

	if (!folder)
		return;
	length = (size_t)snprintf(mine, sizeof mine, "%s%ld.", lists, (long)getuid());
	for (struct dirent *entry; (entry = readdir(folder));) {
		long number = strncmp(entry->d_name, mine, length) == 0
				      ? atol(entry->d_name + length)
				      : 0;

		if (number <= 1 || kill((pid_t)number, 0) == 0 || errno != ESRCH)
			continue;
		snprintf(path, sizeof path, "/tmp/%s", entry->d_name);
		clean(path);
	}
	closedir(folder);
}

__attribute__((destructor)) static void forget(void)
{
	if (owner == getpid())
		unlink(own);
}
