#include "engine/task_units.hpp"

#include "engine/slice_units.hpp"

#include "duckdb/common/serializer/binary_serializer.hpp"
#include "duckdb/common/serializer/memory_stream.hpp"

#include <algorithm>

namespace skein {

using namespace duckdb;

namespace {

//! Shares that are read in less are read before anybody could help.
constexpr std::chrono::milliseconds SHORT_SHARE{20};
//! Units that are read in less stay where they are.
constexpr std::chrono::milliseconds SHORT_REST{10};

string WriteSlice(const TableFunction &function, FunctionData &slice) {
	MemoryStream stream;
	SerializationOptions options;
	options.serialization_compatibility = SerializationCompatibility::Latest();
	BinarySerializer serializer(stream, options);
	serializer.Begin();
	function.serialize(serializer, &slice, function);
	serializer.End();
	return string(const_char_ptr_cast(stream.GetData()), stream.GetPosition());
}

} // namespace

LeafUnits::LeafUnits(SharingOptions options, uint64_t most_of_others, std::function<void(UnitPace)> ask)
	: options_(options), most_of_others_(most_of_others), ask_(std::move(ask)) {
}

std::shared_ptr<UnitSupply> LeafUnits::SetSlice(const TableFunction &function, FunctionData &bind_data) {
	auto &units = *SliceUnits::Of(bind_data);
	units.supply = std::make_shared<UnitSupply>(units.UnitCount());
	units.on_begin = [this, supply = units.supply.get()]() { OnBegin(*supply); };
	std::lock_guard<std::mutex> guard(mutex_);
	counts_.read += supply_ ? supply_->Claimed() : 0;
	read_before_ += supply_ ? supply_->Read() : 0;
	function_ = function;
	slice_ = bind_data;
	supply_ = units.supply;
	state_ = State::READING;
	return supply_;
}

void LeafUnits::Begin(std::function<void()> on_news) {
	std::lock_guard<std::mutex> guard(mutex_);
	if (began_at_) {
		throw InternalException("A leaf whose units tasks share was read a second time");
	}
	began_at_ = Clock::now();
	on_news_ = std::move(on_news);
}

void LeafUnits::OnBegin(UnitSupply &supply) {
	// If it is the last one, the answer comes while it is read.
	AskIfEmpty(supply, false);
	if (options_.unit_delay.count() > 0) {
		Delay();
	}
}

void LeafUnits::AskIfEmpty(UnitSupply &supply, bool dry) {
	if (dry) {
		supply.Close();
	}
	if (!supply.IsEmpty()) {
		return;
	}
	UnitPace pace;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (state_ != State::READING || supply_.get() != &supply) {
			return;
		}
		if (!IsWorthAskingLocked(dry)) {
			if (dry) {
				state_ = State::ENDED;
			}
			return;
		}
		state_ = State::ASKED;
		pace = PaceLocked();
	}
	ask_(pace);
}

void LeafUnits::Delay() {
	std::unique_lock<std::mutex> guard(mutex_);
	closed_.wait_for(guard, options_.unit_delay, [&]() { return !slice_; });
}

bool LeafUnits::IsWaiting() {
	std::lock_guard<std::mutex> guard(mutex_);
	return state_ == State::ASKED;
}

bool LeafUnits::HasEnded() {
	std::lock_guard<std::mutex> guard(mutex_);
	return state_ == State::ENDED;
}

std::optional<Parcel> LeafUnits::Take() {
	std::lock_guard<std::mutex> guard(mutex_);
	if (state_ != State::ARRIVED) {
		return std::nullopt;
	}
	state_ = State::TAKEN;
	return std::move(parcel_);
}

void LeafUnits::Close() {
	std::lock_guard<std::mutex> guard(mutex_);
	slice_ = nullptr;
	function_ = nullptr;
	on_news_ = nullptr;
	state_ = State::ENDED;
	closed_.notify_all();
}

uint64_t LeafUnits::ReadLocked() {
	return read_before_ + (supply_ ? supply_->Read() : 0);
}

UnitPace LeafUnits::PaceLocked() {
	auto read = ReadLocked();
	if (!began_at_ || read == 0) {
		return std::nullopt;
	}
	// The last one is half done.
	auto pace = (Clock::now() - *began_at_) / (static_cast<double>(read) - 0.5);
	return std::chrono::ceil<std::chrono::microseconds>(pace);
}

bool LeafUnits::IsWorthAskingLocked(bool dry) {
	if (options_.always || options_.never) {
		return options_.always;
	}
	if (most_of_others_ < 2) {
		// It has been begun.
		return false;
	}
	auto read = ReadLocked();
	if (read == 0) {
		// Those that are begun may have rows. Units without say nothing of the others'.
		return dry;
	}
	auto took = Clock::now() - *began_at_;
	return took >= SHORT_SHARE ||
		   took * (static_cast<double>(most_of_others_) / static_cast<double>(read)) >= SHORT_SHARE;
}

bool LeafUnits::IsWorthReleasingLocked() {
	// Of a slice that nobody has begun, somebody else has read a like share in SHORT_SHARE or more.
	auto read = ReadLocked();
	if (options_.always || !began_at_ || read == 0) {
		return true;
	}
	return (Clock::now() - *began_at_) * (static_cast<double>(supply_->Left()) / static_cast<double>(read)) >=
		   SHORT_REST;
}

Parcel LeafUnits::Release(uint64_t at_least, UnitPace taker, uint64_t &left) {
	std::lock_guard<std::mutex> guard(mutex_);
	left = 0;
	if (!slice_ || !IsWorthReleasingLocked()) {
		return {};
	}
	UnitPaces paces;
	auto owner = PaceLocked();
	if (owner && taker && taker->count() > 0) {
		// It asks when it begins its last unit.
		paces = {static_cast<double>(owner->count()), static_cast<double>(taker->count()), 1};
	}
	auto range = supply_->Release(at_least, paces);
	left = supply_->Left();
	if (range.Count() == 0) {
		// Whoever asks is so slow that this task is done sooner; to ask again would not change that.
		left = left >= at_least ? 0 : left;
		return {};
	}
	auto part = SliceUnits::Of(slice_)->Part(*slice_, range);
	counts_.given += range.Count();
	return {range.Count(), WriteSlice(*function_, *part)};
}

void LeafUnits::Give(Parcel parcel) {
	std::function<void()> on_news;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (state_ != State::ASKED) {
			// The scan has ended early: none of its rows matter any more, whatever they are.
			return;
		}
		counts_.taken += parcel.units;
		state_ = parcel.units > 0 ? State::ARRIVED : State::ENDED;
		parcel_ = std::move(parcel);
		on_news = on_news_;
	}
	if (on_news) {
		on_news();
	}
}

UnitCounts LeafUnits::Counts() {
	std::lock_guard<std::mutex> guard(mutex_);
	auto result = counts_;
	result.read += supply_ ? supply_->Claimed() : 0;
	return result;
}

TaskUnits::TaskUnits(SharingOptions options, std::vector<uint64_t> most_of_others,
					 std::function<void(uint64_t leaf, UnitPace)> ask)
	: options_(options), most_of_others_(std::move(most_of_others)), ask_(std::move(ask)) {
}

duckdb::shared_ptr<TaskUnits> TaskUnits::Find(ClientContext &context) {
	return context.registered_state->Get<TaskUnits>(KEY);
}

std::shared_ptr<LeafUnits> TaskUnits::Open(uint64_t leaf, const TableFunction &function, FunctionData &bind_data) {
	auto most_of_others = leaf < most_of_others_.size() ? most_of_others_[leaf] : 0;
	auto result =
		std::make_shared<LeafUnits>(options_, most_of_others, [ask = ask_, leaf](UnitPace pace) { ask(leaf, pace); });
	result->SetSlice(function, bind_data);
	std::vector<std::function<void(LeafUnits *)>> waiting;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		if (!leaves_.emplace(leaf, result).second) {
			throw InternalException("A task has leaf %llu twice", leaf);
		}
		auto range = waiting_.equal_range(leaf);
		for (auto entry = range.first; entry != range.second; ++entry) {
			waiting.push_back(std::move(entry->second));
		}
		waiting_.erase(range.first, range.second);
	}
	for (auto &use : waiting) {
		use(result.get());
	}
	return result;
}

void TaskUnits::Complete() {
	std::multimap<uint64_t, std::function<void(LeafUnits *)>> waiting;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		complete_ = true;
		waiting.swap(waiting_);
	}
	for (auto &entry : waiting) {
		entry.second(nullptr);
	}
}

void TaskUnits::WithLeaf(uint64_t leaf, std::function<void(LeafUnits *)> use) {
	std::shared_ptr<LeafUnits> found;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		auto entry = leaves_.find(leaf);
		if (entry == leaves_.end() && !complete_) {
			waiting_.emplace(leaf, std::move(use));
			return;
		}
		found = entry == leaves_.end() ? nullptr : entry->second;
	}
	use(found.get());
}

std::shared_ptr<LeafUnits> TaskUnits::Leaf(uint64_t leaf) {
	std::lock_guard<std::mutex> guard(mutex_);
	auto entry = leaves_.find(leaf);
	return entry == leaves_.end() ? nullptr : entry->second;
}

std::optional<UnitCounts> TaskUnits::Counts() {
	std::lock_guard<std::mutex> guard(mutex_);
	if (leaves_.empty()) {
		return std::nullopt;
	}
	UnitCounts result;
	for (auto &entry : leaves_) {
		auto counts = entry.second->Counts();
		result.read += counts.read;
		result.taken += counts.taken;
		result.given += counts.given;
	}
	return result;
}

} // namespace skein
