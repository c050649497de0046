/* Numbers to and from JSON. */
#include <math.h>

#include "tool.h"

int64_t tool_length(const json_t *input, const char *key)
{
    const json_t *v = json_object_get(input, key);
    if (json_is_array(v))
        return (int64_t)json_array_size(v);
    tool_refuse("%s: a list is missing", key);
    return -1;
}

static int64_t count_in(const json_t *v)
{
    if (!json_is_array(v))
        return json_is_number(v) ? 1 : -1;
    int64_t sum = 0;
    for (size_t i = 0; i < json_array_size(v); i++) {
        const int64_t n = count_in(json_array_get(v, i));
        if (n < 0)
            return -1;
        sum += n;
    }
    return sum;
}

int64_t tool_count(const json_t *input, const char *key)
{
    const int64_t n = count_in(json_object_get(input, key));
    if (n < 0)
        tool_refuse("%s: no list of numbers", key);
    return n;
}

static double *copy(const json_t *v, double *to)
{
    if (!json_is_array(v)) {
        *to = json_number_value(v);
        return to + 1;
    }
    for (size_t i = 0; i < json_array_size(v); i++)
        to = copy(json_array_get(v, i), to);
    return to;
}

bool tool_numbers(const json_t *input, const char *key, int64_t count, double *to)
{
    const int64_t there = tool_count(input, key);
    if (there < 0)
        return false;
    if (there != count)
        return tool_refuse("%s: %lld numbers instead of %lld", key, (long long)there, (long long)count);
    copy(json_object_get(input, key), to);
    return true;
}

static bool is_int(double x)
{
    return x == floor(x) && fabs(x) <= 2147483647.0;
}

bool tool_integers(const json_t *input, const char *key, int64_t count, int *to)
{
    double *all = calloc((size_t)count + 1, sizeof *all);
    bool ok = all && tool_numbers(input, key, count, all);
    for (int64_t i = 0; ok && i < count; i++) {
        if (!is_int(all[i]))
            ok = tool_refuse("%s: %g is no integer", key, all[i]);
        else
            to[i] = (int)all[i];
    }
    free(all);
    return ok;
}

bool tool_integer(const json_t *input, const char *key, int least, int most, int *to)
{
    if (!tool_integers(input, key, 1, to))
        return false;
    if (*to < least || *to > most)
        return tool_refuse("%s: %d is not from %d to %d", key, *to, least, most);
    return true;
}

json_t *tool_value(double number)
{
    json_t *value = json_real(number);
    if (!value)
        tool_refuse("a result that is not finite");
    return value;
}

json_t *tool_list(const double *numbers, int64_t count)
{
    json_t *list = json_array();
    for (int64_t i = 0; list && i < count; i++) {
        json_t *number = tool_value(numbers[i]);
        if (!number) {
            json_decref(list);
            return NULL;
        }
        json_array_append_new(list, number);
    }
    return list;
}

json_t *tool_rows(const double *numbers, int64_t rows, int64_t columns)
{
    json_t *list = json_array();
    for (int64_t i = 0; list && i < rows; i++) {
        json_t *row = tool_list(numbers + i * columns, columns);
        if (!row) {
            json_decref(list);
            return NULL;
        }
        json_array_append_new(list, row);
    }
    return list;
}
