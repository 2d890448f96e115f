// Two threads for one hyperplane: what scoring rows ahead gains.
//
//     two_threads ROWS ROUNDS
//
// A pass visits rows one by one, and an update changes the scores of all rows after it, so a second
// thread can only score rows ahead, with weights that are valid until the next update. Here the
// first thread scans a piece of rows and the second one the piece after it, at the same time; both
// wait in a loop, which is the fastest way to meet. After an update the pieces are short again,
// because what was scored ahead is lost; without one they grow.
//
// Prints, for several shares of updates: updates per visit, milliseconds of a pass on one thread and
// on two, rows scored in vain. Fails if two threads give other weights.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "cpu.hpp"
#include "rows.hpp"

using namespace rosenblatt;

namespace {

constexpr int64_t D = 100, SHORTEST = 128, LONGEST = 2048;
constexpr int WARM_UP = 2;

// Rows on the right side of a hyperplane, none closer to it than `gap` standard deviations.
struct Data {
    std::vector<double> X;
    std::vector<int32_t> y;

    Data(int64_t n, double gap) : X(n * D), y(n) {
        std::mt19937_64 random(0);
        std::normal_distribution<double> normal;
        std::vector<double> v(D);
        for (double& each : v) each = normal(random);
        for (int64_t i = 0; i < n;) {
            double score = 0.0;
            for (int64_t j = 0; j < D; ++j) score += v[j] * (X[i * D + j] = normal(random));
            if (std::fabs(score) < gap * std::sqrt(double(D))) continue;
            y[i++] = score > 0.0;
        }
    }
    Rows rows() const {
        return {row_ops(Kind::dense_f64),       X.data(), nullptr, nullptr,
                static_cast<int64_t>(y.size()), D};
    }
};

struct Model {
    std::vector<double> w = std::vector<double>(D);
    double b = 0.0;

    Found scan(const Data& data, int64_t from, int64_t end) const {
        const Rows rows = data.rows();
        return rows.ops->scan(rows, {data.y.data(), 1, nullptr, end, nullptr}, w.data(), b, from,
                              0.0);
    }
    void update(const Data& data, int64_t row) {
        const Rows rows = data.rows();
        const double c = data.y[row] ? 1.0 : -1.0;
        rows.ops->add(rows, row, c, w.data(), false);
        b += c;
    }
};

// A thread that scans the piece it is given.
class Helper {
  public:
    Helper(const Data& data, const Model& model) : data_(data), model_(model) {}
    ~Helper() {
        quit_ = true;
        thread_.join();
    }
    void start(int64_t from, int64_t end) {
        from_ = from;
        end_ = end;
        given_.store(++job_, std::memory_order_release);
    }
    Found wait() const {
        while (done_.load(std::memory_order_acquire) != job_) {
        }
        return found_;
    }

  private:
    void run() {
        for (uint64_t seen = 0;;) {
            while (given_.load(std::memory_order_acquire) == seen)
                if (quit_.load(std::memory_order_relaxed)) return;
            ++seen;
            found_ = model_.scan(data_, from_, end_);
            done_.store(seen, std::memory_order_release);
        }
    }
    const Data& data_;
    const Model& model_;
    uint64_t job_ = 0;
    int64_t from_ = 0, end_ = 0;
    alignas(64) std::atomic<uint64_t> given_{0};
    alignas(64) std::atomic<uint64_t> done_{0};
    Found found_{};
    alignas(64) std::atomic<bool> quit_{false};
    std::thread thread_{[this] { run(); }};
};

int64_t pass(const Data& data, Model& model) {
    const int64_t n = static_cast<int64_t>(data.y.size());
    int64_t updates = 0;
    for (int64_t t = 0;; ++t, ++updates) {
        t = model.scan(data, t, n).t;
        if (t == n) return updates;
        model.update(data, t);
    }
}

int64_t pass(const Data& data, Model& model, Helper& helper, int64_t& in_vain) {
    const int64_t n = static_cast<int64_t>(data.y.size());
    int64_t updates = 0, piece = SHORTEST;
    in_vain = 0;
    for (int64_t t = 0; t < n;) {
        const int64_t middle = std::min(n, t + piece), end = std::min(n, middle + piece);
        if (middle < end) helper.start(middle, end);
        Found found = model.scan(data, t, middle);
        if (middle < end) {
            const Found ahead = helper.wait();
            if (found.t == middle)
                found = ahead;
            else
                in_vain += ahead.t - middle;
        }
        t = found.t;
        if (t == end) {
            piece = std::min(2 * piece, LONGEST);
            continue;
        }
        model.update(data, t++);
        ++updates;
        piece = SHORTEST;
    }
    return updates;
}

double milliseconds(const auto& call) {
    const auto began = std::chrono::steady_clock::now();
    call();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began)
        .count();
}

}  // namespace

int main(int argc, char** argv) {
    const int64_t n = argc > 1 ? std::atoll(argv[1]) : 100000;
    const int rounds = WARM_UP + (argc > 2 ? std::atoi(argv[2]) : 10);
    for (const double gap : {0.3, 0.1, 0.06, 0.04, 0.01}) {
        const Data data(n, gap);
        Model one, two;
        double best_one = 1e9, best_two = 1e9;
        int64_t updates = 0, again = 0, in_vain = 0;
        {
            Helper helper(data, two);
            for (int round = 0; round < rounds; ++round) {
                const double first = milliseconds([&] { updates = pass(data, one); });
                const double second =
                    milliseconds([&] { again = pass(data, two, helper, in_vain); });
                if (round < WARM_UP) continue;
                best_one = std::min(best_one, first);
                best_two = std::min(best_two, second);
            }
        }
        if (updates != again || std::memcmp(one.w.data(), two.w.data(), D * sizeof(double)) != 0) {
            std::fprintf(stderr, "two threads made other weights\n");
            return 1;
        }
        std::printf("%.6f %.4f %.4f %.6f\n", double(updates) / double(n), best_one, best_two,
                    double(in_vain) / double(n));
    }
}
