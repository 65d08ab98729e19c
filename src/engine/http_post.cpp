#include "engine/http_post.hpp"

#include "duckdb.hpp"
#include "httplib.hpp"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace skein {
namespace {

//! Calls `ring` after `delay` in a thread of its own, unless it is destroyed before.
class Alarm {
public:
	Alarm(std::chrono::milliseconds delay, std::function<void()> ring)
		: thread_([this, delay, ring = std::move(ring)]() {
			  {
				  std::unique_lock<std::mutex> guard(mutex_);
				  if (changed_.wait_for(guard, delay, [&]() { return over_; })) {
					  return;
				  }
				  has_rung_ = true;
			  }
			  ring();
		  }) {
	}
	~Alarm() {
		{
			std::lock_guard<std::mutex> guard(mutex_);
			over_ = true;
		}
		changed_.notify_all();
		thread_.join();
	}
	bool HasRung() {
		std::lock_guard<std::mutex> guard(mutex_);
		return has_rung_;
	}

private:
	std::mutex mutex_;
	std::condition_variable changed_;
	bool over_ = false;
	bool has_rung_ = false;
	std::thread thread_;
};

} // namespace

HttpUrl HttpUrl::Parse(const std::string &text, const std::string &default_path) {
	static const std::string SCHEME = "http://";
	HttpUrl result;
	auto slash = text.find('/', SCHEME.size());
	result.base = text.substr(0, slash);
	result.path = slash == std::string::npos || text.substr(slash) == "/" ? default_path : text.substr(slash);
	auto has_host = result.base.size() > SCHEME.size() && result.base.rfind(SCHEME, 0) == 0;
	if (!has_host || result.base.find_first_of(" @?#\r\n") != std::string::npos) {
		throw duckdb::InvalidInputException("an address like 'http://host:4318' is needed, not '%s'", text);
	}
	return result;
}

std::optional<std::string> PostJson(const HttpUrl &url, const std::string &body, std::chrono::milliseconds timeout) {
	try {
		duckdb_httplib::Client client(url.base);
		client.set_connection_timeout(timeout);
		client.set_read_timeout(timeout);
		client.set_write_timeout(timeout);
		int status = 0;
		duckdb_httplib::Request request;
		request.method = "POST";
		request.path = url.path;
		request.body = body;
		request.set_header("Content-Type", "application/json");
		request.response_handler = [&](const duckdb_httplib::Response &head) {
			status = head.status;
			return false;
		};
		Alarm alarm(timeout, [&]() { client.stop(); });
		auto answer = client.send(request);
		status = answer ? answer->status : status;
		if (status / 100 == 2) {
			return std::nullopt;
		}
		if (status != 0) {
			return "status " + std::to_string(status);
		}
		return alarm.HasRung() ? "no answer within " + std::to_string(timeout.count()) + " ms"
							   : duckdb_httplib::to_string(answer.error());
	} catch (const std::exception &error) {
		return error.what();
	}
}

} // namespace skein
