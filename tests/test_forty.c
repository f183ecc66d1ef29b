/* test_forty.c - a class of forty on one login node, and twenty others: sixty explorers
 * at once are small, sleep while nobody types, keep what each did, and share nothing
 * but the binary. One whose window was large for a while is as small again. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/close.h"
#include "tests/support/run.h"
#include "tests/support/vt.h"

enum { STUDENTS = 60, MOST_KIB = 16 << 10, MOST_KEYS = 2000 };

static char home[] = "/tmp/shardscope-forty-XXXXXX";

struct student {
	struct vt *vt;
	char config[96], state[96], folder[64];
};

static struct student class[STUDENTS];

static int make_home(void **state)
{
	(void)state;
	return mkdtemp(home) ? 0 : -1;
}

static void come_in(struct student *student, int number)
{
	const char *const argv[] = { run_program(), NULL };

	snprintf(student->folder, sizeof student->folder, "%s/%d/", home, number);
	snprintf(student->config, sizeof student->config, "XDG_CONFIG_HOME=%sconfig",
		 student->folder);
	snprintf(student->state, sizeof student->state, "XDG_STATE_HOME=%sstate",
		 student->folder);
	const struct vt_options options = {
		.columns = 120, .rows = 36, .env = { student->config, student->state }
	};

	student->vt = vt_start(&options, argv);
}

/* Memory that is there ("VmRSS:"), or was at most ("VmHWM:"), in KiB; 0 where the
 * kernel does not tell. */
static long resident(const struct vt *vt, const char *key)
{
	char path[64], line[256];
	long kib = 0;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/status", (int)vt->pid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof line, file))
		if (strncmp(line, key, 6) == 0)
			kib = strtol(line + 6, NULL, 10);
	if (file)
		fclose(file);
	return kib;
}

/* Every open file is the terminal, a pipe of its own, or in the student's folder. */
static void check_files(const struct student *student)
{
	char folder[64], path[340], target[512];
	struct dirent *entry;
	DIR *list;

	snprintf(folder, sizeof folder, "/proc/%d/fd", (int)student->vt->pid);
	list = opendir(folder);
	while (list && (entry = readdir(list))) {
		ssize_t length;

		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		length = readlink(path, target, sizeof target - 1);
		if (entry->d_name[0] == '.' || length < 0)
			continue;
		target[length] = '\0';
		if (strncmp(target, "/dev/", 5) != 0 && target[0] == '/' &&
		    strncmp(target, student->folder, strlen(student->folder)) != 0)
			fail_msg("%s is open", target);
	}
	if (list)
		closedir(list);
}

/* All that a student may do in the first minutes; the heaviest views. */
static void study(struct student *student)
{
	vt_expect(student->vt, "MEMORY");
	vt_type(student->vt, "\033[C"); /* TP up */
	vt_expect(student->vt, "43.6 GiB");
	vt_type(student->vt, "3");
	vt_expect(student->vt, "stage 0");
	vt_type(student->vt, "i");
	vt_expect(student->vt, "why change it");
	vt_expect(student->vt, "i words"); /* the last line, drawn last */
}

/* What was done is saved a moment after it; then only a key can wake it. */
static void expect_idle(struct vt *vt)
{
	int looks = 0;

	do
		vt_expect_asleep(vt);
	while (!vt_waits_without_end(vt) && ++looks < 1000);
	assert_true(vt_waits_without_end(vt));
}

#ifdef __SANITIZE_ADDRESS__
static const bool is_measured = false; /* the sanitizer's memory would count */
#else
static const bool is_measured = true;
#endif

static void test_sixty_are_small_and_asleep(void **state)
{
	long most = 0;

	(void)state;
	for (int i = 0; i < STUDENTS; i++)
		come_in(&class[i], i);
	for (int i = 0; i < STUDENTS; i++)
		study(&class[i]);
	for (int i = 0; i < STUDENTS; i++) {
		long kib = resident(class[i].vt, "VmHWM:");

		most = kib > most ? kib : most;
		expect_idle(class[i].vt);
		check_files(&class[i]);
	}
	if (is_measured && most > MOST_KIB)
		fail_msg("%ld KiB each", most);
}

/* Each finds again what it left, however it went. */
static void test_nothing_is_lost(void **state)
{
	(void)state;
	for (int i = 0; i < STUDENTS; i++) {
		char path[160];

		if (i % 2 == 0) {
			vt_hang_up(class[i].vt); /* the connection breaks */
			vt_expect_exit(class[i].vt, 128 + SIGHUP);
		} else {
			vt_type(class[i].vt, "qq");
			vt_expect_exit(class[i].vt, 0);
		}
		vt_close(class[i].vt);
		snprintf(path, sizeof path, "%sstate/shardscope/workspace.yaml",
			 class[i].folder);
		assert_int_equal(access(path, F_OK), 0);
	}
	for (int i = 0; i < 4; i++) {
		come_in(&class[i], i);
		vt_expect(class[i].vt, "43.6 GiB");
		vt_close(class[i].vt);
	}
}

/* Who waits until the terminal takes the rest of a frame is not at rest. */
static void test_half_a_frame_is_no_rest(void **state)
{
	static struct student student;
	int stuck = 0;

	(void)state;
	come_in(&student, STUDENTS + 1);
	vt_expect(student.vt, "MEMORY");
	vt_resize(student.vt, 600, 300);
	/* nobody reads what comes, until it takes no key either */
	for (int keys = 0; keys < MOST_KEYS && stuck < 3; keys++)
		stuck = vt_type_unread(student.vt, keys % 2 ? "2" : "3") ? 0
									 : stuck + 1;
	assert_int_equal(stuck, 3);
	/* the kernel may not tell what it sleeps in */
	if (access("/proc/self/syscall", R_OK) == 0)
		assert_false(vt_waits_without_end(student.vt));
	vt_expect_asleep(student.vt);
	expect_idle(student.vt);
	vt_close(student.vt);
}

/* A window that was large for a while, and drawn at many sizes, leaves nothing behind:
 * what its cells took is given back. */
static void test_a_large_screen_is_given_back(void **state)
{
	static struct student student;
	long before, after;

	(void)state;
	come_in(&student, STUDENTS);
	vt_expect(student.vt, "MEMORY");
	expect_idle(student.vt);
	before = resident(student.vt, "VmRSS:");
	for (int round = 0; round < 60; round++) {
		vt_resize(student.vt, 600 - round * 37 % 400, 300 - round * 53 % 200);
		vt_type(student.vt, round % 2 ? "2" : "3");
		/* what is looked for may stand there from the frame before */
		vt_expect_idle(student.vt);
		vt_expect(student.vt, round % 2 ? "activations" : "stage 0");
	}
	vt_resize(student.vt, 120, 36);
	vt_type(student.vt, "3");
	vt_expect(student.vt, "stage 0");
	expect_idle(student.vt);
	after = resident(student.vt, "VmRSS:");
	if (is_measured && after > before + (4 << 10))
		fail_msg("%ld KiB, and %ld after large screens", before, after);
	vt_close(student.vt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sixty_are_small_and_asleep),
		cmocka_unit_test(test_nothing_is_lost),
		cmocka_unit_test(test_half_a_frame_is_no_rest),
		cmocka_unit_test(test_a_large_screen_is_given_back),
	};

	return cmocka_run_group_tests(tests, make_home, NULL);
}
