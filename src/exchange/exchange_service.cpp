#include "exchange/exchange_service.hpp"

#include "exchange/messages.hpp"
#include "wire/messages/error_codec.hpp"

namespace skein {

using namespace duckdb;

namespace {

//! Messages of an attempt overtake its end by less than the attempts that end meanwhile.
constexpr size_t REMEMBERED_DROPS = 1024;

} // namespace

ExchangeService::ExchangeService(std::string own_address, LinkTo link_to, IsOpen is_open)
	: own_address_(std::move(own_address)), link_to_(std::move(link_to)), is_open_(std::move(is_open)) {
}

bool ExchangeService::WasDroppedLocked(const AttemptKey &attempt) const {
	return dropped_.find(attempt) != dropped_.end();
}

bool ExchangeService::WasDropped(const AttemptKey &attempt) {
	std::lock_guard<std::mutex> guard(mutex_);
	return WasDroppedLocked(attempt);
}

void ExchangeService::AddOutput(const TaskKey &task, uint32_t output, std::shared_ptr<OutputBuffer> buffer,
								LinkCompression compression) {
	Output added{buffer, compression};
	std::vector<Request> requests;
	std::vector<idx_t> discarded;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		OutputName name{task, output};
		outputs_[name] = added;
		auto waiting = waiting_.find(name);
		if (waiting != waiting_.end()) {
			requests.swap(waiting->second);
			waiting_.erase(waiting);
		}
		auto early = discarded_early_.find(name);
		if (early != discarded_early_.end()) {
			discarded.swap(early->second);
			discarded_early_.erase(early);
		}
	}
	for (auto partition : discarded) {
		buffer->ClosePartition(partition);
	}
	for (auto &request : requests) {
		Serve(added, request);
	}
}

void ExchangeService::DropAttempt(const AttemptKey &attempt) {
	std::vector<std::shared_ptr<OutputBuffer>> dropped;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		for (auto it = outputs_.begin(); it != outputs_.end();) {
			if (it->first.task.Attempt() == attempt) {
				dropped.push_back(std::move(it->second.buffer));
				it = outputs_.erase(it);
			} else {
				++it;
			}
		}
		if (dropped_.insert(attempt).second) {
			dropped_order_.push_back(attempt);
		}
		if (dropped_order_.size() > REMEMBERED_DROPS) {
			dropped_.erase(dropped_order_.front());
			dropped_order_.pop_front();
		}
		std::erase_if(waiting_, [&](auto &entry) { return entry.first.task.Attempt() == attempt; });
		std::erase_if(discarded_early_, [&](auto &entry) { return entry.first.task.Attempt() == attempt; });
	}
	for (auto &buffer : dropped) {
		// Ends the senders that still read; a buffer that is finished and being read ends by itself.
		buffer->Abort(ErrorData(ExceptionType::INTERRUPT, "the query has ended"));
		for (idx_t partition = 0; partition < buffer->PartitionCount(); partition++) {
			buffer->ClosePartition(partition);
		}
	}
}

ChannelTarget ExchangeService::LinkTarget(const Output &output, const Request &request) {
	auto link = request.link;
	auto place = link->Place();
	auto compression = CompressionFor(output.compression, place);
	auto buffer = output.buffer;
	auto key = request.key;
	auto sequence = std::make_shared<uint64_t>(0);
	ChannelTarget target;
	target.on_page = [this, link, key, sequence, place, compression, buffer](SharedBytes page) {
		auto body = CompressPage(std::move(page), compression);
		auto bytes = body.size;
		wire::Message message;
		message.mutable_page()->set_channel(key.second);
		message.mutable_page()->set_sequence((*sequence)++);
		if (place != PeerPlace::SAME_PROCESS) {
			message.mutable_page()->set_has_checksum(true);
			message.mutable_page()->set_checksum(ChecksumOf(body));
			buffer->AddLinkBytes(bytes);
			sent_bytes_ += bytes;
		}
		SendMessage(*link, message, std::move(body));
		return bytes;
	};
	target.on_end = [this, link, key, sequence]() {
		wire::Message message;
		message.mutable_end()->set_channel(key.second);
		message.mutable_end()->set_pages(*sequence);
		SendMessage(*link, message);
		RemoveSender(key);
	};
	target.on_error = [this, link, key](const ErrorData &error, bool consequence) {
		wire::Message message;
		message.mutable_channel_error()->set_channel(key.second);
		EncodeError(error, consequence, *message.mutable_channel_error()->mutable_error());
		SendMessage(*link, message);
		RemoveSender(key);
	};
	target.on_closed = [this, key]() { RemoveSender(key); };
	return target;
}

ChannelTarget ExchangeService::LocalTarget(uint64_t channel) {
	ChannelTarget target;
	target.on_page = [this, channel](SharedBytes page) {
		auto bytes = page.size;
		size_t index;
		if (auto input = FindInput(channel, index, false)) {
			input->OnPage(index, channel, std::move(page));
		}
		return bytes;
	};
	target.on_end = [this, channel]() {
		size_t index;
		auto input = FindInput(channel, index, true);
		RemoveSender({nullptr, channel});
		if (input) {
			input->OnEnd(index, channel);
		}
	};
	target.on_error = [this, channel](const ErrorData &error, bool consequence) {
		size_t index;
		auto input = FindInput(channel, index, true);
		RemoveSender({nullptr, channel});
		if (input) {
			input->OnError(index, channel, error, consequence);
		}
	};
	target.on_closed = [this, channel]() { RemoveSender({nullptr, channel}); };
	return target;
}

void ExchangeService::Serve(const Output &output, const Request &request) {
	auto target = request.link ? LinkTarget(output, request) : LocalTarget(request.key.second);
	auto sender =
		std::make_shared<ChannelSender>(output.buffer, request.partition, request.credit_bytes, std::move(target));
	{
		std::lock_guard<std::mutex> guard(mutex_);
		senders_[request.key] = sender;
	}
	sender->Start();
}

void ExchangeService::RemoveSender(const SenderKey &key) {
	std::lock_guard<std::mutex> guard(mutex_);
	senders_.erase(key);
}

std::shared_ptr<ExchangeInput> ExchangeService::FindInput(uint64_t channel, size_t &index, bool last) {
	std::lock_guard<std::mutex> guard(mutex_);
	auto entry = subscriptions_.find(channel);
	if (entry == subscriptions_.end()) {
		return nullptr;
	}
	index = entry->second.index;
	auto input = entry->second.input.lock();
	if (last) {
		subscriptions_.erase(entry);
	}
	return input;
}

void ExchangeService::HandleSubscribe(const PartitionKey &partition, Request request) {
	Output output;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		OutputName name{partition.task, partition.output};
		auto entry = outputs_.find(name);
		if (entry == outputs_.end()) {
			if (!WasDroppedLocked(name.task.Attempt())) {
				waiting_[name].push_back(std::move(request));
			}
			return;
		}
		output = entry->second;
	}
	Serve(output, request);
}

void ExchangeService::HandleDiscard(const PartitionKey &partition) {
	std::shared_ptr<OutputBuffer> buffer;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		OutputName name{partition.task, partition.output};
		auto entry = outputs_.find(name);
		if (entry == outputs_.end()) {
			if (!WasDroppedLocked(name.task.Attempt())) {
				discarded_early_[name].push_back(partition.partition);
			}
			return;
		}
		buffer = entry->second.buffer;
	}
	buffer->ClosePartition(partition.partition);
}

void ExchangeService::Subscribe(const Producer &producer, uint64_t channel, std::shared_ptr<ExchangeInput> input,
								size_t index, size_t credit_bytes) {
	std::shared_ptr<Link> link;
	if (producer.address != own_address_) {
		link = link_to_(producer.address);
	}
	{
		std::lock_guard<std::mutex> guard(mutex_);
		subscriptions_[channel] = Subscription{input, index, link.get(), producer.address, 0};
	}
	if (!link) {
		HandleSubscribe(producer.partition,
						Request{{nullptr, channel}, nullptr, producer.partition.partition, credit_bytes});
		return;
	}
	wire::Message message;
	auto &subscribe = *message.mutable_subscribe();
	subscribe.set_channel(channel);
	subscribe.set_credit_bytes(credit_bytes);
	EncodePartition(producer.partition, *subscribe.mutable_output());
	SendMessage(*link, message);
	if (!is_open_(producer.address, *link)) {
		// It closed before the subscription was there to be failed.
		if (auto reader = FindInput(channel, index, true)) {
			reader->OnError(index, channel, LostWorkerError(producer.address, "", false), false);
		}
	}
}

void ExchangeService::GiveCredit(const Producer &producer, uint64_t channel, size_t bytes) {
	std::shared_ptr<ChannelSender> sender;
	if (producer.address == own_address_) {
		{
			std::lock_guard<std::mutex> guard(mutex_);
			auto entry = senders_.find({nullptr, channel});
			if (entry == senders_.end()) {
				return;
			}
			sender = entry->second;
		}
		sender->AddCredit(bytes);
		return;
	}
	wire::Message message;
	message.mutable_credit()->set_channel(channel);
	message.mutable_credit()->set_bytes(bytes);
	SendMessage(*link_to_(producer.address), message);
}

void ExchangeService::Unsubscribe(uint64_t channel) {
	std::lock_guard<std::mutex> guard(mutex_);
	subscriptions_.erase(channel);
}

void ExchangeService::Discard(const Producer &producer) {
	if (producer.address == own_address_) {
		HandleDiscard(producer.partition);
		return;
	}
	wire::Message message;
	EncodePartition(producer.partition, *message.mutable_discard()->mutable_output());
	try {
		SendMessage(*link_to_(producer.address), message);
	} catch (std::exception &) {
		// The address is malformed or this node is stopping: there is no producer that could be told.
	}
}

bool ExchangeService::OnMessage(Link &link, const wire::Message &message, SharedBytes body) {
	size_t index;
	switch (message.kind_case()) {
	case wire::Message::kPage: {
		std::shared_ptr<ExchangeInput> input;
		bool gap = false;
		if (message.page().has_checksum()) {
			received_bytes_ += body.size;
		}
		{
			std::lock_guard<std::mutex> guard(mutex_);
			auto entry = subscriptions_.find(message.page().channel());
			if (entry == subscriptions_.end()) {
				return true;
			}
			gap = entry->second.next_sequence++ != message.page().sequence();
			index = entry->second.index;
			input = entry->second.input.lock();
		}
		string fault;
		if (gap) {
			fault = "was lost on the way";
		} else if (message.page().has_checksum() && message.page().checksum() != ChecksumOf(body)) {
			fault = "was damaged on the way";
		}
		if (input && !fault.empty()) {
			input->OnError(index, message.page().channel(),
						   ErrorData(ExceptionType::IO, "a page from " + link.PeerAddress() + " " + fault), false);
		} else if (input) {
			input->OnPage(index, message.page().channel(), std::move(body));
		}
		return true;
	}
	case wire::Message::kEnd:
		if (auto input = FindInput(message.end().channel(), index, true)) {
			input->OnEnd(index, message.end().channel());
		}
		return true;
	case wire::Message::kChannelError:
		if (auto input = FindInput(message.channel_error().channel(), index, true)) {
			auto &error = message.channel_error().error();
			input->OnError(index, message.channel_error().channel(), DecodeError(error), error.consequence());
		}
		return true;
	case wire::Message::kSubscribe: {
		auto &subscribe = message.subscribe();
		auto partition = DecodePartition(subscribe.output());
		HandleSubscribe(partition, Request{{&link, subscribe.channel()},
										   link.shared_from_this(),
										   partition.partition,
										   subscribe.credit_bytes()});
		return true;
	}
	case wire::Message::kCredit: {
		std::shared_ptr<ChannelSender> sender;
		{
			std::lock_guard<std::mutex> guard(mutex_);
			auto entry = senders_.find({&link, message.credit().channel()});
			if (entry == senders_.end()) {
				return true;
			}
			sender = entry->second;
		}
		sender->AddCredit(message.credit().bytes());
		return true;
	}
	case wire::Message::kDiscard:
		HandleDiscard(DecodePartition(message.discard().output()));
		return true;
	default:
		return false;
	}
}

void ExchangeService::OnLinkClosed(Link &link, const std::string &reason, bool had_answered) {
	std::vector<std::shared_ptr<ChannelSender>> stopped;
	struct Failed {
		std::shared_ptr<ExchangeInput> input;
		size_t index;
		uint64_t channel;
		string address;
	};
	std::vector<Failed> failed;
	{
		std::lock_guard<std::mutex> guard(mutex_);
		for (auto it = senders_.begin(); it != senders_.end();) {
			if (it->first.first == &link) {
				stopped.push_back(std::move(it->second));
				it = senders_.erase(it);
			} else {
				++it;
			}
		}
		for (auto &entry : waiting_) {
			std::erase_if(entry.second, [&](const Request &request) { return request.link.get() == &link; });
		}
		std::erase_if(waiting_, [](auto &entry) { return entry.second.empty(); });
		for (auto it = subscriptions_.begin(); it != subscriptions_.end();) {
			if (it->second.link == &link) {
				if (auto input = it->second.input.lock()) {
					failed.push_back({std::move(input), it->second.index, it->first, it->second.address});
				}
				it = subscriptions_.erase(it);
			} else {
				++it;
			}
		}
	}
	for (auto &sender : stopped) {
		sender->Stop();
	}
	for (auto &entry : failed) {
		entry.input->OnError(entry.index, entry.channel, LostWorkerError(entry.address, reason, had_answered), false);
	}
}

ExchangeService::Census ExchangeService::Count() {
	std::lock_guard<std::mutex> guard(mutex_);
	auto waiting = discarded_early_.size();
	for (auto &entry : waiting_) {
		waiting += entry.second.size();
	}
	return {outputs_.size(), waiting, senders_.size(), subscriptions_.size()};
}

} // namespace skein
