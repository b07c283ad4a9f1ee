// Templates, operators, lambdas, virtual functions and exceptions: names that need demangling.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace zoo {
struct Animal {
    virtual ~Animal() = default;
    virtual unsigned feed(unsigned amount) const = 0;
};

template <typename T, int N> struct Cage : Animal {
    T inside[N] = {};
    __attribute__((noinline)) unsigned feed(unsigned amount) const override {
        unsigned sum = 0;
        for (int i = 0; i < N; i++)
            sum += static_cast<unsigned>(inside[i]) * amount + static_cast<unsigned>(i);
        return sum;
    }
    __attribute__((noinline)) Cage &operator+=(const T &more) {
        for (T &one : inside)
            one += more;
        return *this;
    }
};

namespace {
__attribute__((noinline)) unsigned hidden(const std::string &text) {
    unsigned sum = 0;
    for (char letter : text)
        sum = sum * 31 + static_cast<unsigned char>(letter);
    return sum;
}
} // namespace
} // namespace zoo

template <typename Function> __attribute__((noinline)) unsigned apply(Function function, unsigned count) {
    unsigned sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += function(i);
    return sum;
}

int main(int argc, char **argv) {
    unsigned rounds = argc > 1 ? static_cast<unsigned>(atoi(argv[1])) : 200, sum = 0;
    zoo::Cage<int, 64> ints;
    zoo::Cage<double, 16> doubles;
    std::map<std::string, unsigned> seen;
    for (unsigned round = 0; round < rounds; round++) {
        std::vector<unsigned> numbers;
        for (unsigned i = 0; i < 5000; i++)
            numbers.push_back((i * 2654435761u) ^ round);
        std::sort(numbers.begin(), numbers.end(), [](unsigned a, unsigned b) { return (a >> 3) < (b >> 3); });
        ints += 3;
        doubles += 1.5;
        std::unique_ptr<zoo::Animal> cages[] = {std::make_unique<zoo::Cage<int, 64>>(ints),
                                                std::make_unique<zoo::Cage<double, 16>>(doubles)};
        for (auto &cage : cages)
            sum += apply([&](unsigned i) { return cage->feed(i); }, 2000);
        seen[std::to_string(sum % 1000)] += zoo::hidden(std::to_string(sum));
        try {
            if (round % 10 == 0)
                throw std::runtime_error("round");
        } catch (const std::exception &error) {
            sum += static_cast<unsigned>(error.what()[0]);
        }
    }
    std::printf("%u %zu\n", sum, seen.size());
}
