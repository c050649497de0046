#!/bin/sh
# embed.sh OUTPUT NAME INPUT...: texts, one behind the other, as a C array. Numbers rather than a literal: C99 compilers need not take literals beyond 4095 bytes.
set -e
out=$1
name=$2
shift 2
{
    printf 'extern const char %s[];\nextern const unsigned %s_size;\nconst char %s[] = {\n' "$name" "$name" "$name"
    cat "$@" | od -An -v -tu1 | sed 's/ *\([0-9][0-9]*\)/\1, /g; s/ *$//'
    printf '0};\nconst unsigned %s_size = sizeof %s - 1;\n' "$name" "$name"
} > "$out"
