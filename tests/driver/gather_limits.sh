# Conditions and bounds of which each uses the one before twice, again and again: they are looked through a number of times that does not double with each.
# slow: 4
{
    echo 'param N: i32 = 40; field x: real[N] needs_grad; field y: real[N] needs_grad;'
    echo 'kernel conditions() derive(grad) { for i in x { let c0 = i > 0;'
    for k in $(seq 40); do
        echo "let c$k = (c$((k - 1)) && i + $((k % 15)) < N - $((k % 13))) || (c$((k - 1)) && i > $((k % 11 + 1)));"
    done
    echo 'y[i] = (c40 && i > 0) ? x[i - 1] : x[i]; } }'
    echo 'kernel bounds() derive(grad) { for i in range(2, N - 3) { let m0 = i + 1;'
    for k in $(seq 40); do
        echo "let m$k = min(max(m$((k - 1)), $((k % 3))), max($((k % 2)), m$((k - 1)) + $((k % 4))));"
    done
    echo 'y[i] = x[min(m40, N - 1)] + x[i]; } }'
} >shared.tk
(ulimit -S -t 60; exec "$TKC" shared.tk -o shared.c)

# A value that is the same in all iterations costs a gather nothing, but is followed down to the last of 20000 operations.
{
    echo 'param N: i32 = 40; field x: real[N] needs_grad; field y: real[N] needs_grad; field c: real[4];'
    echo 'kernel deep() derive(grad) { for i in range(1, N - 1) { let c0 = c[0];'
    for k in $(seq 20000); do
        echo "let c$k = c$((k - 1)) * 0.5 + c[$((k % 4))];"
    done
    echo 'y[i] = x[i - 1] * c20000 + x[i + 1]; } }'
} >deep.tk
(ulimit -S -t 60; exec "$TKC" deep.tk -o deep.c)
