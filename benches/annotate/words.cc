#include <regex>
#include <map>
#include <unordered_map>
#include <string>
#include <vector>
#include <algorithm>
#include <sstream>
#include <iostream>
#include <memory>
#include <functional>
struct Word { std::string text; int count; };
static std::vector<std::string> make(int n) { std::vector<std::string> v; for (int i = 0; i < n; ++i) { std::ostringstream s; s << "user" << i % 997 << "@host" << i % 13 << ".example.org"; v.push_back(s.str()); } return v; }
static int match(const std::vector<std::string>& v) { std::regex r("([a-z]+)([0-9]+)@([a-z0-9]+)\\.example\\.(org|com)"); int n = 0; for (auto& s : v) { std::smatch m; if (std::regex_match(s, m, r)) n += m[2].length(); } return n; }
static int count(const std::vector<std::string>& v) { std::unordered_map<std::string, int> c; for (auto& s : v) ++c[s]; std::map<int, std::string> o; for (auto& [k, n] : c) o[n * 1000 + int(k.size())] = k; return int(o.size()); }
static size_t order(std::vector<std::string> v) { std::stable_sort(v.begin(), v.end(), [](auto& a, auto& b) { return a.size() != b.size() ? a.size() < b.size() : a > b; }); std::partial_sort(v.begin(), v.begin() + 100, v.end()); return v[0].size(); }
int main() { auto v = make(60000); size_t n = 0; for (int i = 0; i < 3; ++i) { n += match(v); n += count(v); n += order(v); } std::cout << n << "\n"; }
