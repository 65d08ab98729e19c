#pragma once

#include "skein/task_estimator.hpp"

namespace skein {

class FooterCache;
class RemoteFiles;

//! What the built-in estimator says of a leaf: scans of files are divided by their units. nullptr and a `reason` if it
//! declines. `as_often_as_allowed`: the leaf wants as many tasks as there may be, however little it reads. `footers`
//! keeps what is read of files, unless it is nullptr. `remote`: knows which files of other machines tasks can open;
//! nullptr: none.
std::unique_ptr<LeafEstimate> EstimateBuiltIn(const LeafQuestion &question, bool as_often_as_allowed,
											  FooterCache *footers, RemoteFiles *remote, std::string &reason);

} // namespace skein
