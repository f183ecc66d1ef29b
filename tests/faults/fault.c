/* fault.c - a library for LD_PRELOAD that lets a chosen call fail.
 *
 * FAULT=CALL:N lets the N-th call of CALL fail, FAULT=CALL:N+ that and all after it;
 * CALL is malloc (calloc and realloc count with it), write, fsync, rename, open (fopen
 * counts with it), mkstemp, mkdir or close. FAULT_MARK names a file that is made when a
 * call has failed: without it there is none of that number. write and close fail on
 * regular files only: what a terminal does is another test's. What ncurses asks memory
 * for it gets: setupterm() and delscreen() fall over their own failed calls.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What the C library's own are behind these names. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

static char call[16];
static long at, counted;
static bool onwards, ready;

__attribute__((constructor)) static void begin(void)
{
	const char *fault = getenv("FAULT"), *colon = fault ? strchr(fault, ':') : NULL;
	char *end;

	if (!colon || (size_t)(colon - fault) >= sizeof call)
		return;
	memcpy(call, fault, (size_t)(colon - fault));
	at = strtol(colon + 1, &end, 10);
	onwards = *end == '+';
	ready = true;
}

/* Whether this one is to fail. */
static bool fails(const char *name, int error)
{
	const char *mark;
	long n;
	int file;

	if (!ready || strcmp(call, name) != 0)
		return false;
	n = __atomic_add_fetch(&counted, 1, __ATOMIC_RELAXED);
	if (n < at || (n > at && !onwards))
		return false;
	mark = n == at ? getenv("FAULT_MARK") : NULL;
	file = mark ? (int)syscall(SYS_openat, AT_FDCWD, mark, O_CREAT | O_WRONLY, 0600)
		    : -1;
	if (file >= 0)
		syscall(SYS_close, file);
	errno = error;
	return true;
}

static bool is_regular(int file)
{
	struct stat status;

	return fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

static bool is_of_ncurses(const void *caller)
{
	Dl_info about;

	return dladdr(caller, &about) != 0 && about.dli_fname &&
	       (strstr(about.dli_fname, "tinfo") || strstr(about.dli_fname, "ncurses"));
}

static bool memory_fails(const void *caller)
{
	return fails("malloc", ENOMEM) && !is_of_ncurses(caller);
}

void *malloc(size_t size)
{
	return memory_fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

/* The C library's own would ask as itself, whoever called it. */
char *strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy =
		memory_fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);

	return copy ? memcpy(copy, text, size) : NULL;
}

void *calloc(size_t count, size_t size)
{
	return memory_fails(__builtin_return_address(0)) ? NULL
							 : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
	return memory_fails(__builtin_return_address(0)) ? NULL
							 : __libc_realloc(memory, size);
}

ssize_t write(int file, const void *bytes, size_t length)
{
	if (is_regular(file) && fails("write", ENOSPC))
		return -1;
	return syscall(SYS_write, file, bytes, length);
}

int fsync(int file)
{
	return fails("fsync", EIO) ? -1 : (int)syscall(SYS_fsync, file);
}

int close(int file)
{
	bool told = is_regular(file) && fails("close", EIO);

	return (int)syscall(SYS_close, file) == 0 && !told ? 0 : -1;
}

int rename(const char *from, const char *to)
{
	return fails("rename", EXDEV) ? -1 : (int)syscall(SYS_rename, from, to);
}

int mkdir(const char *path, mode_t mode)
{
	return fails("mkdir", EACCES) ? -1 : (int)syscall(SYS_mkdir, path, mode);
}

int open(const char *path, int flags, ...)
{
	__builtin_va_list args;
	mode_t mode;

	__builtin_va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? __builtin_va_arg(args, mode_t) : 0;
	__builtin_va_end(args);
	if (fails("open", EACCES))
		return -1;
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int mkstemp(char *path)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
	size_t length = strlen(path);
	int file = -1;

	if (fails("mkstemp", EROFS))
		return -1;
	for (unsigned try = 0; file < 0 && try < 1000; try++) {
		unsigned word = (unsigned)getpid() * 1000 + try;

		for (size_t i = length - 6; i < length; i++, word /= 26)
			path[i] = letters[word % 26];
		file = (int)syscall(SYS_openat, AT_FDCWD, path,
				    O_CREAT | O_EXCL | O_RDWR, 0600);
	}
	return file;
}
