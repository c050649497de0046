# Inputs of a megabyte that nest, repeat or never end: one clean error, or none; quick; no output file.

# repeat N TEXT
repeat()
{
    yes -- "$2" | head -n "$1" | tr -d '\n'
}

# refused CODE: in.tk has one error
refused()
{
    status=0
    timeout 60 "$TKC" in.tk -o out.c >out 2>err || status=$?
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
timeout 60 "$TKC" in.tk -o out.c
rm -f out.c out.h
echo >>in.tk
refused E0111

{ yes -- "/// a" | head -n 300000; printf '//'; repeat 1000000 '*'; } >in.tk
timeout 60 "$TKC" in.tk -o out.c
