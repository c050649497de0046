/* A tool in the sense of GradBench: reads messages, one JSON object a line, and answers each with one. The evaluations
 * that it knows are the modules of this folder; what it times are tkc's functions. */
#include "bench.h"
#include "tool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const tool_module *const modules[] = {&tool_hello, &tool_gmm,    &tool_ba,       &tool_lstm,
                                             &tool_ht,    &tool_kmeans, &tool_lse,      &tool_llsq,
                                             &tool_ode,   &tool_det,    &tool_particle, &tool_saddle};

static char refusal[400];

bool tool_refuse(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(refusal, sizeof refusal, format, args);
    va_end(args);
    return false;
}

/* --cpu: what else runs on the machine is not to count. */
static clockid_t watch = CLOCK_MONOTONIC;

static const tool_module *find_module(const json_t *message)
{
    const char *name = json_string_value(json_object_get(message, "module"));
    for (size_t i = 0; name && i < sizeof modules / sizeof modules[0]; i++)
        if (strcmp(name, modules[i]->name) == 0)
            return modules[i];
    tool_refuse("no module '%s'", name ? name : "");
    return NULL;
}

static const tool_function *find_function(const json_t *message)
{
    const tool_module *m = find_module(message);
    const char *name = json_string_value(json_object_get(message, "function"));
    for (const tool_function *f = m ? m->functions : NULL; f && name && f->name; f++)
        if (strcmp(name, f->name) == 0)
            return f;
    if (m)
        tool_refuse("no function '%s' in '%s'", name ? name : "", m->name);
    return NULL;
}

/* Runs as often and as long as the input asks for; the times of all runs, or NULL. */
static json_t *run(const tool_function *f, void *data, const json_t *input)
{
    const double min_runs = json_number_value(json_object_get(input, "min_runs")),
                 min_seconds = json_number_value(json_object_get(input, "min_seconds"));
    json_t *timings = json_array();
    double sum = 0.0;
    for (double runs = 0.0; runs < 1.0 || runs < min_runs || sum < min_seconds; runs++) {
        const double start = bench_now(watch);
        f->run(data);
        const double took = bench_now(watch) - start;
        if (bench_failure()) {
            tool_refuse("%s", bench_failure());
            json_decref(timings);
            return NULL;
        }
        sum += took;
        json_array_append_new(timings,
                              json_pack("{s:s, s:I}", "name", "evaluate", "nanoseconds", (json_int_t)(1e9 * took)));
    }
    return timings;
}

static bool evaluate(const json_t *message, json_t *answer)
{
    const tool_function *f = find_function(message);
    const json_t *input = json_object_get(message, "input");
    void *data = f ? f->prepare(input) : NULL;
    json_t *timings = data ? run(f, data, input) : NULL, *output = timings ? f->output(data) : NULL;
    if (f && !data && !refusal[0])
        tool_refuse("%s", tk_error());
    bench_release();
    if (output)
        json_object_set(answer, "output", output);
    if (output)
        json_object_set(answer, "timings", timings);
    json_decref(timings);
    json_decref(output);
    return output;
}

static json_t *respond(const json_t *message)
{
    const char *kind = json_string_value(json_object_get(message, "kind"));
    json_t *answer = json_object();
    json_object_set(answer, "id", json_object_get(message, "id"));
    if (!kind || strcmp(kind, "analysis") == 0)
        return answer;
    if (strcmp(kind, "start") == 0)
        json_object_set_new(answer, "tool", json_string("tkc"));
    const bool define = strcmp(kind, "define") == 0;
    if (!define && strcmp(kind, "evaluate") != 0)
        return answer;
    refusal[0] = 0;
    const bool success = define ? find_module(message) != NULL : evaluate(message, answer);
    json_object_set_new(answer, "success", json_boolean(success));
    if (!success)
        json_object_set_new(answer, "error", json_string(refusal[0] ? refusal : "out of memory"));
    return answer;
}

int main(int argc, char **argv)
{
    if (argc > 2 || (argc == 2 && strcmp(argv[1], "--cpu") != 0)) {
        fputs("usage: tool [--cpu]      --cpu: times are those of the thread\n", stderr);
        return 2;
    }
    if (argc == 2)
        watch = CLOCK_THREAD_CPUTIME_ID;
    char *line = NULL;
    size_t size = 0;
    for (long count = 1; getline(&line, &size, stdin) > 0; count++) {
        json_error_t error;
        json_t *message = json_loads(line, 0, &error);
        if (!json_is_object(message)) {
            fprintf(stderr, "message %ld: %s\n", count, message ? "no object" : error.text);
            return 1;
        }
        json_t *answer = respond(message);
        char *text = json_dumps(answer, JSON_COMPACT);
        if (!text) {
            fputs("out of memory\n", stderr);
            return 1;
        }
        puts(text);
        fflush(stdout);
        free(text);
        json_decref(answer);
        json_decref(message);
    }
    free(line);
    return 0;
}
