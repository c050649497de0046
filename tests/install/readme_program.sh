# The program of the documentation, as C11 and as C++17, against the installed tree.
tkc "$ROOT/samples/gravity/gravity.tk" -o gravity.c
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wdouble-promotion -Werror'
# How far to optimise is the program's to say, not the library's.
case " $(pkg-config --cflags --libs --static tkc) $(pkg-config --variable=clang_cflags tkc) " in *" -O"*) exit 1 ;; esac
flags=$(pkg-config --cflags --libs tkc)
# shellcheck disable=SC2086,SC2046
{
    "$CC" -std=c11 $warnings -I. "$ROOT/tests/install/readme_program.c" gravity.c $flags -o c11
    ./c11
    "$CC" -std=c11 $warnings $(pkg-config --cflags tkc) -c gravity.c -o gravity.o
    "$CXX" -std=c++17 $warnings -I. -x c++ "$ROOT/tests/install/readme_program.c" -x none gravity.o $flags -o cxx17
    ./cxx17
}
