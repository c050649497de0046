/* One run of the compiler: the command line to its exit status. */
#ifndef TKC_RUN_H
#define TKC_RUN_H

int tkc_main(int argc, const char **argv);

#endif
