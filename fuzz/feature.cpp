#include "fuzz/feature.hpp"

#include <algorithm>
#include <cctype>

namespace skein::fuzz {
namespace {

constexpr const char *NAMES[] = {
#define SKEIN_FUZZ_NAME(NAME) #NAME,
	SKEIN_FUZZ_FEATURES(SKEIN_FUZZ_NAME)
#undef SKEIN_FUZZ_NAME
};

} // namespace

std::string FeatureName(size_t feature) {
	std::string name = NAMES[feature];
	std::transform(name.begin(), name.end(), name.begin(),
				   [](unsigned char letter) { return letter == '_' ? ' ' : static_cast<char>(std::tolower(letter)); });
	return name;
}

} // namespace skein::fuzz
