# Inputs of a megabyte that nest, repeat or never end: one clean error, or none; quick; no output file.
# slow: 18
# inputs: grammar compiler/syntax compiler/files compiler/check compiler/lower compiler/driver compiler/util

# quick ARGUMENT...: tkc with a minute of processor time; beyond it the status is 152
quick()
(
    ulimit -S -t 60
    exec "$TKC" "$@"
)

# repeat N TEXT
repeat()
{
    yes -- "$2" | head -n "$1" | tr -d '\n'
}

# refused CODE: in.tk has one error
refused()
{
    status=0
    quick in.tk -o out.c >out 2>err || status=$?
    [ $status = 1 ] && [ "$(grep -c 'error: ' err)" = 1 ] && grep -q "\[$1\]" err && [ ! -e out.c ] && [ ! -e out.h ] && return
    echo "status $status, not one $1, for: $(head -c 60 in.tk)"
    head -c 2000 err
    exit 1
}

for open in '(' '[' '- ' '!' '2**' 'f(' 'a?' 'a?b:'; do
    { printf 'const A = '; repeat 300000 "$open"; } >in.tk
    refused E0109
done
for open in '{' 'if a {' 'for i in x {' 'static if a {'; do
    { printf 'kernel k() {'; repeat 200000 "$open"; } >in.tk
    refused E0109
done
{ printf 'kernel k() { if a { }'; repeat 100000 ' else if a { }'; printf '}'; } >in.tk
refused E0109
{ printf 'field x: '; repeat 200000 'vec(1, '; } >in.tk
refused E0109

for tail in '+1' '.b' '()' '[0]' '@a'; do
    { printf 'const A = a'; repeat 300000 "$tail"; printf ';'; } >in.tk
    refused E0110
done

{ printf 'const '; repeat 1000000 x; printf ' = 1;'; } >in.tk
refused E0112
{ printf 'const A = '; repeat 1000000 1; printf ';'; } >in.tk
refused E0107
{ printf '/*'; repeat 1000000 '*'; } >in.tk
refused E0103
{ printf 'const A = "'; repeat 1000000 'x'; } >in.tk
refused E0104
repeat 1000000 ')' >in.tk
refused E0101
head -c 1000000 /dev/zero >in.tk
refused E0111
{ yes // | head -c 67108863; echo; } >in.tk
quick in.tk -o out.c
rm -f out.c out.h
echo >>in.tk
refused E0111

{ yes -- "/// a" | head -n 300000; printf '//'; repeat 1000000 '*'; } >in.tk
quick in.tk -o out.c

rm -f out.c out.h
# functions that are expanded where they are called, each calling the one before twice
{
    echo 'func f0(a: f64[4], i: i32) -> f64 { a[i] = a[i] * 2.0; return a[0]; }'
    i=1
    while [ $i -lt 26 ]; do
        echo "func f$i(a: f64[4], i: i32) -> f64 { return f$((i - 1))(a, i) + f$((i - 1))(a, i + 1); }"
        i=$((i + 1))
    done
    echo 'export func f(x: f64) -> f64 { var a: f64[4]; a[0] = x; return f25(a, 0); }'
} >in.tk
refused E0442

# many of a kind, in linear time; a tenth of them with sanitizers
kernels=100000
[ -z "$SANITIZE" ] || kernels=10000
seq() { i=0; while [ $i -lt "$1" ]; do printf "$2\n" $i; i=$((i + 1)); done; }
echo 'field x: f64[4];' >in.tk
seq $kernels 'kernel k%d() derive() { x[0] = 1.0; }' >>in.tk
quick in.tk -o out.c
rm -f out.c out.h
for attribute in '@a' 'saved' 'derive(grad)'; do
    { printf 'field x: f64[4] '; repeat 100000 "$attribute "; echo ';'; } >in.tk
    status=0
    quick in.tk -o out.c 2>err || status=$?
    test $status = 1
    test -s err
done
{ printf 'kernel k() '; repeat 100000 'derive(grad) '; echo '{}'; } >in.tk
status=0
quick in.tk -o out.c 2>err || status=$?
test $status = 1
grep -q 'E0215' err

# imports: of one file, of as many as are counted, of one more
echo 'const A = 1;' >one.tk
{ yes 'import "one.tk";' | head -n 70000; echo 'const B = A;'; } >in.tk
quick in.tk -o out.c
rm -f out.c out.h
if [ -z "$SANITIZE" ]; then
    mkdir many
    python3 -c 'for i in range(65535): open(f"many/{i}.tk", "w").write(f"const C{i} = {i};\n")'
    seq 65534 'import "many/%d.tk";' >in.tk
    quick in.tk -o out.c
    rm -f out.c out.h
    seq 65535 'import "many/%d.tk";' >in.tk
    refused E0712
    rm -r many
fi

# what is no file
mkfifo pipe
for path in /dev/zero pipe; do
    echo "import \"$path\";" >in.tk
    refused E0701
done
status=0
quick /dev/zero --prefix=z -o out.c 2>err || status=$?
test $status = 1
grep -q E0111 err
# but a pipe may be the source
{ echo 'export func f(a: f64) -> f64 { return a; }' >pipe; } >/dev/null 2>&1 & # nobody waits for it where tkc does not read
quick pipe --prefix=z -o out.c
test -s out.c
