// The one file that compiles Catch2's main (with Catch2 3 the library brings its own).
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
