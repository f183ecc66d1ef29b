/* vt.c - see vt.h. */
#include "tests/support/vt.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/close.h"
#include "tui/text.h"

/* An upper bound of every wait, for a machine under load. */
enum { PATIENCE_MS = 20000 };

static long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int on_property(VTermProp property, VTermValue *value, void *user)
{
	struct vt *vt = user;

	if (property == VTERM_PROP_ALTSCREEN)
		vt->alternate = value->boolean;
	else if (property == VTERM_PROP_CURSORVISIBLE)
		vt->cursor_visible = value->boolean;
	else if (property == VTERM_PROP_MOUSE)
		vt->mouse = value->number;
	return 1;
}

static const VTermScreenCallbacks callbacks = { .settermprop = on_property };

static void run_child(const struct vt_options *options, const char *const argv[])
{
	sigset_t none;

	/* a shell that runs tests behind its & has them ignored, and so would this */
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	/* As a login shell leaves it. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	unsetenv("LINES");
	unsetenv("COLUMNS");
	unsetenv("NO_COLOR");
	unsetenv("COLORFGBG");
	unsetenv("COLORTERM");
	unsetenv("STY");
	unsetenv("ESCDELAY");
	/* A pty is no console: without its mouse server libgpm keeps ten bytes of the
	 * terminal's name for ever. */
	setenv("NCURSES_GPM_TERMS", "none", 1);
	setenv("TERM", options->term != NULL ? options->term : "xterm-256color", 1);
	setenv("LC_ALL", options->locale != NULL ? options->locale : "C.UTF-8", 1);
	for (size_t i = 0; i < 6 && options->env[i] != NULL; i++)
		putenv((char *)(size_t)options->env[i]);
	signal(SIGHUP, SIG_DFL); /* nohup ignores it, and so would what it runs */
	execvp(argv[0], (char *const *)(size_t)argv);
	_exit(127);
}

struct vt *vt_start(const struct vt_options *options, const char *const argv[])
{
	struct vt *vt = calloc(1, sizeof *vt);

	assert_non_null(vt);
	vt->rows = options->rows > 0 ? options->rows : 24;
	vt->columns = options->columns > 0 ? options->columns : 80;
	struct winsize size = { .ws_row = (unsigned short)vt->rows,
				.ws_col = (unsigned short)vt->columns };
	vt->pid = forkpty(&vt->fd, NULL, NULL, &size);
	assert_true(vt->pid >= 0);
	if (vt->pid == 0)
		run_child(options, argv);
	/* a child that is started later must not hold this terminal open */
	fcntl(vt->fd, F_SETFD, FD_CLOEXEC);
	vt->vterm = vterm_new(vt->rows, vt->columns);
	vterm_set_utf8(vt->vterm, 1);
	vt->screen = vterm_obtain_screen(vt->vterm);
	vterm_screen_set_callbacks(vt->screen, &callbacks, vt);
	vterm_screen_enable_altscreen(vt->screen, 1);
	vterm_screen_reset(vt->screen, 1);
	vt->cursor_visible = true;
	vt->background = options->background;
	vt->mute = options->mute;
	return vt;
}

void vt_close(struct vt *vt)
{
	if (vt->pid > 0) {
		kill(vt->pid, SIGKILL);
		waitpid(vt->pid, &vt->status, 0);
	}
	if (vt->fd >= 0)
		close(vt->fd);
	vterm_free(vt->vterm);
	free(vt);
}

void vt_hang_up(struct vt *vt)
{
	close(vt->fd);
	vt->fd = -1;
	vt->ended = true;
}

/* What libvterm has for the child: keys, mouse reports, answers. */
static void flush_replies(struct vt *vt, bool dropped)
{
	char bytes[512];
	size_t length;

	while ((length = vterm_output_read(vt->vterm, bytes, sizeof bytes)) > 0)
		if (!dropped && write(vt->fd, bytes, length) < 0)
			return;
}

/* libvterm 0.1.4 (Debian 12) takes only the first number of "CSI ? 1006;1000 h",
 * which is how ncurses asks for the mouse; each number gets its own sequence. */
static void feed_modes(struct vt *vt, char last)
{
	char *rest = NULL;

	vt->held[vt->held_length - 1] = '\0';
	for (char *mode = strtok_r(vt->held + 3, ";", &rest); mode != NULL;
	     mode = strtok_r(NULL, ";", &rest)) {
		char one[96];

		if (strcmp(mode, "2004") == 0)
			vt->pastes = last == 'h';
		int length = snprintf(one, sizeof one, "\033[?%s%c", mode, last);
		vterm_input_write(vt->vterm, one, (size_t)length);
	}
}

static bool may_go_on(const struct vt *vt, char c)
{
	static const char start[] = "\033[?";

	if (vt->held_length <= 3)
		return c == start[vt->held_length - 1];
	return vt->held_length < sizeof vt->held - 1 && c != '\0' &&
	       strchr("0123456789;", c) != NULL;
}

/* Old versions of libvterm say nothing of OSC 52: its text is kept here, and goes on
 * to libvterm, which passes over it. */
static void watch_clipboard(struct vt *vt, const char *bytes, size_t length)
{
	static const char start[] = "\033]52;c;";
	const char *at =
		vt->in_clipboard ? bytes : memmem(bytes, length, start, strlen(start));

	if (!at)
		return;
	if (!vt->in_clipboard) {
		vt->in_clipboard = true;
		vt->clipboard_length = 0;
		at += strlen(start);
	}
	for (; at < bytes + length && vt->in_clipboard; at++) {
		if (*at == '\a')
			vt->in_clipboard = false;
		else if (vt->clipboard_length < sizeof vt->clipboard - 1)
			vt->clipboard[vt->clipboard_length++] = *at;
	}
	vt->clipboard[vt->clipboard_length] = '\0';
}

/* libvterm does not answer this itself. */
static void answer_background(struct vt *vt, const char *bytes, size_t length)
{
	char answer[96];

	if (!memmem(bytes, length, "\033]11;?", 6))
		return;
	vt->questions++;
	if (!vt->background)
		return;
	snprintf(answer, sizeof answer, "\033]11;%s\033\\", vt->background);
	vt_type(vt, answer);
}

static void feed(struct vt *vt, const char *bytes, size_t length)
{
	answer_background(vt, bytes, length);
	watch_clipboard(vt, bytes, length);
	for (size_t i = 0; i < length; i++) {
		vt->held[vt->held_length++] = bytes[i];
		if (may_go_on(vt, bytes[i]))
			continue;
		if (vt->held_length > 4 && (bytes[i] == 'h' || bytes[i] == 'l'))
			feed_modes(vt, bytes[i]);
		else
			vterm_input_write(vt->vterm, vt->held, vt->held_length);
		vt->held_length = 0;
	}
}

/* One read, waiting at most ms. False once the child's side is closed. */
static bool pump(struct vt *vt, int ms)
{
	struct pollfd output = { .fd = vt->fd, .events = POLLIN };
	char bytes[16384];

	if (vt->ended) {
		poll(NULL, 0, ms);
		return false;
	}
	if (poll(&output, 1, ms) <= 0)
		return true;
	ssize_t length = read(vt->fd, bytes, sizeof bytes);
	if (length <= 0) {
		vt->ended = true;
		return false;
	}
	vt->bytes += (size_t)length;
	feed(vt, bytes, (size_t)length);
	flush_replies(vt, vt->mute);
	return true;
}

/* State letter of /proc/PID/stat: S = interruptible sleep. */
static char state_of(pid_t pid)
{
	char path[64], line[512] = "";

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	FILE *file = fopen(path, "r");
	if (file == NULL)
		return '?';
	char *got = fgets(line, sizeof line, file);
	fclose(file);
	const char *name_end = got != NULL ? strrchr(line, ')') : NULL;
	return name_end != NULL && name_end[1] != '\0' ? name_end[2] : '?';
}

/* Bytes that were typed and that the child has not read yet. */
static int unread_input(struct vt *vt)
{
	char name[64];
	int waiting = 0;

	if (ptsname_r(vt->fd, name, sizeof name) != 0)
		return 0;
	int side = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (side < 0)
		return 0;
	if (ioctl(side, FIONREAD, &waiting) != 0)
		waiting = 0;
	close(side);
	return waiting;
}

void vt_type(struct vt *vt, const char *bytes)
{
	size_t left = strlen(bytes);

	/* the kernel may take less than all at once */
	while (left > 0) {
		ssize_t written = write(vt->fd, bytes, left);

		assert_true(written > 0);
		bytes += written;
		left -= (size_t)written;
	}
}

bool vt_type_unread(struct vt *vt, const char *bytes)
{
	long long end = now_ms() + 500;

	vt_type(vt, bytes);
	while (unread_input(vt) > 0 || state_of(vt->pid) != 'S') {
		if (now_ms() > end)
			return false;
		poll(NULL, 0, 1);
	}
	return true;
}

void vt_expect_exit_unread(struct vt *vt, int status)
{
	long long end = now_ms() + PATIENCE_MS;

	while (waitpid(vt->pid, &vt->status, WNOHANG) != vt->pid) {
		if (now_ms() > end)
			fail_msg("the program does not end while nobody reads");
		poll(NULL, 0, 1);
	}
	vt->pid = -1;
	if (!WIFEXITED(vt->status) || WEXITSTATUS(vt->status) != status)
		fail_msg("wait status %#x instead of exit %d", (unsigned)vt->status,
			 status);
}

/* Of a file of /proc/PID/. */
static bool proc_line(const struct vt *vt, const char *file, const char *start,
		      char *line, size_t size)
{
	char path[64];
	bool found = false;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)vt->pid, file);
	FILE *stream = fopen(path, "r");
	while (stream && !found && fgets(line, (int)size, stream))
		found = strncmp(line, start, strlen(start)) == 0;
	if (stream)
		fclose(stream);
	return found;
}

long vt_writes(const struct vt *vt)
{
	char line[128];

	return proc_line(vt, "io", "syscw: ", line, sizeof line)
		       ? strtol(line + 7, NULL, 10)
		       : -1;
}

double vt_processor_seconds(const struct vt *vt)
{
	char line[512];
	unsigned long user, system;

	if (!proc_line(vt, "stat", "", line, sizeof line) || !strrchr(line, ')') ||
	    sscanf(strrchr(line, ')') + 2,
		   "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
		   &system) != 2)
		return -1;
	return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static void mouse(struct vt *vt, int row, int column, int button)
{
	vterm_mouse_move(vt->vterm, row, column, VTERM_MOD_NONE);
	vterm_mouse_button(vt->vterm, button, true, VTERM_MOD_NONE);
	if (button < 4)
		vterm_mouse_button(vt->vterm, button, false, VTERM_MOD_NONE);
	flush_replies(vt, false);
}

void vt_click(struct vt *vt, int row, int column)
{
	mouse(vt, row, column, 1);
}

void vt_wheel(struct vt *vt, int row, int column, bool down)
{
	mouse(vt, row, column, down ? 5 : 4);
}

void vt_resize(struct vt *vt, int columns, int rows)
{
	struct winsize size = { .ws_row = (unsigned short)rows,
				.ws_col = (unsigned short)columns };

	vt->rows = rows;
	vt->columns = columns;
	vterm_set_size(vt->vterm, rows, columns);
	ioctl(vt->fd, TIOCSWINSZ, &size); /* the kernel sends SIGWINCH */
}

static void print_screen(struct vt *vt)
{
	for (int row = 0; row < vt->rows; row++)
		print_error("%3d|%s\n", row, vt_row(vt, row));
}

bool vt_await(struct vt *vt, const char *text)
{
	long long end = now_ms() + PATIENCE_MS;

	while (!vt_find(vt, text, NULL)) {
		bool open = pump(vt, 50);
		if (!open && !vt_find(vt, text, NULL))
			return false;
		if (now_ms() > end) {
			print_screen(vt);
			fail_msg("'%s' does not appear", text);
		}
	}
	return true;
}

void vt_expect(struct vt *vt, const char *text)
{
	if (vt_await(vt, text))
		return;
	print_screen(vt);
	fail_msg("the program ends, and '%s' did not appear", text);
}

void vt_expect_gone(struct vt *vt, const char *text)
{
	long long end = now_ms() + PATIENCE_MS;

	while (vt_find(vt, text, NULL)) {
		if (!pump(vt, 50) || now_ms() > end) {
			print_screen(vt);
			fail_msg("'%s' does not go away", text);
		}
	}
}

void vt_expect_row(struct vt *vt, int row, const char *text)
{
	long long end = now_ms() + PATIENCE_MS;

	while (strstr(vt_row(vt, row), text) == NULL) {
		if (!pump(vt, 50) || now_ms() > end) {
			print_screen(vt);
			fail_msg("'%s' does not appear in row %d", text, row);
		}
	}
}

void vt_expect_output(struct vt *vt)
{
	long long end = now_ms() + PATIENCE_MS;
	size_t before = vt->bytes;

	while (vt->bytes == before) {
		if (!pump(vt, 50) || now_ms() > end) {
			print_screen(vt);
			fail_msg("nothing is sent");
		}
	}
}

static void wait_exit(struct vt *vt)
{
	long long end = now_ms() + PATIENCE_MS;

	while (vt->pid > 0) {
		pump(vt, 5);
		if (waitpid(vt->pid, &vt->status, WNOHANG) == vt->pid)
			vt->pid = -1;
		else if (now_ms() > end) {
			print_screen(vt);
			fail_msg("the program does not end");
		}
	}
	while (pump(vt, 0) && vt->fd >= 0 &&
	       poll(&(struct pollfd){ .fd = vt->fd, .events = POLLIN }, 1, 0) > 0)
		;
}

int vt_status(struct vt *vt)
{
	wait_exit(vt);
	return vt->status;
}

void vt_expect_exit(struct vt *vt, int status)
{
	wait_exit(vt);
	if (!WIFEXITED(vt->status) || WEXITSTATUS(vt->status) != status) {
		print_screen(vt);
		fail_msg("wait status %#x instead of exit %d", (unsigned)vt->status,
			 status);
	}
}

void vt_expect_killed(struct vt *vt, int signal)
{
	wait_exit(vt);
	if (!WIFSIGNALED(vt->status) || WTERMSIG(vt->status) != signal) {
		print_screen(vt);
		fail_msg("wait status %#x instead of signal %d", (unsigned)vt->status,
			 signal);
	}
}

/* What the child sleeps in: the arguments of its ppoll(); false: another call, or the
 * kernel does not tell. */
static bool poll_of(const struct vt *vt, unsigned long *fds, unsigned long *timeout)
{
	char path[64], line[256] = "";
	int number;

	snprintf(path, sizeof path, "/proc/%d/syscall", (int)vt->pid);
	FILE *file = fopen(path, "r");
	if (file == NULL)
		return false;
	char *got = fgets(line, sizeof line, file);
	fclose(file);
	return got != NULL &&
	       sscanf(line, "%d %lx %*x %lx", &number, fds, timeout) == 3 &&
	       number == SYS_ppoll;
}

/* It sleeps until the terminal takes more: a frame is only half sent. Under load what
 * was sent comes so late that all seems to be at rest. */
static bool waits_for_room(const struct vt *vt)
{
	unsigned long fds, timeout;
	struct pollfd first = { .events = 0 };
	char path[64];

	if (!poll_of(vt, &fds, &timeout))
		return false;
	snprintf(path, sizeof path, "/proc/%d/mem", (int)vt->pid);
	int memory = open(path, O_RDONLY | O_CLOEXEC);
	if (memory < 0)
		return false;
	ssize_t length = pread(memory, &first, sizeof first, (off_t)fds);
	close(memory);
	return length == (ssize_t)sizeof first && (first.events & POLLOUT);
}

/* Asleep with all input read and all output seen, so many looks in a row. */
static void await_calm(struct vt *vt, int looks, int ms)
{
	long long end = now_ms() + PATIENCE_MS;
	int calm = 0;

	while (calm < looks) {
		size_t before = vt->bytes;
		bool open = pump(vt, ms);
		calm = vt->bytes == before && unread_input(vt) == 0 &&
				       state_of(vt->pid) == 'S' && !waits_for_room(vt)
			       ? calm + 1
			       : 0;
		if (!open || now_ms() > end) {
			print_screen(vt);
			fail_msg("the program does not come to rest");
		}
	}
}

void vt_expect_asleep(struct vt *vt)
{
	await_calm(vt, 3, 10);
}

void vt_expect_idle(struct vt *vt)
{
	await_calm(vt, 1, 1);
}

bool vt_waits_without_end(struct vt *vt)
{
	unsigned long fds, timeout;

	/* ppoll(fds, count, limit) */
	return !poll_of(vt, &fds, &timeout) || (timeout == 0 && !waits_for_room(vt));
}

bool vt_line_is_sane(struct vt *vt)
{
	struct termios line;

	return tcgetattr(vt->fd, &line) == 0 &&
	       (line.c_lflag & (ICANON | ECHO | ISIG)) == (ICANON | ECHO | ISIG) &&
	       (line.c_oflag & OPOST) && (line.c_iflag & ICRNL);
}

VTermScreenCell vt_cell(struct vt *vt, int row, int column)
{
	VTermScreenCell cell = { 0 };

	vterm_screen_get_cell(vt->screen, (VTermPos){ .row = row, .col = column },
			      &cell);
	return cell;
}

const char *vt_row(struct vt *vt, int row)
{
	size_t length = 0;

	for (int column = 0; column < vt->columns && length < sizeof vt->line - 8;) {
		VTermScreenCell cell = vt_cell(vt, row, column);
		uint32_t code = cell.chars[0] != 0 ? cell.chars[0] : ' ';
		length += text_encode(code, vt->line + length);
		column += cell.width > 1 ? cell.width : 1;
	}
	while (length > 0 && vt->line[length - 1] == ' ')
		length--;
	vt->line[length] = '\0';
	return vt->line;
}

bool vt_find(struct vt *vt, const char *text, int *row)
{
	for (int y = 0; y < vt->rows; y++)
		if (strstr(vt_row(vt, y), text) != NULL) {
			if (row != NULL)
				*row = y;
			return true;
		}
	return false;
}

static void note_colour(VTermColor colour, bool is_default, int *highest)
{
	if (is_default)
		return;
	int index = VTERM_COLOR_IS_INDEXED(&colour) ? colour.indexed.idx : 256;
	if (index > *highest)
		*highest = index;
}

void vt_extremes(struct vt *vt, uint32_t *code, int *colour)
{
	*code = 0;
	*colour = -1;
	for (int i = 0; i < vt->rows * vt->columns; i++) {
		VTermScreenCell cell = vt_cell(vt, i / vt->columns, i % vt->columns);
		if (cell.chars[0] != (uint32_t)-1 && cell.chars[0] > *code)
			*code = cell.chars[0];
		note_colour(cell.fg, VTERM_COLOR_IS_DEFAULT_FG(&cell.fg), colour);
		note_colour(cell.bg, VTERM_COLOR_IS_DEFAULT_BG(&cell.bg), colour);
	}
}
