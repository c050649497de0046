# What the page says of text and grammar: keywords and other words, doc comments, limits, casts; and that its grammar is the parser's.
# slow: 4
accepted()
{
    "$TKC" "$1" -o out.c || { echo "$1 is refused"; exit 1; }
}
refused()
{
    if "$TKC" "$1" -o out.c 2>err; then echo "$1 is accepted"; exit 1; fi
    grep -q "$2" err || { echo "$1: $(head -1 err)"; exit 1; }
}

# Each keyword of the page's list is refused as a name, of an item and of a local.
keywords=$(sed -n '/^Keywords cannot be names:$/,/^All other words/s/^    //p' "$ROOT/docs/language/text.md")
[ "$(echo $keywords | wc -w)" -gt 40 ]
for word in $keywords; do
    echo "const $word = 1;" >keyword.tk
    refused keyword.tk "expected a name before '*$word"
    echo "kernel k() { let $word = 1; }" >keyword.tk
    refused keyword.tk "expected a name before '*$word"
done
# The other words are names of everything that has one.
n=0
for word in needs_grad needs_dual saved strided soa aos derive no_grad grad_for jvp_for grad dual jvp hvp shape data out inout limit independent as range ndrange grouped; do
    n=$((n + 1))
    {
        echo "field $word: real[4] needs_grad;"
        echo "kernel k() { for i in $word { $word[i] = 2.0; } }"
    } >word.tk
    accepted word.tk
    {
        echo "param $word: i32 = 4;"
        echo "kernel k() { print($word); }"
    } >word.tk
    accepted word.tk
    {
        echo "field x: real[4];"
        echo "kernel k($word: real) { for i in x { x[i] = $word; } }"
        echo "func f($word: real) -> real { return $word + 1.0; }"
        echo "kernel l() { let $word = 3.0; for i in x { x[i] = $word; } }"
        echo "kernel m() { for $word in range(4) { x[$word] = 1.0; } }"
    } >word.tk
    accepted word.tk
done
# Where a type stands, these are no names.
for word in out inout limit independent as; do
    printf 'struct %s { a: real }\nfield x: %s;\n' $word $word >word.tk
    refused word.tk "expected a type before identifier '$word'"
done

# Doc comments that reach the header are above an item, behind its last line or behind the line of its name.
cat >doc.tk <<'TK'
/// Above a field,
/// in two lines.
field a: real;
field b: real[  /// on the line of its name
    4];
field
    c: real;    /// on its last line
/// not directly above

field d: real;
//// a line drawn by hand
field e: real;
/// above a const
const C = 1;
/// above a param
param P: i32 = 1;
/// above a struct
struct S { m: real }
field s: S;
/// above a kernel
kernel k(p: real) {     /// on the line of its name, with a body
    a = p;              /// inside a body
}                       /// on its last line, with a body
/// above an export func
export func f(p: real) -> real { return p; }
TK
accepted doc.tk
for text in 'Above a field' 'in two lines' 'on the line of its name \*/' 'on its last line' 'above a param' 'above a struct' 'above a kernel' 'name, with a body' 'last line, with a body' 'above an export func'; do
    grep -q "$text" out.h || { echo "no '$text' in the header"; exit 1; }
done
if grep -e 'not directly' -e 'drawn by hand' -e 'inside a body' -e 'above a const' out.h; then exit 1; fi

# Limits: what is at them is accepted, what is one beyond is refused.
repeat() { awk -v n="$1" -v s="$2" 'BEGIN { while (n-- > 0) printf "%s", s }'; }
limit()     # NAME CODE FRONT MIDDLE BEHIND COUNT: a file of FRONT * n, MIDDLE, BEHIND * n
{
    for n in $6 $(($6 + 1)); do
        printf 'const A = %s%s%s;\n' "$(repeat $n "$3")" "$4" "$(repeat $n "$5")" >limit.tk
        if [ $n = $6 ]; then accepted limit.tk; else refused limit.tk "$2"; fi
    done
}
limit brackets E0109 '(' 1 ')' 256
limit operators E0110 '' 1 ' + 1' 1000
limit powers E0110 '' 1 ' ** 1' 1000
limit signs E0110 '- ' 1 '' 1000
limit choices E0110 'true ? 1 : ' 1 '' 1000
printf 'kernel k() %s%s\n' "$(repeat 256 '{')" "$(repeat 256 '}')" >limit.tk
accepted limit.tk
printf 'kernel k() %s%s\n' "$(repeat 257 '{')" "$(repeat 257 '}')" >limit.tk
refused limit.tk E0109
printf 'const %s = 1;\n' "$(repeat 255 a)" >limit.tk
accepted limit.tk
printf 'const %s = 1;\n' "$(repeat 256 a)" >limit.tk
refused limit.tk E0112

# A cast whose value is in range is one of C, without the function that looks at the range.
cat >cast.tk <<'TK'
export func plain(x: f32) -> i32 derive() { return i32(x); }
export func bounded(x: f32) -> i32 derive() { return i32(clamp(x, 0.0, 31.0)); }
TK
"$TKC" --no-runtime cast.tk -o cast.c
[ "$(grep -c 'result = cast__tk_i32_from_f32(x)' cast.c)" = 1 ]
grep -q 'result = (int32_t)' cast.c

# No conflicts: bison takes the grammar without a warning, and none is declared as expected.
bison -Wall -Werror --output=tk.tab.c "$ROOT/grammar/tk.y"
if grep -E '^%(expect|glr|left|right|nonassoc|precedence|prec|define lr)' "$ROOT/grammar/tk.y"; then exit 1; fi

# The page's grammar and the parser's: what the one derives the other does, each rule and alternative at least once.
cat >grammars.py <<'PY'
import random
import re
import sys

page = re.search(r"```ebnf\n(.*?)```", open(sys.argv[1]).read(), re.S)[1]
yacc = open(sys.argv[2]).read()
TERMINALS = {"IDENT": "WORD", "TYPE": "TYPENAME", "INT": "INTEGER"}


def of_page(text):
    """{name: [[symbol]]}; a repetition or an option is a rule of its own; terminals begin with '."""
    rules = {}
    tokens = re.findall(r'"[^"]*"|\w+|[=|;{}()\[\]]', re.sub(r"\(\*.*?\*\)", "", text, flags=re.S))
    at = 0

    def choice(name, closing):
        nonlocal at
        rules[name] = [[]]
        while tokens[at] != closing:
            t = tokens[at]
            at += 1
            if t == "|":
                rules[name].append([])
            elif t in "{[(":
                inner = f"{name}_{len(rules)}"
                choice(inner, {"{": "}", "[": "]", "(": ")"}[t])
                if t == "{":
                    rules[inner] = [[]] + [[inner] + a for a in rules[inner]]
                elif t == "[":
                    rules[inner].append([])
                rules[name][-1].append(inner)
            else:
                rules[name][-1].append("'" + t.strip('"') if t[0] == '"' or t.isupper() else t)
        at += 1

    while at < len(tokens):
        name = tokens[at]
        at += 2
        choice(name, ";")
    return rules


def of_yacc(text):
    head, body = text.split("\n%%\n")[:2]
    shown = {m[1]: m[2].strip("'") for m in re.finditer(r"\b([A-Z_]+) \"('[^\"]+')\"", head)}
    text = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    tokens, depth = [], 0
    for t in re.findall(r"'.'|\"[^\"]*\"|\w+|%empty|[{}:|;]|[^\s]", text):
        if t == "}":
            depth -= 1
        elif t == "{":
            depth += 1
        elif depth == 0:
            tokens.append(t)
    rules, at = {}, 0
    while at < len(tokens):
        name, alternatives = tokens[at], [[]]
        at += 2
        while tokens[at] != ";":
            t = tokens[at]
            if t == "|":
                alternatives.append([])
            elif t != "%empty":
                alternatives[-1].append("'" + (t[1:-1] if t[0] == "'" else shown.get(t, TERMINALS.get(t, t))) if t[0] == "'" or t.isupper() else t)
            at += 1
        at += 1
        rules[name] = [a for a in alternatives if "error" not in a]
    return rules


def least(rules):
    """The least depth of each rule's derivations."""
    depth = dict.fromkeys(rules, 1000)
    for _ in rules:
        for name, alternatives in rules.items():
            depth[name] = min(1 + max([depth[s] for s in a if s[0] != "'"], default=0) for a in alternatives)
    return depth


def derived(rules, rng, depth, name, room):
    """Tokens of one derivation: any alternatives, until room[0] choices are made; then the shortest."""
    cost = lambda a: 1 + max([depth[s] for s in a if s[0] != "'"], default=0)
    room[0] -= len(rules[name]) > 1
    chosen = rng.choice(rules[name]) if room[0] >= 0 else min(rules[name], key=cost)
    return all_of(rules, rng, depth, chosen, room)


def all_of(rules, rng, depth, symbols, room):
    return [t for s in symbols for t in (["word" if s[1:] in ("NAME", "WORD") else s[1:]] if s[0] == "'" else derived(rules, rng, depth, s, room))]


def sentences(rules, rng, rounds):
    """Modules that have each alternative of each rule, in the shortest surroundings that the start has for it."""
    depth, up, queue = least(rules), {"module": None}, ["module"]
    for name in queue:
        for a in rules[name]:
            for k, s in enumerate(a):
                if s[0] != "'" and s not in up:
                    up[s] = name, a, k
                    queue.append(s)
    for name in queue:
        for a in rules[name] * rounds:
            room = lambda: [rng.randrange(12)]
            tokens, at = all_of(rules, rng, depth, a, room()), name
            while up[at]:
                at, outer, k = up[at]
                tokens = all_of(rules, rng, depth, outer[:k], room()) + tokens + all_of(rules, rng, depth, outer[k + 1:], room())
            yield tokens


def matches(terminal, token):
    return terminal == token or terminal in ("NAME", "WORD") and token == "word" or terminal == "NAME" and token in ("out", "inout", "limit", "independent", "as")


def recognised(rules, tokens):
    """Earley's recogniser; rules that may be empty are completed until nothing is new."""
    sets = [{} for _ in range(len(tokens) + 1)]
    sets[0] = {("module", tuple(a), 0, 0): None for a in rules["module"]}
    for i, state in enumerate(sets):
        queue, empty = list(state), set()
        while queue:
            name, a, dot, origin = queue.pop()
            new = []
            if dot == len(a):
                if origin == i:
                    empty.add(name)
                new = [(n, b, d + 1, o) for n, b, d, o in list(sets[origin]) if d < len(b) and b[d] == name]
            elif a[dot][0] == "'":
                if i < len(tokens) and matches(a[dot][1:], tokens[i]):
                    sets[i + 1][name, a, dot + 1, origin] = None
            else:
                new = [(a[dot], tuple(b), 0, i) for b in rules[a[dot]]]
                if a[dot] in empty:
                    new.append((name, a, dot + 1, origin))
            for item in new:
                if item not in state:
                    state[item] = None
                    queue.append(item)
    return any(n == "module" and d == len(a) and o == 0 for n, a, d, o in sets[-1])


pages, parsers, bad = of_page(page), of_yacc(yacc), 0
for one, other, what in (pages, parsers, "the page's grammar derives"), (parsers, pages, "the parser's grammar derives"):
    rng = random.Random(1)
    for tokens in sentences(one, rng, int(sys.argv[3])):
        if not recognised(other, tokens):
            bad += 1
            print(f"{what}, the other does not: {' '.join(tokens)}")
        # and what differs by one token: both take it, or none does
        where = rng.randrange(len(tokens) + 1)
        tokens[where:where + rng.randrange(2)] = rng.choice([[], [rng.choice(tokens or ["word"])], [rng.choice(["out", "limit", "static", ",", ";"])]])
        if recognised(one, tokens) != recognised(other, tokens):
            bad += 1
            print(f"of one grammar only: {' '.join(tokens)}")
sys.exit(bad > 0)
PY
python3 grammars.py "$ROOT/docs/language/text.md" "$ROOT/grammar/tk.y" 3
