#include "engine/plan_serializer.hpp"

#include "engine/adaptive_aggregate.hpp"

#include "engine/dynamic_filters.hpp"

#include "duckdb/common/serializer/binary_deserializer.hpp"
#include "duckdb/common/serializer/binary_serializer.hpp"
#include "duckdb/common/serializer/memory_stream.hpp"
#include "duckdb/optimizer/optimizer.hpp"
#include "duckdb/planner/binder.hpp"
#include "duckdb/planner/logical_operator.hpp"
#include "duckdb/planner/operator/logical_aggregate.hpp"
#include "duckdb/planner/operator/logical_comparison_join.hpp"

namespace skein {

using namespace duckdb;

namespace {

constexpr const char *FORMAT_NAME = "skein_plan";
constexpr uint32_t FORMAT_VERSION = 5;

using OperatorStatistics = vector<unique_ptr<BaseStatistics>>;

//! The statistics that DuckDB keeps in `op` to plan perfect hash joins and aggregates; null if it keeps none.
OperatorStatistics *StatisticsOf(LogicalOperator &op) {
	switch (op.type) {
	case LogicalOperatorType::LOGICAL_AGGREGATE_AND_GROUP_BY:
		return &op.Cast<LogicalAggregate>().group_stats;
	case LogicalOperatorType::LOGICAL_COMPARISON_JOIN:
	case LogicalOperatorType::LOGICAL_DELIM_JOIN:
		return &op.Cast<LogicalComparisonJoin>().join_stats;
	default:
		return nullptr;
	}
}

template <class OPERATOR>
void CollectPreOrder(OPERATOR &op, vector<OPERATOR *> &result) {
	result.push_back(&op);
	for (auto &child : op.children) {
		CollectPreOrder<OPERATOR>(*child, result);
	}
}

void WriteStatistics(Serializer &serializer, const OperatorStatistics *statistics) {
	serializer.WriteList(
		101, "statistics", statistics ? statistics->size() : 0, [&](Serializer::List &list, idx_t index) {
			auto &entry = (*statistics)[index];
			list.WriteObject([&](Serializer &object) {
				object.WriteProperty(100, "present", entry != nullptr);
				if (entry) {
					object.WriteProperty(101, "type", entry->GetType());
					object.WriteObject(102, "values", [&](Serializer &values) { entry->Serialize(values); });
				}
			});
		});
}

OperatorStatistics ReadStatistics(Deserializer &deserializer) {
	OperatorStatistics result;
	deserializer.ReadList(101, "statistics", [&](Deserializer::List &list, idx_t) {
		unique_ptr<BaseStatistics> entry;
		list.ReadObject([&](Deserializer &object) {
			if (object.ReadProperty<bool>(100, "present")) {
				auto type = object.ReadProperty<LogicalType>(101, "type");
				object.Set<const LogicalType &>(type);
				object.ReadObject(102, "values", [&](Deserializer &values) {
					entry = BaseStatistics::Deserialize(values).ToUnique();
				});
				object.Unset<const LogicalType>();
			}
		});
		result.push_back(std::move(entry));
	});
	return result;
}

//! An estimate that has run out of the number range (many joins) is still a number for its reader.
optional_idx EstimateOf(const LogicalOperator &op) {
	if (!op.has_estimated_cardinality) {
		return optional_idx();
	}
	return optional_idx(MinValue<idx_t>(op.estimated_cardinality, DConstants::INVALID_INDEX - 1));
}

//! What DuckDB's serialisation drops from one operator.
struct OperatorHints {
	optional_idx cardinality;
	OperatorStatistics statistics;
	bool is_partial = false;
};

void WriteHints(Serializer &serializer, const LogicalOperator &plan) {
	vector<const LogicalOperator *> operators;
	CollectPreOrder(plan, operators);
	serializer.WriteList(102, "operators", operators.size(), [&](Serializer::List &list, idx_t index) {
		auto &op = *operators[index];
		list.WriteObject([&](Serializer &object) {
			object.WriteProperty(100, "cardinality", EstimateOf(op));
			WriteStatistics(object, StatisticsOf(const_cast<LogicalOperator &>(op)));
			object.WriteProperty(103, "partial", dynamic_cast<const LogicalPartialAggregate *>(&op) != nullptr);
		});
	});
}

vector<OperatorHints> ReadHints(Deserializer &deserializer) {
	vector<OperatorHints> result;
	deserializer.ReadList(102, "operators", [&](Deserializer::List &list, idx_t) {
		OperatorHints hints;
		list.ReadObject([&](Deserializer &object) {
			hints.cardinality = object.ReadProperty<optional_idx>(100, "cardinality");
			hints.statistics = ReadStatistics(object);
			hints.is_partial = object.ReadProperty<bool>(103, "partial");
		});
		result.push_back(std::move(hints));
	});
	return result;
}

//! Returns the partial aggregates.
vector<const LogicalOperator *> ApplyHints(LogicalOperator &plan, vector<OperatorHints> hints) {
	vector<const LogicalOperator *> result;
	vector<LogicalOperator *> operators;
	CollectPreOrder(plan, operators);
	if (operators.size() != hints.size()) {
		throw SerializationException("Plan of %llu operators was read back as one of %llu", hints.size(),
									 operators.size());
	}
	for (idx_t i = 0; i < operators.size(); i++) {
		auto &op = *operators[i];
		if (hints[i].cardinality.IsValid()) {
			op.SetEstimatedCardinality(hints[i].cardinality.GetIndex());
		}
		if (auto statistics = StatisticsOf(op)) {
			*statistics = std::move(hints[i].statistics);
		}
		if (hints[i].is_partial) {
			result.push_back(&op);
		}
	}
	return result;
}

void CheckHeader(Deserializer &deserializer) {
	auto format = deserializer.ReadProperty<string>(100, "format");
	if (format != FORMAT_NAME) {
		throw SerializationException("Not a serialised plan");
	}
	auto version = deserializer.ReadProperty<uint32_t>(101, "version");
	if (version != FORMAT_VERSION) {
		throw SerializationException("Plan has format version %d, this process reads version %d", version,
									 FORMAT_VERSION);
	}
}

//! The largest table index that an operator of `plan` defines or outputs.
idx_t MaxTableIndex(LogicalOperator &plan) {
	idx_t result = 0;
	for (auto index : plan.GetTableIndex()) {
		// An aggregate without GROUPING() has no index for it.
		if (index != DConstants::INVALID_INDEX) {
			result = MaxValue(result, index);
		}
	}
	for (auto &binding : plan.GetColumnBindings()) {
		result = MaxValue(result, binding.table_index);
	}
	for (auto &child : plan.children) {
		result = MaxValue(result, MaxTableIndex(*child));
	}
	return result;
}

} // namespace

std::string SerializePlan(ClientContext &context, const LogicalOperator &plan) {
	MemoryStream stream(Allocator::Get(context));
	SerializationOptions options;
	options.serialization_compatibility = SerializationCompatibility::Latest();
	BinarySerializer serializer(stream, options);
	serializer.Begin();
	serializer.WriteProperty(100, "format", string(FORMAT_NAME));
	serializer.WriteProperty(101, "version", FORMAT_VERSION);
	WriteHints(serializer, plan);
	serializer.WriteObject(103, "plan", [&](Serializer &object) { plan.Serialize(object); });
	serializer.WriteProperty(104, "top_n_help", !Optimizer::OptimizerDisabled(context, OptimizerType::TOP_N));
	serializer.WriteProperty(105, "join_filter_help",
							 !Optimizer::OptimizerDisabled(context, OptimizerType::JOIN_FILTER_PUSHDOWN));
	serializer.End();
	return std::string(const_char_ptr_cast(stream.GetData()), stream.GetPosition());
}

unique_ptr<LogicalOperator> DeserializePlan(ClientContext &context, const std::string &bytes, Binder &binder,
											RunTimeHelp *help) {
	MemoryStream stream(data_ptr_cast(const_cast<char *>(bytes.data())), bytes.size());
	bound_parameter_map_t parameters;
	BinaryDeserializer deserializer(stream);
	deserializer.Set<ClientContext &>(context);
	deserializer.Set<bound_parameter_map_t &>(parameters);
	deserializer.Begin();
	CheckHeader(deserializer);
	auto hints = ReadHints(deserializer);
	unique_ptr<LogicalOperator> plan;
	deserializer.ReadObject(103, "plan", [&](Deserializer &object) { plan = LogicalOperator::Deserialize(object); });
	RunTimeHelp wanted;
	wanted.top_n = deserializer.ReadProperty<bool>(104, "top_n_help");
	wanted.join_filters = deserializer.ReadProperty<bool>(105, "join_filter_help");
	deserializer.End();
	wanted.partial_aggregates = ApplyHints(*plan, std::move(hints));
	if (help) {
		*help = std::move(wanted);
	}

	AdvancePastTableIndices(binder, *plan);
	plan->ResolveOperatorTypes();
	return plan;
}

void AdvancePastTableIndices(Binder &binder, const LogicalOperator &plan) {
	auto max_index = MaxTableIndex(const_cast<LogicalOperator &>(plan));
	while (binder.GenerateTableIndex() < max_index) {
	}
}

} // namespace skein
