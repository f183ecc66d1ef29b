/* fault.c - a library for LD_PRELOAD that lets a chosen call fail.
 *
 * FAULT=CALL:N lets the N-th call of CALL fail, FAULT=CALL:N+ that and all after it;
 * CALL is malloc (calloc and realloc count with it), write, fsync, rename, open (fopen
 * counts with it), mkstemp, mkdir or close. FAULT_MARK names a file that is made when a
 * call has failed: without it there is none of that number. write and close fail on
 * regular files only: what a terminal does is another test's. What ncurses asks memory
 * for it gets: setupterm() and delscreen() fall over their own failed calls.
 * FAULT=stop:N stops the terminal, as Ctrl-S does, just before the N-th write to it.
 *
 * FAULT_PLACES names a file that gets the numbers of the calls of malloc that came by
 * another way than all before, a line each: their callers, to the outermost, differ. Of
 * those that came by one way the 1st, 4th, 16th, 64th ... are named, for what a program
 * holds grows, and behind the number stands which of them it is; then a number of the
 * callers next to it alone, by which two commands know that they come to the same
 * place.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

/* What the C library's own are behind these names. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

static char call[16];
static long at, counted;
static bool onwards, ready;

/* Ways by which memory was asked for, by a hash of the callers' addresses. */
enum { WAYS = 1 << 16, CALLERS = 64, OURS = 2, NEAR = 10 };
static struct {
	uint64_t hash;
	long taken;
} ways[WAYS];
static int places = -1;
static __thread bool looking;

/* The first backtrace() loads a library, which asks for memory itself. */
static void begin_places(void)
{
	const char *path = getenv("FAULT_PLACES");
	void *caller[1];

	if (!path)
		return;
	looking = true;
	backtrace(caller, 1);
	looking = false;
	places = (int)syscall(SYS_openat, AT_FDCWD, path,
			      O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
}

static bool is_of_ncurses(const void *caller)
{
	Dl_info about;

	return dladdr(caller, &about) != 0 && about.dli_fname &&
	       (strstr(about.dli_fname, "tinfo") || strstr(about.dli_fname, "ncurses"));
}

static bool is_power_of_four(long number)
{
	return (number & (number - 1)) == 0 && number % 3 == 1;
}

static uint64_t add_to_hash(uint64_t hash, uintptr_t word)
{
	return (hash ^ word) * 1099511628211u; /* FNV-1a, a word at a time */
}

/* Of the callers next to the call, wherever their libraries lie in memory. */
static uint64_t hash_near(void *const *callers, int depth)
{
	uint64_t hash = 1469598103934665603u;

	for (int i = OURS; i < depth && i < NEAR; i++) {
		Dl_info about;
		uintptr_t base = dladdr(callers[i], &about) != 0
					 ? (uintptr_t)about.dli_fbase
					 : 0;

		hash = add_to_hash(hash, (uintptr_t)callers[i] - base);
	}
	return hash;
}

/* The n-th call is written down if few came by its way before. */
static void note_place(long n, const void *caller)
{
	uint64_t hash = 1469598103934665603u;
	void *callers[CALLERS];
	char line[64];
	size_t at_way;
	int depth;

	if (places < 0 || looking || is_of_ncurses(caller))
		return;
	looking = true;
	depth = backtrace(callers, CALLERS);
	for (int i = 0; i < depth; i++)
		hash = add_to_hash(hash, (uintptr_t)callers[i]);
	at_way = (hash ^ hash >> 32) % WAYS;
	while (ways[at_way].taken && ways[at_way].hash != hash)
		at_way = (at_way + 1) % WAYS;
	ways[at_way].hash = hash;
	ways[at_way].taken++;
	if (is_power_of_four(ways[at_way].taken)) {
		depth = snprintf(line, sizeof line, "%ld %ld %llx\n", n,
				 ways[at_way].taken,
				 (unsigned long long)hash_near(callers, depth));
		syscall(SYS_write, places, line, depth);
	}
	looking = false;
}

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
	begin_places();
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

static bool memory_fails(const void *caller)
{
	bool told = !looking && fails("malloc", ENOMEM);

	note_place(counted, caller);
	return told && !is_of_ncurses(caller);
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
	if (ready && strcmp(call, "stop") == 0 && isatty(file) && fails("stop", 0))
		tcflow(file, TCOOFF);
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
