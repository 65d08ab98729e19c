#pragma once

#include "skein.pb.h"
#include "skein/worker_status.hpp"

namespace skein {

void EncodeStatus(const WorkerStatus &status, wire::Status &target);
WorkerStatus DecodeStatus(const wire::Status &source);

} // namespace skein
