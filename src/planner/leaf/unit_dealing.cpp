#include "planner/leaf/unit_dealing.hpp"
