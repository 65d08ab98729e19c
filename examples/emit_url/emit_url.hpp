#pragma once

#include "skein/skein.hpp"

//! Registers `emit_url(rows, label := '')`: rows with a number `n` from 0 on and the `url` of the worker that made the
//! row, or NULL outside of workers.
void RegisterEmitUrl(duckdb::DatabaseInstance &db);

//! Gives every row of emit_url() a task of its own, on the workers with its label if it has one.
class EmitUrlEstimator final : public skein::TaskEstimator {
public:
	std::string Name() const override {
		return "emit_url";
	}
	std::unique_ptr<skein::LeafEstimate> Estimate(const skein::LeafQuestion &question) const override;
};
