/* The errors and the Jacobian of ba.h by tkc's export funcs, in the layout of hand.h. */
#ifndef BA_OURS_H
#define BA_OURS_H

#include "hand.h"

void ba_errors(const ba_input *in, ba_output *out);
/* And the errors. */
void ba_jacobian(const ba_input *in, ba_output *out);

#endif
