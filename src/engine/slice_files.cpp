#include "engine/slice_files.hpp"

#include "duckdb/common/serializer/deserializer.hpp"
#include "duckdb/common/serializer/serializer.hpp"

namespace skein {

using namespace duckdb;

namespace {

constexpr const char *POSITION_OPTION = "skein_slice_file";
constexpr const char *INDEX_OPTION = "skein_file_index";

//! Texts that resemble their neighbours: of each how many bytes it shares with the one before, and the rest.
struct FrontCoded {
	vector<idx_t> shared;
	vector<string> rests;

	void Reserve(idx_t count) {
		shared.reserve(count);
		rests.reserve(count);
	}
	void Add(const string &text) {
		auto limit = std::min(text.size(), last.size());
		auto same = std::mismatch(text.begin(), text.begin() + static_cast<int64_t>(limit), last.begin()).first;
		shared.push_back(static_cast<idx_t>(same - text.begin()));
		rests.emplace_back(same, text.end());
		last = text;
	}
	const string &At(idx_t position) {
		last.resize(std::min<idx_t>(last.size(), shared[position]));
		last += rests[position];
		return last;
	}

	string last;
};

void WriteTexts(Serializer &object, field_id_t id, const char *name, const FrontCoded &texts) {
	object.WriteObject(id, name, [&](Serializer &list) {
		list.WriteProperty(100, "shared", texts.shared);
		list.WriteProperty(101, "rests", texts.rests);
	});
}

FrontCoded ReadTexts(Deserializer &object, field_id_t id, const char *name, idx_t count) {
	FrontCoded texts;
	object.ReadObject(id, name, [&](Deserializer &list) {
		texts.shared = list.ReadProperty<vector<idx_t>>(100, "shared");
		texts.rests = list.ReadProperty<vector<string>>(101, "rests");
	});
	if (texts.shared.size() != count || texts.rests.size() != count) {
		throw SerializationException("A slice of %llu files has %llu paths", count, texts.rests.size());
	}
	return texts;
}

//! Whether every file is opened by `prefix` and its path.
bool HavePrefix(idx_t count, const std::function<const SliceFile &(idx_t)> &file, const string &prefix) {
	for (idx_t i = 0; i < count; i++) {
		auto &entry = file(i);
		auto &open_path = entry.OpenPath();
		if (open_path.size() != prefix.size() + entry.path.size() || open_path.compare(0, prefix.size(), prefix) != 0 ||
			(&open_path != &entry.path && open_path.compare(prefix.size(), string::npos, entry.path) != 0)) {
			return false;
		}
	}
	return true;
}

} // namespace

void WriteSliceFiles(Serializer &object, idx_t count, const std::function<const SliceFile &(idx_t)> &file) {
	FrontCoded paths, open_paths, tags;
	vector<idx_t> sizes, file_indices, range_begins, range_ends;
	vector<int64_t> modified;
	paths.Reserve(count);
	sizes.reserve(count);
	file_indices.reserve(count);
	modified.reserve(count);
	auto consecutive = true, tagged = false, divided = false;
	int64_t last_modified = 0;
	for (idx_t i = 0; i < count; i++) {
		auto &entry = file(i);
		paths.Add(entry.path);
		sizes.push_back(entry.version.size);
		modified.push_back(entry.version.last_modified.value - last_modified);
		last_modified = entry.version.last_modified.value;
		tagged = tagged || !entry.version.tag.empty();
		divided = divided || !entry.range.IsWholeFile();
		file_indices.push_back(entry.file_index);
		consecutive = consecutive && entry.file_index == file_indices[0] + i;
	}
	if (consecutive && count > 0) {
		file_indices.resize(1);
	}
	string prefix;
	if (count > 0 && file(0).OpenPath().size() > file(0).path.size()) {
		prefix = file(0).OpenPath().substr(0, file(0).OpenPath().size() - file(0).path.size());
	}
	auto prefixed = HavePrefix(count, file, prefix);
	for (idx_t i = 0; i < count; i++) {
		if (!prefixed) {
			open_paths.Add(file(i).OpenPath());
		}
		if (tagged) {
			tags.Add(file(i).version.tag);
		}
		if (divided) {
			range_begins.push_back(file(i).range.begin);
			range_ends.push_back(file(i).range.end);
		}
	}
	object.WriteProperty(100, "count", count);
	WriteTexts(object, 101, "paths", paths);
	object.WriteProperty(102, "prefixed", prefixed);
	object.WriteProperty(103, "prefix", prefix);
	WriteTexts(object, 104, "open_paths", open_paths);
	object.WriteProperty(105, "sizes", sizes);
	object.WriteProperty(106, "last_modified_steps", modified);
	object.WriteProperty(107, "tagged", tagged);
	WriteTexts(object, 108, "tags", tags);
	object.WriteProperty(109, "file_indices", file_indices);
	object.WriteProperty(110, "range_begins", range_begins);
	object.WriteProperty(111, "range_ends", range_ends);
}

vector<SliceFile> ReadSliceFiles(Deserializer &object) {
	auto count = object.ReadProperty<idx_t>(100, "count");
	auto paths = ReadTexts(object, 101, "paths", count);
	auto prefixed = object.ReadProperty<bool>(102, "prefixed");
	auto prefix = object.ReadProperty<string>(103, "prefix");
	auto open_paths = ReadTexts(object, 104, "open_paths", prefixed ? 0 : count);
	auto sizes = object.ReadProperty<vector<idx_t>>(105, "sizes");
	auto modified = object.ReadProperty<vector<int64_t>>(106, "last_modified_steps");
	auto tagged = object.ReadProperty<bool>(107, "tagged");
	auto tags = ReadTexts(object, 108, "tags", tagged ? count : 0);
	auto file_indices = object.ReadProperty<vector<idx_t>>(109, "file_indices");
	auto range_begins = object.ReadProperty<vector<idx_t>>(110, "range_begins");
	auto range_ends = object.ReadProperty<vector<idx_t>>(111, "range_ends");
	auto divided = !range_begins.empty();
	if (range_begins.size() != range_ends.size() || (divided && range_begins.size() != count)) {
		throw SerializationException("A slice of %llu files has other numbers of ranges", count);
	}
	auto consecutive = file_indices.size() == 1;
	if (sizes.size() != count || modified.size() != count || (!consecutive && file_indices.size() != count)) {
		throw SerializationException("A slice of %llu files has other numbers of sizes or times", count);
	}
	vector<SliceFile> result(count);
	int64_t last_modified = 0;
	for (idx_t i = 0; i < count; i++) {
		auto &file = result[i];
		file.path = paths.At(i);
		if (!prefixed || !prefix.empty()) {
			auto open_path = prefixed ? prefix + file.path : open_paths.At(i);
			file.absolute_path = open_path == file.path ? string() : std::move(open_path);
		}
		file.version.size = sizes[i];
		last_modified += modified[i];
		file.version.last_modified = timestamp_t(last_modified);
		if (tagged) {
			file.version.tag = tags.At(i);
		}
		file.file_index = consecutive ? file_indices[0] + i : file_indices[i];
		if (divided) {
			file.range = {range_begins[i], range_ends[i]};
		}
	}
	return result;
}

idx_t SliceFileList::PositionOf(const OpenFileInfo &listed) {
	return listed.extended_info->options.at(POSITION_OPTION).GetValue<idx_t>();
}

idx_t SliceFileList::IndexOf(const OpenFileInfo &listed) {
	return listed.extended_info->options.at(INDEX_OPTION).GetValue<idx_t>();
}

vector<OpenFileInfo> SliceFileList::GetAllFiles() const {
	vector<OpenFileInfo> result;
	result.reserve(count_);
	for (idx_t i = 0; i < count_; i++) {
		result.push_back(GetFile(i));
	}
	return result;
}

FileExpandResult SliceFileList::GetExpandResult() const {
	if (count_ > 1) {
		return FileExpandResult::MULTIPLE_FILES;
	}
	return count_ == 0 ? FileExpandResult::NO_FILES : FileExpandResult::SINGLE_FILE;
}

OpenFileInfo SliceFileList::GetFile(idx_t position) const {
	if (position >= count_) {
		return OpenFileInfo("");
	}
	auto &file = file_(position);
	OpenFileInfo info(file.path);
	info.extended_info = make_shared_ptr<ExtendedOpenFileInfo>();
	info.extended_info->options[POSITION_OPTION] = Value::UBIGINT(position);
	info.extended_info->options[INDEX_OPTION] = Value::UBIGINT(file.file_index);
	return info;
}

} // namespace skein
