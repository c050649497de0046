#!/bin/sh
# embed.sh INPUT OUTPUT: a text as a C array. Numbers rather than a literal: C99 compilers need not take literals beyond 4095 bytes.
set -e
{
    printf 'extern const char check_prelude[];\nextern const unsigned check_prelude_size;\nconst char check_prelude[] = {\n'
    od -An -v -tu1 "$1" | sed 's/ *\([0-9][0-9]*\)/\1, /g; s/ *$//'
    printf '0};\nconst unsigned check_prelude_size = sizeof check_prelude - 1;\n'
} > "$2"
