/* The gradient of lstm.tk by hand, by gates and extra. */
#ifndef LSTM_HAND_H
#define LSTM_HAND_H

typedef struct lstm_input {
    int l, b, c;
    const double *gates, *extra, *state, *text;
} lstm_input;

typedef struct lstm_output {
    double loss, *gates, *extra;
} lstm_output;

/* Doubles of work that both functions take. */
long lstm_hand_work(const lstm_input *in);
/* As the known program does it: the Jacobian of the state by all parameters goes along, step by step. */
void lstm_hand_forward(const lstm_input *in, lstm_output *out, double *work);
/* Back through time, from what each step kept. */
void lstm_hand_reverse(const lstm_input *in, lstm_output *out, double *work);

#endif
