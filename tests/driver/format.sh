# tkc --format: the same tokens and comments, and nothing to do the second time, for each .tk file here that parses.
# slow: 2
# inputs: grammar compiler/syntax compiler/driver compiler/check tests samples
cd "$ROOT"
python3 - "$TKC" "$(git ls-files '*.tk' 2>/dev/null || find . -name '*.tk' -not -path './build*')" <<'P'
import random, re, subprocess, sys
sys.path.insert(0, "tests/tools")
import layout
tkc, names = sys.argv[1], sys.argv[2].split("\n")
def run(*args, text=None):
    return subprocess.run([tkc, *args], input=text, capture_output=True)
def tokens(path, text=None):
    out = run("--emit=tokens", path, "--prefix=p", text=text).stdout.decode(errors="replace")
    return [line.split(": ", 1)[1] for line in out.splitlines()]
def letters(text):
    return re.sub(rb"\s|\xef\xbb\xbf", b"", text)
formatted = changed = 0
for name in names:
    once = run("--format", name)
    if once.returncode:
        assert once.returncode == 1 and not once.stdout and once.stderr, name
        continue
    text = open(name, "rb").read()
    formatted += 1
    changed += text != once.stdout
    assert letters(text) == letters(once.stdout), name
    if text != once.stdout:
        again = run("--format", "/dev/stdin", text=once.stdout)
        assert again.stdout == once.stdout, name
        assert tokens(name) == tokens("/dev/stdin", once.stdout), name
    # the author's indentation does not matter where no line goes on with the one above
    lines = text.split(b"\n")
    if formatted % 10 == 0 and all(line.rstrip().endswith((b";", b"{", b"}")) for line in lines if line.strip()):
        flat = run("--format", "/dev/stdin", text=b"\n".join(line.strip() for line in lines))
        assert flat.stdout == once.stdout, name
    # other spaces, comments and line breaks
    if formatted % 5 == 0:
        other = layout.another(text.decode(), random.Random(name)).encode()
        laid = run("--format", "/dev/stdin", text=other)
        again = run("--format", "/dev/stdin", text=laid.stdout)
        assert laid.returncode == 0 and again.stdout == laid.stdout, name
        assert tokens("/dev/stdin", other) == tokens("/dev/stdin", laid.stdout), name
assert formatted > 450 and changed < 30, (formatted, changed)
P
cd - >/dev/null
cat >in.tk <<'T'


field   x:real[4]needs_grad ;   // data
field loss : real needs_grad;   /* the
   sum */
   // own line
struct P{a:real,
b : vec2 ,
}
/// doc
   kernel  k( t:i32 ,dt :real ){


      for i in x{
    if x[ i ]>0.0&&!(t==-1){loss+=x[i]*-dt**2  ;}   // why
      else{ loss += a.b( x [i] )[0] ? 1.0:- 2.0; }

            // before the brace


}
let m=[[1.0,2.0],
       [3.0,4.0]] ;
let n = - -1; let p = 1.0 ** - -2.0+ +x[0]- - -n-1.0 .x;
/* two
lines */ /* one */ let q = !!(a)- ~ ~1; // end
if a{if b{c( );
	}	}
let s = x[0]+
x[1]*(
2.0
);
while t<3 limit (4){t+=1;break ;}
if a { if b {
c( );
} }
}
func e( ){}
func  f( a:P,b : P )->P   operator( * ){}
func g(a:P,b:P)->P operator ( - )derive( ){}
T
cat >want.tk <<'T'
field x: real[4] needs_grad;    // data
field loss: real needs_grad;    /* the
   sum */
// own line
struct P { a: real,
    b: vec2,
}
/// doc
kernel k(t: i32, dt: real) {
    for i in x {
        if x[i] > 0.0 && !(t == -1) { loss += x[i] * -dt ** 2; } // why
        else { loss += a.b(x[i])[0] ? 1.0 : -2.0; }

        // before the brace
    }
    let m = [[1.0, 2.0],
           [3.0, 4.0]];
    let n = - -1; let p = 1.0 ** - -2.0 + +x[0] - - -n - 1.0 .x;
    /* two
lines */ /* one */ let q = !!(a) - ~~1; // end
    if a { if b { c();
    } }
    let s = x[0] +
        x[1] * (
        2.0
    );
    while t < 3 limit (4) { t += 1; break; }
    if a { if b {
        c();
    } }
}
func e() { }
func f(a: P, b: P) -> P operator(*) { }
func g(a: P, b: P) -> P operator(-) derive() { }
T
"$TKC" --format in.tk >out.tk || exit 1
diff want.tk out.tk
# in place: only what changes
"$TKC" --format --in-place out.tk
cmp want.tk out.tk
chmod 640 in.tk
"$TKC" --format --in-place in.tk
cmp want.tk in.tk
test "$(stat -c %a in.tk)" = 640
touch -d '2001-01-01' in.tk
"$TKC" --format --in-place in.tk
test "$(stat -c %Y in.tk)" = "$(date -d '2001-01-01' +%s)"
"$TKC" --format in.tk -o other.tk
cmp want.tk other.tk
# names that are no module's, empty files
cp in.tk a-b.tk
"$TKC" --format a-b.tk | cmp - want.tk
printf '\n\n  \n' >empty.tk
test -z "$("$TKC" --format empty.tk)"

. "$ROOT/tests/tools/expect.sh"
printf 'kernel k( {\n' >bad.tk
cp bad.tk before
refused 1 --format bad.tk
refused 1 --format --in-place bad.tk
cmp bad.tk before
refused 1 --format nowhere.tk
refused 1 --format in.tk -o in.tk
cmp want.tk in.tk
cat in.tk | refused 1 --format --in-place /dev/stdin
refused 2 --in-place in.tk
refused 2 --format --in-place in.tk -o x.tk
refused 2 --format --emit=ir in.tk
refused 2 --format -MD in.tk
refused 2 --format --dump-after=all in.tk
status=0
"$TKC" --format in.tk >/dev/full 2>err || status=$?
test $status = 1
