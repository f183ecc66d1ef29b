# shardscope. Plain make, no configure step.
#
#   make run      install what is missing, build, open the explorer
#   make check    install what is missing, build, run every test
#   make          only build ./shardscope

CC      ?= cc
CFLAGS  ?= -O2 -g
PREFIX  ?= /usr/local
B       ?= build

# For a program that reads files of others; `make HARDEN=` builds without, other CFLAGS
# build with. _FORTIFY_SOURCE needs an optimizer, and would hide calls from sanitizers.
FORTIFY = $(if $(findstring -fsanitize,$(CFLAGS)),,$(if $(filter-out -O0,$(filter -O%,$(CFLAGS))), \
            -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))
HARDEN ?= -fstack-protector-strong $(FORTIFY)
HARDEN_LINK = $(if $(HARDEN),-Wl$(,)-z$(,)relro$(,)-z$(,)now)
, := ,
# Tables of pointers as bits, where the C library reads them so: the program and what it
# holds are 430 kB smaller.
PACK = $(if $(shell grep -l GLIBC_ABI_DT_RELR "$$($(CC) -print-file-name=libc.so.6)" 2> /dev/null), \
         -Wl$(,)-z$(,)pack-relative-relocs)
# No folder of the build stands in the program: equal sources give equal bytes.
MAP = -ffile-prefix-map=$(CURDIR)=.

WARN = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
       -Wpointer-arith -Wwrite-strings -Wformat=2 -Wundef -Wvla -Wconversion
# A thread may have a small stack. Sanitizers put room between variables.
FRAME = $(if $(findstring -fsanitize,$(CFLAGS)),,-Wframe-larger-than=65536)
BASE = -std=c11 -D_GNU_SOURCE -ffp-contract=off -I. -MMD -MP $(MAP) $(WARN)
LIBS = $(shell pkg-config --libs ncursesw yaml-0.1 libcjson) -lm -pthread
TEST_LIBS = -lcmocka -lvterm -lutil

sources = $(sort $(wildcard $(1)/*.c $(1)/*/*.c))
objects = $(patsubst %.c,$(B)/%.o,$(call sources,$(1)))

ENGINE  = $(B)/libengine.a
HOUSE   = $(B)/libhouse.a
TESTS   = $(patsubst tests/%.c,$(B)/tests/%,$(sort $(wildcard tests/test_*.c)))
SUPPORT = $(patsubst %.c,$(B)/%.o,$(sort $(wildcard tests/support/*.c tests/twin/*.c tests/numbers/*.c)))
PRESETS = $(sort $(wildcard presets/models/*.yaml presets/clusters/*.yaml \
                            presets/stacks/*.yaml presets/plans/*.yaml \
                            presets/lessons/*.yaml))

all: shardscope

# Everything but main() is in two libraries, so that tests link the same code.
shardscope: $(B)/tui/main.o $(HOUSE) $(ENGINE)
	$(CC) $(HARDEN_LINK) $(PACK) $(CFLAGS) $^ $(LIBS) $(LDFLAGS) -o $@

$(ENGINE): $(call objects,engine)
	@rm -f $@
	$(AR) rcsD $@ $^

$(HOUSE): $(filter-out $(B)/tui/main.o,$(call objects,tui)) $(call objects,presets) \
          $(B)/presets_data.o
	@rm -f $@
	$(AR) rcsD $@ $^

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(BASE) $(HARDEN) $(CFLAGS) -c $< -o $@

# Those that hold a whole step, its table of passes or its queue may have more, and no
# more than now.
LARGE_FRAMES = 131072:train/train 147456:serve/simulate 367616:serve/tail
$(patsubst %.c,$(B)/%.o,$(filter-out $(foreach large,$(LARGE_FRAMES),engine/$(lastword \
  $(subst :, ,$(large))).c),$(wildcard engine/*/*.c))): WARN += $(FRAME)
$(foreach large,$(LARGE_FRAMES),$(eval $(B)/engine/$(lastword $(subst :, ,$(large))).o: \
  WARN += $$(subst 65536,$(firstword $(subst :, ,$(large))),$$(FRAME))))

PRESETS += $(sort $(wildcard presets/challenges/*.yaml presets/accuracy/*.yaml presets/habits/*.yaml))

# Touched when a preset comes or goes, which no date of a file tells.
$(B)/presets.list: FORCE
	@mkdir -p $(@D)
	@echo $(PRESETS) | cmp -s - $@ || echo $(PRESETS) > $@

# The presets as C arrays: sorted, without dates, so that builds are reproducible.
$(B)/presets_data.c: presets/embed.sh $(PRESETS) $(B)/presets.list
	@mkdir -p $(@D)
	sh presets/embed.sh $(PRESETS) > $@.new
	@mv $@.new $@

$(B)/presets_data.o: $(B)/presets_data.c
	$(CC) $(BASE) $(HARDEN) $(CFLAGS) -c $< -o $@

# The bounds of the fit, which a test holds the shipped constants against.
$(B)/tests/test_bounds: $(B)/tests/validation/constants.o $(B)/tests/validation/serving_constants.o
$(B)/tests/test_ranges: $(B)/tests/validation/ranges.o $(B)/tests/validation/left_runs.o

# Some two hundred programs are linked: by the quicker linker where it is there.
LINKER := $(if $(shell command -v ld.gold),-fuse-ld=gold)
$(B)/tests/%: $(B)/tests/%.o $(SUPPORT) $(HOUSE) $(ENGINE)
	$(CC) $(HARDEN_LINK) $(LINKER) $(CFLAGS) $^ $(LIBS) $(TEST_LIBS) $(LDFLAGS) -o $@

# Loaded into the program, where it lets calls fail.
$(B)/fault.so: tests/faults/fault.c
	@mkdir -p $(@D)
	$(CC) $(BASE) -O1 -g -shared -fPIC $< -o $@
$(addprefix $(B)/tests/,test_faults test_fault_commands test_stopped): | $(B)/fault.so

-include $(shell find $(B) -name '*.d' 2>/dev/null)

# --- what a newcomer types -------------------------------------------------
run: depends-run
	@$(MAKE) --no-print-directory shardscope
	./shardscope

check: depends-check
	@$(MAKE) --no-print-directory test

depends-run depends-check: depends-%:
	@sh .ci/depends $*

SHARE = $(DESTDIR)$(PREFIX)/share
INSTALLED = $(DESTDIR)$(PREFIX)/bin/shardscope $(SHARE)/man/man1/shardscope.1 \
            $(SHARE)/bash-completion/completions/shardscope \
            $(SHARE)/zsh/site-functions/_shardscope \
            $(SHARE)/fish/vendor_completions.d/shardscope.fish

# The man page and the shells' completion come from the program's own tables.
install: shardscope
	./shardscope manual > $(B)/shardscope.1
	for shell in bash zsh fish; do ./shardscope completion $$shell > $(B)/completion.$$shell; done
	install -D -s -m 755 shardscope $(word 1,$(INSTALLED))
	install -D -m 644 $(B)/shardscope.1 $(word 2,$(INSTALLED))
	install -D -m 644 $(B)/completion.bash $(word 3,$(INSTALLED))
	install -D -m 644 $(B)/completion.zsh $(word 4,$(INSTALLED))
	install -D -m 644 $(B)/completion.fish $(word 5,$(INSTALLED))

uninstall:
	rm -f $(INSTALLED)

# --- for developers --------------------------------------------------------
# Runs every test program, or those named in T=, TEST_JOBS at a time; prints one closing
# line.
TEST_JOBS ?= 2
ASKED = $(if $(T),$(addprefix $(B)/tests/,$(T)),$(TESTS))
test: shardscope $(ASKED) purity floors lengths
	@TEST_JOBS=$(TEST_JOBS) sh tests/run.sh $(ASKED)

# Lines and functions are what a report tells; what a debugger wants beside them makes
# programs of 40 MB, which take longer to link than to compile.
SANITIZE = -O2 -g1 -fsanitize=address,undefined -fno-sanitize-recover=undefined \
           -fno-omit-frame-pointer
asan:
	@$(MAKE) B=build-asan CFLAGS="$(SANITIZE)" test-apart

# Lines that the tests run, by room; with gcc, whose own counting needs memory.
coverage:
	@$(MAKE) B=build-coverage CC=gcc CFLAGS="-O1 -g --coverage -fprofile-update=atomic" \
	  T="$(filter-out test_fault%,$(notdir $(TESTS)))" test-apart
	@sh tests/coverage.sh build-coverage

# The tests with a program of the same build, not the one that lies here.
test-apart: $(ASKED) $(B)/shardscope
	@TEST_JOBS=$(TEST_JOBS) SHARDSCOPE=$(B)/shardscope sh tests/run.sh $(ASKED)

$(B)/shardscope: $(B)/tui/main.o $(HOUSE) $(ENGINE)
	$(CC) $(HARDEN_LINK) $(CFLAGS) $^ $(LIBS) $(LDFLAGS) -o $@

# Any bytes as a file of each kind that is read; needs clang. FUZZ_SECONDS for each.
FUZZ_SECONDS ?= 60
FUZZ = $(sort $(notdir $(wildcard tests/fuzz/seeds/*)) scenario model cluster stack runs lesson challenge)
fuzz:
	@$(MAKE) B=build-fuzz CC=clang \
	  CFLAGS="$(patsubst -O2,-O1,$(SANITIZE)) -fsanitize=fuzzer-no-link" fuzz-run

# Many more inputs a second: without ASan, so that what it would see is seen when `make
# fuzz` takes what this kept; undefined behaviour ends it.
FUZZ_BULK = -O2 -g -fsanitize=undefined -fsanitize-trap=undefined -fsanitize=fuzzer-no-link \
            -fno-sanitize-coverage=trace-cmp,indirect-calls
# libFuzzer by itself: what -fsanitize=fuzzer links beside it looks at each strcmp, and
# that takes a third of the time; so does weighing what is rare (-entropic).
FUZZ_ALONE = $(firstword $(wildcard $(addprefix $(shell clang -print-runtime-dir)/libclang_rt.fuzzer, \
             -$(shell uname -m).a .a)))
fuzz-bulk:
	@$(MAKE) B=build-fuzz-bulk CC=clang CFLAGS="$(FUZZ_BULK)" \
		FUZZ_LINK="$(FUZZ_ALONE) -lstdc++" FUZZ_FLAGS=-entropic=0 fuzz-run

# Two at a time; one that finds something stops the others.
fuzz-run: $(addprefix $(B)/fuzz_,$(FUZZ))
	@printf '%s\n' $(FUZZ) | xargs -P 2 -I @ sh tests/fuzz/run.sh @ $(B) $(FUZZ_SECONDS) $(FUZZ_FLAGS)

# Only these: a pattern would also make what -include looks for.
FUZZERS = $(addprefix $(B)/fuzz_,$(FUZZ))
FUZZ_LINK = -fsanitize=fuzzer
$(FUZZERS:=.o): $(B)/fuzz_%.o: tests/fuzz/fuzz_format.c
	@mkdir -p $(@D)
	$(CC) $(BASE) $(HARDEN) $(CFLAGS) -fsanitize=fuzzer-no-link -DFORMAT='"$*"' -c $< -o $@

$(FUZZERS): $(B)/fuzz_%: $(B)/fuzz_%.o $(HOUSE) $(ENGINE)
	$(CC) $(HARDEN_LINK) $(CFLAGS) $^ $(FUZZ_LINK) $(LIBS) $(LDFLAGS) -o $@

# Small mistakes put into the formulas one at a time; which does a test catch? LIST= takes
# a list of them, FILES= the files, SAMPLE= so many of each room; see
# tests/mutate/README.md. Built apart, as shared libraries: a mistake costs one file and
# one library, and no test is linked again.
SAMPLE ?= 30
SEED ?= 1
JOBS ?= 2
LEAST ?= 0
MUTATED = $(sort $(wildcard engine/plan/split*.c $(addsuffix /*.c,$(addprefix engine/, \
            train graph serve collective pipeline planner price))))
MUTATE_TESTS = $(addprefix $(B)/dynamic/,shardscope $(shell cut -d " " -f 1 tests/mutate/tests 2> /dev/null))
HOUSE_OBJECTS = $(filter-out $(B)/tui/main.o,$(call objects,tui)) $(call objects,presets) \
                $(B)/presets_data.o
$(B)/mutate: tests/mutate/mutate.c
	@mkdir -p $(@D)
	$(CC) $(BASE) $(CFLAGS) $< -o $@
$(B)/stop.so: tests/mutate/stop.c
	@mkdir -p $(@D)
	$(CC) $(BASE) -O1 -shared -fPIC $< -o $@
$(B)/dynamic/libengine.so: $(call objects,engine)
	@mkdir -p $(@D)
	$(CC) -shared $^ -o $@
$(B)/dynamic/libhouse.so: $(HOUSE_OBJECTS)
	@mkdir -p $(@D)
	$(CC) -shared $^ -o $@
DYNAMIC = $(B)/dynamic/libhouse.so $(B)/dynamic/libengine.so
$(B)/dynamic/test_%: $(B)/tests/test_%.o $(SUPPORT) $(DYNAMIC)
	$(CC) $(filter %.o,$^) -L$(B)/dynamic -Wl,--no-as-needed -lhouse -lengine $(LIBS) $(TEST_LIBS) -o $@
$(B)/dynamic/shardscope: $(B)/tui/main.o $(DYNAMIC)
	$(CC) $(filter %.o,$^) -L$(B)/dynamic -Wl,--no-as-needed -lhouse -lengine $(LIBS) -o $@
mutate:
	@mkdir -p build-mutate && touch build-mutate/begun
	@$(MAKE) B=build-mutate HARDEN= CFLAGS="-O2 -fPIC -fno-semantic-interposition" mutate-run
mutate-run: $(B)/mutate $(B)/stop.so $(MUTATE_TESTS)
	@B="$(B)" COMPILE="$(CC) $(filter-out -MMD -MP $(MAP) $(WARN),$(BASE)) $(CFLAGS) -w" \
	 LINK="$(CC)" ENGINE_OBJECTS="$(addprefix $(CURDIR)/,$(call objects,engine))" \
	 HOUSE_OBJECTS="$(addprefix $(CURDIR)/,$(HOUSE_OBJECTS))" \
	 FILES="$(or $(FILES),$(MUTATED))" LIST="$(LIST)" SAMPLE="$(SAMPLE)" SEED="$(SEED)" \
	 JOBS="$(JOBS)" LEAST="$(LEAST)" KEEP="$(KEEP)" WITHOUT="$(WITHOUT)" AGAIN="$(AGAIN)" sh tests/mutate/run.sh

# Measurements, as one JSON object on standard output; see tests/bench/README.md.
# BENCH_OF=keys: only what a key costs; BENCH_OF=engine: estimates, schedules, searches.
BENCH = $(patsubst %.c,$(B)/%.o,$(sort $(wildcard tests/bench/*.c)))
bench:
	@$(MAKE) --no-print-directory shardscope $(B)/tests/bench/bench >&2
	@$(B)/tests/bench/bench $(BENCH_OF)
$(B)/tests/bench/bench: $(BENCH) $(SUPPORT) $(HOUSE) $(ENGINE)
	$(CC) $(HARDEN_LINK) $(CFLAGS) $^ $(LIBS) $(TEST_LIBS) $(LDFLAGS) -o $@

# Predicted against measured runs, per source and in total.
validate: shardscope $(B)/tests/validation/fit_collectives
	@./shardscope validate --left-out tests/validation/left_out.csv \
	   --left-out tests/validation/left_out_serving.csv tests/validation/*.yaml \
	   tests/validation/inference/*.yaml; \
	 answer=$$?; \
	 $(B)/tests/validation/fit_collectives --score tests/validation/collectives/*.csv && exit $$answer

# Fit the constants of presets/clusters and presets/stacks to the measured runs; see
# tests/validation/fit.c for what FIT= takes.
$(B)/tests/validation/fit: $(B)/tests/validation/fit.o $(B)/tests/validation/constants.o \
                           $(B)/tests/validation/left_runs.o \
                           $(B)/tests/validation/ranges.o \
                           $(B)/tests/validation/solve.o $(HOUSE) $(ENGINE)
	$(CC) $(HARDEN_LINK) $(CFLAGS) $^ $(LIBS) $(LDFLAGS) -o $@
fit: $(B)/tests/validation/fit
	@$< $(FIT) tests/validation/*.yaml
# Leave out each source in turn: how it is met, and the ranges that follow. Some minutes.
left-out: $(B)/tests/validation/fit
	@$< --each --left-out tests/validation/left_out.csv \
	    --runs tests/validation/left_out_runs.csv \
	    --accuracy presets/accuracy/training.yaml tests/validation/*.yaml
$(B)/tests/validation/fit_serving: $(B)/tests/validation/fit_serving.o \
                                   $(B)/tests/validation/serving_constants.o \
                                   $(B)/tests/validation/serving_ranges.o $(HOUSE) $(ENGINE)
	$(CC) $(HARDEN_LINK) $(CFLAGS) $^ $(LIBS) $(LDFLAGS) -o $@
fit-serving: $(B)/tests/validation/fit_serving
	@$< $(FIT)
$(B)/tests/validation/fit_collectives: $(B)/tests/validation/fit_collectives.o $(HOUSE) $(ENGINE)
	$(CC) $(HARDEN_LINK) $(CFLAGS) $^ $(LIBS) $(LDFLAGS) -o $@
fit-collectives: $(B)/tests/validation/fit_collectives
	@$< $(FIT) tests/validation/collectives/*.csv

# Write the golden screens anew; look at what changed before it is committed.
screens: $(B)/tests/test_screens $(B)/tests/test_transcript $(B)/tests/test_printed
	@SHARDSCOPE_WRITE_SCREENS=1 $(B)/tests/test_screens > /dev/null 2>&1
	@SHARDSCOPE_WRITE_SCREENS=1 $(B)/tests/test_transcript > /dev/null 2>&1
	@SHARDSCOPE_WRITE_SCREENS=1 $(B)/tests/test_printed > /dev/null 2>&1
	@git status --short tests/screens

# Write the golden numbers anew; look at what changed before it is committed.
numbers: $(B)/tests/test_numbers $(B)/tests/test_search_cost
	@SHARDSCOPE_WRITE_NUMBERS=1 $(B)/tests/test_numbers > /dev/null 2>&1
	@SHARDSCOPE_WRITE_NUMBERS=1 $(B)/tests/test_search_cost > /dev/null 2>&1
	@git diff --stat tests/numbers

# What the search claims over published plans, into presets/plans/README.md.
winners: $(B)/tests/test_winners
	@SHARDSCOPE_WRITE_WINNERS=1 $(B)/tests/test_winners > /dev/null 2>&1
	@git status --short presets/plans/README.md

# The README's pictures, from the running program.
screenshots: shardscope
	@sh screenshots/make.sh ./shardscope $(B)

# The engine is pure: it may call only these, and keeps no writable data.
ALLOWED = mem[a-z]*|str[a-z0-9]*|malloc|calloc|realloc|free|qsort|v?snprintf|__(mem|str|v?snprintf)[a-z_]*_chk|__stack_chk_fail|__ctype_[a-z_]*|__isoc99_[a-z]*|__(asan|ubsan)_[a-z0-9_]*|_GLOBAL_OFFSET_TABLE_|(pow|exp|log|ceil|floor|fm|sqrt|cbrt|round|l?lround|trunc|erf|ldexp|frexp|isnan|isinf|rint)[a-z0-9]*
purity: $(ENGINE)
	@nm -u $< | awk '$$1=="U"{print $$2}' | sed 's/@.*//' | sort -u > $(B)/calls
	@nm $< | awk 'NF==3 && $$2!="U"{print $$3}' | sort -u > $(B)/own
	@! comm -23 $(B)/calls $(B)/own | grep -vxE '$(ALLOWED)' || \
	  { echo "engine/ is not pure: it calls the above"; exit 1; }
	@! objdump -t $< | grep -E ' (\*COM\*|\.t?(data|bss)(\.[a-z]*)?)[[:space:]]+0*[1-9a-f][0-9a-f]* ' | \
	  grep -v '\.data\.rel\.ro' || { echo "engine/ keeps state"; exit 1; }
	@echo "purity: engine/ calls nothing but memory, strings and libm"

# The program's own defences, and equal bytes from two folders.
hardened: shardscope
	@sh tests/hardened.sh ./shardscope "$(MAKE)"

# Rooms of engine/ import downwards only, and no files of presets/ in a circle.
floors:
	@sh tests/floors.sh
	@sh tests/circles.sh

# What the engine's files offer each other is asked for.
public: $(ENGINE) $(HOUSE) $(B)/tui/main.o
	@sh tests/public.sh $^

# Files and functions stay short enough to read.
lengths:
	@sh tests/lengths.sh

FORMAT = $(shell git ls-files '*.c' '*.h')
format:
	clang-format -i $(FORMAT)
format-check:
	@printf '%s\n' $(FORMAT) | xargs -P 2 -n 100 clang-format --dry-run -Werror

# Leaks are LeakSanitizer's business (make asan): the analyzer loses sight of what
# lives in an arena.
analyse:
	$(MAKE) B=build-analyse CC=gcc \
	  CFLAGS="-O1 -fanalyzer -Wno-analyzer-malloc-leak -Werror" build-analyse/shardscope

# What compilers don't see; .clang-tidy says what is looked for.
tidy:
	@git ls-files 'engine/*.c' 'presets/*.c' 'tui/*.c' | xargs -P 2 -I @ \
	  sh -c 'clang-tidy --quiet @ -- -std=c11 -D_GNU_SOURCE -I. 2> /dev/null' && echo "tidy: nothing found"

# Values that nobody wrote, in the tests of rooms whose arrays are written as far as
# they are used.
MEMCHECK ?= test_pipeline test_train test_serve test_split test_zero test_two_way test_formula test_search_edges
memcheck: $(addprefix $(B)/tests/,$(MEMCHECK))
	@printf '%s\n' $^ | xargs -P 2 -I @ sh -c 'valgrind -q --error-exitcode=9 @ > @.memcheck 2>&1 || \
	  { cat @.memcheck; exit 255; }' && echo "memcheck: no value is used that nobody wrote"

clean:
	rm -rf build build-* shardscope

FORCE:
.PHONY: FORCE all run check install uninstall test asan test-apart coverage fuzz fuzz-bulk fuzz-run mutate mutate-run bench validate fit left-out fit-serving fit-collectives screens numbers winners screenshots purity floors public lengths hardened \
        tidy memcheck \
        format format-check analyse clean depends-run depends-check
.SECONDARY:
