// Kernels on the program's own threads, and the plate in a window while its start is found.
#include "heat.h"
#include "pool.hpp"

#include <SDL.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace
{

void on_pool(void *user, std::int64_t n, tk_task_fn fn, const void *args)
{
    static_cast<pool *>(user)->each(n, [=](std::int64_t k) { fn(args, k, k + 1); });
}

struct destroy {
    void operator()(heat *m) const
    {
        heat_destroy(m);
    }
    void operator()(tk_session *s) const
    {
        tk_session_destroy(s);
    }
    void operator()(SDL_Window *w) const
    {
        SDL_DestroyWindow(w);
    }
};

void simulate(heat *m)
{
    heat_begin(m);
    for (int t = 0; t < m->params.STEPS; t++)
        heat_cool(m, t);
}

// Left what was found, right what it was.
void draw(SDL_Window *window, const heat *m, const float *truth)
{
    SDL_Surface *to = SDL_GetWindowSurface(window);
    const int n = m->params.N;
    for (int side = 0; to && side < 2; side++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                const float v = std::clamp((side ? truth : m->start.data)[i * n + j], 0.0f, 1.0f);
                const SDL_Rect at{(side * n + j) * 4, i * 4, 4, 4};
                SDL_FillRect(to, &at,
                             SDL_MapRGB(to->format, static_cast<Uint8>(255 * v), static_cast<Uint8>(90 * v), 60));
            }
    SDL_UpdateWindowSurface(window);
}

bool closed()
{
    for (SDL_Event e; SDL_PollEvent(&e);)
        if (e.type == SDL_QUIT)
            return true;
    return false;
}

} // namespace

int main(int argc, char **argv)
{
    const int episodes = argc > 1 ? std::atoi(argv[1]) : 200;
    if (SDL_Init(SDL_INIT_VIDEO) != 0) {
        std::fprintf(stderr, "no window: %s\n", SDL_GetError());
        return 1;
    }
    pool threads(std::max(2u, std::thread::hardware_concurrency()));
    tk_session_options options = tk_session_defaults();
    options.threads = static_cast<int>(std::max(2u, std::thread::hardware_concurrency()));
    options.parallel = on_pool;
    options.parallel_user = &threads;
    const std::unique_ptr<tk_session, destroy> session(tk_session_create(&options));
    const std::unique_ptr<heat, destroy> m(heat_create(session.get(), nullptr));
    if (!m) {
        std::fprintf(stderr, "heat: %s\n", tk_error());
        return 1;
    }
    const int n = m->params.N;
    const std::size_t cells = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    std::vector<float> truth(cells);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            truth[static_cast<std::size_t>(i * n + j)] = std::hypot(i - n / 3, j - n / 2) < n / 6 ? 1.0f : 0.0f;
    std::copy(truth.begin(), truth.end(), m->start.data);
    simulate(m.get());
    std::copy_n(m->u.data + static_cast<std::size_t>(m->params.STEPS) * cells, cells, m->seen.data);
    std::fill_n(m->start.data, cells, 0.0f);

    const std::unique_ptr<SDL_Window, destroy> window(
        SDL_CreateWindow("heat", SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, n * 8, n * 4, 0));
    float first = 0.0f, last = 0.0f;
    for (int e = 0; e < episodes && window && !closed(); e++) {
        TK_TAPE(m.get(), m->loss)
        {
            simulate(m.get());
            heat_compare(m.get());
        }
        last = m->loss.data[0];
        if (e == 0)
            first = last;
        heat_descend(m.get(), 0.5f);
        draw(window.get(), m.get(), truth.data());
    }
    const tk_status status = tk_session_status(session.get());
    std::printf("loss %.3f, then %.5f\n", static_cast<double>(first), static_cast<double>(last));
    std::printf("%s on the program's own threads\n", threads.loops_run > 0 ? "loops ran" : "no loop ran");
    if (!window || status != TK_OK)
        std::fprintf(stderr, "%s%s\n", window ? "" : SDL_GetError(), tk_session_error(session.get()));
    const bool fell = window && status == TK_OK && last < 0.05f * first;
    std::printf("the start is %s\n", fell ? "found" : "not found");
    return fell ? 0 : 1;
}
