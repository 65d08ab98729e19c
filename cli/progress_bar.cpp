#include "progress_bar.hpp"

#include "duckdb/common/progress_bar/progress_bar_display.hpp"
#include "duckdb/main/client_config.hpp"

#include <algorithm>
#include <iostream>

#include <unistd.h>

namespace skein::cli {
namespace {

class ErrorStreamBar final : public duckdb::ProgressBarDisplay {
public:
	~ErrorStreamBar() override {
		Finish();
	}
	void Update(double percentage) override {
		auto percent = static_cast<int>(std::clamp(percentage, 0.0, 100.0));
		// What is drawn once is not taken back.
		if (percent <= shown_) {
			return;
		}
		shown_ = percent;
		auto filled = static_cast<size_t>(percent) * WIDTH / 100;
		std::cerr << "\r[" << std::string(filled, '=') << std::string(WIDTH - filled, ' ') << "] " << percent << "%"
				  << std::flush;
	}
	void Finish() override {
		if (shown_ >= 0) {
			std::cerr << ERASE_LINE << std::flush;
			shown_ = -1;
		}
	}

private:
	static constexpr size_t WIDTH = 50;
	static constexpr const char *ERASE_LINE = "\r\033[K";

	int shown_ = -1;
};

} // namespace

void ShowProgress(duckdb::Connection &connection) {
	if (!isatty(STDERR_FILENO)) {
		return;
	}
	auto &config = duckdb::ClientConfig::GetConfig(*connection.context);
	config.enable_progress_bar = true;
	config.print_progress_bar = true;
	config.display_create_func = []() -> duckdb::unique_ptr<duckdb::ProgressBarDisplay> {
		return duckdb::make_uniq<ErrorStreamBar>();
	};
}

} // namespace skein::cli
