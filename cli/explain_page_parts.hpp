#pragma once

namespace skein::cli {

//! The style sheet of the page of a plan.
extern const char *const EXPLAIN_PAGE_STYLE;

//! The script of the page: draws what the elements `data` and `query` hold into the element `page`.
extern const char *const EXPLAIN_PAGE_SCRIPT;

} // namespace skein::cli
