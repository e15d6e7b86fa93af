// Catch2 2.13 (Debian 12) and 3.x both work; only this file and CMakeLists.txt know the difference.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
namespace Catch::Matchers {
inline auto ContainsSubstring(const std::string& part) { return Contains(part); }  // the name that 3.x has
}  // namespace Catch::Matchers
#endif
