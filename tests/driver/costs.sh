# What a loop is said to cost, by which it has threads: vectors do not divide what reads elements that data choose.
cat >costs.tk <<'END'
param N: i32 = 1000;
field at: i32[N];
field x: real[N];
field y: real[N];
kernel plain() derive() { for i in y { y[i] = x[i] * 2.0 + 1.0; } }
kernel chosen() derive() { for i in y { y[i] = x[at[i]] * 2.0 + 1.0; } }
END
"$TKC" costs.tk -o costs.c
# the last argument of the plan is the cycles of an iteration
set -- $(sed -n 's/.*tk_plan_make(.*, \([0-9]*\)).*/\1/p' costs.c)
[ $# -eq 2 ] || { echo "plans: $*"; exit 1; }
[ "$2" -ge $(($1 * 3)) ] || { echo "a plain iteration costs $1, one that reads anywhere $2"; exit 1; }
