//! What to read from a machine: observations, rewards and episode ends, described by data.
