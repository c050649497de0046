#include "hand.h"

#include "by_hand.h"

enum { FORGET, INGATE, OUTGATE, CHANGE, GATES };
/* What one step keeps of one layer: its input, the state before, the gates, and the hyperbolic tangent of the cell. */
enum { X, HIDDEN, CELL, F, I, O, G, TANH, KEPT };
/* How the state behind a layer changes with its input, with the state before, and with the gates before they are
 * squashed. */
enum { C_BY_X, C_BY_H, H_BY_C, H_BY_X, OF_F, OF_I, OF_O, OF_G, SLOPES };

static long max(long a, long b)
{
    return a > b ? a : b;
}

/* Parameters of one bit that reach a state: 8 a layer, and the weight of the input. */
static int reaching(const lstm_input *in)
{
    return 8 * in->l + 1;
}

long lstm_hand_work(const lstm_input *in)
{
    const long b = in->b, forward = (2L * in->l + 1) * reaching(in) * b + (KEPT + SLOPES) * b,
               reverse = (long)in->c * (in->l * KEPT + 2) * b;
    return max(forward, reverse) + (2L * in->l + 2) * b;
}

/* One layer of one step; `kept` begins with the input and the state before, and gets the rest. */
static void step(const lstm_input *in, int l, double *restrict kept, double *restrict hidden, double *restrict cell,
                 double *restrict y)
{
    const int b = in->b;
    const double *restrict w = in->gates + 8L * l * b, *restrict bias = w + 4 * b;
#pragma omp simd
    for (int i = 0; i < b; i++) {
        const double x = y[i], h = hidden[i], c = cell[i];
        const double f = hand_sigmoid(x * w[FORGET * b + i] + bias[FORGET * b + i]);
        const double n = hand_sigmoid(h * w[INGATE * b + i] + bias[INGATE * b + i]);
        const double o = hand_sigmoid(x * w[OUTGATE * b + i] + bias[OUTGATE * b + i]);
        const double g = tanh(h * w[CHANGE * b + i] + bias[CHANGE * b + i]);
        const double new_cell = f * c + n * g, t = tanh(new_cell);
        kept[X * b + i] = x;
        kept[HIDDEN * b + i] = h;
        kept[CELL * b + i] = c;
        kept[F * b + i] = f;
        kept[I * b + i] = n;
        kept[O * b + i] = o;
        kept[G * b + i] = g;
        kept[TANH * b + i] = t;
        cell[i] = new_cell;
        hidden[i] = o * t;
        y[i] = o * t;
    }
}

/* The loss of one step; `seed` becomes its derivative by the prediction. */
static double predict(const lstm_input *in, const double *restrict y, const double *restrict next,
                      double *restrict seed)
{
    const int b = in->b;
    const double *restrict w = in->extra + b, *restrict bias = in->extra + 2 * b;
    double s = 2.0, bits = 0.0, dot = 0.0;
#pragma omp simd reduction(+ : s, bits, dot)
    for (int i = 0; i < b; i++) {
        const double p = y[i] * w[i] + bias[i];
        seed[i] = exp(p);
        s += seed[i];
        bits += next[i];
        dot += next[i] * p;
    }
    for (int i = 0; i < b; i++)
        seed[i] = next[i] - bits * seed[i] / s;
    return dot - bits * log(s);
}

static void find_slopes(const lstm_input *in, int l, const double *restrict kept, double *restrict s)
{
    const int b = in->b;
    const double *restrict w = in->gates + 8L * l * b;
#pragma omp simd
    for (int i = 0; i < b; i++) {
        const double f = kept[F * b + i], n = kept[I * b + i], o = kept[O * b + i], g = kept[G * b + i],
                     t = kept[TANH * b + i];
        const double of_f = kept[CELL * b + i] * f * (1.0 - f), of_n = g * n * (1.0 - n), of_g = n * (1.0 - g * g),
                     of_o = t * o * (1.0 - o);
        s[C_BY_X * b + i] = of_f * w[FORGET * b + i];
        s[C_BY_H * b + i] = of_n * w[INGATE * b + i] + of_g * w[CHANGE * b + i];
        s[H_BY_C * b + i] = o * (1.0 - t * t);
        s[H_BY_X * b + i] = of_o * w[OUTGATE * b + i];
        s[OF_F * b + i] = of_f;
        s[OF_I * b + i] = of_n;
        s[OF_O * b + i] = of_o;
        s[OF_G * b + i] = of_g;
    }
}

/* The derivatives of the state behind one layer by all parameters of this layer and those before. dx are those of the
 * layer's input, and become those of its output. */
static void carry(const lstm_input *in, int l, const double *restrict kept, const double *restrict s,
                  double *restrict dx, double *restrict dh, double *restrict dc)
{
    static const int slope[GATES] = {OF_F, OF_I, OF_O, OF_G}, factor[GATES] = {X, HIDDEN, X, HIDDEN};
    const int b = in->b, count = reaching(in);
    for (int p = 0; p < count; p = p == 8 * l + 7 ? count - 1 : p + 1) {
        double *restrict x = dx + (long)p * b, *restrict h = dh + (long)p * b, *restrict c = dc + (long)p * b;
        const int gate = p >= 8 * l && p < count - 1 ? p % 4 : -1, of_bias = p % 8 >= 4;
        for (int i = 0; i < b; i++)
            c[i] = kept[F * b + i] * c[i] + s[C_BY_X * b + i] * x[i] + s[C_BY_H * b + i] * h[i];
        for (int i = 0; gate >= 0 && gate != OUTGATE && i < b; i++)
            c[i] += s[slope[gate] * b + i] * (of_bias ? 1.0 : kept[factor[gate] * b + i]);
        for (int i = 0; i < b; i++)
            h[i] = s[H_BY_C * b + i] * c[i] + s[H_BY_X * b + i] * x[i];
        for (int i = 0; gate == OUTGATE && i < b; i++)
            h[i] += s[OF_O * b + i] * (of_bias ? 1.0 : kept[X * b + i]);
        memcpy(x, h, (size_t)b * sizeof(double));
    }
}

static void begin(const lstm_input *in, lstm_output *out, double *hidden, double *cell)
{
    for (int l = 0; l < in->l; l++) {
        memcpy(hidden + (long)l * in->b, in->state + 2L * l * in->b, (size_t)in->b * sizeof(double));
        memcpy(cell + (long)l * in->b, in->state + (2L * l + 1) * in->b, (size_t)in->b * sizeof(double));
    }
    out->loss = 0.0;
    memset(out->gates, 0, 8 * (size_t)in->l * (size_t)in->b * sizeof(double));
    memset(out->extra, 0, 3 * (size_t)in->b * sizeof(double));
}

static void finish(const lstm_input *in, lstm_output *out)
{
    const double f = -1.0 / ((double)in->b * (in->c - 1));
    out->loss *= f;
    for (long i = 0; i < 8L * in->l * in->b; i++)
        out->gates[i] *= f;
    for (int i = 0; i < 3 * in->b; i++)
        out->extra[i] *= f;
}

/* Adds the derivatives of one step's loss. */
static void collect(const lstm_input *in, lstm_output *out, const double *restrict seed, const double *restrict y,
                    const double *restrict dx)
{
    const int b = in->b, count = reaching(in);
    const double *restrict w = in->extra + b;
    for (int p = 0; p < count; p++) {
        double *restrict to = p < count - 1 ? out->gates + (long)p * b : out->extra;
        for (int i = 0; i < b; i++)
            to[i] += seed[i] * w[i] * dx[(long)p * b + i];
    }
    for (int i = 0; i < b; i++) {
        out->extra[b + i] += seed[i] * y[i];
        out->extra[2 * b + i] += seed[i];
    }
}

void lstm_hand_forward(const lstm_input *in, lstm_output *out, double *work)
{
    const int b = in->b;
    const long block = (long)reaching(in) * b;
    double *hidden = work, *cell = hidden + (long)in->l * b, *y = cell + (long)in->l * b, *seed = y + b,
           *kept = seed + b, *slopes = kept + (long)KEPT * b, *dx = slopes + (long)SLOPES * b, *dh = dx + block,
           *dc = dh + in->l * block;
    begin(in, out, hidden, cell);
    memset(dh, 0, 2 * (size_t)in->l * (size_t)block * sizeof(double));
    for (int t = 0; t + 1 < in->c; t++) {
        const double *text = in->text + (long)t * b;
        memset(dx, 0, (size_t)block * sizeof(double));
        memcpy(dx + block - b, text, (size_t)b * sizeof(double));
        for (int i = 0; i < b; i++)
            y[i] = text[i] * in->extra[i];
        for (int l = 0; l < in->l; l++) {
            step(in, l, kept, hidden + (long)l * b, cell + (long)l * b, y);
            find_slopes(in, l, kept, slopes);
            carry(in, l, kept, slopes, dx, dh + l * block, dc + l * block);
        }
        out->loss += predict(in, y, text + b, seed);
        collect(in, out, seed, y, dx);
    }
    finish(in, out);
}

/* One layer of one step backwards: dy comes as the gradient of its output, and becomes that of its input. */
static void step_back(const lstm_input *in, lstm_output *out, int l, const double *restrict kept, double *restrict dh,
                      double *restrict dc, double *restrict dy)
{
    const int b = in->b;
    const double *restrict w = in->gates + 8L * l * b;
    double *restrict dw = out->gates + 8L * l * b, *restrict db = dw + 4 * b;
#pragma omp simd
    for (int i = 0; i < b; i++) {
        const double x = kept[X * b + i], h = kept[HIDDEN * b + i], f = kept[F * b + i], n = kept[I * b + i],
                     o = kept[O * b + i], g = kept[G * b + i], t = kept[TANH * b + i];
        const double of_hidden = dh[i] + dy[i];
        const double of_cell = dc[i] + of_hidden * o * (1.0 - t * t);
        const double of_o = of_hidden * t * o * (1.0 - o), of_g = of_cell * n * (1.0 - g * g),
                     of_n = of_cell * g * n * (1.0 - n), of_f = of_cell * kept[CELL * b + i] * f * (1.0 - f);
        dw[FORGET * b + i] += of_f * x;
        dw[INGATE * b + i] += of_n * h;
        dw[OUTGATE * b + i] += of_o * x;
        dw[CHANGE * b + i] += of_g * h;
        db[FORGET * b + i] += of_f;
        db[INGATE * b + i] += of_n;
        db[OUTGATE * b + i] += of_o;
        db[CHANGE * b + i] += of_g;
        dc[i] = of_cell * f;
        dh[i] = of_n * w[INGATE * b + i] + of_g * w[CHANGE * b + i];
        dy[i] = of_f * w[FORGET * b + i] + of_o * w[OUTGATE * b + i];
    }
}

void lstm_hand_reverse(const lstm_input *in, lstm_output *out, double *work)
{
    const int b = in->b;
    const long layer = (long)KEPT * b, each = in->l * layer + 2 * b;
    double *hidden = work, *cell = hidden + (long)in->l * b, *dy = cell + (long)in->l * b, *kept = dy + 2 * b;
    begin(in, out, hidden, cell);
    for (int t = 0; t + 1 < in->c; t++) {
        const double *text = in->text + (long)t * b;
        double *mine = kept + t * each, *y = mine + in->l * layer, *seed = y + b;
        for (int i = 0; i < b; i++)
            y[i] = text[i] * in->extra[i];
        for (int l = 0; l < in->l; l++)
            step(in, l, mine + l * layer, hidden + (long)l * b, cell + (long)l * b, y);
        out->loss += predict(in, y, text + b, seed);
    }
    memset(hidden, 0, 2 * (size_t)in->l * (size_t)b * sizeof(double)); /* now gradients */
    for (int t = in->c - 2; t >= 0; t--) {
        const double *text = in->text + (long)t * b, *w = in->extra + b;
        const double *mine = kept + t * each, *y = mine + in->l * layer, *seed = y + b;
        for (int i = 0; i < b; i++) {
            out->extra[b + i] += seed[i] * y[i];
            out->extra[2 * b + i] += seed[i];
            dy[i] = seed[i] * w[i];
        }
        for (int l = in->l; l-- > 0;)
            step_back(in, out, l, mine + l * layer, hidden + (long)l * b, cell + (long)l * b, dy);
        for (int i = 0; i < b; i++)
            out->extra[i] += dy[i] * text[i];
    }
    finish(in, out);
}
