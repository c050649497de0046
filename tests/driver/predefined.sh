# Every name that the C compiler or the headers of generated code predefine, in every role: refused by tkc, or it compiles.
# slow: 15
# inputs: runtime/include grammar compiler/syntax compiler/check compiler/emit compiler/host
[ -z "$SANITIZE" ] || { echo "a hundred runs of tkc: not with sanitizers"; exit 77; }
cat >names.py <<'PY'
import re, subprocess, sys
tkc, cc, include = sys.argv[1:]
headers = "".join(f"#include <{h}>\n" for h in ("tkc/tkc.h", "tkc/tkc_gen.h", "tkc/tkc_math.h"))
macros = subprocess.run([cc, "-std=gnu11", "-I", include, "-dM", "-E", "-x", "c", "-"], input=headers, capture_output=True, text=True, check=True).stdout
names = {m[1] for m in re.finditer(r"^#define ([A-Za-z]\w*)", macros, re.M) if not m[1].lower().startswith("tk_")}
text = subprocess.run([cc, "-std=gnu11", "-I", include, "-E", "-P", "-x", "c", "-"], input=headers, capture_output=True, text=True, check=True).stdout
names |= {m[1] for m in re.finditer(r"\b([A-Za-z]\w*)\s*\(", text) if not m[1].lower().startswith("tk_")}
# and what generated code itself uses
names |= set("tk m a args lo hi plan task params defaults create destroy status error view fields kernels module record session out chunk partial saved idx i n data grad dual main".split())
words = set("as bool const continue break else export extern f32 f64 false field for func grad_for i32 if import in inout jvp_for kernel let limit mat needs_grad needs_dual out param "
            "real return saved serial soa static strided struct true u8 var vec while derive no_grad range grouped ndrange".split())
names = sorted(n for n in names - words if "__" not in n and not n.endswith("_")) + ["last_", "INT8_"]
roles = {
    "local": lambda n: f"    {{ let {n} = 2.0 * x[0]; y[0] += {n} * {n}; }}",
    "index": lambda n: f"    for {n} in range(4) {{ y[{n}] += x[{n}]; }}",
    "parameter": lambda n: f"func f{{k}}({n}: real) -> real {{ return sin({n}); }}",
    "argument": lambda n: f"kernel k{{k}}({n}: real needs_grad) {{ for i in x {{ y[i] += {n} * x[i]; }} }}",
    "member": lambda n: f"struct S{{k}} {{ {n}: real }}\nfield s{{k}}: S{{k}} needs_grad;",
    "field": lambda n: f"field {n}: real needs_grad;",
    "param": lambda n: f"param {n}: real = 1.0;",
    "kernel": lambda n: f"kernel {n}() {{ for i in x {{ y[i] += sin(x[i]); }} }}",
    "function": lambda n: f"func {n}(a: real) -> real {{ return sin(a); }}",
    "export": lambda n: f"export func {n}(a: real) -> real {{ return sin(a); }}",
    "extern": lambda n: f"extern func {n}(a: real) -> real;\nkernel e{{k}}() derive() {{ y[0] = {n}(x[0]); }}",
    "struct": lambda n: f"struct {n} {{ a: real }}\nfield s{{k}}: {n};",
}
bad = 0
for role, item in roles.items():
    kept, body = list(enumerate(names)), role in ("local", "index")
    while True:
        head = "lazy_grad;\nfield x: real[4] needs_grad needs_dual;\nfield y: real[4] needs_grad needs_dual;\n" + ("kernel all() {\n" if body else "")
        lines, owner = head.splitlines(), [None] * len(head.splitlines())
        for k, n in kept:
            for line in item(n).replace("{k}", str(k)).splitlines():
                lines.append(line)
                owner.append(k)
        open("all_.tk", "w").write("\n".join(lines) + ("\n}\n" if body else "\n"))
        done = subprocess.run([tkc, "all_.tk", "-o", "all_.c"], capture_output=True, text=True)
        if done.returncode == 0:
            break
        wrong = {owner[int(m[1]) - 1] for m in re.finditer(r"^all_\.tk:(\d+):\d+: error", done.stderr, re.M)}
        if done.returncode != 1 or not wrong - {None}:
            sys.exit(f"{role}: {done.returncode} {done.stderr[:2000]}")
        kept = [(k, n) for k, n in kept if k not in wrong]
    for std in ("c11", "gnu11"):
        done = subprocess.run([cc, f"-std={std}", "-O0", "-Werror=implicit-function-declaration", "-I", include, "-c", "all_.c", "-o", "all_.o"], capture_output=True, text=True)
        if done.returncode:
            bad += 1
            print(f"{role}, {std}: {done.stderr[:1500]}")
    print(f"{role}: {len(kept)} of {len(names)}")
sys.exit(bad > 0)
PY
python3 names.py "$TKC" "$CC" "$INCLUDE"
