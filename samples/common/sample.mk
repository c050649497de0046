# The make file of a simulator says NAME and includes this. Needs tkc and libtkc (pkg-config tkc), popt and cairo; with SDL2, --window. REAL=f64 makes NAME-f64, whose `real` is double.
PKG_CONFIG ?= pkg-config
TKC ?= tkc
REAL ?= f32
COMMON := $(dir $(lastword $(MAKEFILE_LIST)))
SDL := $(shell $(PKG_CONFIG) --exists sdl2 && echo sdl2)
override CPPFLAGS += -D_GNU_SOURCE -I$(COMMON) -I$(folder) $(if $(SDL),-DHAVE_SDL)
ALL_CFLAGS = -std=c11 -O3 -Wall -Wextra $(shell $(PKG_CONFIG) --cflags tkc popt cairo $(SDL)) $(CFLAGS)
LDLIBS = $(shell $(PKG_CONFIG) --libs tkc popt cairo $(SDL)) -lm
folder = build-$(REAL)
SOURCES ?= $(wildcard *.c)
shared = $(notdir $(filter-out $(if $(SDL),,%/window.c),$(wildcard $(COMMON)*.c)))
objects = $(patsubst %.c,$(folder)/%.o,$(SOURCES) $(shared) $(NAME).c)
vpath %.c $(COMMON) $(folder)

$(NAME)$(if $(filter f64,$(REAL)),-f64): $(objects)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(objects) $(LDLIBS)

$(folder)/$(NAME).c $(folder)/$(NAME).h &: $(NAME).tk
	mkdir -p $(folder)
	$(TKC) --real=$(REAL) $< -o $(folder)/$(NAME).c -MD -MF $(folder)/$(NAME).tk.d

$(folder)/%.o: %.c $(folder)/$(NAME).h
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -c -o $@ $<

clean:
	rm -rf build-f32 build-f64 $(NAME) $(NAME)-f64

-include $(wildcard $(folder)/*.d)
.PHONY: clean
.DELETE_ON_ERROR:
