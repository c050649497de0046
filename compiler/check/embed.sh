#!/bin/sh
# embed.sh OUTPUT INPUT...: texts, one behind the other, as a C array. Numbers rather than a literal: C99 compilers need not take literals beyond 4095 bytes.
set -e
out=$1
shift
{
    printf 'extern const char check_prelude[];\nextern const unsigned check_prelude_size;\nconst char check_prelude[] = {\n'
    cat "$@" | od -An -v -tu1 | sed 's/ *\([0-9][0-9]*\)/\1, /g; s/ *$//'
    printf '0};\nconst unsigned check_prelude_size = sizeof check_prelude - 1;\n'
} > "$out"
