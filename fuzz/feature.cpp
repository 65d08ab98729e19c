#include "fuzz/feature.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>

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

Feature FindFeature(const std::string &name) {
	for (size_t feature = 0; feature < FEATURE_COUNT; feature++) {
		if (FeatureName(feature) == name) {
			return static_cast<Feature>(feature);
		}
	}
	throw std::invalid_argument("no feature is called '" + name + "'");
}

} // namespace skein::fuzz
