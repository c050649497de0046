# The make file of a simulator says NAME and includes this. Needs an installed tkc and libtkc (pkg-config tkc), popt and cairo; with SDL2, --window.
# REAL=f64 makes NAME-f64, whose `real` is double.
PKG_CONFIG ?= pkg-config
TKC ?= tkc
CFLAGS ?=
REAL ?= f32
COMMON := $(dir $(lastword $(MAKEFILE_LIST)))
SDL := $(shell $(PKG_CONFIG) --exists sdl2 && echo sdl2)
program := $(NAME)$(if $(filter f64,$(REAL)),-f64)
WARNINGS = -Wall -Wextra
override CPPFLAGS += -D_GNU_SOURCE -I$(COMMON) -Ibuild-$(REAL) $(if $(SDL),-DHAVE_SDL)
ALL_CFLAGS = -std=c11 $(WARNINGS) $(shell $(PKG_CONFIG) --cflags tkc popt cairo $(SDL)) $(CFLAGS)
LDLIBS = $(shell $(PKG_CONFIG) --libs tkc popt cairo $(SDL)) -lm

SOURCES ?= $(wildcard *.c)
objects = $(addprefix build-$(REAL)/,$(SOURCES:.c=.o) $(patsubst $(COMMON)%.c,%.o,$(wildcard $(COMMON)*.c)) $(NAME).o)

$(program): $(objects)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(objects) $(LDLIBS)

build-$(REAL)/$(NAME).c: $(NAME).tk | build-$(REAL)
	$(TKC) --real=$(REAL) $< -o $@ -MD -MF build-$(REAL)/$(NAME).tk.d

build-$(REAL)/$(NAME).h: build-$(REAL)/$(NAME).c ;

build-$(REAL)/$(NAME).o: build-$(REAL)/$(NAME).c
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

build-$(REAL)/%.o: %.c build-$(REAL)/$(NAME).h
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -c -o $@ $<

build-$(REAL)/%.o: $(COMMON)%.c | build-$(REAL)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -c -o $@ $<

build-$(REAL):
	mkdir -p $@

clean:
	rm -rf build-f32 build-f64 $(NAME) $(NAME)-f64

-include $(wildcard build-$(REAL)/*.d)
.PHONY: clean
.SECONDARY:
.DELETE_ON_ERROR:
