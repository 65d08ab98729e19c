#include "planner/leaf/leaf_fixture.hpp"

#include "engine/footer_cache.hpp"
#include "engine/parquet_digest.hpp"

#include "duckdb/common/local_file_system.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <random>
#include <set>

namespace skein {
namespace {

//! What was asked of a file system. Thread-safe.
class FileWork {
public:
	struct Read {
		idx_t begin;
		idx_t end;
	};

	void Opened(const std::string &path) {
		std::lock_guard<std::mutex> guard(mutex_);
		opens_++;
		reads_[Name(path)];
	}
	void Was(const std::string &path, idx_t begin, idx_t bytes) {
		std::lock_guard<std::mutex> guard(mutex_);
		reads_[Name(path)].push_back({begin, begin + bytes});
		bytes_ += bytes;
	}
	idx_t Files() const {
		return reads_.size();
	}
	idx_t Opens() const {
		return opens_;
	}
	idx_t Bytes() const {
		return bytes_;
	}
	const std::map<std::string, std::vector<Read>> &Reads() const {
		return reads_;
	}

private:
	static std::string Name(const std::string &path) {
		return fs::path(path).filename();
	}

	std::mutex mutex_;
	idx_t opens_ = 0;
	idx_t bytes_ = 0;
	std::map<std::string, std::vector<Read>> reads_;
};

//! The local file system, which notes what is done with data files.
class CountingFileSystem final : public LocalFileSystem {
public:
	CountingFileSystem(FileWork &work, std::string suffix) : work_(work), suffix_(std::move(suffix)) {
	}
	bool CanHandleFile(const string &path) override {
		return StringUtil::EndsWith(path, suffix_);
	}
	string GetName() const override {
		return "CountingFileSystem";
	}
	unique_ptr<FileHandle> OpenFile(const string &path, FileOpenFlags flags,
									optional_ptr<FileOpener> opener = nullptr) override {
		work_.Opened(path);
		return LocalFileSystem::OpenFile(path, flags, opener);
	}
	void Read(FileHandle &handle, void *buffer, int64_t bytes, idx_t location) override {
		work_.Was(handle.GetPath(), location, static_cast<idx_t>(bytes));
		LocalFileSystem::Read(handle, buffer, bytes, location);
	}
	int64_t Read(FileHandle &handle, void *buffer, int64_t bytes) override {
		auto location = SeekPosition(handle);
		auto read = LocalFileSystem::Read(handle, buffer, bytes);
		work_.Was(handle.GetPath(), location, static_cast<idx_t>(read));
		return read;
	}

private:
	FileWork &work_;
	const std::string suffix_;
};

class ScanWorkTest : public LeafTest {
protected:
	static void Count(DatabaseInstance &instance, FileWork &work, const std::string &suffix) {
		FileSystem::GetFileSystem(instance).RegisterSubSystem(make_uniq<CountingFileSystem>(work, suffix));
	}

	//! Runs `sql` in a new instance of plain DuckDB.
	static void RunPlain(const std::string &sql, const std::string &suffix, FileWork &work) {
		DuckDB database(nullptr);
		Count(*database.instance, work, suffix);
		Connection connection(database);
		RowsOf(*connection.Query(sql));
	}

	//! Runs `variants`, each in an instance of its own, as worker processes do. `work` has one entry per task.
	static void RunTasks(const std::vector<std::string> &variants, const std::string &suffix,
						 std::vector<std::unique_ptr<FileWork>> &work) {
		for (auto &variant : variants) {
			work.push_back(std::make_unique<FileWork>());
			FakeWorker worker;
			RegisterParquetSlice(worker.Instance());
			RegisterTextSlices(worker.Instance());
			Count(worker.Instance(), *work.back(), suffix);
			worker.Run(variant);
		}
	}

	//! How often the end of a file was read, where Parquet's footer is.
	static idx_t FootersRead(const FileWork &work) {
		idx_t result = 0;
		for (auto &file : work.Reads()) {
			auto size = fs::file_size("facts/" + file.first);
			result += std::count_if(file.second.begin(), file.second.end(),
									[&](const FileWork::Read &read) { return read.end == size; });
		}
		return result;
	}

	//! Where the columns of a row group begin and where the last of them does.
	struct RowGroup {
		std::string file;
		idx_t first;
		idx_t last;
	};

	std::vector<RowGroup> ListRowGroups() {
		auto result =
			connection_.Query("SELECT parse_filename(file_name), "
							  "min(coalesce(dictionary_page_offset, data_page_offset)), max(data_page_offset) "
							  "FROM parquet_metadata('facts/*.parquet') GROUP BY file_name, row_group_id");
		std::vector<RowGroup> row_groups;
		for (auto &row : *result) {
			row_groups.push_back({row.GetValue<std::string>(0), row.GetValue<idx_t>(1), row.GetValue<idx_t>(2)});
		}
		return row_groups;
	}

	//! The positions of the row groups of which something was read.
	static std::set<size_t> RowGroupsRead(const std::vector<RowGroup> &row_groups, const FileWork &work) {
		std::set<size_t> result;
		for (size_t i = 0; i < row_groups.size(); i++) {
			auto file = work.Reads().find(row_groups[i].file);
			if (file != work.Reads().end() &&
				std::any_of(file->second.begin(), file->second.end(), [&](const FileWork::Read &read) {
					return read.begin <= row_groups[i].last && read.end > row_groups[i].first;
				})) {
				result.insert(i);
			}
		}
		return result;
	}

	//! What all tasks did together.
	struct Together {
		idx_t files = 0;
		idx_t opens = 0;
		idx_t bytes = 0;
	};
	static Together AddUp(const std::vector<std::unique_ptr<FileWork>> &work) {
		Together result;
		for (auto &task : work) {
			result.files += task->Files();
			result.opens += task->Opens();
			result.bytes += task->Bytes();
		}
		return result;
	}
};

TEST_F(ScanWorkTest, TasksReadNoMoreOfParquetFilesThanPlainDuckDB) {
	for (int file = 0; file < 5; file++) {
		Write("SELECT range AS k, (range * 7919) % 1000003 AS v, hash(range) AS h, 'name ' || (range % 9999) AS s "
			  "FROM range(" +
				  std::to_string(40000 + 30000 * file) + ")",
			  "facts/" + std::to_string(file) + ".parquet", ", ROW_GROUP_SIZE 20480");
	}
	auto row_groups = ListRowGroups();
	ASSERT_EQ(row_groups.size(), 26u);
	for (auto sql : {"SELECT sum(v), max(s) FROM 'facts/*.parquet'",
					 "SELECT sum(h) FROM 'facts/*.parquet' WHERE k BETWEEN 50000 AND 90000"}) {
		SCOPED_TRACE(sql);
		FileWork plain;
		RunPlain(sql, ".parquet", plain);
		auto plain_row_groups = RowGroupsRead(row_groups, plain);
		ASSERT_GE(plain_row_groups.size(), 11u);
		for (size_t tasks : {1, 3, 7}) {
			SCOPED_TRACE(tasks);
			std::vector<std::unique_ptr<FileWork>> work;
			RunTasks(Variants(sql, tasks), ".parquet", work);
			idx_t footers = 0, row_groups_read = 0;
			std::set<size_t> distinct;
			for (auto &task : work) {
				footers += FootersRead(*task);
				auto of_task = RowGroupsRead(row_groups, *task);
				row_groups_read += of_task.size();
				distinct.insert(of_task.begin(), of_task.end());
			}
			auto together = AddUp(work);
			// A file of which two tasks read different row groups is opened by both.
			EXPECT_LE(together.files, plain.Files() + tasks - 1);
			EXPECT_LE(footers, FootersRead(plain) + tasks - 1);
			EXPECT_EQ(row_groups_read, distinct.size()) << "a row group is read twice";
			EXPECT_LE(row_groups_read, plain_row_groups.size());
			EXPECT_GT(together.bytes, plain.Bytes() / 2);
			EXPECT_LE(together.bytes, plain.Bytes() + plain.Bytes() / 50);
		}
	}
}

TEST_F(ScanWorkTest, RangesOfTextFilesReadNoMoreThanPlainDuckDB) {
	Query("COPY (SELECT range AS k, 'name ' || (range * 7919) % 1000003 AS s FROM range(150000)) TO 'large.json'");
	Query("COPY (SELECT range AS k, 'name ' || (range * 7919) % 1000003 AS s FROM range(250000)) TO 'large.csv'");
	const std::string columns = "columns = {'k': 'BIGINT', 's': 'VARCHAR'}";
	Divide("1MB");
	for (auto &[suffix, scan] : {std::pair<std::string, std::string>{".json", "read_ndjson('large.json', "},
								 {".csv", "read_csv('large.csv', auto_detect = false, header = true, quote = '', "}}) {
		SCOPED_TRACE(suffix);
		auto sql = "SELECT sum(k), max(s) FROM " + scan + columns + ")";
		FileWork plain;
		RunPlain(sql, suffix, plain);
		auto size = fs::file_size("large" + suffix);
		ASSERT_GT(size, 4000000u);
		ASSERT_GE(plain.Bytes(), size);
		for (size_t tasks : {1, 2, 3}) {
			SCOPED_TRACE(tasks);
			std::vector<std::unique_ptr<FileWork>> work;
			RunTasks(Variants(sql, tasks), suffix, work);
			ASSERT_EQ(work.size(), tasks);
			auto together = AddUp(work);
			EXPECT_EQ(together.files, tasks);
			EXPECT_EQ(together.opens, size / 1000000);
			EXPECT_LE(together.bytes, plain.Bytes() + plain.Bytes() / 50);
			EXPECT_GE(together.bytes, size);
		}
	}
}

TEST_F(ScanWorkTest, PlanningReadsAFooterOnceForAllQueries) {
	constexpr int FILES = 20;
	auto write = [&](int file, int rows) {
		auto path = "facts/" + std::to_string(100 + file) + ".parquet";
		Write("SELECT range AS k, 'name ' || range AS s FROM range(" + std::to_string(rows) + ")", path,
			  ", ROW_GROUP_SIZE 2048");
		return path;
	};
	auto age = [](const std::string &path) {
		fs::last_write_time(path, fs::last_write_time(path) - std::chrono::hours(1));
	};
	for (int file = 0; file < FILES; file++) {
		age(write(file, 5000));
	}
	Query("SET enable_external_file_cache = false");
	FileWork work;
	Count(*database_.instance, work, ".parquet");
	FooterCache footers(100000);
	// Plans, and returns how often files were opened for it, but for the first, which DuckDB opens to bind the query.
	auto plan = [&](const std::string &columns, idx_t rows) {
		auto opens = work.Opens();
		WithOptimizedPlan(connection_, "SELECT " + columns + " FROM 'facts/*.parquet'",
						  [&](ClientContext &context, unique_ptr<LogicalOperator> &plan) {
							  auto &get = (*FirstScan(plan))->Cast<LogicalGet>();
							  std::string reason;
							  auto leaf = AnalyzeScan(context, get, reason, &footers);
							  ASSERT_TRUE(leaf) << reason;
							  EXPECT_EQ(leaf->total_rows, rows);
						  });
		return work.Opens() - opens - 1;
	};
	EXPECT_EQ(plan("max(k)", 100000), FILES - 1u);
	auto bytes = work.Bytes();
	// DuckDB may read the end of a file more than once for its footer.
	auto footers_read = FootersRead(work);
	auto reads_per_footer = footers_read / FILES;
	EXPECT_EQ(plan("max(k)", 100000), 0u);
	EXPECT_EQ(plan("sum(k), min(s)", 100000), 0u);
	EXPECT_EQ(FootersRead(work), footers_read + 2 * reads_per_footer);
	EXPECT_LT(work.Bytes() - bytes, bytes);
	// One that has changed is read again, once.
	age(write(7, 5001));
	EXPECT_EQ(plan("max(k)", 100001), 1u);
	EXPECT_EQ(plan("max(k)", 100001), 0u);
	// One that has just been written may be written again within its second: it is not kept.
	write(8, 5002);
	EXPECT_EQ(plan("max(k)", 100003), 1u);
	EXPECT_EQ(plan("max(k)", 100003), 1u);
	auto numbers = footers.Read();
	EXPECT_EQ(numbers.entries, FILES - 2u);
	EXPECT_EQ(numbers.added, static_cast<uint64_t>(FILES));
	EXPECT_LE(numbers.bytes, 100000u);
}

TEST_F(ScanWorkTest, AWorkerReadsAFooterOnceForAllTasks) {
	for (int file = 0; file < 3; file++) {
		auto path = "facts/" + std::to_string(file) + ".parquet";
		Write("SELECT range AS k, hash(range) AS h FROM range(10000)", path, ", ROW_GROUP_SIZE 2048");
		fs::last_write_time(path, fs::last_write_time(path) - std::chrono::hours(1));
	}
	worker_.Query("SET enable_external_file_cache = false");
	FileWork work;
	Count(worker_.Instance(), work, ".parquet");
	auto sql = "SELECT sum(h) FROM 'facts/*.parquet'";
	auto variants = Variants(sql, 5);
	auto rows = RunVariants(variants);
	auto footers_read = FootersRead(work);
	auto bytes = work.Bytes();
	// Again, and as other tasks of another query.
	EXPECT_EQ(RunVariants(variants), rows);
	RunVariants(Variants(sql, 2));
	EXPECT_EQ(FootersRead(work), footers_read);
	EXPECT_GT(work.Bytes(), 2 * bytes);
	// One that has changed is read again; what was read of the old one does not end where the new one does.
	Write("SELECT range AS k, hash(range) AS h FROM range(20000)", "facts/1.parquet", ", ROW_GROUP_SIZE 2048");
	RunVariants(Variants(sql, 1));
	EXPECT_EQ(FootersRead(work), footers_read);
}

//! A digest of a file, of which the time is that of `version`.
skein_parquet::ParquetDigest MakeDigest(int64_t version, bool written_lately) {
	skein_parquet::ParquetDigest digest;
	digest.schema = std::make_shared<skein_parquet::ParquetFileSchema>();
	digest.version.last_modified = timestamp_t(version * Interval::MICROS_PER_HOUR);
	digest.opened_at =
		timestamp_t(digest.version.last_modified.value + (written_lately ? 0 : Interval::MICROS_PER_DAY));
	digest.rows_and_bytes = {static_cast<idx_t>(version)};
	return digest;
}

TEST_F(ScanWorkTest, FootersAreFoundAmongOthersThatComeAndGo) {
	std::mt19937 random(7);
	FooterCache footers(idx_t(1) << 30);
	std::map<std::string, int64_t> kept;
	for (int64_t step = 1; step <= 20000; step++) {
		auto key = std::to_string(random() % 300);
		auto written_lately = random() % 3 == 0;
		footers.Add(key, MakeDigest(step, written_lately));
		if (written_lately) {
			kept.erase(key);
		} else {
			kept[key] = step;
		}
		auto other = std::to_string(random() % 300);
		auto expected = kept.find(other);
		ASSERT_EQ(footers.Holds(other), expected != kept.end()) << step;
		ASSERT_EQ(footers.Read().entries, kept.size()) << step;
		if (expected != kept.end()) {
			auto found = footers.Find(other, MakeDigest(expected->second, false).version);
			ASSERT_TRUE(found) << step;
			EXPECT_EQ(found->Rows(0), static_cast<idx_t>(expected->second));
			EXPECT_FALSE(footers.Find(other, MakeDigest(expected->second + 1, false).version));
		}
	}
}

TEST_F(ScanWorkTest, WhatIsKeptOfFootersIsBounded) {
	for (int file = 0; file < 30; file++) {
		auto path = "facts/" + std::to_string(100 + file) + ".parquet";
		Write("SELECT range AS k FROM range(100)", path);
		fs::last_write_time(path, fs::last_write_time(path) - std::chrono::hours(1));
	}
	FooterCache footers(5000);
	for (int round = 0; round < 3; round++) {
		WithOptimizedPlan(connection_, "SELECT k FROM 'facts/*.parquet'",
						  [&](ClientContext &context, unique_ptr<LogicalOperator> &plan) {
							  std::string reason;
							  auto &get = (*FirstScan(plan))->Cast<LogicalGet>();
							  auto leaf = AnalyzeScan(context, get, reason, &footers);
							  ASSERT_TRUE(leaf) << reason;
							  EXPECT_EQ(leaf->total_rows, 3000u);
						  });
		EXPECT_LE(footers.Read().bytes, 5000u);
		EXPECT_GT(footers.Read().entries, 2u);
		EXPECT_LT(footers.Read().entries, 29u);
	}
}

TEST_F(ScanWorkTest, TasksReadNoMoreOfTextFilesThanPlainDuckDB) {
	fs::create_directories("facts");
	for (int file = 0; file < 8; file++) {
		for (auto format : {"csv", "json"}) {
			Query("COPY (SELECT range AS k, 'name ' || range AS s FROM range(" + std::to_string(20000 + 9000 * file) +
				  ")) TO 'facts/" + std::to_string(file) + "." + format + "' (FORMAT " + format + ")");
		}
	}
	for (std::string format : {"csv", "json"}) {
		SCOPED_TRACE(format);
		auto sql = "SELECT sum(k), max(s) FROM 'facts/*." + format + "'";
		FileWork plain;
		RunPlain(sql, "." + format, plain);
		for (size_t tasks : {1, 3, 7}) {
			SCOPED_TRACE(tasks);
			std::vector<std::unique_ptr<FileWork>> work;
			RunTasks(Variants(sql, tasks), "." + format, work);
			auto together = AddUp(work);
			EXPECT_EQ(together.files, plain.Files());
			EXPECT_LE(together.opens, plain.Opens());
			EXPECT_GT(together.bytes, 1000000u);
			EXPECT_LE(together.bytes, plain.Bytes() + plain.Bytes() / 50);
		}
	}
}

} // namespace
} // namespace skein
