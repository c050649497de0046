#include "crowded.h"
#include "host.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static crowded *create(int n)
{
    tk_session_options o = tk_session_defaults();
    o.threads = n;
    o.deterministic = true;
    tk_session *s = tk_session_create(&o);
    crowded *m = crowded_create(s, NULL);
    CHECK(m);
    tk_session_destroy(s); /* the module keeps it */
    for (int64_t i = 0; i < m->params.N; i++)
        m->x.data[i] = (crowded_real)(i * 37 % 1001) / 1000;
    return m;
}

static void run(crowded *m)
{
    TK_TAPE(m, m->loss)
    {
        crowded_mix_up(m, 0.7f);
        crowded_spread(m);
        crowded_total(m);
    }
    CHECK(crowded_status(m) == TK_OK);
}

typedef struct state {
    crowded_real loss, *grad;
} state;

static state first;

static bool same(const crowded *m)
{
    return m->loss.data[0] == first.loss && memcmp(m->x.grad, first.grad, (size_t)m->params.N * sizeof *first.grad) == 0;
}

static void several_times(int n)
{
    crowded *m = create(n);
    for (int k = 0; k < 3; k++) {
        run(m);
        CHECK(same(m));
    }
    crowded_destroy(m);
}

static void *host_thread(void *p)
{
    several_times(*(int *)p);
    return NULL;
}

int main(void)
{
    crowded *m = create(1);
    run(m);
    first = (state){m->loss.data[0], m->x.grad};
    static const int numbers[] = {0, 2, 3, 64};
    for (int k = 0; k < 4; k++)
        several_times(numbers[k]);

    pid_t busy[2];
    for (int k = 0; k < 2; k++)
        if ((busy[k] = fork()) == 0) {
            setrlimit(RLIMIT_CPU, &(struct rlimit){60, 60}); /* should this test die */
            for (volatile unsigned n = 0;; n++)
                ;
        }
    several_times(4);
    int two = 2;
    pthread_t other;
    CHECK(pthread_create(&other, NULL, host_thread, &two) == 0);
    several_times(2);
    pthread_join(other, NULL);
    for (int k = 0; k < 2; k++) {
        kill(busy[k], SIGKILL);
        waitpid(busy[k], NULL, 0);
    }

    crowded *parents = create(4);
    run(parents);
    const pid_t child = fork();
    if (child == 0) {
        run(parents);
        _exit(failures || !same(parents));
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    run(parents);
    CHECK(same(parents));
    crowded_destroy(parents);
    crowded_destroy(m);
    return failures != 0;
}
