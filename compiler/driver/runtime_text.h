/* libtkc as one C file and its header, made by texts/amalgamate.py when tkc is built. */
#ifndef TKC_RUNTIME_TEXT_H
#define TKC_RUNTIME_TEXT_H

extern const char runtime_source[], runtime_header[];

#endif
