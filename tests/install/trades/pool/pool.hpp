// A thread pool of the program's own. Whoever waits for a loop works on it as well, so loops inside of loops end.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

class pool
{
  public:
    explicit pool(unsigned threads)
    {
        for (unsigned k = 1; k < threads; k++)
            workers.emplace_back([this] { work(); });
    }
    ~pool()
    {
        {
            const std::lock_guard<std::mutex> hold(mutex);
            over = true;
        }
        wake.notify_all();
        for (std::thread &t : workers)
            t.join();
    }
    pool(const pool &) = delete;
    pool &operator=(const pool &) = delete;

    // Calls f(k) for each k of [0, n), and returns when all calls have returned.
    void each(std::int64_t n, const std::function<void(std::int64_t)> &f)
    {
        const std::lock_guard<std::mutex> one_loop(loops);
        loops_run++;
        {
            const std::lock_guard<std::mutex> hold(mutex);
            job = &f;
            next = 0;
            count = left = n;
        }
        wake.notify_all();
        share();
        std::unique_lock<std::mutex> hold(mutex);
        done.wait(hold, [this] { return left == 0 && busy == 0; });
        job = nullptr;
    }

    std::atomic<long> loops_run{0};

  private:
    void share()
    {
        const std::function<void(std::int64_t)> &f = *job;
        std::int64_t finished = 0;
        for (std::int64_t k = next++; k < count; k = next++, finished++)
            f(k);
        const std::lock_guard<std::mutex> hold(mutex);
        left -= finished;
        if (left == 0)
            done.notify_all();
    }
    void work()
    {
        for (std::unique_lock<std::mutex> hold(mutex);;) {
            wake.wait(hold, [this] { return over || (job && next < count); });
            if (over)
                return;
            busy++;
            hold.unlock();
            share();
            hold.lock();
            busy--;
            done.notify_all();
        }
    }

    std::mutex mutex, loops;
    std::condition_variable wake, done;
    const std::function<void(std::int64_t)> *job = nullptr;
    std::atomic<std::int64_t> next{0};
    std::int64_t count = 0, left = 0;
    int busy = 0;
    bool over = false;
    std::vector<std::thread> workers;
};
